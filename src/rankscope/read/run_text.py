"""Parse and validate the lines of a run: the single parser of run lines in Python.

Lines are split in bulk and columns converted at once; only unusual lines (comments, errors) are parsed one by one.
Subclasses of :class:`RunText` decide where the documents of a topic are collected.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import ne
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Floats
from rankscope.read.lines import RUN, LineProblem, split_lines
from rankscope.read.source import Source, whole_lines

_NUMBER = re.compile(rb"(?i)[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)")
_NAN = re.compile(rb"(?i)[+-]?nan")
_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_PORTION = 1 << 15  # bytes; their fields fit in the processor's cache


class _Columns(NamedTuple):
    """Columns of lines with six fields."""

    lines: Sequence[int]
    topics: list[bytes]
    documents: list[bytes]
    ranks: list[bytes]
    scores: list[bytes]
    tags: list[bytes]


@dataclass
class TextList:
    """A ranking while it is read: its documents in the order of the file."""

    documents: list[bytes] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    scores: list[Floats] = field(default_factory=list)
    ranks: list[list[bytes]] = field(default_factory=list)
    """Ranks as text: only the ordering ``rank`` needs them to be numbers, and validates them."""


class RunText(ABC):
    """Parser of whole lines; ``list_for`` returns the ranking that collects the documents of a topic."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.lines = 0
        self.tag: bytes | None = None

    @abstractmethod
    def list_for(self, topic: bytes) -> TextList:
        """Return the ranking that collects the lines of a topic; called when the topic changes."""

    def feed(self, text: bytes) -> None:
        """Parse whole lines."""
        fields, lines, problem = split_lines(text, self.lines, RUN)
        self.lines += text.count(b"\n")
        if lines:
            self._add_columns(_Columns(lines, *(fields[column::7] for column in (0, 2, 3, 4, 5))))
        if problem:  # only after the lines before it were validated
            raise problem

    def _add_columns(self, columns: _Columns) -> None:
        values = _parse_scores(columns.scores)
        if values is None or (self.order == "rank" and not all(map(_INTEGER.fullmatch, columns.ranks))):
            row, problem = self._find_invalid_number(columns)
            if row:
                self._add_columns(_Columns._make(column[:row] for column in columns))
            raise problem
        if self.tag is None and columns.tags:
            self.tag = columns.tags[0]
        starts = changes(columns.topics)
        for start, stop in zip(starts, [*starts[1:], len(columns.topics)], strict=True):
            current = self.list_for(columns.topics[start])
            documents = columns.documents[start:stop]
            distinct = set(documents)
            if len(distinct) < len(documents) or not distinct.isdisjoint(current.seen):
                self._raise_duplicate(columns, start, current.seen)
            current.seen |= distinct
            current.documents += documents
            current.scores.append(values[start:stop])
            current.ranks.append(columns.ranks[start:stop])

    def _find_invalid_number(self, columns: _Columns) -> tuple[int, LineProblem]:
        for row, (rank, score) in enumerate(zip(columns.ranks, columns.scores, strict=True)):
            line = columns.lines[row]
            if self.order == "rank" and not _INTEGER.fullmatch(rank):
                return row, LineProblem("rank", line, rank)
            if not _NUMBER.fullmatch(score):
                return row, LineProblem("nan" if _NAN.fullmatch(score) else "score", line, score)
        raise AssertionError("a number is invalid")

    def _raise_duplicate(self, columns: _Columns, start: int, seen: set[bytes]) -> None:
        seen = set(seen)
        for row in range(start, len(columns.documents)):
            document = columns.documents[row]
            if document in seen:
                raise LineProblem("duplicate", columns.lines[row], document, columns.topics[row])
            seen.add(document)


def portions(source: Source) -> Iterator[bytes]:
    """Yield the text of a source in portions of whole lines."""
    for text in whole_lines(source.line_blocks()):
        start = 0
        while start < len(text):
            stop = text.find(b"\n", start + _PORTION) + 1 or len(text)
            yield text[start:stop]
            start = stop


def changes(topics: list[bytes]) -> list[int]:
    """Return the rows where the topic changes."""
    return [0, *compress(range(1, len(topics)), map(ne, topics, topics[1:]))] if topics else []


def _parse_scores(column: list[bytes]) -> Floats | None:
    """Return the scores as numbers; None if one is invalid."""
    try:
        values = np.fromiter(map(float, column), np.float64, len(column))
    except ValueError:
        return None
    # float() accepts underscores between digits, which other readers of run files reject.
    return None if np.isnan(values).any() or b"_" in b" ".join(column) else values
