"""The CRP curve of one list above the bars of its relative positions (Angelini and others 2012, Figure 2a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.choices import AXES as SCALES
from rankscope.errors import SettingsError
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
    label,
    legend_below,
    rank_axis,
    short,
    styled,
)
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve

__all__ = [
    "SCALES",
    "curve_table",
    "draw_crp",
    "draw_rp",
    "mark_ranks",
    "plot_curve",
    "rank_label",
    "rank_scale",
    "title",
]

CROSSING = "sign-change"
_FEW = 40  # ranks up to which each one gets a dot
_LONG = 100  # ranks beyond which their axis is logarithmic unless set


def plot_curve(curve: Curve, *, axis: str = "auto", bars: str = "auto", width: float = SINGLE) -> Figure:
    """CRP with the ideal and the full-scale list, the recall base, turn-around and balance point, above the bars of RP.

    A bar is flat and grey where the document stands in its interval, orange (down) where it stands above, too early,
    and blue (up) where it stands below, too late. No bar is thinner than 0.7 points, so that every misplaced document
    can be seen at any length. ``axis`` of the ranks and ``bars`` are linear or log; auto: ranks are logarithmic beyond
    100, bars where the largest is more than 15.

    >>> import rankscope as rs
    >>> found = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
    >>> plot_curve(found).table.column("place")
    ['above', 'exact', 'exact', 'below']
    """
    ranks = rank_scale(curve, axis)
    with styled():
        figure = blank(width, 2.9)
        top, bar = figure.subplots(2, 1, sharex=True, height_ratios=(2.5, 1))
        handles = draw_crp(top, curve, name=_named(curve), ranks=ranks)
        handles += draw_rp(bar, curve, width, scale=bars, ranks=ranks)
        top.set_title(title(curve, width), pad=13)
        top.set_ylabel("CRP (ranks)")
        bar.set_xlabel(rank_label(ranks))
        figure.align_ylabels([top, bar])
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (top, bar), curve_table(curve))


def rank_scale(curve: Curve, axis: str) -> str:
    """Whether the axis of the ranks is linear or log."""
    if axis not in SCALES:
        raise SettingsError(f"no axis of ranks is {axis!r}", hint=f"choose one of {', '.join(SCALES)}")
    return ("log" if curve.length > _LONG else "linear") if axis == "auto" else axis


def rank_label(ranks: str) -> str:
    return "rank" if ranks == "linear" else "rank (log scale)"


def _named(curve: Curve) -> str:
    """The curve in the legend, with its Twist."""
    known = {str(row[0]): row[1] for row in curve.values.rows}.get(curve.label("Twist", CROSSING))
    twist = f" ({curve.label('Twist')} {known:.3f})" if isinstance(known, float) and curve.recall_base else ""
    return f"this list{twist}"


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
        **({} if curve.crp_before is None else {"crp_before": curve.crp_before.tolist()}),
        "points": [", ".join(marked.get(rank, [])) or None for rank in range(1, curve.length + 1)],
    }
    rows = list(zip(*columns.values(), strict=True))
    return Table("crp", tuple(columns), rows, caption=f"{curve.run} on topic {curve.topic}")


def _points(curve: Curve) -> list[tuple[str, int, float]]:
    """The marked points that exist: name, rank, height. The balance point stands on the axis, where it is read."""
    found = {str(row[0]): row for row in curve.points.rows}
    points: list[tuple[str, int, float]] = []
    for name, word in (
        ("recall base", "recall base"),
        ("turn-around", "turn-around"),
        (f"balance ({CROSSING})", "balance point"),
    ):
        if name in found:
            rank, height = float(found[name][1] or 0), found[name][2]
            if np.isfinite(rank):
                points.append((word, int(rank), float(height or 0) if word == "turn-around" else 0.0))
    return points


def draw_crp(axes: Any, curve: Curve, *, name: str = "this list", ranks: str = "linear") -> list[Any]:
    """The curve, its reference lines and its marked points; returns what a legend should explain."""
    every = np.arange(1, curve.length + 1)
    full = np.array(curve.references.column("full_scale"), np.float64)
    shown = curve.crp if curve.crp_before is None else np.concatenate([curve.crp, curve.crp_before])
    low, high = _limits(shown, full)
    leaves = bool(full.max() > high)
    worst = "full scale" + (f" (ends at {int(full[-1]):,})" if leaves else "")
    axes.axhline(0, color=INK, linewidth=0.8, gid="ideal")
    handles = [
        axes.plot(every, curve.crp, color=COLOURS[0], marker="o" if curve.length <= _FEW else "", markersize=2.6,
                  zorder=4, label=name, gid="crp")[0],
        axes.plot(every, full, color=QUIET, linestyle=(0, (4, 1.5)), linewidth=0.9, label=worst, gid="full scale")[0],
    ]  # fmt: skip
    if curve.crp_before is not None:
        handles.insert(1, axes.plot(every, curve.crp_before, color=COLOURS[0], linestyle=(0, (2, 1.2)), linewidth=0.9,
                                    zorder=3, label="before the edits", gid="before")[0])  # fmt: skip
    mark_ranks(axes, curve.length, ranks)
    axes.set_ylim(low, high)
    _mark_points(axes, curve, ranks)
    axes.yaxis.set_major_locator(_whole_numbers())
    axes.yaxis.set_major_formatter(_thousands())
    return handles


def mark_ranks(axes: Any, length: int, ranks: str) -> None:
    """The axis of the ranks, from the first to the last."""
    if ranks == "log":
        rank_axis(axes, [1, length])
        axes.set_xlim(0.8, length * 1.04)
    else:
        axes.set_xlim(0.5, length + 0.5)
        axes.xaxis.set_major_locator(_whole_numbers())
        # between 0 and 20 the first rank would not be among the labels
        ticks = [tick for tick in axes.xaxis.get_major_locator().tick_values(0, length) if 1 < tick <= length]
        axes.set_xticks([1, *ticks])


def _mark_points(axes: Any, curve: Curve, ranks: str) -> None:
    """Recall base, turn-around and balance point with their names beside them, as on the page."""
    points = {point: (rank, height) for point, rank, height in _points(curve)}
    across = np.log(curve.length + 0.5) if ranks == "log" else curve.length + 0.5

    def place(rank: float) -> float:
        return float((np.log(rank) if ranks == "log" else rank) / across)

    if "recall base" in points:
        base = points["recall base"][0]
        axes.axvline(base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.9, gid="recall base")
        side = "right" if place(base) > 0.75 else "left" if place(base) < 0.2 else "center"
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
            # before it crosses the axis a curve is below it, and after it turned above
            left, up = place(rank) > (0.3 if word == "β" else 0.7), word == "β"
            label(axes, f"{word} {rank:,}", (rank, height), (-5 if left else 5, 4 if up else -4),
                  va="bottom" if up else "top", ha="right" if left else "left")  # fmt: skip
        elif point == "balance point" and points:
            label(
                axes, "no balance point", (0.99, 0.98), (0, 0), xycoords="axes fraction", ha="right", va="top"
            )


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
    return low - 2 * margin, high + margin  # below, the name of the turn-around has room


def draw_rp(
    axes: Any, curve: Curve, width: float, *, scale: str = "auto", ranks: str = "linear"
) -> list[Any]:
    """The bars of RP; ``width`` of the axes in inches decides how thin a bar may be."""
    from matplotlib.patches import Patch

    logarithmic = draw_bars(
        axes, curve.rp.tolist(), colours=(ABOVE, EXACT, BELOW), linear=1, points=72 * 0.8 * width, scale=scale,
        ranks=ranks,
    )  # fmt: skip
    axes.yaxis.set_major_formatter(_thousands())
    axes.set_ylabel("RP (log)" if logarithmic else "RP (ranks)")
    return [Patch(color=BELOW, label="up: too late"), Patch(color=ABOVE, label="down: too early")]


def _thousands() -> Any:
    from matplotlib.ticker import StrMethodFormatter

    return StrMethodFormatter("{x:,.0f}")


def _whole_numbers() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=6, integer=True, min_n_ticks=1)
