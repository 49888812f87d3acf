"""Commands reject outputs that would overwrite their inputs, in directories, patterns and studies."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankscope.cli.main import main
from rankscope.cli.targets import validate_targets
from rankscope.errors import SettingsError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "r").write_text("1 Q0 a 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arguments(**values: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"command": "eval", "qrels": "qrels", "runs": ["runs"], **values})


@pytest.mark.parametrize("output", ["qrels", "runs/r", "./runs/../runs/r"])
def test_a_file_that_is_read_is_not_written(folder: Path, output: str) -> None:
    with pytest.raises(SettingsError, match="this file is also read"):
        validate_targets(arguments(output=output))


@pytest.mark.parametrize(
    ("values", "output"),
    [
        ({"function": "metric.py:ap"}, "metric.py"),
        ({"function": "metric:ap"}, "metric.py"),
        ({"plugin": ["metric"]}, "metric.py"),
        ({"plugin": ["package"]}, "package/part.py"),
    ],
)
def test_the_source_of_a_plugin_is_read(
    folder: Path, values: dict[str, Any], output: str, monkeypatch
) -> None:
    monkeypatch.setattr("sys.path", list(sys.path))
    (folder / "metric.py").write_text("def ap(grades): return 0.0\n")
    (folder / "package").mkdir()
    for name in ("__init__", "part"):
        (folder / "package" / f"{name}.py").write_text("")
    with pytest.raises(SettingsError, match="this file is also read"):
        validate_targets(arguments(output=output, **values))
    validate_targets(arguments(output="new.txt", **values))


@pytest.mark.parametrize(
    "words", ["eval qrels - -o runs/r", "eval - runs -o qrels", "overlap qrels - -o runs/r"]
)
def test_the_file_behind_standard_input_is_not_written(folder: Path, words: str) -> None:
    """``eval q - -o run < run`` replaced the run by its own scores."""
    source = folder / words.split()[-1]
    before = source.read_bytes()
    with source.open("rb") as file:
        ran = subprocess.run(
            [sys.executable, "-m", "rankscope", *words.split()],
            stdin=file,
            capture_output=True,
            text=True,
            cwd=folder,
        )
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "this file is also read" in ran.stderr
    assert source.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="other systems open standard input in other ways")
def test_the_file_of_standard_input_is_read(folder: Path) -> None:
    saved = os.dup(0)
    try:
        with Path("qrels").open("rb") as file:
            os.dup2(file.fileno(), 0)
        with pytest.raises(SettingsError, match="this file is also read"):
            validate_targets(arguments(qrels="-", output="qrels"))
        validate_targets(arguments(qrels="-", output="new.txt"))
    finally:
        os.dup2(saved, 0)
        os.close(saved)


@pytest.mark.skipif(os.name != "posix", reason="other systems create links in other ways")
def test_an_input_is_not_overwritten_through_another_name(folder: Path) -> None:
    (folder / "link").symlink_to("runs/r")
    os.link(folder / "qrels", folder / "same")
    for output in ("link", "same"):
        with pytest.raises(SettingsError, match="this file is also read"):
            validate_targets(arguments(output=output))


@pytest.mark.parametrize(
    "values",
    [
        {"output": "new.json"},
        {"output": "-"},
        {"output": None, "plot": "new.pdf"},
        {"output": "runs"},  # a directory, and no study: it is refused when it is written
        {"output": "new.json", "runs": ["absent", "x" * 5000]},  # reported when they are read
        {"output": "qrels.json", "other": ["y" * 5000, "a\0b", 3, ""]},
        {"output": "title", "title": "title"},
    ],
)
def test_other_files_may_be_written(folder: Path, values: dict[str, Any]) -> None:
    (folder / "title").touch()
    validate_targets(arguments(**values))


def test_a_figure_and_a_table_are_two_files(folder: Path) -> None:
    with pytest.raises(SettingsError, match="the same file"):
        validate_targets(arguments(output="a.svg", plot="./a.svg"))


def test_files_of_a_study_that_would_be_replaced_are_not_read(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t in "123" for g, d in enumerate("ab")))
    for name, order in (("r", "abx"), ("s", "bax"), ("u", "xab")):
        lines = [f"{t} Q0 {d} {i} {-i} {name}\n" for t in "123" for i, d in enumerate(order)]
        (folder / "runs" / name).write_text("".join(lines))
    study = ["study", "qrels", "runs", "-m", "AP RR", "--repeats", "1", "--replicates", "5", "-o", "made"]
    assert main(study) == 0
    table = next((folder / "made").rglob("*.csv"))
    assert main([*study[:3], str(table), *study[3:]]) == 2
    assert "this file is also read" in capfd.readouterr().err
