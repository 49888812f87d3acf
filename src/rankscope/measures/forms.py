"""Closed forms of measures, which give exact means over all orders of tied documents and exact ranges over labels.

A measure declares its form next to its formula (``Measure.closed_form``). Measures without a form, such as Twist or a
user-defined function, are evaluated order by order (:mod:`rankscope.certainty.orders`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankscope.measures.arithmetic import ratio

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, Floats, Ints
    from rankscope.judging.lists import Lists
    from rankscope.judging.pool import Pool
    from rankscope.judging.tied import TiedHits, TiedLists
    from rankscope.measures.base import Measure

    GainFunction = Callable[[AnyArray, int], Floats]


class PartialList(NamedTuple):
    """One ranking with judged documents and with open ones, which may have any label."""

    rank: Ints
    grade: Ints
    """Grades of the judged documents at ``rank``."""
    open: Ints
    """Ranks of the open documents, ascending."""
    counts: Ints
    """Number of judged documents of the topic by grade 0, 1, ..., best; negative grades count as 0."""
    negative: int
    """Number of judged documents of the topic with a negative grade."""
    outside: int = 0
    """Number of open documents of the topic that are only in other lists."""

    @property
    def best(self) -> int:
        """Best possible grade."""
        return len(self.counts) - 1

    def relevant(self, rel: int) -> Ints:
        """Return the ranks of the judged relevant documents, ascending."""
        return np.sort(self.rank[self.grade >= rel])

    def recall_base(self, rel: int) -> int:
        """Return the number of judged relevant documents of the topic."""
        return int(self.counts[rel:].sum())

    def new_relevant(self, rel: int) -> Ints:
        """Return the possible numbers of relevant open documents: 0, 1, ...; only 0 if no grade reaches ``rel``."""
        return np.arange(len(self.open) + self.outside + 1 if rel <= self.best else 1)


class Form:
    """Closed form of a measure."""

    def label_range(self, measure: Measure, partial: PartialList) -> tuple[float, float] | None:
        """Return the lowest and the highest value over all labels of the open documents; None without a closed form."""
        ends = self.label_cases(measure, partial)
        return None if ends is None else (float(ends[0].min()), float(ends[1].max()))

    def label_cases(self, measure: Measure, partial: PartialList) -> tuple[Floats, Floats] | None:
        """Return the lowest and the highest value for 0, 1, ... new relevant documents; None without a closed form.

        The number of new relevant documents determines the divisor, which all rankings of a topic share. Rankings can
        therefore be compared number by number.
        """
        return None

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        """Return the mean over all orders of tied documents, given the value of the current order."""
        raise TypeError(f"{type(self).__name__} has no mean over orders")


class Unordered(Form):
    """Form of a measure that does not depend on the order."""

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        return value


class Additive(Form):
    """Sum of contributions that each depend on a single document and its rank.

    M = M(empty) + sum over documents d at rank i of M(d alone at i) - M(empty)
    The expected contribution of a tied document is its mean over the ranks of its group.
    """

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        if not (lists.ties.size > 1).any():
            return value
        untied = np.flatnonzero(lists.ties.size == 1)
        owner = lists.owner()
        every = np.arange(len(lists))
        rest = measure.evaluate(
            _with_hits(lists, every, owner[untied], lists.rank[untied], lists.judgment[untied])
        )
        groups = lists.groups(lists.ties.size > 1, lists.labels())
        group, position = groups.ranks()
        with_groups = np.unique(groups.list)
        no_hits = np.zeros(0, np.int64)
        empty = np.zeros(len(lists))
        empty[with_groups] = measure.evaluate(_with_hits(lists, with_groups, no_hits, no_hits, no_hits))
        sample = np.searchsorted(groups.owner, np.arange(len(groups.size)))
        judgment = lists.judgment[groups.member[sample]][group]
        rows = np.arange(len(group))
        single = measure.evaluate(
            _with_hits(lists, groups.list[group], rows, groups.first[group] + position - 1, judgment)
        )
        added = (single - empty[groups.list[group]]) * (groups.n_hits / groups.size)[group]
        return np.asarray(rest + np.bincount(groups.list[group], weights=added, minlength=len(lists)))


def _with_hits(lists: TiedLists, row: Ints, owner: Ints, rank: Any, judgment: Any) -> Lists:
    """Return lists of the same lengths with other hits; the hits of list i have owner i."""
    offsets = np.searchsorted(owner, np.arange(len(row) + 1))
    return lists.with_hits(row, offsets, rank, judgment)


def _group_sums(terms: AnyArray, first: Ints, size: Ints) -> Floats:
    """Return the sum of terms, given by rank, over the ranks of each group."""
    total = np.concatenate([[0.0], np.cumsum(terms)])
    return np.asarray(total[first + size - 1] - total[first - 1])


def _add_shift(value: Floats, lists: TiedLists, tied: TiedHits, shift: Floats, divisor: Any) -> Floats:
    """Return the values plus, for each tied hit, its expected minus its current contribution."""
    total = np.bincount(tied.list, weights=shift, minlength=len(lists))
    return np.asarray(value + np.divide(total, divisor, out=np.zeros(len(lists)), where=total != 0))


class Counted(Additive):
    """Share of the relevant documents that are retrieved down to a rank.

    M = relevant documents down to rank k / R, where k may depend on the topic
    """

    def __init__(self, rel: int, depth: Callable[[Ints], Ints]) -> None:
        self.rel = rel
        self.depth = depth
        """Function that returns k for each number R of relevant documents."""

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        tied, base = lists.tied(self.rel), lists.recall_base(self.rel)
        depth = self.depth(base)[tied.list]
        inside = np.clip(depth - tied.first + 1, 0, tied.size) / tied.size
        return _add_shift(value, lists, tied, inside - (tied.rank <= depth), base)

    def label_cases(self, measure: Measure, partial: PartialList) -> tuple[Floats, Floats] | None:
        """Return the bounds: the first open documents are relevant in the best case, the last ones in the worst case.

        If o of the M open documents have ranks down to k, and m are relevant, the first k ranks contain at most
        min(m, o) and at least max(0, o - (M - m)) of them.
        """
        new = partial.new_relevant(self.rel)
        base = partial.recall_base(self.rel) + new
        depth = self.depth(base)
        n_judged = np.searchsorted(partial.relevant(self.rel), depth, side="right")
        inside = np.searchsorted(partial.open, depth, side="right")
        minimum = np.maximum(0, inside - (len(partial.open) + partial.outside - new))
        return ratio(n_judged + minimum, base), ratio(n_judged + np.minimum(new, inside), base)


class Precisions(Form):
    """Sum over relevant documents of the ordinal among them times a weight of the rank.

    M = 1/R * sum over relevant documents of ordinal * weight(rank)
    Let a group have n documents, r of them relevant, and c relevant documents above it. The document at its j-th rank
    is relevant with probability r/n, and then has the expected ordinal c + 1 + (j-1)(r-1)/(n-1) (McSherry and Najork
    2008).
    """

    def __init__(self, rel: int, weight: Callable[[AnyArray], Floats]) -> None:
        self.rel, self.weight = rel, weight

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        tied = lists.tied(self.rel)
        if not len(tied.start):
            return value
        rank = np.arange(1, int((tied.first + tied.size).max()))
        weight = np.where(rank <= (measure.cutoff or np.inf), self.weight(rank), 0.0)
        first, size, count = tied.first[tied.start], tied.size[tied.start], tied.n_hits
        whole, ranked = (_group_sums(terms, first, size) for terms in (weight, rank * weight))
        slope = (count - 1) / (size - 1)  # expected increase of the ordinal per rank
        mean = count / size * (tied.ordinal[tied.start] * whole + slope * (ranked - first * whole))
        shift = np.repeat(mean / count, count) - tied.ordinal * weight[tied.rank - 1]
        return _add_shift(value, lists, tied, shift, lists.recall_base(self.rel))

    def label_cases(self, measure: Measure, partial: PartialList) -> tuple[Floats, Floats] | None:
        """Return the bounds: the first open documents are relevant in the best case, the last ones in the worst case.

        One more relevant document adds its own term, and 1 to the ordinal of every relevant document below it.
        """
        weight = np.where(partial.open <= (measure.cutoff or np.inf), self.weight(partial.open), 0.0)
        rank = partial.relevant(self.rel)
        judged_weight = np.where(rank <= (measure.cutoff or np.inf), self.weight(rank), 0.0)
        total = float((judged_weight * np.arange(1, len(rank) + 1)).sum())
        above = np.searchsorted(rank, partial.open)
        below = judged_weight.sum() - np.concatenate([[0.0], np.cumsum(judged_weight)])[above]
        number = np.arange(1, len(partial.open) + 1)
        first = np.cumsum((above + number) * weight + below)
        weight_below = np.cumsum(weight[::-1])  # of the open documents, from the last one up
        last = np.cumsum((above[::-1] + 1) * weight[::-1] + below[::-1] + weight_below - weight[::-1])
        new = partial.new_relevant(self.rel)
        base = partial.recall_base(self.rel) + new
        lowest, highest = (total + np.concatenate([[0.0], added]) for added in (last, first))
        return (
            ratio(lowest[np.maximum(0, new - partial.outside)], base),
            ratio(highest[np.minimum(new, len(partial.open))], base),
        )


class Weighted(Additive):
    """Sum over documents of the gain times the weight of the rank.

    M = sum of gain * weight(rank);  gains start at 0 and never decrease with the grade, weights never increase
    """

    def __init__(self, gain: GainFunction, weight: Callable[[AnyArray], Floats]) -> None:
        self.gain = gain
        """Gains of grades, by the best grade of the judgments."""
        self.weight = weight

    def gains(self, best: int) -> Floats:
        """Return the gains of the grades 0, 1, ..., best."""
        return self.gain(np.arange(best + 1), best)

    def weights(self, measure: Measure, rank: AnyArray) -> Floats:
        """Return the weight of each rank, 0 below the cutoff."""
        return np.where(rank <= (measure.cutoff or np.inf), self.weight(np.maximum(rank, 1)), 0.0)

    def ideal(self, measure: Measure, counts: Ints, n_more: int) -> Floats:
        """Return the divisors of the value with 0, 1, ..., ``n_more`` more documents of the best grade."""
        return np.ones(n_more + 1)

    def divisor(self, lists: Lists) -> Floats:
        """Return the divisor of the value of each list."""
        return np.ones(len(lists))

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        best = lists.pool.max_grade
        if self.gain(np.zeros(1, np.int64), best)[0] != 0:  # Non-relevant documents have a gain.
            return super().expected(measure, lists, value)
        tied = lists.tied(1)
        if not len(tied.start):
            return value
        weight = self.weights(measure, np.arange(1, int((tied.first + tied.size).max())))
        shift = _group_sums(weight, tied.first, tied.size) / tied.size - weight[tied.rank - 1]
        gain = self.gain(tied.grade, best)  # only of the grades that occur: the best may be two billion
        return _add_shift(value, lists, tied, gain * shift, self.divisor(lists))


class ShareOfIdeal(Weighted):
    """Weighted sum divided by the weighted sum of the ideal ranking.

    M = sum of gain * weight(rank) / the same sum of the ideal order of all judged documents
    """

    def __init__(
        self, gain: GainFunction, weight: Callable[[AnyArray], Floats], ideal_sum: Callable[[Pool], Floats]
    ) -> None:
        super().__init__(gain, weight)
        self.ideal_sum = ideal_sum
        """Function that returns the sum of the ideal ranking of each topic."""

    def divisor(self, lists: Lists) -> Floats:
        return np.asarray(lists.per_topic(self.ideal_sum(lists.pool)))

    def ideal(self, measure: Measure, counts: Ints, n_more: int) -> Floats:
        return np.asarray(np.diff(self.gains(len(counts) - 1)) @ self._ideal_weights(measure, counts, n_more))

    def _ideal_weights(self, measure: Measure, counts: Ints, n_more: int) -> Floats:
        """Return, for grades g >= 1, the ideal weight of all documents of grade g or better (grades, n_more + 1).

        Column m has m more such documents than are judged.
        """
        n_judged = np.cumsum(counts[::-1])[::-1][1:]
        ranks = np.arange(1, int(n_judged.max(initial=0)) + n_more + 1)
        total = np.concatenate([[0.0], np.cumsum(self.weights(measure, ranks))])
        return np.asarray(total[n_judged[:, np.newaxis] + np.arange(n_more + 1)])

    def label_range(self, measure: Measure, partial: PartialList) -> tuple[float, float] | None:
        """Return the exact range of the fraction.

        Let m_g be the number of new documents of grade g or better, so that m_1 >= m_2 >= ... Numerator and ideal are
        sums over g of (gain_g - gain_g-1) times functions of m_g alone. Dinkelbach's method (1967) finds the best
        fraction: maximising numerator - q * ideal for the best fraction q so far yields a better one, until none
        exists.
        """
        gain = self.gains(partial.best)
        step = np.diff(gain)[:, np.newaxis]
        judged_sum = float((self.weights(measure, partial.rank) * gain[np.maximum(partial.grade, 0)]).sum())
        weight = self.weights(measure, partial.open)
        ideal = step * self._ideal_weights(measure, partial.counts, len(partial.open))
        lowest, highest = (
            _best_fraction(sign, judged_sum, step * np.concatenate([[0.0], np.cumsum(order)]), ideal)
            for sign, order in ((-1, weight[::-1]), (1, weight))
        )
        return lowest, highest


def _best_fraction(sign: int, base: float, added: Floats, ideal: Floats) -> float:
    """Return the highest (sign 1) or lowest (sign -1) value of (base + sum of added) / (sum of ideal).

    Both sums have one entry per row, and the column never increases from row to row.
    """
    rows = np.arange(len(added))
    total = ideal[:, 0].sum()
    if total == 0 and sign < 0:
        return 0.0  # No relevant document is judged, and the open ones need not be relevant.
    best = base / total if total else 0.0
    while True:
        score = sign * (added - best * ideal)
        reach = np.zeros(score.shape[1])
        choices = []
        for row in rows[::-1]:  # The highest grades come first, because they have the fewest documents.
            reach = np.maximum.accumulate(score[row] + reach)
            choices.append(np.searchsorted(reach, reach, side="left"))
        columns = np.empty(len(rows), np.int64)
        column = len(reach) - 1
        for row, choice in zip(rows, choices[::-1], strict=True):
            columns[row] = column = int(choice[column])
        total = ideal[rows, columns].sum()
        value = (base + added[rows, columns].sum()) / total if total else 0.0
        if sign * (value - best) <= 1e-15 * max(1.0, abs(best)):
            return float(best)
        best = value


class Preferences(Form):
    """Sum over relevant documents of a term of n, the number of judged non-relevant documents above them.

    M = 1/R * sum over relevant documents of 1 - min(n, cap) / scale
    If a group has a non-relevant documents and b are above it, n = b, b + 1, ..., b + a are equally likely for each of
    its relevant documents.
    """

    def __init__(self, rel: int, lowest: int, limits: Callable[[Ints, Ints], tuple[Ints, Ints]]) -> None:
        self.rel, self.lowest = rel, lowest
        self.limits = limits
        """Function that returns cap and scale, given the numbers of relevant and of judged non-relevant documents."""

    def term(self, lists: Lists, owner: Ints, above: Ints) -> Floats:
        """Return the terms of relevant documents, given their lists and their numbers of non-relevant ones above."""
        base = lists.recall_base(self.rel)
        cap, scale = self.limits(base, lists.recall_base(self.lowest) - base)
        return 1.0 - ratio(np.minimum(above, cap[owner]), scale[owner])

    def label_cases(self, measure: Measure, partial: PartialList) -> tuple[Floats, Floats] | None:
        """Return the bounds: the first open documents are relevant in the best case, the last ones in the worst case.

        All open documents get judged; m of the n in the ranking become relevant: as many as possible in the best case,
        as few as possible in the worst. Let k be the number of known non-relevant documents above a relevant one, and o
        the number of open ones above it. The number of non-relevant documents above it is
            best:  k if it was open, else k + max(0, o - m)
            worst: k + n - m if it was open, else k + min(o, n - m)
        Both grow from rank to rank, so that sums of min(n, cap) consist of a first and a last part.
        """
        new, n_open = partial.new_relevant(self.rel), len(partial.open)
        base = partial.recall_base(self.rel) + new
        n_judged = int(partial.counts.sum()) - partial.negative + n_open + partial.outside
        cap, scale = self.limits(base, n_judged - base)
        rank, nonrelevant = partial.relevant(self.rel), np.sort(partial.rank[partial.grade < self.rel])
        k, k_open = np.searchsorted(nonrelevant, rank), np.searchsorted(nonrelevant, partial.open)
        o = np.searchsorted(partial.open, rank)
        m_best, m_worst = np.minimum(new, n_open), np.maximum(0, new - partial.outside)
        rest = n_open - m_worst
        cut_best, cut_worst = np.searchsorted(o, m_best), np.searchsorted(o, rest)
        best = (
            _capped_sum(k_open, 0, m_best, 0, cap)
            + _capped_sum(k, 0, cut_best, 0, cap)
            + _capped_sum(k + o, cut_best, len(k), -m_best, cap)
        )
        worst = (
            _capped_sum(k_open, rest, n_open, rest, cap)
            + _capped_sum(k + o, 0, cut_worst, 0, cap)
            + _capped_sum(k, cut_worst, len(k), rest, cap)
        )
        return (
            ratio(len(rank) + m_worst - ratio(worst, scale), base),
            ratio(len(rank) + m_best - ratio(best, scale), base),
        )

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        tied = lists.tied(self.rel)
        if not len(tied.start):
            return value
        from rankscope.judging.tied import bisect_ranges

        judged, base = lists.relevant(self.lowest), lists.recall_base(self.rel)
        begin = judged._bounds[tied.list]
        index = lists.positions_among(self.rel, self.lowest)[tied.among]
        current = self.term(lists, tied.list, index - begin + 1 - tied.ordinal)
        # Range of the group among all judged documents of the list.
        start, last = tied.start, tied.start + tied.n_hits - 1
        first = bisect_ranges(judged.rank, begin[start], index[start], tied.first[start])
        after = bisect_ranges(
            judged.rank, index[last], judged._bounds[tied.list[last] + 1], (tied.first + tied.size)[start]
        )
        above = first - begin[start] - tied.ordinal[start] + 1
        n_terms = after - first - tied.n_hits + 1
        group = np.repeat(np.arange(len(n_terms)), n_terms)
        more = np.arange(len(group)) - np.repeat(np.cumsum(n_terms) - n_terms, n_terms)
        terms = self.term(lists, tied.list[start][group], above[group] + more)
        mean = np.bincount(group, weights=terms) / n_terms
        return _add_shift(value, lists, tied, np.repeat(mean, tied.n_hits) - current, base)


def _capped_sum(numbers: Ints, first: Any, last: Any, shift: Any, cap: Ints) -> Ints:
    """Return the sum of min(x + shift, cap) over the non-decreasing ``numbers[first:last]``."""
    total = np.concatenate([[0], np.cumsum(numbers)])
    cut = np.clip(np.searchsorted(numbers, cap - shift), first, last)
    return np.asarray(total[cut] - total[first] + shift * (cut - first) + cap * (last - cut))
