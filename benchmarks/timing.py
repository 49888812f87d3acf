"""Fresh processes and what they used: wall time, CPU time, peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from resource import struct_rusage
from typing import NamedTuple

__all__ = ["ROOT", "ExecutionError", "TooSlowError", "Usage", "execute", "python"]

ROOT = Path(__file__).resolve().parent.parent


class Usage(NamedTuple):
    """Resources of one execution, including the start of the interpreter."""

    wall: float  # seconds
    cpu: float  # seconds, user and system, of all its threads and children
    memory: float  # MB at the peak, of its largest process
    system: float = 0.0  # seconds of cpu that the system took: new memory, files


class ExecutionError(Exception):
    """A program failed."""


class TooSlowError(ExecutionError):
    """A program was stopped at its time limit."""


def python(*arguments: str | Path) -> list[str]:
    """Return a command of this interpreter."""
    return [sys.executable, *map(str, arguments)]


def _environment() -> dict[str, str]:
    """Ours, but bytecode is kept: the first run compiles, as an installation does, and is not timed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def execute(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    limit: float = 3600,
    *,
    terminal: bool = False,
) -> Usage:
    """Run a command to its end in a fresh process, or stop it after the limit in seconds.

    Its output is discarded; with ``terminal`` it is printed to a terminal of 80 columns.

    The system counts the memory of the parent at the moment of the start to the child, so this process itself
    must stay small: it loads nothing beyond the standard library.
    """
    with (
        tempfile.TemporaryFile() as errors,
        _screen() if terminal else nullcontext(subprocess.DEVNULL) as output,
    ):
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**_environment(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        status, usage = _wait(process, limit)
        wall = time.perf_counter() - start
        if status != 0 and wall >= limit:
            raise TooSlowError(f"not done in {limit:.0f} s")
        if status != 0:
            errors.seek(0)
            text = errors.read().decode(errors="replace").strip()
            lines = [line for line in text.splitlines() if not line[:1].isspace()]  # Java ends with its stack
            raise ExecutionError(lines[-1] if lines else f"ended with code {status}, without a word")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    cpu = usage.ru_utime + usage.ru_stime
    return Usage(wall, cpu, usage.ru_maxrss * unit / 1e6, usage.ru_stime)


@contextmanager
def _screen() -> Iterator[int]:
    """Open a terminal of 80 columns, whose output is read and discarded."""
    import termios  # not on every system

    screen, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 80))

    def drain() -> None:
        with suppress(OSError):  # the other end is closed
            while os.read(screen, 1 << 16):
                pass

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        yield terminal
    finally:
        os.close(terminal)
        reader.join()
        os.close(screen)


def _wait(process: subprocess.Popen[bytes], limit: float) -> tuple[int, struct_rusage]:
    """Return the exit code and the resource usage of a child, which is killed after the limit."""
    alarm = threading.Timer(limit, process.kill)
    alarm.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        alarm.cancel()
    # the status was taken from the system here, so the object must not ask for it again
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage
