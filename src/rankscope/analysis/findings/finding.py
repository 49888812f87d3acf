"""A finding: a sentence, the numbers in it, the table that it is based on, and the view that shows more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from rankscope.analysis.effort import Quadrant
from rankscope.analysis.findings import evidence as rows
from rankscope.analysis.findings.evidence import Sentence
from rankscope.analysis.slices import SliceDifference
from rankscope.result import TypedResult, table
from rankscope.rows import RowTable
from rankscope.tables import Cell, Table

# The evidence of a finding is a table of the result only if there is such a finding.
_evidence = partial(table, main=False, default=None)

_ROWS = 6
"""Rows of an evidence table that are printed below its sentence."""


@dataclass(frozen=True)
class Chart:
    """A small chart of the evidence, with a mark per row.

    ``form`` is ``bars`` from zero, ``dots`` with an interval from ``low`` to ``high``, ``plane`` (cells of the
    effort/gain plane) or ``badges`` (a word per row). ``strong`` names the column of rows that stand out. ``caption``
    explains the marks.
    """

    form: Literal["bars", "dots", "plane", "badges"]
    label: tuple[str, ...]
    value: str
    low: str = ""
    high: str = ""
    strong: str = ""
    percent: bool = False
    caption: str = ""


@dataclass(frozen=True)
class Finding:
    """A sentence, which ``pattern`` formats from ``numbers``, and the table that it is based on.

    >>> one = Finding("leader", "Leader", "{run} has a mean of {value:.3f}.", {"run": "bm25", "value": 0.25},
    ...               Table("leader", ("run", "value"), [("bm25", 0.25)]), Chart("bars", ("run",), "value"), "runs")
    >>> one.sentence
    'bm25 has a mean of 0.250.'
    """

    kind: str
    title: str
    pattern: str
    numbers: Mapping[str, Cell]
    evidence: Table
    chart: Chart
    view: str
    """View of the report that shows it."""
    state: Mapping[str, Cell | Sequence[str]] = field(default_factory=dict)
    """Selection in the view: ``measure``, ``run`` (several), ``topic``."""

    @property
    def sentence(self) -> str:
        """Finding in words."""
        return self.pattern.format(**self.numbers)

    @property
    def link(self) -> dict[str, Any]:
        """View of the report that shows it, and the selection there."""
        return {"view": self.view, **self.state}


class Findings(TypedResult):
    """Findings about a collection, the most important first; tables of other kinds are None."""

    findings: RowTable[Sentence] = table("every finding, as a sentence")
    leader: RowTable[rows.LeaderRow] | None = _evidence("means, and runs tied for first")
    separation: RowTable[rows.Separation] | None = _evidence("pairs that the topics separate")
    disagreement: RowTable[rows.Disagreement] | None = _evidence("pairs that measures order differently")
    decisive_topics: RowTable[rows.TopicShare] | None = _evidence("topics that decide the order of the runs")
    fragile_lead: RowTable[rows.LeadTopic] | None = _evidence("differences of the first two runs")
    hard_topics: RowTable[rows.HardTopic] | None = _evidence("hardest topics")
    unjudged: RowTable[rows.UnjudgedShare] | None = _evidence("unjudged documents")
    ties: RowTable[rows.TiedMean] | None = _evidence("bounds over orders of tied documents")
    high_effort: RowTable[Quadrant] | None = _evidence("rankings by effort and gain")
    no_return: RowTable[rows.NoReturnTopic] | None = _evidence("curves that never return to zero")
    scale: RowTable[rows.MeasureScale] | None = _evidence("scales of the measures")
    slices: RowTable[SliceDifference] | None = _evidence("differences from the leader by slice")
    items: tuple[Finding, ...]

    @classmethod
    def from_items(cls, items: tuple[Finding, ...], settings: Mapping[str, Any]) -> Findings:
        """Return the result with these findings and the tables that they are based on."""
        sentences = [Sentence(item.kind, item.sentence, item.evidence.name) for item in items]
        tables: dict[str, Any] = {item.evidence.name: item.evidence for item in items}
        first = Sentence.table("findings", sentences, caption="Findings")
        return cls(findings=first, items=items, settings=settings, **tables)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.items)

    def get(self, kind: str) -> Finding | None:
        """Return the finding of a kind, or None."""
        return next((item for item in self if item.kind == kind), None)

    def _about(self) -> str:
        return f"{len(self)}: {', '.join(item.kind for item in self)}" if self.items else "none"

    @property
    def display(self) -> Sequence[Table]:
        """Sentence of each finding, above the first rows of its evidence."""
        return [_excerpt(item) for item in self] or [self.findings]


def _excerpt(finding: Finding) -> Table:
    evidence = finding.evidence
    shown = list(evidence.rows[:_ROWS])
    n_more = len(evidence) - len(shown)
    rest = f"{n_more:,} more rows in the table {evidence.name}" if n_more else ""
    legend = "; ".join(filter(None, (evidence.caption, evidence.legend, rest)))
    return replace(evidence, rows=shown, caption=f"{finding.title}. {finding.sentence}", legend=legend)
