"""Bounds of a value over all labellings of the unjudged documents of its ranking.

The properties that a measure declares select the labellings to evaluate. If a higher grade never lowers the value, all
documents get the highest grade or all get 0. If it respects swaps, each multiset of grades has its best labelling with
the highest grades on top and its worst with the highest at the bottom. For other measures all labellings are evaluated
if they are few; otherwise the range of the measure is a proved bound that is not tight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Bools, Floats
from rankscope.certainty.labels import (
    Labels,
    OpenList,
    best_label,
    every_labelling,
    labelled_lists,
    open_lists,
    open_numbers,
    sorted_labellings,
)
from rankscope.certainty.orders import MAX_ORDERS, needs_orders, tied_values
from rankscope.judging import EvaluationOptions, Judged
from rankscope.measures.base import Measure, declared_form, respects_swaps, rewards_grades
from rankscope.measures.forms import Form, PartialList, Weighted
from rankscope.measures.weighted import WeightedPrecision

MAX_LABELLINGS = 20_000
"""Maximum number of labellings of a list for which all that matter are evaluated."""

MAX_EVALUATIONS = 200_000
"""Labellings of a list times orders of its tied documents up to which all that matter are evaluated: beyond that the
range is that of the measure, and marked as not tight."""

_CELLS = 1 << 18
"""Hits of labelled lists held at a time."""


@dataclass(frozen=True, eq=False)
class Range:
    """Lower and upper bounds of one measure, one per list."""

    lowest: Floats
    highest: Floats
    tight: Bools
    """Whether both ends are attained; otherwise they are proved bounds."""


def ranges(
    judged: Judged,
    measures: Sequence[Measure],
    values: Floats,
    options: EvaluationOptions,
    max_labellings: int = MAX_LABELLINGS,
) -> list[Range]:
    """Return the bounds of every measure for every list; ``values`` (measures x lists) take unjudged as non-relevant.

    Under ``options.ties`` other than ``break``, the bounds are those of the expected, best or worst value. Lists are
    processed one after the other, so that memory does not grow with the number of retrieved documents.
    """
    results = [Range(row.copy(), row.copy(), np.ones(len(row), np.bool_)) for row in values]
    orders = options.ties != "break" and bool(judged.tied.any())
    assert judged.groups is not None or not orders, "groups of equal scores are required"
    rest: list[_BoundSolver] = []
    for measure, result in zip(measures, results, strict=True):
        form = declared_form(measure) if options.ties == "break" and not measure.needs_aspects else None
        if type(form) is Weighted and isinstance(measure, WeightedPrecision):
            _fill_additive(judged, measure, result)
        else:
            rest.append(_BoundSolver(judged, measure, form, result, options, max_labellings))
    if rest:
        for hole in open_lists(judged, judged.groups if orders else None):
            for solver in rest:
                solver.add(hole)
        for solver in rest:
            solver.flush()
    return results


def _fill_additive(judged: Judged, measure: WeightedPrecision, result: Range) -> None:
    where = open_numbers(judged)
    if not len(where):
        return
    ends = measure.open_range(judged.lists, beyond=False, max_grade=best_label(judged))
    for end, bound in zip(ends, (result.lowest, result.highest), strict=True):
        bound[where] = end[where, 0]


class _Task(NamedTuple):
    """Labellings of a list, which contain those with the lowest and the highest value."""

    one: OpenList
    labels: Labels
    begun: bool
    """Whether other labellings of the list were evaluated before."""

    @property
    def cells(self) -> int:
        return len(self.labels) * (len(self.one.rank) + len(self.one.known))


@dataclass(eq=False)
class _BoundSolver:
    """Bounds of one measure for a stream of lists; labellings of several short lists are evaluated together."""

    judged: Judged
    measure: Measure
    form: Form | None
    result: Range
    options: EvaluationOptions
    max_labellings: int
    pending: list[_Task] = field(default_factory=list)
    cells: int = 0

    def add(self, open_list: OpenList) -> None:
        """Add a list."""
        form, result = self.form, self.result
        ends = None if form is None else form.label_range(self.measure, _partial_list(self.judged, open_list))
        if ends is not None:
            result.lowest[open_list.number], result.highest[open_list.number] = ends
            return
        labellings = self._labellings(open_list)
        if labellings is None:
            self._set_measure_range(open_list.number)
            return
        for block, labels in enumerate(labellings):
            self.pending.append(_Task(open_list, labels, begun=block > 0))
            self.cells += self.pending[-1].cells
            if self.cells > _CELLS:
                self.flush()

    def _labellings(self, open_list: OpenList) -> Iterable[Labels] | None:
        """Return the labellings to evaluate, in blocks, or None if they are too many."""
        best, aspects = best_label(self.judged), self.judged.qrels.aspects
        n_labels, max_labellings = open_list.n_unjudged, self._max_labellings(open_list)
        if self.measure.needs_aspects and aspects is not None:
            best = max(1, int(aspects.grade.max(initial=0)))
            n_labels *= int(np.diff(aspects.topic_offsets)[open_list.topic])
        elif rewards_grades(self.measure):
            return [np.array([[0] * n_labels, [best] * n_labels])]
        elif respects_swaps(self.measure):
            grades = list(range(best + 1)) if self.measure.sees_grades else [0, best]
            if comb(n_labels + len(grades) - 1, len(grades) - 1) > max_labellings:
                return None
            cells = max(1, _CELLS * n_labels // (len(open_list.rank) + len(open_list.known)))
            return chain(*(sorted_labellings(n_labels, grades, end, cells) for end in (True, False)))
        return None if (best + 1) ** n_labels > max_labellings else [every_labelling(n_labels, best)]

    def _max_labellings(self, open_list: OpenList) -> int:
        """Return the maximum number of labellings of a list, each evaluated in all orders of its tied documents."""
        if not needs_orders(self.measure, self.options.ties):
            return self.max_labellings
        kinds = best_label(self.judged) + 2  # the grades, and documents that a measure does not see
        sizes = np.unique(np.stack([open_list.first, open_list.size]), axis=1)[1].tolist()
        n_orders = 1
        for size in sizes:
            n_orders = min(MAX_ORDERS, n_orders * min(factorial(min(size, 9)), kinds ** min(size, 20)))
        return min(self.max_labellings, MAX_EVALUATIONS // n_orders)

    def flush(self) -> None:
        """Evaluate the pending labellings."""
        tasks, self.pending, self.cells = self.pending, [], 0
        if not tasks:
            return
        measure, result, options = self.measure, self.result, self.options
        per_aspect = measure.needs_aspects and self.judged.qrels.aspects is not None
        labelled = [(task.one, task.labels) for task in tasks]
        lists = labelled_lists(self.judged, labelled, per_aspect=per_aspect)
        numbers = np.repeat([task.one.number for task in tasks], [len(task.labels) for task in tasks])
        values = tied_values([measure], lists, options.ties, numbers=numbers, seed=options.seed)[0]
        start = 0
        for task in tasks:
            part = slice(start, start + len(task.labels))
            start = part.stop
            number = task.one.number
            if not values.exact[part].all():  # A mean of sampled orders proves nothing.
                self._set_measure_range(number)
                continue
            defined = values.value[part][~np.isnan(values.value[part])]
            low, high = (defined.min(), defined.max()) if len(defined) else (np.nan, np.nan)
            if not task.begun:
                result.lowest[number], result.highest[number] = low, high
            elif result.tight[number]:
                result.lowest[number] = np.fmin(result.lowest[number], low)
                result.highest[number] = np.fmax(result.highest[number], high)

    def _set_measure_range(self, number: int) -> None:
        """Set the range of the measure itself as a proved bound that is not tight."""
        self.result.lowest[number], self.result.highest[number] = self.measure.range
        self.result.tight[number] = False


def _partial_list(judged: Judged, open_list: OpenList) -> PartialList:
    """Return the known part of a list: judged ranks and grades, unjudged ranks, counts of grades."""
    grade = judged.qrels.grade[judged.qrels.topic_offsets[open_list.topic] :]
    judged_documents = open_list.document[~open_list.unjudged]
    known_grades = grade[open_list.known]
    counts = np.bincount(np.maximum(known_grades, 0), minlength=best_label(judged) + 1)
    negative = int((known_grades < 0).sum())
    judged_rank, unjudged_rank = (open_list.rank[mask] for mask in (~open_list.unjudged, open_list.unjudged))
    judged_grades = grade[judged_documents].astype(np.int64)
    return PartialList(judged_rank, judged_grades, unjudged_rank, counts, negative)
