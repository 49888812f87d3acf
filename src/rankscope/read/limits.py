"""What no honest file needs, and what would take all memory or time: limits that are generous, and can be raised.

A line has at most 16 MB. What is unpacked may have any size up to a free amount, and beyond that 250 times the packed
one: runs shrink to a tenth, bombs to a thousandth or less. The free amount is 1 GB of text that is read line by line,
256 MB of columns (Parquet, Arrow) and 16 MB of what becomes objects (JSON, CSV). Environment variables raise limits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import FileIO

from rankscope.errors import InputError, SettingsError

__all__ = [
    "FREE_COLUMNS",
    "FREE_OBJECTS",
    "check_unpacked",
    "line_at",
    "line_too_long",
    "longest_line",
    "with_short_lines",
]

LINE_VARIABLE = "RANKSCOPE_LONGEST_LINE"
RATIO_VARIABLE = "RANKSCOPE_UNPACKED_RATIO"
LONGEST_LINE = 1 << 24
"""Bytes; also what is read of a file at a time, so that a longer line is always begun in one piece of it."""
UNPACKED_RATIO = 250
FREE = 1 << 30
"""Bytes of content that may come from a packed file of any size, if it is read line by line."""
FREE_COLUMNS = 1 << 28
"""Bytes of columns that may come from a Parquet or Arrow file of any size: all of them are held in memory."""
FREE_OBJECTS = 1 << 24
"""Bytes of packed JSON or CSV: each may become 40 bytes of objects."""


def longest_line() -> int:
    """The bytes that a line may have."""
    return _raised(LINE_VARIABLE, LONGEST_LINE)


def _raised(variable: str, usual: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return usual
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise SettingsError(f"{variable} is {text!a}", hint=f"give a whole number of at least {usual}")
    return max(usual, int(text))


def line_too_long() -> tuple[str, str]:
    """What to say about a line, and what to do."""
    return (
        "the line or the list it belongs to is too long",
        f"a line has at most {longest_line():,} bytes ({LINE_VARIABLE} raises that), a list 2^31 documents",
    )


def with_short_lines(blocks: Iterator[bytes], label: str) -> Iterator[bytes]:
    r"""The same blocks; an error where a line is too long.

    >>> list(with_short_lines(iter([b"a\nb", b"c\n"]), "run"))
    [b'a\nb', b'c\n']
    """
    most, begun, lines = longest_line(), 0, 1
    for block in blocks:
        first = block.find(b"\n")
        if begun + (len(block) if first < 0 else first) > most:
            what, hint = line_too_long()
            raise InputError(what, path=label, line=lines, hint=hint)
        begun = begun + len(block) if first < 0 else len(block) - 1 - block.rfind(b"\n")
        lines += block.count(b"\n") if first >= 0 else 0
        yield block


def line_at(file: FileIO, most: int) -> int:
    """How long the line is in which an open file is read on; a length above ``most`` may be cut short.

    The place where it is read on stays.
    """
    here = file.tell()
    before, size = 0, 4096
    while before <= most and before < here:
        size = min(size, here - before)
        file.seek(here - before - size)
        found = _exactly(file, size).rfind(b"\n")
        before += size if found < 0 else size - 1 - found
        if found >= 0:
            break
        size *= 2
    file.seek(here)
    after, size = 0, 4096
    while before + after <= most and (block := file.read(size)):
        found = block.find(b"\n")
        after += len(block) if found < 0 else found
        if found >= 0:
            break
        size = min(2 * size, 1 << 18)
    file.seek(here)
    return before + after


def _exactly(file: FileIO, size: int) -> bytes:
    """So many bytes; fewer if the file has become shorter."""
    blocks: list[bytes] = []
    while size and (block := file.read(size)):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


def check_unpacked(content: int, packed: int, label: str, free: int | None = None) -> None:
    """Refuse a packed file that unpacks to more than anybody would have packed."""
    if content > (free or FREE) and content > (most := _raised(RATIO_VARIABLE, UNPACKED_RATIO)) * packed:
        raise InputError(
            f"it unpacks to more than {most} times its size",
            path=label,
            hint=f"if that is meant, set {RATIO_VARIABLE} to a larger number",
        )
