"""Certificates: the properties and scales of every measure, computed by enumeration.

``python -m rankscope.lab.certificates docs/certificates.md`` generates the page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rankscope.errors import MeasureError
from rankscope.lab import certificate_model as model
from rankscope.lab.axioms.cases import properties
from rankscope.lab.certificate_model import render_page
from rankscope.lab.measurement.scales import SCALES
from rankscope.lab.measurement.verdicts import scales
from rankscope.measures import REGISTRY, Measure, measure, parse_many
from rankscope.measures.function import FunctionMeasure
from rankscope.progress import progress

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
"""Variants of measures whose guarantees depend on a parameter, in addition to the defaults."""

_ADDITIVE = ("RBP", "DCG")

_Finding = tuple[str, bool | None, int | None, int | None, str]
"""Property, whether it holds, numbers of violations and of cases, and a counterexample."""


def certificates(measures: str | Measure | Iterable[str | Measure] | None = None) -> model.Certificates:
    """Compute the certificates of measures: properties of rankings, and scales of measurement.

    By default these are all measures of the registry. Measures that need a cutoff get 3, effort measures the depth.

    >>> result = certificates("ACT RR")
    >>> result.holds("ACT", "irrelevance monotonicity"), result.holds("RR", "irrelevance monotonicity")
    (False, True)
    """
    parsed = parse_many(measures) if measures is not None else _all_measures()
    result: list[model.Certificate] = []
    for item in progress(parsed, len(parsed), "certificates"):
        result += _certify(item)
    settings = {
        "measures": [str(item) for item in parsed],
        "properties": [{**where, "properties": list(names)} for where, names in model.PROPERTIES],
    }
    return model.Certificates(
        tuple(result), {**settings, "scales": model.SCALE_SETTINGS, "long": model.LONG_SETTINGS}
    )


def _all_measures() -> list[Measure]:
    builtin = [item for item in dict.fromkeys(REGISTRY.values()) if not isinstance(item, FunctionMeasure)]
    named = [
        item if item.cutoff_rule != "required" else item @ (0.5 if item.name == "IPrec" else model.CUTOFF)
        for item in builtin
    ]
    return sorted(named, key=lambda item: item.family) + [measure(text) for text in VARIANTS]


def _with_depth(item: Measure, depth: int) -> Measure:
    """Return the measure with a cutoff that suits rankings of this depth."""
    if item.family == "effort" and item.cutoff_rule != "none":
        return item @ depth
    return item @ model.LONG_CUTOFF if depth >= model.NEAR["depth"] and item.cutoff == model.CUTOFF else item


def _certify(item: Measure) -> Iterator[model.Certificate]:
    for settings, names in model.PROPERTIES:
        yield from _state(item, settings, names, _test_properties)
    for settings in model.LONG_SETTINGS if item.name in _ADDITIVE else model.SCALE_SETTINGS:
        yield from _state(item, settings, tuple(SCALES), _test_scales)


def _state(
    item: Measure, settings: dict[str, int], names: Sequence[str], test: Callable[..., Iterator[_Finding]]
) -> Iterator[model.Certificate]:
    """Yield the certificates of a setting, without a verdict if the measure is undefined on some ranking."""
    try:
        findings = list(test(item, settings, names))
    except MeasureError as error:
        findings = [(name, None, None, None, error.message) for name in names]
    where = model.describe_settings(settings)
    for name, holds, violations, cases, example in findings:
        yield model.Certificate(str(item), name, holds, violations, cases, where, example)


def _test_properties(item: Measure, settings: dict[str, int], names: Sequence[str]) -> Iterator[_Finding]:
    result = properties([_with_depth(item, settings["depth"])], properties=names, **settings)  # type: ignore[arg-type]
    if not result.complete:
        raise KeyboardInterrupt  # A certificate must be complete.
    for verdict in result.verdicts:
        example = verdict.shortest[0].sentence(verdict.measure) if verdict.shortest else ""
        yield verdict.relation.name, verdict.violations == 0, verdict.violations, verdict.cases, example


def _test_scales(item: Measure, settings: dict[str, int], names: Sequence[str]) -> Iterator[_Finding]:
    sampled = {"count": "sample", "samples": 1000} if item.name in _ADDITIVE else {}
    options: dict[str, Any] = {**settings, **sampled}
    result = scales(_with_depth(item, settings["length"]), **options)
    if result.partial:
        raise KeyboardInterrupt
    for verdict in result.verdicts:
        numbers = (verdict.violations, verdict.comparable) if verdict.method == "exact" else (None, None)
        yield verdict.scale, verdict.holds, *numbers, "" if verdict.holds else verdict.because


if __name__ == "__main__":
    text = render_page(certificates())
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
