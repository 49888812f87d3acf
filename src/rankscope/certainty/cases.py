"""Bounds of the difference of two runs by cases of labels, for measures without an exact solver.

A case fixes the effect of the labels that all runs share: with few labellings, a case is a labelling, and the bound is
exact; otherwise it is a number of new relevant documents or a multiset of new grades. In each case, the lowest value of
one run and the highest value of the other give a bound.
"""

from __future__ import annotations

from math import comb, factorial

import numpy as np

from rankscope.arrays import Bools, Floats, Ints
from rankscope.certainty.documents import TopicHits, fixed_ranks
from rankscope.certainty.labels import (
    Labels,
    OpenList,
    best_label,
    every_labelling,
    labelled_lists,
    sorted_labellings,
)
from rankscope.certainty.orders import tied_values
from rankscope.judging import UNJUDGED, Judged
from rankscope.measures.base import Measure, declared_form, respects_swaps, rewards_grades
from rankscope.measures.forms import Form, PartialList

MAX_LISTS = 1 << 14
"""Maximum number of labelled lists of a topic to evaluate one by one."""

MAX_ORDERS = 1 << 17
"""Maximum number of orders of labelled lists to evaluate one by one."""


class Cases:
    """Lowest and highest merit of every run in each case, shape (runs, cases); one of the cases holds."""

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
        """Return the lowest differences, and whether they are exact, one topic x pairs."""
        with np.errstate(invalid="ignore"):
            value = (self.low[first] - self.high[second]).min(axis=1, initial=np.inf)
        if self.may_be_undefined:  # The mean of a single run leaves out topics by its own values alone.
            value[np.maximum(first, second) == len(self.low) - 1] = -np.inf
        return np.where(np.isnan(value), -np.inf, value)[np.newaxis], np.full((1, len(first)), self.is_exact)


def find_cases(judged: Judged, measure: Measure, hits: TopicHits, ties: bool) -> Cases:
    """Return the cases of a topic: labellings if they are few, else cases by the declared properties of the measure."""
    cases = labelled_cases(judged, measure, hits, ties)
    form = declared_form(measure)
    if cases is None and form is not None and not measure.needs_aspects:
        cases = _number_cases(judged, measure, form, hits, ties)
    if cases is None and not measure.needs_aspects:
        cases = _declared_cases(judged, measure, hits, ties)
    if cases is None:
        low, high = (np.full((len(judged.runs), 1), end) for end in measure.range)
        cases = Cases(measure, low, high, may_be_undefined=True)
    return cases


def labelled_cases(judged: Judged, measure: Measure, hits: TopicHits, ties: bool) -> Cases | None:
    """Return all labellings as cases, or None if there are too many."""
    best, n_aspects = best_label(judged), 1
    aspects = judged.qrels.aspects
    if measure.needs_aspects and aspects is not None:
        best = max(1, int(aspects.grade.max(initial=0)))
        n_aspects = int(np.diff(aspects.topic_offsets)[hits.topic])
    n_labels, runs = len(hits.union) * n_aspects, len(judged.runs)
    if hits.deep or n_labels * np.log(best + 1) + np.log(runs) > np.log(MAX_LISTS):
        return None
    labels = every_labelling(n_labels, best) if n_labels else np.zeros((1, 0), np.int64)
    if ties and not respects_swaps(measure) and len(labels) * _n_orders(hits, runs) > MAX_ORDERS:
        return None
    return _evaluated_cases(judged, measure, hits, ties, labels, labels, is_sorted=False)


def _n_orders(hits: TopicHits, runs: int) -> int:
    """Return an upper bound of the number of orders of all lists together."""
    total = 0
    for run in range(runs):
        is_own = hits.run == run
        number = 1
        for start in np.unique(hits.first[is_own]).tolist():
            size = int((hits.first[is_own] == start).sum())
            number *= factorial(min(size, 20))
        total += number
    return total


def _number_cases(judged: Judged, measure: Measure, form: Form, hits: TopicHits, ties: bool) -> Cases | None:
    """Return the numbers of new relevant documents as cases, if the form of the measure has values for them.

    The worst order of a group has its relevant documents last and the unjudged ones next to them, so that labels of the
    last ones are worst; the best order is the reverse.
    """
    rel = getattr(form, "rel", None)
    if rel is None or hits.deep:
        return None
    start = judged.qrels.topic_offsets[hits.topic]
    grade = judged.qrels.grade[start : judged.qrels.topic_offsets[hits.topic + 1]].astype(np.int64)
    judged_grades = grade.copy()
    judged_grades[hits.union] = UNJUDGED
    rated = judged_grades[judged_grades != UNJUDGED]
    counts = np.bincount(np.maximum(rated, 0), minlength=best_label(judged) + 1)
    n_union, negative = len(hits.union), int((rated < 0).sum())
    ends: list[list[Floats]] = [[], []]
    for end, best_first in ((0, False), (1, True)):
        rank = fixed_ranks(hits, grade[hits.document] >= rel, best_first) if ties else hits.rank
        for run in range(len(judged.runs)):
            is_own = hits.run == run
            open_ = np.sort(rank[is_own & hits.is_open])
            judged_ = is_own & ~hits.is_open
            partial = PartialList(
                rank[judged_], grade[hits.document[judged_]], open_, counts, negative, n_union - len(open_)
            )
            label_cases = form.label_cases(measure, partial)
            if label_cases is None:
                return None
            ends[end].append(label_cases[end])
    return Cases(measure, np.array(ends[0]), np.array(ends[1]))


def _declared_cases(judged: Judged, measure: Measure, hits: TopicHits, ties: bool) -> Cases | None:
    """Return one case if a measure rewards grades, one per multiset of new grades if it respects swaps, else None."""
    best, n_union = best_label(judged), len(hits.union)
    if hits.deep:
        return None
    if rewards_grades(measure) or not n_union:
        ends = [np.full((1, n_union), grade) for grade in (0, best)]
    elif respects_swaps(measure):
        grades = list(range(best + 1)) if measure.sees_grades else [0, best]
        if comb(n_union + len(grades) - 1, len(grades) - 1) * len(judged.runs) > MAX_LISTS:
            return None
        ends = [
            next(sorted_labellings(n_union, grades, best_first, cells=1 << 62))
            for best_first in (False, True)
        ]
    else:
        return None
    low, high = ends
    return _evaluated_cases(judged, measure, hits, ties, low, high, is_sorted=True)


def _evaluated_cases(
    judged: Judged, measure: Measure, hits: TopicHits, ties: bool, low: Labels, high: Labels, is_sorted: bool
) -> Cases:
    """Evaluate every list under labellings of all unjudged documents of the topic.

    A row of ``low`` and ``high`` has one label per document of ``hits.union``. If ``is_sorted``, the labels are
    assigned to the documents of each list from the top, then to the documents that it lacks; this gives bounds only.
    """
    is_exact = not is_sorted
    lists = [_open_list(judged, hits, run, ties) for run in range(len(judged.runs))]
    per_aspect = measure.needs_aspects and judged.qrels.aspects is not None
    numbers = np.repeat([open_list.number for open_list, _ in lists], len(low))
    stands_for_many = np.array(
        [not is_exact or (ties and bool((open_list.size > 1).any())) for open_list, _ in lists]
    )
    defined, may_be_undefined = np.ones(len(low), np.bool_), False
    ends: list[Floats] = []
    for labels, order in ((low, "worst"), (high, "best")):
        if ends and low is high and not ties:
            ends.append(ends[0])
            continue
        by_document = labels.reshape(len(labels), len(hits.union), labels.shape[1] // max(1, len(hits.union)))
        selected = [
            (open_list, labels if is_sorted else by_document[:, position].reshape(labels.shape))
            for open_list, position in lists
        ]
        labelled = labelled_lists(judged, selected, per_aspect=per_aspect)
        # The lowest value is that of the best order where lower values are better.
        tie_option = order if measure.better != "lower" else {"worst": "best", "best": "worst"}[order]
        tied = tied_values([measure], labelled, tie_option if ties else "break", numbers=numbers)[0]
        if not tied.exact.all():  # a sample of orders proves nothing
            is_exact = False
            tied.value[~tied.exact] = measure.range[0 if order == "worst" else 1]
        value = tied.value.reshape(len(lists), -1)
        # Where one labelling and order is undefined, others that it stands for may have any value.
        is_undefined = ~np.isfinite(value)
        unknown = is_undefined & stands_for_many[:, np.newaxis]
        value[unknown] = measure.range[0 if order == "worst" else 1]
        defined &= ~(is_undefined & ~unknown).any(axis=0)
        may_be_undefined |= bool(is_undefined.any())
        ends.append(value)
    worst, best = (end[:, defined] for end in ends)
    return Cases(measure, worst, best, is_exact=is_exact, may_be_undefined=may_be_undefined)


def _open_list(judged: Judged, hits: TopicHits, run: int, ties: bool) -> tuple[OpenList, Ints]:
    """Return the list of a run among all unjudged documents of the topic, and the document index of each label."""
    union = hits.union
    own = np.flatnonzero(hits.run == run)
    own = own[np.argsort(hits.rank[own])]
    number = run * len(judged.topics) + hits.topic
    grade = judged.qrels.grade[judged.qrels.topic_offsets[hits.topic] :]
    grade = grade[: np.diff(judged.qrels.topic_offsets)[hits.topic]]
    rated = np.setdiff1d(np.flatnonzero(grade != UNJUDGED), union, assume_unique=True)
    rank = hits.rank[own]
    first, size = (hits.first[own], (hits.last - hits.first)[own] + 1) if ties else (rank, np.ones_like(rank))
    listed = np.searchsorted(union, hits.document[own][hits.is_open[own]])
    outside = np.setdiff1d(np.arange(len(union)), listed, assume_unique=True)
    open_list = OpenList(
        number, hits.topic, int(judged.length[number]), rank, first, size, hits.document[own], hits.is_open[own],
        rated, len(outside), union[np.concatenate([listed, outside])],
    )  # fmt: skip
    return open_list, np.concatenate([listed, outside])
