"""The text of TREC judgments in columns: ``topic iteration document grade``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.native.ahead import judgments_read
from rankscope.native.judgments import LARGEST, Judgments, judgments_in
from rankscope.read.formats import format_of
from rankscope.read.ids import in_natural_order, to_text
from rankscope.read.line_ends import described_end, foreign_end, may_have_foreign_end
from rankscope.read.source import Source, named_path, whole_lines

__all__ = ["looks_like_qrels", "parse_qrels", "read_by_library"]

_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_END = b"\0"  # stands for the end of a line among its fields: no field can contain it
_LARGEST = 2**31 - 2

Columns = tuple[list[bytes], list[bytes], list[bytes], npt.NDArray[np.int32], npt.NDArray[np.int64]]


def parse_qrels(source: Source) -> Columns:
    r"""Topics, iterations, documents, grades and line numbers of judgments, plain or gzipped.

    >>> text = b"# judged by experts\n301 0 d1 +1\n\n302 0 d1 -2"
    >>> topics, _, documents, grades, lines = parse_qrels(Source.of(text))
    >>> topics, documents, grades.tolist(), lines.tolist()
    ([b'301', b'302'], [b'd1', b'd1'], [1, -2], [2, 4])
    """
    path = source.label
    topics: list[bytes] = []
    iterations: list[bytes] = []
    documents: list[bytes] = []
    grades, numbers, before = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)], 0
    same: dict[bytes, bytes] = {}
    # so that memory is bounded by what the lines say, not by their text
    for text in whole_lines(source.line_blocks()):
        fields, lines = _fields(text, path, before)
        topics += map(same.setdefault, fields[0::5], fields[0::5])  # one object for the lines of a topic
        same = {topics[-1]: topics[-1]} if topics else {}
        iterations += fields[1::5]
        documents += fields[2::5]
        grades.append(_grades(fields[3::5], lines, path))
        numbers.append(lines)
        before += text.count(b"\n")
    if not documents:
        what = "there is no line with data" if before else "the file is empty"
        raise InputError(what, path=path, hint="qrels have lines of: topic iteration document grade")
    return topics, iterations, documents, np.concatenate(grades), np.concatenate(numbers)


def read_by_library(source: Source) -> Judgments | None:
    """The same as the library reads it, now or before; None if there is none or anything is unusual about the text."""
    return judgments_read(source.stamp) or judgments_in(_whole(source), in_natural_order)


def _whole(source: Source) -> bytes:
    """A text in one piece; nothing if it is too large for that."""
    if source.path is not None and source.size > LARGEST:
        return b""
    blocks, size = [], 0
    for block in source.line_blocks():
        size += len(block)
        if size > LARGEST:
            return b""
        blocks.append(block)
    return b"".join(blocks)


def looks_like_qrels(path: str | Path) -> bool:
    """Whether a regular file is one of judgments: four fields, where a run has six, or another format of theirs."""
    if not named_path(path).is_file():
        return False
    source = Source.of(path)
    try:
        if format_of(source, "run") != "trec":
            return False
    except InputError:
        return True
    head = next(source.blocks(), b"")
    rows = (line.split() for line in head.split(b"\n"))
    first = next((row for row in rows if row and row[0][:1] != b"#"), [])
    return len(first) == 4 and _INTEGER.fullmatch(first[3]) is not None


def _fields(text: bytes, path: str, before: int) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """The four fields and an end mark of every line with data, and the numbers of these lines in the file."""
    if not text.strip():
        return [], np.zeros(0, np.int64)
    count = text.count(b"\n")
    fields = text.replace(b"\n", b" \0 ").split()
    unusual = b"#" in text or _END in text or may_have_foreign_end(text)
    if len(fields) == 5 * count and fields[4::5].count(_END) == count and not unusual:
        return fields, np.arange(before + 1, before + count + 1)
    fields, lines = [], []
    for number, line in enumerate(text.split(b"\n")[:-1], before + 1):
        row = line.split()
        if _END in line:
            hint = "this looks like binary data; give a text file"
            raise InputError("a NUL byte in the line", path=path, line=number, hint=hint)
        if end := foreign_end(line, 4):
            what, hint = described_end(end)
            raise InputError(what, path=path, line=number, hint=hint)
        if not row or row[0][:1] == b"#":
            continue
        if len(row) != 4:
            raise _wrong_fields(len(row), path, number)
        fields += [*row, _END]
        lines.append(number)
    return fields, np.array(lines, np.int64)


def _wrong_fields(count: int, path: str, line: int) -> InputError:
    if count == 6:
        hint = "this looks like a run; name the qrels first and the runs after it"
    elif count == 5:
        hint = "preference judgments and judgment groups have five; give ordinary qrels"
    else:
        hint = "complete the line or remove it" if count < 4 else "ids must not contain spaces"
    message = f"{count} field{'s' * (count != 1)} where qrels have 4: topic iteration document grade"
    return InputError(message, path=path, line=line, hint=hint)


def _grades(column: list[bytes], lines: npt.NDArray[np.int64], path: str) -> npt.NDArray[np.int32]:
    distinct = {text: int(text) if _INTEGER.fullmatch(text) else None for text in set(column)}
    bad = {text for text, grade in distinct.items() if grade is None or abs(grade) > _LARGEST}
    if bad:
        row = next(row for row, text in enumerate(column) if text in bad)
        raise InputError(
            f"grade '{to_text(column[row][:60])}' is not an integer of 32 bits",
            path=path,
            line=int(lines[row]),
            hint="grades are integers such as 0, 1, 2",
        )
    return np.fromiter(map(distinct.__getitem__, column), np.int32, len(column))
