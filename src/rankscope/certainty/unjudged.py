"""The range of a value over all labellings of the unjudged documents of its list.

Which labellings have to be looked at follows from what a measure declares. If a higher grade never harms, all documents
get the highest grade or all get 0. If it respects swaps, each multiset of grades has its best labelling with the
highest grades on top and its worst with the highest at the bottom. Whatever declares nothing is looked at labelling by
labelling while there are few; else its range is that of all values it can take, which is proved but not tight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.certainty.declared import form_of, respects_swaps, rewards_grades
from rankscope.certainty.labels import (
    Labels,
    OpenList,
    best_label,
    every_labelling,
    labelled_lists,
    open_lists,
    sorted_labellings,
)
from rankscope.certainty.ties import tied_values
from rankscope.errors import SettingsError
from rankscope.judging import Handling, Judged
from rankscope.judging.lists import Floats
from rankscope.measures.base import Measure
from rankscope.measures.forms import Seen, Weighted
from rankscope.measures.weighted import WeightedPrecision

__all__ = ["MOST_LABELLINGS", "UNJUDGED_AS", "Range", "check_unjudged", "ranges"]

UNJUDGED_AS = ("nonrelevant", "condense", "bounds")
"""What a retrieved document without a judgment is.

``nonrelevant``: one that is not relevant;  ``condense``: nothing, it is taken out of the list;  ``bounds``: anything
from grade 0 to the best one, so that a value has a range
"""

MOST_LABELLINGS = 20_000
"""Labellings of a list up to which all that matter are looked at."""

_CELLS = 1 << 20
"""Hits of labelled lists held at a time."""


def check_unjudged(unjudged: str) -> str:
    """One of :data:`UNJUDGED_AS`, or an error."""
    if unjudged not in UNJUDGED_AS:
        raise SettingsError(f"unjudged={unjudged!r}", hint=f"choose one of {', '.join(UNJUDGED_AS)}")
    return unjudged


@dataclass(frozen=True, eq=False)
class Range:
    """The ends of the range of one measure, one per list."""

    lowest: Floats
    highest: Floats
    tight: npt.NDArray[np.bool_]
    """Whether both ends are reached; else they are proved, but not known to be reached."""


def ranges(
    judged: Judged,
    measures: Sequence[Measure],
    values: Floats,
    handling: Handling,
    most: int = MOST_LABELLINGS,
) -> list[Range]:
    """The range of every measure for every list; ``values``, measures x lists, are those of lists without holes.

    Under ``handling.ties`` other than ``break`` the range is that of the expected, best or worst value.
    """
    found = [Range(row.copy(), row.copy(), np.ones(len(row), np.bool_)) for row in values]
    holes = list(open_lists(judged))
    for measure, one in zip(measures, found, strict=True):
        _fill(judged, measure, one, holes, handling, most)
    return found


def _fill(
    judged: Judged, measure: Measure, result: Range, holes: Sequence[OpenList], handling: Handling, most: int
) -> None:
    form = form_of(measure) if handling.ties == "break" and not measure.needs_aspects else None
    if type(form) is Weighted and isinstance(measure, WeightedPrecision):
        where = np.array([one.number for one in holes], np.int64)
        both = measure.open_range(judged.lists, beyond=False, max_grade=best_label(judged)) if holes else ()
        for end, ours in zip(both, (result.lowest, result.highest), strict=False):
            ours[where] = end[where, 0]
        return
    pending: list[_Task] = []
    cells = 0
    for one in holes:
        ends = None if form is None else form.label_range(measure, _seen(judged, one))
        if ends is not None:
            result.lowest[one.number], result.highest[one.number] = ends
            continue
        task = _task(judged, measure, one, most)
        if task is None:
            _unbounded(measure, result, one.number)
            continue
        pending.append(task)
        cells += task.cells
        if cells > _CELLS:
            _evaluate(judged, measure, result, pending, handling)
            pending, cells = [], 0
    if pending:
        _evaluate(judged, measure, result, pending, handling)


def _seen(judged: Judged, one: OpenList) -> Seen:
    """What is known of a list, in numbers."""
    grade = judged.qrels.grade[judged.qrels.topic_offsets[one.topic] :]
    mine = one.document[~one.unjudged]
    counts = np.bincount(np.maximum(grade[one.known], 0), minlength=best_label(judged) + 1)
    return Seen(one.rank[~one.unjudged], grade[mine].astype(np.int64), one.rank[one.unjudged], counts)


def _unbounded(measure: Measure, result: Range, number: int) -> None:
    """All values that the measure can take: proved, and not tight."""
    result.lowest[number], result.highest[number] = measure.range
    result.tight[number] = False


class _Task(NamedTuple):
    """The labellings of a list among which the lowest and the highest value are."""

    one: OpenList
    labels: Labels

    @property
    def cells(self) -> int:
        return len(self.labels) * (len(self.one.rank) + len(self.one.known))


def _task(judged: Judged, measure: Measure, one: OpenList, most: int) -> _Task | None:
    """The labellings to be looked at; None if they are too many."""
    best = best_label(judged)
    if measure.needs_aspects and judged.qrels.aspects is not None:
        return _aspect_task(judged, one, most)
    if rewards_grades(measure):
        return _Task(one, np.array([[0] * one.many, [best] * one.many]))
    if respects_swaps(measure):
        grades = list(range(best + 1)) if measure.sees_grades else [0, best]
        if comb(one.many + len(grades) - 1, len(grades) - 1) > most:
            return None
        both = [sorted_labellings(one.many, grades, best_first) for best_first in (True, False)]
        return _Task(one, np.concatenate(both))
    if (best + 1) ** one.many > most:
        return None
    return _Task(one, every_labelling(one.many, best))


def _aspect_task(judged: Judged, one: OpenList, most: int) -> _Task | None:
    aspects = judged.qrels.aspects
    assert aspects is not None
    best = max(1, int(aspects.grade.max(initial=0)))
    many = int(np.diff(aspects.topic_offsets)[one.topic]) * one.many
    return None if (best + 1) ** many > most else _Task(one, every_labelling(many, best))


def _evaluate(
    judged: Judged, measure: Measure, result: Range, tasks: Sequence[_Task], handling: Handling
) -> None:
    per_aspect = measure.needs_aspects and judged.qrels.aspects is not None
    lists = labelled_lists(judged, tasks, per_aspect=per_aspect)
    numbers = np.repeat([task.one.number for task in tasks], [len(task.labels) for task in tasks])
    values = tied_values([measure], lists, handling.ties, numbers=numbers, seed=handling.seed)[0]
    start = 0
    for task in tasks:
        part = slice(start, start + len(task.labels))
        start = part.stop
        number = task.one.number
        if not values.exact[part].all():  # a mean of sampled orders proves nothing
            _unbounded(measure, result, number)
            continue
        defined = values.value[part][~np.isnan(values.value[part])]
        ends = (defined.min(), defined.max()) if len(defined) else (np.nan, np.nan)
        result.lowest[number], result.highest[number] = ends
