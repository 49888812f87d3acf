"""Findings about unjudged and tied documents."""

from dataclasses import replace

import numpy as np

from rankscope.analysis.certain_pairs import find_tie_extremes, tie_verdicts
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.finding import Chart, Finding, TiedMean, UnjudgedShare
from rankscope.tables import Cell

_DEPTH = 10
_NOTABLE = 0.1
"""Share of unjudged documents above which a run is counted."""


def unjudged(basis: Basis) -> Finding | None:
    """Report the share of unjudged documents in the first ranks, and precision if all of them were relevant.

    P@k counts unjudged documents as not relevant; with all of them relevant it is P@k + unjudged/k, which is its exact
    highest value over all labels.
    """
    lists = basis.lists if basis.scores.weights is None else None  # These means are not weighted.
    if lists is None:
        return None
    first = basis.first
    cutoff = first.measure.cutoff if first is not None else None
    depth = int(cutoff) if isinstance(cutoff, int) and cutoff <= 100 else _DEPTH
    retrieved = lists.grid(lists.lists.retrieved(depth))
    judged = lists.grid(lists.lists.relevant(0, depth).count)  # A negative grade is no judgment.
    skip = basis.scores.settings.get("missing") == "skip"
    evaluated = lists.grid(lists.present) if skip else np.ones(retrieved.shape, np.bool_)
    topics = np.maximum(1, evaluated.sum(axis=1))
    relevant = lists.grid(lists.lists.relevant(1, depth).count).sum(axis=1)
    open_ = (retrieved - judged).sum(axis=1)
    shares = open_ / np.maximum(1, retrieved.sum(axis=1))
    precision, highest = relevant / (depth * topics), (relevant + open_) / (depth * topics)
    if not shares.any():
        return None
    order = np.lexsort((np.arange(len(shares)), -shares))
    top, best = int(order[0]), int(np.argmax(precision))
    # Integers are compared, so that rounding changes nothing.
    higher = (relevant + open_) * topics[best] > relevant[best] * topics
    above = int(np.delete(higher, best).sum())
    numbers: dict[str, Cell] = {
        "depth": depth, "notable": int((shares > _NOTABLE).sum()), "limit": _NOTABLE, "runs": len(shares),
        "run": lists.runs[top], "share": float(shares[top]), "precision": float(precision[top]),
        "highest": float(highest[top]), "best": lists.runs[best], "best_precision": float(precision[best]),
        "above": above,
    }  # fmt: skip
    could = "so that its P@{depth} of {precision:.4f} could be as high as {highest:.4f}"
    if len(shares) == 1:
        pattern = "{run} has {share:.1%} of its first {depth} documents unjudged, " + could + "."
    else:
        pattern = (
            "{notable} of {runs} runs have more than {limit:.0%} of their first {depth} documents unjudged, {run} the"
            f" most: {{share:.1%}}, {could}; {{above}} other runs could reach more than the {{best_precision:.4f}} that"
            " {best} has now."
        )
    rows = [
        (lists.runs[r], float(shares[r]), float(precision[r]), float(highest[r]), bool(shares[r] > _NOTABLE))
        for r in order.tolist()
    ]
    caption = f"Unjudged documents in the first {depth} ranks, and bounds of P@{depth}"
    evidence = UnjudgedShare.table("unjudged", rows, caption=caption)
    marks = f"unjudged share of the first {depth} ranks; grey: {_NOTABLE:.0%} or less"
    chart = Chart("bars", ("run",), "unjudged", strong="notable", percent=True, caption=marks)
    state = {"measure": f"P@{depth}", "run": [lists.runs[top]]}
    return Finding("Unjudged documents", pattern, numbers, evidence, chart, "runs", state)


def ties(basis: Basis) -> Finding | None:
    """Report bounds of means, and pairs whose order may change, over orders of tied documents."""
    lists = basis.tied_lists if basis.scores.weights is None else None  # These means are not weighted.
    matrix = basis.first
    if matrix is None or lists is None or lists.ties is None:
        return None
    measure = matrix.measure
    where = np.array([lists.qrels.topic_index[str(topic)] for topic in matrix.topics])
    extremes = find_tie_extremes(lists, measure, where)
    if not extremes.any_ties:
        return None
    undefined = [lists.qrels.topic_index[str(topic)] for topic in matrix.dropped]
    present, tied = (lists.grid(column)[:, undefined] for column in (lists.present, lists.tied))
    if (present.all(axis=0) & tied.any(axis=0)).any():  # Another order may add such a topic to the means.
        extremes = replace(extremes, exact=False)
    worst, best = (
        np.array([measure.mean(row) for row in measure.merit(end)]) for end in (extremes.worst, extremes.best)
    )
    means = np.array([measure.mean(row) for row in matrix.values])
    width = np.abs(best - worst)
    order = np.lexsort((np.arange(len(width)), -width))
    top = int(order[0])
    numbers: dict[str, Cell] = {
        "run": lists.runs[top], "measure": str(measure), "value": float(means[top]), "worst": float(worst[top]),
        "best": float(best[top]), "touched": int((width > 1e-12).sum()), "runs": len(width),
    }  # fmt: skip
    prefix = "{touched} of {runs} runs have tied documents that matter"
    ends = "{worst:.4f} in the worst order of them and {best:.4f} in the best"
    if not extremes.exact:  # Orders that were not examined may be worse or better.
        prefix = f"At least {prefix}"
        ends = "{worst:.4f} in the worst of the orders that were examined and {best:.4f} in the best of these"
    pattern = f"{prefix}, {{run}} the most: its mean {{measure}} of {{value:.4f}} is {ends}"
    if len(width) > 1 and measure.summary == "mean":
        merit = measure.merit(matrix.values).mean(axis=1)
        a, b = basis.pairs
        turned = merit[a] < merit[b]
        first, second = np.where(turned, b, a), np.where(turned, a, b)
        verdicts = tie_verdicts(extremes, first, second, merit[first] - merit[second])
        unknown = int(np.isnan(verdicts).sum())
        numbers |= {"open": int((verdicts == 0).sum()), "pairs": len(first), "unknown": unknown}
        pattern += "; they can change the order of {open:,} of {pairs:,} pairs of runs"
        pattern += ", and {unknown:,} are undecided." if unknown else "."
    else:
        pattern += "."
    rows = [
        (lists.runs[r], float(means[r]), float(worst[r]), float(best[r]), float(width[r]))
        for r in order.tolist()
    ]
    caption = f"{measure} in the worst and in the best order of tied documents"
    evidence = TiedMean.table("ties", rows, caption=caption)
    marks = f"dot: mean {measure}; line: from the worst to the best order of ties"
    chart = Chart("dots", ("run",), "value", "worst", "best", caption=marks)
    state = {"measure": str(measure), "run": [lists.runs[top]]}
    return Finding("Tied documents", pattern, numbers, evidence, chart, "runs", state)
