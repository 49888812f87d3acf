"""Relative positions in seconds: time in the place of rank, which Ferro and others (2016) propose to study.

The definition is ours. A user spends t(g) seconds on a document of grade g, and no less on a better one. The clock of a
list, T(j), is the time spent above rank j; T*(j) is that of the ideal list. A document of grade g at rank j comes

    RP[j] = T(j) - T*(min(g)) seconds too early if that is negative, T(j) - T*(max(g)) too late if that is positive

where min(g) .. max(g) are the ranks of the grade in the ideal list; a non-relevant document can only be too early:
before E = T*(RB + 1), when an ideal list has shown everything relevant. CRP and its crossings follow as with ranks, and
with one second per document everything is as with ranks.

**The longest spaces.** Replacing a document by a non-relevant one makes none of the others later, as that takes the
least time, and is itself the earliest possible; so no backward space is longer than that of a list without relevant
documents. In a list of the longest forward space all non-relevant documents come first, since none of the relevant ones
is earlier for that. Of the relevant ones, let those that are not late come next, and then the p_g late ones of each
grade, the best first: that is the order in which the others wait longest. With s = (N - RB) t(0) + E their space is

    F(p) = sum_g p_g (s - T*(max(g)) - t(g) (p_g + 1) / 2) - sum over pairs g better than h of t(h) p_g p_h

Also where some of them are not late after all, the list has at least this space; so the longest one is the largest F(p)
over all p_g from 0 to c_g. F is a sum of concave functions of p_1, p_1 + p_2, ... (best grade first) and of the single
p_g, and for such a sum adding one document at a time, where it adds most, leads to the top (Murota 2003).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging.lists import AnyArray, Floats, Lists
from rankscope.judging.pool import Pool
from rankscope.measures.effort_curves import FractionalCurves, Ideal, ideal_of

__all__ = ["TimedCurves", "seconds_of_grades", "timed_curves_of"]


def seconds_of_grades(text: str, measure: str) -> list[float]:
    """The seconds that documents of grades 0, 1, 2, ... take, from a text; the last number is for all better grades.

    >>> [round(seconds, 3) for seconds in seconds_of_grades("tbg", "TwistTime")]
    [8.495, 11.12]
    """
    if text == "tbg":
        from rankscope.measures.utility import (
            TBG,
        )  # few formulas use it, and it brings the diversity measures

        model = TBG()
        return [model.seconds(model.other_click), model.seconds(model.click)]
    try:
        values = [float(value) for value in text.split(",")]
        if values[0] > 0 and np.isfinite(values).all() and (np.diff(values) >= 0).all():
            return values
    except ValueError:
        pass
    raise MeasureError(
        f"{measure} cannot have times={text!r}",
        hint="times are tbg, or seconds for grades 0, 1, 2, ... that do not fall, such as '8.5,11' or '5,10,30'",
    )


class TimedCurves(FractionalCurves):
    """The curves of all lists by the clock: ``rp``, ``before`` and ``end`` are seconds, ``clock`` is T at each hit."""

    def __init__(self, lists: Lists, rel: int, cutoff: int, times: list[float]) -> None:
        self.times = np.array(times)
        self.cutoff = cutoff
        self.key = (rel, cutoff, tuple(times))
        self.pool: Pool = lists.pool
        super().__init__(lists, rel, cutoff)

    def _seconds(self, grade: AnyArray) -> Floats:
        return np.asarray(self.times[np.clip(grade, 0, len(self.times) - 1)])

    def _follow(self) -> None:
        hits, other = self.hits, float(self.times[0])
        rank = hits.rank.astype(np.float64)
        first, last, self.ideal_end = self.pool.once(("ideal clock", *self.key), self._ideal_clock)
        self.ideal_time: Floats = self.ideal_end[self.topic]
        longer = self._seconds(hits.grade) - other
        behind = hits.before(longer)
        self.clock: Floats = other * (rank - 1.0) + behind
        self.rp = np.maximum(self.clock - hits.take(last), 0.0) + np.minimum(
            self.clock - hits.take(first), 0.0
        )
        # the non-relevant documents between this relevant one and the one above it, or the top
        above = np.where(hits.ordinal > 1, np.concatenate([[0.0], rank[:-1]]) if len(rank) else rank, 0.0)
        ideal_time = self.ideal_time[hits.list]
        lost = self._lost(other * above + behind, rank - above - 1.0, ideal_time)
        after_last = hits.max(rank, 0.0)
        tail = self._lost(other * after_last + hits.sum(longer), self.length - after_last, self.ideal_time)
        self.before = hits.before(self.rp) - hits.before(lost) - lost
        self.end = hits.sum(self.rp) - hits.sum(lost) - tail
        self.full_backward = self._lost(np.zeros(len(self.base)), self.length.astype(float), self.ideal_time)

    def _lost(self, clock: Floats, documents: Floats, ideal_time: Floats) -> Floats:
        """By how much so many non-relevant documents in a row come too early, the first of them at a time."""
        left = ideal_time - clock
        early = np.clip(np.ceil(left / self.times[0]), 0.0, documents)
        return np.asarray(early * left - self.times[0] * (early * (early - 1.0) / 2.0))

    def _ideal_clock(self) -> tuple[Floats, Floats, Floats]:
        """For every judged document T*(min(g)) and T*(max(g)), and for every topic E."""
        ideal: Ideal = ideal_of(self.pool, self.key[0])
        hits = ideal.hits
        seconds = self._seconds(hits.grade)
        clock = hits.before(seconds)
        start = np.repeat(ideal.start, ideal.base)
        found = []
        for place in (ideal.first, ideal.last):
            times = np.zeros(ideal.documents)
            times[hits.judgment] = clock[start + place - 1]
            found.append(times)
        return found[0], found[1], hits.sum(seconds)

    @cached_property
    def full_forward(self) -> AnyArray:
        """The longest forward space that a list has."""
        return self.pool.once(("latest", *self.key), self._latest)[self.topic]

    def _latest(self) -> Floats:
        """For each topic the largest F(p)."""
        ideal = self.ideal
        hits = ideal.hits
        grades = np.unique(hits.grade)[::-1]
        count = np.array([np.bincount(hits.list[hits.grade == g], minlength=len(ideal.base)) for g in grades])
        if not len(grades):
            return np.zeros(len(ideal.base))
        seconds = self._seconds(grades)[:, np.newaxis]
        start = np.cumsum(count * seconds, axis=0) - count * seconds
        latest = start + np.maximum(count - 1, 0) * seconds
        length = np.maximum(self.cutoff, 2 * ideal.base)
        most = (length - ideal.base) * self.times[0] + self.ideal_end - latest
        taken = np.zeros(count.shape)
        found = np.zeros(len(ideal.base))
        topics = np.arange(len(ideal.base))
        for _ in range(int(ideal.base.max(initial=0))):
            better = np.cumsum(taken, axis=0) - taken
            worse = np.cumsum((taken * seconds)[::-1], axis=0)[::-1] - taken * seconds
            added = most - seconds * (taken + 1.0) - seconds * better - worse
            added = np.where(taken < count, added, -np.inf)
            best = added.argmax(axis=0)
            gain = added[best, topics]
            if not (gain > 0).any():
                break
            found += np.maximum(gain, 0.0)
            taken[best, topics] += gain > 0
        return found

    def crossing_time(self, mode: str) -> Floats:
        """The clock at the rank after the first crossing: 0 if the curve is level or begins in place, or infinite."""
        hits = self.hits.where(self.crossed(mode))
        found = hits.first(self.clock[self.crossed(mode)], np.inf)
        found[self.at_once(mode)] = 0.0
        return found


def timed_curves_of(lists: Lists, rel: int, cutoff: int, times: str, measure: str) -> TimedCurves:
    """The curves by the clock, made once for all measures that need them."""
    written = getattr(lists, "flat", None)  # the documents between two hits are not known in a prefix tree
    flat: Lists = lists if written is None else written()
    seconds = seconds_of_grades(times, measure)
    key = ("effort by time", rel, cutoff, tuple(seconds))
    return flat.once(key, lambda: TimedCurves(flat, rel, cutoff, seconds))
