"""Figure of effort and gain: the CRP and DCG curves of a ranking (Angelini et al. 2012, Figure 2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.analysis.curve import Curve
from rankscope.plots.bars import draw_bars
from rankscope.plots.crp import MAX_DOTS, curve_table, draw_crp, draw_rp, rank_label, rank_scale, title
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_patch
from rankscope.plots.palette import EXACT, GAIN, INK, LOSS
from rankscope.plots.style import DOUBLE, canvas, is_wide, shorten
from rankscope.tables import Table


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
        lines += [
            legend_patch("up: too late, more gain", color=GAIN),
            legend_patch("down: too early, less gain", color=LOSS),
        ]
        crp.set_title(f"effort: {title(curve, 0.85 * panel_width)}", pad=13)
        measure = shorten(str(curve.dcg_measure), int(9.6 * panel_width))
        dcg.set_title(f"gain: {measure}", pad=13 if wide else 5)
        crp.set_ylabel("CRP (ranks)")
        dcg.set_ylabel("DCG (gain)")
        for bottom in (rp, delta)[not wide :]:
            bottom.set_xlabel(rank_label(ranks))
        figure.align_ylabels([crp, rp])
        figure.align_ylabels([dcg, delta])
        legend_below(figure, lines, 4)
    return Figure(figure, (crp, dcg, rp, delta), _table(curve))


def _table(curve: Curve) -> Table:
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
