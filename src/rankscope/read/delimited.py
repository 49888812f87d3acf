"""Read tables from text: CSV and TSV with a header, and columns without one (MS MARCO, qrels of three columns)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Ints
from rankscope.errors import InputError
from rankscope.read.frames import NUMBERS, WANTED, find_column, find_columns
from rankscope.read.grades import GRADE, is_grade
from rankscope.read.ids import id_text
from rankscope.read.limits import longest_line
from rankscope.read.lines import LineProblem, locate_problem
from rankscope.read.source import Source, iterate_lines

_NUMBER = re.compile(r"(?i)[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)")


class FileTable(NamedTuple):
    """Columns of a file by meaning, and the line of every row."""

    columns: dict[str, Any]
    lines: Ints


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    r"""Yield number and text of every line, validated as in TREC files.

    >>> list(text_lines(Source.open(b"a,b\r\n1,2")))
    [(1, 'a,b'), (2, '1,2')]
    """
    for number, line in iterate_lines(source.line_blocks(in_memory=True)):
        if b"\0" in line or (b"\r" in line and b"\r" in line[:-1]):
            kind, end = ("nul", b"") if b"\0" in line else ("ending", b"\r")
            raise locate_problem(LineProblem(kind, number, end), source)
        yield number, line.removesuffix(b"\r").decode("utf-8", "surrogateescape")


def iterate_cells(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of every line with data; comments before the header are skipped."""
    has_header = False
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for number, line in text_lines(source):  # noqa: B007 (the number of the row that csv returns)
            if has_header or (line.strip() and not line.startswith("#")):
                yield line + "\n"

    # The csv module rejects fields of more than 128 kB; here lines are limited, and a field may be as long as a line.
    csv.field_size_limit(max(csv.field_size_limit(), longest_line()))
    try:
        for row in csv.reader(lines(), delimiter=separator, strict=True):
            if row:
                has_header = True
                yield number, row
    except csv.Error as error:
        problem = f"not a line of a table ({error})"
        raise InputError(problem, path=source.label, line=number, hint="check the quotes") from None


def read_delimited(source: Source, separator: str, kind: str) -> FileTable:
    r"""Read a delimited ``run`` or ``qrels`` table; return its columns by meaning.

    >>> table = read_delimited(Source.open(b"qid,docno,score,text\n1,d1,2.5,\"a, b\"\n"), ",", "run")
    >>> table.columns, table.lines.tolist()
    ({'query_id': ['1'], 'doc_id': ['d1'], 'score': array([2.5])}, [2])
    """
    rows = iterate_cells(source, separator)
    first, header = next(rows, (1, []))
    names = find_file_columns(header, kind, source.label, first)
    columns: dict[str, list[str]] = {meaning: [] for meaning in names}
    targets = [(column, header.index(names[meaning])) for meaning, column in columns.items()]
    numbers: list[int] = []
    for number, row in rows:
        if len(row) != len(header):
            problem = f"{len(row)} cell{'s' * (len(row) != 1)} where the header has {len(header)}"
            hint = "complete the line, or put quotes around text with separators"
            raise InputError(problem, path=source.label, line=number, hint=hint)
        for column, index in targets:
            column.append(row[index])
        numbers.append(number)
    return parse_columns(columns, numbers, source.label)


def find_file_columns(header: Sequence[Any], kind: str, path: str, line: int | None) -> dict[str, Any]:
    """Return the names of the columns of a ``run`` or of ``qrels`` by meaning; reject a header that lacks one."""
    has_ranks = find_column("rank", header) is not None
    value = "relevance" if kind == "qrels" else "rank" if has_ranks else "score"
    return find_columns(header, ("query_id", "doc_id", value), WANTED[kind], path, line)


_BARE = {
    ("qrels", 3): ("query_id", "doc_id", "relevance"),
    ("qrels", 4): ("query_id", "iteration", "doc_id", "relevance"),
    ("run", 3): ("query_id", "doc_id", "score"),
    ("run", 4): ("query_id", "doc_id", "rank", "score"),
}


def read_bare_columns(source: Source, kind: str) -> FileTable:
    r"""Read columns without a header: ``topic document grade`` or ``topic document rank [score]``.

    >>> read_bare_columns(Source.open(b"1\td7\t1\n1\td3\t2\n"), "run").columns["rank"]
    array([1, 2])
    """
    columns: tuple[list[str], ...] = ()
    numbers: list[int] = []
    for number, line in text_lines(source):
        row = line.split()
        if not row or row[0].startswith("#"):
            continue
        columns = columns or tuple([] for _ in row)
        if len(row) != len(columns) or (kind, len(row)) not in _BARE:
            expected, files = " ".join(_BARE[kind, 3]), "qrels" if kind == "qrels" else "runs"
            problem = f"{len(row)} field{'s' * (len(row) != 1)} where {files} of columns have: {expected}"
            raise InputError(problem, path=source.label, line=number, hint="complete the line or remove it")
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
        numbers.append(number)
    if not numbers:
        problem = "there is no line with data" if source.size else "the file is empty"
        raise InputError(problem, path=source.label, hint=f"give lines of: {' '.join(_BARE[kind, 3])}")
    names = _BARE[kind, len(columns)]
    if kind == "run" and len(columns) == 3 and all(cell.isascii() and cell.isdigit() for cell in columns[2]):
        names = ("query_id", "doc_id", "rank")
    return parse_columns(dict(zip(names, columns, strict=True)), numbers, source.label)


def parse_columns(columns: dict[str, Any], numbers: list[int], path: str) -> FileTable:
    """Validate columns by meaning, and parse numbers."""
    lines = np.array(numbers, np.int64)
    for meaning, column in columns.items():
        if meaning in NUMBERS:
            columns[meaning] = _parse_numbers(column, meaning, lines, path)
        else:
            _check_ids(column, meaning, lines, path)
    return FileTable(columns, lines)


def _parse_numbers(column: Sequence[Any], meaning: str, lines: Ints, path: str) -> AnyArray:
    """Parse a column of scores, grades, or ranks, which are integers."""
    is_integer = meaning == "rank"
    values = [_parse_number(value, is_integer) for value in column]
    if meaning == "relevance":
        values = [value if value is not None and is_grade(value) else None for value in values]
    if None in values:
        row = values.index(None)
        text = "" if column[row] is None else str(column[row]).strip()
        if text.lower() in ("nan", "+nan", "-nan", ""):
            problem = f"NaN {meaning}" if text else f"there is no {meaning}"
        else:
            kinds = {"rank": "a 32-bit integer", "score": "a number", "relevance": GRADE}
            problem = f"{meaning} {text[:60]!r} is not {kinds[meaning]}"
        hint = "remove the line or give a number"
        raise InputError(problem, path=path, line=int(lines[row]), hint=hint)
    return np.array(values, np.int64 if is_integer else np.float64)


def _parse_number(value: Any, is_integer: bool) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not is_integer:
        return None if number != number else number
    return int(number) if number.is_integer() and abs(number) < 2**31 - 1 else None


def _check_ids(column: Sequence[Any], meaning: str, lines: Ints, path: str) -> None:
    for row, value in enumerate(column):
        if type(value) is str and value:
            continue
        problem = f"there is no {meaning}"
        try:
            if value not in (None, ""):
                id_text(value, meaning)
                continue
        except InputError as error:
            problem = error.message
        hint = "complete the line or remove it"
        raise InputError(problem, path=path, line=int(lines[row]), hint=hint)
