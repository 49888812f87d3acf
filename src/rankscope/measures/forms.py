"""What the value of a measure is made of, where that gives its mean over all orders of tied documents exactly.

A measure declares its form beside its formula (``Measure.closed_form``). One that declares none, such as Twist or a
function of the user's, is looked at order by order (:mod:`rankscope.certainty.orders`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankscope.measures.arithmetic import ratio

if TYPE_CHECKING:
    import numpy.typing as npt

    from rankscope.judging.lists import Floats, Ints, Lists
    from rankscope.judging.pool import Pool
    from rankscope.judging.tied import TiedHits, TiedLists
    from rankscope.measures.base import Measure

    GainFunction = Callable[[npt.NDArray[Any], int], Floats]


class Seen(NamedTuple):
    """What is known of one list whose other documents may have any label."""

    rank: Ints
    grade: Ints
    """Of the judged documents of the list."""
    open: Ints
    """The ranks of the others, from the top."""
    counts: Ints
    """How many judged documents the topic has of grade 0, 1, ..., the best one there is; negative ones are 0s."""
    negative: int
    """How many of them have a negative grade."""
    outside: int = 0
    """How many further documents may have any label that are not in this list, but in another one."""

    @property
    def best(self) -> int:
        """The best grade there is."""
        return len(self.counts) - 1

    def relevant(self, rel: int) -> Ints:
        """The ranks of the documents known to be relevant, from the top."""
        return np.sort(self.rank[self.grade >= rel])

    def to_find(self, rel: int) -> int:
        """How many relevant documents of the topic are known."""
        return int(self.counts[rel:].sum())

    def numbers(self, rel: int) -> Ints:
        """How many of the others may be relevant: 0, 1, ..., all; none if no grade is high enough."""
        return np.arange(len(self.open) + self.outside + 1 if rel <= self.best else 1)


class Form:
    """How a value is put together."""

    def label_range(self, measure: Measure, seen: Seen) -> tuple[float, float] | None:
        """The lowest and the highest value over all labels of the other documents, if there is a quick way."""
        ends = self.label_cases(measure, seen)
        return None if ends is None else (float(ends[0].min()), float(ends[1].max()))

    def label_cases(self, measure: Measure, seen: Seen) -> tuple[Floats, Floats] | None:
        """The lowest and the highest value for 0, 1, ... new relevant documents, if that number decides the divisor.

        The recall base is the same for all lists of a topic then, so that lists can be compared number by number.
        """
        return None

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        """The mean over all orders of tied documents, given the value of the order that the lists have."""
        raise TypeError(f"{type(self).__name__} says nothing about orders")


class Unordered(Form):
    """The order does not matter."""

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        return value


class Additive(Form):
    """Every document adds something of its own, whatever else is in the list.

    M = M(nothing) + sum over documents d at rank i of M(d alone at i) - M(nothing)
    A tied document adds what it adds on average over the ranks of its group.
    """

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        if not (lists.ties.size > 1).any():
            return value
        alone = np.flatnonzero(lists.ties.size == 1)
        owner = lists.owner()
        rest = measure.evaluate(
            _lists(lists, np.arange(len(lists)), owner[alone], lists.rank[alone], lists.judgment[alone])
        )
        groups = lists.groups(lists.ties.size > 1, lists.labels())
        group, place = groups.ranks()
        some = np.unique(groups.list)
        nothing = np.zeros(len(lists))
        none = np.zeros(0, np.int64)
        nothing[some] = measure.evaluate(_lists(lists, some, none, none, none))
        sample = np.searchsorted(groups.owner, np.arange(len(groups.size)))
        judgment = lists.judgment[groups.member[sample]][group]
        rows = np.arange(len(group))
        single = measure.evaluate(
            _lists(lists, groups.list[group], rows, groups.first[group] + place - 1, judgment)
        )
        added = (single - nothing[groups.list[group]]) * (groups.held / groups.size)[group]
        return np.asarray(rest + np.bincount(groups.list[group], weights=added, minlength=len(lists)))


def _lists(lists: TiedLists, row: Ints, owner: Ints, rank: Any, judgment: Any) -> Lists:
    """Lists as long as these, with other hits: those of the i-th one are the hits with owner i."""
    offsets = np.searchsorted(owner, np.arange(len(row) + 1))
    return lists.arranged(row, offsets, rank, judgment)


def _between(terms: npt.NDArray[Any], first: Ints, size: Ints) -> Floats:
    """The sum of the terms of ranks 1, 2, ... over those of each group."""
    total = np.concatenate([[0.0], np.cumsum(terms)])
    return np.asarray(total[first + size - 1] - total[first - 1])


def _shifted(value: Floats, lists: TiedLists, tied: TiedHits, shift: Floats, divisor: Any) -> Floats:
    """The values, moved by what each tied hit adds more on average than where it stands; others stay as they are."""
    moved = np.bincount(tied.list, weights=shift, minlength=len(lists))
    return np.asarray(value + np.divide(moved, divisor, out=np.zeros(len(lists)), where=moved != 0))


class Counted(Additive):
    """Every relevant document down to some rank adds as much as another: a share of all relevant ones.

    M = relevant documents down to rank k / R, where k may differ from topic to topic
    """

    def __init__(self, rel: int, depth: Callable[[Ints], Ints]) -> None:
        self.rel = rel
        self.depth = depth
        """k for each number R of relevant documents."""

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        tied, base = lists.tied(self.rel), lists.recall_base(self.rel)
        depth = self.depth(base)[tied.list]
        inside = np.clip(depth - tied.first + 1, 0, tied.size) / tied.size
        return _shifted(value, lists, tied, inside - (tied.rank <= depth), base)

    def label_cases(self, measure: Measure, seen: Seen) -> tuple[Floats, Floats] | None:
        """For each number of new relevant documents the first ones are best, and the last ones worst.

        Of m new ones among M open documents, o of them down to rank k, min(m, o) or max(0, o - (M - m)) are found.
        """
        new = seen.numbers(self.rel)
        base = seen.to_find(self.rel) + new
        depth = self.depth(base)
        known = np.searchsorted(seen.relevant(self.rel), depth, side="right")
        inside = np.searchsorted(seen.open, depth, side="right")
        least = np.maximum(0, inside - (len(seen.open) + seen.outside - new))
        return ratio(known + least, base), ratio(known + np.minimum(new, inside), base)


class Precisions(Form):
    """Every relevant document adds its number among the relevant ones, times a weight of its rank.

    M = 1/R * sum over relevant documents of ordinal * weight(rank)
    At the j-th rank of a group of n, of which r are relevant, after c others, stands a relevant document with the
    probability r/n, and then its ordinal is on average c + 1 + (j-1)(r-1)/(n-1) (McSherry and Najork 2008).
    """

    def __init__(self, rel: int, weight: Callable[[npt.NDArray[Any]], Floats]) -> None:
        self.rel, self.weight = rel, weight

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        tied = lists.tied(self.rel)
        if not len(tied.start):
            return value
        rank = np.arange(1, int((tied.first + tied.size).max()))
        weight = np.where(rank <= (measure.cutoff or np.inf), self.weight(rank), 0.0)
        first, size, count = tied.first[tied.start], tied.size[tied.start], tied.held
        whole, ranked = (_between(terms, first, size) for terms in (weight, rank * weight))
        further = (count - 1) / (size - 1)  # relevant ones that each rank adds
        mean = count / size * (tied.ordinal[tied.start] * whole + further * (ranked - first * whole))
        shift = np.repeat(mean / count, count) - tied.ordinal * weight[tied.rank - 1]
        return _shifted(value, lists, tied, shift, lists.recall_base(self.rel))

    def label_cases(self, measure: Measure, seen: Seen) -> tuple[Floats, Floats] | None:
        """For each number of new relevant documents the first ones are best, and the last ones worst.

        One more at rank i adds its own term, and one to the ordinal of every relevant document below it.
        """
        weight = np.where(seen.open <= (measure.cutoff or np.inf), self.weight(seen.open), 0.0)
        rank = seen.relevant(self.rel)
        known = np.where(rank <= (measure.cutoff or np.inf), self.weight(rank), 0.0)
        total = float((known * np.arange(1, len(rank) + 1)).sum())
        above = np.searchsorted(rank, seen.open)
        below = known.sum() - np.concatenate([[0.0], np.cumsum(known)])[above]
        number = np.arange(1, len(seen.open) + 1)
        first = np.cumsum((above + number) * weight + below)
        later = np.cumsum(weight[::-1])  # of the new ones, from the last up
        last = np.cumsum((above[::-1] + 1) * weight[::-1] + below[::-1] + later - weight[::-1])
        new = seen.numbers(self.rel)
        base = seen.to_find(self.rel) + new
        least, most = (total + np.concatenate([[0.0], added]) for added in (last, first))
        return (
            ratio(least[np.maximum(0, new - seen.outside)], base),
            ratio(most[np.minimum(new, len(seen.open))], base),
        )


class Weighted(Additive):
    """Every document adds its gain times the weight of its rank, and nothing else counts.

    M = sum of gain * weight(rank);  gains rise with grades from 0 on, weights fall with ranks
    """

    def __init__(self, gain: GainFunction, weight: Callable[[npt.NDArray[Any]], Floats]) -> None:
        self.gain = gain
        """Gains of grades, by the best grade of the judgments."""
        self.weight = weight

    def gains(self, best: int) -> Floats:
        """Return the gains of the grades 0, 1, ..., best."""
        return self.gain(np.arange(best + 1), best)

    def weights(self, measure: Measure, rank: npt.NDArray[Any]) -> Floats:
        """The weight of each rank, none below the cutoff."""
        return np.where(rank <= (measure.cutoff or np.inf), self.weight(np.maximum(rank, 1)), 0.0)

    def ideal(self, measure: Measure, counts: Ints, many: int) -> Floats:
        """What the value is divided by, with 0, 1, ..., many more documents of the best grade."""
        return np.ones(many + 1)

    def divisor(self, lists: Lists) -> Floats:
        """What the value of each list is divided by."""
        return np.ones(len(lists))

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        best = lists.pool.max_grade
        if self.gain(np.zeros(1, np.int64), best)[0] != 0:  # documents that are not relevant count, too
            return super().expected(measure, lists, value)
        tied = lists.tied(1)
        if not len(tied.start):
            return value
        weight = self.weights(measure, np.arange(1, int((tied.first + tied.size).max())))
        shift = _between(weight, tied.first, tied.size) / tied.size - weight[tied.rank - 1]
        gain = self.gain(tied.grade, best)  # not of all grades: there may be two billion
        return _shifted(value, lists, tied, gain * shift, self.divisor(lists))


class ShareOfIdeal(Weighted):
    """What documents add, as a share of what they add in the ideal order of all judged ones.

    M = sum of gain * weight(rank) / the same of the ideal list
    """

    def __init__(
        self,
        gain: GainFunction,
        weight: Callable[[npt.NDArray[Any]], Floats],
        of_ideal: Callable[[Pool], Floats],
    ) -> None:
        super().__init__(gain, weight)
        self.of_ideal = of_ideal
        """What the ideal list of each topic adds up to."""

    def divisor(self, lists: Lists) -> Floats:
        return np.asarray(lists.per_topic(self.of_ideal(lists.pool)))

    def ideal(self, measure: Measure, counts: Ints, many: int) -> Floats:
        step = np.diff(self.gains(len(counts) - 1))
        to_find = np.cumsum(counts[::-1])[::-1][1:]
        ranks = np.arange(1, int(to_find.max(initial=0)) + many + 1)
        worth = np.concatenate([[0.0], np.cumsum(self.weights(measure, ranks))])
        return np.asarray(step @ worth[to_find[:, np.newaxis] + np.arange(many + 1)])

    def label_range(self, measure: Measure, seen: Seen) -> tuple[float, float] | None:
        """The exact range: a fraction whose parts are sums over levels of grades.

        With m_g new documents of grade g or better, sorted, numerator and ideal are sums over g of (gain_g - gain_g-1)
        times functions of m_g alone, where m_1 >= m_2 >= ... The best fraction is found by Dinkelbach's method (1967):
        the best value of numerator - q * ideal for the best fraction q so far gives a better one, until none is.
        """
        gain = self.gains(seen.best)
        step = np.diff(gain)
        many = len(seen.open)
        found = self.weights(measure, seen.rank) * gain[np.maximum(seen.grade, 0)]
        weight = self.weights(measure, seen.open)
        to_find = np.cumsum(seen.counts[::-1])[::-1][1:]
        depth = int(to_find.max(initial=0)) + many
        ranks = np.arange(1, depth + 1)
        ideal = np.concatenate([[0.0], np.cumsum(self.weights(measure, ranks))])
        places = np.arange(many + 1)
        worth = step[:, np.newaxis] * ideal[to_find[:, np.newaxis] + places]
        ends = []
        for sign, order in ((-1, weight[::-1]), (1, weight)):
            added = step[:, np.newaxis] * np.concatenate([[0.0], np.cumsum(order)])
            ends.append(_best_fraction(sign, float(found.sum()), added, worth))
        return ends[0], ends[1]


def _best_fraction(sign: int, base: float, added: Floats, worth: Floats) -> float:
    """The highest (or lowest, sign -1) of (base + sum of added) / sum of worth, one place a row, never rising."""
    rows = np.arange(len(added))
    place = np.zeros(len(added), np.int64)
    total = worth[rows, place].sum()
    if total == 0 and sign < 0:
        return 0.0  # nothing relevant is known, and nothing need be
    best = base / total if total else 0.0
    while True:
        score = sign * (added - best * worth)
        top = np.empty_like(place)
        reach = np.zeros(score.shape[1])
        choice = []
        for row in rows[::-1]:  # the highest grades first: they are the fewest
            reach = score[row] + reach
            running = np.maximum.accumulate(reach)
            choice.append(np.searchsorted(running, running, side="left"))
            reach = running
        at = len(reach) - 1
        for row, taken in zip(rows, choice[::-1], strict=True):
            at = int(taken[at])
            top[row] = at
        total = worth[rows, top].sum()
        value = (base + added[rows, top].sum()) / total if total else 0.0
        if sign * (value - best) <= 1e-15 * max(1.0, abs(best)):
            return float(best)
        best = value


class Preferences(Form):
    """Every relevant document adds a term of the number of judged non-relevant ones above it.

    M = 1/R * sum over relevant documents of 1 - min(n, cap) / scale
    Among the a non-relevant ones of its group a relevant document has each place with the same probability, so that
    n = b, b + 1, ..., b + a are equally likely.
    """

    def __init__(self, rel: int, lowest: int, limits: Callable[[Ints, Ints], tuple[Ints, Ints]]) -> None:
        self.rel, self.lowest = rel, lowest
        self.limits = limits
        """The cap and the scale for each number R of relevant documents, and of judged non-relevant ones."""

    def term(self, lists: Lists, owner: Ints, above: Ints) -> Floats:
        """What a relevant document adds to its list with so many judged non-relevant ones above it."""
        base = lists.recall_base(self.rel)
        cap, scale = self.limits(base, lists.recall_base(self.lowest) - base)
        return 1.0 - ratio(np.minimum(above, cap[owner]), scale[owner])

    def label_cases(self, measure: Measure, seen: Seen) -> tuple[Floats, Floats] | None:
        """For each number of new relevant documents the first ones are best, and the last ones worst.

        All open documents are judged then, the others as not relevant. Of the n that the list has, m are relevant: as
        many as possible in the best case, and as few in the worst. Above a relevant document, whose number of known
        non-relevant ones above it is k and of open ones o, there are
            best:  k non-relevant ones if it is new, else k + max(0, o - m)
            worst: k + n - m if it is new, else k + min(o, n - m)
        All of these grow from the top down, so that sums of min(n, cap) are those of a first and a last part.
        """
        new, many = seen.numbers(self.rel), len(seen.open)
        base = seen.to_find(self.rel) + new
        judged = int(seen.counts.sum()) - seen.negative + many + seen.outside
        cap, scale = self.limits(base, judged - base)
        rank, poor = seen.relevant(self.rel), np.sort(seen.rank[seen.grade < self.rel])
        k, of_new = np.searchsorted(poor, rank), np.searchsorted(poor, seen.open)
        o = np.searchsorted(seen.open, rank)
        most, least = np.minimum(new, many), np.maximum(0, new - seen.outside)
        here, few = np.searchsorted(o, most), np.searchsorted(o, many - least)
        best = (
            _capped(of_new, 0, most, 0, cap)
            + _capped(k, 0, here, 0, cap)
            + _capped(k + o, here, len(k), -most, cap)
        )
        worst = (
            _capped(of_new, many - least, many, many - least, cap)
            + _capped(k + o, 0, few, 0, cap)
            + _capped(k, few, len(k), many - least, cap)
        )
        return (
            ratio(len(rank) + least - ratio(worst, scale), base),
            ratio(len(rank) + most - ratio(best, scale), base),
        )

    def expected(self, measure: Measure, lists: TiedLists, value: Floats) -> Floats:
        tied = lists.tied(self.rel)
        if not len(tied.start):
            return value
        from rankscope.judging.tied import bisected

        judged, base = lists.relevant(self.lowest), lists.recall_base(self.rel)
        begin = judged._bounds[tied.list]
        place = lists.places(self.rel, self.lowest)[tied.among]
        now = self.term(lists, tied.list, place - begin + 1 - tied.ordinal)
        # where the group begins and ends among all judged documents of the list
        start, last = tied.start, tied.start + tied.held - 1
        first = bisected(judged.rank, begin[start], place[start], tied.first[start])
        after = bisected(
            judged.rank, place[last], judged._bounds[tied.list[last] + 1], (tied.first + tied.size)[start]
        )
        above = first - begin[start] - tied.ordinal[start] + 1
        many = after - first - tied.held + 1
        group = np.repeat(np.arange(len(many)), many)
        more = np.arange(len(group)) - np.repeat(np.cumsum(many) - many, many)
        terms = self.term(lists, tied.list[start][group], above[group] + more)
        mean = np.bincount(group, weights=terms) / many
        return _shifted(value, lists, tied, np.repeat(mean, tied.held) - now, base)


def _capped(rising: Ints, first: Any, last: Any, shift: Any, cap: Ints) -> Ints:
    """The sum of min(x + shift, cap) over the rising numbers x from the place ``first`` to before ``last``."""
    total = np.concatenate([[0], np.cumsum(rising)])
    cut = np.clip(np.searchsorted(rising, cap - shift), first, last)
    return np.asarray(total[cut] - total[first] + shift * (cut - first) + cap * (last - cut))
