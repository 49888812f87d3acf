"""Findings about effort: high gain at high effort, and CRP curves that never return to zero."""

from dataclasses import replace

import numpy as np

from rankscope.analysis.effort import Effort
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.finding import Chart, Finding, NoReturnTopic
from rankscope.analysis.stats.coefficients import kendall
from rankscope.measures import REGISTRY
from rankscope.tables import Cell


def _effort(basis: Basis) -> Effort | None:
    """Return effort against the first gain measure, with the cutoff and crossing of Twist if it was evaluated."""
    lists = basis.lists
    gain = next((m for m in basis.matrices if m.family != "effort" and m.summary == "mean"), None)
    if lists is None or gain is None:
        return None
    twist = next((m for m in basis.matrices if m.name == "Twist"), REGISTRY["Twist"])
    options = {"cutoff": int(twist.cutoff or 1000), "crossing": str(twist.settings["crossing"])}
    missing = str(basis.scores.settings.get("missing", "zero"))
    return basis.cache("effort", lambda: Effort.from_judged(lists, [gain], missing=missing, **options))  # type: ignore[arg-type]


def high_effort(basis: Basis) -> Finding | None:
    """Report the rankings with a gain above the median at high or huge effort."""
    effort = _effort(basis)
    if effort is None or not len(effort.counted):
        return None
    gain = effort.gains[0]
    plane = effort.plane(gain)
    total = int(plane.sum())
    if total < 2:  # One ranking is above no median.
        return None
    row = effort.agreement.records()[0]
    upper, costly = int(plane[2:].sum()), int(plane[:, :2].sum())
    numbers: dict[str, Cell] = {
        "measure": str(gain), "lists": total, "count": row["high_high"], "share": row["high_high_share"],
        "median": row["median"], "upper": upper, "limit": 0.5, "costly": costly,
        "expected": upper * costly / total**2, "agree": row["diagonal_share"],
    }  # fmt: skip
    pattern = (
        "{count:,} of {lists:,} rankings ({share:.1%}) gain more {measure} than the median of {median:.4f} and still"
        " cost high or huge effort (Twist below {limit:g}); effort and gain agree on {agree:.0%} of the rankings."
    )
    caption = f"Rankings by effort (Twist) and gain ({gain})"
    evidence = replace(effort.quadrants, name="high_effort", caption=caption)
    marks = "share of the rankings; outlined: gain above the median at high or huge effort"
    chart = Chart("plane", ("gain", "effort"), "share", percent=True, caption=marks)
    state: dict[str, Cell] = {"measure": str(gain)}
    return Finding("High gain at high effort", pattern, numbers, evidence, chart, "plane", state)


def no_return(basis: Basis) -> Finding | None:
    """Report the CRP curves that never return to zero, and whether they belong to topics with many relevant documents.

    CRP decreases with every non-relevant document among the first ranks, and increases only after as many ranks as
    there are relevant documents. The more of them, the less often N ranks suffice.
    """
    effort = _effort(basis)
    if effort is None or not len(effort.counted):
        return None
    lists, cutoff = effort.judged.lists, effort.settings["cutoff"]
    rho = (REGISTRY["Rho"](crossing=effort.settings["crossing"]) @ cutoff).evaluate(lists)
    counted = effort.counted
    zero = rho[counted] == 0
    if not zero.any():
        return None
    topic = counted % len(effort.judged.topics)
    base = lists.recall_base(1)[counted]
    sizes = np.array([int(base[topic == t].max(initial=0)) for t in range(len(effort.judged.topics))])
    n_lists = np.bincount(topic, minlength=len(sizes))
    n_zeros = np.bincount(topic, weights=zero, minlength=len(sizes)).astype(int)
    evaluated = np.flatnonzero(n_lists)
    middle = float(np.median(sizes[evaluated]))
    is_large = sizes > middle
    shares = n_zeros / np.maximum(1, n_lists)
    tau = kendall(sizes[evaluated].astype(float), shares[evaluated])
    numbers: dict[str, Cell] = {
        "count": int(zero.sum()), "lists": len(zero), "share": float(zero.mean()), "cutoff": cutoff, "rho": 0,
        "median": middle, "many_share": _share(n_zeros, n_lists, is_large),
        "few_share": _share(n_zeros, n_lists, ~is_large), "tau": tau.tau_b, "p": tau.p,
    }  # fmt: skip
    pattern = (
        "The CRP curve of {count:,} of {lists:,} rankings ({share:.0%}) never returns to zero within {cutoff:,} ranks:"
        " their Rho = {rho}, and their Twist is half of Sigma"
    )
    if tau.p < basis.alpha and tau.tau_b > 0 and is_large.any():
        pattern += (
            ". It happens more often on topics with many relevant documents: to {many_share:.0%} of the rankings where"
            " there are more than {median:g}, to {few_share:.0%} of the others (Kendall's tau {tau:.2f})."
        )
    else:
        pattern += "."
    rows = sorted(
        ((effort.judged.topics[t], int(sizes[t]), int(n_lists[t]), int(n_zeros[t]), float(shares[t]), bool(is_large[t]))
         for t in evaluated.tolist()),
        key=lambda row: (-row[1], row[0]),
    )  # fmt: skip
    caption = "Rankings whose curve never returns to zero, topics with the most relevant documents first"
    evidence = NoReturnTopic.table("no_return", rows, caption=caption)
    marks = "topic / relevant documents: share of its rankings whose curve never returns"
    chart = Chart("bars", ("topic", "relevant"), "share", strong="many", percent=True, caption=marks)
    worst = effort.judged.topics[int(evaluated[np.argmax(sizes[evaluated])])]
    state: dict[str, Cell] = {"topic": worst}
    return Finding("Curves that never return to zero", pattern, numbers, evidence, chart, "archetypes", state)


def _share(zeros: np.ndarray, lists: np.ndarray, is_selected: np.ndarray) -> float:
    total = int(lists[is_selected].sum())
    return float(zeros[is_selected].sum() / total) if total else float("nan")
