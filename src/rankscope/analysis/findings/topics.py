"""Findings about topics: decisive topics, topics on which the lead depends, and hard topics."""

import numpy as np

from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.finding import Chart, Finding, HardTopic, LeadTopic, TopicShare
from rankscope.analysis.stats.matrices import CompleteMatrix, rounded, run_merits
from rankscope.analysis.stats.weighting import contributions
from rankscope.cells import join_names
from rankscope.tables import Cell


def _averaged(basis: Basis) -> CompleteMatrix | None:
    """Return the values of the first measure that is summarised by a mean, or None if runs cannot be compared."""
    if not basis.comparable:
        return None
    plain = (m for m in basis.matrices.values() if m.measure.summary == "mean" and len(m.topics) > 1)
    return next(plain, None)


def decisive_topics(basis: Basis) -> Finding | None:
    """Report the smallest number of topics that carry half of the variance between the runs.

    The variance of the runs' means is the sum over topics of cov(scores of the topic, means) / topics, so each topic
    has a share, and the shares sum to 1. There is no finding if the runs differ only by chance.
    """
    matrix = _averaged(basis)
    if matrix is None or not basis.differ(matrix):
        return None
    merit = contributions(matrix.measure.merit(matrix.values), matrix.weights)
    means = merit.mean(axis=1)
    around = means - means.mean()
    count = len(matrix.topics)
    shares = (merit - merit.mean(axis=0)).T @ around / (count * (around @ around))
    order = np.argsort(-shares, kind="stable")
    half = int(np.searchsorted(np.cumsum(shares[order]), 0.5 - 1e-12) + 1)
    against = int((shares < -1e-12).sum())  # Beyond rounding errors.
    numbers: dict[str, Cell] = {
        "half": half, "topics": count, "measure": str(matrix.measure), "topic": matrix.topics[order[0]],
        "share": float(shares[order[0]]), "against": against,
    }  # fmt: skip
    pattern = (
        "{half} of {topics} topics carry at least half of the variance between the runs by {measure}; topic {topic}"
        " alone carries {share:.1%}"
    )
    unit = "topic" if against == 1 else "topics"
    pattern += f"; on {{against}} {unit} the runs tend to the opposite order." if against else "."
    spread = merit.std(axis=0, ddof=1)
    level = matrix.values.mean(axis=0)
    rows = [
        (matrix.topics[t], float(shares[t]), float(level[t]), float(spread[t]), index < half)
        for index, t in enumerate(order.tolist())
    ]
    evidence = TopicShare.table("decisive_topics", rows,
        caption=f"Share of each topic in the variance of the means of {matrix.measure}",
        legend="mean and spread (standard deviation): over the runs",
    )  # fmt: skip
    marks = "share of the variance between the means; grey: beyond the first half"
    chart = Chart("bars", ("topic",), "share", strong="in_half", percent=True, caption=marks)
    state: dict[str, Cell] = {"measure": str(matrix.measure), "topic": matrix.topics[order[0]]}
    return Finding("Topics that decide", pattern, numbers, evidence, chart, "map", state)


def fragile_lead(basis: Basis) -> Finding | None:
    """Report the smallest number of topics without which the second run would overtake the first."""
    matrix = _averaged(basis)
    if matrix is None:
        return None
    merits = run_merits(matrix)
    a, b = np.argsort(-merits, kind="stable")[:2].tolist()
    merit = contributions(matrix.measure.merit(matrix.values), matrix.weights)
    gains = rounded(merit[a] - merit[b])
    if merits[a] == merits[b]:
        return None
    order = np.argsort(-gains, kind="stable")
    left = rounded(gains.sum() - np.cumsum(gains[order]))
    reversing = np.flatnonzero(left < 0)
    if not len(reversing):
        return None  # The first run is never worse.
    dropped = int(reversing[0]) + 1
    names = [str(matrix.topics[t]) for t in order[:dropped].tolist()]
    run, other = basis.scores.runs[a], basis.scores.runs[b]
    numbers: dict[str, Cell] = {
        "run": run, "other": other, "measure": str(matrix.measure),
        "dropped": dropped, "topics": len(matrix.topics), "names": join_names(names),
        "difference": float(abs(merits[a] - merits[b])), "wins": int((gains > 0).sum()),
        "losses": int((gains < 0).sum()),
    }  # fmt: skip
    pattern = (
        "Without {dropped} of {topics} topics ({names}) {other} would overtake {run} by {measure}: the two are"
        " {difference:.4f} apart; {run} is ahead on {wins} topics and behind on {losses}."
    )
    rows: list[tuple[Cell, ...]] = [
        (matrix.topics[t], float(matrix.values[a, t]), float(matrix.values[b, t]),
         float(matrix.values[a, t] - matrix.values[b, t]), index < dropped)
        for index, t in enumerate(order.tolist())
    ]  # fmt: skip
    caption = f"{run} (a) against {other} (b) by {matrix.measure}, a's largest wins first"
    evidence = LeadTopic.table("fragile_lead", rows, caption=caption)
    marks = f"difference in {matrix.measure}, leader minus the other; grey: not needed to reverse the order"
    chart = Chart("bars", ("topic",), "difference", strong="needed", caption=marks)
    state = {"measure": str(matrix.measure), "run": [run, other], "topic": names[0]}
    title = "Smallest set of topics that changes the leader"
    return Finding(title, pattern, numbers, evidence, chart, "versus", state)


def hard_topics(basis: Basis) -> Finding | None:
    """Report the topic with the lowest mean over runs, and the topics on which half of the runs score 0."""
    matrix = basis.first
    if matrix is None or matrix.measure.better != "higher" or len(matrix.topics) < 2:
        return None
    values = matrix.values
    level, best = values.mean(axis=0), values.max(axis=0)
    empty = (values == 0).mean(axis=0) >= 0.5
    order = np.argsort(rounded(level), kind="stable")
    worst = int(order[0])
    alike = int((rounded(level) == rounded(level)[worst]).sum()) - 1
    numbers: dict[str, Cell] = {
        "topic": matrix.topics[worst], "measure": str(matrix.measure), "mean": float(level[worst]),
        "best": float(best[worst]), "empty": int(empty.sum()), "topics": len(matrix.topics),
        "overall": float(contributions(level[None, :], matrix.weights).mean()), "zero": 0, "alike": alike,
    }  # fmt: skip
    hardest = "Topic {topic} and {alike} others are the hardest" if alike else "Topic {topic} is the hardest"
    pattern = hardest + ": mean {measure} {mean:.4f} (all topics: {overall:.4f}), best run {best:.4f}"
    if empty.any():
        pattern += "; on {empty} of {topics} topics at least half of the runs score {zero}"
    pattern += "."
    rows = [(matrix.topics[t], float(level[t]), float(best[t]), bool(empty[t])) for t in order.tolist()]
    caption = f"{matrix.measure} over the runs, hardest topics first"
    evidence = HardTopic.table("hard_topics", rows, caption=caption)
    marks = f"dot: mean {matrix.measure}, filled if half of the runs score 0; line: up to the best run"
    chart = Chart("dots", ("topic",), "mean", "mean", "best", strong="half_score_0", caption=marks)
    state: dict[str, Cell] = {"measure": str(matrix.measure), "topic": matrix.topics[worst]}
    return Finding("Hardest topics", pattern, numbers, evidence, chart, "map", state)
