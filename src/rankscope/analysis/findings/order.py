"""Findings about the order of the runs: leader, significant differences, disagreement of measures."""

import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np

from rankscope.analysis.correlation import correlate
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.finding import Chart, Disagreement, Finding, LeaderRow, Separation
from rankscope.analysis.leaderboard import FIRST
from rankscope.analysis.stats.matrices import CompleteMatrix, run_merits
from rankscope.analysis.stats.significance import procedure
from rankscope.cells import join_names
from rankscope.tables import Cell


def leader(basis: Basis) -> Finding | None:
    """Report the leader by the first measure and the runs tied with it, as :func:`rankscope.leaderboard` does.

    No run leads if chance spreads the means of the runs as widely.
    """
    matrix = basis.first
    if matrix is None or not basis.comparable:
        return None
    measure = matrix.measure
    rows = basis.board(measure)
    tied = [str(row["run"]) for row in rows if row["tied_for_first"]]
    best, second = rows[0], rows[1]
    numbers: dict[str, Cell] = {
        "run": best["run"], "measure": str(measure), "value": best["value"], "topics": len(matrix.topics),
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
            "{run} leads by {measure}: its mean of {value:.4f} over {topics} topics differs significantly from that of"
            " every other run ({others}); next is {second} with {second_value:.4f}."
        )
    else:
        equal = [str(row["run"]) for row in rows if row["rank"] == best["rank"]]
        rest = [name for name in others if name not in equal]
        numbers |= {"equal": join_names(equal), "others": join_names(rest)}
        has, does = ("has", "does") if len(equal) == 1 else ("have", "do")
        pattern = (
            f"{{tied}} of {{runs}} runs share the lead by {{measure}}: {{equal}} {has} the highest mean, {{value:.4f}}"
            " over {topics} topics"
        )
        pattern += f", but {does} not differ significantly from {{others}}." if rest else "."
    evidence = LeaderRow.table("leader", [tuple(row[name] for name in LeaderRow.specs) for row in rows],
        caption=f"Means of {measure}, and the runs tied for first",
        legend=f"{FIRST}, level {f'{basis.alpha:g}'.removeprefix('0')}; intervals of single means, unadjusted",
    )  # fmt: skip
    marks = f"dot: mean {measure}, filled if tied for first; line: 95% interval of the mean, unadjusted"
    chart = Chart("dots", ("run",), "value", "low", "high", "tied_for_first", caption=marks)
    selected = [str(best["run"]), *others[:3]] if others else [str(best["run"]), str(second["run"])]
    state = {"measure": str(measure), "run": selected}
    return Finding("Leader", pattern, numbers, evidence, chart, "runs", state)


def separation(basis: Basis) -> Finding | None:
    """Report the pairs of runs that differ significantly by each measure, or of a sample of very many pairs."""
    if not basis.comparable:
        return None
    matrices = [complete for complete in basis.matrices.values() if len(complete.topics) > 1]
    rows: list[tuple[Cell, ...]] = []
    for matrix in matrices:
        is_significant = basis.significant(matrix)
        counts = len(is_significant), int(is_significant.sum()), float(is_significant.mean())
        rows.append((str(matrix.measure), *counts, len(matrix.topics)))
    best, worst = (choose(rows, key=lambda row: float(row[3] or 0)) for choose in (max, min))
    numbers: dict[str, Cell] = {
        "measure": best[0], "pairs": best[1], "significant": best[2], "share": best[3], "topics": best[4],
        "least": worst[0], "least_significant": worst[2], "least_share": worst[3],
    }  # fmt: skip
    sample = _describe_sample(basis, numbers)
    if not best[2]:
        pattern = f"{{topics}} topics separate none of the {{pairs:,}} pairs of runs{sample} by any of these measures."
    else:
        pattern = (
            f"{{topics}} topics separate {{significant:,}} of {{pairs:,}} pairs of runs{sample} ({{share:.0%}}) by"
            " {measure}"
        )
        fewer = "only {least_significant:,} ({least_share:.0%})" if worst[2] else "none"
        pattern += f", but {fewer} by {{least}}." if worst[2] != best[2] else "."
    evidence = Separation.table("separation", rows,
        caption="Pairs of runs that differ significantly", legend=procedure(basis.test, basis.correction, basis.alpha),
    )  # fmt: skip
    marks = "share of the pairs of runs that differ significantly"
    chart = Chart("bars", ("measure",), "share", percent=True, caption=marks)
    state: dict[str, Cell] = {"measure": best[0]}
    return Finding("Pairs the topics can separate", pattern, numbers, evidence, chart, "runs", state)


def disagreement(basis: Basis) -> Finding | None:
    """Report the two measures that order the runs most differently, and whether the difference is significant."""
    if not basis.comparable or len(basis.matrices) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        # Correlations are about values, so scores with ranges are accepted here.
        scores = replace(basis.scores.with_measures(list(basis.matrices)), collection=None)
        correlations = correlate(scores, "kendall").correlations
    pairs_of_matrices = combinations(basis.matrices.values(), 2)
    rows: list[tuple[Cell, ...]] = []
    for row, (a, b) in zip(correlations, pairs_of_matrices, strict=True):
        by_either, by_both = _count_significant_swaps(basis, a, b)
        pairs = len(basis.pairs[0])
        swapped = row.discordant or 0
        rows.append((row.a, row.b, row.value, swapped, pairs, swapped / pairs, by_either, by_both))
    rows = sorted(rows, key=lambda row: (-float(row[5] or 0), str(row[0]), str(row[1])))
    numbers: dict[str, Cell] = dict(zip(Disagreement.specs, rows[0], strict=True))
    if not numbers["swapped"]:
        numbers["measures"] = len(basis.matrices)
        pattern = "No two of the {measures} measures order any of the {pairs:,} pairs of runs in opposite directions."
    else:
        pattern = (
            "{a} and {b} disagree the most: they order {swapped:,} of {pairs:,} pairs of runs ({share:.0%})"
            " differently, Kendall's tau is {tau:.2f}; "
        )
        numbers["by_one"] = by_one = int(str(numbers["significant"])) - int(str(numbers["contradict"]))
        tested = ""
        if len(basis.tested[0]) < len(basis.pairs[0]):
            numbers["tested"] = len(basis.tested[0])
            tested = " among {tested:,} pairs that were drawn and tested"
        pattern += (
            f"{{by_one:,}} of these differences{tested} {'is' if by_one == 1 else 'are'} significant by exactly one of"
            " the two, {contradict:,} by both."
            if numbers["significant"]
            else f"none of these differences{tested} is significant by either: it may be chance."
        )
    evidence = Disagreement.table("disagreement", rows, caption="Differences between measures in the order of the runs",
        legend="significant: swapped pairs that at least one of the two measures calls different; contradict: both",
    )  # fmt: skip
    best = [basis.scores.runs[int(np.argmax(run_merits(basis.matrices[m])))] for m in basis.matrices]
    marks = "two measures: share of the pairs that they order differently"
    chart = Chart("bars", ("a", "b"), "share", percent=True, caption=marks)
    state = {"measure": str(numbers["a"]), "run": list(dict.fromkeys(best))[:4]}
    return Finding("Disagreement between measures", pattern, numbers, evidence, chart, "orders", state)


def _describe_sample(basis: Basis, numbers: dict[str, Cell]) -> str:
    """Return words for a sample of the pairs, and add its size to the numbers; empty if all pairs are tested."""
    if len(basis.tested[0]) == len(basis.pairs[0]):
        return ""
    numbers["all_pairs"] = len(basis.pairs[0])
    return " (drawn from {all_pairs:,})"


def _count_significant_swaps(basis: Basis, a: CompleteMatrix, b: CompleteMatrix) -> tuple[int, int]:
    """Return how many swapped pairs are significant by at least one of two measures, and by both."""
    first, second = basis.tested
    x, y = run_merits(a), run_merits(b)
    swapped = (x[first] - x[second]) * (y[first] - y[second]) < 0
    by_a, by_b = (
        basis.significant(m) if len(m.topics) > 1 else np.zeros(len(first), np.bool_) for m in (a, b)
    )
    return int((swapped & (by_a | by_b)).sum()), int((swapped & by_a & by_b).sum())
