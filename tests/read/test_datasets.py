"""Judgments by name, of a dataset that is registered here: nothing is downloaded."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError
from rankscope.read.named_collections import named_collection, read_collections

ir_datasets = pytest.importorskip("ir_datasets")

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d3 2\n"
RUN = "1 Q0 d2 1 2.5 t\n1 Q0 d1 2 1.5 t\n2 Q0 d3 1 9 t\n"


class Local:
    """A file of ir_datasets that is here already."""

    text = QRELS

    @contextmanager
    def stream(self) -> Iterator[Any]:
        yield io.BytesIO(self.text.encode())


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Local:
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import TrecQrels

    file = Local()
    monkeypatch.setitem(ir_datasets.registry._registered, "rankscope/tiny", Dataset(TrecQrels(file, {})))
    monkeypatch.setitem(ir_datasets.registry._registered, "rankscope/bare", Dataset())
    return file


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "q.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return tmp_path / "bm25.run"


@pytest.mark.parametrize("name", ["irds:rankscope/tiny", "rankscope/tiny"])
def test_judgments_by_name(local: Local, run: Path, name: str, capsys: Any) -> None:
    expected = rs.evaluate(run.parent / "q.txt", run, "AP nDCG@10").values.tolist()
    assert rs.evaluate(name, run, "AP nDCG@10").values.tolist() == expected
    assert rs.read_qrels(name).path == "irds:rankscope/tiny"
    assert main(["eval", name, str(run), "-m", "AP", "-f", "json"]) == 0
    shown = capsys.readouterr()
    assert name in json.loads(shown.out)["settings"]["files"]
    assert "irds:rankscope/tiny: read as judgments of ir_datasets" in shown.err


def test_a_file_of_that_name_comes_first(local: Local, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run.parent)
    (run.parent / "rankscope").mkdir()
    (run.parent / "rankscope" / "tiny").write_text("1 0 d9 1\n")
    assert rs.read_qrels("rankscope/tiny").topics == ("1",)
    assert rs.read_qrels("irds:rankscope/tiny").topics == ("1", "2")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "irds:rankscope/tinny",
            "irds:rankscope/tinny: ir_datasets has no such dataset; did you mean rankscope/tiny",
        ),
        ("irds:rankscope/bare", "irds:rankscope/bare: the dataset has no judgments"),
        ("rankscope/nothing", "rankscope/nothing: no such file; check the path"),
    ],
)
def test_invalid_dataset_names_raise(local: Local, run: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rs.evaluate(name, run, "AP")


def test_errors_of_ir_datasets_are_reported(local: Local, run: Path) -> None:
    local.text = "1 0 d1\n"
    with pytest.raises(InputError, match=r"cannot provide the judgments \(expected 4 columns, got 3\)"):
        rs.evaluate("irds:rankscope/tiny", run, "AP")


def test_studies_are_repeated_with_the_same_judgments(local: Local, run: Path, capsys: Any) -> None:
    (run.parent / "dense.run").write_text(RUN.replace("2.5", "0.5"))
    options = ["--repeats", "1", "--replicates", "9", "--ratios", "50", "-m", "AP RR"]
    named = f"tiny=irds:rankscope/tiny:{run.parent}/*.run"
    assert main(["study", "--collection", named, "-o", str(run.parent / "study"), *options]) == 0
    capsys.readouterr()
    assert main(["study", "--from", str(run.parent / "study")]) == 0
    assert "identical" in capsys.readouterr().out
    local.text = QRELS.replace("d3 2", "d3 1")
    assert main(["study", "--from", str(run.parent / "study")]) == 2
    assert "changed since the study" in capsys.readouterr().err


def test_datasets_in_lists_of_collections(tmp_path: Path) -> None:
    assert named_collection("tiny=irds:a/b:runs").qrels == "irds:a/b"
    (tmp_path / "c.toml").write_text('[collections.tiny]\nqrels = "irds:a/b"\nruns = "runs"\n')
    (listed,) = read_collections(tmp_path / "c.toml")
    assert listed.qrels == "irds:a/b"
    assert listed.runs == (str(tmp_path / "runs"),)
