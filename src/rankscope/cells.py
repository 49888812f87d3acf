"""The values of tables as text: with all digits for programs, without anything that a format would interpret."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

from rankscope.columns import Cell, Coded, Column
from rankscope.columns import plain as values_of

__all__ = [
    "aligned",
    "csv_cells",
    "fitted",
    "json_cells",
    "json_number",
    "json_value",
    "latex_text",
    "markdown_text",
    "text_width",
    "tsv_cells",
]

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip
_BREAKS = {9: "\\t", 10: "\\n", 13: "\\r"}


def tsv_cells(column: Column) -> list[str]:
    r"""A column for TSV; tabs and line ends inside text are escaped.

    >>> tsv_cells([None, 0.1, True, "a\tb"])
    ['', '0.1', 'True', 'a\\tb']
    """
    return _cells(column, _tsv)


def csv_cells(column: Column) -> list[str]:
    """A column for CSV; a text that a spreadsheet would run as a formula is quoted.

    >>> csv_cells([None, -0.5, "=SUM(A1)"])
    ['', '-0.5', "'=SUM(A1)"]
    """
    return _cells(column, _csv)


def json_cells(column: Column, encode: Callable[[Any], str]) -> list[str]:
    """A column as JSON, by an encoder that is asked for whatever is no ordinary number."""

    def write(value: Cell) -> str:
        if isinstance(value, float) and math.isfinite(value):
            return repr(float(value))
        return encode(json_value(value))

    return _cells(column, write)


def _cells(column: Column, write: Callable[[Cell], str]) -> list[str]:
    if isinstance(column, Coded):
        return column.each(write)
    values = values_of(column)
    if not hasattr(column, "dtype") or column.dtype.kind != "f":
        return [write(value) for value in values]
    words = list(map(repr, values))
    for row in (~(abs(column) < math.inf)).nonzero()[0].tolist():  # type: ignore[arg-type]
        words[row] = write(values[row])
    return words


def _tsv(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return str(value).translate(_BREAKS)


def _csv(value: Cell) -> str:
    text = "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)
    return "'" + text if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def json_number(value: float) -> float | str | None:
    """A number as JSON can hold it, which knows no undefined and no infinite ones.

    >>> [json_number(x) for x in (0.5, math.nan, math.inf, -math.inf)]
    [0.5, None, 'Infinity', '-Infinity']
    """
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def json_value(value: Any) -> Any:
    """Anything, as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(inner) for inner in value]
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "tolist"):
        return json_value(value.tolist())
    return str(value)


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is."""
    for character in "\\|*_`<>[]":
        text = text.replace(character, "\\" + character)
    return text


def latex_text(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return "".join(_LATEX.get(character, character) for character in text)


def text_width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fitted(text: str, width: int) -> str:
    """Text of at most this width, shortened in the middle."""
    if text_width(text) <= width:
        return text
    keep = max(1, width - 1)
    return text[: (keep + 1) // 2] + "…" + text[len(text) - keep // 2 :]


def aligned(text: str, width: int, right: bool) -> str:
    """Text with spaces before or after it, up to this width."""
    space = " " * (width - text_width(text))
    return space + text if right else text + space


def narrow(widths: list[int], numeric: Sequence[bool], width: int) -> None:
    """Take space from the widest text column until the table fits, but never below 12."""
    while sum(widths) + 2 * (len(widths) - 1) > width:
        wide = [(w, i) for i, w in enumerate(widths) if not numeric[i] and w > 12]
        if not wide:
            return
        widths[max(wide)[1]] -= 1
