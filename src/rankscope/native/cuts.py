"""Split a run file at changes of topic, so that its pieces can be read independently."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

_BUFFER = 1 << 13  # bytes; small, because only single lines far from each other are read
_MAX_SEARCH = 1 << 18  # bytes that are read to find the next topic; a file that needs more is not split


class _NoTopic(Exception):  # noqa: N818 - never leaves this module
    """A line, or a stretch of blank lines and comments, is longer than the search limit."""


def topic_cuts(path: Path, size: int, pieces: int) -> list[int]:
    """Return offsets of at most ``pieces - 1`` lines at which a topic starts, so that pieces have about the same size.

    Bisection finds the change of topic between the starts of two shares, so that the cost does not depend on the length
    of rankings; there is no cut between shares that start in the same topic. A topic that occurs again later may be
    split; the caller must detect that. A file with very long lines, or long stretches without data, is not split, so
    that time and memory are bounded for any content; reading it from the start reports what is wrong.
    """
    try:
        return _find_cuts(path, size, pieces)
    except _NoTopic:
        return []


def _find_cuts(path: Path, size: int, pieces: int) -> list[int]:
    with path.open("rb", buffering=_BUFFER) as file:
        lines = [_find_line(file, size * piece // pieces, size) for piece in range(pieces)]
        starts = [(start, topic) for start, topic in lines if topic is not None]
        return [
            _find_change(file, low, high, other)
            for (low, topic), (high, other) in pairwise(starts)
            if topic != other
        ]


def _find_change(file: BinaryIO, low: int, high: int, topic: bytes) -> int:
    """Bisect for the first line of the stretch of ``topic`` that contains ``high``; ``low`` has another topic."""
    while True:  # Lines with a topic begin more than a byte apart.
        start, name = _find_line(file, (low + high) // 2, high)
        if name is None or start >= high:  # no line begins in the upper half
            start, name = _next_line(file, low, high)
            if name is None or start >= high:
                return high
        if name == topic:
            high = start
        else:
            low = start


def _next_line(file: BinaryIO, start: int, end: int) -> tuple[int, bytes | None]:
    """Return offset and topic of the first line with a topic after the line at ``start``."""
    file.seek(start)
    _read_line(file)
    return _topic_from(file, end)


def _find_line(file: BinaryIO, offset: int, end: int) -> tuple[int, bytes | None]:
    """Return offset and topic of the first line with a topic from an offset on; no topic if ``end`` comes first."""
    file.seek(max(offset - 1, 0))
    if offset:
        _read_line(file)  # the rest of the previous line
    return _topic_from(file, end)


def _topic_from(file: BinaryIO, end: int) -> tuple[int, bytes | None]:
    start = file.tell()
    stop = start + _MAX_SEARCH
    while start < end and (line := _read_line(file)):
        name = line.split(None, 1)[:1]
        if name and name[0][:1] != b"#":
            return start, name[0]
        start = file.tell()
        if start > stop:
            raise _NoTopic
    return start, None


def _read_line(file: BinaryIO) -> bytes:
    line = file.readline(_MAX_SEARCH)
    if len(line) == _MAX_SEARCH:
        raise _NoTopic
    return line
