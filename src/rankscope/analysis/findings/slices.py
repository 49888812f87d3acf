"""The finding about slices of topics: does the lead depend on them?"""

import re

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
    scores, name = basis.scores.with_measures([matrix.measure]), str(matrix.measure)
    best, *others = scores.best_first(matrix.measure)
    pairs = np.full(len(others), best), np.array(others)
    rows, tests = slice_pairs(scores, basis.by, *pairs, alpha=basis.alpha, seed=basis.seed).values()
    alarms = [test for test in tests if test.alarm]
    varying = [test for test in tests if test.significant]
    first = [*alarms, *varying, *tests][0]
    numbers: dict[str, Cell] = {
        "run": scores.runs[best], "measure": name, "alarms": len(alarms), "pairs": len(tests),
        "attributes": " or ".join(map(_title, basis.by)), "varying": len(varying),
    }  # fmt: skip
    pattern = "No difference from {run} by {measure} varies significantly with {attributes} ({pairs} tests)."
    if alarms or varying:
        numbers |= {"other": first.b, "attribute": first.attribute, "title": _title(first.attribute)}
    if alarms:
        key, sign = (first.b, first.attribute), matrix.measure.sign or 1
        own = [row for row in rows if (row.b, row.attribute) == key and row.significant]
        numbers["slices"] = join_names([row.slice for row in own if row.difference * sign < 0])
        where = (
            "on every slice of {title}"
            if first.alarm == SIMPSON
            else "significantly where {title} is {slices}"
        )
        pattern = "{run} leads by {measure} over all topics, but {other} beats {run} " + where + ";"
        pattern += " the lead is reversed for {alarms} of {pairs} runs and attributes."
    elif varying:
        numbers["p"] = first.adjusted
        pattern = "The lead of {run} over {other} by {measure} varies with {title} (p ="
        pattern += " {p:.2g}), as do {varying} of {pairs} differences from the leader; no lead is reversed."
    marks = f"leader minus another run by {name}; filled: significant after Holm's correction"
    chart = Chart("dots", ("b", "slice"), "difference", "low", "high", strong="significant", caption=marks)
    state = {"measure": name, "run": [scores.runs[best], first.b]}
    return Finding("Slices of topics", pattern, numbers, rows, chart, "slices", state)


def _title(attribute: str) -> str:
    """Return the name of an attribute without its number of bins."""
    return re.sub(r":\d+$", "", attribute)
