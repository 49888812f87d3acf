"""Certificates of measures, and the settings in which they are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from rankscope.result import Result
from rankscope.tables import Table

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
"""Settings in which each property is tested.

Strict properties are tested with binary relevance only, since a measure that ignores grades would violate them between
two grades. AP violates deepness only from length 8.
"""
SCALE_SETTINGS = ({"length": 5, "relevant": 5}, {"length": 5, "relevant": 3})
LONG_SETTINGS = ({"length": 12, "relevant": 12}, {"length": 12, "relevant": 6})
"""Settings for weighted sums, which are longer because the discount max(1, log10 i) fails only from length 11.

The first of each pair of settings has as many relevant documents as ranks. A property that holds only there holds by
chance.
"""


class Certificate(NamedTuple):
    """Verdict on one measure and one property in one setting: whether it holds (None: undefined), and why not."""

    measure: str
    property: str
    holds: bool | None
    violations: int | None
    cases: int | None
    setting: str
    counterexample: str


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
        """Table ``certificates`` with one row for each measure, property and setting."""
        columns = ("measure", "property", "verdict", "violations", "cases", "setting", "counterexample")
        verdicts = {True: "holds", False: "violated", None: "undefined"}
        rows = [(c.measure, c.property, verdicts[c.holds], *c[3:]) for c in self.certificates]
        return {"certificates": Table("certificates", columns, rows)}

    @cached_property
    def by_measure(self) -> dict[str, dict[str, list[Certificate]]]:
        """Certificates by measure and property."""
        result: dict[str, dict[str, list[Certificate]]] = {}
        for certificate in self.certificates:
            by_property = result.setdefault(certificate.measure, {})
            by_property.setdefault(certificate.property, []).append(certificate)
        return result

    def holds(self, name: str, property: str) -> bool:
        """Return whether a measure has a property in every tested setting."""
        return all(c.holds for c in self.certificates if c.measure == name and c.property == property)


def describe_settings(settings: Mapping[str, int]) -> str:
    """Return settings as text, such as "grades 1, depth 6, relevant 2"."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())
