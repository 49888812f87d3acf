"""Measures of which only values are known: the columns of a score matrix that others computed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from rankscope.errors import MeasureError
from rankscope.judging.lists import Floats, Lists
from rankscope.measures.base import REGISTRY, Measure
from rankscope.measures.spellings import respelled

__all__ = ["GivenMeasure", "given"]


_AMBIGUOUS = ("f1", "hit", "hits", "gm_map", "gm_bpref")
"""Names that others give to other things; of geometric means, trec_eval prints the logarithms."""


class GivenMeasure(Measure, abstract=True):
    """A measure that somebody else computed."""

    family = "given"
    range = (-float("inf"), float("inf"))

    def __reduce__(self) -> tuple[Any, ...]:
        return (given, (self.name,))

    def evaluate(self, lists: Lists) -> Floats:
        raise MeasureError(f"{self.name} is known by its values only", hint="evaluate a measure of the list")


def given(name: str, others: bool = False) -> Measure:
    """The measure that a text names or, if there is none, one of this name that is known by its values only.

    With ``others`` the names of trec_eval and others will do, where they can mean nothing else.

    >>> given("nDCG@10"), given("official score"), given("ndcg_cut_10", others=True), given("f1", others=True)
    (nDCG@10, official score, nDCG@10, f1)
    """
    from rankscope.measures.grammar import parse
    from rankscope.measures.packages import installed

    if installed(name.partition("@")[0].partition("(")[0].strip()):
        return parse(name)
    if others and name.lower() not in _AMBIGUOUS and respelled(name, REGISTRY) is not None:
        with suppress(MeasureError):
            return parse(name)
    readable = name.encode("utf-8", "replace").decode()  # no docstring has bytes that are no text
    about = {"name": name, "__doc__": f"{readable}: values given."}
    kind = type("Given", (GivenMeasure,), about, abstract=True)
    measure: Measure = kind()
    return measure
