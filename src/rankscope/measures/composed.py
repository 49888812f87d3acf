"""Measures with another measure as a parameter: ``IA(measure='nDCG')@10``."""

from __future__ import annotations

import re
from typing import ClassVar, Self

from rankscope.errors import suggest_names
from rankscope.measures.base import REGISTRY, Measure, parameter
from rankscope.measures.function import installed
from rankscope.measures.grammar import parse


class Composed(Measure, abstract=True):
    """Base class of measures with an inner measure, which does not use aspects.

    The cutoff is passed to the inner measure, unless a subclass uses it otherwise.
    """

    inner_rule: ClassVar[str] = "the inner measure must not use aspects"
    """Error hint for an inner measure that uses aspects."""

    measure: str = parameter("AP", "inner measure, such as 'RBP(p=0.5)'")

    def validate(self) -> None:
        name = re.split(r"\W", self.measure, maxsplit=1)[0]
        if installed(name) is None:
            hint = suggest_names(name, REGISTRY) or f"write {self.name}(measure='AP')"
            raise self._error(f"knows no measure {name!r}", hint)
        if REGISTRY[name].needs_aspects:
            raise self._error(f"cannot have measure={self.measure!r}", self.inner_rule)
        object.__setattr__(self, "better", REGISTRY[name].better)

    def complete(self) -> Self:
        self.inner()
        return self

    def inner(self) -> Measure:
        """Return the inner measure."""
        return parse(self.measure if self.cutoff is None else f"{self.measure}@{self.cutoff}")
