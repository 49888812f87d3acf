"""One table layer for everything that is printed: terminal, TSV, CSV, JSON, Markdown, LaTeX.

A :class:`Table` is columns and rows of plain values. Numbers keep all their digits in the formats that programs read
(TSV, CSV, JSON, frames) and are rounded in those that people read. Tables are written a block of rows at a time, so
that millions of rows need no more memory than the columns they are kept in.
"""

from __future__ import annotations

import heapq
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from rankscope.cells import (
    csv_cells,
    json_cells,
    json_number,
    json_value,
    latex_text,
    markdown_text,
    shown,
    text_width,
    tsv_cells,
)
from rankscope.columns import ROWS_AT_ONCE, Cell, Coded, Column, Columns, Rows, blocks_of, kind_of, plain
from rankscope.errors import SettingsError, printable
from rankscope.frames import Framed
from rankscope.text_layout import Grid, Ink, no_ink

__all__ = [
    "FORMATS",
    "ROWS_SHOWN",
    "Cell",
    "Table",
    "Tables",
    "from_json",
    "json_number",
    "json_parts",
    "json_text",
    "render",
    "render_parts",
]

FORMATS = ("table", "tsv", "csv", "json", "markdown", "latex")
_INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf}

ROWS_IN_HTML = 60
"""Rows that a notebook shows of a table."""
ROWS_SHOWN = 40
"""Rows that a terminal shows of a table that is too long for it."""
_TOO_LONG = 150  # rows: more than anybody reads on a terminal
_NEEDS_NO_QUOTES = re.compile(r"[\w.:/@+-]+", re.ASCII).fullmatch
"""Of texts in CSV; whether another one does is for the module csv to say."""


@dataclass(frozen=True, repr=False)
class Table(Framed):
    """Named columns and rows of plain values.

    ``digits`` rounds numbers for people (a number for all columns, or one per column); ``best`` marks per column
    whether the highest (1) or the lowest (-1) number is to be bold, or none (0); ``marks`` adds significance marks to
    cells. ``p_values`` are the columns of p-values; ``ranked_by`` those that say which rows are the strongest: the
    smallest p-value or the largest other number, with whatever sign. ``spare`` columns are left out on a terminal that
    is too narrow. The ``caption`` says above the table what it shows, the ``legend`` below what its marks mean.

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
    legend: str = ""
    p_values: Collection[str] = ()
    ranked_by: Sequence[str] = ()
    spare: Sequence[str] = ()

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        return f"<Table {self.name!r}: {rows} of {', '.join(self.columns)}>"

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of_columns(cls, name: str, columns: Mapping[str, Column], **more: Any) -> Table:
        """A table that keeps its columns: lists, numpy arrays, or :class:`~rankscope.columns.Coded` ones.

        >>> Table.of_columns("means", {"run": ["bm25", "dense"], "AP": [0.25, 0.5]}).rows[1]
        ('dense', 0.5)
        """
        return cls(name, tuple(columns), Columns(list(columns.values())), **more)

    @property
    def blocks(self) -> int:
        """In how many blocks of rows the table is written."""
        return -(-len(self) // ROWS_AT_ONCE)

    def frame_columns(self) -> Mapping[str, Sequence[Cell]]:
        """The columns by name."""
        if isinstance(self.rows, Rows):
            found = self.rows.columns()
            return {
                name: values if hasattr(values, "dtype") else plain(values)  # type: ignore[misc]
                for name, values in zip(self.columns, found, strict=True)
            }
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}

    def column(self, name: str) -> list[Cell]:
        """All values of one column."""
        index = self.columns.index(name)
        if isinstance(self.rows, Rows):
            return [value for block in self.rows.blocks() for value in plain(block[index])]
        return [row[index] for row in self.rows]

    def without(self, columns: Collection[str]) -> Table:
        """The table without some of its columns."""
        kept = [i for i, name in enumerate(self.columns) if name not in columns]
        names = tuple(self.columns[i] for i in kept)
        still = {"ranked_by": self.ranked_by, "spare": self.spare}
        there = {field: [name for name in listed if name in names] for field, listed in still.items()}
        return replace(self, columns=names, rows=[tuple(row[i] for i in kept) for row in self.rows], **there)  # type: ignore[arg-type]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as dicts; undefined and infinite numbers stay what they are."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def shown(self, value: Cell, column: str) -> str:
        """A value as people read it."""
        digits = self.digits if isinstance(self.digits, int) else self.digits.get(column, 4)
        return shown(value, digits, column in self.p_values)

    def strongest(self, most: int) -> Table:
        """So many of the rows: the strongest first, where the table knows which these are, else the first ones.

        >>> table = Table("pairs", ("a", "p"), [("x", 0.5), ("y", 0.01)], p_values=("p",), ranked_by=("p",))
        >>> table.strongest(1).rows
        [('y', 0.01)]
        """
        if len(self) <= most:
            return self
        if self.ranked_by:
            order = [row for _, row in heapq.nsmallest(most, zip(self._weakness(), count(), strict=False))]
        else:
            order = list(range(most))
        place = {r: i for i, r in enumerate(order)}
        marks = {(place[r], name): mark for (r, name), mark in self.marks.items() if r in place}
        # what is best among these rows only is not marked
        there = {self.columns[c] for r, c in self._bold() if r in place}
        best = {name: direction for name, direction in self.best.items() if name in there}
        return replace(self, rows=[self.rows[r] for r in order], marks=marks, best=best)

    def _weakness(self) -> Iterator[tuple[float, ...]]:
        """What rows are sorted by: the value of a p-value, the size of another number; what is no number comes last."""
        places = [(self.columns.index(name), name in self.p_values) for name in self.ranked_by]
        for block in blocks_of(self.rows):
            yield from zip(*(_weaknesses(block[place], small) for place, small in places), strict=True)

    def _cells(self, *, marked: bool = True) -> Iterator[list[tuple[str, ...]]]:
        """The rows as people read them, a block at a time."""
        start = 0
        for block in blocks_of(self.rows):
            columns = [
                self._shown(values, name, start, marked)
                for values, name in zip(block, self.columns, strict=True)
            ]
            yield list(zip(*columns, strict=True))
            start += len(columns[0])

    def _shown(self, column: Column, name: str, start: int, marked: bool) -> list[str]:
        if isinstance(column, Coded):
            texts = column.each(lambda value: self.shown(value, name))
        else:
            texts = [self.shown(value, name) for value in plain(column)]
        if not self.marks or not marked:
            return texts
        return [text + self.marks.get((start + row, name), "") for row, text in enumerate(texts)]

    def _numeric(self) -> list[bool]:
        """Of each column, whether it has rows and nothing but numbers in them."""
        found = [len(self) > 0] * len(self.columns)
        for block in blocks_of(self.rows):
            found = [so_far and _numbers(column) for so_far, column in zip(found, block, strict=True)]
        return found

    def _bold(self) -> set[tuple[int, int]]:
        """Cells that hold the best number of their column, as it is shown."""
        bold = set()
        for name, direction in self.best.items():
            if not direction or name in self.p_values:
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

    def text(self, width: int | None = None, ink: Ink = no_ink) -> str:
        """Aligned columns for a terminal of some width: see :class:`rankscope.text_layout.Grid`."""
        return "".join(self._grid().parts(width, ink))

    def titled(self, width: int | None = None, ink: Ink = no_ink) -> str:
        """The same between its title and its legend."""
        return "".join(self._text_parts(width, ink))

    def _text_parts(self, width: int | None, ink: Ink) -> Iterator[str]:
        yield from self._grid().parts(width, ink, self.caption, self.legend)

    def _grid(self) -> Grid:
        marks = {(r, self.columns.index(name)): mark for (r, name), mark in self.marks.items()}
        return Grid(
            self.columns, lambda: self._cells(marked=False), self._numeric(), self._bold(), marks, self.spare
        )

    def fits(self, more: int = 0) -> bool:
        """Whether the table, with ``more`` columns of text, is no wider than the terminal, without shortening."""
        return text_width(self.text().partition("\n")[2].partition("\n")[0]) + more <= _terminal_width()

    def tsv(self) -> str:
        """Tab-separated values with a header; numbers with all digits; tabs and line ends inside text escaped."""
        return "".join(self._tsv_parts())

    def _tsv_parts(self) -> Iterator[str]:
        yield "\t".join(tsv_cells(self.columns)) + "\n"
        for block in blocks_of(self.rows):
            rows = zip(*map(tsv_cells, block), strict=True)
            yield "\n".join(map("\t".join, rows)) + "\n"

    def csv(self) -> str:
        """Comma-separated values (RFC 4180 quoting); a text that a spreadsheet would run as a formula is quoted."""
        return "".join(self._csv_parts())

    def _csv_parts(self) -> Iterator[str]:
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")

        def written(rows: Iterable[Iterable[str]]) -> str:
            writer.writerows(rows)
            text = out.getvalue()
            out.seek(0)
            out.truncate()
            return text

        def quoted(text: str) -> str:  # as a cell among others: alone in its row it might be quoted otherwise
            return text if _NEEDS_NO_QUOTES(text) else written([(text, "")])[:-2]

        def quoted_once(place: int, column: Coded) -> list[Cell]:
            """The texts of a column; those of its different values are kept for the next block."""
            values, texts = kept.get(place, (None, []))
            if values is not column.values:
                texts = list(map(quoted, csv_cells(column.values)))
                kept[place] = (column.values, texts)
            return Coded(texts, column.codes).tolist()

        kept: dict[int, tuple[Sequence[Cell] | None, Sequence[str]]] = {}
        yield written([self.columns])
        for block in blocks_of(self.rows):
            if len(block) > 1 and all(isinstance(one, Coded) or kind_of(one) == "f" for one in block):
                # a hot place: what needs quotes is found out once for each different text
                cells = [
                    quoted_once(place, one) if isinstance(one, Coded) else csv_cells(one)
                    for place, one in enumerate(block)
                ]
                yield "\n".join(map(",".join, zip(*cells, strict=True))) + "\n"
            else:
                yield written(zip(*map(csv_cells, block), strict=True))

    def markdown(self) -> str:
        """A Markdown table; the best numbers bold."""
        return "".join(self._markdown_parts())

    def _markdown_parts(self) -> Iterator[str]:
        numeric, bold = self._numeric(), self._bold()
        yield "| " + " | ".join(markdown_text(name) for name in self.columns) + " |\n"
        yield "|" + "|".join("---:" if right else "---" for right in numeric) + "|\n"
        for number, row in enumerate(row for cells in self._cells() for row in cells):
            texts = [
                f"**{markdown_text(cell)}**" if (number, c) in bold else markdown_text(cell)
                for c, cell in enumerate(row)
            ]
            yield "| " + " | ".join(texts) + " |\n"

    def latex(self) -> str:
        """A booktabs tabular with escaped text and the best numbers in bold."""
        return "".join(self._latex_parts())

    def _latex_parts(self) -> Iterator[str]:
        numeric, bold = self._numeric(), self._bold()
        yield "% \\usepackage{booktabs}\n"
        yield f"\\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numeric)}}}\n"
        yield "\\toprule\n" + " & ".join(latex_text(name) for name in self.columns) + " \\\\\n\\midrule\n"
        for number, row in enumerate(self.rows):
            texts = []
            for c, (value, name) in enumerate(zip(row, self.columns, strict=True)):
                text = latex_text(self.shown(value, name))
                text = rf"\textbf{{{text}}}" if (number, c) in bold else text
                mark = self.marks.get((number, name), "")
                texts.append(text + (rf"\textsuperscript{{{latex_text(mark)}}}" if mark else ""))
            yield " & ".join(texts) + " \\\\\n"
        yield "\\bottomrule\n\\end{tabular}\n"

    def _json_parts(self, encode: Callable[[Any], str]) -> Iterator[str]:
        """The rows as a list of JSON objects, as they stand inside the document of :func:`json_parts`."""
        places = {name: index for index, name in enumerate(self.columns)}
        names = [f"\n    {encode(str(name))}: " for name in places]
        separator = "["
        for block in blocks_of(self.rows):
            columns = [
                [name + text for text in json_cells(block[index], encode)]
                for name, index in zip(names, places.values(), strict=True)
            ]
            rows = map(",".join, zip(*columns, strict=True))
            yield separator + ",".join(["\n   {" + row + "\n   }" for row in rows])
            separator = ","
        yield "\n  ]" if len(self) else "[]"

    def _repr_html_(self) -> str:
        """How a notebook shows the table: its strongest or first rows, and how many more there are."""
        from html import escape

        part = self.strongest(ROWS_IN_HTML)
        bold = part._bold()
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{f'<b>{escape(cell)}</b>' if (r, c) in bold else escape(cell)}</td>"
                for c, cell in enumerate(row)
            )
            + "</tr>"
            for r, row in enumerate(row for cells in part._cells() for row in cells)
        )
        more = len(self) - len(part)
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


def render(tables: Iterable[Table], format: str, *, ink: Ink = no_ink, rest: str = "") -> str:
    """Several tables in one of the formats that people or line-based programs read (everything but JSON).

    Text is as wide as the terminal. If ``rest`` says where all rows are, tables that are too long to read are cut.
    """
    return "".join(render_parts(tables, format, ink=ink, rest=rest))


def render_parts(tables: Iterable[Table], format: str, *, ink: Ink = no_ink, rest: str = "") -> Iterator[str]:
    """The text of :func:`render` piece by piece, each of a block of rows."""
    tables = list(tables)
    if format == "table":
        width = _terminal_width()
        for number, whole in enumerate(tables):
            table, note = _cut(whole, rest) if rest else (whole, "")
            yield "\n" if number else ""
            yield from table._text_parts(width, ink)
            yield f"\n{ink(note, 'faint')}\n" if note else "\n"
        return
    if format not in ("tsv", "csv", "markdown", "latex"):
        raise SettingsError(f"no format is called {format!r}", hint=f"choose one of {', '.join(FORMATS)}")
    comment = {"tsv": "# {}\n", "csv": "# {}\n", "markdown": "### {}\n\n", "latex": "% {}\n"}[format]
    for number, table in enumerate(tables):
        title, legend = _around(table, format)
        if len(tables) > 1 or title:
            yield ("\n" if number else "") + comment.format(title or table.name)
        yield from getattr(table, f"_{format}_parts")()
        yield legend


def _around(table: Table, format: str) -> tuple[str, str]:
    """The title and the legend of a table in a format that people read; programs read tables alone."""
    if format not in ("markdown", "latex"):
        return "", ""
    legend = printable(table.legend)
    below = f"% {legend}\n" if format == "latex" else f"\n{markdown_text(legend)}\n"
    return printable(table.caption), below if legend else ""


def _cut(table: Table, rest: str) -> tuple[Table, str]:
    """What people see of a table that may be too long to read, and a line that says where the rest is."""
    if len(table) <= _TOO_LONG:
        return table, ""
    which = f"the {ROWS_SHOWN} strongest" if table.ranked_by else f"the first {ROWS_SHOWN}"
    by = f" by {table.ranked_by[0]}" if table.ranked_by else ""
    return table.strongest(ROWS_SHOWN), f"{which} of {len(table):,} rows{by}; {rest}"


def _terminal_width() -> int:
    """Return the width of the terminal, as ``shutil.get_terminal_size`` does, which takes long to import."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 120  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 120


def json_text(command: str, settings: Mapping[str, Any], tables: Iterable[Table]) -> str:
    """The one JSON object that every command prints: NaN is null, infinities are "Infinity" and "-Infinity"."""
    return "".join(json_parts(command, settings, tables))


def json_parts(command: str, settings: Mapping[str, Any], tables: Iterable[Table]) -> Iterator[str]:
    """The text of :func:`json_text` piece by piece, each of a block of rows."""
    import json

    from rankscope import __version__

    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1)

    def cell(value: Any) -> str:
        return encoder.encode(value).replace("\n", "\n    ")

    head = {"rankscope": __version__, "command": command, "settings": json_value(settings)}
    yield _utf8(encoder.encode(head).removesuffix("\n}") + ',\n "tables": {')
    named = {table.name: table for table in tables}
    for number, (name, table) in enumerate(named.items()):
        yield _utf8(("," if number else "") + f"\n  {encoder.encode(name)}: ")
        yield from map(_utf8, table._json_parts(cell))
    yield "\n }\n}\n" if named else "}\n}\n"


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


def _weaknesses(column: Column, small: bool) -> list[float]:
    numbers = (value if isinstance(value, int | float) else math.nan for value in plain(column))
    return [math.inf if math.isnan(x) else x if small else -abs(x) for x in numbers]


def _numbers(column: Column) -> bool:
    """Whether there is nothing but numbers, and places where one is missing."""
    if kind := kind_of(column):
        return kind in "iuf"
    kinds = set(map(type, column.values if isinstance(column, Coded) else column))
    return all(issubclass(kind, int | float | None) and not issubclass(kind, bool) for kind in kinds)


def _utf8(text: str) -> str:
    """Text that can be written as UTF-8: what stands for other bytes becomes an escape."""
    return text.encode("utf-8", "backslashreplace").decode()
