"""What is known about each topic: the grades of its judged documents, and the ideal list they make."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rankscope.caching import CacheMixin
from rankscope.errors import InputError
from rankscope.read.qrels import UNJUDGED, Aspects

if TYPE_CHECKING:
    from rankscope.judging.lists import Hits, Lists

__all__ = ["Aspects", "Pool"]

Ints = npt.NDArray[np.int64]


class Pool(CacheMixin):
    """The judged documents of every topic, flat; those of topic t are ``offsets[t]:offsets[t + 1]``.

    >>> pool = Pool(np.array([0, 3]), np.array([2, 0, 1], np.int32))
    >>> pool.recall_base(1).tolist(), pool.nonrelevant(1).tolist(), pool.max_grade
    ([2], [1], 2)
    """

    def __init__(
        self,
        offsets: Ints,
        grade: npt.NDArray[np.int32],
        aspects: Aspects | None = None,
        *,
        undecided: bool = False,
    ) -> None:
        self.offsets = offsets
        self.grade = grade
        self.aspects = aspects
        self.undecided = undecided
        """Whether nobody has said what the second column of the judgments means: then nobody may ask for aspects."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def topic(self) -> Ints:
        """The topic of each judged document."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def max_grade(self) -> int:
        """The best grade given in the whole collection (at least 1)."""
        return max(1, int(self.grade.max(initial=0)))

    def count(self, where: npt.NDArray[np.bool_]) -> Ints:
        """How many judged documents of each topic satisfy a condition on the documents."""
        return np.bincount(self.topic[where], minlength=len(self))

    def recall_base(self, rel: int = 1) -> Ints:
        """The number of documents of grade ``rel`` or better of each topic."""
        return self.cache(("recall base", rel), lambda: self.count(self.grade >= rel))

    def nonrelevant(self, rel: int = 1) -> Ints:
        """The number of documents of each topic that were judged below ``rel``."""
        return self.cache(
            ("nonrelevant", rel), lambda: self.count((self.grade < rel) & (self.grade != UNJUDGED))
        )

    def counts(self, topic: int) -> dict[int, int]:
        """How many judged documents of a topic have each grade (negative ones count as 0)."""
        return self.cache(("counts", topic), lambda: self._counts(topic))

    def _counts(self, topic: int) -> dict[int, int]:
        grades = self.grade[self.offsets[topic] : self.offsets[topic + 1]]
        found, counts = np.unique(np.maximum(grades[grades != UNJUDGED], 0), return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))

    @cached_property
    def aspect_grades(self) -> npt.NDArray[np.int32]:
        """``aspect_grades[a, d]``: the grade of document d for the a-th aspect of its topic, :data:`UNJUDGED` if none.

        Without aspects a topic has one, itself. A document never counts for an aspect more than for its topic, so
        that judging again (a smaller pool) reaches the aspects too.
        """
        if self.undecided:
            raise InputError(
                "whether the second column of the judgments names aspects was not decided",
                hint="use evaluate, or read_qrels with aspects=True or aspects=False",
            )
        if self.aspects is None:
            return self.grade[np.newaxis]
        grades = np.full((int(self.aspect_count.max(initial=1)), len(self.grade)), UNJUDGED, np.int32)
        document = self.aspects.document
        place = self.aspects.aspect - self.aspects.topic_offsets[self.topic[document]]
        grades[place, document] = np.minimum(self.aspects.grade, self.grade[document])
        return grades

    @cached_property
    def aspect_count(self) -> Ints:
        """The number of aspects of each topic."""
        if self.aspects is None:
            return np.ones(len(self), np.int64)
        return np.diff(self.aspects.topic_offsets)

    def aspects_counted(self, rel: int = 1) -> npt.NDArray[np.bool_]:
        """``aspects_counted()[a, t]``: whether some document is relevant to the a-th aspect of topic t.

        Nobody can cover the others, so they do not count, as in ndeval.
        """
        return self.cache(("aspects counted", rel), lambda: self._aspects_counted(rel))

    def _aspects_counted(self, rel: int) -> npt.NDArray[np.bool_]:
        return self.by_aspect.recall_base(rel).reshape(len(self.aspect_grades), -1) > 0

    def aspect_weights(self, rel: int = 1) -> npt.NDArray[np.float64]:
        """``aspect_weights()[a, t]``: how much the a-th aspect of topic t counts, 1 in all; equal unless given."""
        return self.cache(("aspect weights", rel), lambda: self._aspect_weights(rel))

    def _aspect_weights(self, rel: int) -> npt.NDArray[np.float64]:
        weights = self.aspects_counted(rel).astype(np.float64)
        if self.aspects is not None and self.aspects.weight is not None:
            there = np.arange(len(weights))[:, np.newaxis] < self.aspect_count
            given = np.zeros(weights.shape)
            given.T[there.T] = self.aspects.weight
            weights *= given
        total = weights.sum(axis=0)
        return weights / np.where(total > 0, total, 1.0)

    @cached_property
    def by_aspect(self) -> Pool:
        """The pool in which every (aspect, topic) pair is a topic of its own: pair a * topics + t."""
        size = len(self.grade)
        starts = (np.arange(len(self.aspect_grades))[:, np.newaxis] * size + self.offsets[:-1]).ravel()
        return Pool(np.append(starts, len(self.aspect_grades) * size), self.aspect_grades.ravel())

    def best_first(self, gain: Callable[[npt.NDArray[np.int32]], npt.NDArray[np.float64]]) -> Hits:
        """The documents of each topic that gain something, the best first, as the hits of one list a topic.

        ``gain`` gives that of each grade.
        """
        from rankscope.judging.lists import Hits

        gains = gain(self.grade)
        some = np.flatnonzero(gains > 0)
        order = some[np.lexsort((-gains[some], self.topic[some]))]
        topic = self.topic[order]
        count = np.bincount(topic, minlength=len(self))
        rank = np.arange(1, len(order) + 1) - np.repeat(np.cumsum(count) - count, count)
        return Hits(len(self), topic, rank, self.grade[order], order)

    @cached_property
    def ideal(self) -> Lists:
        """One list per topic: its judged documents from the best grade to the worst."""
        from rankscope.judging.lists import Lists

        judged = np.flatnonzero(self.grade != UNJUDGED)
        order = judged[np.lexsort((-self.grade[judged].astype(np.int64), self.topic[judged]))]
        lengths = np.bincount(self.topic[judged], minlength=len(self))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rank = np.arange(len(order)) - np.repeat(offsets[:-1], lengths) + 1
        return Lists(
            self, np.arange(len(self)), lengths, offsets, rank.astype(np.int32), order.astype(np.int32)
        )
