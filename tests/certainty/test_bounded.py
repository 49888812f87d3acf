"""Bounds over unjudged documents, computed list by list, equal those computed with every document known."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.certain import certain
from rankscope.analysis.next_judgments import next_judgments
from rankscope.certainty.documents import EVERY, with_documents, with_groups, with_unjudged
from rankscope.judging import EvaluationOptions, Judged, judge
from rankscope.measures import parse_many
from rankscope.read import ORDERS, Inputs, Qrels, Runs, open_collection, read_runs
from rankscope.scan import first_documents, tie_groups
from rankscope.scores import score

MEASURES = parse_many("AP AP@5 RR P@5 R@5 Rprec nDCG nDCG@5 RBP ERR@10 Bpref Twist SetF Judged@5 NumRet")


def collection(seed: int, digits: int | None) -> Inputs:
    """Four runs that lack topics and have ties, and judgments of which some are negative."""
    luck = random.Random(seed)
    simulation = rs.simulate(systems=4, topics=4, depth=20, pool_depth=6, grades=3, seed=seed)
    qrels = {
        topic: {doc: -1 if luck.random() < 0.1 else grade for doc, grade in judged.items()}
        for topic, judged in simulation.qrels.items()
    }
    runs = {
        name: {
            topic: {
                doc: score if digits is None else round(score, digits)
                for doc, score in list(scored.items())[: luck.choice([3, 8, 20])]
            }
            for topic, scored in lists.items()
            if luck.random() < 0.9
        }
        for name, lists in simulation.runs.items()
    }
    return open_collection(qrels, runs)


def fully_known(opened: Inputs) -> Judged:
    """Judge the runs with judgments that contain every retrieved document."""
    qrels, runs = opened
    judged = judge(with_documents(qrels, runs), runs, ties=True)
    return replace(with_groups(judged, runs), known_depth=EVERY, options=EvaluationOptions(unjudged="bounds"))


@pytest.mark.parametrize(
    ("seed", "digits", "ties"),
    [(1, None, "break"), (2, 0, "break"), (2, 0, "expected"), (3, 1, "best"), (2, 0, "worst")],
)
def test_ranges_are_those_of_lists_whose_documents_are_all_known(
    seed: int, digits: int | None, ties: str
) -> None:
    opened = collection(seed, digits)
    measures = MEASURES if ties == "break" else parse_many("AP RR Rprec nDCG@5 RBP ERR@10")
    scores = rs.evaluate(*opened, measures, ties=ties, unjudged="bounds")
    whole = score(replace(fully_known(opened), options=EvaluationOptions(ties, "bounds")), measures)
    assert scores.judged is not None and scores.judged.qrels is opened.qrels
    assert scores.values.tobytes() == whole.values.tobytes()
    for name in scores.uncertainty.columns:  # type: ignore[union-attr]
        actual, expected = getattr(scores.uncertainty, name), getattr(whole.uncertainty, name)
        assert actual.tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("measures", ["nDCG@5 P@10", "nDCG RBP DCG@10", "P@5 AP RR"])
@pytest.mark.parametrize(("seed", "digits"), [(1, None), (2, 0)])
def test_certain_and_next_need_only_documents_that_have_weight(
    monkeypatch: pytest.MonkeyPatch, seed: int, digits: int | None, measures: str
) -> None:
    monkeypatch.setattr("rankscope.certainty.documents.SMALL", 0)
    opened = collection(seed, digits)
    scores = rs.evaluate(*opened, measures)
    whole = replace(scores, judged=fully_known(opened), collection=None)
    questions = [lambda one: certain(one, labels=True)]
    if "AP" not in measures:
        questions.append(lambda one: next_judgments(one, 30))
    for question in questions:
        actual, expected = question(scores), question(whole)
        for name, table in expected.tables.items():
            assert repr(list(actual[name].rows)) == repr(list(table.rows)), name


def test_judgments_are_extended_only_by_documents_that_a_measure_uses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rankscope.certainty.documents.SMALL", 0)
    opened = collection(1, None)
    judged_lists = with_unjudged(*opened, parse_many("nDCG@2 P@3"))
    judged = sum(len(opened.qrels.judgments(topic)) for topic in opened.qrels.topics)
    lists = len(opened.runs) * len(opened.qrels.topics)
    assert judged_lists.known_depth == 3
    assert len(judged_lists.qrels) <= judged + 3 * lists < len(with_documents(*opened))


TEXT = """q Q0 d2 1 2 r
p Q0 x 1 1 r
q Q0 d1 2 3 r
u Q0 z 1 1 r
q Q0 d3 3 2 r
p Q0 y 2 2 r
q Q0 d4 4 1 r
"""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("text", [TEXT, "".join(sorted(TEXT.splitlines(True)))], ids=["mixed", "grouped"])
@pytest.mark.parametrize("packed", [False, True])
def test_first_documents_are_the_same_from_both_scanners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, text: str, packed: bool
) -> None:
    path = tmp_path / ("a.run.gz" if packed else "a.run")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    run = read_runs(path, order=order)["a"]
    qrels = Qrels.from_dict({"q": {"d4": 1}, "p": {"x": 1}})
    for depth in (1, 2, 3, 9):
        monkeypatch.delenv("RANKSCOPE_SCANNER", raising=False)
        documents = {topic: sorted(names) for topic, names in first_documents(run, qrels, depth)}
        monkeypatch.setenv("RANKSCOPE_SCANNER", "python")
        assert documents == {topic: sorted(names) for topic, names in first_documents(run, qrels, depth)}
        tied = order not in ("rank", "file") and depth == 2
        assert len(documents[qrels.topic_index["q"]]) == (3 if tied else min(depth, 4))


def test_wrong_lines_are_named_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 1 r\nq Q0 d 2 1 r\n")
    run = read_runs(tmp_path / "a.run")["a"]
    with pytest.raises(rs.errors.InputError, match=r"a\.run:2: document 'd' occurs twice"):
        list(first_documents(run, Qrels.from_dict({"q": {"d": 1}}), 1))


def test_groups_of_equal_scores() -> None:
    runs = Runs([rs.Run.from_dict({"q": {"a": 3, "b": 2, "c": 2, "d": 1, "e": 1}, "u": {"z": 1, "y": 1}})])
    qrels = Qrels.from_dict({"p": {"a": 1}, "q": {"a": 1}})
    ((topic, (first, size)),) = tie_groups(runs["run"], qrels).items()
    assert (topic, first.tolist(), size.tolist()) == (1, [2, 4], [2, 2])
    assert tie_groups(runs["run"].with_order("file"), qrels) == {}
    groups = with_groups(judge(qrels, runs, ties=True), runs).groups
    assert groups is not None
    assert [column.tolist() for column in groups.by_rank(1, 5)] == [[1, 2, 2, 4, 4], [1, 2, 2, 2, 2]]
    assert [column.tolist() for column in groups.take(np.array([1, 0])).by_rank(1, 2)] == [
        [1, 2],
        [1, 1],
    ]


def test_labellings_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with thousands of unjudged documents has thousands of labellings that matter: not all at once."""
    opened = collection(2, 0)
    whole = rs.evaluate(*opened, "AP Rprec", ties="best", unjudged="bounds").uncertainty
    monkeypatch.setattr("rankscope.certainty.unjudged._CELLS", 30)
    parts = rs.evaluate(*opened, "AP Rprec", ties="best", unjudged="bounds").uncertainty
    assert whole is not None and parts is not None
    for name in whole.columns:
        assert getattr(whole, name).tobytes() == getattr(parts, name).tobytes(), name
