"""A finding: a sentence, the numbers in it, its evidence (the table that it is based on), and the view with more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from rankscope.analysis.effort import Quadrant
from rankscope.analysis.slices import SliceDifference
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column
from rankscope.tables import Cell, Table

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

    >>> one = Finding("Leader", "{run} has a mean of {value:.3f}.", {"run": "bm25", "value": 0.25},
    ...               Table("leader", ("run", "value"), [("bm25", 0.25)]), Chart("bars", ("run",), "value"), "runs")
    >>> one.sentence
    'bm25 has a mean of 0.250.'
    """

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
    def kind(self) -> str:
        """Subject of the finding, which also names its evidence."""
        return self.evidence.name

    @property
    def sentence(self) -> str:
        """Finding in words."""
        return self.pattern.format(**self.numbers)

    @property
    def link(self) -> dict[str, Any]:
        """View of the report that shows it, and the selection there."""
        return {"view": self.view, **self.state}


class Sentence(Row):
    """A finding in words."""

    kind: str = column("subject of the finding")
    sentence: str = column()
    evidence: str = column("name of the table with the numbers behind the sentence")


class LeaderRow(Row):
    """A run by the first measure."""

    run: str = column()
    value: float | None = column("mean over the topics")
    low: float | None = column()
    high: float | None = column()
    rank: float | None = column("rank of the run; equal means share the middle of their ranks")
    first_rank: int | None = column()
    last_rank: int | None = column()
    tied_for_first: bool | None = column("whether the topics do not separate the run from the best one")


class Separation(Row):
    """Pairs of runs that the topics separate by a measure."""

    measure: str = column()
    pairs: int = column()
    significant: int = column("pairs that differ significantly")
    share: float = column()
    topics: int = column()


class Disagreement(Row):
    """Pairs of runs that two measures order differently."""

    a: str = column("the first measure")
    b: str = column("the second measure")
    tau: float = column()
    swapped: int = column("pairs of runs that the two measures order differently")
    pairs: int = column()
    share: float = column("share of the pairs that are swapped")
    significant: int = column("swapped pairs that are significant by at least one of the two measures")
    contradict: int = column("pairs that differ significantly by both measures, in opposite directions")


class TopicShare(Row):
    """A topic and its share of the variance of the means."""

    topic: str = column()
    share: float = column("share of the topic in the variance of the means of the runs")
    mean: float = column("mean over the runs on this topic")
    spread: float = column("standard deviation over the runs on this topic")
    in_half: bool = column("whether the topic is among the fewest that carry half of the variance")


class LeadTopic(Row):
    """A topic and the difference of the first two runs on it."""

    topic: str = column()
    value_a: float = column()
    value_b: float = column()
    difference: float = column()
    needed: bool = column("whether the topic is among those whose loss would change the order")


class HardTopic(Row):
    """A topic by the values of all runs."""

    topic: str = column()
    mean: float = column("mean over the runs on this topic")
    best: float = column("value of the best run on this topic")
    half_score_0: bool = column("whether half of the runs or more score 0 on the topic")


class UnjudgedShare(Row):
    """A run and its unjudged documents."""

    run: str = column()
    unjudged: float = column("share of the first documents that is unjudged")
    lowest: float = column("precision as judged")
    highest: float = column("precision if all of its unjudged documents were relevant")
    notable: bool = column("whether more than a tenth of the first documents is unjudged")


class TiedMean(Row):
    """A run and the bounds of its mean over orders of tied documents."""

    run: str = column()
    value: float = column("mean over the topics")
    worst: float = column("mean in the worst order of tied documents")
    best: float = column("mean in the best order of tied documents")
    width: float = column("difference between the two")


class NoReturnTopic(Row):
    """A topic and its rankings whose CRP curve never returns to 0."""

    topic: str = column()
    relevant: int = column()
    lists: int = column()
    rho_0: int = column("rankings whose Rho is 0, because their CRP curve never returns to 0")
    share: float = column("share of the topic's rankings whose CRP curve never returns to 0")
    many: bool = column("whether the topic has more relevant documents than the median topic")


class MeasureScale(Row):
    """A measure and its scale."""

    measure: str = column()
    scale: str = column("scale of the measure: interval-like or ordinal")
    fails_from: int | None = column()
    counterexample: str = column()


# The evidence of a finding is a table of the result only if there is such a finding.
_evidence = partial(table, main=False, default=None)


class Findings(TypedResult):
    """Findings about a collection, the most important first; tables of other kinds are None."""

    findings: RowTable[Sentence] = table("every finding, as a sentence")
    leader: RowTable[LeaderRow] | None = _evidence("means, and runs tied for first")
    separation: RowTable[Separation] | None = _evidence("pairs that the topics separate")
    disagreement: RowTable[Disagreement] | None = _evidence("pairs that measures order differently")
    decisive_topics: RowTable[TopicShare] | None = _evidence("topics that decide the order of the runs")
    fragile_lead: RowTable[LeadTopic] | None = _evidence("differences of the first two runs")
    hard_topics: RowTable[HardTopic] | None = _evidence("hardest topics")
    unjudged: RowTable[UnjudgedShare] | None = _evidence("unjudged documents")
    ties: RowTable[TiedMean] | None = _evidence("bounds over orders of tied documents")
    high_effort: RowTable[Quadrant] | None = _evidence("rankings by effort and gain")
    no_return: RowTable[NoReturnTopic] | None = _evidence("curves that never return to zero")
    scale: RowTable[MeasureScale] | None = _evidence("scales of the measures")
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
