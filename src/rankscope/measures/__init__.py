"""Every measure, one module per family; see :mod:`rankscope.measures.base` for what a measure is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankscope.measures import (  # each registers its measures
    classic,  # noqa: F401
    continuation,  # noqa: F401
    counts,  # noqa: F401
    cube,  # noqa: F401
    cumulated,  # noqa: F401
    diversity,  # noqa: F401
    effort,  # noqa: F401
    global_gain,  # noqa: F401
    interval,  # noqa: F401
    similarity,  # noqa: F401
    terminal,  # noqa: F401
    trec,  # noqa: F401
    utility,  # noqa: F401
    weighted,  # noqa: F401
)
from rankscope.measures.base import REGISTRY, Better, Measure, at_level, needs_aspects
from rankscope.measures.function import FunctionMeasure, define
from rankscope.measures.grammar import parse, parse_many

__all__ = ["REGISTRY", "FunctionMeasure", "Measure", "at_level", "measure", "needs_aspects", "parse_many"]


def measure(
    text: str,
    function: Callable[..., float] | None = None,
    *,
    unjudged: Any = 0,
    better: Better = "higher",
) -> Measure:
    """The measure of a name (``measure("nDCG@10")``), or a new one made of a function (``measure("MyM", fn)``).

    For a new one ``better`` says which values are: higher, lower, or neither.

    >>> measure("nDCG @10"), measure("Twice", lambda grades: 2 * len(grades))
    (nDCG@10, Twice)
    """
    return parse(text) if function is None else define(text, function, unjudged=unjudged, better=better)
