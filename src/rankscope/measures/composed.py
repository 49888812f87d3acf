"""Measures made of another measure: their text holds its text, ``IA(measure='nDCG')@10``."""

from __future__ import annotations

import re
from typing import ClassVar, Self

from rankscope.errors import MeasureError, nearest
from rankscope.measures.base import REGISTRY, Measure, parameter
from rankscope.measures.grammar import parse
from rankscope.measures.packages import installed

__all__ = ["Composed"]


class Composed(Measure, abstract=True):
    """A measure that asks another one, which looks at documents without aspects.

    The cutoff is handed to the measure inside, unless a kind of measure has a use of its own for it.
    """

    takes: ClassVar[str] = "the measure inside looks at no aspects"
    """Why a measure over aspects cannot be the one inside."""

    measure: str = parameter("AP", "the measure inside, such as 'RBP(p=0.5)'")

    def validate(self) -> None:
        name = re.split(r"\W", self.measure, maxsplit=1)[0]
        if installed(name) is None:
            known = nearest(name, REGISTRY)
            raise MeasureError(
                f"{self.name} knows no measure {name!r}", hint=known or f"write {self.name}(measure='AP')"
            )
        if REGISTRY[name].needs_aspects:
            raise MeasureError(f"{self.name} cannot have measure={self.measure!r}", hint=self.takes)
        object.__setattr__(self, "better", REGISTRY[name].better)

    def complete(self) -> Self:
        self.inner()
        return self

    def inner(self) -> Measure:
        """The measure inside."""
        return parse(self.measure if self.cutoff is None else f"{self.measure}@{self.cutoff}")
