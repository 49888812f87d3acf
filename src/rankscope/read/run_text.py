"""The text of a run, taken apart into columns and checked: the one reader of run lines in Python.

Lines are taken apart in bulk and columns converted in one go; only what is unusual (comments, errors) is looked at
one by one. What becomes of the lists is up to who derives from :class:`RunText`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import ne

import numpy as np
import numpy.typing as npt

from rankscope.read.line_ends import foreign_end, may_have_foreign_end
from rankscope.read.line_problems import LineProblem
from rankscope.read.source import Source, whole_lines

__all__ = ["RunText", "TextList", "changes", "portions"]

_NUMBER = re.compile(rb"(?i)[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)")
_NAN = re.compile(rb"(?i)[+-]?nan")
_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_PORTION = 1 << 15
_END = b"\0"  # stands for the end of a line among its fields: no field can contain it


@dataclass
class _Columns:
    """Lines with six fields, column by column."""

    lines: Sequence[int]
    topics: list[bytes]
    documents: list[bytes]
    ranks: list[bytes]
    scores: list[bytes]
    tags: list[bytes]

    def before(self, row: int) -> _Columns:
        """The first rows only."""
        columns = (self.topics, self.documents, self.ranks, self.scores, self.tags)
        return _Columns(self.lines[:row], *(column[:row] for column in columns))


@dataclass
class TextList:
    """One list while it is read: its documents in the order of the file."""

    documents: list[bytes] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    scores: list[npt.NDArray[np.float64]] = field(default_factory=list)
    ranks: list[list[bytes]] = field(default_factory=list)
    """As they are written: only the ``rank`` ordering needs them to be numbers, and checks it."""


class RunText(ABC):
    """Whole lines in, checked lists out: ``list_of`` says where the documents of a topic are collected."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.lines = 0
        self.tag: bytes | None = None

    @abstractmethod
    def list_of(self, topic: bytes) -> TextList:
        """The list that the lines of a topic belong to; asked for wherever the topic changes."""

    def read(self, source: Source) -> None:
        """All lines of a source."""
        for text in whole_lines(source.line_blocks()):
            for start, stop in portions(text):
                self.take(text[start:stop])

    def take(self, text: bytes) -> None:
        """Whole lines."""
        count = text.count(b"\n")
        if count == len(text):  # empty lines: there may be millions
            self.lines += count
            return
        fields = text.replace(b"\n", b" \0 ").split()
        usual = len(fields) == 7 * count and fields[6::7].count(_END) == count and text.count(_END) == 0
        if usual:
            lines = range(self.lines + 1, self.lines + 1 + count)
            columns = _Columns(lines, *(fields[column::7] for column in (0, 2, 3, 4, 5)))
            starts = changes(columns.topics)
            comments = any(columns.topics[row][:1] == b"#" for row in starts)
            usual = not comments and not may_have_foreign_end(text)
        self.lines += count
        if usual:
            self._take_columns(columns, starts)
        else:
            self._take_unusual(text, self.lines - count)

    def _take_unusual(self, text: bytes, before: int) -> None:
        """Lines one by one; a line that is wrong counts only after the lines before it were found right."""
        rows: list[list[bytes]] = []
        numbers: list[int] = []
        problem = None
        for number, line in enumerate(text.split(b"\n")[:-1], before + 1):
            if _END in line:
                problem = LineProblem("nul", number)
                break
            if end := foreign_end(line, 6):
                problem = LineProblem("ending", number, end)
                break
            fields = line.split()
            if not fields or fields[0][:1] == b"#":
                continue
            if len(fields) < 6:
                problem = LineProblem("fields", number, fields=len(fields))
                break
            rows.append(fields[:6])  # what stands after the tag does not matter
            numbers.append(number)
        if rows:
            topics, _, documents, ranks, scores, tags = map(list, zip(*rows, strict=True))
            self._take_columns(_Columns(numbers, topics, documents, ranks, scores, tags), changes(topics))
        if problem:
            raise problem

    def _take_columns(self, columns: _Columns, starts: list[int]) -> None:
        values = _numbers(columns.scores)
        if values is None or (self.order == "rank" and not all(map(_INTEGER.fullmatch, columns.ranks))):
            row, problem = self._first_bad_number(columns)
            if row:
                good = columns.before(row)
                self._take_columns(good, changes(good.topics))
            raise problem
        if self.tag is None and columns.tags:
            self.tag = columns.tags[0]
        for start, stop in zip(starts, [*starts[1:], len(columns.topics)], strict=True):
            current = self.list_of(columns.topics[start])
            documents = columns.documents[start:stop]
            fresh = set(documents)
            if len(fresh) < len(documents) or not fresh.isdisjoint(current.seen):
                self._raise_duplicate(columns, start, current.seen)
            current.seen |= fresh
            current.documents += documents
            current.scores.append(values[start:stop])
            current.ranks.append(columns.ranks[start:stop])

    def _first_bad_number(self, columns: _Columns) -> tuple[int, LineProblem]:
        for row, (rank, score) in enumerate(zip(columns.ranks, columns.scores, strict=True)):
            line = columns.lines[row]
            if self.order == "rank" and not _INTEGER.fullmatch(rank):
                return row, LineProblem("rank", line, rank)
            if not _NUMBER.fullmatch(score):
                return row, LineProblem("nan" if _NAN.fullmatch(score) else "score", line, score)
        raise AssertionError("the columns were found to be wrong")

    def _raise_duplicate(self, columns: _Columns, start: int, seen: set[bytes]) -> None:
        seen = set(seen)
        for row in range(start, len(columns.documents)):
            document = columns.documents[row]
            if document in seen:
                raise LineProblem("duplicate", columns.lines[row], document, columns.topics[row])
            seen.add(document)


def portions(text: bytes) -> Iterator[tuple[int, int]]:
    """Whole lines in portions whose fields stay in the processor's cache."""
    start = 0
    while start < len(text):
        stop = text.find(b"\n", start + _PORTION) + 1 or len(text)
        yield start, stop
        start = stop


def changes(topics: list[bytes]) -> list[int]:
    """Rows where another topic begins."""
    return [0, *compress(range(1, len(topics)), map(ne, topics, topics[1:]))] if topics else []


def _numbers(column: list[bytes]) -> npt.NDArray[np.float64] | None:
    """The scores as numbers, or None if one is not."""
    try:
        values = np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        return None
    # float() also takes digits with underscores, which no other reader of run files does
    return None if np.isnan(values).any() or b"_" in b" ".join(column) else values
