"""The scanner in Python: the same results as the one in C, for machines without it.

Lines are taken apart in bulk and columns converted in one go; only what is unusual (comments, errors, ties,
lists out of order) is looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from operator import ne
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rankscope.read.blocks import Source, whole_lines
from rankscope.read.ids import to_bytes
from rankscope.read.qrels import Qrels
from rankscope.read.scanned import FoundList, LineProblem, ReturningTopic, ScannedRun, assembled

__all__ = ["scan"]

_NUMBER = re.compile(rb"(?i)[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)")
_NAN = re.compile(rb"(?i)[+-]?nan")
_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_PORTION = 1 << 15
_END = b"\0"  # stands for the end of a line among its fields: no field can contain it


def scan(source: Source, qrels: Qrels, order: str) -> ScannedRun:
    """The hits of a run."""
    judged = _judged(qrels)
    try:
        return _scan(source, _Scan(judged, order, keep=False))
    except ReturningTopic:
        return _scan(source, _Scan(judged, order, keep=True))


def _scan(source: Source, state: _Scan) -> ScannedRun:
    for text in whole_lines(source.blocks()):
        for start, stop in _portions(text):
            state.take(text[start:stop])
    return state.finished()


def _portions(text: bytes) -> Iterator[tuple[int, int]]:
    """Whole lines in portions whose fields stay in the processor's cache."""
    start = 0
    while start < len(text):
        stop = text.find(b"\n", start + _PORTION) + 1 or len(text)
        yield start, stop
        start = stop


class _Judged:
    """The judged documents of each topic by their ids, made when a run first needs them."""

    def __init__(self, qrels: Qrels) -> None:
        self._documents, self._offsets = qrels.documents, qrels.topic_offsets.tolist()
        self.topic = {to_bytes(name): t for t, name in enumerate(qrels.topics)}
        self._tables: dict[int, dict[bytes, int]] = {}

    def table(self, topic: int) -> dict[bytes, int]:
        if topic not in self._tables:
            start, stop = self._offsets[topic], self._offsets[topic + 1]
            self._tables[topic] = dict(zip(self._documents[start:stop], range(start, stop), strict=True))
        return self._tables[topic]


_known: WeakKeyDictionary[Qrels, _Judged] = WeakKeyDictionary()


def _judged(qrels: Qrels) -> _Judged:
    found = _known.get(qrels)
    if found is None:
        found = _known[qrels] = _Judged(qrels)
    return found


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
class _List:
    """One list while it is read: its documents in the order of the file."""

    topic: int | None
    documents: list[bytes] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    scores: list[npt.NDArray[np.float64]] = field(default_factory=list)
    ranks: list[npt.NDArray[np.int64]] = field(default_factory=list)


class _Scan:
    def __init__(self, judged: _Judged, order: str, keep: bool) -> None:
        self.judged, self.order, self.keep = judged, order, keep
        self.lines = 0
        self.tag: bytes | None = None
        self.name: bytes | None = None
        self.current: _List | None = None
        self.lists: dict[bytes, _List | None] = {}
        self.found: list[FoundList] = []

    def take(self, text: bytes) -> None:
        """Whole lines."""
        count = text.count(b"\n")
        fields = text.replace(b"\n", b" \0 ").split()
        usual = len(fields) == 7 * count and fields[6::7].count(_END) == count and text.count(_END) == 0
        if usual:
            lines = range(self.lines + 1, self.lines + 1 + count)
            columns = _Columns(lines, *(fields[column::7] for column in (0, 2, 3, 4, 5)))
            starts = _changes(columns.topics)
            usual = not any(columns.topics[row][:1] == b"#" for row in starts)
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
            self._take_columns(_Columns(numbers, topics, documents, ranks, scores, tags), _changes(topics))
        if problem:
            raise problem

    def _take_columns(self, columns: _Columns, starts: list[int]) -> None:
        values = _numbers(columns.scores)
        ranks = _integers(columns.ranks) if self.order == "rank" else None
        if values is None or (ranks is None and self.order == "rank"):
            row, problem = self._first_bad_number(columns)
            if row:
                good = columns.before(row)
                self._take_columns(good, _changes(good.topics))
            raise problem
        if self.tag is None and columns.tags:
            self.tag = columns.tags[0]
        for start, stop in zip(starts, [*starts[1:], len(columns.topics)], strict=True):
            self._change_topic(columns.topics[start])
            current = self.current
            assert current is not None
            documents = columns.documents[start:stop]
            fresh = set(documents)
            if len(fresh) < len(documents) or not fresh.isdisjoint(current.seen):
                self._raise_duplicate(columns, start, current.seen)
            current.seen |= fresh
            current.documents += documents
            current.scores.append(values[start:stop])
            if ranks is not None:
                current.ranks.append(ranks[start:stop])

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

    def _change_topic(self, name: bytes) -> None:
        if name == self.name:
            return
        if name in self.lists and not self.keep:
            raise ReturningTopic
        if self.current is not None and not self.keep:
            self._finish(self.current)
        self.name = name
        self.current = self.lists.get(name) or _List(self.judged.topic.get(name))
        self.lists[name] = self.current if self.keep else None

    def _finish(self, one: _List) -> None:
        if one.topic is None:
            return
        table = self.judged.table(one.topic)
        count = len(one.documents)
        judgment = np.fromiter(map(table.get, one.documents, repeat(-1)), np.int32, count)
        order, tied = _ordering(one, self.order)
        if order is not None:
            judgment = judgment[order]
        hits = np.flatnonzero(judgment >= 0)
        rank = (hits + 1).astype(np.int32)
        self.found.append(FoundList(one.topic, count, tied, rank, judgment[hits]))

    def finished(self) -> ScannedRun:
        """All lists, once there are no more lines."""
        kept: Iterable[_List | None] = self.lists.values() if self.keep else [self.current]
        for one in kept:
            if one is not None:
                self._finish(one)
        ignored = [name for name in self.lists if name not in self.judged.topic]
        return assembled(self.found, ignored, self.tag or b"")


def _changes(topics: list[bytes]) -> list[int]:
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


def _integers(column: list[bytes]) -> npt.NDArray[np.int64] | None:
    if not all(map(_INTEGER.fullmatch, column)):
        return None
    return np.fromiter(map(int, column), np.int64, len(column))


def _ordering(one: _List, order: str) -> tuple[npt.NDArray[np.int64] | None, int]:
    """The documents from the best on (None: as in the file), and how many share their score with another."""
    scores = np.concatenate(one.scores)
    if order == "trec_eval9":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    scored = order in ("trec_eval", "trec_eval9")
    by_score: npt.NDArray[np.int64] | None = None
    tied = 0
    if not (scores[:-1] > scores[1:]).all():
        by_score = np.argsort(-scores, kind="stable")
        tied = _settle_ties(scores[by_score], by_score, one.documents if scored else None)
    if scored:
        return by_score, tied
    if order == "file":
        return None, tied
    return np.argsort(np.concatenate(one.ranks), kind="stable"), tied


def _settle_ties(
    falling: npt.NDArray[np.floating], by_score: npt.NDArray[np.int64], documents: list[bytes] | None
) -> int:
    """Puts equal scores into descending order of ids; how many documents share a score."""
    same = np.concatenate(([False], falling[1:] == falling[:-1], [False]))
    places = np.flatnonzero(same[1:] | same[:-1])
    if documents is not None and len(places):
        members = by_score[places]
        by_id = sorted(
            range(len(places)), key=[documents[row] for row in members.tolist()].__getitem__, reverse=True
        )
        by_score[places] = members[by_id][np.argsort(-falling[places][by_id], kind="stable")]
    return len(places)
