"""Rows of scores out of whatever holds them: a header, and cells with their lines.

A table has its header. ``trec_eval -q``, ``ir_measures -q`` and the tools of TREC tracks write three or four columns
without one: the last holds the value and, of four, the first holds the run. Which of the others holds the topic is seen
from the means, which stand under the topic ``all``, or from the names of measures.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from itertools import chain
from typing import Any, NamedTuple

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read.arrow_files import read_arrow_columns
from rankscope.read.formats import format_of_head
from rankscope.read.frames import as_list, by_columns, names_of
from rankscope.read.source import Source, whole_lines

__all__ = ["MEANS", "NO_SCORES", "ScoreRows", "bare_rows", "rows_of_table", "score_rows"]

MEANS = "all"
NO_SCORES = ("runid", "relstring")
"""What the names of measures begin with that are no numbers."""
_JSON = "give rows with run, topic, measure and value, such as: rankscope eval -q -f json"


class ScoreRows(NamedTuple):
    """Cells by line under the names of their columns."""

    header: list[str]
    rows: list[tuple[int | None, list[Any]]]
    run: str | None = None
    """Name of the single run, if the content states it."""
    has_means: bool | None = True
    """Whether the topic ``all`` stands for means; None if nothing tells it from a topic of that name."""


def score_rows(source: Source, is_measure: Callable[[str], bool]) -> ScoreRows:
    """The rows of a file of scores."""
    head = source.head()
    form = format_of_head(head, "scores")
    if form in ("parquet", "arrow"):
        return rows_of_table(read_arrow_columns(source, form))._replace(has_means=None)
    if form == "json":
        return _json_rows(source)
    if form == "jsonl":
        return _json_line_rows(source)
    if _is_bare(head):
        return bare_rows(_bare_lines(source), is_measure, source.label)
    rows = _delimited_rows(source)
    _, header = next(rows, (1, []))
    return ScoreRows([name.strip() for name in header], list(rows))


def rows_of_table(table: Any) -> ScoreRows:
    """The rows of a frame of any kind.

    >>> rows_of_table({"topic": ["1"], "bm25": [0.5]}).rows
    [(None, ['1', 0.5])]
    """
    table = by_columns(table)
    names = names_of(table)
    lists = [as_list(table[name]) for name in names]
    rows: list[tuple[int | None, list[Any]]] = [(None, list(row)) for row in zip(*lists, strict=True)]
    return ScoreRows([str(name) for name in names], rows)


def bare_rows(
    lines: Iterable[tuple[int, list[str]]], is_measure: Callable[[str], bool], path: str
) -> ScoreRows:
    """Three or four columns without a header, under their names.

    >>> lines = [(1, ["map", "301", "0.5"]), (2, ["map", "all", "0.5"]), (3, ["runid", "all", "bm25"])]
    >>> bare_rows(lines, str.islower, "x").header, bare_rows(lines, str.islower, "x").run
    (['measure', 'topic', 'value'], 'bm25')
    """
    rows: list[tuple[int | None, list[Any]]] = []
    run = None
    width = 0
    for line, cells in lines:
        width = width or len(cells)
        if len(cells) != width:
            what = f"{len(cells)} field{'s' * (len(cells) != 1)} where the first line has {width}"
            raise InputError(what, path=path, line=line, hint="give a value for every topic and measure")
        if "runid" in cells[:-1]:
            run = cells[-1] if width == 3 else run
        if not any(cell.startswith(NO_SCORES) for cell in cells[-3:-1]):
            rows.append((line, list(cells)))
    first, second = ({str(cells[place]) for _, cells in rows} for place in (width - 3, width - 2))
    if (MEANS in first) != (MEANS in second):
        topic_first = MEANS in first
    else:
        topic_first = _known(second, is_measure) > _known(first, is_measure)
    named = ["topic", "measure"] if topic_first else ["measure", "topic"]
    return ScoreRows(["run"] * (width - 3) + [*named, "value"], rows, run)


def _known(names: set[str], is_measure: Callable[[str], bool]) -> float:
    return sum(map(is_measure, names)) / max(1, len(names))


def _fields(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _bare_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    before = 0
    for block in whole_lines(source.line_blocks(held=True)):
        text = block.decode("utf-8", "surrogateescape")
        for number, line in enumerate(text.split("\n")[:-1], before + 1):
            if line.strip() and not line.startswith("#"):
                yield number, _fields(line)
        before += block.count(b"\n")


def _is_bare(head: bytes) -> bool:
    """Whether the lines have three or four fields, of which the last is a number and no other column is."""
    text = head.decode("utf-8", "replace")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    lines = lines[:-1] if len(head) >= 1 << 13 else lines
    rows = [_fields(line) for line in lines if not line.startswith(NO_SCORES)]
    if not rows or any("," in line for line in lines[:1]):
        return False
    width = len(rows[0])
    return (
        width in (3, 4)
        and _is_number(rows[0][-1])
        and not all(_is_number(cell) for cell in rows[0])
        and 2 * sum(len(row) == width for row in rows) >= len(rows)
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _json_rows(source: Source) -> ScoreRows:
    content = parse_json(b"".join(source.held_blocks()), source.label, _JSON)
    has_means = None
    if isinstance(content, dict) and isinstance(content.get("tables"), dict):
        content, has_means = content["tables"].get("topics"), False  # the means have a table of their own
        if content is None:
            hint = "write it with: rankscope eval -q -f json"
            raise InputError("there are no scores of topics", path=source.label, hint=hint)
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        header = list(content[0])
        rows: list[tuple[int | None, list[Any]]] = [
            (None, [row.get(name) for name in header]) for row in content
        ]
        return ScoreRows(header, rows, has_means=has_means)
    if isinstance(content, dict) and content and all(isinstance(column, list) for column in content.values()):
        return rows_of_table(content)._replace(has_means=has_means)
    raise InputError("this JSON holds no scores", path=source.label, hint=_JSON)


def _json_line_rows(source: Source) -> ScoreRows:
    rows: list[tuple[int | None, list[Any]]] = []
    header: list[str] = []
    lines = chain.from_iterable(
        block.split(b"\n")[:-1] for block in whole_lines(source.line_blocks(held=True))
    )
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = parse_json(line, source.label, _JSON, number)
            if not isinstance(row, dict):
                raise InputError("the line is not an object", path=source.label, line=number, hint=_JSON)
            header = header or list(row)
            rows.append((number, [row.get(name) for name in header]))
    return ScoreRows(header, rows, has_means=None)


def _delimited_rows(text: Source) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that has any, with its number; all lines have as many as the first."""
    content = b"".join(text.held_blocks()).decode("utf-8", "surrogateescape")
    tabs = "\t" in content.partition("\n")[0]
    reader = csv.reader(StringIO(content, newline=""), "excel-tab" if tabs else "excel")
    width = None
    try:
        for cells in reader:
            if not cells:
                continue
            width = len(cells) if width is None else width
            if len(cells) != width:
                raise InputError(
                    f"{len(cells)} cells where the first line has {width}",
                    path=text.label,
                    line=reader.line_num,
                    hint="give a cell for every system, empty if there is no score",
                )
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"not a line of CSV ({error})", path=text.label, line=reader.line_num, hint="check the quotes"
        ) from None
