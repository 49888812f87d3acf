"""Findings about effort: gain that costs effort all the same, and curves that never return."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankscope.analysis.effort import Effort
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.evidence import BarrenTopic
from rankscope.analysis.findings.finding import Chart, Finding
from rankscope.analysis.stats.coefficients import kendall
from rankscope.measures import REGISTRY
from rankscope.tables import Cell

__all__ = ["parting", "unreturned"]


def _effort(basis: Basis) -> Effort | None:
    """Effort against the first measure of gain, at the N and the crossing of Twist if that was evaluated."""
    lists = basis.lists
    gain = next((m for m in basis.matrices if m.family != "effort" and m.summary == "mean"), None)
    if lists is None or gain is None:
        return None
    twist = next((m for m in basis.matrices if m.name == "Twist"), REGISTRY["Twist"])
    how = {"cutoff": int(twist.cutoff or 1000), "crossing": str(twist.settings["crossing"])}
    missing = str(basis.scores.settings.get("missing", "zero"))
    return basis.cache("effort", lambda: Effort.from_judged(lists, [gain], missing=missing, **how))  # type: ignore[arg-type]


def parting(basis: Basis) -> Finding | None:
    """How many lists gain more than the median and cost high or huge effort all the same."""
    found = _effort(basis)
    if found is None or not len(found.counted):
        return None
    gain = found.gains[0]
    plane = found.plane(gain)
    total = int(plane.sum())
    if total < 2:  # nothing to tell apart
        return None
    row = found.agreement.records()[0]
    upper, costly = int(plane[2:].sum()), int(plane[:, :2].sum())
    numbers: dict[str, Cell] = {
        "measure": str(gain), "lists": total, "count": row["high_high"], "share": row["high_high_share"],
        "median": row["median"], "upper": upper, "limit": 0.5, "costly": costly,
        "expected": upper * costly / total**2, "agree": row["diagonal_share"],
    }  # fmt: skip
    pattern = (
        "{count:,} of {lists:,} lists ({share:.1%}) gain more {measure} than the median of {median:.4f} and still cost"
        " high or huge effort (Twist below {limit:g}); effort and gain agree on {agree:.0%} of the lists."
    )
    evidence = replace(
        found.quadrants, name="parting", caption=f"Rankings by effort (Twist) and gain ({gain})"
    )
    chart = Chart(
        "plane",
        ("gain", "effort"),
        "share",
        percent=True,
        caption="share of the lists; outlined: much gain at much effort",
    )
    state: dict[str, Cell] = {"measure": str(gain)}
    return Finding("parting", "High gain at high effort", pattern, numbers, evidence, chart, "plane", state)


def unreturned(basis: Basis) -> Finding | None:
    """How many curves never return, so that Rho is 0, and whether that happens on topics with many relevant documents.

    CRP falls below zero with every non-relevant document among the first ranks, and rises only after as many ranks as
    there are relevant documents: the more of them, the less often N ranks are enough.
    """
    found = _effort(basis)
    if found is None or not len(found.counted):
        return None
    lists, cutoff = found.judged.lists, found.settings["cutoff"]
    rho = (REGISTRY["Rho"](crossing=found.settings["crossing"]) @ cutoff).evaluate(lists)
    counted = found.counted
    zero = rho[counted] == 0
    if not zero.any():
        return None
    topic = counted % len(found.judged.topics)
    base = lists.recall_base(1)[counted]
    sizes = np.array([int(base[topic == t].max(initial=0)) for t in range(len(found.judged.topics))])
    lists_of = np.bincount(topic, minlength=len(sizes))
    zeros_of = np.bincount(topic, weights=zero, minlength=len(sizes)).astype(int)
    seen = np.flatnonzero(lists_of)
    middle = float(np.median(sizes[seen]))
    many = sizes > middle
    shares = zeros_of / np.maximum(1, lists_of)
    tau = kendall(sizes[seen].astype(float), shares[seen])
    numbers: dict[str, Cell] = {
        "count": int(zero.sum()), "lists": len(zero), "share": float(zero.mean()), "cutoff": cutoff, "rho": 0,
        "median": middle, "many_share": _share(zeros_of, lists_of, many),
        "few_share": _share(zeros_of, lists_of, ~many), "tau": tau.tau_b, "p": tau.p,
    }  # fmt: skip
    pattern = (
        "The CRP curve of {count:,} of {lists:,} lists ({share:.0%}) never returns to zero within {cutoff:,} ranks:"
        " their Rho = {rho}, and their Twist is half of Sigma"
    )
    if tau.p < basis.alpha and tau.tau_b > 0 and many.any():
        pattern += (
            ". It happens more often on topics with many relevant documents: to {many_share:.0%} of the lists where"
            " there are more than {median:g}, to {few_share:.0%} of the others (Kendall's tau {tau:.2f})."
        )
    else:
        pattern += "."
    rows = sorted(
        ((found.judged.topics[t], int(sizes[t]), int(lists_of[t]), int(zeros_of[t]), float(shares[t]), bool(many[t]))
         for t in seen.tolist()),
        key=lambda row: (-row[1], row[0]),
    )  # fmt: skip
    evidence = BarrenTopic.table("unreturned", rows,
        caption="Lists whose curve never returns, topics with the most relevant documents first",
    )  # fmt: skip
    chart = Chart(
        "bars",
        ("topic", "relevant"),
        "share",
        strong="many",
        percent=True,
        caption="topic / relevant documents: share of its lists that never return",
    )
    worst = found.judged.topics[int(seen[np.argmax(sizes[seen])])]
    return Finding(
        "unreturned",
        "Curves that never return to zero",
        pattern,
        numbers,
        evidence,
        chart,
        "curves",
        {"topic": worst},
    )


def _share(zeros: np.ndarray, lists: np.ndarray, which: np.ndarray) -> float:
    total = int(lists[which].sum())
    return float(zeros[which].sum() / total) if total else float("nan")
