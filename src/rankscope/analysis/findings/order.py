"""Findings about the order of the runs: who leads, who is told apart, where measures disagree."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np

from rankscope.analysis.correlation import correlate
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.evidence import Disagreement, LeaderRow, Separation
from rankscope.analysis.findings.finding import Chart, Finding, join_names
from rankscope.analysis.leaderboard import FIRST
from rankscope.analysis.stats.matrices import CompleteMatrix, run_merits
from rankscope.analysis.stats.significance import procedure
from rankscope.tables import Cell

__all__ = ["apart", "disagreement", "leader"]


def leader(basis: Basis) -> Finding | None:
    """Who leads by the first measure, and who is tied with them (:func:`rankscope.leaderboard` decides).

    If chance alone spreads the means of the runs as widely, nobody does.
    """
    matrix = basis.first
    if matrix is None or not basis.comparable:
        return None
    rows = basis.board(matrix.measure)
    tied = [str(row["run"]) for row in rows if row["tied_for_first"]]
    best, second = rows[0], rows[1]
    numbers: dict[str, Cell] = {
        "run": best["run"], "measure": str(matrix.measure), "value": best["value"], "topics": len(matrix.topics),
        "runs": len(rows), "tied": len(tied), "second": second["run"], "second_value": second["value"],
        "last_value": rows[-1]["value"], "chance": basis.chance(matrix),
    }  # fmt: skip
    others = [name for name in tied if name != best["run"]]
    if not basis.differ(matrix):
        pattern = (
            "No run leads by {measure} beyond chance: chance alone spreads the means of {runs} runs over {topics}"
            " topics as widely as from {last_value:.4f} to {value:.4f} with p = {chance:.2f} (randomised Tukey HSD)."
        )
    elif len(tied) == 1:
        numbers["others"] = len(rows) - 1
        pattern = (
            "{run} leads by {measure}: the test tells its mean of {value:.4f} over {topics} topics from those of all"
            " other runs, {others}; next is {second} with {second_value:.4f}."
        )
    else:
        numbers["others"] = join_names(others)
        pattern = (
            "{tied} of {runs} runs share the lead by {measure}: {run} has the highest mean, {value:.4f} over {topics}"
            " topics, but no test tells {others} from it."
        )
    names = ("run", "value", "low", "high", "rank", "first_rank", "last_rank", "tied_for_first")
    evidence = LeaderRow.table("leader", [tuple(row[name] for name in names) for row in rows],
        caption=f"Means of {matrix.measure}, and who is tied for first",
        legend=f"{FIRST}, level {f'{basis.alpha:g}'.removeprefix('0')}; intervals of single means, unadjusted",
    )  # fmt: skip
    chart = Chart(
        "dots",
        ("run",),
        "value",
        "low",
        "high",
        "tied_for_first",
        caption=f"dot: mean {matrix.measure}, filled if tied for first; line: 95% interval of the mean, unadjusted",
    )
    chosen = [str(best["run"]), *others[:3]] if others else [str(best["run"]), str(second["run"])]
    state = {"measure": str(matrix.measure), "run": chosen}
    return Finding("leader", "Leader", pattern, numbers, evidence, chart, "runs", state)


def apart(basis: Basis) -> Finding | None:
    """How many pairs of runs each measure tells apart with these topics; of very many pairs, so many of a sample."""
    if not basis.comparable:
        return None
    matrices = [one for one in basis.matrices.values() if len(one.topics) > 1]
    rows: list[tuple[Cell, ...]] = []
    for matrix in matrices:
        found = basis.significant(matrix)
        rows.append(
            (str(matrix.measure), len(found), int(found.sum()), float(found.mean()), len(matrix.topics))
        )
    most, least = max(rows, key=lambda row: float(row[3] or 0)), min(rows, key=lambda row: float(row[3] or 0))
    numbers: dict[str, Cell] = {
        "measure": most[0], "pairs": most[1], "significant": most[2], "share": most[3], "topics": most[4],
        "least": least[0], "least_significant": least[2], "least_share": least[3],
    }  # fmt: skip
    drawn = _drawn(basis, numbers)
    if not most[2]:
        pattern = f"{{topics}} topics tell none of the {{pairs:,}} pairs of runs{drawn} apart by any of these measures."
    else:
        pattern = (
            f"{{topics}} topics tell {{significant:,}} of {{pairs:,}} pairs of runs{drawn} apart ({{share:.0%}}) by"
            " {measure}"
        )
        more = ", but only {least_significant:,} ({least_share:.0%}) by {least}."
        pattern += more if least[2] != most[2] else "."
    evidence = Separation.table("apart", rows,
        caption="Pairs of runs that are told apart", legend=procedure(basis.test, basis.correction, basis.alpha),
    )  # fmt: skip
    chart = Chart(
        "bars", ("measure",), "share", percent=True, caption="share of the pairs of runs that are told apart"
    )
    return Finding(
        "apart",
        "Pairs the topics can separate",
        pattern,
        numbers,
        evidence,
        chart,
        "runs",
        {"measure": most[0]},
    )


def disagreement(basis: Basis) -> Finding | None:
    """Which two measures order the runs most differently, and whether that is more than noise."""
    if not basis.comparable or len(basis.matrices) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        # Values are all that counts here, also where the collection gives them ranges.
        scores = replace(basis.scores.of_measures(list(basis.matrices)), collection=None)
        found = correlate(scores, "kendall").correlations
    several = combinations(basis.matrices.values(), 2)
    rows: list[tuple[Cell, ...]] = []
    for row, (a, b) in zip(found, several, strict=True):
        reversed_, doubly = _reversed(basis, a, b)
        pairs = len(basis.pairs[0])
        swapped = row.discordant or 0
        rows.append((row.a, row.b, row.value, swapped, pairs, swapped / pairs, reversed_, doubly))
    rows = sorted(rows, key=lambda row: (-float(row[5] or 0), str(row[0]), str(row[1])))
    names = ("a", "b", "tau", "swapped", "pairs", "share", "significant", "contradict")
    numbers: dict[str, Cell] = dict(zip(names, rows[0], strict=True))
    if not numbers["swapped"]:
        numbers["measures"] = len(basis.matrices)
        pattern = "No two of the {measures} measures order any of the {pairs:,} pairs of runs in opposite directions."
    else:
        pattern = (
            "{a} and {b} disagree the most: they order {swapped:,} of {pairs:,} pairs of runs ({share:.0%}) the other"
            " way round, Kendall's tau is {tau:.2f}; "
        )
        numbers["by_one"] = int(str(numbers["significant"])) - int(str(numbers["contradict"]))
        tested = ""
        if len(basis.tested[0]) < len(basis.pairs[0]):
            numbers["tested"] = len(basis.tested[0])
            tested = " among {tested:,} pairs that were drawn and tested"
        pattern += (
            f"{{by_one:,}} of these differences{tested} are significant by exactly one of the two, {{contradict:,}} by"
            " both."
            if numbers["significant"]
            else f"{{significant}} of these differences{tested} are significant by either: it may be chance."
        )
    evidence = Disagreement.table("disagreement", rows, caption="How differently measures order the runs",
        legend="significant: swapped pairs that at least one of the two measures calls different; contradict: both",
    )  # fmt: skip
    best = [basis.scores.runs[int(np.argmax(run_merits(basis.matrices[m])))] for m in basis.matrices]
    chart = Chart(
        "bars",
        ("a", "b"),
        "share",
        percent=True,
        caption="two measures: share of the pairs that they order otherwise",
    )
    state = {"measure": str(numbers["b"]), "run": list(dict.fromkeys(best))[:4]}
    return Finding(
        "disagreement", "Disagreement between measures", pattern, numbers, evidence, chart, "runs", state
    )


def _drawn(basis: Basis, numbers: dict[str, Cell]) -> str:
    """Words for a sample of the pairs, and its number; empty where all are tested."""
    if len(basis.tested[0]) == len(basis.pairs[0]):
        return ""
    numbers["all_pairs"] = len(basis.pairs[0])
    return " (drawn from {all_pairs:,})"


def _reversed(basis: Basis, a: CompleteMatrix, b: CompleteMatrix) -> tuple[int, int]:
    """How many of the pairs that two measures order differently are significant by at least one, and by both."""
    first, second = basis.tested
    x, y = run_merits(a), run_merits(b)
    swapped = (x[first] - x[second]) * (y[first] - y[second]) < 0
    one, other = (
        basis.significant(m) if len(m.topics) > 1 else np.zeros(len(first), np.bool_) for m in (a, b)
    )
    return int((swapped & (one | other)).sum()), int((swapped & one & other).sum())
