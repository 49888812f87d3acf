"""What a certificate is, and on which rankings measures are looked at for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankscope.result import Result
from rankscope.tables import Table

__all__ = [
    "CUTOFF",
    "FEW",
    "GRADES",
    "LONG_CUTOFF",
    "LONG_SETTINGS",
    "NEAR",
    "PROPERTIES",
    "SCALE_SETTINGS",
    "Certificate",
    "Certificates",
    "describe_settings",
]

ASPECTS = {"aspects": 2, "depth": 6, "relevant": 6}
GRADES = {"grades": 2, "depth": 5, "relevant": 5}
FEW = {"grades": 1, "depth": 6, "relevant": 2}
BINARY = {"grades": 1, "depth": 8, "relevant": 8}
NEAR = {"grades": 1, "depth": 200, "relevant": 100}
FAR = {"grades": 1, "depth": 2000, "relevant": 1000}
CUTOFF = 3
LONG_CUTOFF = 10

_EXTENSION = ("relevance monotonicity", "irrelevance monotonicity")
_ORDER = ("swap", "replacement")
_ANY_GRADES = ("monotonicity", "boundedness")
_STRICT = ("priority", "deepness", "confidence", "convergence", "top-weightedness")
PROPERTIES: tuple[tuple[dict[str, int], tuple[str, ...]], ...] = (
    (ASPECTS, (*_EXTENSION, "redundancy")),
    (GRADES, (*_ORDER, *_ANY_GRADES)),
    (FEW, (*_EXTENSION, *_ORDER, *_STRICT, *_ANY_GRADES)),
    (BINARY, (*_STRICT, *_ANY_GRADES)),
    (NEAR, ("closeness threshold",)),
    (FAR, ("deepness threshold",)),
)
"""On which rankings each property is looked at.

What asks for a strict difference is asked of relevant and non-relevant documents only: a measure that does not look at
grades would break it between two grades. AP breaks deepness only from length 8 on.
"""
SCALE_SETTINGS = ({"length": 5, "relevant": 5}, {"length": 5, "relevant": 3})
LONG_SETTINGS = ({"length": 12, "relevant": 12}, {"length": 12, "relevant": 6})
"""Rankings for sums of weights are longer: the discount max(1, log10 i) fails only from length 11 on.

The first of each pair of settings has as many relevant documents as ranks: what holds only there, holds by chance.
"""


@dataclass(frozen=True)
class Certificate:
    """One measure and one property: whether it holds (None: undefined), where that was looked at, and why not."""

    measure: str
    family: str
    property: str
    holds: bool | None
    violations: int | None
    cases: int | None
    setting: str
    counterexample: str

    def row(self) -> tuple[Any, ...]:
        """Return the row of the table."""
        verdict = {True: "holds", False: "violated", None: "undefined"}[self.holds]
        return (
            self.measure,
            self.property,
            verdict,
            self.violations,
            self.cases,
            self.setting,
            self.counterexample,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Certificates(Result):
    """Certificates of several measures, as tables."""

    certificates: tuple[Certificate, ...]
    settings: dict[str, Any]

    def _about(self) -> str:
        holding = sum(bool(certificate.holds) for certificate in self.certificates)
        return f"{len(self.settings['measures'])} measures, {holding} of {len(self.certificates)} hold"

    @property
    def tables(self) -> Mapping[str, Table]:
        """``certificates``, one row for each measure and property."""
        columns = ("measure", "property", "verdict", "violations", "cases", "setting", "counterexample")
        return {
            "certificates": Table(
                "certificates", columns, [certificate.row() for certificate in self.certificates]
            )
        }

    def holds(self, name: str, property: str) -> bool:
        """Whether a measure has a property in every setting that was looked at."""
        return all(c.holds for c in self.certificates if c.measure == name and c.property == property)


def describe_settings(settings: Mapping[str, int]) -> str:
    """Settings in words: "grades 1, depth 6, relevant 2"."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())
