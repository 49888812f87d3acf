"""Relative positions in seconds instead of ranks, which Ferro et al. (2016) propose to study.

The definition is ours. A user spends t(g) seconds on a document of grade g, and no less on a better one. T(j) is the
time spent above rank j of a ranking, and T*(j) of the ideal ranking. A document of grade g at rank j has

    RP[j] = T(j) - T*(min(g)) if that is negative (too early), T(j) - T*(max(g)) if that is positive (too late), else 0

where min(g) .. max(g) are the ranks of the grade in the ideal ranking. A non-relevant document can only be too early,
before E = T*(RB + 1), the end of the relevant documents in the ideal ranking. CRP and its crossings are defined as with
ranks, and with one second per document the values are equal to those with ranks.

**Longest spaces.** Replacing a document by a non-relevant one makes no other document later, because t(0) is the
shortest time, and the replacement has the earliest possible position; so no backward space is longer than that of a
ranking without relevant documents. In a ranking with the longest forward space all non-relevant documents come first,
since this makes no relevant document earlier. The relevant documents that are not late come next, then the p_g late
ones of each grade, best grade first: in this order the others wait longest. With s = (N - RB) t(0) + E their space is

    F(p) = sum_g p_g (s - T*(max(g)) - t(g) (p_g + 1) / 2) - sum over pairs g better than h of t(h) p_g p_h

Even if some of these are not late, the ranking has at least this space; so the longest space is the largest F(p) over
all p_g from 0 to c_g. F is a sum of concave functions of p_1, p_1 + p_2, ... (best grade first) and of the single p_g.
For such a sum the greedy algorithm, which adds the document with the largest increment, is optimal (Murota 2003).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging.lists import AnyArray, Floats, Lists
from rankscope.judging.pool import Pool
from rankscope.measures.effort_curves import FractionalCurves, Ideal, get_ideal


def parse_times(text: str, measure: str) -> list[float]:
    """Parse the reading times of grades 0, 1, 2, ... in seconds; the last number applies to all higher grades.

    >>> [round(seconds, 3) for seconds in parse_times("tbg", "TwistTime")]
    [8.495, 11.12]
    """
    if text == "tbg":
        # Few formulas use it, and it brings the diversity measures.
        from rankscope.measures.utility import TBG

        model = TBG()
        return [model.seconds(model.other_click), model.seconds(model.click)]
    try:
        values = [float(value) for value in text.split(",")]
        if values[0] > 0 and np.isfinite(values).all() and (np.diff(values) >= 0).all():
            return values
    except ValueError:
        pass
    hint = "times are tbg, or non-decreasing seconds for grades 0, 1, 2, ..., such as '8.5,11' or '5,10,30'"
    raise MeasureError(f"{measure} cannot have times={text!r}", hint=hint)


class TimedCurves(FractionalCurves):
    """CRP curves in seconds: ``rp``, ``before`` and ``end`` are seconds, ``clock`` is T at each hit."""

    def __init__(self, lists: Lists, rel: int, cutoff: int, times: list[float]) -> None:
        self.times = np.array(times)
        self.cutoff = cutoff
        self.key = (rel, cutoff, tuple(times))
        self.pool: Pool = lists.pool
        super().__init__(lists, rel, cutoff)

    def _seconds(self, grade: AnyArray) -> Floats:
        return np.asarray(self.times[np.clip(grade, 0, len(self.times) - 1)])

    def _compute(self) -> None:
        hits, other = self.hits, float(self.times[0])
        rank = hits.rank.astype(np.float64)
        first, last, self.ideal_end = self.pool.cache(("ideal clock", *self.key), self._ideal_clock)
        self.ideal_time: Floats = self.ideal_end[self.topic]
        longer = self._seconds(hits.grade) - other
        behind = hits.before(longer)
        self.clock: Floats = other * (rank - 1.0) + behind
        late, early = self.clock - hits.take(last), self.clock - hits.take(first)
        self.rp = np.maximum(late, 0.0) + np.minimum(early, 0.0)
        # Rank of the relevant document above each hit, or 0: the documents between them are non-relevant.
        above = np.where(hits.ordinal > 1, np.concatenate([[0.0], rank[:-1]]) if len(rank) else rank, 0.0)
        ideal_time = self.ideal_time[hits.list]
        lost = self._total_earliness(other * above + behind, rank - above - 1.0, ideal_time)
        after_last = hits.max(rank, 0.0)
        tail = self._total_earliness(
            other * after_last + hits.sum(longer), self.length - after_last, self.ideal_time
        )
        self.before = hits.before(self.rp) - hits.before(lost) - lost
        self.end = hits.sum(self.rp) - hits.sum(lost) - tail
        self.full_backward = self._total_earliness(
            np.zeros(len(self.base)), self.length.astype(float), self.ideal_time
        )

    def _total_earliness(self, clock: Floats, documents: Floats, ideal_time: Floats) -> Floats:
        """Return the total earliness of consecutive non-relevant documents, given the clock at the first one."""
        left = ideal_time - clock
        early = np.clip(np.ceil(left / self.times[0]), 0.0, documents)
        return np.asarray(early * left - self.times[0] * (early * (early - 1.0) / 2.0))

    def _ideal_clock(self) -> tuple[Floats, Floats, Floats]:
        """Return T*(min(g)) and T*(max(g)) of every judged document, and E of every topic."""
        ideal: Ideal = get_ideal(self.pool, self.key[0])
        hits = ideal.hits
        seconds = self._seconds(hits.grade)
        clock = hits.before(seconds)
        start = np.repeat(ideal.start, ideal.base)
        first, last = np.zeros(ideal.documents), np.zeros(ideal.documents)
        first[hits.judgment] = clock[start + ideal.first - 1]
        last[hits.judgment] = clock[start + ideal.last - 1]
        return first, last, hits.sum(seconds)

    @cached_property
    def full_forward(self) -> AnyArray:
        """Longest possible forward space of each list."""
        return self.pool.cache(("latest", *self.key), self._max_forward)[self.topic]

    def _max_forward(self) -> Floats:
        """Return the largest F(p) of each topic."""
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
        limit = (length - ideal.base) * self.times[0] + self.ideal_end - latest
        n_taken = np.zeros(count.shape)
        space = np.zeros(len(ideal.base))
        topics = np.arange(len(ideal.base))
        for _ in range(int(ideal.base.max(initial=0))):
            better = np.cumsum(n_taken, axis=0) - n_taken
            worse = np.cumsum((n_taken * seconds)[::-1], axis=0)[::-1] - n_taken * seconds
            added = limit - seconds * (n_taken + 1.0) - seconds * better - worse
            added = np.where(n_taken < count, added, -np.inf)
            best = added.argmax(axis=0)
            gain = added[best, topics]
            if not (gain > 0).any():
                break
            space += np.maximum(gain, 0.0)
            n_taken[best, topics] += gain > 0
        return space

    def crossing_time(self, mode: str) -> Floats:
        """Return the clock after the first crossing: 0 for a ranking that starts level, infinite without a crossing."""
        is_crossing = self.is_crossing(mode)
        time = self.hits.where(is_crossing).first(self.clock[is_crossing], np.inf)
        time[self.starts_level(mode)] = 0.0
        return time


def get_timed_curves(lists: Lists, rel: int, cutoff: int, times: str, measure: str) -> TimedCurves:
    """Return the curves in seconds; cached for all measures that use them."""
    seconds = parse_times(times, measure)
    key = ("effort by time", rel, cutoff, tuple(seconds))
    return lists.cache(key, lambda: TimedCurves(lists, rel, cutoff, seconds))
