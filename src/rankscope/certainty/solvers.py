"""Exact solvers of the lowest difference of two runs on topics, for measures with a closed form.

- :class:`Sums` for sums of gain times weight, also as a share of the ideal ranking, by sorting weight differences.
- :class:`FirstHit` for measures that stop at the first relevant document (RR, Success).
- :class:`Counts` for shares of the relevant documents found down to a rank (R, Rprec).

The first two solve many topics at once, because collections of few runs may have many small topics. Where unjudged
documents are tied, all three give bounds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.arrays import Bools, Floats, Ints
from rankscope.certainty.documents import ABSENT, TopicHits, fixed_ranks, group_ranks
from rankscope.certainty.labels import best_label
from rankscope.judging import Judged
from rankscope.measures.base import Measure
from rankscope.measures.cascade import Cascade
from rankscope.measures.forms import Counted, Weighted

Ends = tuple[Floats, Floats]
"""Lowest and highest merit of every run, and of a run without documents, on every topic, before labelling."""


class _OpenDocuments:
    """Unjudged documents with positive weight, as a table (topics x runs x columns) and as dense weights."""

    def __init__(self, hits: Sequence[TopicHits], runs: int, low: Floats, high: Floats) -> None:
        """``low`` and ``high`` are the weights of the open hits at the worst and the best rank of their groups."""
        has_weight = high > 0
        topic = np.repeat(np.arange(len(hits)), [int(part.is_open.sum()) for part in hits])[has_weight]
        run, document = (
            np.concatenate(column)[has_weight]
            for column in zip(*((part.run[part.is_open], part.document[part.is_open]) for part in hits), strict=True)
        )  # fmt: skip
        low, high = low[has_weight], high[has_weight]
        span = int(document.max(initial=0)) + 1
        names, position = np.unique(topic * span + document, return_inverse=True)
        starts = np.searchsorted(names, np.arange(len(hits) + 1) * span)
        position = position - starts[topic]
        # The last column represents no document, and the last row a run without documents.
        self.none = int(np.diff(starts).max(initial=0))
        shape = (len(hits), runs + 1, self.none + 1)
        self.low, self.high = np.zeros(shape), np.zeros(shape)
        self.low[topic, run, position], self.high[topic, run, position] = low, high
        number = topic * (runs + 1) + run
        column = np.arange(len(number)) - np.searchsorted(number, number)
        self.table = np.full((len(hits), runs + 1, int(column.max(initial=-1)) + 1), self.none)
        self.table[topic, run, column] = position
        self.is_tied = np.zeros((len(hits), runs + 1), np.bool_)
        self.is_tied[topic[low != high], run[low != high]] = True
        self.topic = np.arange(len(hits))[:, np.newaxis, np.newaxis]

    def is_exact(self, first: Ints, second: Ints) -> Bools:
        """Return whether no tie of unjudged documents matters to a pair, topics x pairs."""
        return ~(self.is_tied[:, first] | self.is_tied[:, second])


def _open_ranks(hits: Sequence[TopicHits], ties: bool) -> tuple[Ints, Ints]:
    """Return the worst and the best rank of each unjudged document."""
    last, first = (
        np.concatenate([getattr(part, name if ties else "rank")[part.is_open] for part in hits])
        for name in ("last", "first")
    )
    return last, first


class Sums:
    """Sums of gain times weight, perhaps as a share of the ideal ranking.

    A label adds its gain times (weight in A - weight in B) to the difference of the numerators. For fixed numbers of
    new documents of each grade or better the ideal ranking is fixed, and the documents with the lowest weight
    differences give the lowest difference. The lowest fraction over all such numbers is found by Dinkelbach's method
    (1967), for many pairs at once. With ties the weight in A is at least that of the last rank of the group, and in B
    at most that of the first.
    """

    may_be_undefined = False

    def __init__(
        self,
        judged: Judged,
        measure: Measure,
        form: Weighted,
        hits: Sequence[TopicHits],
        ends: Ends,
        ties: bool,
    ) -> None:
        self.low, self.high = (end.T for end in ends)
        weights = [form.weights(measure, rank) for rank in _open_ranks(hits, ties)]
        self.open = _OpenDocuments(hits, len(judged.runs), *weights)
        best = best_label(judged)
        steps = np.diff(form.gains(best))
        self.steps = steps[steps > 0]
        self.is_share = type(form) is not Weighted
        self.width = len(hits) * (3 * self.open.table.shape[2] + 4)
        if self.is_share:
            counts = np.stack([_count_grades(judged, part.topic, best) for part in hits])
            self.known = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1][:, 1:][:, steps > 0]
            self.n_union = np.array([len(part.union) + part.deep for part in hits])
            longest = int((self.known.max(axis=1, initial=0) + self.n_union).max(initial=0))
            depth = int(min(measure.cutoff or np.inf, longest))
            self.worth = np.concatenate([[0.0], np.cumsum(form.weights(measure, np.arange(1, depth + 1)))])
            self.ideal = (self.steps * self._worth(self.known)).sum(axis=1)
            self.width *= 2 * len(self.steps) + 2

    def _worth(self, n: Ints) -> Floats:
        return self.worth[np.minimum(n, len(self.worth) - 1)]

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Return the lowest differences, and whether they are exact, topics x pairs."""
        documents, t = self.open, self.open.topic
        a, b = first[:, np.newaxis], second[:, np.newaxis]
        others = documents.table[:, second]
        change = documents.low[t, a, others] - documents.high[t, b, others]
        current = self.low[:, first] - self.high[:, second]
        is_exact = documents.is_exact(first, second)
        if not self.is_share:
            return current + self.steps.sum() * np.minimum(change, 0.0).sum(axis=2), is_exact
        change[others == documents.none] = np.inf
        own = documents.table[:, first]
        other = np.where(documents.high[t, b, own] > 0, np.inf, documents.low[t, a, own])
        other[own == documents.none] = np.inf
        rows = current.size
        change = np.concatenate([change, other], axis=2).reshape(rows, -1)
        n_held = np.isfinite(change).sum(axis=1)
        # One more entry of 0 stands for all documents that neither run holds: only none or all of them can be best,
        # since between the two the numerator stays and the ideal ranking grows.
        change = np.sort(np.concatenate([change, np.zeros((rows, 1))], axis=1), axis=1)
        n_negative = (change < 0).sum(axis=1)[:, np.newaxis]
        added = np.concatenate([np.zeros((rows, 1)), np.cumsum(change, axis=1)], axis=1)
        position = np.arange(added.shape[1])
        n_union, counts, ideal = (
            np.repeat(column, len(first), axis=0) for column in (self.n_union, self.known, self.ideal)
        )
        number = np.where(position > n_negative, position - 1 + (n_union - n_held)[:, np.newaxis], position)
        worth = [
            step * self._worth(column[:, np.newaxis] + number)
            for step, column in zip(self.steps, counts.T, strict=True)
        ]
        value = self._minimise_fractions(current.ravel() * ideal, ideal, added, worth, position)
        return value.reshape(current.shape), is_exact

    def _minimise_fractions(
        self, base: Floats, ideal: Floats, added: Floats, worth: Sequence[Floats], position: Ints
    ) -> Floats:
        """Return the lowest (base + sum of step * added) / sum of worth; positions never increase with the grade."""
        best = np.divide(base, ideal, out=np.zeros(len(base)), where=ideal > 0)
        active = np.arange(len(base))
        while len(active):
            q = best[active, np.newaxis]
            reach = np.zeros((len(active), 1))
            totals = []
            for step, grade_worth in zip(self.steps[::-1], worth[::-1], strict=True):
                totals.append(step * added[active] - q * grade_worth[active] + reach)
                reach = np.minimum.accumulate(totals[-1], axis=1)
            index = np.full(len(active), len(position))
            numerator, denominator = base[active].copy(), np.zeros(len(active))
            for step, grade_worth, total in zip(self.steps, worth, totals[::-1], strict=True):
                if len(totals) > 1:
                    total[position > index[:, np.newaxis]] = np.inf
                index = total.argmin(axis=1)
                numerator += step * added[active, index]
                denominator += grade_worth[active, index]
            value = np.divide(numerator, denominator, out=np.zeros(len(active)), where=denominator > 0)
            is_lower = value < best[active] - 1e-15
            active = active[is_lower]
            best[active] = value[is_lower]
        return best


def _count_grades(judged: Judged, topic: int, best: int) -> Ints:
    """Return the number of judged documents of a topic by grade."""
    grade = judged.qrels.grade[judged.qrels.topic_offsets[topic] : judged.qrels.topic_offsets[topic + 1]]
    return np.bincount(grade[grade >= 0], minlength=best + 1)


class FirstHit:
    """Value of the rank of the first relevant document.

    One label is enough: the document that decides the value of the second run under any labels does so alone, and the
    first run gains no less from all of them.
    """

    may_be_undefined = False

    def __init__(
        self,
        judged: Judged,
        measure: Measure,
        form: Cascade,
        hits: Sequence[TopicHits],
        ends: Ends,
        ties: bool,
    ) -> None:
        self.low, self.high = (end.T for end in ends)
        best = best_label(judged)
        gain = float(form.stops(np.array([best]), best)[0])
        weights = [
            gain * np.where(rank <= (measure.cutoff or np.inf), form.value(rank), 0.0)
            for rank in _open_ranks(hits, ties)
        ]
        self.open = _OpenDocuments(hits, len(judged.runs), *weights)
        self.width = len(hits) * (3 * self.open.table.shape[2] + 1)

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Return the lowest differences, and whether they are exact, topics x pairs."""
        documents, t = self.open, self.open.topic
        others = documents.table[:, second]
        low, high = self.low[:, first], self.high[:, second]
        own = np.maximum(low[..., np.newaxis], documents.low[t, first[:, np.newaxis], others])
        value = own - np.maximum(high[..., np.newaxis], documents.high[t, second[:, np.newaxis], others])
        return np.minimum(low - high, value.min(axis=2, initial=np.inf)), documents.is_exact(first, second)


class Counts:
    """Share of the relevant documents that are found down to a rank, which may depend on their number.

    The lowest difference takes new relevant documents in this order: those that only the second run has down to the
    rank, then those of both runs or of neither, then those of the first run only. It is monotone in their number m
    between the ends of these parts. With ties, the first run has a document if all orders put it above the rank, the
    second run if some order does.
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
        position = np.searchsorted(names, hits.document[hits.is_open]) if can_label else np.zeros(0, np.int64)
        self.rank, self.known = [], []
        for best_first in (False, True):
            rank = fixed_ranks(hits, is_relevant, best_first) if ties else hits.rank
            dense = np.full((runs + 1, self.n_union), ABSENT)
            if can_label:
                open_rank = group_ranks(hits, rank, best_first) if ties else rank
                dense[hits.run[hits.is_open], position] = open_rank[hits.is_open]
            self.rank.append(dense)
            count = np.zeros((runs + 1, longest + 1), np.int64)
            np.add.at(count, (hits.run[is_relevant], rank[is_relevant]), 1)
            self.known.append(np.cumsum(count, axis=1))
        self.width = 16

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Return the lowest differences, and whether they are exact, one topic x pairs."""
        result = np.full(len(first), np.inf)
        low, high = self.rank
        n_shared = np.zeros((len(low), len(high)))
        before = -1
        for depth, start, stop in zip(
            self.depth.tolist(), self.starts.tolist(), self.stops.tolist(), strict=True
        ):
            # Only documents that come in between the two depths change how many two lists have in common.
            new_low, new_high = (low > before) & (low <= depth), (high > before) & (high <= depth)
            labelled = np.flatnonzero((new_low | new_high).any(axis=0))
            n_shared += new_low[:, labelled].astype(np.float64) @ (high[:, labelled] <= depth).T
            n_shared += (low[:, labelled] <= before).astype(np.float64) @ new_high[:, labelled].T
            before = depth
            shared = n_shared[first, second].astype(np.int64)
            only_first = (low <= depth).sum(axis=1)[first] - shared
            only_second = (high <= depth).sum(axis=1)[second] - shared
            base = self.known[0][first, depth] - self.known[1][second, depth]
            turn = self.n_union - only_first
            for number in (start, stop, np.clip(only_second, start, stop), np.clip(turn, start, stop)):
                difference = base - np.minimum(number, only_second) + np.maximum(0, number - turn)
                value = np.where(self.base + number > 0, difference / np.maximum(1, self.base + number), 0.0)
                result = np.minimum(result, value)
        return result[np.newaxis], ~(self.is_tied[first] | self.is_tied[second])[np.newaxis]
