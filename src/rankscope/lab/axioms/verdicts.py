"""What a case analysis found: counts, counterexamples, and verdicts in sentences that can be quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.axioms.pairs import Relation
from rankscope.lab.axioms.related import related
from rankscope.lab.rounding import apart
from rankscope.measures import Measure
from rankscope.result import Result, TableResult
from rankscope.tables import Table

__all__ = ["Counterexample", "Finding", "PropertiesResult", "rounded_gap"]


@dataclass(frozen=True)
class Counterexample:
    """Two rankings in the wrong order: ``low`` should not score better than ``high``, but does.

    Where it should score worse, the two may be ``tied``. What is said of single scores has one ranking twice.
    """

    length: int
    low: str
    high: str
    low_score: float
    high_score: float
    why: str
    tied: bool = False

    @property
    def telling(self) -> tuple[int, float, str, str]:
        """What to sort by: short ones first, then those that are most wrong, then the alphabet."""
        return (self.length, -float(rounded_gap(abs(self.low_score - self.high_score))), self.low, self.high)

    def sentence(self, measure: Measure) -> str:
        """What happened, in words."""
        why = _directed(self.why, measure)
        if self.low == self.high:
            return f"{measure}({self.low}) = {self.low_score:.4f}: {why}"
        low, high = apart(self.low_score, self.low_score if self.tied else self.high_score)
        sign = "=" if self.tied else "<" if measure.better == "lower" else ">"
        return f"{measure}({self.low}) = {low} {sign} {measure}({self.high}) = {high}: {why}"


@dataclass
class Finding:
    """One measure against one property."""

    measure: Measure
    relation: Relation
    cases: int = 0
    violations: int = 0
    shortest: list[Counterexample] = field(default_factory=list)

    def sentence(self, where: str) -> str:
        """The verdict in one sentence that can be quoted; ``where`` says which rankings were looked at."""
        name = self.relation.name
        meaning = _directed(self.relation.meaning.rpartition(": ")[2], self.measure)
        name = "the induced order" if name == "induced" else name
        if not self.cases:
            return f"{self.measure} was not tested for {name}: it relates none of {where}."
        if not self.violations:
            every = f"all {self.cases:,} cases" if self.cases > 1 else "the one case"
            return f"{self.measure} satisfies {name} ({meaning}) in {every} among {where}."
        share = f"{self.violations:,} of {self.cases:,} cases ({self.violations / self.cases:.1%})"
        shortest = f"; the shortest is {self.shortest[0].sentence(self.measure)}" if self.shortest else ""
        return f"{self.measure} violates {name} ({meaning}) in {share} among {where}{shortest}."


@dataclass(frozen=True, eq=False, repr=False)
class PropertiesResult(Result):
    """The outcome of a case analysis: ``tables['properties']``, ``['counterexamples']`` and ``['verdicts']``."""

    findings: tuple[Finding, ...]
    settings: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every ranking was looked at; False after an interruption."""
        return bool(self.settings["complete"])

    @property
    def main(self) -> Sequence[str]:
        """Both tables."""
        return ("properties", "counterexamples")

    @property
    def display(self) -> Sequence[Table]:
        """The counts; verdicts are read as sentences."""
        return (self.tables["properties"],)

    @property
    def where(self) -> str:
        """Which rankings were looked at, in words."""
        given = self.settings
        lengths = "of" if given["fixed_length"] else "of up to"
        counts = "" if given["possible"] else ", whether so many are judged or not"
        weights = (
            f", aspects weighted {', '.join(f'{w:g}' for w in given['weights'])}" if given["weights"] else ""
        )
        return (
            f"all rankings {lengths} {given['depth']} documents over {', '.join(given['letters'])} "
            f"({given['relevant']} judged of each relevant kind{counts}{weights})"
        )

    def _where(self, one: Relation) -> str:
        """Which rankings were looked at for a property, as far as the work came."""
        given = self.settings
        if one.words is not None:
            most = min(given["depth"] // 2, given["relevant"], (given["nonrelevant"] + 1) // 2)
            letters = ", ".join(given["letters"])
            return f"rankings over {letters} with n relevant documents after n others, n up to {most}"
        return self.where if self.complete else f"those seen before the interruption of {self.where}"

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """``properties`` {measure, property, cases, violations}, ``counterexamples``, and ``verdicts`` as sentences."""
        counts = [(str(f.measure), f.relation.name, f.cases, f.violations) for f in self.findings]
        examples = [
            (
                str(f.measure),
                f.relation.name,
                e.low,
                e.high,
                e.low_score,
                e.high_score,
                e.sentence(f.measure),
            )
            for f in self.findings
            for e in f.shortest
        ]
        verdicts = [
            (
                str(f.measure),
                f.relation.name,
                not f.violations if f.cases else None,
                f.sentence(self._where(f.relation)),
            )
            for f in self.findings
        ]
        partial = "" if self.complete else " (interrupted: only the rankings seen so far)"
        columns = ("measure", "property", "low", "high", "low_score", "high_score", "explanation")
        return {
            "properties": Table(
                "properties",
                ("measure", "property", "cases", "violations"),
                counts,
                caption=f"{self.settings['rankings']:,} rankings{partial}",
            ),
            "counterexamples": Table(
                "counterexamples", columns, examples, caption="shortest counterexamples"
            ),
            "verdicts": Table("verdicts", ("measure", "property", "holds", "sentence"), verdicts),
        }

    def violations(self, measure: str | Measure, property: str) -> int:
        """How often a measure violates a property."""
        for finding in self.findings:
            if str(finding.measure) == str(measure) and finding.relation.name == property:
                return finding.violations
        raise SettingsError(f"{measure} was not tested for {property!r}", hint="see the table of properties")

    def related(self, measure: str | Measure | None = None, depth: int | None = None) -> TableResult:
        """The pairs that were compared, down to a depth (see :func:`rankscope.lab.related`).

        They are those of the first measure that violates a property, unless one is named, and of all properties but
        the induced one, which relates too many.
        """
        chosen = self.measure(measure)
        relations = {f.relation.name: f.relation for f in self.findings if f.relation.name != "induced"}
        kept = (
            "aspects",
            "several",
            "grades",
            "relevant",
            "nonrelevant",
            "weights",
            "fixed_length",
            "possible",
        )
        return related(
            chosen,
            depth=self.settings["depth"] if depth is None else depth,
            properties=list(relations.values()),
            **{key: self.settings[key] for key in kept if key in self.settings},
        )

    def measure(self, named: str | Measure | None = None) -> Measure:
        """The measure of this name; without one the first that violates a property, or the first of all."""
        found = [f for f in self.findings if named is None or str(f.measure) == str(named)]
        if not found:
            known = ", ".join(self.settings["measures"])
            raise SettingsError(f"{named} was not tested", hint=f"there are {known}")
        return next((f for f in found if f.violations), found[0]).measure

    def _about(self) -> str:
        measures, rankings = len(self.settings["measures"]), self.settings["rankings"]
        broken = sum(f.violations > 0 for f in self.findings)
        what = f"{measures} measure{'s' if measures > 1 else ''}, {rankings:,} rankings"
        return f"{what}, {broken} of {len(self.findings)} properties violated"


_OTHER_WAY = {"lower": "raise", "raise": "lower", "lowered": "raised", "raised": "lowered"}


def _directed(text: str, measure: Measure) -> str:
    """What is said of scores that count upwards, for a measure: the other way where lower ones are better."""
    if measure.better != "lower":
        return text
    return re.sub(r"\b(lower|raise)(ed|d)?\b", lambda found: _OTHER_WAY[found[0]], text)


def rounded_gap(gaps: Any) -> Any:
    """Differences of scores to nine digits: equal ones may differ by rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** np.floor(np.log10(np.abs(gaps)))
        rounded = np.round(gaps / unit, 8) * unit
    return np.where(np.isfinite(rounded), rounded, gaps)
