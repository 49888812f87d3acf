"""Merits of measures on rankings of one length, computed by the formulas that evaluate runs.

There is one topic with a fixed number of relevant documents (by default the length of the rankings) and as many
judged non-relevant documents as a ranking can contain. All documents of a ranking are judged.

Scales concern rises towards better rankings. The merit of a measure whose lower values are better is therefore its
negated value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.errors import MeasureError
from rankscope.lab.measurement.intervals import binary_word, rankings
from rankscope.lab.rankings.enumeration import values_on_binary
from rankscope.lab.rankings.explicit import ExplicitRankings
from rankscope.lab.rankings.worlds import graded_world
from rankscope.measures import Measure


def merits_on_binary(measure: Measure, length: int, relevant: int | None = None) -> Floats:
    """Return the merits of a measure on all 2^N binary rankings of a length, indexed by code.

    Rankings with more relevant documents than the topic has are NaN.

    >>> from rankscope.measures import measure
    >>> merits_on_binary(measure("AP"), 2).tolist()
    [0.0, 0.25, 0.5, 1.0]
    >>> merits_on_binary(measure("AP"), 2, relevant=1).tolist()
    [0.0, 0.5, 1.0, nan]
    """
    base = length if relevant is None else relevant
    values = measure.merit(values_on_binary(measure, length, base))
    if base >= length:
        reject_undefined(measure, values, lambda code: binary_word(code, length))
        return values
    missing = rankings(length).sum(axis=1) > base
    defined = np.flatnonzero(~missing)
    reject_undefined(measure, values[defined], lambda index: binary_word(int(defined[index]), length))
    return np.where(missing, np.nan, values)


def merits_at(measure: Measure, codes: Sequence[int], length: int, relevant: int | None = None) -> Floats:
    """Return the merits of a measure on the rankings with the given codes.

    >>> from rankscope.measures import measure
    >>> merits_at(measure("RR"), [0, 1, 1 << 99], 100).tolist()
    [0.0, 0.01, 1.0]
    """
    grades = np.array([[int(digit) for digit in f"{code:0{length}b}"] for code in codes], dtype=np.int64)
    values = _evaluate(measure, grades.reshape(len(codes), length), relevant or length)
    reject_undefined(measure, values, lambda index: binary_word(codes[index], length))
    return values


def merits_on_grades(measure: Measure, rankings: Sequence[Sequence[int]]) -> Floats:
    """Return the merits of a measure on graded rankings of one length, with as many documents per grade as ranks.

    >>> from rankscope.measures import measure
    >>> merits_on_grades(measure("CG@2"), [(0, 2), (1, 1)]).tolist()
    [2.0, 2.0]
    """
    grades = np.array(rankings, dtype=np.int64)
    return _evaluate(measure, grades, grades.shape[1])


def _evaluate(measure: Measure, grades: Ints, relevant: int) -> Floats:
    """Return the merits of rankings, given as grades (rankings, ranks), on a topic with ``relevant`` documents each."""
    best = max(1, int(grades.max(initial=0)))
    world = graded_world(best, relevant=relevant, nonrelevant=grades.shape[1])
    return measure.merit(np.asarray(measure.evaluate(ExplicitRankings(world, grades)), np.float64))


def reject_undefined(measure: Measure, merits: Floats, word: Callable[[int], str]) -> None:
    """Raise an error if a merit is not finite; ``word(i)`` is ranking i as text."""
    undefined = np.flatnonzero(~np.isfinite(merits))
    if len(undefined):
        raise MeasureError(
            f"{measure} is {measure.merit(merits[undefined])[0]:g} on the ranking {word(int(undefined[0]))}",
            hint="only a measure that is a number on every ranking has a scale",
        )
