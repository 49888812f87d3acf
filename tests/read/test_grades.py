"""Grades merged into fewer: as if the file had been written so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.read.grades import format_merges, parse_merges
from rankscope.read.qrels import UNJUDGED, Qrels, read_qrels

MERGES = "-2,0=0;1=1;2,3=2;4=3"


@given(st.dictionaries(st.integers(-3, 9), st.integers(0, 4), min_size=1))
def test_text_and_table_are_equivalent(table: dict[int, int]) -> None:
    rising = dict(zip(sorted(table), sorted(table.values()), strict=True))
    text = format_merges(rising)
    assert parse_merges(text) == rising and format_merges(parse_merges(text)) == text
    assert parse_merges(text.replace(",", " , ").replace(";", " ;\n").replace("=", " = ")) == rising


@pytest.mark.parametrize(
    "text",
    ["", "1", "1=", "=1", "1=2=3", "a=1", "1;2=1", "1,=0", "0=0;", "1=0;1=1", "1=1;2=0", "9" * 12 + "=1"],
)
def test_invalid_merges_raise(text: str) -> None:
    with pytest.raises(SettingsError, match="grades"):
        parse_merges(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0=0;x=1", "cannot be read at 'x=1'; write the old grades and the new one of each group, such as"),
        ("0=0;1,0=1", "name grade 0 twice; write the old grades and the new one of each group, such as"),
        (
            "0=0;1=3;2=2;3=4",
            "would make grade 2 worse than grade 1; let the new grades increase with the old ones",
        ),
        ("2=0;0=1", "would make grade 2 worse than grade 0; let the new grades increase with the old ones"),
        ("2147483648=1", "are too large; a grade is at most 2147483647"),
        ("1=-2147483648", "are too large; a grade is at most 2147483647"),
    ],
)
def test_errors_of_merges_name_the_problem(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_merges(text)
    assert str(caught.value).startswith(f"grades {text!r} {message}")


def test_the_largest_grades_can_be_merged() -> None:
    assert parse_merges("2147483647=2147483647;-2147483647=1") == {-2147483647: 1, 2147483647: 2147483647}


@pytest.mark.parametrize("n_grades", [1, 2, 1000])
def test_grades_that_are_not_named_are_counted(n_grades: int) -> None:
    qrels = Qrels.from_dict({"q": {f"d{n}": 3 for n in range(n_grades)} | {"x": 0}})
    with pytest.raises(InputError) as caught:
        qrels.with_merged_grades("0=0")
    listed = {1: "3 (1 judgment)", 2: "3 (2 judgments)", 1000: "3 (1,000 judgments)"}[n_grades]
    assert str(caught.value) == (
        f"these grades are not named in the merging '0=0': {listed}; name them too, as in '0=0;3=...'"
    )


def test_no_grade_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text("1 0 a -2\n1 0 b 0\n1 0 c 1\n2 0 d 4\n")
    with pytest.raises(InputError, match=r"qrels.txt.*-2 \(1 judgment\), 4 \(1 judgment\)"):
        read_qrels(file, grades="0=0;1=1")
    assert read_qrels(file, grades=MERGES).judgments("1") == {"a": 0, "b": 0, "c": 1}


def test_merging_twice() -> None:
    qrels = Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 2}})
    once = qrels.with_merged_grades("0,1=0;2=1")
    assert once.with_merged_grades("1,0=0;2=1") is once and once.merges == "0,1=0;2=1" and qrels.merges == ""
    with pytest.raises(SettingsError, match="already merged"):
        once.with_merged_grades("0=0;1=1")


def test_removed_judgments_stay_removed() -> None:
    qrels = Qrels.from_dict({"q": {"a": 0, "b": 1, "c": 2}})
    fewer = qrels.with_grades(np.array([0, UNJUDGED, 2], np.int32)).with_merged_grades("0,1=0;2=1")
    assert fewer.grade.tolist() == [0, UNJUDGED, 1]


# the same as a file that was written so ---------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Judgments with aspects and grades from -2 to 4, the same merged by hand, and runs."""
    rng = np.random.default_rng(8)
    table = parse_merges(MERGES)
    lines = []
    for topic in range(1, 6):
        for document in range(12):
            aspects = (1, 2)[: 1 + int(rng.random() < 0.5)]
            grades = rng.choice([-2, 0, 1, 2, 3, 4], len(aspects)).tolist()
            lines += [(topic, a, f"d{document}", g) for a, g in zip(aspects, grades, strict=True)]
    for name, grades in (("raw", {g: g for g in table}), ("merged", table)):
        text = "".join(f"{t} {a} {d} {grades[g]}\n" for t, a, d, g in lines)
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "runs").mkdir()
    for run in range(4):
        ranks = {t: rng.permutation(18) for t in range(1, 6)}
        text = "".join(f"{t} Q0 d{d} {r} {-r} x\n" for t, ds in ranks.items() for r, d in enumerate(ds, 1))
        (tmp_path / "runs" / f"run{run}.txt").write_text(text)
    return tmp_path


COMMANDS = {
    "eval": ["-q", "-m", "AP nDCG Twist Bpref ERR alpha_nDCG@5 ERR_IA@5 NumRel"],
    "effort": ["-q"],
    "curve": ["--topic", "3"],
    "correlate": [],
    "pools": ["--depth", "3"],
    "power": ["--test", "t"],
    "compare": ["-m", "AP"],
    "bounds": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runs = files / "runs" if command != "curve" else files / "runs" / "run1.txt"
    answers = {}
    for name, more in (("merged", []), ("raw", ["--grades", MERGES])):
        arguments = [command, str(files / f"{name}.txt"), str(runs), *COMMANDS[command], *more]
        assert main([*arguments, "-f", "json"]) == 0
        answers[name] = json.loads(capfd.readouterr().out)
    assert answers["raw"]["tables"] == answers["merged"]["tables"]
    assert answers["raw"]["settings"]["grades"] == MERGES
    assert "grades" not in answers["merged"]["settings"]
    with pytest.raises(SystemExit, match="2"):
        main([command, str(files / "raw.txt"), str(runs), *COMMANDS[command], "--grades", "0=1=2"])
    assert "cannot be read at" in capfd.readouterr().err


def test_a_study_and_its_manifest(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    small = ["--replicates", "20", "--repeats", "1", "--quiet"]
    for name, more in (("merged", []), ("raw", ["--grades", MERGES])):
        arguments = [str(files / f"{name}.txt"), str(files / "runs"), *small, *more, "--name", "x"]
        assert main(["study", *arguments, "-o", str(files / f"study-{name}")]) == 0
    manifest = json.loads((files / "study-raw" / "manifest.json").read_text())
    assert manifest["settings"]["grades"] == MERGES
    assert (
        manifest["outputs"] == json.loads((files / "study-merged" / "manifest.json").read_text())["outputs"]
    )
    capfd.readouterr()
    assert main(["study", "--from", str(files / "study-raw")]) == 0
    assert capfd.readouterr().out.startswith("identical")
    broken = (files / "study-raw" / "manifest.json").read_text().replace(MERGES, "0=0;x")
    (files / "broken.json").write_text(broken)
    assert main(["study", "--from", str(files / "broken.json")]) == 2
    assert "settings.grades" in capfd.readouterr().err


def test_in_python(files: Path) -> None:
    merged = rs.read_qrels(str(files / "raw.txt"), grades=MERGES)
    a = rs.evaluate(merged, str(files / "runs"), ["AP", "nDCG", "Twist"])
    b = rs.evaluate(str(files / "merged.txt"), str(files / "runs"), ["AP", "nDCG", "Twist"])
    np.testing.assert_array_equal(a.values, b.values)
    assert a.settings["grades"] == MERGES
