"""Results of a case analysis: counts, counterexamples, and verdicts as sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.axioms.comparison import related_rankings
from rankscope.lab.axioms.pairs import Relation
from rankscope.lab.rounding import format_distinct
from rankscope.measures import Measure, parse_many
from rankscope.result import Result, TableResult
from rankscope.rows import Row, column
from rankscope.tables import Table


@dataclass(frozen=True)
class Counterexample:
    """Two rankings in the wrong order: ``low`` should not score better than ``high``, but does.

    Under a strict property the two may be ``tied``. For a property of single scores both are the same ranking.
    """

    length: int
    low: str
    high: str
    low_score: float
    high_score: float
    why: str
    tied: bool = False

    @property
    def sort_key(self) -> tuple[int, float, str, str]:
        """Sort key: length, then the size of the violation, largest first, then the alphabet."""
        return (self.length, -float(round_gap(abs(self.low_score - self.high_score))), self.low, self.high)

    def sentence(self, measure: Measure) -> str:
        """Return a sentence that states the two scores and why their order is wrong."""
        why = _adapt_direction(self.why, measure)
        if self.low == self.high:
            return f"{measure}({self.low}) = {self.low_score:.4f}: {why}"
        low, high = format_distinct(self.low_score, self.low_score if self.tied else self.high_score)
        sign = "=" if self.tied else "<" if measure.better == "lower" else ">"
        return f"{measure}({self.low}) = {low} {sign} {measure}({self.high}) = {high}: {why}"


@dataclass
class PropertyVerdict:
    """Verdict on one measure and one property."""

    measure: Measure
    relation: Relation
    cases: int = 0
    violations: int = 0
    shortest: list[Counterexample] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, str]:
        """Names of the measure and of the property."""
        return str(self.measure), self.relation.name

    @property
    def holds(self) -> bool | None:
        """Whether the measure has the property; None if it was not tested."""
        return not self.violations if self.cases else None

    def sentence(self, where: str) -> str:
        """Return the verdict as a sentence; ``where`` describes the rankings that were compared."""
        meaning = _adapt_direction(self.relation.meaning.rpartition(": ")[2], self.measure)
        name = "the induced order" if self.relation.name == "induced" else self.relation.name
        if not self.cases:
            return f"{self.measure} was not tested for {name}: it relates none of {where}."
        if not self.violations:
            cases = f"all {self.cases:,} cases" if self.cases > 1 else "the one case"
            return f"{self.measure} satisfies {name} ({meaning}) in {cases} among {where}."
        share = f"{self.violations:,} of {self.cases:,} cases ({self.violations / self.cases:.1%})"
        shortest = f"; the shortest is {self.shortest[0].sentence(self.measure)}" if self.shortest else ""
        return f"{self.measure} violates {name} ({meaning}) in {share} among {where}{shortest}."


class PropertyCount(Row):
    """Cases and violations of a property by a measure."""

    measure: str = column()
    property: str = column("tested property")
    cases: int = column("pairs of rankings that the property relates")
    violations: int = column()


class CounterexampleRow(Row):
    """Pair of rankings on which a measure violates a property."""

    measure: str = column()
    property: str = column("violated property")
    low: str = column("ranking that should not be better")
    high: str = column("ranking that should be at least as good")
    low_score: float = column("score of the ranking that should not be better")
    high_score: float = column("score of the ranking that should be at least as good")
    explanation: str = column()


class PropertySentence(Row):
    """Verdict on a property of a measure, as a sentence."""

    measure: str = column()
    property: str = column("tested property")
    holds: bool | None = column()
    sentence: str = column()


@dataclass(frozen=True, eq=False, repr=False)
class PropertiesResult(Result):
    """Outcome of a case analysis: ``tables['properties']``, ``['counterexamples']`` and ``['verdicts']``."""

    figures = {"relations": "relations.plot_properties"}
    verdicts: tuple[PropertyVerdict, ...]
    settings: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every ranking was evaluated; False after an interruption."""
        return bool(self.settings["complete"])

    @property
    def main(self) -> Sequence[str]:
        """Names of the tables ``properties`` and ``counterexamples``."""
        return ("properties", "counterexamples")

    @property
    def display(self) -> Sequence[Table]:
        """Table of counts."""
        return (self.tables["properties"],)

    @property
    def where(self) -> str:
        """Description of the rankings that were compared."""
        settings = self.settings
        lengths = "of" if settings["fixed_length"] else "of up to"
        counts = ", also with more documents than are judged" if settings["include_impossible"] else ""
        weights = ", ".join(f"{w:g}" for w in settings["weights"] or ())
        weights = f", aspects weighted {weights}" if weights else ""
        return (
            f"all rankings {lengths} {settings['depth']} documents over {', '.join(settings['letters'])} "
            f"({settings['relevant']} judged of each relevant kind{counts}{weights})"
        )

    def _where(self, relation: Relation) -> str:
        """Describe the rankings that were compared for a property, up to an interruption."""
        settings = self.settings
        if relation.words is not None:
            max_n = min(settings["depth"] // 2, settings["relevant"], (settings["nonrelevant"] + 1) // 2)
            letters = ", ".join(settings["letters"])
            return f"rankings over {letters} with n relevant documents after n others, n up to {max_n}"
        return self.where if self.complete else f"those seen before the interruption of {self.where}"

    @cached_property
    def tables(self) -> Mapping[str, Table]:
        """Tables ``properties`` {measure, property, cases, violations}, ``counterexamples`` and ``verdicts``."""
        counts = [(*f.names, f.cases, f.violations) for f in self.verdicts]
        examples = [
            (*f.names, e.low, e.high, e.low_score, e.high_score, e.sentence(f.measure))
            for f in self.verdicts
            for e in f.shortest
        ]
        sentences = [(*f.names, f.holds, f.sentence(self._where(f.relation))) for f in self.verdicts]
        partial = "" if self.complete else " (interrupted: only the rankings seen so far)"
        caption = f"{self.settings['rankings']:,} rankings{partial}"
        tables = (
            PropertyCount.table("properties", counts, caption=caption),
            CounterexampleRow.table("counterexamples", examples, caption="shortest counterexamples"),
            PropertySentence.table("verdicts", sentences),
        )
        return {table.name: table for table in tables}

    @classmethod
    def row_types(cls) -> dict[str, type[Row]]:
        kinds = (PropertyCount, CounterexampleRow, PropertySentence)
        return dict(zip(("properties", "counterexamples", "verdicts"), kinds, strict=True))

    def violations(self, measure: str | Measure, property: str) -> int:
        """Return the number of cases in which a measure violates a property."""
        for verdict in self.verdicts:
            if [verdict.measure] == parse_many(measure) and verdict.names[1] == property:
                return verdict.violations
        raise SettingsError(f"{measure} was not tested for {property!r}", hint="see the table of properties")

    def related_rankings(self, measure: str | Measure | None = None, depth: int | None = None) -> TableResult:
        """Return the compared pairs of rankings down to a depth (see :func:`rankscope.lab.related_rankings`).

        Without ``measure`` the scores are those of the first measure that violates a property. The pairs are those of
        all properties except the induced one, which relates too many.
        """
        parsed = self.measure(measure)
        relations = {f.relation.name: f.relation for f in self.verdicts if f.relation.name != "induced"}
        kept = {"aspects", "multi_aspect", "grades", "relevant", "nonrelevant", "weights"}
        kept |= {"fixed_length", "include_impossible"}
        settings = {key: value for key, value in self.settings.items() if key in kept}
        settings["depth"] = self.settings["depth"] if depth is None else depth
        return related_rankings(parsed, properties=list(relations.values()), **settings)

    def measure(self, named: str | Measure | None = None) -> Measure:
        """Return the measure of this name; without one the first that violates a property, else the first."""
        matches = [f for f in self.verdicts if named is None or [f.measure] == parse_many(named)]
        if not matches:
            tested = ", ".join(self.settings["measures"])
            raise SettingsError(f"{named} was not tested", hint=f"there are {tested}")
        return next((f for f in matches if f.violations), matches[0]).measure

    def _about(self) -> str:
        measures, rankings = len(self.settings["measures"]), self.settings["rankings"]
        broken = sum(f.violations > 0 for f in self.verdicts)
        summary = f"{measures} measure{'s' if measures > 1 else ''}, {rankings:,} rankings"
        return f"{summary}, {broken} of {len(self.verdicts)} properties violated"


_OPPOSITES = {"lower": "raise", "raise": "lower", "lowered": "raised", "raised": "lowered"}


def _adapt_direction(text: str, measure: Measure) -> str:
    """Exchange "lower" and "raise" in a text if lower scores of the measure are better."""
    if measure.better != "lower":
        return text
    return re.sub(r"\b(lower|raise)(ed|d)?\b", lambda match: _OPPOSITES[match[0]], text)


def round_gap(gaps: Any) -> Any:
    """Round differences of scores to nine digits, so that rounding errors do not decide their order."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** np.floor(np.log10(np.abs(gaps)))
        rounded = np.round(gaps / unit, 8) * unit
    return np.where(np.isfinite(rounded), rounded, gaps)
