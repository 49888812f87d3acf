"""The lists of a run file one after the other: only those that are not complete yet are held."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rankscope.read.line_problems import LineProblem, refuse_empty
from rankscope.read.run_text import RunText, TextList, changes, portions
from rankscope.read.source import Source, whole_lines

__all__ = ["text_lists_one_by_one"]

_BEGINNINGS = 4
"""Topics of a portion that are looked for by how their lines begin; where there are many, that takes longer."""

_TOPIC = re.compile(rb"(?m)^[ \t\r\v\f]*([^\s#]\S*)")


def text_lists_one_by_one(source: Path | bytes, label: str) -> Iterator[tuple[bytes, TextList]]:
    """Every topic with its list, when the last line of it was read.

    The text is read twice: first to see how often each topic begins, since its lines need not be together.
    """
    text = Source.of(source, label)
    begun = _beginnings(text)
    if not begun:
        refuse_empty(text)
    run = _OneByOne(begun)
    try:
        for lines in whole_lines(text.line_blocks()):
            for start, stop in portions(lines):
                run.take(lines[start:stop])
                yield from run.complete()
        run.end()
        yield from run.complete()
    except LineProblem as problem:
        text.check_unchanged()
        raise problem.located(text.label) from None


def _beginnings(text: Source) -> Counter[bytes]:
    """How many times the lines of each topic begin."""
    begun: Counter[bytes] = Counter()
    last = b""
    for lines in whole_lines(text.line_blocks()):
        for start, stop in portions(lines):
            topics = _topics(lines, start, stop)
            begun.update(topics[row] for row in changes(topics) if row or topics[0] != last)
            last = topics[-1] if topics else last
    return begun


def _topics(lines: bytes, start: int, stop: int) -> list[bytes]:
    """The topics of some lines one after the other; where lines that follow each other begin alike, maybe once."""
    found = []
    for _ in range(_BEGINNINGS):
        first = _TOPIC.match(lines, start, stop)
        if not first:
            break
        alike = b"\n" + lines[start : first.end() + 1]
        last = max(lines.rfind(alike, start, stop), start - 1)
        if lines.count(alike, start, last + len(alike)) != lines.count(b"\n", start, last + 1):
            break  # there are others among them
        found.append(first[1])
        start = lines.find(b"\n", last + 1, stop) + 1
        if start == stop:
            return found
    return found + _TOPIC.findall(lines, start, stop)


class _OneByOne(RunText):
    """Lists that are handed on when their topic will not begin again; the rank column is free text here."""

    def __init__(self, begun: Counter[bytes]) -> None:
        super().__init__("file")
        self._to_come = begun
        self._open: dict[bytes, TextList] = {}
        self._done: list[tuple[bytes, TextList]] = []
        self._topic: bytes | None = None

    def list_of(self, topic: bytes) -> TextList:
        if topic != self._topic:
            self.end()
            self._topic = topic
            self._to_come[topic] -= 1
        return self._open.setdefault(topic, TextList())

    def end(self) -> None:
        """Another topic begins, or the file ends: hand the list on unless more lines of its topic follow below."""
        if self._topic is not None and self._to_come[self._topic] == 0:
            self._done.append((self._topic, self._open.pop(self._topic)))

    def complete(self) -> Iterator[tuple[bytes, TextList]]:
        """What has been read to its end since this was last asked."""
        done, self._done = self._done, []
        return iter(done)
