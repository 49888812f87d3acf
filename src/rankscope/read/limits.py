"""Limits that protect memory and time from hostile files; environment variables raise them.

A line has at most 16 MB. Decompressed content may have any size up to a free amount, and beyond that at most 250 times
the compressed size: runs compress to a tenth, decompression bombs to a thousandth or less. The free amount is 1 GB of
text that is read line by line, 256 MB of columns (Parquet, Arrow), and 16 MB of content that becomes Python objects
(JSON, CSV).
"""

from __future__ import annotations

import os

from rankscope.errors import InputError, SettingsError

LINE_VARIABLE = "RANKSCOPE_LONGEST_LINE"
RATIO_VARIABLE = "RANKSCOPE_UNPACKED_RATIO"
LONGEST_LINE = 1 << 24
"""Bytes of a line."""
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


def check_decompressed_size(content: int, compressed: int, label: str, free: int | None = None) -> None:
    """Reject a compressed file that is probably a decompression bomb."""
    if content > (free or FREE) and content > (ratio := _limit(RATIO_VARIABLE, UNPACKED_RATIO)) * compressed:
        hint = f"if the file is yours, set {RATIO_VARIABLE} to a larger number"
        raise InputError(f"the file decompresses to more than {ratio} times its size", path=label, hint=hint)
