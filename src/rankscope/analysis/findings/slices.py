"""The finding about slices of topics: does the lead depend on them?"""

from __future__ import annotations

import numpy as np

from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.finding import Chart, Finding
from rankscope.analysis.slices import SIMPSON, slice_pairs
from rankscope.cells import join_names
from rankscope.tables import Cell


def slices(basis: Basis) -> Finding | None:
    """Report reversals of the lead on slices, or attributes with which differences from the leader vary."""
    matrix = basis.first
    if not basis.by or not basis.comparable or matrix is None:
        return None
    scores = basis.scores.with_measures([matrix.measure])
    best, *others = scores.best_first(matrix.measure)
    pairs = np.full(len(others), best), np.array(others)
    tables = slice_pairs(scores, basis.by, *pairs, alpha=basis.alpha, seed=basis.seed)
    rows, tests = tables["slices"], tables["interactions"]
    alarms = [test for test in tests if test.alarm]
    varying = [test for test in tests if test.significant]
    numbers: dict[str, Cell] = {
        "run": scores.runs[best], "measure": str(matrix.measure), "alarms": len(alarms), "pairs": len(tests),
        "attributes": join_names(list(basis.by)), "varying": len(varying),
    }  # fmt: skip
    if alarms:
        first = alarms[0]
        numbers |= {"other": first.b, "attribute": first.attribute}
        turned = [
            row for row in rows if (row.b, row.attribute) == (first.b, first.attribute) and row.significant
        ]
        sign = matrix.measure.sign or 1
        numbers["slices"] = join_names([row.slice for row in turned if row.difference * sign < 0])
        where = "on every slice" if first.alarm == SIMPSON else "significantly on {slices}"
        pattern = "{run} leads by {measure} over all topics, but {other} leads " + where + " of {attribute};"
        pattern += " the lead is reversed for {alarms} of {pairs} runs and attributes."
    elif varying:
        numbers |= {"other": varying[0].b, "attribute": varying[0].attribute, "p": varying[0].adjusted}
        pattern = (
            "The lead of {run} over {other} by {measure} varies between slices of {attribute} (p = {p:.2g}), as do"
            " {varying} of {pairs} differences from the leader; no lead is reversed."
        )
    else:
        pattern = (
            "No difference from {run} by {measure} varies significantly with {attributes} ({pairs} tests)."
        )
    marks = f"leader minus another run by {matrix.measure}; filled: significant after Holm's correction"
    chart = Chart("dots", ("b", "slice"), "difference", "low", "high", strong="significant", caption=marks)
    runs = [scores.runs[best], str(numbers.get("other", tests[0].b))]
    state = {"measure": str(matrix.measure), "run": runs}
    return Finding("slices", "Slices of topics", pattern, numbers, rows, chart, "slices", state)
