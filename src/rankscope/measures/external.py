"""External measures: columns of a score matrix that another program computed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from rankscope.errors import MeasureError
from rankscope.judging.lists import Floats, Lists
from rankscope.measures.base import REGISTRY, Measure
from rankscope.measures.spellings import respelled

_AMBIGUOUS = ("f1", "hit", "hits", "gm_map", "gm_bpref")
"""Names that other programs use for different values; for geometric means trec_eval prints logarithms."""


class ExternalMeasure(Measure, abstract=True):
    """A measure without a formula, whose values were read from a file."""

    family = "given"
    range = (-float("inf"), float("inf"))

    def __reduce__(self) -> tuple[Any, ...]:
        return (external_measure, (self.name,))

    def evaluate(self, lists: Lists) -> Floats:
        hint = "see: rankscope measures"
        raise MeasureError(f"{self.name} has no formula, only values read from a file", hint=hint)


def external_measure(name: str, others: bool = False) -> Measure:
    """Return the registered measure with this name, otherwise an external measure.

    With ``others``, unambiguous names of trec_eval and other programs are accepted.

    >>> external_measure("nDCG@10"), external_measure("official score")
    (nDCG@10, official score)
    >>> external_measure("ndcg_cut_10", others=True), external_measure("f1", others=True)
    (ndcg_cut_10, f1)
    """
    from rankscope.measures.grammar import parse
    from rankscope.measures.packages import installed

    if installed(name.partition("@")[0].partition("(")[0].strip()):
        return parse(name).with_name(name)
    if others and name.lower() not in _AMBIGUOUS and respelled(name, REGISTRY) is not None:
        with suppress(MeasureError):
            return parse(name).with_name(name)
    readable = name.encode("utf-8", "replace").decode()  # a docstring cannot contain lone surrogates
    about = {"name": name, "__doc__": f"{readable}: values read from a file."}
    kind = type("Given", (ExternalMeasure,), about, abstract=True)
    measure: Measure = kind()
    return measure
