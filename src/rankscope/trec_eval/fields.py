"""Text files with a fixed number of whitespace-separated fields per line."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from rankscope.errors import InputError
from rankscope.read.ids import to_text
from rankscope.read.line_ends import describe_line_end, foreign_end
from rankscope.read.source import read_bytes


def read_rows(path: str, count: int, field_names: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields, without blank lines and lines that start with ``#``."""
    shown = "standard input" if path == "-" else path
    for line, text in enumerate(read_bytes(path).split(b"\n"), 1):
        if end := foreign_end(text, count):
            problem, hint = describe_line_end(end)
            raise InputError(problem, path=shown, line=line, hint=hint)
        fields = text.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if b"\0" in text:
            raise InputError("a NUL byte in the line", path=shown, line=line, hint="give a text file")
        if len(fields) != count:
            fields_read = f"{len(fields)} field{'s' * (len(fields) != 1)}"
            problem = f"{fields_read} where there should be {count}: {field_names}"
            raise InputError(problem, path=shown, line=line, hint="complete the line or remove it")
        yield line, [to_text(field) for field in fields]


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
