"""Rows of frames go through the library as lines of files do, with the hits that lists in memory have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.native.scans import pad
from rankscope.read import ORDERS, Qrels, Run
from rankscope.read.columns import RunColumns, TextColumn
from rankscope.scan import native, scan_run
from rankscope.scan.memory import match_lists

pytestmark = pytest.mark.skipif(not native.available(), reason="the library was not built")

NAMES = st.sampled_from(["q1", "q2", "qué", "x" * 40, "q" * 7, ""])
ROWS = st.lists(
    st.tuples(
        NAMES,
        st.sampled_from([f"d{n}" for n in range(9)] + ["d" * 33, "é"]),
        st.sampled_from([0.0, -0.0, 1.0, 1.00000001, np.inf, -np.inf, 5e-324]),
        st.integers(-3, 3),
    ),
    min_size=1,
    max_size=40,
)
QRELS = Qrels.from_dict(
    {"q1": {"d1": 1, "d3": 0, "é": 2}, "qué": {"d0": 1, "d" * 33: 1}, "x" * 40: {"d2": 1}, "none": {"d1": 1}}
)


def columns(rows: list[tuple[str, str, float, int]]) -> dict[str, Any]:
    return {
        "query_id": [row[0] for row in rows],
        "doc_id": [row[1] for row in rows],
        "score": [row[2] for row in rows],
        "rank": [row[3] for row in rows],
    }


@given(ROWS, st.sampled_from(ORDERS), st.booleans(), st.booleans())
def test_rows_give_the_hits_of_lists(
    rows: list[tuple[str, str, float, int]], order: str, ties: bool, ranked: bool
) -> None:
    kept = list({(topic, document): (topic, document, s, r) for topic, document, s, r in rows}.values())
    table = columns(kept)
    if not ranked:
        del table["rank"]
    result = RunColumns.from_columns(table)
    expected = match_lists(result.lists(), QRELS, order, "bm25", ties)
    got = native.scan_rows(result, QRELS, order, ties)._replace(tag="bm25")
    for field in ("topic", "length", "offsets", "rank", "judgment", "tied"):
        np.testing.assert_array_equal(getattr(got, field), getattr(expected, field), field)
    assert got.ignored_topics == expected.ignored_topics
    if ties:
        assert got.ties is not None
        assert expected.ties is not None
        np.testing.assert_array_equal(got.ties.first, expected.ties.first)
        np.testing.assert_array_equal(got.ties.size, expected.ties.size)


@given(ROWS)
def test_a_document_that_occurs_twice(rows: list[tuple[str, str, float, int]]) -> None:
    result = RunColumns.from_columns(columns(rows), lines=np.arange(2, len(rows) + 2), path="r.csv")
    run = Run("r", rows=result)
    if len({row[:2] for row in rows}) == len(rows):
        scan_run(run, QRELS)
        return
    with pytest.raises(InputError, match="occurs twice") as native_error:
        scan_run(run, QRELS)
    with pytest.raises(InputError) as error:
        result.lists()
    assert str(native_error.value) == str(error.value)


def test_both_scanners_find_the_same_hits_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.from_frame({"qid": ["q1", "q1"], "docno": ["d3", "d1"], "score": [2.0, 1.0]})
    expected = scan_run(run, QRELS)
    monkeypatch.setenv("RANKSCOPE_SCANNER", "python")
    result = scan_run(run, QRELS)
    np.testing.assert_array_equal(result.rank, expected.rank)
    assert result.tag == expected.tag == "run"


def test_texts_of_slices_and_parts() -> None:
    """Arrow tables come in pieces, and pieces begin anywhere in their buffers."""
    pyarrow = pytest.importorskip("pyarrow")
    whole = pyarrow.array(["zero", "q1", "q1", "qué", ""])
    for column in (whole[1:], pyarrow.chunked_array([whole[1:3], whole[3:]]), whole[1:].dictionary_encode()):
        assert TextColumn.from_column(column, "topic").pieces() == [b"q1", b"q1", "qué".encode(), b""]
    assert TextColumn.from_column(pyarrow.array([], pyarrow.string()), "topic").pieces() == []
    assert TextColumn.from_column(pyarrow.array([3, 10]), "topic").pieces() == [b"3", b"10"]
    with pytest.raises(InputError, match="topic: an id is missing"):
        TextColumn.from_column(pyarrow.array(["a", None]), "topic")
    table = pyarrow.table(
        {"qid": whole[1:], "docno": pyarrow.array(["x", "d3", "d1", "d0", "d5"])[1:], "score": [4.0, 3, 2, 1]}
    )
    assert scan_run(Run.from_frame(table), QRELS).rank.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "values", [["q1"] * 9 + ["qué"] * 5 + ["q1"], [7] * 8, [8.0] * 4 + ["é\nb"] * 4, list("abcd")]
)
def test_objects_that_come_in_a_row(values: list[Any]) -> None:
    """A pandas column with the same object in consecutive rows yields the same texts as distinct objects."""
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(values, dtype=object)
    assert (
        TextColumn.from_column(column, "topic").pieces()
        == TextColumn.from_column(list(values), "topic").pieces()
    )
    assert TextColumn.from_column(
        pandas.DataFrame({"a": column, "b": column})["b"][::2], "topic"
    ).pieces() == [*TextColumn.from_column(values[::2], "topic").pieces()]


def test_a_missing_object_in_a_row_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="topic"):
        TextColumn.from_column(pandas.Series(["q1"] * 9 + [None] * 9, dtype=object), "topic")


def test_texts_that_overlap_are_refused() -> None:
    texts = TextColumn(np.frombuffer(b"abc", np.uint8), np.array([0, 2, 1]))
    with pytest.raises(ValueError, match="overlap"):
        pad(*texts)
    with pytest.raises(ValueError, match="overlap"):
        pad(np.frombuffer(b"abc", np.uint8), np.array([0, 4]))
