"""Read rows of scores: a header, and cells with their lines.

Tables have a header. ``trec_eval -q``, ``ir_measures -q`` and the tools of TREC tracks write three or four columns
without one: the last has the value and, of four, the first has the run. The means, whose topic is ``all``, or else the
names of measures show which of the other two has the topic.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read.arrow_files import read_arrow
from rankscope.read.columns import as_list
from rankscope.read.formats import detect_format_of_head
from rankscope.read.frames import as_columns, column_names
from rankscope.read.json_lists import iterate_objects
from rankscope.read.nuggets import iterate_nuggets
from rankscope.read.source import HEAD, Source, iterate_lines

MEANS = "all"
NO_SCORES = ("runid", "relstring")
"""Prefixes of the names of rows whose values are no numbers."""
_JSON = "give rows with run, topic, measure and value, such as: rankscope eval -q -f json"


class ScoreRows(NamedTuple):
    """Header of a table, and the cells of its rows with their lines."""

    header: list[str]
    rows: list[tuple[int | None, list[Any]]]
    run: str | None = None
    """Name of the single run, if the content states it."""
    has_means: bool | None = True
    """Whether the rows of the topic ``all`` are means; None if it may be a topic of that name."""


def read_score_rows(
    source: Source, is_measure: Callable[[str], bool] | None, missing: str = "zero"
) -> ScoreRows:
    """Read the rows of a file of scores, or of nuggets; topics without nuggets are ``missing``.

    Without ``is_measure`` it is a table with a header.
    """
    head = source.head()
    file_format = detect_format_of_head(head, "scores")
    if file_format in ("parquet", "arrow"):
        return rows_from_table(read_arrow(source, file_format))._replace(has_means=None)
    if file_format == "json":
        return _read_json_rows(source)
    if file_format == "jsonl":
        objects = list(iterate_objects(source, _JSON))
        names = list(dict.fromkeys(name for _, row in objects for name in row))
        if "nuggets" in names:
            rows: list[tuple[int | None, list[Any]]] = [
                (nuggets.line, [nuggets.run, nuggets.topic, measure, value])
                for nuggets in iterate_nuggets(objects, source.label)
                for measure, value in nuggets.scores(skip=missing == "skip")
            ]
            return ScoreRows(["run", "topic", "measure", "value"], rows, has_means=False)
        return ScoreRows(
            names, [(number, [row.get(name) for name in names]) for number, row in objects], has_means=None
        )
    if is_measure is not None and _is_bare(head):
        return parse_bare_rows(_iterate_bare_lines(source), is_measure, source.label)
    lines = _iterate_delimited_rows(source)
    _, header = next(lines, (1, []))
    return ScoreRows([name.strip() for name in header], list(lines))


def open_score_rows(
    source: Any, is_measure: Callable[[str], bool] | None, missing: str = "zero", label: str = "<bytes>"
) -> tuple[str, ScoreRows]:
    """Return the label and the rows of a file or a frame."""
    if not isinstance(source, str | Path | bytes):
        return "the table", rows_from_table(source)
    text = Source.open(source, label)
    return text.label, read_score_rows(text, is_measure, missing)


def rows_from_table(table: Any) -> ScoreRows:
    """Return the rows of a frame of any kind.

    >>> rows_from_table({"topic": ["1"], "bm25": [0.5]}).rows
    [(None, ['1', 0.5])]
    """
    table = as_columns(table)
    names = column_names(table)
    lists = [as_list(table[name]) for name in names]
    rows: list[tuple[int | None, list[Any]]] = [(None, list(row)) for row in zip(*lists, strict=True)]
    return ScoreRows([str(name) for name in names], rows)


def parse_bare_rows(
    lines: Iterable[tuple[int, list[str]]], is_measure: Callable[[str], bool], path: str
) -> ScoreRows:
    """Name three or four columns without a header.

    >>> lines = [(1, ["map", "301", "0.5"]), (2, ["map", "all", "0.5"]), (3, ["runid", "all", "bm25"])]
    >>> rows = parse_bare_rows(lines, str.islower, "x")
    >>> rows.header, rows.run
    (['measure', 'topic', 'value'], 'bm25')
    """
    rows: list[tuple[int | None, list[Any]]] = []
    run = None
    width = 0
    for line, cells in lines:
        width = width or len(cells)
        if len(cells) != width:
            problem = f"{len(cells)} field{'s' * (len(cells) != 1)} where the first line has {width}"
            raise InputError(problem, path=path, line=line, hint="give a value for every topic and measure")
        if "runid" in cells[:-1]:
            run = cells[-1] if width == 3 else run
        if not any(cell.startswith(NO_SCORES) for cell in cells[-3:-1]):
            rows.append((line, list(cells)))
    first, second = ({str(cells[column]) for _, cells in rows} for column in (width - 3, width - 2))
    if (MEANS in first) != (MEANS in second):
        topic_first = MEANS in first
    else:
        topic_first = _share_of_measures(second, is_measure) > _share_of_measures(first, is_measure)
    names = ["topic", "measure"] if topic_first else ["measure", "topic"]
    return ScoreRows(["run"] * (width - 3) + [*names, "value"], rows, run)


def _share_of_measures(names: set[str], is_measure: Callable[[str], bool]) -> float:
    return sum(map(is_measure, names)) / max(1, len(names))


def _split_fields(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _iterate_bare_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    for number, line in iterate_lines(source.line_blocks(in_memory=True)):
        text = line.decode("utf-8", "surrogateescape")
        if text.strip() and not text.startswith("#"):
            yield number, _split_fields(text)


def _is_bare(head: bytes) -> bool:
    """Return whether the lines have three or four fields, and only the last field is always a number."""
    text = head.decode("utf-8", "replace")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    lines = lines[:-1] if len(head) >= HEAD else lines
    rows = [_split_fields(line) for line in lines if not line.startswith(NO_SCORES)]
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


def _read_json_rows(source: Source) -> ScoreRows:
    content = parse_json(b"".join(source.memory_blocks()), source.label, _JSON)
    has_means = None
    if isinstance(content, dict) and isinstance(content.get("tables"), dict):
        content, has_means = content["tables"].get("topics"), False  # another table has the means
        if content is None:
            hint = "write it with: rankscope eval -q -f json"
            raise InputError("there are no scores of topics", path=source.label, hint=hint)
    has_rows = isinstance(content, list) and content and all(isinstance(row, dict) for row in content)
    has_columns = (
        isinstance(content, dict) and content and all(isinstance(column, list) for column in content.values())
    )
    if has_rows or has_columns:
        return rows_from_table(content)._replace(has_means=has_means)
    raise InputError("this JSON has no scores", path=source.label, hint=_JSON)


def _iterate_delimited_rows(text: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of every line with data; all lines must have as many cells as the first."""
    content = b"".join(text.memory_blocks()).decode("utf-8", "surrogateescape")
    has_tabs = "\t" in content.partition("\n")[0]
    reader = csv.reader(StringIO(content, newline=""), "excel-tab" if has_tabs else "excel")
    width = None
    try:
        for cells in reader:
            if not cells:
                continue
            width = len(cells) if width is None else width
            if len(cells) != width:
                problem = f"{len(cells)} cell{'s' * (len(cells) != 1)} where the first line has {width}"
                hint = "give a cell for every column, empty if there is no value"
                raise InputError(problem, path=text.label, line=reader.line_num, hint=hint)
            yield reader.line_num, cells
    except csv.Error as error:
        problem = f"not a line of CSV ({error})"
        raise InputError(problem, path=text.label, line=reader.line_num, hint="check the quotes") from None
