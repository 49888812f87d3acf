"""Groups of runs from files, patterns and mappings."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankscope.errors import InputError, SettingsError
from rankscope.read.groups import run_groups

RUNS = ["uni-a", "uni-b", "lab x", "other"]


def test_a_file_wins_over_the_pattern_that_its_name_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("uni").write_text("# teams\n\nuni-a first\nlab x\tthe lab\nunknown z\n", "utf-8")
    assert run_groups(RUNS, "uni") == {"uni-a": "first", "lab x": "the lab"}
    Path("uni").unlink()
    assert run_groups(RUNS, "uni") == {"uni-a": "uni", "uni-b": "uni"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("uni-a", r"teams:1.*not a run"),
        ("uni-a x\nuni-a y", r"teams:2.*already"),
        ("absent x", "none of the 4"),
    ],
)
def test_errors_in_a_groups_file_name_the_line(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "teams").write_text(lines, "utf-8")
    with pytest.raises(InputError, match=message):
        run_groups(RUNS, tmp_path / "teams")


def test_errors_of_a_pattern_are_reported() -> None:
    with pytest.raises(SettingsError, match=r"no such file.*fails"):
        run_groups(RUNS, "(")
    for pattern in ("teams.txt", "z" * 5000, "\0"):
        with pytest.raises(InputError, match="none of the 4 runs"):
            run_groups(RUNS, pattern)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(x*)*y|(a|a)*b", "^(a|aa)+$"])
def test_an_expression_that_takes_too_long_is_rejected(pattern: str) -> None:
    """``--groups '^(a+)+$'`` never ended for a run called aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!."""
    with pytest.raises(SettingsError, match="takes more than a second"):
        run_groups(["a" * 60 + "!", "x" * 60], pattern)


def test_names_reach_the_expression_as_they_are() -> None:
    names = ["x-\udcff", "\n-1", "é-2", "'\"-3", "-"]
    assert run_groups(names, "^(.|\n)(?:.)?-") == {n: n[0] for n in names if n[0] != "-" and n[1] == "-"} | {
        "'\"-3": "'"
    }


def test_many_names_are_matched_at_once() -> None:
    names = [f"team{i % 50}-run{i}" for i in range(20_000)]
    assert len(set(run_groups(names, "^([a-z0-9]+)-").values())) == 50
