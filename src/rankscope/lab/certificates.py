"""Certificates: for every measure, what it guarantees and what it does not, found by enumeration.

``python -m rankscope.lab.certificates docs/certificates.md`` writes the page; nothing on it is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankscope.errors import MeasureError
from rankscope.lab.axioms.cases import PropertiesResult, properties
from rankscope.lab.measurement.scales import EQUAL, SCALES
from rankscope.lab.measurement.verdicts import scales
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import aspect_world
from rankscope.measures import REGISTRY, Measure, measure, parse_many
from rankscope.measures.function import FunctionMeasure
from rankscope.progress import progress
from rankscope.result import Result
from rankscope.tables import Table

__all__ = ["Certificate", "Certificates", "certificates", "page"]

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
CUTOFF = 3
SCALE_SETTINGS = ({"length": 5, "relevant": 5}, {"length": 5, "relevant": 3})
LONG_SETTINGS = ({"length": 12, "relevant": 12}, {"length": 12, "relevant": 6})
"""Rankings for sums of weights are longer: the discount max(1, log10 i) fails only from length 11 on.

The first of each pair of settings has as many relevant documents as ranks: what holds only there, holds by chance.
"""

_ADDITIVE = ("RBP", "DCG")

CLAIMS = (
    (
        "DCG",
        EQUAL,
        "DCG is interval-like where both ends have equally many relevant documents (Ferrante et al. 2017)",
    ),
    ("DCG(discount='jk')", EQUAL, "the same for the discount max(1, log2 i) of Jarvelin and Kekalainen 2002"),
    ("DCG(discount='jk',base=10)", EQUAL, "the same for max(1, log10 i)"),
    (
        "RBP",
        EQUAL,
        "RBP is interval-like where both ends have equally many relevant documents (Ferrante et al. 2017)",
    ),
    (
        "Twist",
        "swap",
        "moving a more relevant document up does not lower an effectiveness measure (Ferrante et al. 2015)",
    ),
    ("Twist", "replacement", "nor does replacing a document by a more relevant one (Ferrante et al. 2015)"),
    (
        "ACT",
        "irrelevance monotonicity",
        "appending a non-relevant document does not raise a score (Albahem et al. 2018)",
    ),
    ("AP_IA", "redundancy", "a document of a new aspect gains at least as much (Albahem et al. 2018)"),
)
"""What is written about measures, or asked of them, that is worth holding against what was found."""


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
    settings = {"measures": [str(one) for one in wanted], "aspects": ASPECTS, "grades": GRADES, "few": FEW}
    return Certificates(tuple(found), {**settings, "scales": SCALE_SETTINGS, "long": LONG_SETTINGS})


def _everything() -> list[Measure]:
    known = [one for one in dict.fromkeys(REGISTRY.values()) if not isinstance(one, FunctionMeasure)]
    named = [
        one if one.cutoff_rule != "required" else one @ (0.5 if one.name == "IPrec" else CUTOFF)
        for one in known
    ]
    return sorted(named, key=lambda one: one.family) + [measure(text) for text in VARIANTS]


def _at(one: Measure, depth: int) -> Measure:
    """The measure with an evaluation length that suits short rankings."""
    return one @ depth if one.family == "effort" and one.cutoff_rule != "none" else one


def _properties_of(one: Measure) -> list[Certificate]:
    found = []
    extension = ["relevance monotonicity", "irrelevance monotonicity"]
    order = ["swap", "replacement"]
    for settings, names in (
        (ASPECTS, [*extension, "redundancy"]),
        (GRADES, order),
        (FEW, [*extension, *order]),
    ):
        try:
            result = properties([_at(one, settings["depth"])], properties=names, **settings)  # type: ignore[arg-type]
            if not result.complete:
                raise KeyboardInterrupt  # half a certificate is none
        except MeasureError as error:
            found += _undefined(one, names, _say(settings), error)
        else:
            found += _from_cases(one, result, _say(settings))
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
        return _undefined(one, SCALES, _say(setting), error)
    return [
        Certificate(
            str(one),
            one.family,
            finding.scale,
            finding.holds,
            finding.violations if finding.method == "exact" else None,
            finding.comparable if finding.method == "exact" else None,
            _say(setting),
            "" if finding.holds else finding.because,
        )
        for finding in result.findings
    ]


def page(found: Certificates) -> str:
    """The certificates as a Markdown page: a table of verdicts for each family, then every counterexample."""
    lines = [
        "# Certificates",
        "",
        "What every measure guarantees, found by looking at every ranking. This page is written by",
        "`python -m rankscope.lab.certificates docs/certificates.md`; `rankscope measures --certificates -f json`",
        "prints the same with all numbers.",
        "",
        "- Relevance monotonicity, irrelevance monotonicity and redundancy (Albahem et al. 2018) on all rankings with",
        f"  {_say(ASPECTS)}.",
        f"- Swap and replacement (Ferrante et al. 2015) on all rankings with {_say(GRADES)}.",
        f"- All but redundancy also with {_say(FEW)}.",
        f"- Scales (Ferrante et al. 2017) on binary rankings with {' and with '.join(map(_say, SCALE_SETTINGS))};",
        f"  for RBP and DCG with {' and with '.join(map(_say, LONG_SETTINGS))}.",
        "",
        f"Measures that need a cutoff have {CUTOFF}; effort measures are evaluated at the depth. A violation (✗) is",
        "certain; ✓ means that there is none in these settings, – that the measure is not a number (for a scale: a",
        "finite one) on every ranking. (✓) is a scale that a measure is on only where the topic has as many relevant",
        "documents as the ranking is long, and not where it has fewer. Counts, ranks and lengths are no measures of",
        "effectiveness, but have their rows all the same.",
        "",
    ]
    lines += ["## Claims, and what was found", "", *_claims(found), *_time_of_the_cube_test(found), ""]
    for family in dict.fromkeys(c.family for c in found.certificates):
        mine = [c for c in found.certificates if c.family == family]
        lines += [f"## {family.capitalize()} measures", "", *_matrix(mine), ""]
        lines += ["Counterexamples:", "", *_reasons(mine), ""]
    return "\n".join(lines)


def _claims(found: Certificates) -> list[str]:
    lines = []
    for name, property, text in CLAIMS:
        mine = [c for c in found.certificates if c.measure == name and c.property == property]
        broken = next((c for c in mine if not c.holds), None)
        if mine:
            verdict = (
                "**holds**" if broken is None else f"**violated** ({broken.setting}): {broken.counterexample}"
            )
            lines.append(f"- `{name}`, {property}. Claim: {text}. Found: {verdict}")
    return lines


def _time_of_the_cube_test(found: Certificates) -> list[str]:
    """What the equation of the cube test leaves open, and what depends on it."""
    texts = {
        "documents": "ACT(preset='equation7')",
        "iterations": "ACT(preset='equation7',time='iterations')",
    }
    if not set(texts.values()) <= {c.measure for c in found.certificates}:
        return []
    tree = Tree(aspect_world(2, relevant=2, nonrelevant=1), 3)
    lines = [
        "- The equation of the cube test (Albahem et al. 2018, Equation 7) does not say what its Time is:"
    ]
    for time, text in texts.items():
        values = measure(text).of(tree)
        scores = " and ".join(f"ACT({word}) = {values[tree.node(word)]:.4f}" for word in ("ab", "abx"))
        broken = [c.property for c in found.certificates if c.measure == text and c.holds is False]
        mine = [name for name in ("relevance monotonicity", "irrelevance monotonicity") if name in broken]
        lines.append(
            f"    - by {time}, {scores}: `{text}` violates {' and '.join(mine) or 'neither monotonicity'}"
        )
    lines.append(
        "    - the numbers that the paper prints are those of `ACT`, TREC's program of 2017 in one iteration"
    )
    return lines


def _say(settings: dict[str, int]) -> str:
    return ", ".join(f"{key} {value}" for key, value in settings.items())


def _matrix(mine: Sequence[Certificate]) -> list[str]:
    names = list(dict.fromkeys(c.property for c in mine))
    lines = ["| measure | " + " | ".join(names) + " |", "|---|" + ":-:|" * len(names)]
    for one in dict.fromkeys(c.measure for c in mine):
        verdicts = [[c.holds for c in mine if c.measure == one and c.property == name] for name in names]
        marks = [_mark(name, each) for name, each in zip(names, verdicts, strict=True)]
        lines.append(f"| `{one}` | " + " | ".join(marks) + " |")
    return lines


def _mark(name: str, verdicts: list[bool | None]) -> str:
    """What the table says of a property, given the verdicts in each setting."""
    if False in verdicts:
        return "(✓)" if name in SCALES and verdicts[0] else "✗"
    return "–" if None in verdicts else "✓"


def _reasons(mine: Sequence[Certificate]) -> list[str]:
    lines = []
    for one in dict.fromkeys(c.measure for c in mine):
        reasons: dict[str, Certificate] = {}
        for c in mine:
            if (
                c.measure == one
                and not c.holds
                and (c.property not in reasons or reasons[c.property].holds is None)
            ):
                reasons[c.property] = c
        if reasons:
            lines.append(f"- `{one}`")
            lines += [f"    - {c.property} ({c.setting}): {c.counterexample}" for c in reasons.values()]
    return lines or ["- none"]


if __name__ == "__main__":
    text = page(certificates())
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
