"""Figure of rankings with about equal gain, from huge to low effort (Ferro et al. 2016, Figure 11).

It shows the effort/gain plane with the rankings marked, and CRP and DCG of each of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.analysis.curve import Curve
from rankscope.analysis.effort import Effort
from rankscope.errors import SettingsError
from rankscope.measures import Measure
from rankscope.plots.effort import draw_plane
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_line, limit_ticks, rank_ticks
from rankscope.plots.palette import DASHES, EFFORT, GAIN, INK
from rankscope.plots.style import DOUBLE, blank, is_wide, shorten
from rankscope.tables import Cell, Table

MAX_LISTS = 4
"""Maximum number of rankings side by side."""
_BASE = (0, (1, 1.2))


def plot_equal_gain(
    effort: Effort,
    measure: str | Measure | None = None,
    lists: Sequence[tuple[str, str]] = (),
    *,
    width: float = DOUBLE,
) -> Figure:
    """Draw the plane of a gain measure with some rankings marked, and below it their CRP and DCG curves.

    The axes of the curves differ, and end soon after the last relevant document. DCG has the gains and discount of the
    measure if it is a measure of cumulated gain.

    Parameters
    ----------
    effort
        Result of :func:`rankscope.effort`.
    measure
        Gain measure (default: the last one of the analysis).
    lists
        At most four (run, topic) pairs (default: rankings of huge and about equal gain, one of each effort that occurs;
        see :attr:`rankscope.Effort.equal_gain`).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"a": {"q": ["d"]}, "b": {"q": ["x", "y", "d"]}}
    >>> effort = rs.effort(rs.Collection({"q": {"d": 1}}, runs), "nDCG")
    >>> plot_equal_gain(effort, lists=[("a", "q"), ("b", "q")]).table.column("crp")[:2]
    [0, 0]
    """
    gain = effort.gains[-1] if measure is None else effort.gains[effort.number(measure)]
    rows = [row for row in effort.equal_gain.records() if row["measure"] == str(gain)]
    pairs = list(dict.fromkeys(lists)) or [(str(row["run"]), str(row["topic"])) for row in rows]
    if not 1 <= len(pairs) <= MAX_LISTS:
        hint = f"choose 1 to {MAX_LISTS} (run, topic) pairs"
        raise SettingsError(f"{len(pairs)} rankings cannot be drawn side by side", hint=hint)
    curves = [effort.curve(run, topic, gain) for run, topic in pairs]
    # A column of a paper has room for two rankings side by side.
    columns = len(pairs) if is_wide(width) else min(2, len(pairs))
    lines = -(-len(pairs) // columns)
    with blank(width, 2.5 + 2.6 * lines) as figure:
        grid = figure.add_gridspec(1 + 2 * lines, columns, height_ratios=(1.7, *(1, 1) * lines))
        plane = figure.add_subplot(grid[0, :])
        rankings, contours = draw_plane(plane, effort, gain, pairs)
        panels = []
        for number, curve in enumerate(curves):
            line, column = divmod(number, columns)
            crp, dcg = (figure.add_subplot(grid[1 + 2 * line + k, column]) for k in (0, 1))
            _draw_curves(crp, dcg, curve)
            crp.set_title(f"({'abcd'[number]}) {_title(effort, curve)}", fontsize=7)
            dcg.set_xlabel("rank")
            panels += [crp, dcg]
            if column == 0:
                crp.set_ylabel("CRP (ranks)")
                dcg.set_ylabel("DCG (gain)")
        for number, handle in enumerate(rankings):
            handle.set_label(f"({'abcd'[number]}) {handle.get_label()}")
        handles = rankings + contours
        handles += [
            legend_line("CRP of the ranking", color=EFFORT),
            legend_line("DCG of the ranking", color=GAIN),
            legend_line("DCG of the ideal ranking", color=INK, linestyle=DASHES[3], linewidth=0.7),
            legend_line("recall base", color=INK, linestyle=_BASE, linewidth=0.8),
        ]
        legend_below(figure, handles, 4)
    return Figure(figure, (plane, *panels), _table(gain, curves))


def _title(effort: Effort, curve: Curve) -> str:
    name = curve.label("Twist", effort.settings["crossing"])
    twist = next(float(str(row[1])) for row in curve.values.rows if row[0] == name)
    return f"topic {shorten(curve.topic, 6)}, {curve.label('Twist')} {twist:.2f}"


def _draw_curves(crp: Any, dcg: Any, curve: Curve) -> None:
    ranks = np.arange(1, curve.length + 1)
    # Nothing changes after the last relevant document.
    last = int(np.flatnonzero(curve.relevance).max(initial=0)) + 1
    end = min(curve.length, max(2 * curve.recall_base, int(1.2 * last)))
    crp.axhline(0, color=INK, linewidth=0.6)
    crp.plot(ranks, curve.crp, color=EFFORT, gid="crp")
    dcg.plot(ranks, curve.dcg, color=GAIN, gid="dcg")
    dcg.plot(ranks, curve.ideal_dcg, color=INK, linestyle=DASHES[3], linewidth=0.7, gid="ideal dcg")
    for axes in (crp, dcg):
        axes.axvline(curve.recall_base, color=INK, linestyle=_BASE, linewidth=0.8)
        axes.set_xlim(0, end + 1)
        axes.set_xticks(rank_ticks(end, 3))
        limit_ticks(axes.yaxis, 4, integer=False)
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.tick_params(labelsize=6)


def _table(measure: Measure, curves: Sequence[Curve]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for curve in curves:
        values = zip(curve.crp.tolist(), curve.dcg.tolist(), curve.ideal_dcg.tolist(), strict=True)
        rows += [(curve.run, curve.topic, rank, *value) for rank, value in enumerate(values, start=1)]
    columns = ("run", "topic", "rank", "crp", "dcg", "ideal_dcg")
    return Table("equal gain", columns, rows, caption=f"What the same gain by {measure} costs")
