"""Output of commands on a terminal (a pseudo-terminal of 80 columns) and in pipes."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cells import text_width
from rankscope.cli.main import main

pty = pytest.importorskip("pty")
SGR = re.compile("\x1b\\[[0-9;]*m")
TITLED = {
    "eval": "Means over 9 topics",
    "compare": "Means over 9 topics: paired t test, Holm's correction, level .05",
    "correlate": "Kendall's tau-b between measures over 6 runs",
    "power": "Discriminative power over 6 runs: paired bootstrap test",
    "pools": "Rankings of 6 runs by smaller pools against all judgments (Kendall's tau-b)",
    "bounds": "Bounds by depth, means over 6 runs",
    "orderings": "Documents whose rank differs between the orders file and trec_eval",
    "overlap": "Similarity of the rankings of two runs",
    "effort": "Archetypes of 54 rankings",
    "verdict": "",
    "curve": "CRP of ",
    "scales": "Means of AP are not permissible",
    "properties": "",
    "measures": "classic",
}
MORE = {
    "curve": ["--topic", "301"],
    "power": ["--replicates", "50"],
    "properties": ["--depth", "3", "-m", "AP ACT"],
    "scales": ["--length", "4", "-m", "AP RBP(p=0.5)"],
    "measures": [],
}
LONG = "bert-large-uncased-whole-word-masking-finetuned-{}-on-msmarco-passages"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six runs on nine topics; their names are long and differ in the middle."""
    root = tmp_path_factory.mktemp("terminal") / "made"
    rs.simulate(systems=6, topics=9, grades=3, depth=30, seed=3, pool_depth=20).write(root)
    for number, run in enumerate(sorted((root / "runs").iterdir()), 1):
        run.rename(root / "runs" / f"{LONG.format(number)}.txt")
    return root


def terminal(*arguments: str | Path, columns: int = 80, **environment: str) -> str:
    """Return the output of a command in this process on a terminal of a width."""
    controller, terminal = os.openpty()
    parts: list[bytes] = []
    reader = threading.Thread(target=lambda: parts.extend(read_all(controller)))
    reader.start()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(terminal, "w", encoding="utf-8") as screen:
        for name, value in {"TERM": "xterm-256color", "COLUMNS": str(columns), **environment}.items():
            patch.setenv(name, value)
        if "NO_COLOR" not in environment:
            patch.delenv("NO_COLOR", raising=False)
        patch.setattr(sys, "stdout", screen)
        try:
            code = main([*map(str, arguments)])
        except SystemExit as stop:
            code = int(stop.code or 0)
    reader.join()
    assert code == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def real_terminal(*arguments: str, columns: int) -> str:
    """Return the output of a command in a new process, which queries the width of the terminal."""
    import fcntl
    import termios

    controller, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "rankscope", *arguments],
        stdin=subprocess.DEVNULL, stdout=terminal, env={**kept, "TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(terminal)
    out = b"".join(read_all(controller))
    assert process.wait() == 0
    return out.decode().replace("\r\n", "\n")


def read_all(descriptor: int) -> Iterator[bytes]:
    """Return everything that is written to a pseudo-terminal until it is closed."""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            part = b""
        if not part:
            os.close(descriptor)
            return
        yield part


def collection(folder: Path, command: str = "eval") -> list[Path]:
    if command == "curve":
        return [folder / "qrels.txt", sorted((folder / "runs").iterdir())[0]]
    if command in ("scales", "properties", "measures"):
        return []
    return [folder / "qrels.txt", folder / "runs"]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", TITLED)
def test_tables_have_titles_and_fit(
    command: str, columns: int, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    words = [command, *map(str, collection(folder, command)), *MORE.get(command, []), "-f", "table"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if text_width(line) > columns] == []
    assert " ".join(out.split()).startswith(TITLED[command])


def test_tables_have_bold_type_and_colour_if_the_terminal_supports_it(folder: Path) -> None:
    baseline = LONG.format(3)
    words = ["compare", *collection(folder), "--baseline", baseline, "-m", "AP", "--alpha", "0.2"]
    out = terminal(*words)
    assert "\x1b[1mMeans over 9 topics against" in out
    assert re.search("\x1b\\[31m[0-9.]+↓+\x1b\\[0m", out)
    plain = SGR.sub("", out)
    assert max(map(text_width, plain.splitlines())) <= 80
    assert terminal(*words, NO_COLOR="1") == plain
    names = [line.split()[0] for line in plain[plain.index("w/l/t") :].splitlines()[2:7]]
    assert len(set(names)) == 5
    assert all("…" in name for name in names)


def test_a_table_of_thousands_of_rows_shows_the_strongest(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    rs.simulate(systems=30, topics=6, grades=2, depth=12, seed=2, pool_depth=10).write(tmp_path / "made")
    words = ["compare", tmp_path / "made" / "qrels.txt", tmp_path / "made" / "runs", "-m", "AP RR P@5 nDCG"]
    out = SGR.sub("", terminal(*words, "--correction", "none"))
    assert len(out.splitlines()) < 100
    assert "the 40 strongest of 1,740 rows by p; -o FILE or a pipe gets all of them" in out
    rows = out[out.index("Differences a - b") :].splitlines()[3:43]
    values = [0.0 if (p := row.split()[4]).startswith("<") else float(p) for row in rows]
    assert values == sorted(values)
    assert "0.0000" not in [row.split()[4] for row in rows]
    assert main([*map(str, words)]) == 0
    assert len(capsysbinary.readouterr().out.splitlines()) == 1741
    terminal(*words, "-o", tmp_path / "all.csv")
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 1741


def test_compare_lists_the_topics_that_a_run_loses(folder: Path) -> None:
    files = [folder / "qrels.txt", *sorted((folder / "runs").iterdir())[1:3]]
    for spelt in ("--topics", "-q"):
        out = SGR.sub("", terminal("compare", *files, "-m", "AP", spelt))
        lines = out[out.index("Topics that a loses to b first") :].splitlines()[3:]
        differences = [float(line.split()[-1]) for line in lines]
        assert len(differences) == 9
        assert differences == sorted(differences)
        assert differences[0] < 0 < differences[-1]


def test_a_curve_is_drawn(folder: Path) -> None:
    out = SGR.sub("", terminal("curve", *collection(folder, "curve"), "--topic", "301", "--head", "3"))
    drawing = re.split(r"rank \d+\n", out)[0].splitlines()
    assert len([line for line in drawing if "│" in line]) == 12
    assert re.search("[▀▄▌▐▘▝▖▗▚▞]", out)
    assert re.search(r"\(the first 3 of \d+ ranks; --head 0 shows all\)", " ".join(out.split()))


def test_help_and_measures_at_a_terminal() -> None:
    out = terminal("--help")
    assert max(map(len, out.splitlines())) <= 80
    assert terminal("help") == out
    assert real_terminal("help", columns=80) == out
    assert max(map(len, real_terminal("measures", columns=60).splitlines())) <= 68  # eight are invisible
    assert "usage: rankscope eval QRELS RUN [RUN ...] [options]" in terminal("help", "eval")
    out = terminal("measures")
    assert "\x1b[1mclassic\x1b[0m" in out
    assert re.search(r"^  AP +Average precision: the mean over all relevant documents", out, re.MULTILINE)


def test_escape_sequences_in_names_are_escaped(folder: Path, tmp_path: Path) -> None:
    run = sorted((folder / "runs").iterdir())[0]
    (tmp_path / "evil\x1b[31mred.txt").write_bytes(run.read_bytes())
    out = terminal("eval", folder / "qrels.txt", tmp_path, "-m", "AP", "-q")
    assert "\x1b[31m" not in out
    assert "evil\\x1b[31mred" in out


def test_notes_fit_the_terminal_and_are_one_line_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from argparse import Namespace

    from rankscope.cli.parser import note

    text = "80% of the first ten documents of " + "'a-name-that-cannot-be-broken' " * 3 + "are unjudged"
    note(Namespace(quiet=False), text)
    assert capsys.readouterr().err == f"rankscope: {text}\n"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    note(Namespace(quiet=False), text)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1 and max(map(len, lines)) <= 80
    assert " ".join(line.strip() for line in lines) == f"rankscope: {text}"
