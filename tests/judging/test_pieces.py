"""Runs read in pieces have the same lists, and the same error messages, as runs read as a whole."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankscope.errors import InputError, SettingsError
from rankscope.judging import judge
from rankscope.judging import rows as rows_module
from rankscope.judging.pieces import Piece, list_parquet_files, split_parquet, split_run
from rankscope.judging.rows import ListRows
from rankscope.read import Qrels, Run, read_run

TOPICS = [f"q{t}" for t in range(6)]
QRELS = Qrels.from_dict({topic: {f"d{n}": n % 3 for n in range(5)} for topic in TOPICS[1:]})
ROWS = [
    (run, topic, f"d{(n * 3 + t) % 8}", n, float(-n))
    for run in ("a", "b")
    for t, topic in enumerate(TOPICS)
    for n in range(1, 3 + t)
]
JUDGMENTS = QRELS


def expected_grades(run: str) -> dict[str, list[int | None]]:
    """Return the expected grades of each judged list of a run."""
    grades: dict[str, list[int | None]] = {}
    for name, topic, document, _, _ in ROWS:
        if name == run and topic in QRELS.topics:
            grades.setdefault(topic, []).append(QRELS.judgments(topic).get(document))
    return grades


def collect_grades(pieces: list[Piece]) -> dict[tuple[str, str], list[int | None]]:
    grades_by_list = {}
    for piece in pieces:
        for names, lists in piece.lists(JUDGMENTS, {}):
            for name, topic, grades in zip(names, lists.topic.tolist(), lists.grades(None), strict=True):
                key = (name, QRELS.topics[topic])
                assert key not in grades_by_list
                grades_by_list[key] = grades
    return grades_by_list


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "a.run"
    path.write_text("".join(f"{t} Q0 {d} {r} {s} x\n" for name, t, d, r, s in ROWS if name == "a"))
    return path


@pytest.mark.parametrize("at_once", [1, 3, 200_000])
@pytest.mark.parametrize("size", [0, 1, 60, 200, 10_000])
def test_pieces_of_a_file(run: Path, size: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "_BLOCK_HITS", at_once)
    pieces = split_run(read_run(run), size)
    assert (len(pieces) > 1) == (0 < size <= run.stat().st_size // 2)
    assert collect_grades(pieces) == {("a", topic): grades for topic, grades in expected_grades("a").items()}
    assert pieces[0].start == 0
    assert pieces[-1].stop is None
    assert [piece.stop for piece in pieces[:-1]] == [piece.start for piece in pieces[1:]]


def test_small_compressed_and_other_runs_are_not_split(run: Path, tmp_path: Path) -> None:
    text = run.read_bytes()
    whole = len(text)
    assert len(split_run(read_run(run), whole // 2)) == 2
    assert len(split_run(read_run(run), whole // 2 + 1)) == 1
    for number, packed in enumerate((gzip.compress(text), b"BZh91AY&SY", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")):
        path = tmp_path / str(number)
        path.write_bytes(packed + text)  # which would be split if it were not compressed
        assert len(split_run(Run("packed", source=path), 10)) == 1
    assert len(split_run(Run("json", source=run, format="json"), 10)) == 1
    assert len(split_run(Run("bytes", source=text), 10)) == 1
    assert len(split_run(Run("absent", source=tmp_path / "absent"), 10)) == 1


@pytest.mark.parametrize("line", [1, 2, 9, 27])
def test_a_wrong_line_has_its_number_in_the_file(run: Path, line: int) -> None:
    lines = run.read_text().splitlines(keepends=True)
    fields = lines[line - 1].split()
    lines[line - 1] = " ".join([*fields[:4], "high", "x"]) + "\n"
    run.write_text("".join(lines))
    with pytest.raises(InputError) as caught:
        collect_grades(split_run(read_run(run), 60))
    message = f"{run}:{line}: score 'high' is not a number; give a decimal number such as 12.5 or 1e-3"
    assert str(caught.value) == message


def table(order: list[tuple[Any, ...]] = ROWS, **names: str) -> Any:
    columns = dict(zip(("run", "query_id", "doc_id", "rank", "score"), zip(*order, strict=True), strict=True))
    return pa.table({names.get(name, name): list(column) for name, column in columns.items()})


@pytest.mark.parametrize("order", ["trec_eval", "rank"])
@pytest.mark.parametrize("group", [1, 2, 5, 54, 100])
@pytest.mark.parametrize("size", [1, 4, 53, 54, 55])
def test_pieces_of_parquet(tmp_path: Path, group: int, size: int, order: str) -> None:
    """Lists go on in the next group of rows, and none is read twice or left out."""
    path = tmp_path / "runs.parquet"
    pq.write_table(table(query_id="QID", doc_id=" docno"), path, row_group_size=group)
    pieces = split_parquet([path], "unnamed", order, rows=size)
    groups = [piece.groups for piece in pieces]
    assert groups[0][0] == 0 and groups[-1][1] == -(-len(ROWS) // group)  # type: ignore[index]
    assert all(one[1] == two[0] for one, two in pairwise(groups))  # type: ignore[index]
    assert len(pieces) == -(-len(ROWS) // (group * -(-size // group)))
    assert collect_grades(pieces) == {
        (name, topic): grades for name in ("a", "b") for topic, grades in expected_grades(name).items()
    }


def test_a_file_without_a_column_of_runs_is_one_run(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table([row for row in ROWS if row[0] == "b"]).drop(["run"]), path, row_group_size=4)
    pieces = split_parquet([path], "named", "trec_eval", rows=4)
    assert collect_grades(pieces) == {
        ("named", topic): grades for topic, grades in expected_grades("b").items()
    }


def test_errors_in_parquet_files_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"

    def error_message(order: str = "trec_eval") -> str:
        with pytest.raises(InputError) as caught:
            collect_grades(split_parquet([path], "a", order))
        return str(caught.value)

    pq.write_table(table().drop(["score"]), path)
    assert error_message() == (
        f"{path}: there is no column for score (score); rename one of: run, query_id, doc_id, rank;"
        " or name it by columns"
    )
    pq.write_table(table().drop(["rank"]), path)
    assert error_message("rank").startswith(
        f"{path}: there is no column for rank (rank); rename one of: run, query_id"
    )
    pq.write_table(pa.table({"qid": ["q1"], "docno": pa.array([None], pa.string()), "score": [1.0]}), path)
    assert error_message() == f"{path}: column 'docno': an id is missing; fill the gap or remove the row"
    pq.write_table(pa.table({"qid": pa.array([None], pa.string()), "docno": ["d"], "score": [1.0]}), path)
    assert error_message().endswith("column 'qid': an id is missing; fill the gap or remove the row")
    pq.write_table(pa.table({"qid": ["q1"], "docno": ["d"], "score": [float("nan")]}), path)
    assert error_message() == f"{path}: a score is missing or NaN; remove the row or give a number"
    pq.write_table(pa.table({"qid": ["q1"], "docno": ["d"], "rank": ["x"]}), path)
    assert error_message("rank") == f"{path}: the column rank has no numbers; give numbers"
    pq.write_table(pa.table({"qid": ["q1"] * 2, "docno": ["d"] * 2, "score": [1.0, 2.0]}), path)
    assert error_message() == f"{path}: document 'd' occurs twice in a list; keep one of the two rows"
    path.write_bytes(b"PAR1")
    assert error_message().startswith(f"{path}: this is not Parquet, or it is damaged (")
    with pytest.raises(
        SettingsError,
        match=r"^rows of a table have no order of lines; choose trec_eval, trec_eval9, ascending_id or rank$",
    ):
        split_parquet([path], "a", "file")


def test_the_files_of_a_dataset(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "run=a").mkdir(parents=True)
    (folder / "_temporary").mkdir()
    names = ["run=a/1.parquet", "0.parquet", "_temporary/2.parquet", ".hidden.parquet", "_SUCCESS"]
    for name in names:
        (folder / name).write_bytes(b"PAR1")
    assert list_parquet_files(folder) == [folder / "0.parquet", folder / "run=a/1.parquet"]
    assert list_parquet_files(folder / "0.parquet") == [folder / "0.parquet"]
    assert list_parquet_files(tmp_path / "absent") == []
    (folder / "more.txt").write_text("x")
    assert list_parquet_files(folder) == []
    assert list_parquet_files(folder / "more.txt") == []
    (tmp_path / "empty").mkdir()
    assert list_parquet_files(tmp_path / "empty") == []


@pytest.mark.parametrize("shuffle", [1, -1])
def test_rows_in_any_order_are_the_lists_of_a_file(shuffle: int, run: Path) -> None:
    """Also where topics are unjudged, rows name a list without a document, and scores are tied."""
    tied = [(name, topic, document, r, float(-(r // 2))) for name, topic, document, r, _ in ROWS][::shuffle]
    rows = ListRows.from_table(table(tied), JUDGMENTS)
    for number, (name, topic) in enumerate(zip(rows.runs, rows.topics, strict=True)):
        lists = {t: {d: s for n, t2, d, _, s in tied if (n, t2) == (name, t)} for t in [topic]}
        expected = judge(QRELS, Run.from_dict(lists))
        own = slice(rows.offsets[number], rows.offsets[number + 1])
        assert rows.rank[own].tolist() == expected.rank.tolist()
        assert rows.judgment[own].tolist() == expected.judgment.tolist()
        assert rows.length[number] == len(lists[topic])
    assert sorted(zip(rows.runs, rows.topics, strict=True)) == [(n, t) for n in "ab" for t in TOPICS[1:]]
