"""A measure on every binary ranking of a length, through the same formula that evaluates runs.

The setting: one topic with a fixed number of relevant documents (as many as the ranking is long, unless
set) and as many judged non-relevant ones as a ranking can hold; every ranking is full, so all its documents
are judged.

Scales speak of rises towards better rankings. A measure of which lower values are better is therefore taken with the
other sign, and its rise is how far its value falls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import MeasureError
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.lab.measurement.intervals import rankings, written
from rankscope.lab.rankings.enumeration import values_on_binary
from rankscope.measures import Measure

__all__ = ["refuse_undefined", "values_at", "values_of", "values_of_grades"]

Floats = NDArray[np.float64]


def values_of(measure: Measure, length: int, relevant: int | None = None) -> Floats:
    """``values[code]`` of a measure on all 2^N binary rankings of a length; NaN where there is no such ranking.

    A topic with fewer relevant documents than the rankings are long has not all of them.

    >>> from rankscope.measures import measure
    >>> values_of(measure("AP"), 2).tolist()
    [0.0, 0.25, 0.5, 1.0]
    >>> values_of(measure("AP"), 2, relevant=1).tolist()
    [0.0, 0.5, 1.0, nan]
    """
    base = length if relevant is None else relevant
    values = measure.merit(values_on_binary(measure, length, base))
    if base >= length:
        refuse_undefined(measure, values, lambda code: written(code, length))
        return values
    missing = rankings(length).sum(axis=1) > base
    there = np.flatnonzero(~missing)
    refuse_undefined(measure, values[there], lambda place: written(int(there[place]), length))
    return np.where(missing, np.nan, values)


def values_at(measure: Measure, codes: Sequence[int], length: int, relevant: int | None = None) -> Floats:
    """The measure on some rankings of any length, given by their codes.

    >>> from rankscope.measures import measure
    >>> values_at(measure("RR"), [0, 1, 1 << 99], 100).tolist()
    [0.0, 0.01, 1.0]
    """
    grades = np.array([[int(digit) for digit in f"{code:0{length}b}"] for code in codes], dtype=np.int64)
    values = _evaluate(measure, grades.reshape(len(codes), length), relevant or length)
    refuse_undefined(measure, values, lambda place: written(codes[place], length))
    return values


def values_of_grades(measure: Measure, rankings: Sequence[Sequence[int]]) -> Floats:
    """The measure on some graded rankings of one length, each grade with as many documents as that.

    >>> from rankscope.measures import measure
    >>> values_of_grades(measure("CG@2"), [(0, 2), (1, 1)]).tolist()
    [2.0, 2.0]
    """
    grades = np.array(rankings, dtype=np.int64)
    return _evaluate(measure, grades, grades.shape[1])


def _evaluate(measure: Measure, grades: NDArray[np.int64], relevant: int) -> Floats:
    """Rankings as lists of one topic with ``relevant`` documents of each grade above 0, and as many others as ranks."""
    count, length = grades.shape
    best = max(1, int(grades.max(initial=0)))
    judged = np.array([length, *[relevant] * best])
    first = np.cumsum(judged) - judged
    document = np.empty_like(grades)
    for grade in range(best + 1):
        here = grades == grade
        document[here] = (first[grade] + np.cumsum(here, axis=1) - 1)[here]
    lists = Lists(
        Pool(np.array([0, judged.sum()]), np.repeat(np.arange(best + 1, dtype=np.int32), judged)),
        topic=np.zeros(count, dtype=np.int64),
        length=np.full(count, length, dtype=np.int64),
        offsets=np.arange(count + 1) * length,
        rank=np.tile(np.arange(1, length + 1, dtype=np.int32), count),
        judgment=document.ravel().astype(np.int32),
    )
    return measure.merit(np.asarray(measure.evaluate(lists), dtype=np.float64))


def refuse_undefined(measure: Measure, merits: Floats, written: Callable[[int], str]) -> None:
    """Refuse a measure that is no finite number on a ranking; ``written`` gives the ranking at a place of the array."""
    undefined = np.flatnonzero(~np.isfinite(merits))
    if len(undefined):
        raise MeasureError(
            f"{measure} is {measure.merit(merits[undefined])[0]:g} on the ranking {written(int(undefined[0]))}",
            hint="only a measure that is a number on every ranking has a scale",
        )
