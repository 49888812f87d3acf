"""Lists and hits against plain Python on random collections; judging again; batches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.engines import using
from rankscope.errors import InputError
from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.judging import judged as judged_module
from rankscope.judging import lists as lists_module
from rankscope.judging.judged import EvaluationOptions
from rankscope.measures import parse_many
from rankscope.read import Qrels, Run, Runs, read_run
from rankscope.scores import score

documents = st.sampled_from([f"d{i}" for i in range(12)])
qrels_of = st.dictionaries(
    st.sampled_from(["1", "2", "3"]), st.dictionaries(documents, st.integers(-2, 3), min_size=1), min_size=1
)
run_of = st.dictionaries(
    st.sampled_from(["1", "2", "3", "4"]), st.lists(documents, unique=True, max_size=12), min_size=1
)


@given(qrels_of, run_of, st.integers(1, 3), st.sampled_from([None, 1, 5]))
def test_hits_have_the_ranks_and_grades_of_their_documents(
    judgments: dict[str, dict[str, int]], ranked: dict[str, list[str]], rel: int, cutoff: int | None
) -> None:
    judged = judge(Qrels.from_dict(judgments), Run.from_dict(ranked), allow_disjoint=True)
    hits = judged.lists.relevant(rel, cutoff)
    position = 0
    for index, topic in enumerate(judged.topics):
        grades = judgments[topic]
        shown = ranked.get(topic, [])[:cutoff]
        expected = [(rank, grades[d]) for rank, d in enumerate(shown, 1) if grades.get(d, 0) >= rel]
        assert hits.count[index] == len(expected)
        running = 0
        product = 1.0
        for ordinal, (rank, grade) in enumerate(expected, 1):
            assert (hits.rank[position], hits.grade[position], hits.ordinal[position]) == (
                rank,
                grade,
                ordinal,
            )
            assert hits.list[position] == index
            assert hits.before(hits.grade)[position] == running
            assert hits.before(hits.grade * 0.5)[position] == running * 0.5
            assert hits.product_before(1.0 / (1.0 + hits.grade))[position] == pytest.approx(product)
            running += grade
            product /= 1 + grade
            position += 1
        assert hits.sum(hits.grade)[index] == running
        assert hits.sum()[index] == len(expected)
        assert hits.first(hits.rank, -1)[index] == (expected[0][0] if expected else -1)
        assert hits.max(hits.rank, -1)[index] == (expected[-1][0] if expected else -1)
        assert judged.lists.recall_base(rel)[index] == sum(g >= rel for g in grades.values())
        assert judged.lists.grades(None)[index] == [grades.get(d) for d in ranked.get(topic, [])]
    assert position == len(hits)


@given(qrels_of, run_of)
def test_removing_judgments_equals_reading_fewer(
    judgments: dict[str, dict[str, int]], ranked: dict[str, list[str]]
) -> None:
    """Re-judging with some documents unjudged equals evaluating with judgments that lack them."""
    qrels = Qrels.from_dict(judgments)
    judged = judge(qrels, Run.from_dict(ranked), allow_disjoint=True)
    drop = np.array([d in (b"d0", b"d1", b"d2") for d in qrels.documents])
    is_removed = np.array([d == b"d1" for d in qrels.documents])
    first = judged.with_grades(np.where(is_removed, UNJUDGED, qrels.grade).astype(np.int32))
    repeated = first.with_grades(np.where(drop, UNJUDGED, qrels.grade).astype(np.int32))
    assert repeated.full is judged
    fewer = {
        t: {d: g for d, g in mine.items() if d not in ("d0", "d1", "d2")} for t, mine in judgments.items()
    }
    kept = {t: mine for t, mine in fewer.items() if mine}
    measures = parse_many("AP nDCG@5 Bpref Judged@5 RBP ERR NumRel infAP Compat Twist R@5 RR Rprec(rel=2)")
    if kept:
        expected = score(judge(Qrels.from_dict(kept), Run.from_dict(ranked), allow_disjoint=True), measures)
        got = score(repeated, measures)
        where = [got.topics.index(topic) for topic in expected.topics]
        skip_max = [
            i for i, m in enumerate(measures) if m.name == "ERR"
        ]  # its best grade is the collection's
        for i in range(len(measures)):
            if i not in skip_max:
                np.testing.assert_array_equal(got.values[i][:, where], expected.values[i])


def test_rejudging_does_not_reuse_the_old_hits() -> None:
    qrels = Qrels.from_dict({"1": {"a": 0, "b": 1}})
    judged = judge(qrels, Run.from_dict({"1": ["a", "b"]}))
    assert score(judged, parse_many("AP")).mean("AP").tolist() == [0.5]
    swapped = judged.with_grades(np.array([1, 0], np.int32))
    assert swapped.full is None
    assert score(swapped, parse_many("AP")).mean("AP").tolist() == [1.0]


def test_running_totals_do_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments = {str(t): {f"d{i}": (i * t) % 3 for i in range(30)} for t in range(1, 8)}
    run = Run.from_dict({str(t): [f"d{(i * 7) % 30}" for i in range(30)] for t in range(1, 8)})
    judged = judge(Qrels.from_dict(judgments), run)
    hits = judged.lists.hits()
    whole = hits.product_before(0.9 + 0.01 * hits.grade)
    monkeypatch.setattr(lists_module, "_BLOCK", 40)
    assert (hits.product_before(0.9 + 0.01 * hits.grade) == whole).all()


def test_runs_that_share_no_topic_are_refused() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1}})
    with pytest.raises(InputError, match="no topic in common with the judgments"):
        judge(qrels, Run.from_dict({"351": {"a": 1.0}}))
    with pytest.raises(InputError, match="no run to evaluate"):
        judge(qrels, Runs([]))


def test_missing_and_unknown_topics_are_kept_apart() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1}, "2": {"a": 1}})
    judged = judge(qrels, Run.from_dict({"1": {"a": 1.0}, "9": {"a": 1.0}}, name="r"))
    assert judged.present.tolist() == [True, False]
    assert judged.ignored_topics == {"r": ("9",)}
    assert "2 topics" in repr(judged)


def test_blocks_cover_all_lists_once() -> None:
    judgments = {str(t): {f"d{i}": (i * t) % 3 for i in range(30)} for t in range(1, 4)}
    lists = {
        f"r{r}": {str(t): [f"d{(i * 7) % 29}" for i in range(29 - r)] for t in range(1, 4)} for r in range(9)
    }
    runs = Runs(Run.from_dict(mine, name=name) for name, mine in lists.items())
    judged = judge(Qrels.from_dict(judgments), runs)
    whole = parse_many("AP")[0].evaluate(judged.lists)
    for size in (1, 50, 100, 10_000):
        parts = list(judged.blocks(size))
        assert np.concatenate([where for where, _ in parts]).tolist() == list(range(27))
        assert (
            np.concatenate([parse_many("AP")[0].evaluate(block) for _, block in parts]).tolist()
            == whole.tolist()
        )


def test_topics_that_runs_lack_cost_nothing_and_count_as_empty_lists() -> None:
    judgments = {str(t): {"d1": 1, "d2": 0} for t in range(1, 300)}
    lists = {f"r{r}": {str(t): ["d2", "d1"] for t in (r + 1, r + 7)} for r in range(5)}
    runs = Runs(Run.from_dict(mine, name=name) for name, mine in lists.items())
    judged = judge(Qrels.from_dict(judgments), runs)
    assert sum(len(block) for _, block in judged.blocks()) == 10
    measures = parse_many("AP Twist Bpref NumRel nDCG Judged@5")
    for missing in ("zero", "skip"):
        scores = score(judged, measures, missing=missing)
        for index, measure in enumerate(measures):
            whole = judged.grid(np.array(measure.evaluate(judged.lists), np.float64))
            if missing == "skip":
                whole[~judged.grid(judged.present)] = np.nan
            assert np.array_equal(scores.values[index], whole, equal_nan=True)


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("scanner", ["native", "python"])
def test_one_bar_is_drawn(scanner: str, seen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bytes where files are read here; of runs where other processes read them, or nothing is read."""
    drawn = []
    monkeypatch.setattr(judged_module, "is_visible", lambda: seen)
    monkeypatch.setattr(judged_module, "backend_name", lambda: scanner)
    monkeypatch.setattr(
        judged_module, "reading", lambda size, label: drawn.append((size, label)) or nullcontext()
    )
    monkeypatch.setattr(
        judged_module,
        "run_pieces",
        lambda work, runs, **said: drawn.append((said["label"], said["processes"])) or [*map(work, runs)],
    )
    (tmp_path / "a.run").write_text("1 Q0 d 1 1 t\n")
    run = read_run(tmp_path / "a.run")
    judge(Qrels.from_dict({"1": {"d": 1}}), Runs([run, Run.from_dict({"1": ["d"]}, name="b")]))
    bytes_here = 13 if seen and scanner == "native" else 0
    assert drawn == [(bytes_here, "runs"), ("" if bytes_here else "runs", scanner == "python")]
    drawn.clear()
    judge(Qrels.from_dict({"1": {"d": 1}}), Run.from_dict({"1": ["d"]}))
    assert drawn == []  # one run in memory is one piece of work


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (EvaluationOptions(), {}),
        (EvaluationOptions(seed=7), {}),
        (
            EvaluationOptions(ties="expected", seed=7),
            {"ties": "expected", "unjudged": "nonrelevant", "ties_seed": 7},
        ),
        (EvaluationOptions(unjudged="bounds", seed=7), {"ties": "break", "unjudged": "bounds"}),
    ],
)
def test_settings_record_only_options_that_are_not_defaults(
    options: EvaluationOptions, settings: dict[str, object]
) -> None:
    assert options.settings == settings


def test_runs_sent_to_workers_have_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may stand in another directory."""
    (tmp_path / "a.run").write_text("1 Q0 d 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    sources = []

    def hits(work: Any, runs: list[Run], **options: Any) -> list[Any]:
        sources.extend(run.source for run in runs)
        return [*map(work, runs)]

    monkeypatch.setattr(judged_module, "run_pieces", hits)
    with ThreadPoolExecutor(1) as executor:
        runs = Runs([read_run("a.run"), Run.from_dict({"1": ["d"]}, name="b")])
        with using(executor):
            judged = judge(Qrels.from_dict({"1": {"d": 1}}), runs)
    assert sources == [tmp_path / "a.run", None]
    assert judged.rank.tolist() == [1, 1]


def test_lists_and_details_of_runs_are_separate_objects() -> None:
    """Judged once had fifteen interdependent fields, and selecting lists had to change all of them."""
    assert len(fields(Judged)) <= 7
    runs = Runs([Run.from_dict({"1": ["d", "x"], "2": ["e"], "9": ["x"]}, name=name) for name in "ab"])
    judged = judge(Qrels.from_dict({"1": {"d": 1}, "2": {"e": 0}}), runs, ties=True)
    last = judged.arrays.take(np.array([3, 0]))
    assert (last.offsets.tolist(), last.judgment.tolist(), last.length.tolist()) == (
        [0, 1, 2],
        [1, 0],
        [1, 2],
    )
    assert judged.arrays.owner.tolist() == [0, 1, 2, 3]
    assert judged.with_runs([1]).ignored_topics == {"b": ("9",)}
