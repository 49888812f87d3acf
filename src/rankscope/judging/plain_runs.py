"""The lists of run files that were scanned ahead, as vectors: what :func:`rankscope.judge` is without numpy.

Only of what is as usual in every respect. Whatever is not (a file that has to be read again, a topic that comes back, a
run without a judged topic) gives None, and is left to the usual way, which says what is wrong.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from rankscope.judging.plain_lists import PlainLists, PlainPool
from rankscope.scan.ahead import Part
from rankscope.scan.judgments import Judgments
from rankscope.scan.library import Result
from rankscope.vectors import Vector

__all__ = ["PlainRun", "plain_pool", "plain_run"]


class PlainRun(NamedTuple):
    """The lists that a run has, and how many of its documents share their score with another one of their list."""

    lists: PlainLists
    tied: float
    ignored: bool
    """Whether it has topics without judgments."""

    @property
    def complete(self) -> bool:
        """Whether it has a list for every judged topic."""
        return len(self.lists) == len(self.lists.pool)


def plain_pool(judgments: Judgments) -> PlainPool:
    """The grades of judgments that the library has read."""
    grades, offsets = array("i"), array("q")
    grades.frombytes(bytes(judgments.grades()))
    offsets.frombytes(bytes(judgments.offsets()))
    return PlainPool(offsets, grades)


def plain_run(pool: PlainPool, parts: Sequence[Part]) -> PlainRun | None:
    """The lists of a file, all parts of which were scanned; in the order in which they stand there."""
    found = []
    for part in parts:
        scan = part.awaited()
        if scan is None:
            return None
        found.append(part.result(scan))
    lists = PlainLists(pool, *map(Vector.joined, zip(*_columns(pool, found), strict=True)))
    ignored = any(one.ignored for one in found)
    if not len(lists) or (len(found) > 1 and (ignored or len(set(lists.topic)) < len(lists))):
        return None
    return PlainRun(lists, sum(Vector.of_int32(one.tied, one.lists).total() for one in found), ignored)


def _columns(pool: PlainPool, found: Sequence[Result]) -> list[tuple[Vector, ...]]:
    """Of each part the topics and lengths of its lists, and the lists, ranks and grades of its hits."""
    grades = pool.grades.buffer_info()[0]
    columns: list[tuple[Vector, ...]] = []
    before = 0
    for one in found:
        owner = Vector.owners(one.hit_ends, one.lists, one.hits)
        columns.append(
            (
                Vector.of_int32(one.topic, one.lists),
                Vector.of_int32(one.length, one.lists),
                owner + before if before else owner,
                Vector.of_int32(one.rank, one.hits),
                Vector.taken_int32(grades, one.judgment, one.hits),
            )
        )
        before += one.lists
    return columns
