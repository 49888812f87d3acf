"""Weighted relative positions, announced as future work by Ferro et al. (2016); the definition is ours.

A misplacement counts RP[j] * w(j) * d(j):

    w(j) = j^(patience - 1)       1 for a patient user; at patience 0 a misplacement counts relative to its rank
    d(j) = |value(grade at j) - value(grade of the ideal ranking at j)|      1 throughout for equal grades

With patience 1 and equal grades this is the curve of :class:`~rankscope.measures.effort_curves.Curves`. The space
ratios divide by the longest possible spaces under these weights. No backward space is longer than that of a ranking
without relevant documents. A document of grade g with the value v adds to the forward space

    (j - max(g)) j^(patience - 1) v = v j^patience - v max(g) j^(patience - 1)        at a rank j > RB

and less at the ranks up to RB. This grows with j, so that the relevant documents of a farthest ranking occupy its last
RB ranks. Their order there: without a discount the best last, as in the full-scale ranking; with equal grades the best
first; otherwise, if v and v max(g) do not rise together, an optimal assignment of documents to ranks.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging.lists import AnyArray, Floats, Lists
from rankscope.measures.effort_curves import FractionalCurves


def grade_values(text: str, measure: str) -> list[float]:
    """Parse the values of grades 0, 1, 2, ...

    >>> grade_values("0,1,3", "Twist")
    [0.0, 1.0, 3.0]
    """
    try:
        values = [float(value) for value in text.split(",")]
        if len(values) > 1 and values[0] == 0 and np.isfinite(values).all() and (np.diff(values) > 0).all():
            return values
    except ValueError:
        pass
    hint = "grades are equal, linear, or a rising list from 0 such as '0,1,3' for grades 0, 1, 2"
    raise MeasureError(f"{measure} cannot have grades={text!r}", hint=hint)


class WeightedCurves(FractionalCurves):
    """CRP curves with misplacements weighted by rank and by the distance between grades."""

    def __init__(self, lists: Lists, rel: int, cutoff: int, patience: float, grades: str) -> None:
        self.patience = patience
        self.grades = grades
        self.rel = rel
        self.cutoff = cutoff
        self.pool = lists.pool
        super().__init__(lists, rel, cutoff)

    def _compute(self) -> None:
        super()._compute()
        hits, ideal = self.hits, self.ideal
        rank, base = hits.rank.astype(np.int64), self.base[hits.list]
        # Cost of a non-relevant document at each rank of the ideal ranking, and the sum of the costs above it.
        expected = self._value(ideal.hits.grade)
        cost = (ideal.base[ideal.hits.list] + 1 - ideal.hits.rank) * self._discount(ideal.hits.rank)
        cost = cost * self._distance(expected, 0.0)
        total = ideal.hits.sum(cost)
        above = ideal.hits.before(cost)
        inside = rank <= base
        index = np.where(inside, ideal.start[self.topic[hits.list]] + rank - 1, 0)
        displaced = np.where(inside, expected[index], 0.0) if len(expected) else np.zeros(len(hits))
        spared = np.where(inside, cost[index], 0.0) if len(cost) else np.zeros(len(hits))
        lost = (
            np.where(inside, above[index], total[self.topic[hits.list]]) if len(cost) else np.zeros(len(hits))
        )
        distance = self._distance(self._value(hits.grade), displaced)
        self.rp = self.rp * self._discount(rank) * distance
        change = self.rp + spared
        self.full_backward = total[self.topic]
        self.before = hits.before(change) - lost
        self.end = hits.sum(change) - self.full_backward

    def _discount(self, rank: AnyArray) -> Floats:
        return np.asarray(rank, np.float64) ** (self.patience - 1.0)

    def _value(self, grade: AnyArray) -> Floats:
        if self.grades == "equal":
            return np.ones(len(grade))
        if self.grades == "linear":
            return grade.astype(np.float64)
        values = np.array(grade_values(self.grades, "Twist"))
        if len(grade) and grade.max() >= len(values):
            hint = f"grades={self.grades!r} ends at {len(values) - 1}"
            raise MeasureError(f"no value for grade {grade.max()}", hint=hint)
        return values[grade]

    def _distance(self, value: AnyArray, other: AnyArray | float) -> AnyArray:
        # With equal grades any two documents have distance 1, two relevant ones included.
        return np.ones(len(value)) if self.grades == "equal" else np.abs(value - other)

    @cached_property
    def full_forward(self) -> AnyArray:
        """Longest possible forward space under these weights."""
        key = ("farthest", self.rel, self.cutoff, self.patience, self.grades)
        return self.pool.cache(key, self._max_forward)[self.topic]

    def _max_forward(self) -> Floats:
        """Return the forward space of a farthest ranking of each topic."""
        ideal = self.ideal
        topic = ideal.hits.list
        values = self._value(ideal.hits.grade)
        latest = values * ideal.last
        length = np.maximum(self.cutoff, 2 * ideal.base)
        tail = (length - ideal.base)[topic] + ideal.hits.rank
        high, low = tail**self.patience, self._discount(tail)
        # Rearrangement inequality: a sum of products is extreme if both factors are sorted. If one order of the
        # documents sorts both terms, it gives the farthest list.
        gained = values[np.lexsort((values, topic))] * high
        lost = latest[np.lexsort((latest, topic))] * low
        farthest = ideal.hits.sum(gained - lost)
        if self.grades == "equal" or self.patience == 1:
            return farthest
        rising = (np.diff(latest) > 0) & (np.diff(topic) == 0)  # from a better grade to a worse one
        for t in np.unique(topic[1:][rising]).tolist():
            rows = slice(ideal.start[t], ideal.start[t] + ideal.base[t])
            _, kind, count = np.unique(-ideal.hits.grade[rows], return_index=True, return_counts=True)
            added = np.outer(values[rows][kind], high[rows]) - np.outer(latest[rows][kind], low[rows])
            farthest[t] = _largest_assignment(added, count)
        return farthest


def _largest_assignment(added: Floats, count: AnyArray) -> float:
    """Return the largest total of an assignment, in which a document of kind k adds ``added[k, j]`` at position j.

    >>> _largest_assignment(np.array([[1.0, 5.0], [4.0, 7.0]]), np.array([1, 1]))
    9.0
    """
    if len(count) == 2:  # the first kind takes the positions with the largest advantage over the second
        beyond = np.sort(added[0] - added[1])
        return float(added[1].sum() + beyond[count[1] :].sum())
    from scipy.optimize import linear_sum_assignment

    value = np.repeat(added, count, axis=0)
    return float(value[linear_sum_assignment(value, maximize=True)].sum())
