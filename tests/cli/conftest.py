"""The command line in this process, held to what it promises."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import pytest

from rankscope.cli.main import main

NOTES = ("rankscope: warning: ", " ignored in ", "; --input-format overrides)")
"""Parts of lines that are notes, and may precede an error."""

MAX_SECONDS = 300  # far more than any command needs for such small input


class TooLong(BaseException):
    """Raised if a command does not end; no handler of errors catches it."""


@dataclass(frozen=True)
class World:
    """Directory with judgments and runs, the working directory of commands."""

    folder: Path
    runs: list[str]
    qrels: str

    @property
    def topics(self) -> list[str]:
        """Topics of the judgments, as far as they can be read."""
        words = [line.split()[:1] for line in Path(self.qrels).read_bytes().split(b"\n")[:3]]
        return [os.fsdecode(word[0]) for word in words if word] or ["1"]

    def files(self) -> list[Path]:
        """Return all files below the directory."""
        return sorted(self.folder.rglob("*"))


class CommandLine:
    """Runs commands in this process."""

    @contextlib.contextmanager
    def world(self, qrels: bytes, runs: list[bytes]) -> Iterator[World]:
        """Create a directory that is removed after the block."""
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        try:
            (folder / "q.txt").write_bytes(qrels)
            (folder / "groups.txt").write_text("run0 a\nrun1 a\nrun2 b\n")
            names = [str(folder / f"run{r}.txt") for r in range(len(runs))]
            for name, content in zip(names, runs, strict=True):
                Path(name).write_bytes(content)
            with contextlib.chdir(folder):
                yield World(folder, names, str(folder / "q.txt"))
        finally:
            shutil.rmtree(folder)

    def run(self, arguments: list[str], stdin: bytes = b"") -> tuple[int, bytes, str]:
        """Run a command, and return its exit code, standard output and standard error."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        usual, shown = sys.stdin, warnings.showwarning
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        try:
            with _time_limit(), warnings.catch_warnings(), streams[0], streams[1]:
                warnings.simplefilter("always")
                code: object = main(arguments)
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            sys.stdin, warnings.showwarning = usual, shown
        assert isinstance(code, int)
        out.flush()
        return code, out.buffer.getvalue(), err.getvalue()  # type: ignore[attr-defined]

    def check(self, arguments: list[str], world: World, stdin: bytes = b"") -> None:
        """Run a command, and check the guarantees that hold for any arguments."""
        before = world.files()
        code, out, err = self.run(arguments, stdin)
        lines = err.splitlines()
        errors = [line for line in lines if not any(words in line for words in NOTES)]
        assert code in (0, 2), err
        assert "Traceback" not in err
        assert "internal error" not in err
        assert "encountered in" not in err and "empty slice" not in err, (
            f"a warning of numpy was printed: {err}"
        )
        assert all(line.startswith("rankscope: ") and line.isprintable() for line in lines), err
        assert err == "" or err.endswith("\n")
        if code == 2:
            assert len(errors) == 1, err
            assert lines[-1] == errors[0]
            assert world.files() == before
        elif _value(arguments, "-f", "--format") == "json":
            written = _value(arguments, "-o", "--output")
            text = Path(written).read_bytes() if written else out
            answer = json.loads(text.decode("utf-8"), parse_constant=_refuse)
            assert set(answer) == {"rankscope", "command", "settings", "tables"}


def _value(arguments: list[str], short: str, long: str) -> str | None:
    """Return the last value of an option."""
    value = None
    for flag, after in pairwise([*arguments, ""]):
        if flag == short:
            value = after
        elif flag.startswith(f"{long}="):
            value = flag.partition("=")[2]
    return value


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    usual = signal.signal(signal.SIGALRM, _ring)
    signal.alarm(MAX_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)


def _ring(*_: object) -> NoReturn:
    raise TooLong


@pytest.fixture(scope="session")
def command_line() -> CommandLine:
    """Runs commands in this process, and checks their guarantees."""
    return CommandLine()
