"""Where a run file can be cut so that its pieces can be read independently: at changes of topic."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

__all__ = ["topic_cuts"]

_BUFFER = 1 << 13  # bytes: what is looked at are single lines, far from each other
_MOST = 1 << 18  # bytes that are read to find the next topic: a file without one in so many is not cut


class _NoTopic(Exception):  # noqa: N818 - never leaves this module
    """A line, or a stretch of blank lines and comments, that is too long to look for the end of."""


def topic_cuts(path: Path, size: int, pieces: int) -> list[int]:
    """Byte offsets of at most ``pieces - 1`` lines where another topic begins, near equal shares.

    Between two shares that begin in the same topic there is no cut; otherwise the change is found by halving, so the
    work does not grow with the length of the lists. A topic that returns may be cut: who reads the pieces notices.
    A file with very long lines, or long stretches without data, is not cut, so that both time and memory are bounded
    whatever the file contains: only reading it from the start can say what is wrong with it.
    """
    try:
        return _cuts(path, size, pieces)
    except _NoTopic:
        return []


def _cuts(path: Path, size: int, pieces: int) -> list[int]:
    with path.open("rb", buffering=_BUFFER) as file:
        places = [_line_from(file, size * piece // pieces, size) for piece in range(pieces)]
        found = [(start, topic) for start, topic in places if topic is not None]
        cuts = []
        for (low, topic), (high, other) in pairwise(found):
            if topic != other:
                cuts.append(_change(file, low, high, other))
    return cuts


def _change(file: BinaryIO, low: int, high: int, topic: bytes) -> int:
    """Where the topic begins that ``high`` has, and ``low`` has not: as near to ``high`` as topics allow."""
    while high - low > 1:
        start, name = _line_from(file, (low + high) // 2, high)
        if name is None or start >= high:  # no line begins in the upper half
            start, name = _next_line(file, low, high)
            if name is None or start >= high:
                return high
        if name == topic:
            high = start
        else:
            low = start
    return high


def _next_line(file: BinaryIO, start: int, end: int) -> tuple[int, bytes | None]:
    """The first line with a topic after the one that begins at ``start``."""
    file.seek(start)
    _line(file)
    return _topic_from(file, end)


def _line_from(file: BinaryIO, place: int, end: int) -> tuple[int, bytes | None]:
    """Where the first line with a topic begins at or after a place, and its topic (None: none before ``end``)."""
    file.seek(max(place - 1, 0))
    if place:
        _line(file)  # the rest of a line that began before
    return _topic_from(file, end)


def _topic_from(file: BinaryIO, end: int) -> tuple[int, bytes | None]:
    start = file.tell()
    stop = start + _MOST
    while start < end and (line := _line(file)):
        name = line.split(None, 1)[:1]
        if name and name[0][:1] != b"#":
            return start, name[0]
        start = file.tell()
        if start > stop:
            raise _NoTopic
    return start, None


def _line(file: BinaryIO) -> bytes:
    line = file.readline(_MOST)
    if len(line) == _MOST:
        raise _NoTopic
    return line
