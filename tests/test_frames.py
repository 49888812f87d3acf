"""Frames out of everything that has columns: the same numbers in pandas, polars and Arrow, and back again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError, MissingDependencyError
from rankscope.frames import FrameMixin
from rankscope.tables import Table

KINDS = ("pandas", "polars", "arrow")
QRELS = rs.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}})
RUNS = rs.Runs(
    [
        rs.Run.from_dict({"q1": {"d2": 1.5, "d1": 0.5}, "q2": {"d9": 1.0}}, name="a"),
        rs.Run.from_dict({"q1": {"d1": 2.0}}, name="b"),
    ]
)


def columns(thing: FrameMixin, kind: str) -> dict[str, list[Any]]:
    """Return the columns of any frame as lists."""
    frame = getattr(thing, f"to_{kind}")()
    if kind == "pandas":
        return {name: [None if value != value else value for value in frame[name].tolist()] for name in frame}
    if kind == "polars":
        return frame.to_dict(as_series=False)
    return frame.to_pydict()


@pytest.mark.parametrize("kind", KINDS)
def test_judgments(kind: str) -> None:
    assert columns(QRELS, kind) == {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["d1", "d2", "d3"],
        "relevance": [1, 0, 2],
    }
    repeated = rs.Qrels.from_frame(getattr(QRELS, f"to_{kind}")())
    assert [repeated.judgments(topic) for topic in repeated.topics] == [{"d1": 1, "d2": 0}, {"d3": 2}]


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_of_aspects(kind: str) -> None:
    qrels = rs.Qrels.from_dict({"q": {"d1": {"a": 1, "b": 0}, "d2": {"b": 2}, "d3": {"a": 1}}})
    assert columns(qrels, kind) == {
        "query_id": ["q"] * 4,
        "iteration": ["a", "b", "b", "a"],
        "doc_id": ["d1", "d1", "d2", "d3"],
        "relevance": [1, 0, 2, 1],
    }
    repeated = rs.Qrels.from_frame(getattr(qrels, f"to_{kind}")(), aspects=True)
    lists = {"q": ["d3", "d2", "d1"]}
    measures = ["ERR_IA", "alpha_nDCG", "AP"]
    assert rs.evaluate(repeated, lists, measures).means() == rs.evaluate(qrels, lists, measures).means()


def test_removed_judgments_are_left_out() -> None:
    less = QRELS.with_grades(np.array([1, rs.UNJUDGED, 2]))
    assert columns(less, "arrow")["doc_id"] == ["d1", "d3"]
    qrels = rs.Qrels.from_dict({"q": {"d1": {"a": 2, "b": 1}, "d2": {"b": 2}}})
    less = qrels.with_grades(np.array([1, rs.UNJUDGED]))
    assert columns(less, "arrow") == {
        "query_id": ["q", "q"],
        "iteration": ["a", "b"],
        "doc_id": ["d1", "d1"],
        "relevance": [1, 1],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_runs(kind: str) -> None:
    assert columns(RUNS["a"], kind) == {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["d2", "d1", "d9"],
        "rank": [1, 2, 1],
        "score": [1.5, 0.5, 1.0],
    }
    repeated = rs.Run.from_frame(getattr(RUNS["a"], f"to_{kind}")(), name="a")
    assert repeated.ranking("q1") == ["d2", "d1"]
    assert columns(RUNS, kind) == {
        "run": ["a", "a", "a", "b"],
        "query_id": ["q1", "q1", "q2", "q1"],
        "doc_id": ["d2", "d1", "d9", "d1"],
        "rank": [1, 2, 1, 1],
        "score": [1.5, 0.5, 1.0, 2.0],
    }
    plain = rs.Run.from_dict({"q1": ["d2", "d1"]})
    assert columns(plain, kind)["score"] == [None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_has_a_row_per_run(kind: str) -> None:
    matrix = rs.evaluate(QRELS, RUNS, "AP").matrix("AP")
    assert columns(matrix, kind) == {"run": ["a", "b"], "q1": [0.5, 1.0], "q2": [0.0, 0.0]}
    assert repr(matrix) == "<ScoreMatrix: AP, 2 runs x 2 topics>"


def test_a_topic_may_not_hide_the_runs() -> None:
    matrix = rs.evaluate({"run": {"d": 1}}, {"run": {"d": 1.0}}, "AP").matrix("AP")
    with pytest.raises(InputError, match="a topic is called 'run'"):
        matrix.to_pandas()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_cell(kind: str) -> None:
    rows: list[tuple[Any, ...]] = [
        ("a", 1, 0.5, True, 10, None, 2**70, 1),
        (None, 2, None, False, "depth 10", None, 3, 0.5),
        ("b", 3, float("inf"), True, 2.5, None, None, None),
    ]
    names = ("text", "whole", "number", "truth", "mixed", "nothing", "huge", "both")
    result = columns(Table("cells", names, rows), kind)
    assert result["text"] == ["a", None, "b"]
    assert result["whole"] == [1, 2, 3]
    assert result["number"] == [0.5, None, float("inf")]
    assert result["truth"] == [True, False, True]
    assert result["mixed"] == ["10", "depth 10", "2.5"]
    assert result["nothing"] == [None, None, None]
    assert result["huge"] == [float(2**70), 3.0, None]
    assert result["both"] == [1.0, 0.5, None]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_without_rows(kind: str) -> None:
    assert columns(Table("empty", ("a", "b"), []), kind) == {"a": [], "b": []}


@pytest.mark.parametrize("kind", KINDS)
def test_names_that_are_no_text(kind: str) -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    result = columns(rs.Qrels.from_dict({"q": {name: 1, "d": 0}}), kind)["doc_id"]
    assert result == (["caf\udce9", "d"] if kind == "pandas" else ["caf\\udce9", "d"])
    if kind == "pandas":  # which can carry the bytes, so that they come back
        repeated = rs.Qrels.from_frame(rs.Qrels.from_dict({"q": {name: 1}}).to_pandas())
        assert repeated.documents == [b"caf\xe9"]


@pytest.mark.parametrize(
    ("kind", "package"), [("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")]
)
def test_packages_that_are_not_there(kind: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=f"need {package}"):
        getattr(QRELS, f"to_{kind}")()


def test_scores_in_frames() -> None:
    scores = rs.evaluate(QRELS, RUNS, ["AP", "P@1"])
    assert columns(scores, "polars") == {
        "run": ["a"] * 4 + ["b"] * 4,
        "topic": ["q1", "q1", "q2", "q2"] * 2,
        "measure": ["AP", "P@1"] * 4,
        "value": [0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    }
    assert scores.to_pandas("means")["value"].tolist() == [0.25, 0.0, 0.5, 0.5]
