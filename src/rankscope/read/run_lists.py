"""Read the complete rankings of a run file, at once or one by one, for analyses that need more than hits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from rankscope.arrays import Ints
from rankscope.read.columns import RunList
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.lines import locate_problems, reject_empty
from rankscope.read.run_text import RunText, TextList, changes, portions
from rankscope.read.source import Source

_MAX_PREFIXES = 4
"""Number of topics of a portion that are found by the common prefix of their lines; for more, a regex is faster."""

_TOPIC = re.compile(rb"(?m)^[ \t\r\v\f]*([^\s#]\S*)")


class _ListReader(RunText):
    """Collects the lines of all topics, or of one topic ``only``; the rank column may be any text."""

    def __init__(self, only: str | None = None) -> None:
        super().__init__("file")
        self.lists: dict[bytes, TextList] = {}
        self._only = None if only is None else to_bytes(only)
        self._line = re.compile(rb"(?m)^\s*" + re.escape(self._only or b"") + rb"\s")

    def feed(self, text: bytes) -> None:
        if self._only is None or self._line.search(text):
            super().feed(text)
        else:
            self.lines += text.count(b"\n")

    def list_for(self, topic: bytes) -> TextList:
        return self.lists.setdefault(topic, TextList()) if self._only in (None, topic) else TextList()


def read_lists(source: Path | bytes, label: str, only: str | None = None) -> dict[str, RunList]:
    """Return the ranking of every topic of a run file, or of one topic, in the order of the file."""
    text = Source.open(source, label)
    run = _ListReader(only)
    with locate_problems(text):
        for portion in portions(text):
            run.feed(portion)
    if not run.lists and only is None:
        reject_empty(text)
    return {to_text(topic): as_run_list(ranking) for topic, ranking in run.lists.items()}


def as_run_list(ranking: TextList) -> RunList:
    """Convert a parsed ranking."""
    return RunList(ranking.documents, np.concatenate(ranking.scores), parse_text_ranks(ranking.ranks))


def parse_text_ranks(ranks: Iterable[list[bytes]]) -> Ints | None:
    """Return the ranks as integers; None if one is not an integer."""
    try:
        return np.fromiter(map(int, chain.from_iterable(ranks)), np.int64)
    except (ValueError, OverflowError):
        return None  # only the ordering `rank` needs integers, and the scanner validates them


class ListIterator(RunText):
    """Iterator over topics and their rankings, each after its last line.

    The text is read twice: first to count the stretches of lines of each topic, which need not be consecutive.
    """

    def __init__(self, source: Source, order: str = "file") -> None:
        super().__init__(order)
        self._source = source
        self._n_left = _count_stretches(source)
        if not self._n_left:
            reject_empty(source)
        self.topics = [*self._n_left]
        self._incomplete: dict[bytes, TextList] = {}
        self._complete: list[tuple[bytes, TextList]] = []
        self._topic: bytes | None = None

    def __iter__(self) -> Iterator[tuple[bytes, TextList]]:
        for portion in portions(self._source):
            self.feed(portion)
            complete, self._complete = self._complete, []
            yield from complete
        self._end_stretch()
        yield from self._complete

    def list_for(self, topic: bytes) -> TextList:
        if topic != self._topic:
            self._end_stretch()
            self._topic = topic
            self._n_left[topic] -= 1
        return self._incomplete.setdefault(topic, TextList())

    def _end_stretch(self) -> None:
        """End the current stretch; release its ranking unless more lines of the topic follow."""
        if self._topic is not None and self._n_left[self._topic] == 0:
            self._complete.append((self._topic, self._incomplete.pop(self._topic)))


def _count_stretches(text: Source) -> Counter[bytes]:
    """Return the number of stretches of consecutive lines of each topic."""
    stretches: Counter[bytes] = Counter()
    last = b""
    for portion in portions(text):
        topics = _list_topics(portion)
        stretches.update(topics[row] for row in changes(topics) if row or topics[0] != last)
        last = topics[-1] if topics else last
    return stretches


def _list_topics(lines: bytes) -> list[bytes]:
    """Return the topics of lines in order; consecutive lines of a topic may be merged."""
    topics, start = [], 0
    for _ in range(_MAX_PREFIXES):
        first = _TOPIC.match(lines, start)
        if not first:
            break
        prefix = b"\n" + lines[start : first.end() + 1]
        last = max(lines.rfind(prefix, start), start - 1)
        if lines.count(prefix, start, last + len(prefix)) != lines.count(b"\n", start, last + 1):
            break  # other topics in between
        topics.append(first[1])
        start = lines.find(b"\n", last + 1) + 1
        if start == len(lines):
            return topics
    return topics + _TOPIC.findall(lines, start)
