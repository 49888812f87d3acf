"""Tables, and their output as text, TSV, CSV, JSON, Markdown and LaTeX.

A :class:`Table` has named columns and rows of plain values. Numbers keep all digits in machine-readable formats (TSV,
CSV, JSON, frames) and are rounded in the others. Tables are written in blocks of rows, so that writing millions of rows
needs no memory beyond their columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankscope.cells import (
    csv_cells,
    format_cell,
    json_cells,
    json_value,
    latex_text,
    markdown_text,
    quote_csv,
    tsv_cells,
)
from rankscope.columns import (
    ROWS_AT_ONCE,
    CategoricalColumn,
    Column,
    Columns,
    Mapped,
    Rows,
    SelectedColumns,
    dtype_kind,
    iter_blocks,
    to_values,
)
from rankscope.columns import Cell as Cell
from rankscope.errors import SettingsError, printable
from rankscope.frames import FrameMixin
from rankscope.lazy import numpy as np
from rankscope.text_layout import Grid, Ink, no_ink, terminal_columns

if TYPE_CHECKING:
    from rankscope.arrays import Floats

FORMATS = ("table", "tsv", "csv", "json", "markdown", "latex")
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}

ROWS_IN_HTML = 60
"""Number of rows of a table that a notebook shows."""
ROWS_SHOWN = 40
"""Number of rows that a terminal shows of a long table."""
_MAX_ROWS_IN_TERMINAL = 150  # Longer tables are shortened to ROWS_SHOWN.


@dataclass(frozen=True, repr=False)
class Table(FrameMixin):
    """Named columns and rows of plain values.

    Parameters
    ----------
    name
        Key of the table in JSON and in results.
    columns
        Names of the columns.
    rows
        Rows of plain values, or :class:`~rankscope.columns.Rows`.
    digits
        Decimals in human-readable formats, for all columns or by column.
    best
        Whether the highest (1), the lowest (-1) or no (0) number of a column is bold.
    marks
        Significance marks by row and column.
    caption
        Title above the table.
    legend
        Meaning of the marks, below the table.
    p_values
        Columns of p-values.
    ranked_by
        Columns that define the strongest rows: the smallest p-value, or the largest absolute value.
    spare
        Columns that a narrow terminal may leave out.

    Examples
    --------

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
    def from_columns(cls, name: str, columns: Mapping[str, Column], **more: Any) -> Table:
        """Return a table stored as columns: lists, arrays, or :class:`~rankscope.columns.CategoricalColumn`.

        >>> Table.from_columns("means", {"run": ["bm25", "dense"], "AP": [0.25, 0.5]}).rows[1]
        ('dense', 0.5)
        """
        return cls(name, tuple(columns), Columns(list(columns.values())), **more)

    @property
    def blocks(self) -> int:
        """Number of blocks in which the table is written."""
        return -(-len(self) // ROWS_AT_ONCE)

    def frame_columns(self) -> Mapping[str, Sequence[Cell]]:
        """Return the columns by name."""
        if isinstance(self.rows, Rows):
            columns = self.rows.columns()
            return {
                name: values if hasattr(values, "dtype") else to_values(values)  # type: ignore[misc]
                for name, values in zip(self.columns, columns, strict=True)
            }
        return {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}

    def column(self, name: str) -> list[Cell]:
        """Return the values of a column."""
        index = self.columns.index(name)
        if isinstance(self.rows, Rows):
            return [value for block in self.rows.blocks() for value in to_values(block[index])]
        return [row[index] for row in self.rows]

    def without(self, columns: Collection[str]) -> Table:
        """Return the table without these columns."""
        kept = [i for i, name in enumerate(self.columns) if name not in columns]
        names = tuple(self.columns[i] for i in kept)
        ranked_by, spare = ([name for name in own if name in names] for own in (self.ranked_by, self.spare))
        rows: Sequence[Sequence[Cell]]
        if isinstance(self.rows, Rows):
            rows = SelectedColumns(self.rows, kept)
        else:
            rows = [tuple(row[i] for i in kept) for row in self.rows]
        return replace(self, columns=names, rows=rows, ranked_by=ranked_by, spare=spare)

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as dicts; NaN and infinities stay floats."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def format_cell(self, value: Cell, column: str) -> str:
        """Return a value of a column as human-readable text."""
        return format_cell(value, self._get_digits(column), column in self.p_values)

    def _get_digits(self, column: str) -> int:
        return self.digits if isinstance(self.digits, int) else self.digits.get(column, 4)

    def strongest_rows(self, max_rows: int) -> Table:
        """Return the table with its strongest rows, or its first ones if ``ranked_by`` is empty.

        >>> table = Table("pairs", ("a", "p"), [("x", 0.5), ("y", 0.01)], p_values=("p",), ranked_by=("p",))
        >>> table.strongest_rows(1).rows
        [('y', 0.01)]
        """
        if len(self) <= max_rows:
            return self
        order = self._rank_rows(max_rows) if self.ranked_by else list(range(max_rows))
        position = {r: i for i, r in enumerate(order)}
        cells = [(r, name) for r in order for name in self.columns]
        marks = {(position[r], name): self.marks[r, name] for r, name in cells if (r, name) in self.marks}
        # Only cells that are best among all rows are bold.
        best_columns = {self.columns[c] for r, c in self._best_cells() if r in position}
        best = {name: direction for name, direction in self.best.items() if name in best_columns}
        return replace(self, rows=[self.rows[r] for r in order], marks=marks, best=best)

    def _rank_rows(self, max_rows: int) -> list[int]:
        """Return the strongest rows: p-values ascending, absolute values descending, missing numbers last."""
        columns = [(self.columns.index(name), name in self.p_values) for name in self.ranked_by]
        best: list[tuple[float, ...]] = []
        start = 0
        for block in iter_blocks(self.rows):
            keys = [_sort_keys(block[index], is_p_value) for index, is_p_value in columns]
            rows = np.lexsort(keys[::-1])[:max_rows]  # The last key is the primary one.
            best += zip(*(key[rows].tolist() for key in keys), (start + rows).tolist(), strict=True)
            start += len(keys[0])
        return [int(row) for *_, row in sorted(best)[:max_rows]]

    def _cells(self, *, marked: bool = True) -> Iterator[list[tuple[str, ...]]]:
        """Yield blocks of rows of human-readable texts."""
        start = 0
        for block in iter_blocks(self.rows):
            named = zip(block, self.columns, strict=True)
            columns = [self._format_column(values, name, start, marked) for values, name in named]
            yield list(zip(*columns, strict=True))
            start += len(columns[0])

    def _format_column(self, column: Column, name: str, start: int, marked: bool) -> list[str]:
        if isinstance(column, CategoricalColumn):
            texts = column.map_values(lambda value: self.format_cell(value, name))
        else:
            texts = [self.format_cell(value, name) for value in to_values(column)]
        if not self.marks or not marked:
            return texts
        return [text + self.marks.get((start + row, name), "") for row, text in enumerate(texts)]

    def _numeric_columns(self) -> list[bool]:
        """Return for each column whether it has rows, all numbers or missing."""
        is_numeric = [len(self) > 0] * len(self.columns)
        for block in iter_blocks(self.rows):
            known = zip(is_numeric, block, strict=True)
            is_numeric = [before and _is_numeric(column) for before, column in known]
        return is_numeric

    def _best_cells(self) -> set[tuple[int, int]]:
        """Return the cells with the best number of their column, compared as rounded."""
        cells = set()
        for name, direction in self.best.items():
            if not direction or name in self.p_values:
                continue
            index = self.columns.index(name)
            numbers = [
                (direction * float(row[index]), r)  # type: ignore[arg-type]
                for r, row in enumerate(self.rows)
                if isinstance(row[index], int | float) and math.isfinite(row[index])  # type: ignore[arg-type]
            ]
            if len(numbers) < 2:
                continue
            best = max(numbers)[0]
            top = float(self.format_cell(direction * best, name))
            unit = 10.0 ** -self._get_digits(name)
            near = [r for number, r in numbers if best - number < 2 * unit]  # Others differ when rounded.
            cells |= {(r, index) for r in near if float(self.format_cell(self.rows[r][index], name)) == top}
        return cells

    def text(self, width: int | None = None, ink: Ink = no_ink) -> str:
        """Return aligned text for a terminal: see :class:`rankscope.text_layout.Grid`."""
        return "".join(self._text_parts(width, ink))

    def titled_text(self, width: int | None = None, ink: Ink = no_ink) -> str:
        """Return aligned text with caption and legend."""
        return "".join(self._text_parts(width, ink, self.caption, self.legend))

    def _text_parts(self, width: int | None, ink: Ink, *title_and_legend: str) -> Iterator[str]:
        return self._grid(self._best_cells()).parts(width, ink, *title_and_legend)

    def _grid(self, best: Set[tuple[int, int]]) -> Grid:
        marks = {(r, self.columns.index(name)): mark for (r, name), mark in self.marks.items()}
        spare = list(map(self.columns.index, self.spare))
        return Grid(
            self.columns, lambda: self._cells(marked=False), self._numeric_columns(), best, marks, spare
        )

    def fits(self, more: int = 0) -> bool:
        """Return whether the unshortened table, ``more`` characters wider, fits the terminal."""
        grid = self._grid(set())
        return grid.total(grid.filled_columns()) + more <= terminal_columns(120)

    def tsv(self) -> str:
        """Return tab-separated values with a header; numbers with all digits, tabs and line ends in text escaped."""
        return "".join(self._tsv_parts())

    def _tsv_parts(self) -> Iterator[str]:
        return self._delimited_parts("\t", tsv_cells(self.columns), tsv_cells)

    def csv(self) -> str:
        """Return comma-separated values (RFC 4180); texts that a spreadsheet would run as formulas get a quote."""
        return "".join(self._csv_parts())

    def _csv_parts(self) -> Iterator[str]:
        return self._delimited_parts(",", map(quote_csv, self.columns), csv_cells)

    def _delimited_parts(
        self, separator: str, header: Iterable[str], to_cells: Callable[[Column, Mapped[str]], list[str]]
    ) -> Iterator[str]:
        yield separator.join(header) + "\n"
        cache: Mapped[str] = {}
        for block in iter_blocks(self.rows):
            columns = [to_cells(column, cache) for column in block]
            if len(columns) == 1 and separator == ",":
                columns = [[text or '""' for text in columns[0]]]  # An empty line would be no row.
            # Joining all cells at once takes half the time of joining each row.
            width, n_rows = 2 * len(columns), len(columns[0])
            pieces = [separator] * (width * n_rows)
            for index, texts in enumerate(columns):
                pieces[2 * index :: width] = texts
            pieces[width - 1 :: width] = ["\n"] * n_rows
            yield "".join(pieces)

    def markdown(self) -> str:
        """Return a Markdown table with the best numbers in bold."""
        return "".join(self._markdown_parts())

    def _markdown_parts(self) -> Iterator[str]:
        numeric, bold = self._numeric_columns(), self._best_cells()
        yield "| " + " | ".join(markdown_text(name) for name in self.columns) + " |\n"
        yield "|" + "|".join("---:" if right else "---" for right in numeric) + "|\n"
        for number, row in enumerate(row for cells in self._cells() for row in cells):
            texts = map(markdown_text, row)
            cells = [f"**{text}**" if (number, c) in bold else text for c, text in enumerate(texts)]
            yield "| " + " | ".join(cells) + " |\n"

    def latex(self) -> str:
        """Return a booktabs tabular with escaped text and the best numbers in bold."""
        return "".join(self._latex_parts())

    def _latex_parts(self) -> Iterator[str]:
        numeric, bold = self._numeric_columns(), self._best_cells()
        yield "% \\usepackage{booktabs}\n"
        yield f"\\begin{{tabular}}{{{''.join('r' if n else 'l' for n in numeric)}}}\n"
        yield "\\toprule\n" + " & ".join(latex_text(name) for name in self.columns) + " \\\\\n\\midrule\n"
        for number, row in enumerate(self.rows):
            texts = []
            for c, (value, name) in enumerate(zip(row, self.columns, strict=True)):
                text = latex_text(self.format_cell(value, name))
                text = rf"\textbf{{{text}}}" if (number, c) in bold else text
                mark = self.marks.get((number, name), "")
                is_raised = mark and not mark.startswith(" ")  # " ±0.1" stands beside the number
                mark = latex_text(mark)
                texts.append(text + (rf"\textsuperscript{{{mark}}}" if is_raised else mark))
            yield " & ".join(texts) + " \\\\\n"
        yield "\\bottomrule\n\\end{tabular}\n"

    def _json_parts(self, encode: Callable[[Any], str]) -> Iterator[str]:
        """Yield the rows as a list of JSON objects, indented for the document of :func:`json_parts`."""
        indices = {name: index for index, name in enumerate(self.columns)}
        names = [f"\n    {encode(str(name))}: " for name in indices]
        separator = "["
        cache: Mapped[str] = {}
        for block in iter_blocks(self.rows):
            columns = [
                [name + text for text in json_cells(block[index], encode, cache)]
                for name, index in zip(names, indices.values(), strict=True)
            ]
            rows = map(",".join, zip(*columns, strict=True))
            yield separator + ",".join(["\n   {" + row + "\n   }" for row in rows])
            separator = ","
        yield "\n  ]" if len(self) else "[]"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the strongest or first rows, and the number of further rows."""
        return self.html(ROWS_IN_HTML)

    def html(self, max_rows: int | None = None) -> str:
        """Return HTML of all rows, or of the strongest or first rows with the number of further rows."""
        from html import escape

        part = self if max_rows is None else self.strongest_rows(max_rows)
        bold = part._best_cells()
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = ""
        for r, row in enumerate(row for cells in part._cells() for row in cells):
            texts = [f"<b>{escape(c)}</b>" if (r, i) in bold else escape(c) for i, c in enumerate(row)]
            body += "<tr>" + "".join(f"<td>{text}</td>" for text in texts) + "</tr>"
        n_more = len(self) - len(part)
        note = f"<p>and {n_more:,} more row{'s' if n_more > 1 else ''}</p>" if n_more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


class Tables(Mapping[str, Table]):
    """Lazily computed tables by name.

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
    """Return several tables in a format other than JSON.

    Text is as wide as the terminal. Long tables are shortened if ``rest`` states where to find all rows.
    """
    return "".join(render_parts(tables, format, ink=ink, rest=rest))


def render_parts(tables: Iterable[Table], format: str, *, ink: Ink = no_ink, rest: str = "") -> Iterator[str]:
    """Yield the text of :func:`render` in blocks of rows."""
    tables = list(tables)
    if format == "table":
        width = terminal_columns(120)
        for number, whole in enumerate(tables):
            table, note = _shorten(whole, rest) if rest else (whole, "")
            yield "\n" if number else ""
            yield from table._text_parts(width, ink, table.caption, table.legend)
            yield f"\n{ink(note, 'faint')}\n" if note else "\n"
        return
    if format not in ("tsv", "csv", "markdown", "latex"):
        raise SettingsError(f"no format is called {format!r}", hint=f"choose one of {', '.join(FORMATS)}")
    comments = {"markdown": "### {}\n\n", "latex": "% \\caption{{{}}}\n"}
    for number, table in enumerate(tables):
        title, legend = _title_and_legend(table, format)
        if len(tables) > 1 or title:
            yield ("\n" if number else "") + comments.get(format, "# {}\n").format(title or table.name)
        yield from getattr(table, f"_{format}_parts")()
        yield legend


def _title_and_legend(table: Table, format: str) -> tuple[str, str]:
    """Return the title and legend of a table; both are empty in machine-readable formats."""
    if format not in ("markdown", "latex"):
        return "", ""
    legend = printable(table.legend)
    if format == "markdown":
        return printable(table.caption), f"\n{markdown_text(legend)}\n" if legend else ""
    below = f"\\par\\smallskip{{\\footnotesize {latex_text(legend)}}}\n" if legend else ""
    return latex_text(printable(table.caption)), below


def _shorten(table: Table, rest: str) -> tuple[Table, str]:
    """Return a table shortened for a terminal, and a note on its remaining rows."""
    if len(table) <= _MAX_ROWS_IN_TERMINAL:
        return table, ""
    selection = f"the {ROWS_SHOWN} strongest" if table.ranked_by else f"the first {ROWS_SHOWN}"
    by = f" by {table.ranked_by[0]}" if table.ranked_by else ""
    return table.strongest_rows(ROWS_SHOWN), f"{selection} of {len(table):,} rows{by}; {rest}"


def json_text(command: str, settings: Mapping[str, Any], tables: Iterable[Table]) -> str:
    """Return the JSON object that a command prints: NaN is null, infinities are "Infinity" and "-Infinity"."""
    return "".join(json_parts(command, settings, tables))


def json_parts(command: str, settings: Mapping[str, Any], tables: Iterable[Table]) -> Iterator[str]:
    """Yield the text of :func:`json_text` in blocks of rows."""
    import json

    from rankscope import __version__

    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1)

    def cell(value: Any) -> str:
        return encoder.encode(value).replace("\n", "\n    ")

    head = {"rankscope": __version__, "command": command, "settings": json_value(settings)}
    yield _escape_surrogates(encoder.encode(head).removesuffix("\n}") + ',\n "tables": {')
    named = {table.name: table for table in tables}
    for number, (name, table) in enumerate(named.items()):
        yield _escape_surrogates(("," if number else "") + f"\n  {encoder.encode(name)}: ")
        yield from map(_escape_surrogates, table._json_parts(cell))
    yield "\n }\n}\n" if named else "}\n}\n"


def from_json(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of rows from the JSON of :func:`json_text`.

    "Infinity" and "-Infinity" become floats in columns whose other values are all numbers.

    >>> from_json("t", [{"run": "Infinity", "x": 1.5}, {"run": "b", "x": "-Infinity"}]).rows
    [('Infinity', 1.5), ('b', -inf)]
    """
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    values = {column: [row.get(column) for row in rows] for column in columns}
    for column, cells in values.items():
        kinds = {type(cell) for cell in cells if cell is not None and cell not in _INFINITIES}
        if kinds and kinds <= {int, float}:
            values[column] = [_INFINITIES.get(c, c) if isinstance(c, str) else c for c in cells]
    return Table(name, columns, list(zip(*values.values(), strict=True)))


def _sort_keys(column: Column, small: bool) -> Floats:
    if dtype_kind(column) != "f":
        column = [value if isinstance(value, int | float) else math.nan for value in to_values(column)]
    numbers = np.asarray(column, float)
    return np.where(np.isnan(numbers), math.inf, numbers if small else -np.abs(numbers))


def _is_numeric(column: Column) -> bool:
    """Return whether all values are numbers or missing."""
    if kind := dtype_kind(column):
        return kind in "iuf"
    kinds = set(map(type, column.values if isinstance(column, CategoricalColumn) else column))
    return all(issubclass(kind, int | float | None) and not issubclass(kind, bool) for kind in kinds)


def _escape_surrogates(text: str) -> str:
    """Escape surrogates, which stand for undecodable bytes and cannot be encoded as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
