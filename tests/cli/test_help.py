"""Help as a newcomer reads it: on one screen of 80 columns, by question, with a word for every slip."""

from __future__ import annotations

import pytest

from rankscope.cli.commands import COMMANDS, EVERYDAY, GROUPS, help_lines
from rankscope.cli.main import main
from rankscope.read import limits


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


@pytest.mark.parametrize("command", [None, *COMMANDS])
@pytest.mark.parametrize("columns", [80, 120])
def test_help_fits_its_columns(
    command: str | None, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run_command(capsys, *([] if command is None else [command]), "--help")
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if len(line) > columns] == []
    assert run_command(capsys, "help", *([] if command is None else [command])) == (0, out, "")


def test_help_shows_everyday_commands_first_and_all_others_by_group() -> None:
    lines = list(help_lines())
    everyday, more = lines[1 : 1 + len(EVERYDAY)], lines[3 + len(EVERYDAY) :]
    assert [line.split()[0] for line in everyday] == list(EVERYDAY) and len(EVERYDAY) == 10
    assert [line.partition(":")[0] for line in more if not line.startswith(" ")] == list(GROUPS)
    cells = [
        cell for line in more if line.startswith("  ") for cell in (line[:40], line[40:]) if cell.strip()
    ]
    assert sorted(cell.split()[0] for cell in cells) == sorted(set(COMMANDS) - set(EVERYDAY))
    assert all(len(command.meaning) <= 26 for command in COMMANDS.values())


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["eval", "--mesure", "AP"], "there is no option --mesure; did you mean --measure?"),
        (["eval", "q", "r", "--measures=AP"], "there is no option --measures; did you mean --measure?"),
        (["eval", "q", "r", "--dig", "3"], "there is no option --dig; did you mean --digits?"),
        (["eval", "q", "r", "--xyzzy"], "there is no option --xyzzy; see: rankscope eval --help"),
        (["eval", "q", "r", "-z"], "there is no option -z; see: rankscope eval --help"),
        (["measures", "AP", "RR"], "too many arguments: RR; see: rankscope measures --help"),
        (["help", "evla"], "there is no command 'evla'; did you mean eval"),
        (["evla"], "there is no command 'evla'; did you mean eval"),
    ],
)
def test_misspelt_words_get_a_suggestion(
    arguments: list[str], answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run_command(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"rankscope: {answer}")


def test_options_cannot_be_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    """``--depth`` must not mean ``--depths`` where there is no such option."""
    assert "did you mean --depths?" in run_command(capsys, "bounds", "q", "r", "--depth", "5")[2]


def test_limits_are_named_with_the_variables_that_raise_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(run_command(capsys, "eval", "--help")[1].split())
    assert f"{limits.LONGEST_LINE:,} bytes" in text
    assert f"{limits.UNPACKED_RATIO} times their size" in text
    assert limits.FREE == 1 << 30
    assert limits.LINE_VARIABLE in text
    assert limits.RATIO_VARIABLE in text
