"""Standard output on a terminal: whatever is printed, no control character of somebody's file reaches it.

Names and ids are untrusted text, and an escape sequence in them could recolour, erase or retype what a person sees.
What goes to files and pipes is not touched.
"""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankscope.errors import printable

__all__ = ["guarded_terminal"]


@contextmanager
def guarded_terminal() -> Iterator[None]:
    """While a command runs, a terminal gets control characters spelt out (``\\x1b``), except line ends and tabs."""
    terminal = sys.stdout
    if not isinstance(terminal, io.TextIOWrapper) or not terminal.isatty():
        yield
        return
    guard = io.BufferedWriter(_Guard(terminal))
    sys.stdout = io.TextIOWrapper(guard, "utf-8", "surrogateescape", line_buffering=True)
    try:
        yield
    finally:
        guarded, sys.stdout = sys.stdout, terminal
        guarded.flush()
        guarded.detach().detach()  # the terminal below stays open


class _Guard(io.RawIOBase):
    """The bytes of UTF-8 text in, printable text to the terminal."""

    def __init__(self, terminal: io.TextIOWrapper) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()

    def write(self, data: Any) -> int:
        self._terminal.write(printable(self._decoder.decode(bytes(data)), keep="\n\t"))
        self._terminal.flush()
        return len(data)
