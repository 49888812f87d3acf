"""Runs: from files, dicts and frames; names, orderings, mistakes."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.read import Qrels, Run, Runs, as_runs, read_run, read_runs
from rankscope.scan import native, scan_run

TEXT = "1 Q0 a 3 0.5 tag\n1 Q0 b 2 0.5 tag\n1 Q0 c 1 0.4 tag\n2 Q0 a 1 -inf tag\n"
QRELS = Qrels.from_dict({"1": {"a": 1, "c": 0}, "2": {"x": 1}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "bm25.run"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("trec_eval", ["b", "a", "c"]),
        ("trec_eval9", ["b", "a", "c"]),
        ("ascending_id", ["a", "b", "c"]),
        ("rank", ["c", "b", "a"]),
        ("file", ["a", "b", "c"]),
    ],
)
def test_orderings(path: Path, order: str, expected: list[str]) -> None:
    run = read_run(path, order=order)
    assert run.name == "bm25"
    assert run.ranking("1") == expected
    assert run.ranking("7") == []
    scanned = scan_run(run, QRELS)
    assert scanned.rank.tolist() == sorted(expected.index(d) + 1 for d in "ac")


def test_scores_of_32_bits_tie(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1.0 t\n")
    assert read_run(path).ranking("1") == ["a", "b"]
    assert read_run(path, order="trec_eval9").ranking("1") == ["b", "a"]


def test_memory_and_file_scan_the_same(path: Path) -> None:
    columns = {
        "query_id": ["1", "1", "1", "2"],
        "doc_id": ["a", "b", "c", "a"],
        "score": [0.5, 0.5, 0.4, -np.inf],
    }
    forms = [
        Run.from_dict({"1": {"a": 0.5, "b": 0.5, "c": 0.4}, "2": {"a": -np.inf}}),
        Run.from_frame(pandas.DataFrame(columns)),
        Run.from_frame(polars.DataFrame(columns)),
        Run.from_frame(pyarrow.table(columns)),
        read_run(path),
        Run("bytes", source=gzip.compress(TEXT.encode())),
    ]
    json_lists = path.with_name("run.json")
    json_lists.write_text('{"1": {"a": 0.5, "b": 0.5, "c": 0.4}, "2": {"a": -1}}')
    for run in (*forms, read_run(json_lists)):
        assert {topic: sorted(result) for topic, result in run.documents().items()} == {
            "1": [b"a", b"b", b"c"],
            "2": [b"a"],
        }
    scans = [scan_run(run, QRELS) for run in forms]
    for scan in scans:
        for field in ("topic", "length", "offsets", "rank", "judgment", "tied"):
            assert np.array_equal(getattr(scan, field), getattr(scans[0], field)), field
    assert scans[0].tied.tolist() == [2, 0]
    assert forms[-1].ranking("1") == ["b", "a", "c"]


def test_a_plain_ranking_keeps_its_order() -> None:
    assert Run.from_dict({"1": ["z", "a", "m"]}).ranking("1") == ["z", "a", "m"]


def test_names_and_collisions(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        with gzip.open(tmp_path / folder / "same.txt.gz", "wt") as file:
            file.write(TEXT)
    (tmp_path / "y" / ".hidden").write_text("no run")
    assert list(read_runs(tmp_path / "x", tmp_path / "y")) == ["x/same", "y/same"]
    assert list(read_runs(str(tmp_path / "x" / "*.gz"))) == ["same"]
    with pytest.raises(InputError, match="two runs are called 'a'"):
        Runs([Run("a"), Run("a")])


def test_looking_up_a_run() -> None:
    runs = as_runs({"bm25": {"1": {"a": 1.0}}, "dense": {"1": {"a": 1.0}}})
    assert list(runs) == ["bm25", "dense"]
    assert "bm25" in runs
    assert "bm26" not in runs
    with pytest.raises(InputError, match="no run is called 'bm26'; did you mean bm25"):
        runs["bm26"]
    assert runs.with_order("file")["dense"].order == "file"
    assert "bm25" in repr(runs)
    assert "bm25" in repr(runs["bm25"])


def test_many_forms_of_runs(path: Path) -> None:
    item = read_run(path)
    assert list(as_runs(item)) == ["bm25"]
    assert list(as_runs(path)) == ["bm25"]
    assert list(as_runs({"renamed": item})) == ["renamed"]
    assert list(as_runs([item, {"x": {"1": {"a": 1.0}}}])) == ["bm25", "x"]
    assert list(as_runs({"1": {"a": 1.0}})) == ["run"]
    assert list(as_runs(pandas.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]}))) == ["run"]
    assert as_runs(as_runs(item)) is not None


def test_mistakes(tmp_path: Path, path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_run(tmp_path / "absent")
    with pytest.raises(InputError, match="directory"):
        read_run(tmp_path)
    with pytest.raises(InputError, match="no file matches"):
        read_runs(str(tmp_path / "*.nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in this directory"):
        read_runs(tmp_path / "empty")
    with pytest.raises(InputError, match="unknown order 'trec'; did you mean trec_eval"):
        read_run(path, order="trec")
    with pytest.raises(InputError, match="is NaN"):
        Run.from_dict({"1": {"a": float("nan")}}).lists()
    with pytest.raises(InputError, match="not a number"):
        Run.from_dict({"1": {"a": "high"}}).lists()  # type: ignore[dict-item]
    with pytest.raises(InputError, match="'a' occurs twice"):
        Run.from_dict({"1": ["a", "b", "a"]}).lists()
    bad = tmp_path / "bad"
    bad.write_text("1 Q0 a 1 x t\n")
    with pytest.raises(InputError, match="bad:1: "):
        read_run(bad).lists()


def test_a_rank_column_may_be_anything_unless_it_orders(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("1 Q0 a first 0.5 t\n1 Q0 b second 0.9 t\n")
    assert read_run(path).ranking("1") == ["b", "a"]
    with pytest.raises(InputError):
        scan_run(read_run(path, order="rank"), QRELS)


@pytest.mark.parametrize("scanner", ["python", "native"])
def test_the_first_of_several_wrong_lines_is_named(
    scanner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner == "native" and not native.available():
        pytest.skip("the native scanner was not built")
    monkeypatch.setenv("RANKSCOPE_SCANNER", scanner)
    right = "1 Q0 a 1 9 t\n"
    for first in ("1 Q0 b 2 8\n", "1 Q0 b 2 8\rt u\n"):
        (tmp_path / "run").write_text(right + first + "1 Q0\n" + right + "x\n", newline="")
        with pytest.raises(InputError, match=r"run:2: "):
            rs.evaluate({"1": {"a": 1}}, str(tmp_path / "run"), "AP")


def test_runs_have_names_whatever_each_of_them_is(tmp_path: Path) -> None:
    for name, text in (("x.run", "1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n"), ("y.run", "1 Q0 a 1 2 t\n")):
        (tmp_path / name).write_text(text)
    frame = pandas.DataFrame({"qid": ["1"], "docno": ["a"], "score": [1.0]})
    result = as_runs(
        {
            "path": tmp_path / "x.run",
            "text": str(tmp_path / "y.run"),
            "frame": frame,
            "dict": {"1": {"a": 1.0}},
            "ids": {"1": ["c", "a"]},
            "run": read_run(tmp_path / "x.run"),
        }
    )
    assert {name: run.ranking("1") for name, run in result.items()} == {
        "path": ["b", "a"], "text": ["a"], "frame": ["a"], "dict": ["a"], "ids": ["c", "a"], "run": ["b", "a"],
    }  # fmt: skip
    assert as_runs({"x": tmp_path / "x.run"}, order="rank")["x"].order == "rank"
    with pytest.raises(InputError, match="2 runs cannot all be called 'both'"):
        as_runs({"both": tmp_path})


@pytest.mark.parametrize("wrong", [5, "abc", None])
def test_a_string_is_not_a_ranking_of_letters(wrong: object) -> None:
    with pytest.raises(InputError, match="topic '1' has"):
        Run.from_dict({"1": wrong}).lists()  # type: ignore[dict-item]


def test_errors_of_unsupported_objects_name_their_type() -> None:
    with pytest.raises(InputError, match="int has no columns of rankings or judgments"):
        rs.evaluate({"1": {"a": 1}}, 5, "AP")
    with pytest.raises(InputError, match="name a file of judgments"):
        rs.evaluate(None, {"1": {"a": 1.0}}, "AP")


def test_rankings_of_any_iterable_can_be_read_twice_and_pickled() -> None:
    rankings = {"1": iter(["b", "a"]), "2": MappingProxyType({"a": 1.0, "b": 2.0}), "3": ("b", "a")}
    run = pickle.loads(pickle.dumps(Run.from_dict(rankings)))
    for _ in range(2):
        assert [run.ranking(topic) for topic in rankings] == [["b", "a"]] * 3
    scores = rs.evaluate({topic: {"a": 1} for topic in rankings}, run, "RR")
    assert scores.matrix("RR").values.tolist() == [[0.5, 0.5, 0.5]]
