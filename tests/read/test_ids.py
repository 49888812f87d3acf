"""Ids of every type, from wherever they come, become text by one rule."""

from __future__ import annotations

import csv
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError
from rankscope.read.ids import arrow_ids, id_text, sort_naturally, to_bytes

TOPICS, DOCUMENTS = [1, 1, 2, 2, 2], [7, 8, 7, 9, 10]
SCORES = [1.0, 2.0, 3.0, 2.0, 1.0]
GRADES = [1, 0, 0, 1, 0]
TYPES: dict[str, Any] = {
    "int8": pa.int8(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "half": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "large string": pa.large_string(),
    "string view": pa.string_view(),
    "binary": pa.binary(),
    "large binary": pa.large_binary(),
    "binary view": pa.binary_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary of doubles": pa.dictionary(pa.int8(), pa.float64()),
}
WRONG: dict[str, Any] = {
    "bool": pa.array([True] * 5),
    "date": pa.array([date(2020, 1, 1)] * 5),
    "timestamp": pa.array([1] * 5, pa.timestamp("ns")),
    "decimal": pa.array([Decimal("7.0")] * 5),
    "list": pa.array([["7"]] * 5),
    "struct": pa.array([{"a": 7}] * 5),
    "fraction": pa.array([7.0, 7.5, 1.0, 2.0, 3.0]),
    "inexact": pa.array([2.0**53 + 2] * 5),
    "infinite": pa.array([float("inf")] * 5),
    "nan": pa.array([float("nan")] * 5),
    "null": pa.nulls(5),
    "gap": pa.array(["1", None, "1", "1", "1"]),
}


def column(values: list[int], kind: str) -> Any:
    """Whole numbers as ids of a type."""
    requested = TYPES[kind]
    if "dictionary" in kind:
        return pa.array(values).cast(requested.value_type).dictionary_encode()
    if pa.types.is_integer(requested) or pa.types.is_floating(requested):
        return pa.array(values, pa.int64()).cast(requested)
    return pa.array([str(value) for value in values]).cast(requested)


def tables(topics: str, documents: str) -> tuple[Any, Any]:
    """Judgments and a run with topics and documents of a type."""
    ids = {"qid": column(TOPICS, topics), "docno": column(DOCUMENTS, documents)}
    return pa.table(ids | {"relevance": GRADES}), pa.table(ids | {"score": SCORES})


EXPECTED = {"1": 0.5, "2": 0.5}


def per_topic(qrels: Any, run: Any) -> dict[str, float]:
    """AP by topic."""
    return {row[1]: row[3] for row in rs.evaluate(qrels, run, "AP")["topics"].rows}


def write_table(table: Any, path: Path, form: str) -> Path | None:
    """A table in a file of a format; None if the format does not hold its types."""
    try:
        if form == "parquet":
            pq.write_table(table, path)
        elif form == "feather":
            pyarrow.feather.write_feather(table, str(path), compression="zstd")
        else:
            with pa.ipc.new_stream(path, table.schema) as sink:
                sink.write_table(table)
    except (pa.ArrowException, NotImplementedError):
        return None
    return path


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("other", ["string", "double", "int64"])
def test_ids_of_every_type_are_the_same_from_files_frames_and_streams(
    kind: str, other: str, tmp_path: Path
) -> None:
    """Binary ids in files were "b'7'", doubles "7.0"; streams and pandas read 7."""
    (judged, _), (_, run) = tables(other, kind), tables(kind, other)
    assert per_topic(judged, run) == EXPECTED
    for form in ("parquet", "feather", "stream"):
        qrels, path = (
            write_table(table, tmp_path / f"{name}.{form}", form)
            for name, table in (("judged", judged), ("run", run))
        )
        if qrels is None or path is None:
            continue
        assert per_topic(qrels, path) == EXPECTED, form
        if form == "parquet":
            rs.evaluate_into(tmp_path / "o.csv", qrels, path, "AP")
            with (tmp_path / "o.csv").open() as file:
                assert {row["topic"]: float(row["value"]) for row in csv.DictReader(file)} == EXPECTED
            assert (
                main(["eval", str(qrels), str(path), "-m", "AP", "-q", "-o", str(tmp_path / "o.json")]) == 0
            )
            result = json.loads((tmp_path / "o.json").read_text())["tables"]["topics"]
            assert {row["topic"]: row["value"] for row in result} == EXPECTED
    if kind != "half":  # which polars lacks
        assert per_topic(judged.to_pandas(), run.to_pandas()) == EXPECTED
        assert per_topic(pl.from_arrow(judged), pl.from_arrow(run)) == EXPECTED
    plain = [{name: table[name].to_pylist() for name in table.column_names} for table in (judged, run)]
    assert per_topic(*plain) == EXPECTED
    arrays = [{name: np.array(values) for name, values in table.items()} for table in plain]
    assert per_topic(*arrays) == EXPECTED


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("name", ["qid", "docno", "run", "subtopic"])
def test_invalid_ids_raise_an_error_that_names_the_column(kind: str, name: str, tmp_path: Path) -> None:
    judged, run = tables("string", "int64")
    table = judged if name == "subtopic" else run
    table = table.drop_columns(name) if name in table.column_names else table
    table = table.append_column(name, WRONG[kind])
    arguments = (table, run) if name == "subtopic" else (judged, table)
    which = arguments.index(table)
    with pytest.raises(InputError, match=f"column '{name}'"):
        rs.evaluate(*arguments, "AP")
    path = write_table(table, tmp_path / "x.parquet", "parquet")
    if path is not None:
        from_file = [*arguments]
        from_file[which] = path
        with pytest.raises(InputError, match=rf"x\.parquet: column '{name}'"):
            rs.evaluate(*from_file, "AP")
        with pytest.raises(InputError, match=rf"x\.parquet: column '{name}'"):
            rs.evaluate_into(tmp_path / "o.csv", *from_file, "AP")
    if kind not in ("list", "struct"):
        frames = [*arguments]
        frames[which] = table.to_pandas()
        with pytest.raises(InputError, match=f"column '{name}'"):
            rs.evaluate(*frames, "AP")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        np.bool_(True),
        7.5,
        float("nan"),
        float("inf"),
        2.0**60,
        (),
        Decimal(7),
        pd.NA,
        pd.NaT,
        date.min,
    ],
)
def test_values_that_are_no_ids_are_refused_one_by_one(value: Any) -> None:
    with pytest.raises(InputError, match=r"^topic: .* is (missing|not an id); "):
        id_text(value, "topic")
    with pytest.raises(InputError):
        rs.evaluate({"1": {"7": 1}}, {value: {"7": 1.0}}, "AP")
    with pytest.raises(InputError):
        rs.evaluate({value: {"7": 1}}, {"1": {"7": 1.0}}, "AP")


def test_dicts_may_have_ids_of_any_type() -> None:
    assert per_topic({1: {7: 1}}, {b"1": {7.0: 1.0}}) == {1: 1.0}
    assert per_topic({np.int64(1): {np.float32(7): 1}}, {"1": [7, "8"]}) == {1: 1.0}
    with pytest.raises(InputError, match="topic '1' occurs twice"):
        rs.evaluate({"1": {"7": 1}}, {"1": {"7": 1.0}, 1: {"8": 1.0}}, "AP")


@pytest.mark.parametrize("cell", ["true", "7.5", "[7]", "{}"])
def test_a_line_of_json_without_an_id_is_named(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        '{"qid": 1.0, "docno": 7, "score": 1}\n{"qid": 1, "docno": CELL}\n'.replace(
            "CELL", f'{cell}, "score": 1'
        )
    )
    with pytest.raises(InputError, match=r"run\.jsonl:2: doc_id: .* is not an id"):
        rs.evaluate({"1": {"7": 1}}, path, "AP")


def test_columns_keep_bytes_that_are_not_utf_8_and_runs_of_equal_values() -> None:
    assert arrow_ids(pa.array([b"caf\xe9"]), "x").to_pylist() == [b"caf\xe9"]
    equal = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["a", "b"]))
    assert arrow_ids(equal, "x").to_pylist() == [b"a", b"a", b"b"]
    assert arrow_ids(pa.chunked_array([], pa.string()), "x").to_pylist() == []


@pytest.mark.parametrize("kind", ["binary", "double", "int64", "string view"])
def test_scores_that_were_kept_have_topics_of_any_type(kind: str, tmp_path: Path) -> None:
    table = pa.table(
        {"run": pa.array(["a"] * 2).cast(pa.binary()), "topic": column([1, 2], kind), "AP": [0.5, 0.25]}
    )
    table = table.rename_columns(["run", "topic", "value"])
    path = write_table(table, tmp_path / "scores.parquet", "parquet") or write_table(
        table, tmp_path / "s.arrow", "feather"
    )
    from rankscope.read.scores import read_score_tables

    [result] = read_score_tables(path).values()
    assert (result.runs, result.topics, result.values.tolist()) == (("a",), ("1", "2"), [[0.5, 0.25]])


@pytest.mark.parametrize("form", ["parquet", "feather", "stream"])
def test_a_repeated_document_names_its_file(form: str, tmp_path: Path) -> None:
    table = pa.table({"qid": ["1", "1"], "docno": ["7", "7"], "score": [1.0, 2.0]})
    path = write_table(table, tmp_path / "run.x", form)
    with pytest.raises(InputError, match=r"run\.x: document '7' occurs twice"):
        rs.evaluate({"1": {"7": 1}}, path, "AP")
    if form == "parquet":
        with pytest.raises(InputError, match=r"run\.x: document '7' occurs twice"):
            rs.evaluate_into(tmp_path / "o.csv", {"1": {"7": 1}}, path, "AP")


@given(st.lists(st.text("0129", max_size=3) | st.sampled_from(["q1", "é", "\ud800", "1" * 18, "1" * 19])))
def test_topics_are_sorted_by_number_then_text_and_others_by_bytes(topics: list[str]) -> None:
    is_number = all(topic.isascii() and topic.isdigit() and len(topic) < 19 for topic in topics)
    by_text = sorted(topics, key=to_bytes)
    assert sort_naturally(topics) == (sorted(by_text, key=int) if is_number else by_text)
