"""-o and --plot never overwrite an input, follow links, and keep the mode of an existing file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankscope.cli.main import main
from rankscope.files import write_atomically

QRELS = "".join(f"q{t} 0 d{i} {i % 3}\n" for t in range(4) for i in range(9))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_text(QRELS)
    for r in range(3):
        lines = [f"q{t} Q0 d{(i * (r + 2)) % 9} {i} {9 - i} r{r}\n" for t in range(4) for i in range(7)]
        unique = {tuple(line.split()[:3]): line for line in lines}
        (tmp_path / "runs" / f"r{r}.txt").write_text("".join(unique.values()))
    (tmp_path / "mine.py").write_text("")
    (tmp_path / "scores.csv").write_text("run,q1\nr0,1\n")
    (tmp_path / "link.txt").symlink_to("runs/r1.txt")
    os.link(tmp_path / "qrels.txt", tmp_path / "same.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "eval qrels.txt runs -o qrels.txt",
        "eval qrels.txt runs -o ./runs/../qrels.txt",
        "eval qrels.txt runs -o same.txt",
        "eval qrels.txt runs -o runs/r0.txt",
        "eval qrels.txt runs/r*.txt -f json -o runs/r2.txt",
        "eval qrels.txt runs -o link.txt",
        "eval qrels.txt A=runs/r0.txt -o runs/r0.txt",
        "bench --collection A=qrels.txt:runs -o runs/r0.txt",
        "eval qrels.txt runs --plugin mine.py -o mine.py",
        "compare qrels.txt runs -o runs/r1.txt",
        "curve qrels.txt runs/r0.txt --topic q1 -o runs/r0.txt",
        "ndeval qrels.txt runs/r0.txt -o runs/r0.txt",
        "leave-out qrels.txt runs --pool-depth 2 --groups mine.py -o mine.py",
        "report qrels.txt runs -o runs/r1.txt",
        "eval qrels.txt runs -o x.svg --plot ./x.svg",
        "correlate --scores AP=scores.csv --scores P@1=scores.csv -o scores.csv",
    ],
)
def test_no_command_overwrites_its_inputs(
    folder: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert "this file is also read" in error or "name the same file" in error
    assert error.count("\n") == 1
    assert contents(folder) == before


def test_a_figure_does_not_overwrite_an_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "runs/r0.txt").rename(folder / "runs/r0.svg")
    before = contents(folder)
    assert main(["effort", "qrels.txt", "runs", "--plot", "runs/r0.svg"]) == 2
    assert "this file is also read" in capsys.readouterr().err
    assert contents(folder) == before


def test_a_study_does_not_overwrite_its_inputs(folder: Path, capsys) -> None:
    quick = ["--replicates", "10", "--repeats", "1", "-m", "AP,nDCG"]
    assert main(["study", "qrels.txt", "runs", "-o", "s", *quick]) == 0
    before = contents(folder)
    for words in ("study --from s -o s", "study --from s/manifest.json -o ./s",
                  "report qrels.txt runs --study s -o s/tables/means.csv"):  # fmt: skip
        assert main(words.split()) == 2
        assert "this file is also read" in capsys.readouterr().err
    assert contents(folder) == before
    assert main(["study", "--from", "s", "-o", "again"]) == 0


def test_an_output_that_is_no_input_is_replaced(folder: Path) -> None:
    for _ in range(2):
        assert main(["eval", "qrels.txt", "runs", "-o", "out.tsv"]) == 0
    assert (folder / "out.tsv").read_text().startswith("run\t")


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link, dangling = tmp_path / "sub" / "target", tmp_path / "link", tmp_path / "dangling"
    target.parent.mkdir()
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(Path("sub") / "target")
    dangling.symlink_to(Path("sub") / "new")
    write_atomically(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"
    assert target.stat().st_mode & 0o777 == 0o640
    write_atomically(dangling, "after")
    assert dangling.is_symlink()
    assert (tmp_path / "sub" / "new").read_text() == "after"
    assert sorted(p.name for p in target.parent.iterdir()) == ["new", "target"]
