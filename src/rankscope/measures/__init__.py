"""Every measure, one module per family; see :mod:`rankscope.measures.base` for what a measure is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankscope.measures.base import REGISTRY, Better, Measure, at_level, needs_aspects
from rankscope.measures.function import ANY_NUMBER, FunctionMeasure, define
from rankscope.measures.grammar import parse, parse_many
from rankscope.measures.packages import installed, load_installed

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
    """The measure of a name (``measure("nDCG@10")``), or a new one made of a function (``measure("MyM", fn)``).

    For a new one ``better`` says which values are (higher, lower, or neither), ``range`` which there can be,
    ``reference`` where it is from, ``parameters`` what its parameters mean; see :func:`rankscope.measures.define`.

    >>> measure("nDCG @10"), measure("Twice", lambda grades: 2 * len(grades), range=(0, 2000))
    (nDCG@10, Twice)
    """
    if function is None:
        return parse(text)
    return define(
        text,
        function,
        unjudged=unjudged,
        better=better,
        range=range,
        reference=reference,
        parameters=parameters,
    )
