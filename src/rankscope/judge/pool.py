"""What is known about each topic: the grades of its judged documents, and the ideal list they make."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rankscope.read.qrels import UNJUDGED

if TYPE_CHECKING:
    from rankscope.judge.lists import Lists

__all__ = ["Pool"]

Ints = npt.NDArray[np.int64]


class Pool:
    """The judged documents of every topic, flat; those of topic t are ``offsets[t]:offsets[t + 1]``.

    >>> pool = Pool(np.array([0, 3]), np.array([2, 0, 1], np.int32))
    >>> pool.recall_base(1).tolist(), pool.nonrelevant(1).tolist(), pool.max_grade
    ([2], [1], 2)
    """

    def __init__(self, offsets: Ints, grade: npt.NDArray[np.int32]) -> None:
        self.offsets = offsets
        self.grade = grade
        self.recall_base = lru_cache(self._recall_base)
        self.nonrelevant = lru_cache(self._nonrelevant)

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

    def _recall_base(self, rel: int = 1) -> Ints:
        return self.count(self.grade >= rel)

    def _nonrelevant(self, rel: int = 1) -> Ints:
        return self.count((self.grade < rel) & (self.grade != UNJUDGED))

    @cached_property
    def counts(self) -> Ints:
        """``counts[t, g]``: judged documents of topic t with grade g, for g = 0 .. max_grade (negatives count as 0)."""
        counts = np.zeros((len(self), self.max_grade + 1), np.int64)
        judged = self.grade != UNJUDGED
        np.add.at(counts, (self.topic[judged], np.maximum(self.grade[judged], 0)), 1)
        return counts

    @cached_property
    def ideal(self) -> Lists:
        """One list per topic: its judged documents from the best grade to the worst."""
        from rankscope.judge.lists import Lists

        judged = np.flatnonzero(self.grade != UNJUDGED)
        order = judged[np.lexsort((-self.grade[judged].astype(np.int64), self.topic[judged]))]
        lengths = np.bincount(self.topic[judged], minlength=len(self))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rank = np.arange(len(order)) - np.repeat(offsets[:-1], lengths) + 1
        return Lists(self, np.arange(len(self)), lengths, offsets, rank.astype(np.int32), order.astype(np.int32))
