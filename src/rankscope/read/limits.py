"""Limits that protect memory and time from hostile files; environment variables raise them.

A line has at most 16 MB. Decompressed content may have any size up to a free amount, and beyond that at most 250 times
the compressed size: runs compress to a tenth, decompression bombs to a thousandth or less. The free amount is 1 GB of
text that is read line by line, 256 MB of columns (Parquet, Arrow), and 16 MB of content that becomes Python objects
(JSON, CSV).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import FileIO

from rankscope.errors import InputError, SettingsError

LINE_VARIABLE = "RANKSCOPE_LONGEST_LINE"
RATIO_VARIABLE = "RANKSCOPE_UNPACKED_RATIO"
LONGEST_LINE = 1 << 24
"""Bytes of a line; also the size of a turn of the scanner, so that a longer line always spans a turn."""
UNPACKED_RATIO = 250
FREE = 1 << 30
"""Bytes that a compressed file of any size may decompress to, if it is read line by line."""
FREE_COLUMNS = 1 << 28
"""Bytes of columns that a Parquet or Arrow file of any size may have; all of them are in memory at once."""
FREE_OBJECTS = 1 << 24
"""Bytes that compressed JSON or CSV of any size may decompress to; each may become 40 bytes of objects."""


def longest_line() -> int:
    """Return the maximum number of bytes of a line."""
    return _limit(LINE_VARIABLE, LONGEST_LINE)


def _limit(variable: str, default: int) -> int:
    """Return a limit, which an environment variable can raise."""
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise SettingsError(f"{variable} is {text!a}", hint=f"give an integer of at least {default}")
    return max(default, int(text))


def line_too_long() -> tuple[str, str]:
    """Return message and hint for a line that is too long."""
    return (
        "the line, or its ranking, is too long",
        f"a line has at most {longest_line():,} bytes ({LINE_VARIABLE} raises this limit), a ranking 2^31 documents",
    )


def with_short_lines(blocks: Iterator[bytes], label: str) -> Iterator[bytes]:
    r"""Yield the same blocks; raise an error if a line is too long.

    >>> list(with_short_lines(iter([b"a\nb", b"c\n"]), "run"))
    [b'a\nb', b'c\n']
    """
    limit, current, line = longest_line(), 0, 1  # ``current``: bytes of the current line in earlier blocks
    for block in blocks:
        newline = block.find(b"\n")
        if current + (len(block) if newline < 0 else newline) > limit:
            problem, hint = line_too_long()
            raise InputError(problem, path=label, line=line, hint=hint)
        current = current + len(block) if newline < 0 else len(block) - 1 - block.rfind(b"\n")
        line += block.count(b"\n") if newline >= 0 else 0
        yield block


def line_at(file: FileIO, max_length: int) -> int:
    """Return the length of the line at the position of an open file; stop counting beyond ``max_length``.

    The position does not change.
    """
    position = file.tell()
    before, size = 0, 4096
    while before <= max_length and before < position:
        size = min(size, position - before)
        file.seek(position - before - size)
        newline = _read_exactly(file, size).rfind(b"\n")
        before += size if newline < 0 else size - 1 - newline
        if newline >= 0:
            break
        size *= 2
    file.seek(position)
    after, size = 0, 4096
    while before + after <= max_length and (block := file.read(size)):
        newline = block.find(b"\n")
        after += len(block) if newline < 0 else newline
        if newline >= 0:
            break
        size = min(2 * size, 1 << 18)
    file.seek(position)
    return before + after


def _read_exactly(file: FileIO, size: int) -> bytes:
    """Read a number of bytes; fewer if the file was truncated."""
    blocks: list[bytes] = []
    while size and (block := file.read(size)):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


def check_decompressed_size(content: int, compressed: int, label: str, free: int | None = None) -> None:
    """Reject a compressed file that is probably a decompression bomb."""
    if content > (free or FREE) and content > (ratio := _limit(RATIO_VARIABLE, UNPACKED_RATIO)) * compressed:
        hint = f"if the file is yours, set {RATIO_VARIABLE} to a larger number"
        raise InputError(f"the file decompresses to more than {ratio} times its size", path=label, hint=hint)
