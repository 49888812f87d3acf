"""A finding is data: a sentence, the numbers in it, the table that it rests on, and where to look further."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rankscope.result import Result
from rankscope.tables import Cell, Table

__all__ = ["Chart", "Finding", "Findings", "listed"]

_ROWS = 6
"""Rows of an evidence table that people read below its sentence."""


@dataclass(frozen=True)
class Chart:
    """How the evidence is drawn: a small chart with a row per row of the table.

    ``form``: ``bars`` from zero, ``dots`` with an interval from ``low`` to ``high``, ``plane`` (the cells of the
    effort/gain plane) or ``badges`` (a word per row). ``strong`` is the column that says which rows stand out. ``says``
    is what stands below the chart: what its marks are.
    """

    form: Literal["bars", "dots", "plane", "badges"]
    label: tuple[str, ...]
    value: str
    low: str = ""
    high: str = ""
    strong: str = ""
    percent: bool = False
    says: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing that matters. Every number of the sentence is one of ``numbers``, which ``pattern`` puts in its place.

    >>> one = Finding("leader", "Who leads", "{run} has a mean of {value:.3f}.", {"run": "bm25", "value": 0.25},
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
    """The view of the page that shows it."""
    state: Mapping[str, Cell | Sequence[str]] = field(default_factory=dict)
    """What is chosen there: ``measure``, ``run`` (several), ``topic``."""

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return self.pattern.format(**self.numbers)

    @property
    def link(self) -> dict[str, Any]:
        """The view of the page that shows it, and what is chosen there."""
        return {"view": self.view, **self.state}


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Result):
    """The findings about a collection, the most important first."""

    findings: tuple[Finding, ...]
    settings: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Any:
        return iter(self.findings)

    def of(self, kind: str) -> Finding | None:
        """The finding of a kind, if there is one."""
        return next((one for one in self.findings if one.kind == kind), None)

    def _about(self) -> str:
        return f"{len(self)}: {', '.join(one.kind for one in self)}" if self.findings else "nothing found"

    @property
    def tables(self) -> Mapping[str, Table]:
        """``findings`` {kind, sentence, evidence}, and the table that each rests on, under the name of its kind."""
        rows = [(one.kind, one.sentence, one.evidence.name) for one in self]
        first = Table("findings", ("kind", "sentence", "evidence"), rows, caption="Findings")
        return {"findings": first, **{one.evidence.name: one.evidence for one in self}}

    @property
    def display(self) -> Sequence[Table]:
        """Each finding with its sentence, above the first rows of its evidence."""
        return [_shown(one) for one in self] or [self["findings"]]


def _shown(one: Finding) -> Table:
    table = one.evidence
    rows = list(table.rows[:_ROWS])
    more = len(table) - len(rows)
    said = f"{more:,} more rows in the table {table.name}" if more else ""
    legend = "; ".join(filter(None, (table.caption, table.legend, said)))
    return replace(table, rows=rows, caption=f"{one.title}. {one.sentence}", legend=legend)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names for a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and others')
    """
    if len(names) > most:
        return ", ".join(names[:most]) + " and others"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
