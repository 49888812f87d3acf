"""Values that are written piece by piece are those that are computed at once, whatever the pieces and the engine."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.judging.pieces import list_parquet_files, split_run
from rankscope.measures import Measure

Rows = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("streams") / "made"
    rs.simulate(systems=4, topics=9, grades=3, depth=60, seed=3, pool_depth=20, aspects=3).write(root)
    path = min((root / "runs").iterdir())  # which lacks a topic
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split()[0] != lines[0].split()[0]))
    return root


def expected(folder: Path, measures: Any, missing: str = "zero") -> Rows:
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", measures, missing=missing)
    return {(run, topic, name): value for run, topic, name, value in scores["topics"].rows}


def in_text(path: Path) -> Rows:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    values = {(r["run"], r["topic"], r["measure"]): float(r["value"] or "nan") for r in rows}
    assert len(values) == len(rows)
    return values


def in_parquet(path: Path) -> Rows:
    rows = pq.read_table(path).to_pylist()
    values = {(r["run"], r["topic"], r["measure"]): r["value"] for r in rows}
    assert len(values) == len(rows)
    return values


def same(first: Rows, second: Rows) -> bool:
    if first.keys() != second.keys():
        return False
    return np.array([first[k] for k in first]).tobytes() == np.array([second[k] for k in first]).tobytes()


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_files_cut_anywhere(folder: Path, tmp_path: Path, every_measure: list[Measure], missing: str) -> None:
    values = expected(folder, every_measure, missing)
    texts = []
    for size in (0, 2000, 9000):
        out = tmp_path / f"{size}.parquet"
        written = rs.evaluate_into(
            out, folder / "qrels.txt", folder / "runs", every_measure, piece_bytes=size, missing=missing
        )
        assert written.rows == len(values) and (written.pieces == 4) == (size == 0)
        assert same(in_parquet(out), values)
    for number, jobs in enumerate((1, 2)):
        out = tmp_path / f"{number}.csv"
        rs.evaluate_into(out, folder / "qrels.txt", folder / "runs", "AP RBP", piece_bytes=2000, jobs=jobs)
        texts.append(out.read_bytes())
    assert texts[0] == texts[1]
    assert same(in_text(tmp_path / "0.csv"), expected(folder, "AP RBP"))


def dataset(folder: Path, root: Path, group: int, files: int) -> Path:
    """Write the runs as Parquet files of complete lists, in row groups that cut lists anywhere."""
    root.mkdir()
    table = pa.table(dict(rs.read_runs(folder / "runs").frame_columns()))
    runs = table["run"].to_pylist()
    borders = [0, *(i for i in range(1, len(runs)) if runs[i] != runs[i - 1]), len(runs)]
    cuts = [*borders[:: -(-(len(borders) - 1) // files)], len(runs)]
    for number, (low, high) in enumerate(pairwise(cuts)):
        if high > low:
            pq.write_table(table.slice(low, high - low), root / f"{number}.parquet", row_group_size=group)
    return root


@pytest.mark.parametrize(("group", "rows"), [(7, 1), (50, 100), (1000, 10)])
def test_parquet_whose_groups_cut_lists(
    folder: Path, tmp_path: Path, every_measure: list[Measure], sampled: Any, group: int, rows: int
) -> None:
    runs, measures = dataset(folder, tmp_path / "runs", group, 2), sampled(every_measure, 10)
    written = rs.evaluate_into(tmp_path / "out", folder / "qrels.txt", runs, measures, piece_rows=rows)
    assert written.runs == 4
    assert same(in_parquet(tmp_path / "out"), expected(folder, measures))


def test_other_processes_write_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    runs = dataset(folder, tmp_path / "runs", 50, 2)
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        for name, engine in (("here.tsv", None), ("there.tsv", processes)):
            sources = [runs, folder / "runs"][:1]
            rs.evaluate_into(
                tmp_path / name, folder / "qrels.txt", sources, "AP ERR", piece_rows=100, engine=engine
            )
    assert (tmp_path / "here.tsv").read_bytes() == (tmp_path / "there.tsv").read_bytes()
    assert same(in_text(tmp_path / "here.tsv"), expected(folder, "AP ERR"))


def test_a_bad_line_of_a_piece_has_its_number_in_the_file(folder: Path, tmp_path: Path) -> None:
    lines = max((folder / "runs").iterdir()).read_text().splitlines()
    lines[400] = "301 Q0 d1 1 high tag"
    (tmp_path / "wrong.txt").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"wrong\.txt:401: "):
        rs.evaluate_into(
            tmp_path / "out.csv", folder / "qrels.txt", tmp_path / "wrong.txt", "AP", piece_bytes=1000
        )
    assert not (tmp_path / "out.csv").exists()


def test_rankings_in_two_pieces_are_rejected(folder: Path, tmp_path: Path) -> None:
    lines = max((folder / "runs").iterdir()).read_text().splitlines(keepends=True)
    (tmp_path / "mixed.txt").write_text("".join(lines[::2] + lines[1::2]))
    with pytest.raises(InputError, match="is in two pieces"):
        rs.evaluate_into(tmp_path / "o", folder / "qrels.txt", tmp_path / "mixed.txt", "AP", piece_bytes=1000)
    table = pa.table(dict(rs.read_runs(folder / "runs").frame_columns()))
    (tmp_path / "runs").mkdir()
    for number in range(2):
        rows = pa.array(np.arange(number, len(table), 2))
        pq.write_table(table.take(rows), tmp_path / "runs" / f"{number}.parquet")
    with pytest.raises(InputError, match="is in two pieces"):
        rs.evaluate_into(tmp_path / "o", folder / "qrels.txt", tmp_path / "runs", "AP")
    assert not (tmp_path / "o").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mixed.txt", "runs"]


def test_invalid_arguments_raise(folder: Path, tmp_path: Path) -> None:
    qrels, runs = folder / "qrels.txt", folder / "runs"
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="already"):
        rs.evaluate_into(tmp_path / "there", qrels, runs, "AP")
    with pytest.raises(InputError, match="no such directory"):
        rs.evaluate_into(tmp_path / "absent" / "x.parquet", qrels, runs, "AP")
    with pytest.raises(SettingsError, match="missing="):
        rs.evaluate_into(tmp_path / "x.csv", qrels, runs, "AP", missing="half")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match=r"other\.parquet: there is no column for query_id"):
        rs.evaluate_into(tmp_path / "x.csv", qrels, tmp_path / "other.parquet", "AP")
    with pytest.raises(InputError, match="no topic in common"):
        rs.evaluate_into(tmp_path / "x.csv", {"other": {"d": 1}}, runs, "AP")


def test_some_topics_and_files_that_look_like_others(folder: Path, tmp_path: Path) -> None:
    files = folder / "qrels.txt", folder / "runs"
    rs.evaluate_into(tmp_path / "some.csv", *files, "AP RBP", topics="302,304-306", piece_bytes=2000)
    topics = {"302", "304", "305", "306"}
    assert same(
        in_text(tmp_path / "some.csv"),
        {key: value for key, value in expected(folder, "AP RBP").items() if key[1] in topics},
    )
    with pytest.raises(InputError, match="topic '999' has no judgments"):
        rs.evaluate_into(tmp_path / "none.csv", *files, "AP", topics="999")
    lacking = min((folder / "runs").iterdir())
    with pytest.raises(InputError, match=f"{lacking.name}: no topic in common with the chosen topics"):
        rs.evaluate_into(tmp_path / "none.csv", files[0], lacking, "AP", topics=["301"])
    with pytest.raises(InputError, match=r"\.txt"):  # it is no Parquet file
        rs.evaluate_into(tmp_path / "none.csv", *files, "AP", input_format={"runs": "parquet"})
    assert [path.name for path in tmp_path.iterdir()] == ["some.csv"]


def test_streaming_applies_other_options_or_rejects_them_in_one_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["eval", str(folder / "qrels.txt"), str(folder / "runs"), "-m", "AP", "--stream", "-o"]
    out = tmp_path / "some.csv"
    options = ["--topics", "302,304", "--input-format", "trec"]
    assert main([*command, str(out), *options]) == 0
    assert {topic for _, topic, _ in in_text(out)} == {"302", "304"}
    capsys.readouterr()
    for more in (["--ties", "best"], ["--unjudged", "bounds"], ["--ci"], ["--sort", "run"], ["-f", "json"]):
        assert main([*command, str(tmp_path / "none.csv"), *more]) == 2
        error = capsys.readouterr().err
        assert more[0] in error and "leave out --stream" in error and error.count("\n") == 1
    assert not (tmp_path / "none.csv").exists()


KILLED = """
import os, signal, sys
import rankscope as rs

left = [7]

def relevant(grades):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0

rs.evaluate_into(sys.argv[1], sys.argv[2], sys.argv[3], [rs.measure("One", relevant)], piece_bytes=2000, jobs=1)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
@pytest.mark.parametrize("name", ["values.csv", "values.parquet", "dataset"])
def test_a_killed_process_leaves_no_values(folder: Path, tmp_path: Path, name: str) -> None:
    out, files = tmp_path / name, (str(folder / "qrels.txt"), str(folder / "runs"))
    process = subprocess.run([sys.executable, "-c", KILLED, str(out), *files], check=False)
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    rs.evaluate_into(out, *files, "AP")
    values = in_text(out) if out.suffix == ".csv" else in_parquet(out)
    assert same(values, expected(folder, "AP"))


def test_large_runs_are_split(folder: Path) -> None:
    run = next(iter(rs.read_runs(folder / "runs").values()))
    assert len(split_run(run, 0)) == len(split_run(run, 10**6)) == 1
    assert len(split_run(run, 1000)) > 3
    assert len(split_run(rs.Run.from_dict({"q": {"d": 1.0}}))) == 1
    assert (
        list_parquet_files(folder / "runs")
        == list_parquet_files(folder / "qrels.txt")
        == list_parquet_files(folder / "no")
        == []
    )


@pytest.mark.parametrize("size", [0, 300, 2000])
def test_a_byte_order_mark_is_one_at_the_beginning_of_a_file_only(tmp_path: Path, size: int) -> None:
    """Before the topic of a later line it is part of its name, wherever the file is cut."""
    mark = b"\xef\xbb\xbf"
    texts = [mark + b"%d Q0 d 1 9 t\n" % t for t in range(1, 40)]
    rest = [b"".join(b"%d Q0 e%d 1 %d t\n" % (t, d, -d) for d in range(9)) for t in range(1, 40)]
    path = tmp_path / "run.txt"
    path.write_bytes(b"".join(first + more for first, more in zip(texts, rest, strict=True)))
    judged = {str(t): {"d": 1, "e0": 1} for t in range(1, 40)} | {"\ufeff2": {"d": 1}}
    rs.evaluate_into(tmp_path / "o.csv", judged, path, "RR P@2", piece_bytes=size)
    scores = rs.evaluate(judged, path, "RR P@2")
    assert in_text(tmp_path / "o.csv") == {row[:3]: row[3] for row in scores["topics"].rows}
    assert scores["topics"].rows[0][3] == 1.0
