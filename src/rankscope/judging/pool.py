"""Judged documents of topics, and their ideal rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Int32s, Ints
from rankscope.caching import CacheMixin, cached_property
from rankscope.errors import InputError
from rankscope.native.memory import sort_groups
from rankscope.read.qrels import UNJUDGED, Aspects, Qrels

if TYPE_CHECKING:
    from rankscope.judging.lists import Hits, Lists

__all__ = ["Aspects", "Pool"]


_POOLS: WeakKeyDictionary[Qrels, Pool] = WeakKeyDictionary()
"""Pools of judgments that are in use."""


class Pool(CacheMixin):
    """Judged documents of all topics in flat arrays; those of topic t are ``offsets[t]:offsets[t + 1]``.

    >>> pool = Pool(np.array([0, 3]), np.array([2, 0, 1], np.int32))
    >>> pool.recall_base(1).tolist(), pool.nonrelevant(1).tolist(), pool.max_grade
    ([2], [1], 2)
    """

    def __init__(
        self, offsets: Ints, grade: Int32s, aspects: Aspects | None = None, *, undecided: bool = False
    ) -> None:
        self.offsets = offsets
        self.grade = grade
        self.aspects = aspects
        self.undecided = undecided
        """Whether it is undecided if the second column of the judgments names aspects; using aspects is an error."""

    @classmethod
    def from_qrels(cls, qrels: Qrels) -> Pool:
        """Return the pool of judgments, which all evaluations with them share."""
        pool = _POOLS.get(qrels)
        if pool is None:
            undecided = qrels.subtopics is not None
            pool = cls(qrels.topic_offsets, qrels.grade, qrels.aspects, undecided=undecided)
            _POOLS[qrels] = pool
        return pool

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def topic(self) -> Ints:
        """Topic of each judged document."""
        return np.arange(len(self)).repeat(self.offsets[1:] - self.offsets[:-1])

    @cached_property
    def max_grade(self) -> int:
        """Maximum grade of the collection (at least 1)."""
        return max(1, int(self.grade.max())) if len(self.grade) else 1

    def count(self, where: Bools) -> Ints:
        """Return the number of judged documents of each topic for which a mask is true."""
        # 64-bit sums would double the memory; only pools of 2^31 documents need them.
        total = np.zeros(len(where) + 1, np.int32 if len(where) < 1 << 31 else np.int64)
        where.cumsum(out=total[1:])
        at_offsets: AnyArray = total[self.offsets]
        return (at_offsets[1:] - at_offsets[:-1]).astype(np.int64)

    def recall_base(self, rel: int = 1) -> Ints:
        """Return the number of documents of grade ``rel`` or better of each topic."""
        return self.cache(("recall base", rel), lambda: self.count(self.grade >= rel))

    def nonrelevant(self, rel: int = 1) -> Ints:
        """Return the number of documents of each topic that were judged below ``rel``."""
        return self.cache(
            ("nonrelevant", rel), lambda: self.count((self.grade < rel) & (self.grade != UNJUDGED))
        )

    def counts(self, topic: int) -> dict[int, int]:
        """Return the number of judged documents of a topic by grade (negative grades count as 0)."""
        return self.cache(("counts", topic), lambda: self._counts(topic))

    def _counts(self, topic: int) -> dict[int, int]:
        grades = self.grade[self.offsets[topic] : self.offsets[topic + 1]]
        distinct, counts = np.unique(np.maximum(grades[grades != UNJUDGED], 0), return_counts=True)
        return dict(zip(distinct.tolist(), counts.tolist(), strict=True))

    @cached_property
    def aspect_grades(self) -> Int32s:
        """Grade of document d for the a-th aspect of its topic, ``aspect_grades[a, d]``, or :data:`UNJUDGED`.

        Without aspects, a topic has one aspect with its own grades. The grade for an aspect is at most the grade for
        the topic, so that a smaller pool applies to aspects too.
        """
        if self.undecided:
            problem = "whether the second column of the judgments names aspects was not decided"
            raise InputError(problem, hint="use evaluate, or read_qrels with aspects=True or aspects=False")
        if self.aspects is None:
            return self.grade[np.newaxis]
        grades = np.full((int(self.aspect_count.max(initial=1)), len(self.grade)), UNJUDGED, np.int32)
        document = self.aspects.document
        aspect = self.aspects.aspect - self.aspects.topic_offsets[self.topic[document]]
        grades[aspect, document] = np.minimum(self.aspects.grade, self.grade[document])
        return grades

    @cached_property
    def aspect_count(self) -> Ints:
        """Number of aspects of each topic."""
        if self.aspects is None:
            return np.ones(len(self), np.int64)
        return np.diff(self.aspects.topic_offsets)

    def aspects_counted(self, rel: int = 1) -> Bools:
        """Return whether the a-th aspect of topic t has a relevant document, as an array of shape (aspects, topics).

        Other aspects cannot be covered and do not count, as in ndeval.
        """
        return self.cache(
            ("aspects counted", rel),
            lambda: self.by_aspect.recall_base(rel).reshape(len(self.aspect_grades), -1) > 0,
        )

    def aspect_weights(self, rel: int = 1) -> Floats:
        """Return the weight of the a-th aspect of topic t, shape (aspects, topics); the weights of a topic sum to 1."""
        return self.cache(("aspect weights", rel), lambda: self._aspect_weights(rel))

    def _aspect_weights(self, rel: int) -> Floats:
        weights = self.aspects_counted(rel).astype(np.float64)
        if self.aspects is not None and self.aspects.weight is not None:
            is_aspect = np.arange(len(weights))[:, np.newaxis] < self.aspect_count
            explicit = np.zeros(weights.shape)
            explicit.T[is_aspect.T] = self.aspects.weight
            weights *= explicit
        total = weights.sum(axis=0)
        return weights / np.where(total > 0, total, 1.0)

    @cached_property
    def by_aspect(self) -> Pool:
        """Pool in which every (aspect, topic) pair is a topic: pair a * topics + t."""
        size = len(self.grade)
        starts = (np.arange(len(self.aspect_grades))[:, np.newaxis] * size + self.offsets[:-1]).ravel()
        return Pool(np.append(starts, len(self.aspect_grades) * size), self.aspect_grades.ravel())

    def best_first(self, gains: Floats) -> Hits:
        """Return the documents of each topic with a positive gain, best first, as the hits of one list per topic.

        ``gains`` has one gain per judged document.
        """
        from rankscope.judging.lists import Hits

        groups = sort_groups(np.ascontiguousarray(gains, np.float64), self.offsets, ascending=True)
        order = np.lexsort((-gains, self.topic)) if groups is None else groups[0]
        order = order[gains[order] > 0]
        topic = self.topic[order]
        count = np.bincount(topic, minlength=len(self))
        rank = np.arange(1, len(order) + 1) - np.repeat(np.cumsum(count) - count, count)
        return Hits(len(self), topic, rank, self.grade[order], order)

    @cached_property
    def ideal(self) -> Lists:
        """Ideal list of each topic: its judged documents by descending grade."""
        from rankscope.judging.lists import Lists

        judged = np.flatnonzero(self.grade != UNJUDGED)
        order = judged[np.lexsort((-self.grade[judged].astype(np.int64), self.topic[judged]))]
        lengths = np.bincount(self.topic[judged], minlength=len(self))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rank = np.arange(len(order)) - np.repeat(offsets[:-1], lengths) + 1
        return Lists(
            self, np.arange(len(self)), lengths, offsets, rank.astype(np.int32), order.astype(np.int32)
        )
