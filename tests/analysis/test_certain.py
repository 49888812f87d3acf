"""Is the order certain: nothing that is called so can be reversed, and stated labels do reverse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import rankscope as rs
from rankscope.errors import InputError, SettingsError

MEASURES = ["P@5", "RBP(p=0.8)", "nDCG@5", "DCG@5", "nDCG"]


def collection(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A few runs with ties, of which some documents were judged."""
    rng = np.random.default_rng(seed)
    qrels, runs = {}, {name: {} for name in "abcde"}
    for topic in ("t1", "t2", "t3"):
        names = [f"d{i}" for i in range(14)]
        qrels[topic] = {name: int(rng.integers(0, 3)) for name in names if rng.random() < 0.75}
        qrels[topic]["d0"] = 2
        for skill, run in enumerate(runs.values()):
            noise = rng.normal(size=len(names)) * (0.3 + 0.8 * skill)
            score = np.round([qrels[topic].get(n, 0) for n in names] + noise, 1 if skill % 2 else 4)
            run[topic] = dict(zip(names[:12], score.tolist(), strict=False))
    return qrels, runs


def relabelled(qrels: dict[str, Any], labels: dict[tuple[str, str], int]) -> dict[str, Any]:
    more = {topic: dict(judged) for topic, judged in qrels.items()}
    for (topic, document), grade in labels.items():
        more[topic][document] = grade
    return more


@pytest.mark.parametrize("seed", range(3))
def test_listed_labels_reverse_the_pair(seed: int) -> None:
    qrels, runs = collection(seed)
    result = rs.certain(rs.evaluate(qrels, runs, MEASURES))
    stated: dict[tuple[Any, ...], dict[tuple[str, str], int]] = {}
    for row in result["labels"].records():
        pair = (row["a"], row["b"], row["measure"])
        stated.setdefault(pair, {})[row["topic"], row["doc"]] = row["grade"]
    uncertain = [row for row in result["pairs"].records() if row["labels"]]
    assert uncertain
    for row in uncertain:
        pair = (row["a"], row["b"], row["measure"])
        assert len(stated[pair]) == row["labels"]
        means = rs.evaluate(relabelled(qrels, stated[pair]), runs, row["measure"]).means()
        a, b = (next(iter(means[name].values())) for name in pair[:2])
        assert a < b, pair


@pytest.mark.parametrize("seed", range(3))
def test_nothing_certain_is_reversed(seed: int) -> None:
    qrels, runs = collection(seed)
    pairs = rs.certain(rs.evaluate(qrels, runs, [*MEASURES, "AP", "RR"]))["pairs"].records()
    rng = np.random.default_rng(seed)
    unjudged = {t: sorted({d for run in runs.values() for d in run[t]} - set(qrels[t])) for t in qrels}
    certain = [row for row in pairs if row["unjudged"] and row["order"] == ">"]
    tied = [row for row in pairs if row["ties"] and row["order"] == ">"]
    assert certain and tied
    for trial in range(30):
        grade = (lambda: 2 * int(rng.integers(0, 2))) if trial % 2 else (lambda: int(rng.integers(0, 3)))
        labels = {(t, d): grade() for t, names in unjudged.items() for d in names}
        means = rs.evaluate(relabelled(qrels, labels), runs, [*MEASURES, "AP", "RR"])
        shuffled = {
            name: {t: {d: s + 1e-6 * rng.random() for d, s in one.items()} for t, one in lists.items()}
            for name, lists in runs.items()
        }
        ordered = rs.evaluate(qrels, shuffled, [*MEASURES, "AP", "RR"])
        for rows, scores in ((certain, means), (tied, ordered)):
            for row in rows:
                value = scores.mean(row["measure"])
                a, b = (value[scores.runs.index(row[key])] for key in ("a", "b"))
                assert a >= b - 1e-12, row


def test_baseline_and_errors() -> None:
    qrels, runs = collection(1)
    scores = rs.evaluate(qrels, runs, ["P@5"], ties="expected", unjudged="bounds")
    assert len(rs.certain(scores, "c")["pairs"]) == 4
    with pytest.raises(rs.errors.InputError, match="no run is called 'z'"):
        rs.certain(scores, "z")
    with pytest.raises(rs.errors.InputError, match="one run has no order"):
        rs.certain(rs.evaluate(qrels, {"a": runs["a"]}, ["P@5"]))


def test_possible_ranks_hold_the_rank() -> None:
    qrels, runs = collection(2)
    rows = rs.certain(rs.evaluate(qrels, runs, ["nDCG@5"]))["runs"].records()
    for rank, row in enumerate(rows, 1):
        assert row["first_possible"] <= rank <= row["last_possible"]
        assert row["lowest"] - 1e-12 <= row["value"] <= row["highest"] + 1e-12


def test_first_and_last_rank_are_those_of_the_leaderboard() -> None:
    scores = rs.evaluate(*collection(2), ["nDCG@5", "AP"])
    board = rs.leaderboard(scores, seed=3)["leaderboard"].records()
    expected = {(row["run"], row["measure"]): (row["first_rank"], row["last_rank"]) for row in board}
    for across in (None, "measures"):
        rows = rs.certain(scores, across=across, seed=3).runs
        actual = {(row.run, row.measure): (row.first_rank, row.last_rank) for row in rows}
        assert actual.items() <= expected.items() and len(actual) == (5 if across else 10)


def test_labels_change_nothing_if_everything_is_judged() -> None:
    qrels, runs = collection(0)
    complete = {t: {d: qrels[t].get(d, 0) for d in [f"d{i}" for i in range(14)]} for t in qrels}
    pairs = rs.certain(rs.evaluate(complete, runs, ["P@5", "nDCG@5", "AP"]))["pairs"].records()
    assert all(row["unjudged"] for row in pairs) and not any(row["labels"] for row in pairs)


def test_a_label_counts_for_runs_that_do_not_hold_the_document() -> None:
    runs = {"A": {"q": ["d1"]}, "B": {"q": ["d0", "d1"]}}
    result = rs.certain(rs.evaluate({"q": {"d1": 1}}, runs, "AP"))
    (row,) = result["pairs"].records()
    assert (row["a"], row["unjudged"], row["exact"], row["lowest"], row["labels"]) == (
        "A",
        False,
        True,
        -0.5,
        1,
    )
    assert [(row["run"], row["lowest"], row["highest"]) for row in result["runs"].records()] == [
        ("A", 0.5, 1.0), ("B", 0.5, 1.0),
    ]  # fmt: skip


def test_ties_and_labels_act_jointly() -> None:
    topics = ("q1", "q2", "q3")
    runs = {
        "A": {topic: {"z": 1.0, "y": 1.0, "b": 1.0, "a": 1.0} for topic in topics},
        "B": {topic: {"r": 2.0, "n": 1.0} for topic in topics},
    }
    qrels = {topic: {"z": 0, "y": 0, "r": 1, "n": 0} for topic in topics}
    (row,) = rs.certain(rs.evaluate(qrels, runs, "P@2"))["pairs"].records()
    assert (row["a"], row["ties"], row["unjudged"], row["topics"], row["together"]) == (
        "B",
        True,
        True,
        True,
        False,
    )


def test_every_announced_label_is_listed_and_they_reverse_the_pair() -> None:
    qrels = {"q0": {"d1": 1}, "q1": {"d1": 2, "d2": 1, "d3": 1, "d4": 0, "z": 1}}
    runs = {"A": {"q0": ["d1"], "q1": ["d1"]}, "B": {"q0": ["d1", "d2", "d0"], "q1": ["d4", "d3", "d0"]}}
    result = rs.certain(rs.evaluate(qrels, runs, "nDCG@2"))
    (row,) = result["pairs"].records()
    labels = {(label["topic"], label["doc"]): label["grade"] for label in result["labels"].records()}
    assert row["unjudged"] is False and len(labels) == row["labels"] == 2
    a, b = rs.evaluate(relabelled(qrels, labels), runs, "nDCG@2").mean("nDCG@2")
    assert a < b


def test_a_pair_is_not_proved_where_only_a_bound_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds prove an order or nothing: an unknown pair is neither certain nor refuted."""
    monkeypatch.setattr("rankscope.certainty.cases.MAX_LISTS", 1)  # no labelling is evaluated individually
    qrels, runs = collection(0)
    rows = rs.certain(rs.evaluate(qrels, runs, ["ERR", "Twist"]), labels=False)["pairs"].records()
    unknown = [row for row in rows if row["unjudged"] is None]
    assert unknown and not any(row["exact"] for row in unknown)
    assert all(row["lowest"] is None or row["lowest"] < 0 for row in unknown)


@pytest.mark.parametrize("measure", ["AP", "R@5", "Rprec", "Bpref", "nDCG", "nDCG@5"])
def test_many_labels_do_not_leave_the_range(measure: str) -> None:
    """Lists with more unjudged documents than can be enumerated, under random labels of all of them."""
    rng = np.random.default_rng(7)
    names = [f"d{i:02d}" for i in range(40)]
    qrels = {t: {d: int(rng.integers(0, 3)) for d in names if rng.random() < 0.3} for t in ("t1", "t2")}
    runs = {
        run: {t: {d: float(rng.integers(0, 8)) for d in rng.permutation(names)[:20]} for t in qrels}
        for run in "abc"
    }
    result = rs.certain(rs.evaluate(qrels, runs, measure), labels=True)
    ranges = {(row["a"], row["b"], row["source"]): row for row in result["ranges"].records()}
    unjudged = {t: sorted({d for run in runs.values() for d in run[t]} - set(qrels[t])) for t in qrels}
    for _ in range(5 * settings().max_examples // 2):
        share = rng.random()
        labels = {
            (t, d): int(rng.integers(1, 3)) if rng.random() < share else 0
            for t in unjudged
            for d in unjudged[t]
        }
        shuffled = {
            run: {t: {d: s + 1e-3 * rng.random() for d, s in one.items()} for t, one in lists.items()}
            for run, lists in runs.items()
        }
        more = relabelled(qrels, labels)
        for source, lists in (("unjudged", runs), ("both", shuffled)):
            scores = rs.evaluate(more, lists, measure)
            means = dict(zip(scores.runs, scores.mean(measure).tolist(), strict=True))
            for (a, b, kind), row in ranges.items():
                if kind == source:
                    assert row["lowest"] - 1e-9 <= means[a] - means[b] <= row["highest"] + 1e-9, row


def test_a_test_over_topics_is_called_significant_and_not_certain(small):
    result = rs.certain(rs.evaluate(*small, ["P@10"]))
    table = result.display[0]
    assert table.name == "certainty" and "significant" in table.columns
    assert "topics" not in table.columns
    assert "a test and no proof" in table.legend
    assert "topics" in result["pairs"].columns  # the name that scripts rely on
    significant = sum(row["topics"] for row in result["pairs"].records())
    (row,) = result["certainty"].records()
    assert row["significant"] == row["topics"] == significant


def test_files_give_the_pairs_that_dicts_give(tmp_path: Path) -> None:
    """Judgments extended by unjudged documents must not be looked up in the table of the judgments in the file."""
    rng = np.random.default_rng(4)
    qrels = {f"q{t}": {f"d{d}": int(rng.integers(0, 3)) for d in range(0, 40, 3)} for t in range(6)}
    runs = {
        name: {
            topic: {f"d{d}": float(40 - i) for i, d in enumerate(rng.permutation(40)[:15])} for topic in qrels
        }
        for name in ("a", "b", "c")
    }
    lines = [f"{topic} 0 {d} {grade}" for topic, grades in qrels.items() for d, grade in grades.items()]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    for name, lists in runs.items():
        rows = [
            f"{topic} Q0 {d} 1 {score} {name}" for topic, docs in lists.items() for d, score in docs.items()
        ]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    paths = [str(tmp_path / name) for name in runs]
    for measure in ("nDCG@10", "P@10", "AP"):
        from_files = rs.certain(rs.evaluate(str(tmp_path / "qrels"), paths, measure))
        from_dicts = rs.certain(rs.evaluate(qrels, runs, measure))
        assert from_files.tables["pairs"].records() == from_dicts.tables["pairs"].records()
        assert from_files.tables["runs"].records() == from_dicts.tables["runs"].records()


@pytest.mark.parametrize("seed", range(3))
def test_further_judges_are_a_source_of_uncertainty(seed: int) -> None:
    qrels, runs = collection(seed)
    rng = np.random.default_rng(seed)
    panel = [
        {topic: {doc: int(rng.integers(0, 3)) for doc in judged} for topic, judged in qrels.items()}
        for _ in range(2)
    ]
    scores = rs.evaluate(qrels, runs, ["P@5", "nDCG@5"])
    alone, result = rs.certain(scores), rs.certain(scores, judges=panel)
    assert "judges" not in alone["pairs"].columns
    verdicts = [row.judges for row in result.pairs]
    assert {True, False} == set(verdicts)
    for before, row in zip(alone.pairs, result.pairs, strict=True):
        same = True
        for judge in (qrels, *panel):
            means = rs.evaluate(judge, runs, row.measure).means()
            a, b = means[row.a][row.measure], means[row.b][row.measure]
            same &= bool(abs(a - b) < 1e-9 if row.order == "=" else a > b - 1e-9)
        assert row.judges == same
        assert row.together == (before.together if same else False)
    counted = {row.measure: row.judges for row in result.certainty}
    assert counted == {
        name: sum(row.judges for row in result.pairs if row.measure == name) for name in counted
    }
    with pytest.raises(SettingsError, match="across or judges"):
        rs.certain(scores, judges=panel, across="measures")


def test_further_judges_count_on_the_same_topics_only() -> None:
    runs = {"a": {"1": ["d", "x"], "2": ["x", "y"]}, "b": {"1": ["x", "y"], "2": ["d", "x"]}}
    first = rs.evaluate({"1": {"d": 1}}, runs, "P@1")
    [pair] = rs.certain(first, judges=[{"1": {"d": 1}, "2": {"d": 1, "y": 1}}]).pairs
    assert (pair.a, pair.judges) == ("a", True)
    with pytest.raises(InputError, match="a judge has none of the topics; give judgments of the same topics"):
        rs.certain(first, judges=[{"2": {"d": 1}}])
