"""The range of the difference of two runs over labels of unjudged documents and orders of tied ones.

A document has one label, which counts for every run: it changes the recall base and the ideal list of the topic even
for runs that do not hold the document. Labels are therefore those of all unjudged documents that some list of the topic
holds. Topics are independent, so that the lowest mean difference is the mean of the lowest differences of the topics.
A topic on which a measure is undefined for some run under some labels and orders is left out of the mean under these.
Each topic has a solver:

- :class:`_Sums` for sums of gain times weight, also as a share of the ideal list: exact, by sorting weight differences.
- :class:`_Counts` for shares of the relevant documents found down to a rank (R, Rprec): exact.
- :class:`_FirstHit` for measures that stop at the first relevant document (RR, Success): exact.
- :class:`_Cases` for all others. A case fixes what the labels change for everybody: it is a labelling where there are
  few, which is exact; else a number of new relevant documents or a multiset of new grades. In each case the lowest
  value of one run and the highest of the other give a bound.

Where unjudged documents are tied, the first three give bounds, unless the labellings are few enough for cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rankscope.certainty.declared import form_of, respects_swaps, rewards_grades
from rankscope.certainty.labels import (
    Labels,
    OpenList,
    best_label,
    every_labelling,
    labelled_lists,
    sorted_labellings,
    unjudged_counts,
)
from rankscope.certainty.ties import tied_values
from rankscope.judging import UNJUDGED, Judged
from rankscope.judging.lists import Floats, Ints
from rankscope.measures.base import Measure
from rankscope.measures.cascade import Cascade
from rankscope.measures.forms import Counted, Form, PartialList, Weighted

__all__ = ["SLACK", "Differences", "TopicHits", "hits_by_topic", "lowest_differences", "pair_form"]

SLACK = 1e-12
"""A difference of means that is no larger is none."""

_CELLS = 1 << 20
"""Cells of a matrix pairs x labels held at a time."""

_LISTS = 1 << 14
"""Lists, each under one labelling, up to which the cases of a topic are evaluated one by one."""

_ORDERS = 1 << 17
"""Orders of labelled lists up to which cases are looked at order by order."""

_ABSENT = np.iinfo(np.int32).max
"""The rank of a document in a list that does not hold it."""

Bools = npt.NDArray[np.bool_]


class Differences(NamedTuple):
    """For each pair of runs a limit of the mean difference in merit, the first run minus the second."""

    lowest: Floats
    """No labels and orders lead below."""
    exact: Bools
    """Whether some labels and orders reach it; else it is a bound."""


class TopicHits(NamedTuple):
    """All documents of a topic in the lists of all runs that have a place in the judgments."""

    topic: int
    run: Ints
    document: Ints
    """Places among the documents of the topic."""
    rank: Ints
    first: Ints
    last: Ints
    """The first and the last rank of the tie group."""
    is_open: Bools
    """Whether the document is unjudged, or has a negative grade."""
    deep: int
    """Number of unjudged documents without a place of the list that has most of them."""

    @property
    def union(self) -> Ints:
        """The unjudged documents that some list holds."""
        return np.unique(self.document[self.is_open])

    @property
    def has_open_ties(self) -> bool:
        """Whether some unjudged document shares its score."""
        return bool((self.last > self.first)[self.is_open].any())


def hits_by_topic(judged: Judged) -> list[TopicHits]:
    """Return the hits of each topic."""
    width = len(judged.topics)
    number = judged.arrays.owner
    order = np.argsort(number % width, kind="stable")
    number = number[order]
    judgment, rank = judged.judgment[order].astype(np.int64), judged.rank[order].astype(np.int64)
    first, last = rank, rank
    if judged.ties is not None:
        first = judged.ties.first[order].astype(np.int64)
        last = first + judged.ties.size[order] - 1
    is_open = judged.qrels.grade[judgment] < 0
    bounds = np.searchsorted(number % width, np.arange(width + 1))
    deep = unjudged_counts(judged) - np.bincount(number[is_open], minlength=len(judged.length))
    deepest = judged.grid(deep).max(axis=0)
    run, document = number // width, judgment - judged.qrels.topic_offsets[number % width]
    return [
        TopicHits(t, run[part], document[part], rank[part], first[part], last[part], is_open[part], int(deepest[t]))
        for t, part in enumerate(slice(bounds[t], bounds[t + 1]) for t in range(width))
    ]  # fmt: skip


def pair_form(measure: Measure) -> Form | None:
    """Return the form of a measure if the difference of two runs has an exact range by it."""
    form = form_of(measure)
    if measure.better != "higher" or measure.needs_aspects or measure.summary == "geometric mean":
        return None
    if isinstance(form, Cascade) and measure.sees_grades:
        return None  # the user may go on after a relevant document
    return form if isinstance(form, Weighted | Counted | Cascade) else None


def lowest_differences(
    judged: Judged,
    measure: Measure,
    hits: Sequence[TopicHits],
    ends: tuple[Floats, Floats],
    first: Ints,
    second: Ints,
    *,
    ties: bool,
    is_undefined: Bools | None = None,
) -> Differences:
    """Return the lowest mean difference of pairs of runs over all labels, and over all orders if ``ties``.

    Parameters
    ----------
    hits
        Those of the topics that means are taken over.
    ends
        The lowest and the highest merit over the orders in question of every run and topic without labels.
    first, second
        The runs of each pair; the number of runs stands for one whose merit is always 0, so that a pair with it has
        the range of a single run.
    is_undefined
        The topics that are left out now, because the measure is undefined there; labels and orders may change that.
    """
    low, high = (np.vstack([end, np.zeros(len(hits))]) for end in ends)
    total, least = np.zeros(len(first)), np.full(len(first), np.inf)
    exact = np.ones(len(first), np.bool_)
    gone = np.zeros(len(hits), np.bool_) if is_undefined is None else is_undefined
    closed = np.array([not len(one.union) and not one.deep for one in hits], np.bool_)
    for start in range(0, len(first), max(1, _CELLS // max(1, len(hits)))):
        part = slice(start, start + max(1, _CELLS // max(1, len(hits))))
        keep = closed & ~gone
        value = low[first[part]][:, keep] - high[second[part]][:, keep]
        total[part], least[part] = value.sum(axis=1), value.min(axis=1, initial=np.inf)
    n_kept, n_perhaps = int((~gone).sum()), 0
    for t in np.flatnonzero(~closed | gone).tolist():
        if closed[t] and not (ties and (hits[t].last > hits[t].first).any()):
            continue
        solver = _solver(judged, measure, hits[t], low[:, t], high[:, t], ties)
        is_perhaps = solver.may_be_undefined or bool(gone[t])
        n_kept -= is_perhaps and not gone[t]
        n_perhaps += is_perhaps
        step = max(1, _CELLS // solver.width)
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            value, is_exact = solver.lowest(first[part], second[part])
            total[part] += np.minimum(value, 0.0) if is_perhaps else value
            least[part] = np.minimum(least[part], value)
            exact[part] &= is_exact & (not is_perhaps)
    # A mean is not below its lowest term, nor, where topics may be left out, below the sum over as few as possible.
    mean = np.where(total < 0, np.maximum(total / max(1, n_kept), least), total / max(1, n_kept + n_perhaps))
    return Differences(mean, exact & np.isfinite(total))


class _Solver(Protocol):
    """The lowest difference of pairs of runs on one topic."""

    width: int
    """Cells that a pair needs."""
    may_be_undefined: bool
    """Whether labels and orders may leave the topic out; the lowest differences are those of all others."""

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Return the lowest differences, and whether they are exact."""
        ...


def _solver(
    judged: Judged, measure: Measure, hits: TopicHits, low: Floats, high: Floats, ties: bool
) -> _Solver:
    form = pair_form(measure)
    has_orders = ties and hits.has_open_ties
    if form is not None and has_orders and not hits.deep:
        cases = _labelled_cases(judged, measure, hits, ties)
        if cases is not None:
            return cases
    if isinstance(form, Weighted):
        return _Sums(judged, measure, form, hits, low, high, ties)
    if isinstance(form, Counted):
        return _Counts(judged, form, hits, ties)
    if isinstance(form, Cascade):
        return _FirstHit(measure, form, hits, low, high, ties, best_label(judged))
    return _cases(judged, measure, hits, ties)


class _OpenDocuments:
    """The unjudged documents of a topic that have weight, as a table runs x places and as a matrix."""

    def __init__(self, hits: TopicHits, runs: int, low: Floats, high: Floats) -> None:
        """``low`` and ``high`` are the weights of the open hits at the worst and the best rank of their groups."""
        some = np.flatnonzero(high > 0)
        place = np.flatnonzero(hits.is_open)[some]
        run, low, high = hits.run[place], low[some], high[some]
        names, document = np.unique(hits.document[place], return_inverse=True)
        self.names = names
        # The last column stands for no document, and the last row for a run that has none.
        self.low, self.high = np.zeros((runs + 1, len(names) + 1)), np.zeros((runs + 1, len(names) + 1))
        self.low[run, document], self.high[run, document] = low, high
        column = np.arange(len(run)) - np.searchsorted(run, run)
        self.table = np.full((runs + 1, int(column.max(initial=-1)) + 1), len(names))
        self.table[run, column] = document
        self.is_tied = np.zeros(runs + 1, np.bool_)
        self.is_tied[run[low != high]] = True

    def exact(self, first: Ints, second: Ints) -> Bools:
        """Return whether no tie of unjudged documents matters to a pair."""
        return ~(self.is_tied[first] | self.is_tied[second])


class _Sums:
    """Sums of gain times weight, perhaps as a share of the ideal list.

    A label adds its gain times (weight in A - weight in B) to the difference of the numerators. For fixed numbers of
    new documents of each grade or better the ideal list is fixed, and the documents with the lowest weight differences
    give the lowest difference. The lowest fraction over all such numbers is found by Dinkelbach's method (1967), for
    many pairs at once. With ties the weight in A is at least that of the last rank of the group, and in B at most that
    of the first.
    """

    may_be_undefined = False

    def __init__(
        self,
        judged: Judged,
        measure: Measure,
        form: Weighted,
        hits: TopicHits,
        low: Floats,
        high: Floats,
        ties: bool,
    ) -> None:
        some = hits.is_open
        ranks = (hits.last, hits.first) if ties else (hits.rank, hits.rank)
        weights = [form.weights(measure, rank[some]) for rank in ranks]
        self.open = _OpenDocuments(hits, len(low) - 1, *weights)
        best = best_label(judged)
        steps = np.diff(form.gains(best))
        self.steps = steps[steps > 0]
        self.is_share = type(form) is not Weighted
        self.low, self.high = low, high
        self.width = 3 * self.open.table.shape[1] + 4
        if self.is_share:
            grade = judged.qrels.grade[
                judged.qrels.topic_offsets[hits.topic] : judged.qrels.topic_offsets[hits.topic + 1]
            ]
            known = np.bincount(grade[grade >= 0], minlength=best + 1)
            self.known = np.cumsum(known[::-1])[::-1][1:][steps > 0]
            self.n_union = len(hits.union) + hits.deep
            depth = int(min(measure.cutoff or np.inf, self.known.max(initial=0) + self.n_union))
            self.worth = np.concatenate([[0.0], np.cumsum(form.weights(measure, np.arange(1, depth + 1)))])
            self.ideal = float((self.steps * self._worth(self.known)).sum())
            self.width *= 2 * len(self.steps) + 2

    def _worth(self, n: Ints) -> Floats:
        return self.worth[np.minimum(n, len(self.worth) - 1)]

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        mine, a = self.open, first[:, np.newaxis]
        theirs = mine.table[second]
        change = mine.low[a, theirs] - mine.high[second[:, np.newaxis], theirs]
        now = self.low[first] - self.high[second]
        exact = mine.exact(first, second)
        if not self.is_share:
            return now + self.steps.sum() * np.minimum(change, 0.0).sum(axis=1), exact
        change[theirs == len(mine.names)] = np.inf
        own = mine.table[first]
        other = np.where(mine.high[second[:, np.newaxis], own] > 0, np.inf, mine.low[a, own])
        other[own == len(mine.names)] = np.inf
        change = np.concatenate([change, other], axis=1)
        n_held = np.isfinite(change).sum(axis=1)
        # One more entry of 0 stands for all documents that neither run holds: only none or all of them can be best,
        # since between the two the numerator stays and the ideal list grows.
        change = np.sort(np.concatenate([change, np.zeros((len(first), 1))], axis=1), axis=1)
        n_negative = (change < 0).sum(axis=1)[:, np.newaxis]
        added = np.concatenate([np.zeros((len(first), 1)), np.cumsum(change, axis=1)], axis=1)
        place = np.arange(added.shape[1])
        rest = (self.n_union - n_held)[:, np.newaxis]
        number = np.where(place > n_negative, place - 1 + rest, place)
        worth = [
            step * self._worth(known + number) for step, known in zip(self.steps, self.known, strict=True)
        ]
        return self._fractions(now * self.ideal, added, worth, place), exact

    def _fractions(self, base: Floats, added: Floats, worth: Sequence[Floats], place: Ints) -> Floats:
        """Return the lowest (base + sum of step * added) / sum of worth, one place per grade that never rises."""
        rows = np.arange(len(base))
        best = base / self.ideal if self.ideal else np.zeros(len(base))
        active = rows
        while len(active):
            q = best[active, np.newaxis]
            reach = np.zeros((len(active), 1))
            totals = []
            for step, mine in zip(self.steps[::-1], worth[::-1], strict=True):
                totals.append(step * added[active] - q * mine[active] + reach)
                reach = np.minimum.accumulate(totals[-1], axis=1)
            at = np.full(len(active), len(place))
            numerator, ideal = base[active].copy(), np.zeros(len(active))
            for step, mine, total in zip(self.steps, worth, totals[::-1], strict=True):
                if len(totals) > 1:
                    total[place > at[:, np.newaxis]] = np.inf
                at = total.argmin(axis=1)
                numerator += step * added[active, at]
                ideal += mine[active, at]
            value = np.divide(numerator, ideal, out=np.zeros(len(active)), where=ideal > 0)
            better = value < best[active] - 1e-15
            active = active[better]
            best[active] = value[better]
        return best


class _Counts:
    """Relevant documents down to a rank, as a share of all: the rank may depend on how many there are.

    For m new relevant documents those that only the second run has so far up come first, then those of both or of
    neither, then those of the first run. The difference is monotone in m between the ends of these parts. With ties a
    document is so far up in the first run if it is in all orders, and in the second one if it is in some.
    """

    may_be_undefined = False

    def __init__(self, judged: Judged, form: Counted, hits: TopicHits, ties: bool) -> None:
        runs = len(judged.runs)
        start = judged.qrels.topic_offsets[hits.topic]
        grade = judged.qrels.grade[start : judged.qrels.topic_offsets[hits.topic + 1]]
        can_label = form.rel <= best_label(judged)
        names = hits.union if can_label else np.zeros(0, np.int64)
        self.n_union = len(names)
        base = int((grade >= form.rel).sum()) + np.arange(self.n_union + 1)
        longest = int(hits.rank.max(initial=0))
        depth = np.minimum(form.depth(base), longest)
        self.starts = np.flatnonzero(np.diff(depth, prepend=-1))
        self.stops = np.append(self.starts[1:], len(depth)) - 1
        self.depth, self.base = depth[self.starts], int(base[0])
        self.is_tied = np.zeros(runs + 1, np.bool_)
        if ties:
            self.is_tied[hits.run[hits.is_open & (hits.last > hits.first)]] = can_label
        is_relevant = grade[hits.document] >= form.rel
        place = np.searchsorted(names, hits.document[hits.is_open]) if can_label else np.zeros(0, np.int64)
        self.rank, self.known = [], []
        for best_first in (False, True):
            rank = fixed_ranks(hits, is_relevant, best_first) if ties else hits.rank
            dense = np.full((runs + 1, self.n_union), _ABSENT)
            if can_label:
                mine = _of_group(hits, rank, best_first) if ties else rank
                dense[hits.run[hits.is_open], place] = mine[hits.is_open]
            self.rank.append(dense)
            count = np.zeros((runs + 1, longest + 1), np.int64)
            np.add.at(count, (hits.run[is_relevant], rank[is_relevant]), 1)
            self.known.append(np.cumsum(count, axis=1))
        self.width = 16

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        result = np.full(len(first), np.inf)
        low, high = self.rank
        both = np.zeros((len(low), len(high)))
        before = -1
        for depth, start, stop in zip(
            self.depth.tolist(), self.starts.tolist(), self.stops.tolist(), strict=True
        ):
            # Only documents that come in between the two depths change how many two lists have in common.
            new_low, new_high = (low > before) & (low <= depth), (high > before) & (high <= depth)
            some = np.flatnonzero((new_low | new_high).any(axis=0))
            both += new_low[:, some].astype(np.float64) @ (high[:, some] <= depth).T
            both += (low[:, some] <= before).astype(np.float64) @ new_high[:, some].T
            before = depth
            shared = both[first, second].astype(np.int64)
            only_first = (low <= depth).sum(axis=1)[first] - shared
            only_second = (high <= depth).sum(axis=1)[second] - shared
            known = self.known[0][first, depth] - self.known[1][second, depth]
            turn = self.n_union - only_first
            for number in (start, stop, np.clip(only_second, start, stop), np.clip(turn, start, stop)):
                found = known - np.minimum(number, only_second) + np.maximum(0, number - turn)
                value = np.where(self.base + number > 0, found / np.maximum(1, self.base + number), 0.0)
                result = np.minimum(result, value)
        return result, ~(self.is_tied[first] | self.is_tied[second])


class _FirstHit:
    """The value of the rank of the first relevant document.

    One label is enough: the document that decides the value of the second run under any labels does so alone, and the
    first run gains no less from all of them.
    """

    may_be_undefined = False

    def __init__(
        self,
        measure: Measure,
        form: Cascade,
        hits: TopicHits,
        low: Floats,
        high: Floats,
        ties: bool,
        best: int,
    ) -> None:
        ranks = (hits.last, hits.first) if ties else (hits.rank, hits.rank)
        gain = float(form.stops(np.array([best]), best)[0])
        weights = [
            gain * np.where(rank <= (measure.cutoff or np.inf), form.value(rank), 0.0)
            for rank in (rank[hits.is_open] for rank in ranks)
        ]
        self.open = _OpenDocuments(hits, len(low) - 1, *weights)
        self.low, self.high = low, high
        self.width = 3 * self.open.table.shape[1] + 1

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        mine, a, b = self.open, first[:, np.newaxis], second[:, np.newaxis]
        theirs = mine.table[second]
        value = np.maximum(self.low[a], mine.low[a, theirs]) - np.maximum(self.high[b], mine.high[b, theirs])
        now = self.low[first] - self.high[second]
        return np.minimum(now, value.min(axis=1, initial=np.inf)), mine.exact(first, second)


class _Cases:
    """The lowest and the highest merit of every run in each of several cases, one of which holds: runs x cases."""

    def __init__(
        self,
        measure: Measure,
        low: Floats,
        high: Floats,
        *,
        is_exact: bool = False,
        may_be_undefined: bool = False,
    ) -> None:
        if measure.better == "lower":
            low, high = -high, -low
        if measure.summary == "geometric mean":
            with np.errstate(divide="ignore", invalid="ignore"):
                low, high = np.log(low), np.log(high)
        self.low, self.high = (np.vstack([end, np.zeros(end.shape[1])]) for end in (low, high))
        self.may_be_undefined = may_be_undefined
        self.is_exact = is_exact and not may_be_undefined
        self.width = 2 * low.shape[1] + 1

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        with np.errstate(invalid="ignore"):
            value = (self.low[first] - self.high[second]).min(axis=1, initial=np.inf)
        if self.may_be_undefined:  # the mean of a single run leaves out topics by its own values alone
            value[np.maximum(first, second) == len(self.low) - 1] = -np.inf
        return np.where(np.isnan(value), -np.inf, value), np.full(len(first), self.is_exact)


def _cases(judged: Judged, measure: Measure, hits: TopicHits, ties: bool) -> _Cases:
    """Return the cases of a topic: labellings if they are few, else what the measure declares."""
    cases = _labelled_cases(judged, measure, hits, ties)
    form = form_of(measure)
    if cases is None and form is not None and not measure.needs_aspects:
        cases = _numbered_cases(judged, measure, form, hits, ties)
    if cases is None and not measure.needs_aspects:
        cases = _declared_cases(judged, measure, hits, ties)
    if cases is None:
        low, high = (np.full((len(judged.runs), 1), end) for end in measure.range)
        cases = _Cases(measure, low, high, may_be_undefined=True)
    return cases


def _labelled_cases(judged: Judged, measure: Measure, hits: TopicHits, ties: bool) -> _Cases | None:
    """Return all labellings as cases, or None if there are too many."""
    best, each = best_label(judged), 1
    aspects = judged.qrels.aspects
    if measure.needs_aspects and aspects is not None:
        best = max(1, int(aspects.grade.max(initial=0)))
        each = int(np.diff(aspects.topic_offsets)[hits.topic])
    n_labels, runs = len(hits.union) * each, len(judged.runs)
    if hits.deep or n_labels * np.log(best + 1) + np.log(runs) > np.log(_LISTS):
        return None
    labels = every_labelling(n_labels, best) if n_labels else np.zeros((1, 0), np.int64)
    if ties and not respects_swaps(measure) and len(labels) * _n_orders(hits, runs) > _ORDERS:
        return None
    return _evaluated_cases(judged, measure, hits, ties, labels, labels, is_exact=True)


def _n_orders(hits: TopicHits, runs: int) -> int:
    """Return an upper bound of the number of orders of all lists together."""
    total = 0
    for run in range(runs):
        mine = hits.run == run
        number = 1
        for start in np.unique(hits.first[mine]).tolist():
            size = int((hits.first[mine] == start).sum())
            number *= factorial(min(size, 20))
        total += number
    return total


def _numbered_cases(
    judged: Judged, measure: Measure, form: Form, hits: TopicHits, ties: bool
) -> _Cases | None:
    """Return the numbers of new relevant documents as cases, if the form of the measure has values for them.

    The worst order of a group has its relevant documents last and the unjudged ones next to them, so that labels of the
    last ones are worst; the best order is the reverse.
    """
    rel = getattr(form, "rel", None)
    if rel is None or hits.deep:
        return None
    start = judged.qrels.topic_offsets[hits.topic]
    grade = judged.qrels.grade[start : judged.qrels.topic_offsets[hits.topic + 1]].astype(np.int64)
    known = grade.copy()
    known[hits.union] = UNJUDGED
    rated = known[known != UNJUDGED]
    counts = np.bincount(np.maximum(rated, 0), minlength=best_label(judged) + 1)
    n_union, negative = len(hits.union), int((rated < 0).sum())
    ends: list[list[Floats]] = [[], []]
    for end, best_first in ((0, False), (1, True)):
        rank = fixed_ranks(hits, grade[hits.document] >= rel, best_first) if ties else hits.rank
        for run in range(len(judged.runs)):
            mine = hits.run == run
            open_ = np.sort(rank[mine & hits.is_open])
            judged_ = mine & ~hits.is_open
            seen = PartialList(
                rank[judged_], grade[hits.document[judged_]], open_, counts, negative, n_union - len(open_)
            )
            found = form.label_cases(measure, seen)
            if found is None:
                return None
            ends[end].append(found[end])
    return _Cases(measure, np.array(ends[0]), np.array(ends[1]))


def _declared_cases(judged: Judged, measure: Measure, hits: TopicHits, ties: bool) -> _Cases | None:
    """Return the cases of a measure that rewards grades (one), or respects swaps (multisets of new grades)."""
    best, n_union = best_label(judged), len(hits.union)
    if hits.deep:
        return None
    if rewards_grades(measure) or not n_union:
        ends = [np.full((1, n_union), grade) for grade in (0, best)]
    elif respects_swaps(measure):
        grades = list(range(best + 1)) if measure.sees_grades else [0, best]
        if comb(n_union + len(grades) - 1, len(grades) - 1) * len(judged.runs) > _LISTS:
            return None
        ends = [
            next(sorted_labellings(n_union, grades, best_first, cells=1 << 62))
            for best_first in (False, True)
        ]
    else:
        return None
    return _evaluated_cases(judged, measure, hits, ties, *ends, is_exact=False, is_sorted=True)


def _evaluated_cases(
    judged: Judged,
    measure: Measure,
    hits: TopicHits,
    ties: bool,
    low: Labels,
    high: Labels,
    *,
    is_exact: bool,
    is_sorted: bool = False,
) -> _Cases:
    """Evaluate every list under labellings of all unjudged documents of the topic.

    A row of ``low`` and ``high`` has the labels of the documents of ``hits.union``; if ``is_sorted``, those of each
    list from the top and then of the documents that it does not hold.
    """
    lists = [_open_list(judged, hits, run, ties) for run in range(len(judged.runs))]
    per_aspect = measure.needs_aspects and judged.qrels.aspects is not None
    numbers = np.repeat([one.number for one, _ in lists], len(low))
    stands_for_many = np.array([not is_exact or (ties and bool((one.size > 1).any())) for one, _ in lists])
    defined, may_be_undefined = np.ones(len(low), np.bool_), False
    ends: list[Floats] = []
    for labels, order in ((low, "worst"), (high, "best")):
        if ends and low is high and not ties:
            ends.append(ends[0])
            continue
        each = labels.reshape(len(labels), len(hits.union), labels.shape[1] // max(1, len(hits.union)))
        chosen = [
            (one, labels if is_sorted else each[:, place].reshape(labels.shape)) for one, place in lists
        ]
        made = labelled_lists(judged, chosen, per_aspect=per_aspect)
        # The lowest value is that of the best order where lower values are better.
        way = order if measure.better != "lower" else {"worst": "best", "best": "worst"}[order]
        found = tied_values([measure], made, way if ties else "break", numbers=numbers)[0]
        if not found.exact.all():  # a sample of orders proves nothing
            is_exact = False
            found.value[~found.exact] = measure.range[0 if order == "worst" else 1]
        value = found.value.reshape(len(lists), -1)
        # Where one labelling and order is undefined, others that it stands for may have any value.
        is_gone = ~np.isfinite(value)
        unknown = is_gone & stands_for_many[:, np.newaxis]
        value[unknown] = measure.range[0 if order == "worst" else 1]
        defined &= ~(is_gone & ~unknown).any(axis=0)
        may_be_undefined |= bool(is_gone.any())
        ends.append(value)
    worst, best = (end[:, defined] for end in ends)
    return _Cases(measure, worst, best, is_exact=is_exact, may_be_undefined=may_be_undefined)


def _open_list(judged: Judged, hits: TopicHits, run: int, ties: bool) -> tuple[OpenList, Ints]:
    """Return the list of a run among all unjudged documents of the topic, and which of them each label belongs to."""
    union = hits.union
    mine = np.flatnonzero(hits.run == run)
    mine = mine[np.argsort(hits.rank[mine])]
    number = run * len(judged.topics) + hits.topic
    grade = judged.qrels.grade[judged.qrels.topic_offsets[hits.topic] :]
    grade = grade[: np.diff(judged.qrels.topic_offsets)[hits.topic]]
    known = np.setdiff1d(np.flatnonzero(grade != UNJUDGED), union, assume_unique=True)
    rank = hits.rank[mine]
    first, size = (
        (hits.first[mine], (hits.last - hits.first)[mine] + 1) if ties else (rank, np.ones_like(rank))
    )
    held = np.searchsorted(union, hits.document[mine][hits.is_open[mine]])
    outside = np.setdiff1d(np.arange(len(union)), held, assume_unique=True)
    one = OpenList(
        number, hits.topic, int(judged.length[number]), rank, first, size, hits.document[mine], hits.is_open[mine],
        known, len(outside), union[np.concatenate([held, outside])],
    )  # fmt: skip
    return one, np.concatenate([held, outside])


def fixed_ranks(hits: TopicHits, is_relevant: Bools, best_first: bool) -> Ints:
    """Return the ranks of an order in which every group has relevant, then unjudged, then other documents, or the
    reverse."""
    key = np.where(is_relevant, 2, np.where(hits.is_open, 1, 0))
    order = np.lexsort((-key if best_first else key, hits.first, hits.run))
    group = hits.run[order] * (int(hits.first.max(initial=0)) + 1) + hits.first[order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    rank = np.empty_like(hits.rank)
    rank[order] = hits.first[order] + place
    return rank


def _of_group(hits: TopicHits, rank: Ints, best_first: bool) -> Ints:
    """Return for each unjudged document the best, or the worst, rank that one of its group has in this order."""
    key = hits.run * (int(hits.first.max(initial=0)) + 1) + hits.first
    some = np.flatnonzero(hits.is_open)
    group, place = np.unique(key[some], return_inverse=True)
    end = np.full(len(group), _ABSENT if best_first else 0)
    (np.minimum if best_first else np.maximum).at(end, place, rank[some])
    result = rank.copy()
    result[some] = end[place]
    return result
