"""Iterate over the rankings of a run file with only incomplete rankings in memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rankscope.read.line_problems import locate_problems, reject_empty
from rankscope.read.run_text import RunText, TextList, changes, portions
from rankscope.read.source import Source, whole_lines

_MAX_PREFIXES = 4
"""Number of topics of a portion that are found by the common prefix of their lines; for more, a regex is faster."""

_TOPIC = re.compile(rb"(?m)^[ \t\r\v\f]*([^\s#]\S*)")


def iterate_text_lists(source: Path | bytes, label: str) -> Iterator[tuple[bytes, TextList]]:
    """Yield every topic and its ranking after its last line.

    The text is read twice: first to count the stretches of lines of each topic, which need not be consecutive.
    """
    text = Source.open(source, label)
    stretches = _count_stretches(text)
    if not stretches:
        reject_empty(text)
    run = _ListIterator(stretches)
    with locate_problems(text):
        for lines in whole_lines(text.line_blocks()):
            for start, stop in portions(lines):
                run.feed(lines[start:stop])
                yield from run.pop_complete()
        run.end_stretch()
        yield from run.pop_complete()


def _count_stretches(text: Source) -> Counter[bytes]:
    """Return the number of stretches of consecutive lines of each topic."""
    stretches: Counter[bytes] = Counter()
    last = b""
    for lines in whole_lines(text.line_blocks()):
        for start, stop in portions(lines):
            topics = _list_topics(lines, start, stop)
            stretches.update(topics[row] for row in changes(topics) if row or topics[0] != last)
            last = topics[-1] if topics else last
    return stretches


def _list_topics(lines: bytes, start: int, stop: int) -> list[bytes]:
    """Return the topics of lines in order; consecutive lines of a topic may be merged."""
    topics = []
    for _ in range(_MAX_PREFIXES):
        first = _TOPIC.match(lines, start, stop)
        if not first:
            break
        prefix = b"\n" + lines[start : first.end() + 1]
        last = max(lines.rfind(prefix, start, stop), start - 1)
        if lines.count(prefix, start, last + len(prefix)) != lines.count(b"\n", start, last + 1):
            break  # other topics in between
        topics.append(first[1])
        start = lines.find(b"\n", last + 1, stop) + 1
        if start == stop:
            return topics
    return topics + _TOPIC.findall(lines, start, stop)


class _ListIterator(RunText):
    """Collects rankings, and releases them after their last stretch; the rank column may be any text."""

    def __init__(self, stretches: Counter[bytes]) -> None:
        super().__init__("file")
        self._n_left = stretches
        self._incomplete: dict[bytes, TextList] = {}
        self._complete: list[tuple[bytes, TextList]] = []
        self._topic: bytes | None = None

    def list_for(self, topic: bytes) -> TextList:
        if topic != self._topic:
            self.end_stretch()
            self._topic = topic
            self._n_left[topic] -= 1
        return self._incomplete.setdefault(topic, TextList())

    def end_stretch(self) -> None:
        """End the current stretch; release its ranking unless more lines of the topic follow."""
        if self._topic is not None and self._n_left[self._topic] == 0:
            self._complete.append((self._topic, self._incomplete.pop(self._topic)))

    def pop_complete(self) -> Iterator[tuple[bytes, TextList]]:
        """Return the rankings released since the last call."""
        complete, self._complete = self._complete, []
        return iter(complete)
