"""How one cell prints, decided here for every table and format.

Programs get all digits, and nothing that a format would interpret; people get rounded numbers, p-values that are never
zero, and names that stay distinct when they are shortened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

from rankscope.columns import Cell, Coded, Column, kind_of
from rankscope.columns import plain as values_of
from rankscope.errors import printable

__all__ = [
    "csv_cells",
    "fitted",
    "json_cells",
    "json_number",
    "json_value",
    "latex_text",
    "markdown_text",
    "shortened",
    "shown",
    "text_width",
    "tone",
    "tsv_cells",
]

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "↓": r"$\downarrow$", "–": "--", "∞": r"$\infty$",
}  # fmt: skip
_TONES = {"*": "better", "↓": "worse"}
_TELLING = 1000  # floats that tell whether there are few different ones
_BREAKS = {9: "\\t", 10: "\\n", 13: "\\r"}


def shown(value: Cell, digits: int = 4, p_value: bool = False) -> str:
    """A value as people read it; a small p-value is below something, never zero.

    >>> [shown(value) for value in (0.25, 3, True, None, math.nan, -math.inf, "bm25")]
    ['0.2500', '3', 'yes', '', '–', '-∞', 'bm25']
    >>> [shown(p, p_value=True) for p in (0.25, 0.0012, 0.0009, 0.0)], shown(0.004, 2, p_value=True)
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
    places = max(1, min(3, digits))
    if p_value and 0 <= value < 10**-places:
        return f"<.{'1':0>{places}}"
    return f"{value:.{digits}f}"


def tone(mark: str) -> str:
    """What a mark of significance says of its number: ``better``, ``worse`` or nothing.

    >>> tone("***"), tone("↓"), tone("ab")
    ('better', 'worse', '')
    """
    return _TONES.get(mark[:1], "")


def tsv_cells(column: Column) -> list[str]:
    r"""A column for TSV; tabs and line ends inside text are escaped, and formulas quoted as in CSV.

    >>> tsv_cells([None, 0.1, True, "a\tb", "=SUM(A1)"])
    ['', '0.1', 'True', 'a\\tb', "'=SUM(A1)"]
    """
    return _cells(column, _tsv)


def csv_cells(column: Column) -> list[str]:
    """A column for CSV; a text that a spreadsheet would run as a formula is quoted.

    >>> csv_cells([None, -0.5, "=SUM(A1)"])
    ['', '-0.5', "'=SUM(A1)"]
    """
    return _cells(column, _csv)


_JSON_WORDS = {None: "null", True: "true", False: "false"}


def json_cells(column: Column, encode: Callable[[Any], str]) -> list[str]:
    """A column as JSON, by an encoder that is asked for whatever is no ordinary number."""

    def write(value: Cell) -> str:
        if isinstance(value, float) and math.isfinite(value):
            return repr(float(value))
        if type(value) is int:  # an encoder that indents takes ten times as long
            return repr(value)
        if type(value) is str:  # names come again in every row
            if value not in known:
                known[value] = encode(value)
            return known[value]
        if value is None or type(value) is bool:
            return _JSON_WORDS[value]
        return encode(json_value(value))

    known: dict[str, str] = {}
    return _cells(column, write)


def _cells(column: Column, write: Callable[[Cell], str]) -> list[str]:
    if isinstance(column, Coded):
        return column.each(write)
    values = values_of(column)
    kind = kind_of(column)
    if kind not in ("f", "i", "u"):
        return [write(value) for value in values]
    if kind != "f":
        return list(map(repr, values))
    import numpy as np  # loaded already: the column is an array of it

    words = _float_words(values)
    numbers = np.asarray(column)
    # A negative zero is equal to zero, but has another text.
    odd = ~np.isfinite(numbers) | ((numbers == 0) & np.signbit(numbers))
    for row in np.flatnonzero(odd).tolist():
        words[row] = write(values[row])
    return words


def _float_words(numbers: Sequence[Cell]) -> list[str]:
    """Return floats with all digits; converts each distinct value once where values repeat."""
    sample = numbers[:_TELLING]
    if 2 * len(set(sample)) > len(sample):
        return list(map(repr, numbers))
    known = {number: repr(number) for number in set(numbers)}
    return [known[number] for number in numbers]


def _tsv(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return _guarded(value, str(value).translate(_BREAKS))


def _csv(value: Cell) -> str:
    text = "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)
    return _guarded(value, text)


def _guarded(value: Cell, text: str) -> str:
    """A text that a spreadsheet would run as a formula, with a quote before it; numbers as they are."""
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
    """A text in at most so many columns, shortened in the middle.

    >>> fitted("dense-retrieval-large", 12), fitted("bm25", 12)
    ('dense-…large', 'bm25')
    """
    if text_width(text) <= width:
        return text
    keep = max(1, width - 1)
    head = _within(text, (keep + 1) // 2)
    tail = _within(text[::-1], keep // 2)[::-1]
    return f"{''.join(head)}…{''.join(tail)}"


def _within(text: str, width: int) -> list[str]:
    """The first characters that take at most so many columns."""
    taken: list[str] = []
    for character in text:
        width -= text_width(character)
        if width < 0:
            break
        taken.append(character)
    return taken


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Names in at most so many columns, of which no two become the same.

    Where shortening in the middle would make names alike, what tells them apart is kept; else they are numbered.

    >>> list(shortened(["run-with-a-long-name-1-base", "run-with-a-long-name-2-base", "bm25"], 12).values())
    ['run-with-…1…', 'run-with-…2…', 'bm25']
    """
    names = dict.fromkeys(names)
    short = {name: fitted(name, width) for name in names}
    for kind in (_by_difference, _by_number):
        for alike in _alike(short):
            short |= kind(alike, width)
    return short


def _alike(short: dict[str, str]) -> list[list[str]]:
    """The names that became the same, each group of them."""
    groups: dict[str, list[str]] = {}
    for name, text in short.items():
        groups.setdefault(text, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _by_difference(names: list[str], width: int) -> dict[str, str]:
    before = _common(names)
    after = _common([name[before:][::-1] for name in names])
    found = {}
    for name in names:
        differing = name[before : len(name) - after] + ("…" if after else "")
        space = width - 1 - text_width(differing)
        found[name] = f"{''.join(_within(name, space))}…{differing}" if space >= 0 else fitted(name, width)
    return found


def _common(names: list[str]) -> int:
    """How many characters all of them begin with."""
    first, last = min(names), max(names)
    return next(
        (i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )


def _by_number(names: list[str], width: int) -> dict[str, str]:
    found = {}
    for number, name in enumerate(names, 1):
        ending = f"…{number}"
        found[name] = "".join(_within(name, max(1, width - len(ending)))) + ending
    return found
