"""One table layer for everything that is printed: terminal, TSV, CSV, JSON, Markdown, LaTeX.

A :class:`Table` is columns and rows of plain values. Numbers keep all their digits in the formats that programs read
(TSV, CSV, JSON, frames) and are rounded in those that people read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from unicodedata import combining, east_asian_width

from rankscope.errors import SettingsError, printable
from rankscope.frames import Framed

__all__ = ["FORMATS", "Cell", "Table", "Tables", "from_json", "json_number", "json_text", "render"]

Cell: TypeAlias = str | int | float | bool | None
FORMATS = ("table", "tsv", "csv", "json", "markdown", "latex")
_INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf}
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


ROWS_IN_HTML = 60
"""Rows that a notebook shows of a table."""


@dataclass(frozen=True, repr=False)
class Table(Framed):
    """Named columns and rows of plain values.

    ``digits`` rounds numbers for people (a number for all columns, or one per column); ``best`` marks per column
    whether the highest (1) or the lowest (-1) number is to be bold, or none (0); ``marks`` adds significance marks to
    cells.

    >>> print(Table("means", ("run", "AP"), [("bm25", 0.25), ("dense", 0.5)]).text())
    run        AP
    ─────────────
    bm25   0.2500
    dense  0.5000
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    digits: int | Mapping[str, int] = 4
    best: Mapping[str, int] = field(default_factory=dict)
    marks: Mapping[tuple[int, str], str] = field(default_factory=dict)
    caption: str = ""

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        return f"<Table {self.name!r}: {rows} of {', '.join(self.columns)}>"

    def __len__(self) -> int:
        return len(self.rows)

    def frame_columns(self) -> Mapping[str, Sequence[Cell]]:
        """The columns by name."""
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}

    def column(self, name: str) -> list[Cell]:
        """All values of one column."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def without(self, columns: Collection[str]) -> Table:
        """The table without some of its columns."""
        kept = [i for i, name in enumerate(self.columns) if name not in columns]
        names = tuple(self.columns[i] for i in kept)
        return replace(self, columns=names, rows=[[row[i] for i in kept] for row in self.rows])

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dicts; undefined and infinite numbers stay what they are."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def shown(self, value: Cell, column: str) -> str:
        """A value as people read it."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            digits = self.digits if isinstance(self.digits, int) else self.digits.get(column, 4)
            if math.isnan(value):
                return "–"
            if math.isinf(value):
                return "∞" if value > 0 else "-∞"
            return f"{value:.{digits}f}"
        return printable(str(value))

    def _cells(self) -> list[list[str]]:
        return [
            [self.shown(v, c) + self.marks.get((r, c), "") for v, c in zip(row, self.columns, strict=True)]
            for r, row in enumerate(self.rows)
        ]

    def _numeric(self) -> list[bool]:
        def number(value: Cell) -> bool:
            return value is None or (isinstance(value, int | float) and not isinstance(value, bool))

        return [
            bool(self.rows) and all(number(row[i]) for row in self.rows) for i in range(len(self.columns))
        ]

    def _bold(self) -> set[tuple[int, int]]:
        """Cells that hold the best number of their column, as it is shown."""
        bold = set()
        for name, direction in self.best.items():
            if not direction:
                continue
            index = self.columns.index(name)
            numbers = [
                (direction * float(self.shown(row[index], name)), r)
                for r, row in enumerate(self.rows)
                if isinstance(row[index], int | float) and math.isfinite(row[index])  # type: ignore[arg-type]
            ]
            if len(numbers) > 1:
                top = max(numbers)[0]
                bold |= {(r, index) for value, r in numbers if value == top}
        return bold

    def text(self, width: int | None = None) -> str:
        """Aligned columns for a terminal; over-long text cells are shortened in the middle to fit ``width``."""
        numeric, cells = self._numeric(), self._cells()
        widths = [
            max([_width(name), *(_width(row[i]) for row in cells)]) for i, name in enumerate(self.columns)
        ]
        if width is not None:
            _narrow(widths, numeric, width)
        lines = [[_fit(name, w) for name, w in zip(self.columns, widths, strict=True)]]
        lines += [[_fit(cell, w) for cell, w in zip(row, widths, strict=True)] for row in cells]
        texts = ["  ".join(map(_align, line, widths, numeric)).rstrip() for line in lines]
        texts.insert(1, "─" * (sum(widths) + 2 * (len(widths) - 1)))
        return "\n".join(texts)

    def tsv(self) -> str:
        """Tab-separated values with a header; numbers with all digits; tabs and line ends inside text escaped."""
        return (
            "\n".join("\t".join(_plain(value) for value in row) for row in (self.columns, *self.rows)) + "\n"
        )

    def csv(self) -> str:
        """Comma-separated values (RFC 4180 quoting); a text that a spreadsheet would run as a formula is quoted."""
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_defused(value) for value in row] for row in self.rows)
        return out.getvalue()

    def markdown(self) -> str:
        """A Markdown table; the best numbers bold."""
        numeric, bold = self._numeric(), self._bold()
        lines = ["| " + " | ".join(_markdown(name) for name in self.columns) + " |"]
        lines.append("|" + "|".join("---:" if right else "---" for right in numeric) + "|")
        for r, row in enumerate(self._cells()):
            texts = [
                f"**{_markdown(cell)}**" if (r, c) in bold else _markdown(cell) for c, cell in enumerate(row)
            ]
            lines.append("| " + " | ".join(texts) + " |")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """A booktabs tabular with escaped text and the best numbers in bold."""
        numeric, bold = self._numeric(), self._bold()
        lines = [
            r"% \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numeric)}}}",
        ]
        lines += [r"\toprule", " & ".join(_latex(name) for name in self.columns) + r" \\", r"\midrule"]
        for r, row in enumerate(self.rows):
            texts = []
            for c, (value, name) in enumerate(zip(row, self.columns, strict=True)):
                text = _latex(self.shown(value, name)).replace("–", "--").replace("∞", r"$\infty$")
                text = rf"\textbf{{{text}}}" if (r, c) in bold else text
                mark = self.marks.get((r, name), "")
                texts.append(text + (rf"\textsuperscript{{{_latex(mark)}}}" if mark else ""))
            lines.append(" & ".join(texts) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def _repr_html_(self) -> str:
        """How a notebook shows the table: its first rows, and how many more there are."""
        from html import escape

        bold = self._bold()
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{f'<b>{escape(cell)}</b>' if (r, c) in bold else escape(cell)}</td>"
                for c, cell in enumerate(row)
            )
            + "</tr>"
            for r, row in enumerate(replace(self, rows=self.rows[:ROWS_IN_HTML])._cells())
        )
        more = len(self) - ROWS_IN_HTML
        note = f"<p>and {more:,} more row{'s' if more > 1 else ''}</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


class Tables(Mapping[str, Table]):
    """Tables by name, each made when it is asked for.

    >>> tables = Tables({"means": lambda: Table("means", ("run", "AP"), [("bm25", 0.25)])})
    >>> list(tables), tables["means"]
    (['means'], <Table 'means': 1 row of run, AP>)
    """

    def __init__(self, make: Mapping[str, Callable[[], Table]]) -> None:
        self._make = dict(make)

    def __getitem__(self, name: str) -> Table:
        return self._make[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._make

    def __iter__(self) -> Iterator[str]:
        return iter(self._make)

    def __len__(self) -> int:
        return len(self._make)


def render(tables: Iterable[Table], format: str) -> str:
    """Several tables in one of the formats that people or line-based programs read (everything but JSON)."""
    tables = list(tables)
    if format == "table":
        import shutil

        width = shutil.get_terminal_size((120, 24)).columns
        texts = [(f"{t.caption}\n" if t.caption else "") + t.text(width) + "\n" for t in tables]
        return "\n".join(texts)
    if format not in ("tsv", "csv", "markdown", "latex"):
        raise SettingsError(f"no format is called {format!r}", hint=f"choose one of {', '.join(FORMATS)}")
    texts = [getattr(table, format)() for table in tables]
    if len(tables) == 1:
        return str(texts[0])
    comment = {"tsv": "# {}\n", "csv": "# {}\n", "markdown": "### {}\n\n", "latex": "% {}\n"}[format]
    return "\n".join(comment.format(table.name) + text for table, text in zip(tables, texts, strict=True))


def json_text(command: str, settings: Mapping[str, Any], tables: Iterable[Table]) -> str:
    """The one JSON object that every command prints: NaN is null, infinities are "Infinity" and "-Infinity"."""
    import json

    from rankscope import __version__

    return (
        json.dumps(
            {
                "rankscope": __version__,
                "command": command,
                "settings": _jsonable(settings),
                "tables": {table.name: [_jsonable(record) for record in table.records()] for table in tables},
            },
            ensure_ascii=False,
            allow_nan=False,
            indent=1,
        )
        .encode("utf-8", "backslashreplace")
        .decode()
        + "\n"
    )


def json_number(value: float) -> float | str | None:
    """A number as JSON can hold it, which knows no undefined and no infinite ones.

    >>> [json_number(x) for x in (0.5, math.nan, math.inf, -math.inf)]
    [0.5, None, 'Infinity', '-Infinity']
    """
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def from_json(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """A table read back from the JSON of :func:`json_text`.

    The words for infinite numbers are numbers again in columns that hold nothing else but numbers.

    >>> from_json("t", [{"run": "Infinity", "x": 1.5}, {"run": "b", "x": "-Infinity"}]).rows
    [('Infinity', 1.5), ('b', -inf)]
    """
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    values = {column: [row.get(column) for row in rows] for column in columns}
    for column, cells in values.items():
        kinds = {type(cell) for cell in cells if cell is not None and cell not in _INFINITE}
        if kinds and kinds <= {int, float}:
            values[column] = [_INFINITE.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
    return Table(name, columns, list(zip(*values.values(), strict=True)))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(inner) for inner in value]
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    return str(value)


def _plain(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return str(value).translate({9: "\\t", 10: "\\n", 13: "\\r"})


def _defused(value: Cell) -> str:
    text = "" if value is None else repr(float(value)) if isinstance(value, float) else str(value)
    return "'" + text if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _markdown(text: str) -> str:
    for character in "\\|*_`<>[]":
        text = text.replace(character, "\\" + character)
    return text


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _fit(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    keep = max(1, width - 1)
    return text[: (keep + 1) // 2] + "…" + text[len(text) - keep // 2 :]


def _align(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def _narrow(widths: list[int], numeric: Sequence[bool], width: int) -> None:
    """Take space from the widest text column until the table fits, but never below 12."""
    while sum(widths) + 2 * (len(widths) - 1) > width:
        wide = [(w, i) for i, w in enumerate(widths) if not numeric[i] and w > 12]
        if not wide:
            return
        widths[max(wide)[1]] -= 1
