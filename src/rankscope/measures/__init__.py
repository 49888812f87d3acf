"""All measures, one module per family; :mod:`rankscope.measures.base` defines the class Measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankscope.measures.base import REGISTRY, Better, Measure, at_level, needs_aspects
from rankscope.measures.function import (
    ANY_NUMBER,
    Definition,
    FunctionMeasure,
    define,
    installed,
    load_installed,
)
from rankscope.measures.grammar import parse, parse_many

__all__ = [
    "REGISTRY",
    "FunctionMeasure",
    "Measure",
    "at_level",
    "installed",
    "load_installed",
    "measure",
    "needs_aspects",
    "parse_many",
]


def measure(
    text: str,
    function: Callable[..., float] | None = None,
    *,
    unjudged: Any = 0,
    better: Better = "higher",
    range: tuple[float, float] = ANY_NUMBER,
    reference: str = "",
    parameters: Mapping[str, str] | None = None,
) -> Measure:
    """Return the measure with this name, or define a new one from a function.

    Parameters
    ----------
    text
        Name with parameters and cutoff, such as ``nDCG@10``; the plain name of a new measure.
    function
        Formula of a new measure: ``f(grades)`` or ``f(grades, counts)`` returns a number. ``grades`` holds the grade at
        each rank; ``counts`` is the number of judged documents of the topic by grade: ``{0: 40, 1: 7, 2: 3}``.
        Keyword-only arguments become parameters of the measure.
    unjudged
        Grade that the function gets for an unjudged document.
    better
        Which values are better: higher, lower, or neither.
    range
        Lowest and highest possible value; a value outside raises a MeasureError.
    reference
        Publication that defines the measure.
    parameters
        Meanings of the function's keyword parameters by name.

    Returns
    -------
    Measure
        Immutable value, usable wherever a built-in measure is.

    Examples
    --------
    >>> measure("nDCG @10"), measure("Twice", lambda grades: 2 * len(grades), range=(0, 2000))
    (nDCG@10, Twice)
    """
    if function is None:
        return parse(text)
    meanings = tuple((parameters or {}).items())
    return define(text, Definition(function, unjudged, better, range, reference, meanings))
