"""Figure of the CRP curve of a ranking and its relative positions (Angelini et al. 2012, Figure 2a)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.analysis.curve import Curve
from rankscope.choices import AXES as SCALES
from rankscope.errors import check_name
from rankscope.plots.bars import draw_bars
from rankscope.plots.figure import Figure
from rankscope.plots.marks import label, legend_below, legend_patch, limit_ticks, rank_axis
from rankscope.plots.palette import ABOVE, BELOW, EFFORT, EXACT, INK, QUIET
from rankscope.plots.style import SINGLE, canvas, shorten
from rankscope.tables import Table

CROSSING = "sign-change"
MAX_DOTS = 40  # Longer rankings have no dot per rank.
_MAX_LINEAR = 100  # Longer rankings have a logarithmic axis by default.


def plot_curve(curve: Curve, *, axis: str = "auto", bars: str = "auto", width: float = SINGLE) -> Figure:
    """Draw CRP with the ideal and the full-scale ranking and its marked points, above bars of RP.

    A bar is flat and grey if the document is in its interval, orange (down) if it comes too early, and blue (up) if it
    comes too late. Bars are at least 0.7 points wide, so that all misplaced documents are visible at any length.

    Parameters
    ----------
    curve
        Result of :func:`rankscope.curve`.
    axis
        Scale of the ranks: linear, log, or auto (log beyond 100 ranks).
    bars
        Scale of the bars: linear, log, or auto (log if the largest value is more than 15).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
    >>> plot_curve(curve).table.column("place")
    ['above', 'exact', 'exact', 'below']
    """
    ranks = rank_scale(curve, axis)
    with canvas(width, 2.9, 2, sharex=True, height_ratios=(2.5, 1)) as (figure, (top, bar)):
        handles = draw_crp(top, curve, name=_legend_name(curve), ranks=ranks)
        handles += draw_rp(bar, curve, width, scale=bars, ranks=ranks)
        top.set_title(title(curve, width), pad=13)
        top.set_ylabel("CRP (ranks)")
        bar.set_xlabel(rank_label(ranks))
        figure.align_ylabels([top, bar])
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (top, bar), curve_table(curve))


def rank_scale(curve: Curve, axis: str) -> str:
    """Return the scale of the axis of ranks, linear or log."""
    check_name(axis, SCALES, f"there is no scale {axis!r}")
    return ("log" if curve.length > _MAX_LINEAR else "linear") if axis == "auto" else axis


def rank_label(ranks: str) -> str:
    return "rank" if ranks == "linear" else "rank (log scale)"


def _legend_name(curve: Curve) -> str:
    """Return the name of the curve in the legend, with its Twist."""
    twist = {str(row[0]): row[1] for row in curve.values.rows}.get(curve.label("Twist", CROSSING))
    if not isinstance(twist, float) or not curve.recall_base:
        return "this ranking"
    return f"this ranking ({curve.label('Twist')} {twist:.3f})"


def title(curve: Curve, width: float) -> str:
    """Return run and topic, shortened to fit above axes of a width in inches."""
    return f"{shorten(curve.run, int(5.5 * width))}, topic {shorten(curve.topic, int(3.4 * width))}"


def curve_table(curve: Curve) -> Table:
    """Return all numbers of the figure, one row per rank; ``points`` names the marked points of a rank."""
    ideal, full = curve.references.column("ideal"), curve.references.column("full_scale")
    marked: dict[int, list[str]] = {}
    for name, rank, _ in _points(curve):
        marked.setdefault(rank, []).append(name)
    rp = curve.rp.tolist()
    position = ["exact" if value == 0 else "above" if value < 0 else "below" for value in rp]
    ranks = list(range(1, curve.length + 1))
    columns: dict[str, list[Any]] = {
        "rank": ranks, "doc": curve.documents, "grade": curve.grade, "rp": rp, "place": position,
        "crp": curve.crp.tolist(), "ideal": ideal, "full_scale": full,
        **({} if curve.crp_before is None else {"crp_before": curve.crp_before.tolist()}),
        "points": [", ".join(marked.get(rank, [])) or None for rank in ranks],
    }  # fmt: skip
    rows = list(zip(*columns.values(), strict=True))
    return Table("crp", tuple(columns), rows, caption=f"{curve.run} on topic {curve.topic}")


def _points(curve: Curve) -> list[tuple[str, int, float]]:
    """Return name, rank and height of the marked points; the balance point is on the axis."""
    rows = {str(row[0]): row for row in curve.points.rows}
    points: list[tuple[str, int, float]] = []
    for name in ("recall base", "turn-around", "balance point"):
        row = rows.get(f"balance ({CROSSING})" if name == "balance point" else name)
        if row is not None and np.isfinite(float(row[1] or 0)):
            points.append((name, int(row[1] or 0), float(row[2] or 0) if name == "turn-around" else 0.0))
    return points


def draw_crp(axes: Any, curve: Curve, *, name: str = "this ranking", ranks: str = "linear") -> list[Any]:
    """Draw the curve, its reference lines and its marked points, and return the entries of a legend."""
    x = np.arange(1, curve.length + 1)
    full = np.array(curve.references.column("full_scale"), np.float64)
    crp = curve.crp if curve.crp_before is None else np.concatenate([curve.crp, curve.crp_before])
    low, high = _limits(crp, full)
    worst = "full scale" + (f" (ends at {int(full[-1]):,})" if full.max() > high else "")
    axes.axhline(0, color=INK, linewidth=0.8, gid="ideal")
    handles = [
        axes.plot(x, curve.crp, color=EFFORT, marker="o" if curve.length <= MAX_DOTS else "", markersize=2.6,
                  zorder=4, label=name, gid="crp")[0],
        axes.plot(x, full, color=QUIET, linestyle=(0, (4, 1.5)), linewidth=0.9, label=worst, gid="full scale")[0],
    ]  # fmt: skip
    if curve.crp_before is not None:
        handles.insert(1, axes.plot(x, curve.crp_before, color=EFFORT, linestyle=(0, (2, 1.2)), linewidth=0.9,
                                    zorder=3, label="before the edits", gid="before")[0])  # fmt: skip
    mark_ranks(axes, curve.length, ranks)
    axes.set_ylim(low, high)
    _mark_points(axes, curve, ranks)
    limit_ticks(axes.yaxis, 6, min_n_ticks=1)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return handles


def mark_ranks(axes: Any, length: int, ranks: str) -> None:
    """Set the limits and ticks of the axis of ranks."""
    if ranks == "log":
        rank_axis(axes, [1, length])
        axes.set_xlim(0.8, length * 1.04)
    else:
        axes.set_xlim(0.5, length + 0.5)
        limit_ticks(axes.xaxis, 6, min_n_ticks=1)
        # Ticks from 0 to 20 would not include the first rank.
        ticks = [tick for tick in axes.xaxis.get_major_locator().tick_values(0, length) if 1 < tick <= length]
        axes.set_xticks([1, *ticks])


def _mark_points(axes: Any, curve: Curve, ranks: str) -> None:
    """Mark and name the recall base, turn-around and balance point, as the report does."""
    points = {point: (rank, height) for point, rank, height in _points(curve)}
    end = np.log(curve.length + 0.5) if ranks == "log" else curve.length + 0.5

    def position(rank: float) -> float:
        """Return the position of a rank, as a share of the width of the axes."""
        return float((np.log(rank) if ranks == "log" else rank) / end)

    if "recall base" in points:
        base = points["recall base"][0]
        axes.axvline(base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.9, gid="recall base")
        side = "right" if position(base) > 0.75 else "left" if position(base) < 0.2 else "center"
        axes.text(
            base, 1.01, f"recall base {base:,}", transform=axes.get_xaxis_transform(), ha=side, va="bottom",
            fontsize=6.5, color=INK,
        )  # fmt: skip
    for point, word, marker, size in (("turn-around", "turn-around", "v", 5), ("balance point", "β", "D", 4)):
        if point in points:
            rank, height = points[point]
            axes.plot(
                [rank], [height], linestyle="none", marker=marker, markersize=size, markerfacecolor="white",
                markeredgecolor=INK, markeredgewidth=0.9, zorder=5, clip_on=False, gid=point,
            )  # fmt: skip
            # The curve is below the axis before it crosses it, and above the turn-around after it: labels avoid it.
            left, up = position(rank) > (0.3 if word == "β" else 0.7), word == "β"
            label(axes, f"{word} {rank:,}", (rank, height), (-5 if left else 5, 4 if up else -4),
                  va="bottom" if up else "top", ha="right" if left else "left")  # fmt: skip
        elif point == "balance point" and points:
            label(
                axes, "no balance point", (0.99, 0.98), (0, 0), xycoords="axes fraction", ha="right", va="top"
            )


def _limits(crp: Any, full: Any) -> tuple[float, float]:
    """Return limits for the curve; the full-scale ranking may leave them: it can rise a hundred times higher."""
    low, high = float(min(crp.min(), 0)), float(max(crp.max(), 0))
    span = max(high - low, 2.0)
    lowest, highest = float(full.min()), float(full.max())
    if -lowest <= 12 * span:
        low = min(low, lowest)
    reach = max(span, -low)
    high = max(high, highest if highest <= 4 * reach else 0.3 * reach)
    margin = 0.07 * max(high - low, 1.0)
    return low - 2 * margin, high + margin  # The name of the turn-around is below it.


def draw_rp(
    axes: Any, curve: Curve, width: float, *, scale: str = "auto", ranks: str = "linear"
) -> list[Any]:
    """Draw the bars of RP, and return the entries of a legend; ``width`` is that of the axes in inches."""
    logarithmic = draw_bars(
        axes, curve.rp.tolist(), colours=(ABOVE, EXACT, BELOW), linear=1, points=72 * 0.8 * width, scale=scale,
        ranks=ranks,
    )  # fmt: skip
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("RP (log)" if logarithmic else "RP (ranks)")
    return [legend_patch("up: too late", color=BELOW), legend_patch("down: too early", color=ABOVE)]
