"""Measures of which only values are known: the columns of a score matrix that others computed."""

from __future__ import annotations

from typing import Any

from rankscope.errors import MeasureError
from rankscope.judging.lists import Floats, Lists
from rankscope.measures.base import REGISTRY, Measure

__all__ = ["GivenMeasure", "given"]


class GivenMeasure(Measure, abstract=True):
    """A measure that somebody else computed."""

    family = "given"
    range = (-float("inf"), float("inf"))

    def __reduce__(self) -> tuple[Any, ...]:
        return (given, (self.name,))

    def of(self, lists: Lists) -> Floats:
        raise MeasureError(f"{self.name} is known by its values only", hint="evaluate a measure of the list")


def given(name: str) -> Measure:
    """The measure that a text names or, if there is none, one of this name that is known by its values only.

    >>> given("nDCG@10"), given("official score")
    (nDCG@10, official score)
    """
    from rankscope.measures.grammar import parse

    if name.partition("@")[0].partition("(")[0].strip() in REGISTRY:
        return parse(name)
    kind = type("Given", (GivenMeasure,), {"name": name, "__doc__": f"{name}: values given."}, abstract=True)
    measure: Measure = kind()
    return measure
