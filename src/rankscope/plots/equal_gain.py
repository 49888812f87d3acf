"""What the same gain costs: lists of about equal gain, from huge to low effort, with their curves.

Ferro and others (2016), Figure 11: the plane with the lists marked, and CRP above DCG for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.plots.effort import draw_plane
from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, DOUBLE, INK, blank, legend_below, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve
    from rankscope.analysis.effort import Effort
    from rankscope.measures import Measure

__all__ = ["plot_equal_gain"]

MOST = 4
"""Lists that have room beside each other."""


def plot_equal_gain(
    effort: Effort,
    measure: str | Measure | None = None,
    lists: Sequence[tuple[str, str]] = (),
    *,
    width: float = DOUBLE,
) -> Figure:
    """The plane of a gain measure with some lists marked, and below it their curves of CRP and DCG, side by side.

    ``lists`` are (run, topic) pairs, at most four; without them, lists of huge and about equal gain are found, one of
    each effort that occurs (see :attr:`rankscope.Effort.equal_gain`). ``measure`` is the last gain measure of the
    analysis unless set; DCG has its gains and discount if it is a measure of cumulated gain. Axes differ, as curves do,
    and end soon after the last relevant document.

    >>> import rankscope as rs
    >>> runs = {"a": {"q": ["d"]}, "b": {"q": ["x", "y", "d"]}}
    >>> found = rs.effort(rs.Collection({"q": {"d": 1}}, runs), "nDCG")
    >>> plot_equal_gain(found, lists=[("a", "q"), ("b", "q")]).table.column("crp")[:2]
    [0, 0]
    """
    chosen = effort.gains[-1] if measure is None else effort.gains[effort.number(measure)]
    wanted = list(dict.fromkeys(lists)) or [
        (str(row["run"]), str(row["topic"]))
        for row in effort.equal_gain.records()
        if row["measure"] == str(chosen)
    ]
    if not 1 <= len(wanted) <= MOST:
        hint = f"choose 1 to {MOST} (run, topic) pairs"
        raise SettingsError(f"{len(wanted)} lists cannot be drawn side by side", hint=hint)
    curves = [effort.curve(run, topic, chosen) for run, topic in wanted]
    with styled():
        figure = blank(width, 6.2)
        grid = figure.add_gridspec(3, len(wanted), height_ratios=(1.7, 1, 1))
        plane = figure.add_subplot(grid[0, :])
        handles = draw_plane(plane, effort, chosen, wanted)
        panels = []
        for number, curve in enumerate(curves):
            crp, dcg = figure.add_subplot(grid[1, number]), figure.add_subplot(grid[2, number])
            _draw_curves(crp, dcg, curve)
            crp.set_title(f"({'abcd'[number]}) {_named(effort, curve)}", fontsize=7)
            dcg.set_xlabel("rank")
            panels += [crp, dcg]
        panels[0].set_ylabel("CRP (ranks)")
        panels[1].set_ylabel("DCG (gain)")
        for number, handle in enumerate(handles):
            handle.set_label(f"({'abcd'[number]}) {handle.get_label()}")
        legend_below(figure, handles, 2)
    return Figure(figure, (plane, *panels), _table(effort, chosen, curves))


def _named(effort: Effort, curve: Curve) -> str:
    name = curve.label("Twist", effort.settings["crossing"])
    twist = next(float(str(row[1])) for row in curve.values.rows if row[0] == name)
    return f"topic {short(curve.topic, 8)}, {curve.label('Twist')} {twist:.2f}"


def _draw_curves(crp: Any, dcg: Any, curve: Curve) -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ranks = np.arange(1, curve.length + 1)
    # after the last relevant document nothing changes
    last = int(np.flatnonzero(curve.relevance).max(initial=0)) + 1
    end = min(curve.length, max(2 * curve.recall_base, int(1.2 * last)))
    crp.axhline(0, color=INK, linewidth=0.6)
    crp.plot(ranks, curve.crp, color=COLOURS[0], gid="crp")
    dcg.plot(ranks, curve.dcg, color=COLOURS[3], gid="dcg")
    dcg.plot(
        ranks, curve.ideal_dcg, color=INK, linestyle=(0, (5, 1.5, 1, 1.5)), linewidth=0.7, gid="ideal dcg"
    )
    for axes in (crp, dcg):
        axes.axvline(curve.recall_base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.8)
        axes.set_xlim(0, end + 1)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.tick_params(labelsize=6)


def _table(effort: Effort, measure: Measure, curves: Sequence[Curve]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for curve in curves:
        values = zip(curve.crp.tolist(), curve.dcg.tolist(), curve.ideal_dcg.tolist(), strict=True)
        rows += [(curve.run, curve.topic, rank, *value) for rank, value in enumerate(values, start=1)]
    columns = ("run", "topic", "rank", "crp", "dcg", "ideal_dcg")
    return Table("equal gain", columns, rows, caption=f"What the same gain by {measure} costs")
