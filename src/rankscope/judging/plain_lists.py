"""Lists as vectors, for the same formulas without numpy: see :mod:`rankscope.vectors`.

A third implementation of what measures see of a collection, beside :class:`~rankscope.judging.lists.Lists` and the
trees of the laboratory. It has what most formulas ask for; the rest is :class:`~rankscope.vectors.BeyondVectors`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn

from rankscope.once import Once
from rankscope.vectors import BeyondVectors, Vector

__all__ = ["PlainHits", "PlainLists", "PlainPool"]


class _Beyond:
    """Something that lacks much, and says so to whoever asks for that."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise BeyondVectors(f"{name} of {type(self).__name__}")


class PlainHits(_Beyond):
    """Some of the judged documents of some lists, in list order and by rank inside a list."""

    def __init__(self, tables: PlainPool, size: int, owner: Vector, rank: Vector, grade: Vector) -> None:
        self._tables, self.size = tables, size
        self.list, self.rank, self.grade = owner, rank, grade

    def __len__(self) -> int:
        return len(self.rank)

    @cached_property
    def count(self) -> Vector:
        """How many of these hits each list has."""
        return self.list.sums(1.0, self.size)

    @cached_property
    def ordinal(self) -> Vector:
        """1 for the first of these hits in its list, 2 for the second, ..."""
        return self.list.ordinals()

    def where(self, keep: Vector) -> PlainHits:
        """The hits for which a condition holds."""
        places = keep.nonzero()
        if len(places) == len(self):
            return self
        return PlainHits(self._tables, self.size, self.list[places], self.rank[places], self.grade[places])

    def at_rank(self, function: Callable[[Any], Any]) -> Vector:
        """A function of the rank of each hit, computed once for each rank."""
        return self._tables.by_rank(function, self.rank)

    def sum(self, values: Any = 1.0) -> Vector:
        """The sum of a value per hit over each list, added in rank order."""
        return self.list.sums(values, self.size)

    def first(self, values: Vector, otherwise: float = 0.0) -> Vector:
        """The value at the first hit of each list, or ``otherwise`` where a list has none."""
        return self.list.firsts(values, otherwise, self.size)


class PlainPool(_Beyond, Once):
    """The judged documents of every topic, flat: those of topic t are ``offsets[t]`` to ``offsets[t + 1]``.

    >>> pool = PlainPool(array("q", [0, 3]), array("i", [2, 0, 1]))
    >>> pool.max_grade, len(pool)
    (2, 1)
    """

    def __init__(self, offsets: array[int], grades: array[int]) -> None:
        self.offsets, self.grades = offsets, grades
        self._by_rank: dict[Callable[[Any], Any], Vector] = {}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def grade(self) -> Vector:
        """The grade of each judged document."""
        return Vector.of_int32(self.grades.buffer_info()[0], len(self.grades))

    @cached_property
    def topic(self) -> Vector:
        """The topic of each judged document."""
        ends = self.offsets.buffer_info()[0] + self.offsets.itemsize
        return Vector.owners(ends, len(self), len(self.grades))

    @cached_property
    def max_grade(self) -> int:
        """The best grade given in the whole collection (at least 1)."""
        return max(1, max(self.grades, default=0))

    def recall_base(self, rel: int = 1) -> Vector:
        """The number of documents of grade ``rel`` or better of each topic."""
        return self.once(("recall base", rel), lambda: self.topic.sums(self.grade >= rel, len(self)))

    def best_first(self, gain: Callable[[Any], Any]) -> PlainHits:
        """The documents of each topic that gain something, the best first, as the hits of one list a topic."""
        order = self.topic.falling(gain(self.grade))
        topic = self.topic[order]
        return PlainHits(self, len(self), topic, topic.ordinals(), self.grade[order])

    def by_rank(self, function: Callable[[Any], Any], rank: Vector) -> Vector:
        """A function of ranks, which is asked once for each rank down to the deepest."""
        deepest = int(max(rank, default=0))
        table = self._by_rank.get(function)
        if table is None or len(table) < deepest:
            table = self._by_rank[function] = function(Vector.of(range(1, max(deepest, 1000) + 1)))
        return table[rank - 1]


class PlainLists(_Beyond, Once):
    """Ranked lists: ``topic`` and ``length`` have one entry per list, the others one per judged document in them."""

    def __init__(
        self, pool: PlainPool, topic: Vector, length: Vector, owner: Vector, rank: Vector, grade: Vector
    ) -> None:
        self.pool, self.topic, self.length = pool, topic, length
        self._judged = PlainHits(pool, len(topic), owner, rank, grade)

    @classmethod
    def empty(cls, pool: PlainPool) -> PlainLists:
        """For each topic the list of a run that does not have it."""
        none = Vector(0)
        return cls(pool, Vector.of(range(len(pool))), Vector(len(pool)), none, none, none)

    def __len__(self) -> int:
        return len(self.topic)

    def hits(self, cutoff: int | None = None) -> PlainHits:
        """All judged documents of the lists, down to a rank."""
        return self._judged if cutoff is None else self._cut("judged", self._judged, cutoff)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> PlainHits:
        """The documents of grade ``rel`` or better, down to a rank."""
        hits = self.once(("relevant", rel), lambda: self._judged.where(self._judged.grade >= rel))
        return hits if cutoff is None else self._cut(rel, hits, cutoff)

    def _cut(self, name: object, hits: PlainHits, cutoff: int) -> PlainHits:
        return self.once(("cut", name, cutoff), lambda: hits.where(hits.rank <= cutoff))

    def ordinal_among(self, rel: int, lowest: int) -> Vector:
        """For each document of grade ``rel`` or better its ordinal among those of grade ``lowest`` or better."""
        hits = self.relevant(lowest)
        return hits.ordinal[hits.grade >= rel]

    def per_topic(self, values: Vector) -> Vector:
        """For each list the value of its topic."""
        return values[self.topic]

    def recall_base(self, rel: int = 1) -> Vector:
        """For each list the number of relevant documents of its topic."""
        return self.once(("recall base", rel), lambda: self.per_topic(self.pool.recall_base(rel)))

    def retrieved(self, cutoff: int | None = None) -> Vector:
        """For each list the number of documents it has, down to a rank."""
        return self.length if cutoff is None else self.length.least(cutoff)
