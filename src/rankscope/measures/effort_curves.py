"""Relative positions of all lists at once, from hits alone.

Only relevant documents are processed. Every non-relevant document at rank j <= RB has the relative position j - RB - 1,
and 0 after RB; so the curve of cumulated relative positions (CRP) at every rank follows from how the relevant hits
*change* the curve of a ranking without any:

    CRP before a hit at rank j = u (u + 1) / 2 - RB (RB + 1) / 2 + sum over the hits above of (RP + their u)
    u = max(0, RB + 1 - j), which the non-relevant document that the hit displaces would have cost

Between two hits the curve falls up to RB and is constant after it. Its first non-zero value is negative, because a
relevant document cannot be too late before another document was too early; hence every first crossing is at a hit.
The arithmetic is in integers, and no array has the length of a ranking.

The archetypes of the curves are those of Table 2 and Figure 3 of Ferro et al. (2016).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankscope.arrays import Bools, NDArray
from rankscope.judging.lists import AnyArray, Floats, Hits, Ints, Lists
from rankscope.judging.pool import Pool


class Ideal:
    """Ideal rankings: the relevant documents of every topic by grade, and the ranks of each grade.

    ``hits`` are the hits of the ideal rankings (list = topic); ``first`` and ``last`` are the first and last rank
    min(g) and max(g) of the hit's grade, one value per hit.
    """

    def __init__(self, pool: Pool, rel: int = 1) -> None:
        self.base = pool.recall_base(rel)
        self.start = np.cumsum(self.base) - self.base
        self.documents = len(pool.grade)
        self.hits = pool.best_first(np.where(pool.grade >= rel, pool.grade, 0))
        self.first, self.last = _intervals(self.hits)

    @cached_property
    def first_of_document(self) -> AnyArray:
        """min(g) for every judged document of the collection (0 for non-relevant ones)."""
        return self._per_document(self.first)

    @cached_property
    def last_of_document(self) -> AnyArray:
        """max(g) for every judged document of the collection (0 for non-relevant ones)."""
        return self._per_document(self.last)

    def _per_document(self, values: Ints) -> AnyArray:
        result = np.zeros(self.documents, np.int32)
        result[self.hits.judgment] = values
        return result

    @cached_property
    def total_last(self) -> Ints:
        """Sum over grades of c_g max(g), for each topic."""
        return self.hits.sum(self.last).astype(np.int64)

    def balance(self, length: Ints) -> Ints:
        """Return the balance point b_w of each topic's full-scale ranking: the first rank after RB where its CRP >= 0.

        The full-scale ranking of N ranks is the ideal ranking reversed; ``length`` has N for each topic.
        """
        hits = self.hits
        rank = length[hits.list] + 1 - hits.rank
        # The full-scale ranking is read backwards, so that a prefix sum gives the positions still to come at each rank.
        remaining = hits.before(rank - self.last)
        total = length * self.base - self.base * (self.base - 1) // 2 - self.total_last
        cumulated = total[hits.list] - remaining
        negative = hits.sum(cumulated < _triangle(self.base)[hits.list])
        return length - self.base + negative.astype(np.int64) + 1


def _intervals(hits: Hits) -> tuple[Ints, Ints]:
    rank = hits.rank
    if not len(hits):
        return rank, rank
    new = (hits.grade[1:] != hits.grade[:-1]) | (hits.list[1:] != hits.list[:-1])
    borders = np.concatenate([[0], np.flatnonzero(new) + 1, [len(hits)]])
    size = np.diff(borders)
    return np.repeat(rank[borders[:-1]], size), np.repeat(rank[borders[1:] - 1], size)


def _triangle(n: AnyArray) -> AnyArray:
    sums: AnyArray = n * (n + 1) >> 1
    return sums


class Curves:
    """CRP curves of all lists, evaluated at their hits.

    ``rp`` is the relative position of each hit, ``before`` and ``after`` the CRP at the rank above it and at its own;
    ``length`` is N for each list: the cutoff, or 2 RB where that is more.
    """

    def __init__(self, lists: Lists, rel: int, cutoff: int) -> None:
        self.hits: Hits = lists.relevant(rel, cutoff)
        self.ideal = get_ideal(lists.pool, rel)
        self.topic = lists.topic
        self.base: Ints = lists.recall_base(rel)
        self.length: Ints = np.maximum(cutoff, 2 * self.base)
        self._compute()

    def _compute(self) -> None:
        hits, ideal = self.hits, self.ideal
        # Small integer types and in-place operations: allocating memory would dominate the run time.
        late, early = hits.take(ideal.last_of_document), hits.take(ideal.first_of_document)
        np.subtract(hits.rank, late, out=late)
        np.subtract(hits.rank, early, out=early)
        self.rp: AnyArray = np.maximum(late, 0, out=late)
        self.rp += np.minimum(early, 0, out=early)
        spared = (self.base + 1).astype(np.int32)[hits.list]
        spared -= hits.rank.astype(np.int32, copy=False)
        np.maximum(spared, 0, out=spared)
        change = self.rp + spared
        self.full_backward: AnyArray = _triangle(self.base)
        self.before: AnyArray = hits.before(change)
        loss = spared.astype(np.int64)  # the square of RB may not fit into 32 bits
        loss *= spared + 1
        loss >>= 1
        self.before += loss
        self.before -= self.full_backward[hits.list]
        self.end: AnyArray = hits.sum(change) - self.full_backward

    @cached_property
    def after(self) -> AnyArray:
        """CRP at the rank of each hit."""
        return self.before + self.rp

    @cached_property
    def slack(self) -> Floats | None:
        """Tolerance below which values of the curve count as 0; None if the arithmetic is exact."""
        return None

    @cached_property
    def forward(self) -> Floats:
        """s+: the sum of the positive relative positions of each list."""
        return self.hits.sum(np.maximum(self.rp, 0))

    @cached_property
    def backward(self) -> AnyArray:
        """s-: the sum of the absolute values of the negative relative positions of each list."""
        return self.forward - self.end

    @cached_property
    def full_forward(self) -> AnyArray:
        """s+ of the full-scale ranking: RB (N - RB) + RB (RB + 1) / 2 - sum over grades of c_g max(g)."""
        return (
            self.base * (self.length - self.base) + _triangle(self.base) - self.ideal.total_last[self.topic]
        )

    @cached_property
    def level(self) -> AnyArray:
        """Whether CRP is 0 at every rank: the ranking is ideal."""
        return np.asarray(self.backward == 0)

    def crossing(self, mode: str) -> Floats:
        """Return the first rank m at which the curve crosses the axis between m and m + 1; infinite without a crossing.

        ``sign-change``: CRP[m] < 0 <= CRP[m+1] (or the mirror image, which never comes first)
        ``definition``: CRP[m] <= 0 <= CRP[m+1] or CRP[m] >= 0 >= CRP[m+1], so that CRP[1] = 0 is a crossing
        ``matters``: CRP[m] <= 0 < CRP[m+1]
        A curve that is 0 everywhere has m = 1.
        """
        rank = self._first_rank(self.is_crossing(mode)) - 1
        rank[self.starts_level(mode)] = 1.0
        return rank

    def is_crossing(self, mode: str) -> AnyArray:
        """Return a mask of the hits at which the curve crosses the axis."""
        after = self.after if self.slack is None else self.after + self.slack
        if mode == "matters":
            return np.asarray(after > 0 if self.slack is None else self.after - self.slack > 0)
        before = self.before if self.slack is None else self.before + self.slack
        return np.asarray((before < 0) & (after >= 0))

    def starts_level(self, mode: str) -> AnyArray:
        """Return a mask of lists that cross at rank 1: the ideal, and in mode ``definition`` those with RP[1] = 0."""
        if mode != "definition":
            return self.level
        in_place = self.hits.sum((self.hits.rank == 1) & (self.rp == 0)) > 0
        return np.asarray(self.level | in_place)

    def _first_rank(self, condition: AnyArray) -> Floats:
        hits = self.hits.where(condition)
        return hits.first(hits.rank, np.inf)

    def balance(self, mode: str) -> Floats:
        """Return the balance point max(RB, m)."""
        return np.maximum(self.base, self.crossing(mode))

    def crp_at(self, rank: AnyArray | int) -> AnyArray:
        """Return CRP of each list at a rank."""
        rank = np.broadcast_to(np.asarray(rank, np.int64), self.base.shape)
        hits = self.hits
        change = self.rp + np.maximum(self.base[hits.list] + 1 - hits.rank, 0)
        above = hits.sum(np.where(hits.rank <= rank[hits.list], change, 0))
        return above + _triangle(np.maximum(self.base - rank, 0)) - _triangle(self.base)

    @cached_property
    def loss(self) -> AnyArray:
        """CRP at the recall base (the loss value of Angelini et al. 2012)."""
        return self.crp_at(self.base)

    @cached_property
    def minimum(self) -> Floats:
        """Smallest CRP of each list."""
        falls = -self.hits.max(-np.minimum(self.before, self.after), -np.inf)
        return np.minimum(falls, self.loss)

    @cached_property
    def turn_around(self) -> Ints:
        """First rank at which CRP is smallest; RB for the ideal ranking."""
        hits, minimum = self.hits, self.minimum[self.hits.list]
        # The smallest value is at a hit, just above one, or at RB, where the curve stops falling.
        rank = np.where(
            self.before == minimum, hits.rank - 1, np.where(self.after == minimum, hits.rank, np.inf)
        )
        first = np.minimum(-hits.max(-rank, -np.inf), np.where(self.loss == self.minimum, self.base, np.inf))
        return np.where(self.level, self.base, first).astype(np.int64)

    @cached_property
    def regained(self) -> Floats:
        """Balance point b_r of 2012: first rank after the turn-around with CRP >= 0; infinite without one."""
        later = (self.hits.rank > self.turn_around[self.hits.list]) & (self.after >= 0)
        return np.where(self.level, self.base, self._first_rank(later))

    @cached_property
    def full_regained(self) -> Ints:
        """Balance point b_w of the full-scale ranking."""
        topics = len(self.ideal.base)
        length = np.zeros(topics, np.int64)
        length[self.topic] = self.length
        return self.ideal.balance(length)[self.topic]

    @cached_property
    def full_end(self) -> AnyArray:
        """CRP of the full-scale ranking at its last rank."""
        return self.full_forward - self.full_backward

    def full_crp_at(self, rank: AnyArray) -> AnyArray:
        """Return CRP of the full-scale ranking at a rank up to RB, where it has only non-relevant documents."""
        return _triangle(self.base - rank) - _triangle(self.base)


class FractionalCurves(Curves):
    """Curves with non-integer steps; this class handles their rounding errors."""

    @cached_property
    def slack(self) -> Floats:
        """Tolerance for sums of fractions that cancel up to rounding."""
        return 1e-12 * self.full_backward[self.hits.list]

    @cached_property
    def level(self) -> AnyArray:
        return self.backward <= 1e-12 * self.full_backward

    @cached_property
    def forward(self) -> Floats:
        # Rounding must not move a ratio out of [0, 1].
        return np.minimum(self.hits.sum(np.maximum(self.rp, 0)), self.full_forward)

    @cached_property
    def backward(self) -> AnyArray:
        return np.clip(self.forward - self.end, 0.0, self.full_backward)


def get_ideal(pool: Pool, rel: int = 1) -> Ideal:
    """Return the ideal rankings of a pool; cached."""
    return pool.cache(("effort", rel), lambda: Ideal(pool, rel))


def get_curves(lists: Lists, rel: int, cutoff: int) -> Curves:
    """Return the curves of lists; cached for all measures that use them."""
    return lists.cache(("effort", rel, cutoff), lambda: Curves(lists, rel, cutoff))


ARCHETYPES = {
    "ideal": "CRP is 0 at every rank",
    "excellent A": "recovered by RB, and only relevant documents in the first RB ranks",
    "excellent B": "recovered by RB, with non-relevant documents in the first RB ranks",
    "ups-and-downs": "recovered by RB, then below the axis again before RB",
    "typical A": "recovered after RB",
    "typical B": "never recovered",
    "full scale": "the ideal ranking reversed",
    "worst": "no relevant document retrieved",
}
"""Archetypes and their conditions, from the best to the worst."""

Names = NDArray[np.str_]


def find_archetypes(
    lists: Lists, *, crossing: str = "sign-change", cutoff: int = 1000, rel: int = 1
) -> Names:
    """Return the archetype of each ranking; an empty string if the topic has no relevant document.

    Conditions are tested in this order: worst, ideal, full scale; then by the first crossing m: the excellent family
    if m <= RB, typical A if m > RB, typical B without a crossing. Inside the family a ranking is ups-and-downs if
    CRP < 0 again at a rank in m + 2 .. RB, else excellent A if the first RB ranks hold relevant documents only, else
    excellent B.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 1}})
    >>> find_archetypes(judge(qrels, Run.from_dict({"q1": ["x", "d1", "d2", "y"]})).lists).tolist()
    ['typical B']
    """
    curves = get_curves(lists, rel, cutoff)
    hits, base = curves.hits, curves.base
    m = curves.crossing(crossing)
    top = hits.sum(hits.rank <= base[hits.list])
    tests = {
        "": base == 0,
        "worst": hits.count == 0,
        "ideal": curves.level,
        "full scale": _is_full_scale(hits, base, curves.length),
        "typical B": np.isinf(m),
        "typical A": m > base,
        "ups-and-downs": _is_negative_again(curves, m),
        "excellent A": top == base,
    }
    return np.select(list(tests.values()), list(tests), "excellent B")


def _is_full_scale(hits: Hits, base: Ints, length: Ints) -> Bools:
    """Return whether all relevant documents occupy the last RB ranks in ascending order of grade."""
    is_descending = np.zeros(len(hits))
    is_descending[1:] = (hits.grade[1:] < hits.grade[:-1]) & (hits.list[1:] == hits.list[:-1])
    is_at_end = hits.first(hits.rank, -1) == length - base + 1
    return np.asarray((hits.count == base) & is_at_end & (hits.sum(is_descending) == 0))


def _is_negative_again(curves: Curves, m: Floats) -> Bools:
    """Return whether CRP < 0 at a rank in m + 2 .. RB. CRP falls between hits, so the ends of the gaps suffice."""
    hits, base = curves.hits, curves.base
    start, end = m[hits.list] + 2, base[hits.list]
    above = (curves.before < 0) & (hits.rank - 1 >= start) & (hits.rank - 1 <= end)
    below = (curves.after < 0) & (hits.rank >= start) & (hits.rank <= end)
    at_base = (curves.loss < 0) & (base >= m + 2)
    return np.asarray((hits.sum(above | below) > 0) | at_base)
