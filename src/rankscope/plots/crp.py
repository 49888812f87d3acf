"""The CRP curve of one list above the bars of its relative positions (Angelini and others 2012, Figure 2a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.plots.bars import draw_bars
from rankscope.plots.figure import Figure
from rankscope.plots.style import (
    ABOVE,
    BELOW,
    COLOURS,
    EXACT,
    INK,
    QUIET,
    SINGLE,
    blank,
    legend_below,
    short,
    styled,
)
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve

__all__ = ["curve_table", "draw_crp", "draw_rp", "plot_curve", "title"]

CROSSING = "sign-change"
_FEW = 40  # ranks up to which each one gets a dot


def plot_curve(curve: Curve, *, width: float = SINGLE) -> Figure:
    """CRP with the ideal and the full-scale list, the recall base, turn-around and balance point, above the bars of RP.

    A bar is green (flat) where the document stands in its interval, red (down) where it stands above, too early, and
    blue (up) where it stands below, too late; for long lists the axis of the bars is logarithmic beyond 1. No bar is
    thinner than 0.7 points, so that every misplaced document can be seen at any length.

    >>> import rankscope as rs
    >>> found = rs.curve({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}, "q")
    >>> plot_curve(found).table.column("place")
    ['above', 'exact', 'exact', 'below']
    """
    with styled():
        figure = blank(width, 3.1)
        top, bar = figure.subplots(2, 1, sharex=True, height_ratios=(2.7, 1))
        handles = draw_crp(top, curve)
        handles += draw_rp(bar, curve, width)
        top.set_title(title(curve, width))
        top.set_ylabel("CRP (ranks)")
        bar.set_ylabel("RP (ranks)")
        bar.set_xlabel("rank")
        figure.align_ylabels([top, bar])
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (top, bar), curve_table(curve))


def title(curve: Curve, width: float) -> str:
    """Run and topic, as much of their names as fits above axes of a width in inches."""
    return f"{short(curve.run, int(5.5 * width))}, topic {short(curve.topic, int(3.4 * width))}"


def curve_table(curve: Curve) -> Table:
    """Every number of the figure, rank by rank; ``points`` names the marked points of a rank."""
    ideal, full = curve.references.column("ideal"), curve.references.column("full_scale")
    marked: dict[int, list[str]] = {}
    for name, rank, _ in _points(curve):
        marked.setdefault(rank, []).append(name)
    rp = curve.rp.tolist()
    place = ["exact" if value == 0 else "above" if value < 0 else "below" for value in rp]
    columns: dict[str, list[Any]] = {
        "rank": list(range(1, curve.length + 1)),
        "doc": curve.documents,
        "grade": curve.grade,
        "rp": rp,
        "place": place,
        "crp": curve.crp.tolist(),
        "ideal": ideal,
        "full_scale": full,
        "points": [", ".join(marked.get(rank, [])) or None for rank in range(1, curve.length + 1)],
    }
    rows = list(zip(*columns.values(), strict=True))
    return Table("crp", tuple(columns), rows, caption=f"{curve.run} on topic {curve.topic}")


def _points(curve: Curve) -> list[tuple[str, int, float]]:
    """The marked points that exist: name, rank, height. The balance point stands on the axis, where it is read."""
    found = {str(row[0]): row for row in curve.points.rows}
    points: list[tuple[str, int, float]] = []
    for name, label in (
        ("recall base", "recall base"),
        ("turn-around", "turn-around"),
        (f"balance ({CROSSING})", "balance point"),
    ):
        if name in found:
            rank, height = float(found[name][1] or 0), found[name][2]
            if np.isfinite(rank):
                points.append((label, int(rank), float(height or 0) if label == "turn-around" else 0.0))
    return points


def draw_crp(axes: Any, curve: Curve, *, name: str = "CRP of the list") -> list[Any]:
    """The curve, its reference lines and its marked points; returns what a legend should explain."""
    ranks = np.arange(1, curve.length + 1)
    full = np.array(curve.references.column("full_scale"), np.float64)
    low, high = _limits(curve.crp, full)
    leaves = bool(full.max() > high)
    label = "full scale" + (f" (ends at {int(full[-1]):,})" if leaves else "")
    handles = [
        axes.plot(ranks, curve.crp, color=COLOURS[0], marker="o" if curve.length <= _FEW else "", markersize=2.6,
                  zorder=4, label=name, gid="crp")[0],
        axes.plot(ranks, full, color=QUIET, linestyle=(0, (4, 1.5)), linewidth=0.9, label=label, gid="full scale")[0],
        axes.axhline(0, color=INK, linewidth=0.8, label="ideal list", gid="ideal"),
    ]  # fmt: skip
    points = {point: (rank, height) for point, rank, height in _points(curve)}
    if "recall base" in points:
        base = points["recall base"][0]
        handles.append(
            axes.axvline(
                base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.9, gid="recall base",
                label=f"recall base ({base:,})",
            )
        )  # fmt: skip
    for point, marker, size in (("turn-around", "v", 5.5), ("balance point", "D", 4.5)):
        if point in points:
            rank, height = points[point]
            handles += axes.plot(
                [rank], [height], linestyle="none", marker=marker, markersize=size, markerfacecolor="white",
                markeredgecolor=INK, markeredgewidth=0.9, zorder=5, clip_on=False, gid=point,
                label=f"{point} (rank {rank:,})",
            )  # fmt: skip
        elif point == "balance point" and points:
            handles += axes.plot([], [], linestyle="none", label="no balance point")
    axes.set_xlim(0.5, curve.length + 0.5)
    axes.set_ylim(low, high)
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.yaxis.set_major_locator(_whole_numbers())
    axes.yaxis.set_major_formatter(_thousands())
    return handles


def _limits(crp: Any, full: Any) -> tuple[float, float]:
    """A range that shows the list well; the full-scale list may leave it, since it can rise a hundred times higher."""
    low, high = float(min(crp.min(), 0)), float(max(crp.max(), 0))
    span = max(high - low, 2.0)
    fullest = float(full.min())
    if -fullest <= 12 * span:
        low = min(low, fullest)
    if float(full.max()) <= 4 * max(span, -low):
        high = max(high, float(full.max()))
    else:
        high = max(high, 0.3 * max(span, -low))
    margin = 0.07 * max(high - low, 1.0)
    return low - margin, high + margin


def draw_rp(axes: Any, curve: Curve, width: float) -> list[Any]:
    """The bars of RP; ``width`` of the axes in inches decides how thin a bar may be."""
    from matplotlib.patches import Patch

    draw_bars(axes, curve.rp.tolist(), colours=(ABOVE, EXACT, BELOW), linear=1, points=72 * 0.8 * width)
    axes.yaxis.set_major_formatter(_thousands())
    return [
        Patch(color=EXACT, label="in its interval (RP 0)"),
        Patch(color=ABOVE, label="too early (RP < 0)"),
        Patch(color=BELOW, label="too late (RP > 0)"),
    ]


def _thousands() -> Any:
    from matplotlib.ticker import StrMethodFormatter

    return StrMethodFormatter("{x:,.0f}")


def _whole_numbers() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, integer=True, min_n_ticks=1)
