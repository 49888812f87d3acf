"""Certificates: for every measure, what it guarantees and what it does not, found by enumeration.

``python -m rankscope.lab.certificates docs/certificates.md`` writes the page (``certificate_page``); nothing on it is
written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankscope.errors import MeasureError
from rankscope.lab.axioms.cases import PropertiesResult, properties
from rankscope.lab.measurement.scales import SCALES
from rankscope.lab.measurement.verdicts import scales
from rankscope.measures import REGISTRY, Measure, measure, parse_many
from rankscope.measures.function import FunctionMeasure
from rankscope.progress import progress
from rankscope.result import Result
from rankscope.tables import Table

__all__ = ["Certificate", "Certificates", "certificates", "said"]

VARIANTS = (
    "RBP(p=0.5)",
    "RBP(p=0.95)",
    "DCG(discount='jk')",
    "DCG(discount='jk',base=10)",
    "CT(preset='equation7')",
    "ACT(preset='equation7')",
    "CT(preset='equation7',time='iterations')",
    "ACT(preset='equation7',time='iterations')",
    "Twist(crossing='definition')",
    "Twist(crossing='matters')",
)
"""Measures whose guarantees depend on a parameter, beside their defaults."""

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

_ADDITIVE = ("RBP", "DCG")


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
        """The row of the table."""
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
    """The certificates of several measures, as tables."""

    certificates: tuple[Certificate, ...]
    settings: dict[str, Any]

    def _about(self) -> str:
        holding = sum(bool(one.holds) for one in self.certificates)
        return f"{len(self.settings['measures'])} measures, {holding} of {len(self.certificates)} hold"

    @property
    def tables(self) -> Mapping[str, Table]:
        """``certificates``, one row for each measure and property."""
        columns = ("measure", "property", "verdict", "violations", "cases", "setting", "counterexample")
        return {"certificates": Table("certificates", columns, [one.row() for one in self.certificates])}

    def holds(self, name: str, property: str) -> bool:
        """Whether a measure has a property in every setting that was looked at."""
        return all(c.holds for c in self.certificates if c.measure == name and c.property == property)


def certificates(measures: str | Measure | Iterable[str | Measure] | None = None) -> Certificates:
    """What measures guarantee: properties of rankings, and scales of measurement.

    By default every measure of the registry; those that need a cutoff get 3, effort measures the depth.

    >>> found = certificates("ACT RR")
    >>> found.holds("ACT", "irrelevance monotonicity"), found.holds("RR", "irrelevance monotonicity")
    (False, True)
    """
    wanted = parse_many(measures) if measures is not None else _everything()
    found: list[Certificate] = []
    for one in progress(wanted, len(wanted), "certificates"):
        found += _properties_of(one)
        found += _scales_of(one)
    settings = {
        "measures": [str(one) for one in wanted],
        "properties": [{**where, "properties": list(names)} for where, names in PROPERTIES],
    }
    return Certificates(tuple(found), {**settings, "scales": SCALE_SETTINGS, "long": LONG_SETTINGS})


def _everything() -> list[Measure]:
    known = [one for one in dict.fromkeys(REGISTRY.values()) if not isinstance(one, FunctionMeasure)]
    named = [
        one if one.cutoff_rule != "required" else one @ (0.5 if one.name == "IPrec" else CUTOFF)
        for one in known
    ]
    return sorted(named, key=lambda one: one.family) + [measure(text) for text in VARIANTS]


def _at(one: Measure, depth: int) -> Measure:
    """The measure with an evaluation length that suits the rankings."""
    if one.family == "effort" and one.cutoff_rule != "none":
        return one @ depth
    return one @ LONG_CUTOFF if depth >= NEAR["depth"] and one.cutoff == CUTOFF else one


def _properties_of(one: Measure) -> list[Certificate]:
    found = []
    for settings, names in PROPERTIES:
        try:
            result = properties([_at(one, settings["depth"])], properties=names, **settings)  # type: ignore[arg-type]
            if not result.complete:
                raise KeyboardInterrupt  # half a certificate is none
        except MeasureError as error:
            found += _undefined(one, names, said(settings), error)
        else:
            found += _from_cases(one, result, said(settings))
    return found


def said(settings: Mapping[str, int]) -> str:
    """Settings in words: "grades 1, depth 6, relevant 2"."""
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def _undefined(one: Measure, names: Iterable[str], where: str, error: MeasureError) -> list[Certificate]:
    """Where a measure is no number, nothing can be said about it."""
    return [Certificate(str(one), one.family, name, None, None, None, where, error.message) for name in names]


def _from_cases(one: Measure, result: PropertiesResult, where: str) -> list[Certificate]:
    return [
        Certificate(
            str(one),
            one.family,
            finding.relation.name,
            finding.violations == 0,
            finding.violations,
            finding.cases,
            where,
            finding.shortest[0].sentence(finding.measure) if finding.shortest else "",
        )
        for finding in result.findings
    ]


def _scales_of(one: Measure) -> list[Certificate]:
    additive = one.name in _ADDITIVE
    count = {"count": "sample", "samples": 1000} if additive else {}
    return [
        certificate
        for setting in (LONG_SETTINGS if additive else SCALE_SETTINGS)
        for certificate in _scales_in(one, setting, count)
    ]


def _scales_in(one: Measure, setting: dict[str, int], count: dict[str, Any]) -> list[Certificate]:
    try:
        result = scales(_at(one, setting["length"]), setting["length"], relevant=setting["relevant"], **count)
        if result.partial:
            raise KeyboardInterrupt
    except MeasureError as error:
        return _undefined(one, SCALES, said(setting), error)
    return [
        Certificate(
            str(one),
            one.family,
            finding.scale,
            finding.holds,
            finding.violations if finding.method == "exact" else None,
            finding.comparable if finding.method == "exact" else None,
            said(setting),
            "" if finding.holds else finding.because,
        )
        for finding in result.findings
    ]


if __name__ == "__main__":
    from rankscope.lab.certificate_page import page

    text = page(certificates())
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
