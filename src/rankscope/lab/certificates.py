"""Certificates: for every measure, what it guarantees and what it does not, found by enumeration.

``python -m rankscope.lab.certificates docs/certificates.md`` writes the page (``certificate_page``); nothing on it is
written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rankscope.errors import MeasureError
from rankscope.lab.axioms.cases import PropertiesResult, properties
from rankscope.lab.certificate_page import page
from rankscope.lab.certified import (
    CUTOFF,
    FEW,
    GRADES,
    LONG_CUTOFF,
    LONG_SETTINGS,
    NEAR,
    PROPERTIES,
    SCALE_SETTINGS,
    Certificate,
    Certificates,
    said,
)
from rankscope.lab.measurement.scales import SCALES
from rankscope.lab.measurement.verdicts import scales
from rankscope.measures import REGISTRY, Measure, measure, parse_many
from rankscope.measures.function import FunctionMeasure
from rankscope.progress import progress

__all__ = ["CUTOFF", "FEW", "GRADES", "PROPERTIES", "Certificate", "Certificates", "certificates"]

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

_ADDITIVE = ("RBP", "DCG")


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
    text = page(certificates())
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
