"""Findings for the page: what :func:`rankscope.findings` says, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.analysis.findings import Chart, Finding, findings
from rankscope.measures import Measure
from rankscope.reporting.schema import EvidenceChart, FindingData, StudyTable
from rankscope.scores import Scores
from rankscope.tables import Table, json_number

__all__ = ["found", "plain_table"]

_ROWS = 24
"""Rows of the evidence that travel with a finding."""


def found(scores: Scores, wanted: Sequence[Measure]) -> list[FindingData]:
    """What is found by some measures of the scores."""
    places = [scores.measures.index(m) for m in wanted]
    if not wanted or not len(scores.topics) or not len(scores.runs):
        return []
    some = replace(scores, measures=tuple(wanted), values=scores.values[places])
    return [_plain(one) for one in findings(some)]


def _plain(one: Finding) -> FindingData:
    table = replace(one.evidence, rows=list(one.evidence.rows[:_ROWS]))
    link = one.link
    plain: FindingData = {
        "kind": one.kind, "title": one.title, "sentence": one.sentence,
        "numbers": {name: _cell(value) for name, value in one.numbers.items()},
        "evidence": plain_table(table), "rows": len(one.evidence), "chart": _chart(one.chart), "view": one.view,
    }  # fmt: skip
    if "measure" in link:
        plain["measure"] = link["measure"]
    if "run" in link:
        plain["runs"] = list(link["run"])
    if "topic" in link:
        plain["topic"] = link["topic"]
    return plain


def _chart(one: Chart) -> EvidenceChart:
    return {
        "form": one.form, "label": list(one.label), "value": one.value, "low": one.low, "high": one.high,
        "strong": one.strong, "percent": one.percent, "says": one.caption,
    }  # fmt: skip


def plain_table(table: Table) -> StudyTable:
    """A table as columns and rows of what JSON can hold."""
    return {"columns": list(table.columns), "rows": [[_cell(value) for value in row] for row in table.rows]}


def _cell(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return json_number(value) if isinstance(value, float) else value
