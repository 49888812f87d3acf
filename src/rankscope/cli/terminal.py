"""Standard output on a terminal: whatever is printed, no control character of somebody's file reaches it.

Names and ids are untrusted text, and an escape sequence in them could recolour, erase or retype what a person sees.
What goes to files and pipes is not touched. Weight and colour are ours: tables get them where the terminal has them and
NO_COLOR is not set.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankscope.errors import printable
from rankscope.text_layout import Ink, no_ink

__all__ = ["guarded_terminal", "ink", "write"]

_LOOKS = {"title": "1", "best": "1", "better": "32", "worse": "31", "faint": "2"}
_OURS = re.compile("(\x1b\\[(?:0|1|2|31|32)m)")


def ink() -> Ink:
    """Weight and colour for standard output, if it is a terminal that has them and nobody objects."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return no_ink if plain else _inked


def _inked(text: str, role: str) -> str:
    return f"\x1b[{_LOOKS[role]}m{text}\x1b[0m" if role in _LOOKS else text


def write(text: str, *, looks: bool = False) -> None:
    """Text to standard output; ``looks`` says that its cells are printable and its weight and colour from :func:`ink`.

    Any other text is a stranger's: what looks like weight or colour in it is spelt out.
    """
    sys.stdout.flush()
    below = getattr(sys.stdout.buffer, "raw", None)
    if looks and isinstance(below, _Guard):
        below.write_looks(text)
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


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

    def write_looks(self, text: str) -> None:
        """Text whose cells are printable already, and whose weight and colour are ours."""
        parts = _OURS.split(text)
        parts[::2] = [printable(part, keep="\n\t") for part in parts[::2]]
        self._terminal.write("".join(parts))
        self._terminal.flush()

    def write(self, data: Any) -> int:
        self._terminal.write(printable(self._decoder.decode(bytes(data)), keep="\n\t"))
        self._terminal.flush()
        return len(data)
