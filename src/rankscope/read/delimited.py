"""Tables in text: CSV and TSV under a header, and columns without one (MS MARCO, judgments of three columns)."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.read.frames import COLUMNS, NUMBERS, WANTED, found_column
from rankscope.read.ids import id_text
from rankscope.read.line_ends import described_end
from rankscope.read.source import Source, whole_lines

__all__ = ["FileTable", "file_table", "read_bare_columns", "read_delimited", "text_lines"]

_NUMBER = re.compile(r"(?i)[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)")


class FileTable(NamedTuple):
    """Columns out of a file, by their meaning, and the line of every row."""

    columns: dict[str, Any]
    lines: npt.NDArray[np.int64]
    path: str


def text_lines(source: Source) -> Iterator[tuple[int, str]]:
    r"""The lines of a text with their numbers, checked as those of TREC files are.

    >>> list(text_lines(Source.of(b"a,b\r\n1,2")))
    [(1, 'a,b'), (2, '1,2')]
    """
    before = 0
    for block in whole_lines(source.line_blocks(held=True)):
        suspicious = b"\0" in block or block.count(b"\r") != block.count(b"\r\n")
        for number, line in enumerate(block.split(b"\n")[:-1], before + 1):
            if suspicious:
                _check_line(line, source.label, number)
            yield number, line.removesuffix(b"\r").decode("utf-8", "surrogateescape")
        before += block.count(b"\n")


def _check_line(line: bytes, path: str, number: int) -> None:
    if b"\0" in line:
        hint = "this looks like binary data; give a text file"
        raise InputError("a NUL byte in the line", path=path, line=number, hint=hint)
    if b"\r" in line[:-1]:
        what, hint = described_end(b"\r")
        raise InputError(what, path=path, line=number, hint=hint)


def cells(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of every line with data and its number; comments before the header are none."""
    started = False
    number = 0

    def lines() -> Iterator[str]:
        nonlocal number
        for at, line in text_lines(source):
            number = at
            if started or (line.strip() and not line.startswith("#")):
                yield line + "\n"

    try:
        for row in csv.reader(lines(), delimiter=separator, strict=True):
            if row:
                started = True
                yield number, row
    except csv.Error as error:
        what = f"not a line of a table ({error})"
        raise InputError(what, path=source.label, line=number, hint="check the quotes") from None


def read_delimited(source: Source, separator: str, kind: str) -> FileTable:
    r"""The columns of a table that mean something in a ``run`` or in ``qrels``, under their meanings.

    >>> table = read_delimited(Source.of(b"qid,docno,score,text\n1,d1,2.5,\"a, b\"\n"), ",", "run")
    >>> table.columns, table.lines.tolist()
    ({'query_id': ['1'], 'doc_id': ['d1'], 'score': array([2.5])}, [2])
    """
    rows = cells(source, separator)
    first, header = next(rows, (1, []))
    found = {meaning: found_column(meaning, header) for meaning in WANTED[kind]}
    places = {meaning: header.index(name) for meaning, name in found.items() if name is not None}
    require(places, kind, source.label, first, header)
    columns: list[list[str]] = [[] for _ in places]
    numbers: list[int] = []
    takes = list(zip(columns, places.values(), strict=True))
    for number, row in rows:
        if len(row) != len(header):
            what = f"{len(row)} cell{'s' * (len(row) != 1)} where the header has {len(header)}"
            hint = "complete the line, or put quotes around text with separators"
            raise InputError(what, path=source.label, line=number, hint=hint)
        for column, place in takes:
            column.append(row[place])
        numbers.append(number)
    return file_table(dict(zip(places, columns, strict=True)), numbers, source.label)


def require(columns: Collection[str], kind: str, path: str, line: int | None, names: Sequence[Any]) -> None:
    """An error if a column is missing that judgments or runs must have."""
    needed = ["query_id", "doc_id", "relevance"] if kind == "qrels" else ["query_id", "doc_id"]
    if kind == "run" and "rank" not in columns:
        needed.append("score")
    for meaning in needed:
        if meaning not in columns:
            what = f"there is no column for {meaning} ({', '.join(COLUMNS[meaning])})"
            hint = f"rename one of: {', '.join(map(str, names)) or 'none'}"
            raise InputError(what, path=path, line=line, hint=hint)


_BARE = {
    ("qrels", 3): ("query_id", "doc_id", "relevance"),
    ("qrels", 4): ("query_id", "iteration", "doc_id", "relevance"),
    ("run", 3): ("query_id", "doc_id", "score"),
    ("run", 4): ("query_id", "doc_id", "rank", "score"),
}


def read_bare_columns(source: Source, kind: str) -> FileTable:
    r"""Columns without a header: ``topic document grade``, ``topic document rank``, ``topic document rank score``.

    >>> read_bare_columns(Source.of(b"1\td7\t1\n1\td3\t2\n"), "run").columns["rank"]
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
            expected, kinds = " ".join(_BARE[kind, 3]), "qrels" if kind == "qrels" else "runs"
            what = f"{len(row)} field{'s' * (len(row) != 1)} where {kinds} of columns have: {expected}"
            raise InputError(what, path=source.label, line=number, hint="complete the line or remove it")
        for column, cell in zip(columns, row, strict=True):
            column.append(cell)
        numbers.append(number)
    if not numbers:
        what = "there is no line with data" if source.size else "the file is empty"
        raise InputError(what, path=source.label, hint=f"give lines of: {' '.join(_BARE[kind, 3])}")
    names = _BARE[kind, len(columns)]
    if kind == "run" and len(columns) == 3 and all(cell.isascii() and cell.isdigit() for cell in columns[2]):
        names = ("query_id", "doc_id", "rank")
    return file_table(dict(zip(names, columns, strict=True)), numbers, source.label)


def file_table(columns: dict[str, Any], numbers: list[int], path: str) -> FileTable:
    """Columns by their meaning, checked, with numbers as numbers."""
    lines = np.array(numbers, np.int64)
    for meaning, column in columns.items():
        if meaning in NUMBERS:
            columns[meaning] = _numbers(column, meaning, lines, path)
        else:
            _check_ids(column, meaning, lines, path)
    return FileTable(columns, lines, path)


def _numbers(
    column: Sequence[Any], meaning: str, lines: npt.NDArray[np.int64], path: str
) -> npt.NDArray[Any]:
    """A column of scores as fractions, of ranks and grades as whole numbers."""
    whole = meaning != "score"
    found = [_number(value, whole) for value in column]
    if None in found:
        row = found.index(None)
        text = "" if column[row] is None else str(column[row]).strip()
        if text.lower() in ("nan", "+nan", "-nan", ""):
            what = f"NaN {meaning}" if text else f"there is no {meaning}"
        else:
            what = f"{meaning} {text[:60]!r} is not {'a whole number of 32 bits' if whole else 'a number'}"
        hint = "remove the line or give a number"
        raise InputError(what, path=path, line=int(lines[row]), hint=hint)
    return np.array(found, np.int64 if whole else np.float64)


def _number(value: Any, whole: bool) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not whole:
        return None if number != number else number
    return int(number) if number.is_integer() and abs(number) < 2**31 - 1 else None


def _check_ids(column: Sequence[Any], meaning: str, lines: npt.NDArray[np.int64], path: str) -> None:
    for row, value in enumerate(column):
        if type(value) is str and value:
            continue
        what = f"there is no {meaning}"
        try:
            if value not in (None, ""):
                id_text(value, meaning)
                continue
        except InputError as error:
            what = error.message
        hint = "complete the line or remove it"
        raise InputError(what, path=path, line=int(lines[row]), hint=hint)
