"""Lists out of Arrow columns are the lists of the same files, whatever the order of the rows and the buckets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

import rankscope as rs
from rankscope.errors import InputError, SettingsError
from rankscope.judging.rows import ListRows, check_rows_order
from rankscope.measures import Measure
from rankscope.read import open_qrels


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rows") / "made"
    rs.simulate(systems=4, topics=7, grades=3, depth=60, seed=3, pool_depth=20, aspects=3).write(root)
    path = min((root / "runs").iterdir())
    fields = [line.split() for line in path.read_text().splitlines()]
    tied = [[*line[:4], f"{float(line[4]):.1f}", line[5]] for line in fields]
    path.write_text("\n".join(map(" ".join, tied)) + "\n")
    return root


def shuffled(folder: Path, seed: int) -> Any:
    table = pa.table(dict(rs.read_runs(folder / "runs").frame_columns()))
    return table.take(pa.array(np.random.default_rng(seed).permutation(len(table))))


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval9", "ascending_id", "rank"])
def test_every_measure_has_the_same_bits_in_buckets(
    folder: Path, order: str, every_measure: list[Measure]
) -> None:
    measures = every_measure
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", measures, order=order)
    judgments = open_qrels(folder / "qrels.txt", needs_aspects=True)
    table = shuffled(folder, 5)
    if order == "rank":  # that of the files
        columns = rs.read_runs(folder / "runs", order="rank").frame_columns()
        table = pa.table(dict(columns)).take(pa.array(np.random.default_rng(6).permutation(len(table))))
    labels = zip(table["run"].to_pylist(), table["query_id"].to_pylist(), strict=True)
    bucket = np.array([crc32(f"{run} {topic}".encode()) % 3 for run, topic in labels])
    n_lists = 0
    for number in range(3):
        lists = ListRows.from_table(table.filter(pa.array(bucket == number)), judgments, order)
        labels = zip(lists.runs, lists.topics, strict=True)
        where = [(scores.runs.index(run), scores.topics.index(topic)) for run, topic in labels]
        n_lists += len(lists)
        for part, block in lists.blocks():
            for m, measure in enumerate(measures):
                expected = np.array([scores.values[m, r, t] for r, t in where[part]])
                assert measure.evaluate(block).tobytes() == expected.tobytes(), measure
    assert n_lists == len(scores.runs) * len(scores.topics)


def rows(**columns: Any) -> ListRows:
    table = pa.table(
        {"run": ["r"] * len(columns["doc_id"]), "query_id": ["q"] * len(columns["doc_id"]), **columns}
    )
    order = "rank" if "rank" in columns else "trec_eval"
    return ListRows.from_table(table, rs.Qrels.from_dict({"q": {"b": 1, "c": 0}}), order)


def test_ties_are_broken_by_the_bytes_of_ids() -> None:
    assert rows(doc_id=["a", "c", "b", "é"], score=[1.0, 1.0, 1.0, 1.0]).rank.tolist() == [2, 3]
    assert rows(doc_id=["a", "b"], score=[0.0, -0.0]).rank.tolist() == [1]


def test_lists_that_are_only_named_are_empty() -> None:
    empty = rows(doc_id=[None], score=[0.0])
    assert (empty.length.tolist(), len(empty.rank)) == ([0], 0)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"doc_id": ["b", "b"], "score": [1.0, 2.0]}, "'b' occurs twice"),
        ({"doc_id": ["b", "c"], "score": [1.0, float("nan")]}, "missing or NaN"),
        ({"doc_id": ["b", "c"], "score": [1.0, None]}, "missing or NaN"),
        ({"doc_id": ["b", "c"], "score": ["high", "low"]}, "no numbers"),
        ({"doc_id": ["b", "c"], "rank": [1, 1]}, "the same rank"),
        ({"doc_id": ["b"], "score": [1.0], "run": [None]}, "run: an id is missing"),
    ],
)  # fmt: skip
def test_invalid_arguments_raise(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rows(**columns)


def test_rows_have_no_order_of_lines() -> None:
    with pytest.raises(SettingsError, match="no order of lines"):
        check_rows_order("file")


def test_rows_after_the_best_one_are_put_in_order() -> None:
    columns = rows(doc_id=["a", "b", "c"], score=[3.0, 1.0, 2.0])
    [(_, lists)] = columns.blocks()
    assert lists.grades(None) == [[None, 0, 1]]
