"""Figures of the curves of a ranking: CRP, DCG and relative positions."""

from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.analysis.curve import Curve
from rankscope.choices import AXES as SCALES
from rankscope.errors import SettingsError, check_name
from rankscope.plots import marks
from rankscope.plots.bars import draw_bars
from rankscope.plots.figure import Figure
from rankscope.plots.palette import ABOVE, BELOW, EFFORT, EXACT, GAIN, INK, LOSS, QUIET
from rankscope.plots.style import DOUBLE, SINGLE, canvas, group, is_wide, shorten
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
        marks.legend_below(figure, handles, 2 if width < 5 else 4)
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
    marked = group((rank, name) for name, rank, _ in _points(curve))
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
    marks.limit_ticks(axes.yaxis, 6, min_n_ticks=1)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    return handles


def mark_ranks(axes: Any, length: int, ranks: str) -> None:
    """Set the limits and ticks of the axis of ranks."""
    if ranks == "log":
        marks.rank_axis(axes, [1, length])
        axes.set_xlim(0.8, length * 1.04)
    else:
        axes.set_xlim(0.5, length + 0.5)
        axes.set_xticks(marks.rank_ticks(length))


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
        alignment = {"transform": axes.get_xaxis_transform(), "ha": side, "va": "bottom"}
        axes.text(base, 1.01, f"recall base {base:,}", fontsize=6.5, color=INK, **alignment)
    for point, word, marker, size in (("turn-around", "turn-around", "v", 5), ("balance point", "β", "D", 4)):
        if point in points:
            rank, height = points[point]
            axes.plot(
                [rank], [height], linestyle="none", marker=marker, markersize=size, markerfacecolor="white",
                markeredgecolor=INK, markeredgewidth=0.9, zorder=5, clip_on=False, gid=point,
            )  # fmt: skip
            # The curve is below the axis before it crosses it, and above the turn-around after it: labels avoid it.
            left, up = position(rank) > (0.3 if word == "β" else 0.7), word == "β"
            marks.label(axes, f"{word} {rank:,}", (rank, height), (-5 if left else 5, 4 if up else -4),
                  va="bottom" if up else "top", ha="right" if left else "left")  # fmt: skip
        elif point == "balance point" and points:
            # The full-scale ranking, and often the recall base, would cross it on the right.
            marks.label(axes, "no balance point", (0.02, 0.98), (0, 0), xycoords="axes fraction", va="top")


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


def draw_rp(axes: Any, curve: Curve, width: float, *, scale: str, ranks: str) -> list[Any]:
    """Draw the bars of RP, and return the entries of a legend; ``width`` is that of the axes in inches."""
    logarithmic = draw_bars(
        axes, curve.rp.tolist(), colours=(ABOVE, EXACT, BELOW), linear=1, points=72 * 0.8 * width, scale=scale,
        ranks=ranks,
    )  # fmt: skip
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("RP (log)" if logarithmic else "RP (ranks)")
    return _explain_bars()


def _explain_bars(late: str = "", early: str = "", exact: str = "") -> list[Any]:
    """Return the entries of a legend of bars, with additions."""
    texts = f"up: too late{late}", f"down: too early{early}", f"flat: in its interval{exact}"
    return [marks.legend_patch(text, color=c) for text, c in zip(texts, (BELOW, ABOVE, EXACT), strict=True)]


def plot_dcg(curve: Curve, *, axis: str = "auto", bars: str = "auto", width: float = DOUBLE) -> Figure:
    """Draw CRP and RP at the left, and at the right DCG, the ideal DCG, and bars of the difference in gain.

    A bar is blue (up) if the document gains more than the document of the ideal ranking at that rank, orange (down) if
    it gains less, and grey (flat) if both gain the same: the colours of RP, because a document that comes too early
    gains less than the ideal one. In the width of a column, gain is below effort. Gains may be negative, as in
    ``rs.curve(..., gains="0=-1,1=1,2=2,3=3")``.

    Parameters
    ----------
    curve
        Result of :func:`rankscope.curve`.
    axis
        Scale of the ranks: linear, log, or auto (log beyond 100 ranks).
    bars
        Scale of the bars: linear, log, or auto (linear for gain, log for RP if the largest value is more than 15).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b", "y"]}), None, "q")
    >>> plot_dcg(curve).table.column("gain_place")
    ['loss', 'same', 'gain', 'same']
    """
    ranks = rank_scale(curve, axis)
    wide = is_wide(width)
    ratios = (2.5, 1) if wide else (2.5, 1, 2.5, 1)
    height, shape = (3.1, (2, 2)) if wide else (5.4, (4, 1))
    panel_width = width / shape[1]
    with canvas(width, height, *shape, sharex=True, height_ratios=ratios) as (figure, axes):
        crp, rp, dcg, delta = axes.T.ravel()
        lines = draw_crp(crp, curve, name="CRP of this ranking", ranks=ranks) + _draw_dcg(dcg, curve)
        draw_rp(rp, curve, panel_width, scale=bars, ranks=ranks)
        _draw_delta(delta, curve, panel_width, bars, ranks)
        lines += _explain_bars(", more gain", ", less gain", ", same gain")
        crp.set_title(f"effort: {title(curve, 0.85 * panel_width)}", pad=13)
        measure = shorten(str(curve.dcg_measure), int(9.6 * panel_width))
        dcg.set_title(f"gain: {measure}", pad=13 if wide else 5)
        crp.set_ylabel("CRP (ranks)")
        dcg.set_ylabel("DCG (gain)")
        for bottom in (rp, delta)[not wide :]:
            bottom.set_xlabel(rank_label(ranks))
        figure.align_ylabels([crp, rp])
        figure.align_ylabels([dcg, delta])
        marks.legend_below(figure, lines, 4)
    return Figure(figure, (crp, dcg, rp, delta), _dcg_table(curve))


def _dcg_table(curve: Curve) -> Table:
    """Return the table of the CRP curve with the columns of DCG."""
    table = curve_table(curve)
    dcg, ideal, delta = (curve.curve.column(name) for name in ("dcg", "ideal_dcg", "delta_gain"))
    gain_place = [("same", "gain", "loss")[int(sign)] for sign in np.sign(_rounded(delta))]
    rows = [(*row, *more) for row, *more in zip(table.rows, dcg, ideal, delta, gain_place, strict=True)]
    columns = (*table.columns, "dcg", "ideal_dcg", "delta_gain", "gain_place")
    return replace(table, name="crp and dcg", columns=columns, rows=rows)


def _rounded(delta: Any) -> Any:
    """Set differences of gains to 0 that are rounding errors."""
    values = np.array(delta, np.float64)
    return np.where(np.abs(values) < 1e-12, 0.0, values)


def _draw_dcg(axes: Any, curve: Curve) -> list[Any]:
    ranks = np.arange(1, curve.length + 1)
    marker = "s" if curve.length <= MAX_DOTS else ""
    handles = [
        axes.plot(ranks, curve.dcg, color=GAIN, marker=marker, markersize=2.6, zorder=4,
                  label="DCG of this ranking", gid="dcg")[0],
        axes.plot(ranks, curve.ideal_dcg, color=INK, linestyle=(0, (5, 1.5, 1, 1.5)), linewidth=0.9,
                  label="DCG of the ideal ranking", gid="ideal dcg")[0],
    ]  # fmt: skip
    if curve.recall_base:
        axes.axvline(curve.recall_base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.9, gid="recall base")
    low = float(min(curve.dcg.min(), curve.ideal_dcg.min(), 0.0))
    high = float(max(curve.dcg.max(), curve.ideal_dcg.max(), 0.0)) or 1.0
    if low < 0:
        axes.axhline(0, color=INK, linewidth=0.5)
    axes.set_ylim(1.05 * low, high + 0.05 * (high - low))
    return handles


def _draw_delta(axes: Any, curve: Curve, width: float, bars: str, ranks: str) -> None:
    delta = _rounded(curve.curve.column("delta_gain"))
    smallest = float(np.abs(delta[delta != 0]).min(initial=np.inf))
    smallest = smallest if np.isfinite(smallest) else 1.0
    logarithmic = draw_bars(
        axes, delta, colours=(LOSS, EXACT, GAIN), linear=smallest, points=72 * 0.8 * width,
        scale="linear" if bars == "auto" else bars, ranks=ranks,
    )  # fmt: skip
    axes.yaxis.set_major_formatter("{x:.3g}")
    axes.set_ylabel("Δ gain (log)" if logarithmic else "Δ gain")


RANKS = 24
"""Default number of ranks."""

NARROW_RANKS = 14
"""Default number of ranks in the width of a column of a paper."""

MAX_RANKS = 80
"""Maximum number of ranks; there is no room for the numbers of more."""

_IDEAL, _LIST, _BELOW, _HEIGHT = 1.5, 0.0, -0.5, 0.34


def plot_rp(curve: Curve, ranks: int | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw the grades of the ideal ranking above those of the ranking, and an arrow to each misplaced document.

    The arrow starts at the nearest rank of the grade in the ideal ranking: the first one for a document that comes too
    early, the last one for a document that comes too late. Its length is the relative position (RP), which is written
    below the document. Arrows from ranks beyond the figure start at its border.

    Parameters
    ----------
    curve
        Result of :func:`rankscope.curve`.
    ranks
        Number of ranks, at most 80 (default: 24, or 14 in the width of a column).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
    >>> plot_rp(curve).table.rows[0]
    Place(rank=1, doc='x', grade=None, first=3, last=4, nearest=3, rp=-2)
    """
    if ranks is not None and not 1 <= ranks <= MAX_RANKS:
        raise SettingsError(f"{ranks} ranks", hint=f"the figure has room for 1 to {MAX_RANKS}")
    depth = min(ranks or (RANKS if is_wide(width) else NARROW_RANKS), curve.length)
    rows = list(curve.places)[:depth]
    with canvas(width, 2.3) as (figure, axes):
        best = max(1, int(curve.ideal_grade.max(initial=1)))
        size = 7.0 * min(1.0, 30 / depth * width / DOUBLE)
        _draw_row(axes, _IDEAL, curve.ideal_grade[:depth].tolist(), best, size)
        _draw_row(axes, _LIST, curve.relevance[:depth].tolist(), best, size)
        # Numbers that are wider than their box are turned; a letter is about 0.65 of the size of its font.
        letters = max(len(str(row.rp)) for row in rows)
        turned = 90 if size < 7 or 0.65 * size * letters > 72 * 0.8 * width / depth else 0
        for row in rows:
            _draw_position(axes, row.rank, row.nearest, row.rp, depth, size, turned)
        axes.set(xlim=(0.4, depth + 0.6), ylim=(_BELOW - 0.35, _IDEAL + 0.25))
        axes.set_yticks([_IDEAL, _LIST, _BELOW], ["ideal", "ranking", "RP"])
        axes.set(xlabel="rank", title=title(curve, width))
        marks.limit_ticks(axes.xaxis, 8, min_n_ticks=1)
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        axes.tick_params(left=False)
        handles = [
            marks.legend_line("too early (RP < 0), from first rank of grade", color=ABOVE),
            marks.legend_line("too late (RP > 0), from last rank of grade", color=BELOW),
        ]
        marks.legend_below(figure, handles, 3)
    table = Table("rp", curve.places.columns, rows, caption=curve.places.caption)
    return Figure(figure, (axes,), table)


def _draw_row(axes: Any, height: float, grades: list[int], best: int, size: float) -> None:
    for rank, grade in enumerate(grades, start=1):
        darkness = 0.0 if grade == 0 else 0.18 + 0.5 * grade / best
        shade = (1 - 0.55 * darkness, 1 - 0.4 * darkness, 1 - 0.15 * darkness)
        style = {"facecolor": shade, "edgecolor": INK, "linewidth": 0.5}
        marks.draw_box(axes, rank - 0.5, height - _HEIGHT / 2, 1, _HEIGHT, **style)
        marks.write_centred(axes, rank, height, str(grade), fontsize=size)


def _draw_position(axes: Any, rank: int, nearest: int, rp: int, depth: int, size: float, turned: int) -> None:
    colour = INK if rp == 0 else ABOVE if rp < 0 else BELOW
    sign = "+" if rp > 0 else "\N{MINUS SIGN}" if rp < 0 else ""
    marks.write_centred(axes, rank, _BELOW, f"{sign}{abs(rp)}", fontsize=size, color=colour, rotation=turned)
    if rp == 0:
        return
    # An arrow from outside the figure keeps its direction, and starts at the border.
    start, top, bottom = float(nearest), _IDEAL - _HEIGHT / 2, _LIST + _HEIGHT / 2
    if nearest > depth:
        start = depth + 0.6
        top = bottom + (top - bottom) * (start - rank) / (nearest - rank)
    axes.annotate(
        "", (rank, bottom), (start, top), gid=f"rank {rank}",
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 0.8 * size / 7, "shrinkA": 0, "shrinkB": 0,
                    "mutation_scale": 6},
    )  # fmt: skip
