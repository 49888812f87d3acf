"""Bounds of the difference of two runs over labels of unjudged documents and orders of tied ones.

A document has one label, which counts for every run: it changes the recall base and the ideal ranking of the topic even
for runs that do not hold the document. Labels are therefore those of all unjudged documents that some ranking of the
topic holds. Topics are independent, so that the lowest mean difference is the mean of the lowest differences of the
topics. Where labels and orders make a measure undefined on a topic for some run, the mean under them leaves the topic
out.

:mod:`~rankscope.certainty.solvers` has the exact solvers of measures with a closed form, which give bounds where
unjudged documents are tied; :mod:`~rankscope.certainty.cases` bounds all other measures, and is exact where labellings
are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from rankscope.arrays import Bools, Floats, Ints
from rankscope.certainty.cases import find_cases, labelled_cases
from rankscope.certainty.documents import TopicHits, hits_by_topic
from rankscope.certainty.labels import best_label
from rankscope.certainty.solvers import Counts, FirstHit, Sums
from rankscope.judging import Judged
from rankscope.measures.base import Measure, declared_form
from rankscope.measures.cascade import Cascade
from rankscope.measures.forms import Counted, Form, Weighted

__all__ = ["SLACK", "Differences", "TopicHits", "hits_by_topic", "lowest_differences", "pair_form"]

SLACK = 1e-12
"""A difference of means that is no larger counts as zero."""

_CELLS = 1 << 20
"""Cells of a matrix topics x pairs x labels held at a time."""


class Differences(NamedTuple):
    """For each pair of runs a limit of the mean difference in merit, the first run minus the second."""

    lowest: Floats
    """Lower limit: no labels and orders give a smaller difference."""
    exact: Bools
    """Whether some labels and orders attain the limit; otherwise it is only a bound."""


class _Solver(Protocol):
    """Lowest difference of pairs of runs on some topics."""

    width: int
    """Cells that a pair needs."""
    may_be_undefined: bool
    """Whether labels and orders may leave the topic out; the lowest differences are those of all others."""

    def lowest(self, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Return the lowest differences, and whether they are exact, topics x pairs."""
        ...


def pair_form(measure: Measure) -> Form | None:
    """Return the closed form of a measure if it gives exact bounds of the difference of two runs, else None."""
    form = declared_form(measure)
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
        Hits of the topics that the means are taken over.
    ends
        Lowest and highest merit of every run and topic over the orders considered, before labelling.
    first, second
        The runs of each pair. An index equal to the number of runs stands for a run whose merit is always 0: a pair
        with it has the range of a single run.
    is_undefined
        The topics that are left out now, because the measure is undefined there; labels and orders may change that.
    """
    low, high = (np.vstack([end, np.zeros(len(hits))]) for end in ends)
    total, minimum = np.zeros(len(first)), np.full(len(first), np.inf)
    exact = np.ones(len(first), np.bool_)
    is_left_out = np.zeros(len(hits), np.bool_) if is_undefined is None else is_undefined
    is_closed = np.array([not part.deep and not part.is_open.any() for part in hits], np.bool_)
    keep = np.flatnonzero(is_closed & ~is_left_out)
    for part in _slices(len(first), len(keep)):
        value = low[np.ix_(first[part], keep)] - high[np.ix_(second[part], keep)]
        total[part], minimum[part] = value.sum(axis=1), value.min(axis=1, initial=np.inf)
    n_kept, n_uncertain = int((~is_left_out).sum()), 0
    changing = [
        t for t in np.flatnonzero(~is_closed | is_left_out).tolist()
        if not is_closed[t] or (ties and (hits[t].last > hits[t].first).any())
    ]  # fmt: skip
    for topics, solver in _solvers(judged, measure, hits, low, high, ties, changing, len(first)):
        may_be_left_out = is_left_out[topics] | solver.may_be_undefined
        n_kept -= int((may_be_left_out & ~is_left_out[topics]).sum())
        n_uncertain += int(may_be_left_out.sum())
        for part in _slices(len(first), solver.width):
            value, is_exact = solver.lowest(first[part], second[part])
            # Topics are added one by one, so that sums do not depend on the size of batches.
            for row in np.where(may_be_left_out[:, np.newaxis], np.minimum(value, 0.0), value):
                total[part] += row
            minimum[part] = np.minimum(minimum[part], value.min(axis=0))
            exact[part] &= (is_exact & ~may_be_left_out[:, np.newaxis]).all(axis=0)
    # A mean is at least its lowest term, and at least a negative sum divided by the fewest topics that may remain.
    negative = np.maximum(total / max(1, n_kept), minimum)
    mean = np.where(total < 0, negative, total / max(1, n_kept + n_uncertain))
    return Differences(mean, exact & np.isfinite(total))


def _slices(n_pairs: int, width: int) -> Iterator[slice]:
    """Generate slices of pairs that need at most ``_CELLS`` cells."""
    step = max(1, _CELLS // max(1, width))
    for start in range(0, n_pairs, step):
        yield slice(start, start + step)


def _solvers(
    judged: Judged,
    measure: Measure,
    hits: Sequence[TopicHits],
    low: Floats,
    high: Floats,
    ties: bool,
    topics: Sequence[int],
    n_pairs: int,
) -> Iterator[tuple[list[int], _Solver]]:
    """Generate solvers of all topics in their order, each with the topics that it solves."""
    form = pair_form(measure)

    def solve(batch: Sequence[int]) -> _Solver:
        """Return the solver of several topics."""
        batch_hits, ends = [hits[t] for t in batch], (low[:, batch], high[:, batch])
        if isinstance(form, Weighted):
            return Sums(judged, measure, form, batch_hits, ends, ties)
        assert isinstance(form, Cascade)
        return FirstHit(judged, measure, form, batch_hits, ends, ties)

    # A topic needs columns of labels for each pair and grade, and the weights of its documents for each run.
    n_cells = 6 * n_pairs * (best_label(judged) + 1) + len(low) ** 2
    batch: list[int] = []
    width = 0
    for t in topics:
        cases: _Solver | None = None
        if form is None or (ties and hits[t].has_open_ties and not hits[t].deep):
            cases = (find_cases if form is None else labelled_cases)(judged, measure, hits[t], ties)
        if cases is None and isinstance(form, Counted):
            cases = Counts(judged, form, hits[t], ties)
        size = int(np.bincount(hits[t].run[hits[t].is_open], minlength=1).max()) + 1
        if batch and (cases is not None or (len(batch) + 1) * max(width, size) * n_cells > _CELLS):
            yield batch, solve(batch)
            batch, width = [], 0
        if cases is not None:
            yield [t], cases
        else:
            batch.append(t)
            width = max(width, size)
    if batch:
        yield batch, solve(batch)
