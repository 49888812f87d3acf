"""Findings for the report: results of :func:`rankscope.findings` as JSON values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankscope.analysis.findings import Finding, findings
from rankscope.cells import json_value
from rankscope.measures import Measure
from rankscope.reporting.schema import FindingData, StudyTable
from rankscope.scores import Scores
from rankscope.tables import Table

_ROWS = 24
"""Maximum number of rows of the evidence in the data of the report."""


def find(scores: Scores, measures: Sequence[Measure], by: str | Sequence[str] = ()) -> list[FindingData]:
    """Return the findings about some measures of the scores."""
    if not measures or not len(scores.topics) or not len(scores.runs):
        return []
    return [_plain(finding) for finding in findings(scores.with_measures(list(measures)), by=by)]


def _plain(finding: Finding) -> FindingData:
    table = replace(finding.evidence, rows=list(finding.evidence.rows[:_ROWS]))
    chart: Any = {"says" if name == "caption" else name: value for name, value in vars(finding.chart).items()}
    plain: FindingData = {
        "kind": finding.kind, "title": finding.title, "sentence": finding.sentence,
        "numbers": {name: json_value(value) for name, value in finding.numbers.items()},
        "evidence": plain_table(table), "rows": len(finding.evidence), "chart": chart,
        "view": finding.view,
    }  # fmt: skip
    state: Any = {"runs" if name == "run" else name: value for name, value in finding.state.items()}
    plain.update(state)
    return plain


def plain_table(table: Table) -> StudyTable:
    """Return a table as columns and rows of JSON values."""
    return {
        "columns": list(table.columns),
        "rows": [[json_value(value) for value in row] for row in table.rows],
    }
