"""Standard output on a terminal: escapes control characters, and adds bold type and colour to tables.

Names and ids are untrusted text: an escape sequence in them could recolour, erase or forge output. Output to files and
pipes is not changed. Tables have bold type and colour if the terminal supports it and NO_COLOR is not set.
"""

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

_SGR_CODES = {"title": "1", "best": "1", "better": "32", "worse": "31", "faint": "2"}
_OWN_ESCAPES = re.compile("(\x1b\\[(?:0|1|2|31|32)m)")


def ink() -> Ink:
    """Return the function that styles text for standard output; it adds nothing unless the terminal supports it."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return no_ink if plain else _add_ink


def _add_ink(text: str, role: str) -> str:
    return f"\x1b[{_SGR_CODES[role]}m{text}\x1b[0m" if role in _SGR_CODES else text


def write(text: str, *, is_styled: bool = False) -> None:
    """Write text to standard output.

    ``is_styled`` means that the cells are printable and that :func:`ink` added all escape sequences. In any other text
    escape sequences are untrusted, and are escaped.
    """
    sys.stdout.flush()
    below = getattr(sys.stdout.buffer, "raw", None)
    if is_styled and isinstance(below, _Guard):
        below.write_styled(text)
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


@contextmanager
def guarded_terminal() -> Iterator[None]:
    """Escape control characters (``\\x1b``) in output to a terminal, except line ends and tabs."""
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
        guarded.detach().detach()  # Without this, the terminal would be closed.


class _Guard(io.RawIOBase):
    """Stream that decodes UTF-8 and writes printable text to the terminal."""

    def __init__(self, terminal: io.TextIOWrapper) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()

    def write_styled(self, text: str) -> None:
        """Write text that contains escape sequences of :func:`ink`."""
        parts = _OWN_ESCAPES.split(text)
        parts[::2] = [printable(part, keep="\n\t") for part in parts[::2]]
        self._terminal.write("".join(parts))
        self._terminal.flush()

    def write(self, data: Any) -> int:
        self._terminal.write(printable(self._decoder.decode(bytes(data)), keep="\n\t"))
        self._terminal.flush()
        return len(data)
