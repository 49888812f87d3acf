"""Text files with a fixed number of whitespace-separated fields per line."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from rankscope.errors import InputError
from rankscope.read.ids import to_text
from rankscope.read.lines import locate_problem, split_lines
from rankscope.read.source import Source, whole_lines


def read_rows(path: str, columns: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields, without blank lines and lines that start with ``#``."""
    source, before = Source.open(path), 0
    width = len(columns.split())
    for text in whole_lines(source.line_blocks()):
        fields, lines, problem = split_lines(text, before, columns)
        before += text.count(b"\n")
        for row, line in enumerate(lines):
            yield line, [*map(to_text, fields[row * (width + 1) : row * (width + 1) + width])]
        if problem:
            raise locate_problem(problem, source)


def parse_number(text: str, path: str, line: int) -> float:
    """Return a field as a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        hint = "give a decimal number such as 0.5"
        raise InputError(f"{text!r} is not a number", path=path, line=line, hint=hint)
    return value
