"""Formatting of table cells.

Machine-readable formats get all digits and escaped texts. Human-readable formats get rounded numbers, p-values that are
never zero, and names that stay distinct when shortened.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

from rankscope.columns import CategoricalColumn, Cell, Column, Mapped, dtype_kind, to_values
from rankscope.errors import printable
from rankscope.lazy import numpy as np

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "↓": r"$\downarrow$", "–": "--", "∞": r"$\infty$",
    "±": r"$\pm$",
}  # fmt: skip
_TONES = {"*": "better", "↓": "worse"}
_REPEATED = frozenset({str, bool, type(None)})  # Types of which no value equals one of another type.
_NEEDS_QUOTES = re.compile(r'[,"\r\n]').search
_BREAKS = {9: "\\t", 10: "\\n", 13: "\\r"}


def format_cell(value: Cell, digits: int = 4, p_value: bool = False) -> str:
    """Return a value as human-readable text; a small p-value is printed as a bound, never as zero.

    >>> [format_cell(value) for value in (0.25, 3, True, None, math.nan, -math.inf, "bm25")]
    ['0.2500', '3', 'yes', '', '–', '-∞', 'bm25']
    >>> [format_cell(p, p_value=True) for p in (0.25, 0.0012, 0.0009, 0.0)], format_cell(0.004, 2, p_value=True)
    (['0.2500', '0.0012', '<.001', '<.001'], '<.01')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return printable(str(value))
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    n_decimals = max(1, min(3, digits))
    if p_value and 0 <= value < 10**-n_decimals:
        return f"<.{'1':0>{n_decimals}}"
    return f"{value:.{digits}f}"


def tone(mark: str) -> str:
    """Return the meaning of a significance mark: ``better``, ``worse`` or an empty string.

    >>> tone("***"), tone("↓"), tone("ab")
    ('better', 'worse', '')
    """
    return _TONES.get(mark[:1], "")


def tsv_cells(column: Column, cache: Mapped[str] | None = None) -> list[str]:
    r"""Return a column as TSV; tabs and line ends in text are escaped, formulas are quoted as in CSV.

    >>> tsv_cells([None, 0.1, True, "a\tb", "=SUM(A1)"])
    ['', '0.1', 'True', 'a\\tb', "'=SUM(A1)"]
    """
    return _cells(column, _tsv, cache)


def csv_cells(column: Column, cache: Mapped[str] | None = None) -> list[str]:
    """Return a column as CSV; a text that a spreadsheet would run as a formula gets a quote in front.

    >>> csv_cells([None, -0.5, "=SUM(A1)", "a,b"])
    ['', '-0.5', "'=SUM(A1)", '"a,b"']
    """
    return _cells(column, _csv, cache)


def quote_csv(text: str) -> str:
    """Return a text in quotes if it contains separators, quotes or line ends (RFC 4180)."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES(text) else text


_JSON_WORDS = {None: "null", True: "true", False: "false"}


def json_cells(column: Column, encode: Callable[[Any], str], cache: Mapped[str] | None = None) -> list[str]:
    """Return a column as JSON; ``encode`` is called only for texts and unusual values."""

    def write(value: Cell) -> str:
        if isinstance(value, float) and math.isfinite(value):
            return repr(float(value))
        if value is None or type(value) is bool:
            return _JSON_WORDS[value]
        return encode(value if type(value) is str else json_value(value))

    return _cells(column, write, cache)


def _cells(column: Column, write: Callable[[Cell], str], cache: Mapped[str] | None) -> list[str]:
    if isinstance(column, CategoricalColumn):
        return column.map_values(write, cache)
    kind = dtype_kind(column)
    if kind == "f":
        from rankscope.native.memory import format_floats

        numbers = np.asarray(column)
        words = format_floats(numbers)
        for row in np.flatnonzero(~np.isfinite(numbers)).tolist():
            words[row] = write(float(numbers[row]))
        return words
    values = to_values(column)
    if kind not in ("i", "u"):
        # Names and answers repeat in many rows; plain numbers have the same text in all formats.
        texts = {value: write(value) for value in {value for value in values if type(value) in _REPEATED}}
        return [
            texts[value]
            if type(value) in _REPEATED
            else repr(value) if _is_plain_number(value) else write(value)
            for value in values
        ]  # fmt: skip
    return list(map(repr, values))


def _is_plain_number(value: Cell) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _tsv(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return _quote_formula(value, str(value).translate(_BREAKS))


def _csv(value: Cell) -> str:
    text = "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)
    return quote_csv(_quote_formula(value, text))


def _quote_formula(value: Cell, text: str) -> str:
    """Return a text with a leading quote if a spreadsheet would run it as a formula; numbers stay unchanged."""
    return "'" + text if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def json_number(value: float) -> float | str | None:
    """Return a number as a JSON value: None for NaN, strings for infinities.

    >>> [json_number(x) for x in (0.5, math.nan, math.inf, -math.inf)]
    [0.5, None, 'Infinity', '-Infinity']
    """
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def json_value(value: Any) -> Any:
    """Return any value converted to types that JSON supports."""
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
    """Escape text for Markdown."""
    for character in "\\|*_`<>[]":
        text = text.replace(character, "\\" + character)
    return text


def latex_text(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def text_width(text: str) -> int:
    """Return the width of a text on a terminal, in columns."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def fit_text(text: str, width: int) -> str:
    """Shorten a text in the middle to at most ``width`` columns.

    >>> fit_text("dense-retrieval-large", 12), fit_text("bm25", 12)
    ('dense-…large', 'bm25')
    """
    if text_width(text) <= width:
        return text
    keep = max(1, width - 1)
    head = _take_width(text, (keep + 1) // 2)
    tail = _take_width(text[::-1], keep // 2)[::-1]
    return f"{''.join(head)}…{''.join(tail)}"


def _take_width(text: str, width: int) -> list[str]:
    """Return the longest prefix of at most ``width`` columns, as characters."""
    characters: list[str] = []
    for character in text:
        width -= text_width(character)
        if width < 0:
            break
        characters.append(character)
    return characters


def join_names(names: Sequence[str], limit: int = 3) -> str:
    """Return an enumeration of names for a sentence.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and others')
    """
    if len(names) > limit:
        return ", ".join(names[:limit]) + " and others"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def shorten_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten names to at most ``width`` columns so that they stay distinct.

    If shortening in the middle makes names equal, their differing part is kept; if that fails, they are numbered.

    >>> list(shorten_names(["run-with-a-long-name-1-base", "run-with-a-long-name-2-base", "bm25"], 12).values())
    ['run-with-…1…', 'run-with-…2…', 'bm25']
    """
    names = dict.fromkeys(names)
    short = {name: fit_text(name, width) for name in names}
    for shorten in (_shorten_to_difference, _shorten_with_number):
        for names_alike in _group_alike(short):
            short |= shorten(names_alike, width)
    return short


def _group_alike(short: dict[str, str]) -> list[list[str]]:
    """Return groups of names with the same short form."""
    groups: dict[str, list[str]] = {}
    for name, text in short.items():
        groups.setdefault(text, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _shorten_to_difference(names: list[str], width: int) -> dict[str, str]:
    before = _common_prefix_length(names)
    after = _common_prefix_length([name[before:][::-1] for name in names])
    short = {}
    for name in names:
        differing = name[before : len(name) - after] + ("…" if after else "")
        space = width - 1 - text_width(differing)
        start = "".join(_take_width(name, space))
        short[name] = f"{start}…{differing}" if space >= 0 else fit_text(name, width)
    return short


def _common_prefix_length(names: list[str]) -> int:
    """Return the length of the common prefix."""
    pairs = zip(min(names), max(names), strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(min(names)))


def _shorten_with_number(names: list[str], width: int) -> dict[str, str]:
    short = {}
    for number, name in enumerate(names, 1):
        ending = f"…{number}"
        short[name] = "".join(_take_width(name, max(1, width - len(ending)))) + ending
    return short
