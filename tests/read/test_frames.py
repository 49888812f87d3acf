"""Tables of every kind, under the names that people use, are runs and judgments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.read.frames import COLUMNS, is_table

JUDGED = {"query_id": [1, 1, 2], "doc_id": ["a", "b", "a"], "relevance": [1, 0, 2]}
SCORED = {"query_id": [1, 1, 2], "doc_id": ["b", "a", "a"], "score": [2.0, 1.0, 1.0]}
EXPECTED = {"1": 0.5, "2": 1.0}


class Qrel(NamedTuple):
    query_id: Any
    doc_id: str
    relevance: int


class ScoredDoc(NamedTuple):
    query_id: Any
    doc_id: str
    score: float


def to_pandas(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def to_polars(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def to_arrow(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


def to_records(columns: dict[str, list[Any]]) -> Any:
    return np.rec.fromarrays([np.array(column) for column in columns.values()], names=list(columns))


def to_tuples(columns: dict[str, list[Any]]) -> Any:
    kind = Qrel if "relevance" in columns else ScoredDoc
    return [kind(*row) for row in zip(*columns.values(), strict=True)]


def to_rows(columns: dict[str, list[Any]]) -> Any:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


KINDS = [dict, to_pandas, to_polars, to_arrow, to_records, to_tuples, to_rows]


def per_topic(qrels: Any, runs: Any) -> dict[str, dict[str, float]]:
    result = rs.evaluate(qrels, runs, "AP").per_topic()
    return {run: {topic: next(iter(v.values())) for topic, v in item.items()} for run, item in result.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table(kind: Any) -> None:
    assert per_topic(kind(JUDGED), kind(SCORED)) == {"run": EXPECTED}
    assert per_topic(kind(JUDGED), {"bm25": kind(SCORED), "dense": kind(SCORED)}) == {
        "bm25": EXPECTED,
        "dense": EXPECTED,
    }
    assert per_topic(kind(JUDGED), [("bm25", kind(SCORED)), ("dense", kind(SCORED))]).keys() == {
        "bm25",
        "dense",
    }
    assert is_table(kind(JUDGED))
    assert is_table(kind(SCORED))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_a_single_row(kind: Any) -> None:
    judged = kind({name: column[:1] for name, column in JUDGED.items()})
    scored = kind({"query_id": [1], "doc_id": ["a"], "score": [1.0]})
    assert per_topic(judged, scored) == {"run": {"1": 1.0}}


@pytest.mark.parametrize(
    "thing", ["qid docno", "", None, 5, [], (), [1], [{}], {}, {"qid": ["1"]}, {"docno": ["a"]}]
)
def test_other_objects_are_not_tables(thing: Any) -> None:
    assert not is_table(thing)


@pytest.mark.parametrize("meaning", ["query_id", "doc_id", "relevance"])
def test_every_name_of_a_column(meaning: str) -> None:
    for name in COLUMNS[meaning]:
        for spelled in (name, name.upper()):
            judged = {spelled if key == meaning else key: column for key, column in JUDGED.items()}
            scored = {spelled if key == meaning else key: column for key, column in SCORED.items()}
            assert per_topic(judged, scored) == {"run": EXPECTED}


@pytest.mark.parametrize("column", COLUMNS["run"])
def test_one_long_table_with_a_column_of_runs(column: str) -> None:
    long = {name: values * 2 for name, values in SCORED.items()} | {column: ["a"] * 3 + ["b"] * 3}
    assert per_topic(JUDGED, to_pandas(long)) == {"a": EXPECTED, "b": EXPECTED}


def test_result_frames_of_pyterrier() -> None:
    """Result frames of PyTerrier have an internal docid in addition to docno."""
    frame = to_pandas(
        {
            "qid": ["1", "1"],
            "docid": [7, 9],
            "docno": ["b", "a"],
            "rank": [0, 1],
            "score": [2.0, 1.0],
            "query": "x",
        }
    )
    topics = to_pandas({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    assert per_topic(topics, frame) == {"run": {"1": 0.5}}


def test_numbers_are_ids() -> None:
    assert per_topic(
        {"qid": [1.0, 1.0], "docno": [10, 11], "rel": [1, 0]}, {"1": {"11": 2.0, "10": 1.0}}
    ) == {"run": {"1": 0.5}}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"qid": ["q"], "docno": ["d"]}, r"no column for score \(score\); rename one of: qid, docno"),
        ({"qid": [None], "docno": ["d"], "score": [1.0]}, "column 'qid': an id is missing; fill the gap"),
        ({"qid": ["q"], "docno": [float("nan")], "score": [1.0]}, "column 'docno': an id is missing"),
        ({"qid": ["q"], "docno": ["d"], "score": ["high"]}, "a score of topic 'q' is not a number"),
    ],
)
def test_bad_tables_are_explained(table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rs.evaluate(JUDGED, table, "AP")


def test_dicts_of_lists_are_still_runs() -> None:
    assert not is_table({"q1": {"d1": 1}})
    assert not is_table({"q1": ["d1", "d2"]})
    assert per_topic({"q1": {"d1": 1}}, {"q1": ["d2", "d1"]}) == {"run": {"q1": 0.5}}
