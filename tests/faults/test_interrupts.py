"""Interrupted is not complete: Ctrl-C ends every command soon, with 130, without a file and without a traceback."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import at_work
import pytest

from rankscope.cli.commands import COMMANDS
from rankscope.cli.main import main
from rankscope.cli.output import emit_interrupted
from rankscope.engines.threads import run_in_threads
from rankscope.lab.axioms import cases
from rankscope.lab.measurement import counting
from rankscope.progress import Cancelled, advance
from rankscope.read.source import Source
from rankscope.scan import native

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent here as POSIX has them")
SOON = 60.0  # seconds: idle machines take a tenth of one, and a busy one must not fail the test


KEPT = {"demo": "out", "study": ".out.parts"}
"""Complete files that remain after an interrupt: the collection of the demo, and parts of a study."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a collection that takes long enough to be interrupted."""
    return at_work.make(tmp_path_factory.mktemp("large"))


def interrupted(
    words: list[str], place: Path, times: int = 1, group: bool = False, **environment: str
) -> str:
    """Start a command, wait until it works, send Ctrl-C, and return its standard error."""
    command = at_work.started(words, place, **environment)
    seconds, out, error = at_work.interrupted(command, times, group)
    assert seconds < SOON
    assert command.returncode in (130, -signal.SIGINT), error
    assert "Traceback" not in error
    assert out == b""
    return error


@pytest.mark.product(12)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", at_work.WORK)
def test_ctrl_c_ends_a_command_and_leaves_nothing(large: Path, name: str) -> None:
    """``python tests/faults/at_work.py`` prints how soon."""
    before = sorted(large.iterdir())
    assert interrupted(at_work.WORK[name].split(), large).endswith("rankscope: interrupted\n")
    if name in KEPT:
        shutil.rmtree(large / KEPT[name], ignore_errors=True)
    assert sorted(large.iterdir()) == before


def test_no_command_is_forgotten() -> None:
    covered = {name.partition(",")[0] for name in at_work.WORK} | at_work.INSTANT
    assert covered == set(COMMANDS)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("group", [False, True])
def test_ctrl_c_ends_worker_processes(large: Path, group: bool) -> None:
    """Sent to the command alone, or by a terminal to all of its processes."""
    runs = [f"runs/r{r}.txt" for r in range(4)] + ["more"]
    (large / "more").mkdir(exist_ok=True)
    for copy in range(60):
        if not (large / "more" / f"c{copy}.txt").exists():
            (large / "more" / f"c{copy}.txt").symlink_to("../runs/r0.txt")
    words = ["eval", "qrels.txt", *runs, "-j", "2", "-m", "AP"]
    assert interrupted(words, large, group=group, RANKSCOPE_SCANNER="python") == "\nrankscope: interrupted\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_second_ctrl_c_shows_no_traceback(large: Path) -> None:
    for times in (2, 3, 5):
        error = interrupted(["pools", "qrels.txt", "runs", "--repeats", "100000"], large, times)
        assert error in ("\nrankscope: interrupted\n", "")


def ctrl_c(*_: Any) -> Iterator[Any]:
    """Replace a progress bar by one that is interrupted at once."""
    raise KeyboardInterrupt
    yield


@pytest.mark.parametrize("format", ["json", "tsv", "csv", "markdown", "latex", None])
@pytest.mark.parametrize("command", ["properties", "scales"])
def test_partial_results_are_not_written(command, format, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(cases, "progress", ctrl_c)
    monkeypatch.setattr(counting, "progress", ctrl_c)
    size = ["--depth", "6"] if command == "properties" else ["--length", "8"]
    words = [command, *size, "-m", "AP RR nDCG", *(["-f", format] if format else [])]
    assert main(words) == 130
    assert capsys.readouterr() == ("", "\nrankscope: interrupted\n")
    assert main([*words, "-o", str(tmp_path / "out")]) == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["properties", "scales"])
def test_partial_tables_on_a_terminal_are_marked(command, monkeypatch, capsys) -> None:
    monkeypatch.setattr(cases, "progress", ctrl_c)
    monkeypatch.setattr(counting, "progress", ctrl_c)
    size = ["--depth", "6"] if command == "properties" else ["--length", "8"]
    assert main([command, *size, "-m", "AP RR nDCG", "-f", "table"]) == 130
    out = capsys.readouterr().out
    tables = out.strip().split("\n\n")
    assert all(table.startswith("INTERRUPTED, so far") for table in tables), out


def test_an_interrupted_certificate_is_not_returned(monkeypatch) -> None:
    from rankscope.lab.certificates import certificates

    monkeypatch.setattr(cases, "progress", ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        certificates("AP RR")


def test_threads_are_not_waited_for() -> None:
    started, ended = set(), []

    def endless(piece: int) -> None:
        try:
            while True:
                started.add(piece)
                advance()
                time.sleep(0.001)
        except Cancelled:
            ended.append(piece)
            raise

    def nested(piece: int) -> None:
        run_in_threads(endless, [piece, piece + 10], 2)

    def interrupt(expected: set[int]) -> None:
        while started != expected:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    for work, expected in ((endless, {0, 1}), (nested, {0, 1, 10, 11})):
        ended.clear()
        started.clear()
        with pytest.raises(KeyboardInterrupt):
            threading.Thread(target=interrupt, args=(expected,), daemon=True).start()
            run_in_threads(work, [0, 1], 2)
        assert set(ended) == expected


@pytest.mark.skipif(not native.available(), reason="the native scanner was not built")
def test_reading_a_large_file_can_be_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankscope.progress import set_cancel_events
    from rankscope.read import Qrels

    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 d{i} 1 {-i} t\n" for i in range(5000)))
    monkeypatch.setattr("rankscope.read.source.BLOCK", 1000)
    stop, turns = threading.Event(), []
    more = native.Scan.feed

    def counted(self: Any, block: bytes) -> None:
        turns.append(len(block))
        if len(turns) == 3:
            stop.set()
        more(self, block)

    monkeypatch.setattr(native.Scan, "feed", counted)
    set_cancel_events((stop,))
    try:
        with pytest.raises(Cancelled):
            native.scan_source(Source.open(path), Qrels.from_dict({"q": {"d1": 1}}), "trec_eval")
        with pytest.raises(Cancelled):
            list(Source.open(path).blocks())
    finally:
        set_cancel_events(())
    assert len(turns) == 3


def test_one_large_file_has_a_bar(tmp_path, monkeypatch, capsys) -> None:
    import io

    import rankscope as rs
    from rankscope import progress

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    path = tmp_path / "run.txt"
    path.write_text("".join(f"q Q0 document{i:09} 1 {-i} t\n" for i in range(100_000)))
    monkeypatch.setattr(progress, "_APPEARS_AFTER", -1.0)
    monkeypatch.setattr("rankscope.read.source.BLOCK", 100_000)
    for jobs in (1, 2):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        rs.evaluate({"q": {"document000000001": 1}}, str(path), "AP", jobs=jobs)
        output = terminal.getvalue()
        assert "runs " in output
        assert "/3 MB" in output
        assert output.endswith("\r\x1b[K")


def test_interrupted_results_are_never_given_to_programs(capsys) -> None:
    args = argparse.Namespace(output="x.json", format=None, digits=None)
    with pytest.raises(KeyboardInterrupt):
        emit_interrupted(args, None)  # type: ignore[arg-type]
    assert capsys.readouterr().out == ""
