"""Parse the text of TREC judgments: ``topic iteration document grade``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Ints
from rankscope.errors import InputError
from rankscope.native.judgments import Judgments, parse_judgments
from rankscope.read.formats import detect_format
from rankscope.read.grades import GRADE, check_grades, is_grade
from rankscope.read.ids import to_text
from rankscope.read.lines import QRELS, locate_problem, reject_empty, split_lines
from rankscope.read.source import Source, expand_path, whole_lines

_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Columns(NamedTuple):
    """Columns of judgments; ``lines`` are the numbers of their lines."""

    topics: list[bytes]
    iterations: list[bytes]
    documents: list[bytes]
    grades: AnyArray
    lines: Ints
    decimal_line: int | None
    """Line of the first grade with a fraction, otherwise of the first one that is not written as an integer."""


def parse_qrels(source: Source) -> Columns:
    r"""Return the columns of judgments.

    >>> columns = parse_qrels(Source.open(b"# judged by experts\n301 0 d1 +1\n\n302 0 d1 -2"))
    >>> columns.topics, columns.documents, columns.grades.tolist(), columns.lines.tolist()
    ([b'301', b'302'], [b'd1', b'd1'], [1, -2], [2, 4])
    """
    path = source.label
    topics: list[bytes] = []
    iterations: list[bytes] = []
    documents: list[bytes] = []
    grades: list[AnyArray] = [np.zeros(0, np.int32)]
    numbers, before = [np.zeros(0, np.int64)], 0
    decimal_line: int | None = None
    same: dict[bytes, bytes] = {}
    for text in whole_lines(source.line_blocks()):
        fields, lines, problem = split_lines(text, before, QRELS)
        if problem:
            raise locate_problem(problem, source)
        topics += map(same.setdefault, fields[0::5], fields[0::5])  # one object per topic saves memory
        same = {topics[-1]: topics[-1]} if topics else {}
        iterations += fields[1::5]
        documents += fields[2::5]
        grades.append(_parse_grades(fields[3::5], lines, path))
        if decimal_line is None and grades[-1].dtype.kind == "f":
            is_integer = [*map(_INTEGER.fullmatch, fields[3::5])]
            decimal_line = lines[is_integer.index(None)]
        numbers.append(np.array(lines, np.int64))
        before += text.count(b"\n")
    if not documents:
        reject_empty(source, QRELS)
    values, rows = np.concatenate(grades), np.concatenate(numbers)
    if values.dtype.kind == "f":
        fractions = np.flatnonzero(values % 1)
        decimal_line = int(rows[fractions[0]]) if len(fractions) else decimal_line
    return Columns(topics, iterations, documents, check_grades(values), rows, decimal_line)


def parse_natively(source: Source) -> Judgments | None:
    """Parse judgments with the C library; None if it is not available or the text is unusual."""
    return parse_judgments(source.line_blocks())


def looks_like_qrels(path: str | Path) -> bool:
    """Return whether a regular file contains judgments: lines of four fields, or another format of judgments."""
    if not expand_path(path).is_file():
        return False
    source = Source.open(path)
    try:
        if detect_format(source, "run") != "trec":
            return False
    except InputError:
        return True
    head = next(source.blocks(), b"")
    rows = (line.split() for line in head.split(b"\n"))
    first = next((row for row in rows if row and row[0][:1] != b"#"), [])
    return len(first) == 4 and _INTEGER.fullmatch(first[3]) is not None


def _parse_grades(column: list[bytes], lines: Sequence[int], path: str) -> AnyArray:
    distinct = {text: _parse_grade(text) for text in set(column)}
    if None in distinct.values():
        row = next(row for row, text in enumerate(column) if distinct[text] is None)
        problem = f"grade '{to_text(column[row][:60])}' is not {GRADE}"
        hint = "grades are numbers such as 0, 1, 2 or 0.37"
        raise InputError(problem, path=path, line=lines[row], hint=hint)
    is_integer = all(isinstance(grade, int) for grade in distinct.values())
    kind = np.int32 if is_integer else np.float64
    return np.fromiter(map(distinct.__getitem__, column), kind, len(column))


def _parse_grade(text: bytes) -> int | float | None:
    """Return the grade or gain of a text, or None."""
    if not _DECIMAL.fullmatch(text):
        return None
    grade = int(text) if _INTEGER.fullmatch(text) else float(text)
    return grade if is_grade(grade) else None
