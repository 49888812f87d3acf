"""Complete matrices of scores (runs x topics), and means rounded so that ties are exact."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import ceil, floor, log10
from typing import Any

import numpy as np

from rankscope.arrays import Floats, Indices, Weights
from rankscope.errors import InputError, SettingsError
from rankscope.judging import Judged
from rankscope.measures import Measure, parse_many
from rankscope.scores import Collection, Scores, score

_DIGITS = 12


@dataclass(frozen=True, eq=False)
class CompleteMatrix:
    """Values of a measure on the topics where it is defined for every run."""

    measure: Measure
    values: Floats
    topics: tuple[Any, ...]
    dropped: tuple[Any, ...]
    weights: Weights = None
    """Weights of the topics; None if they are equal."""


def complete(scores: Scores, measure: str | Measure) -> CompleteMatrix:
    """Return the matrix of a measure without the topics on which it is undefined (NaN) or infinite for some run.

    All runs are compared on the same topics; :func:`left_out` lists the others.
    """
    matrix = scores.matrix(measure)
    undefined = np.asarray(~np.isfinite(matrix.values).all(axis=0))
    topics = matrix.topic_cells
    kept, dropped = (tuple(compress(topics, mask)) for mask in (~undefined, undefined))
    if not kept:
        hint = "leave this measure out, or evaluate with missing='zero'"
        raise InputError(f"{matrix.measure} is undefined on every topic for some run", hint=hint)
    if dropped:
        warnings.warn(
            f"{matrix.measure} is undefined on {len(dropped)} of {len(topics)} topics, which are left out",
            stacklevel=2,
        )
    weights = None if matrix.weights is None else matrix.weights[~undefined]
    return CompleteMatrix(matrix.measure, matrix.values[:, ~undefined], kept, dropped, weights)


def left_out(matrices: Sequence[CompleteMatrix]) -> dict[str, Any]:
    """Return the topics left out of each measure, as an entry of the settings of a result."""
    dropped = {str(matrix.measure): list(matrix.dropped) for matrix in matrices if matrix.dropped}
    return {"left_out_topics": dropped} if dropped else {}


def run_merits(matrix: CompleteMatrix) -> Floats:
    """Return the mean of each run as the measure defines it, rounded, negated if lower values are better.

    Runs are ranked by these; :func:`rounded` makes ties ties.
    """
    return matrix.measure.merit(rounded(matrix.measure.means(matrix.values, matrix.weights)))


def row_means(measure: Measure, values: Floats) -> Floats:
    """Return the mean of each row as the measure defines it, undefined values left out."""
    if measure.summary == "mean" and not np.isnan(values).any():
        return np.asarray(values.mean(axis=1))
    return np.array([measure.mean(row) for row in values])


def rounded(values: Floats, largest: float | None = None) -> Floats:
    """Return numbers rounded to 12 digits of the largest, so that values that differ by rounding errors are equal.

    0.3 - 0.2 and 0.2 - 0.1 differ in the 17th digit; without this, ties of P@10 would be broken at random.

    >>> rounded(np.array([0.3 - 0.2, 0.2 - 0.1])).tolist()
    [0.1, 0.1]
    """
    if largest is None:
        largest = float(np.abs(values).max(initial=0.0))
    if largest == 0 or not np.isfinite(largest):
        return values
    return np.round(values, _DIGITS - ceil(log10(largest)))


def top_runs(merits: Floats, fraction: float) -> Indices:
    """Return the indices of the best round(fraction n) runs in their given order; the earlier run wins a tie.

    >>> top_runs(np.array([0.1, 0.4, 0.3, 0.2]), 0.75).tolist()
    [1, 2, 3]
    """
    if not 0 < fraction <= 1:
        raise SettingsError(f"top is {fraction}", hint="give a fraction between 0 and 1 such as 0.75")
    size = floor(fraction * len(merits) + 0.5)
    return np.sort(np.argsort(-merits, kind="stable")[:size])


def best_indices(matrix: CompleteMatrix, fraction: float) -> Indices:
    """Return :func:`top_runs` by the means of a measure; raise if the measure has no direction."""
    if matrix.measure.better == "neither":
        problem = f"{matrix.measure} does not order runs: neither higher nor lower values are better"
        raise SettingsError(problem, hint="choose the best runs by AP, for example")
    return top_runs(run_merits(matrix), fraction)


def with_runs(scores: Scores, keep: Indices) -> Scores:
    """Return the scores of some of the runs."""
    judged = None if scores.judged is None else scores.judged.with_runs(keep)
    uncertainty = None if scores.uncertainty is None else scores.uncertainty.with_runs(keep)
    return replace(
        scores, runs=tuple(scores.runs[r] for r in keep), values=scores.values[:, keep], judged=judged,
        uncertainty=uncertainty, collection=None,
    )  # fmt: skip


def best_runs(scores: Scores, top: float | None, by: str | Measure = "AP") -> Scores:
    """Return the scores of the best round(top n) runs by the mean of ``by``; of all runs if ``top`` is None.

    ``by`` is evaluated if it is not among the measures. Papers leave out the worst quarter by AP (Voorhees and Buckley
    2002; Ferro et al. 2016).
    """
    if top is None:
        _check_default(by)
        return scores
    return with_runs(scores, best_indices(complete(_with_measure(scores, by), by), top))


def _check_default(by: str | Measure) -> None:
    """Raise an error for a measure that would select no runs, because ``top`` is missing."""
    if str(by) != "AP":
        hint = "give the share of runs to keep (top)"
        raise SettingsError(f"by is {str(by)!r}, but there is no top", hint=hint)


def _with_measure(scores: Scores, by: str | Measure) -> Scores:
    """Return the scores; if they lack the measure but have rankings, evaluate it."""
    if str(by) in map(str, scores.measures) or scores.judged is None:
        return scores
    measures = parse_many([by])
    if isinstance(scores.collection, Collection):
        return scores if measures[0] in scores.measures else scores.collection.evaluate(measures)
    by_measure = score(scores.judged, measures, missing=str(scores.settings["missing"]))
    return replace(by_measure, weights=scores.weights)


def best_judged(judged: Judged, top: float | None, by: str | Measure = "AP", missing: str = "zero") -> Judged:
    """Return the rankings of the runs that :func:`best_runs` keeps; the others are left out of all that follows."""
    if top is None:
        _check_default(by)
        return judged
    scores = score(judged, parse_many([by]), missing=missing)
    return judged.with_runs(best_indices(complete(scores, scores.measures[0]), top))


def chosen_by(top: float | None, by: str | Measure) -> list[Measure]:
    """Return the measure that selects runs, if any; it reads judgments as the requested measures do."""
    return [] if top is None else parse_many([by])


def top_settings(top: float | None, by: str | Measure) -> dict[str, Any]:
    """Return the runs that were analysed, if not all, for the settings of a result."""
    return {} if top is None else {"top": top, "by": str(by)}
