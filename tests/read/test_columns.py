"""Columns of ids are the same texts whatever holds them, and rows that are wrong are named by what stands in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from rankscope.errors import InputError
from rankscope.read import Qrels, Run, Runs
from rankscope.read.columns import RunColumns, TextColumn, parse_ranks

IDS = {
    "few": ["a"],
    "none": [],
    "all different": ["q1", "zwölf", "", "x y", "q2"],
    "one after the other": ["q1"] * 9 + ["q2"] * 7 + ["q10"] * 8,
    "back again": ["q1"] * 9 + ["q2"] * 9 + ["q1"] * 9,
    "with line ends": ["a\nb", "c", "d\n"],
    "numbers": [301, 302, 302, 7],
}


def chunked(ids: list[Any]) -> Any:
    half = len(ids) // 2
    kind = pyarrow.int64() if ids and isinstance(ids[0], int) else pyarrow.string()
    return pyarrow.chunked_array([pyarrow.array(ids[:half], kind), pyarrow.array(ids[half:], kind)])


def sliced(ids: list[Any]) -> Any:
    return pyarrow.array([*ids[:1], *ids, *ids[:1]])[1 : 1 + len(ids)] if ids else pyarrow.array([], "string")


def objects(ids: list[Any]) -> Any:
    """A column of pandas whose rows are the same objects where they are equal, as it reads files."""
    same = {one: one for one in ids}
    return pandas.Series([same[one] for one in ids], dtype=object)


HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "numpy": lambda ids: np.array(ids, object),
    "pandas": pandas.Series,
    "pandas objects": objects,
    "every other row": lambda ids: objects([one for one in ids for _ in (0, 1)])[::2],
    "pandas texts": lambda ids: pandas.Series(ids, dtype="string" if ids and ids[0] != 301 else "Int64"),
    "categories": lambda ids: pandas.Series(ids).astype("category"),
    "polars": polars.Series,
    "arrow": pyarrow.array,
    "sliced": sliced,
    "chunked": chunked,
    "dictionary": lambda ids: pyarrow.array(ids).dictionary_encode() if ids else pyarrow.array(ids),
}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("holder", HOLDERS)
def test_texts_of_every_kind_of_column(holder: str, ids: str) -> None:
    expected = [str(one).encode() for one in IDS[ids]]
    texts = TextColumn.from_column(HOLDERS[holder](IDS[ids]), "topic")
    assert texts.pieces() == expected
    rows = np.arange(len(expected))[::-2]
    assert texts.take(rows).pieces() == expected[::-2]
    groups = {text: mine.tolist() for text, mine in texts.groups().items()}
    assert list(groups) == list(dict.fromkeys(expected))
    assert all(expected[row] == text for text, mine in groups.items() for row in mine)
    assert sum(map(len, groups.values())) == len(expected)


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("holder", ["list", "pandas", "polars", "arrow"])
@pytest.mark.parametrize("index", [0, 2, 4])
def test_a_missing_id_is_refused_wherever_it_stands(holder: str, index: int, missing: Any) -> None:
    ids: list[Any] = ["q1", "q2", "q3", "q4"]
    ids.insert(index, None if holder in ("polars", "arrow") else missing)
    with pytest.raises(InputError, match=r"^topic: an id is missing; fill the gap or remove the row$"):
        TextColumn.from_column(HOLDERS[holder](ids), "topic")


@pytest.mark.parametrize("index", [0, 1, 3])
@pytest.mark.parametrize(("score", "message"), [(float("nan"), "NaN"), ("high", "not a number"), (None, "N")])
def test_a_wrong_score_is_named_by_its_topic(index: int, score: Any, message: str) -> None:
    columns: dict[str, list[Any]] = {
        "qid": ["q0", "q1", "q2", "q3"],
        "docno": ["a", "b", "c", "d"],
        "score": [4.0, 3.0, 2.0, 1.0],
    }
    columns["score"][index] = score
    advice = "remove the document or give a number"
    with pytest.raises(InputError, match=rf"^a score of topic 'q{index}' is {message}.*; {advice}$"):
        Run.from_frame(columns)


@pytest.mark.parametrize("index", [1, 2, 4])
def test_a_document_that_occurs_twice_is_named_with_its_line(index: int) -> None:
    topics, documents = ["q1", "q1", "q2", "q2"], ["a", "b", "a", "b"]
    topics.insert(index, topics[index - 1])
    documents.insert(index, documents[index - 1])
    lines = np.array([12, 14, 16, 18, 20])
    columns = {"query_id": topics, "doc_id": documents, "score": [5, 4, 3, 2, 1]}
    with pytest.raises(InputError) as caught:
        RunColumns.from_columns(columns, lines, "x.csv").lists()
    expected = f"document {documents[index]!r} occurs twice in topic {topics[index]!r}; keep one of the two"
    assert str(caught.value) == f"x.csv:{lines[index]}: {expected}"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, 2], [1, 2]),
        (["3", "-4"], [3, -4]),
        ([2.0**53 - 1, 1.0], [2**53 - 1, 1]),
        ([1 - 2.0**53], [1 - 2**53]),
        ([2.0**53], None),
        ([-(2.0**53)], None),
        ([1.5], None),
        ([float("nan")], None),
        (["first"], None),
        ([None], None),
    ],
)
def test_ranks_are_whole_numbers(column: list[Any], expected: list[int] | None) -> None:
    ranks = parse_ranks(column)
    assert (None if ranks is None else ranks.tolist()) == expected


def test_ranks_put_documents_in_order_where_there_are_no_scores() -> None:
    table = {"qid": ["1"] * 3, "docno": ["a", "b", "c"], "rank": [3, 1, 2]}
    assert Run.from_frame(table).ranking("1") == ["b", "c", "a"]
    with pytest.raises(InputError, match=r"^a rank is not an integer; give integers, or scores$"):
        Run.from_frame({**table, "rank": [3, 1, 1.5]})


@pytest.mark.parametrize("runs", [1, 2])
def test_a_column_of_names_tells_runs_apart(runs: int) -> None:
    names = [f"run{n % runs}" for n in range(4)]
    table = {
        "run": names,
        "qid": ["1"] * 4,
        "docno": list("abcd"),
        "rank": [4, 3, 2, 1],
        "score": [1, 2, 3, 4],
    }
    split = Runs.from_frame(table, order="rank")
    assert {name: run.ranking("1") for name, run in split.items()} == (
        {"run0": ["d", "c", "b", "a"]} if runs == 1 else {"run0": ["c", "a"], "run1": ["d", "b"]}
    )


@pytest.mark.parametrize("grades", [["x"], [[1], [1, 2]], [[1, 2]], [float("nan")], [None]])
def test_grades_that_are_no_numbers(grades: list[Any]) -> None:
    with pytest.raises(
        InputError,
        match=r"^a grade is not a number; grades are numbers such as 0, 1, 2 or 0\.37$",
    ):
        Qrels.from_frame(
            {"qid": ["1"], "docno": ["a"], "relevance": grades[:1] if len(grades) == 1 else grades}
        )


@pytest.mark.parametrize("grade", [2**31 - 2, 2 - 2**31, 1.0, True])
def test_the_largest_and_smallest_grades_are_kept(grade: Any) -> None:
    assert Qrels.from_dict({"1": {"a": grade, "b": 0}}).judgments("1") == {"a": int(grade), "b": 0}
    if abs(grade) > 1:
        for beyond in (grade + 1, grade - 1):
            if abs(beyond) > abs(grade):
                with pytest.raises(InputError, match="beyond 32 bits; grades are small numbers"):
                    Qrels.from_dict({"1": {"a": beyond}})
