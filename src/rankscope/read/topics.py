"""Select topics by a text such as ``351,401-410``, or by a file with a topic on each line."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.read.delimited import text_lines
from rankscope.read.source import Source, is_file

_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_RANGE = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)


def select_topics(
    named: str | Sequence[str], topics: Sequence[str], problem: str = "has no judgments"
) -> tuple[str, ...]:
    """Return the named topics in the order of ``topics``; ``problem`` completes the message about an unknown one.

    A text has topics and ranges of numbers between commas, or is the path of a file of such names. A list has the
    topics themselves.

    >>> select_topics("7,1-3", ["1", "2", "3", "4", "7"]), select_topics("wt-1", ["wt-1", "wt-2"])
    (('1', '2', '3', '7'), ('wt-1',))
    """
    path: Path | None = None
    index = _TopicIndex.from_topics(topics)
    if not isinstance(named, str):
        names = [*named]
        ranges = [index.find_name(name) for name in names]
    else:
        names = [part.strip() for part in named.split(",") if part.strip()]
        ranges = [index.find(name) for name in names]
        if not all(ranges) and is_file(named):
            path = Path(named)
            names = _read_names(path)
            ranges = [index.find(name) for name in names]
    if not names:
        raise SettingsError("no topic is named", path=path, hint="write topics such as 351,401-410")
    for name, positions in zip(names, ranges, strict=True):
        if not positions:
            hint = suggest_names(name, topics) or f"there are topics such as {topics[0]}"
            raise InputError(f"topic {name!r} {problem}", path=path, hint=hint)
    # A file may name many ranges that overlap: only their ends are visited.
    depth = [0] * (len(topics) + 1)
    for positions in ranges:
        depth[positions.start] += 1
        depth[positions.stop] -= 1
    is_selected = [*accumulate(depth)]
    return tuple(topic for topic in topics if is_selected[index.positions[topic]])


class _TopicIndex(NamedTuple):
    """Positions of topics in an order that begins with those that are numbers, ascending."""

    positions: dict[str, int]
    numbers: list[int]

    @classmethod
    def from_topics(cls, topics: Sequence[str]) -> _TopicIndex:
        """Return the index of the topics."""
        numeric = sorted((topic for topic in topics if _NUMBER.fullmatch(topic)), key=int)
        ordered = [*numeric, *(topic for topic in topics if not _NUMBER.fullmatch(topic))]
        return cls({topic: position for position, topic in enumerate(ordered)}, [*map(int, numeric)])

    def find_name(self, name: str) -> range:
        """Return the position of the topic of that name, as a range."""
        position = self.positions.get(name)
        return range(0) if position is None else range(position, position + 1)

    def find(self, name: str) -> range:
        """Return the position of the topic of that name, or those of the topics between two numbers."""
        between = None if name in self.positions else _RANGE.fullmatch(name)
        if between is None:
            return self.find_name(name)
        low, high = map(int, between.groups())
        return range(bisect_left(self.numbers, low), bisect_right(self.numbers, high))


def _read_names(path: Path) -> list[str]:
    """Return the first word of every line that is no comment."""
    words = (line.split() for _, line in text_lines(Source.open(path)))
    return [fields[0] for fields in words if fields and not fields[0].startswith("#")]
