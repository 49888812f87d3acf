"""Figure of a leaderboard with the bounds of means and the possible ranks."""

from __future__ import annotations

from collections.abc import Sequence

from rankscope.analysis.certain import Certain
from rankscope.errors import SettingsError
from rankscope.plots.bump import plot_bump
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_range
from rankscope.plots.palette import COLOURS, INK
from rankscope.plots.style import DOUBLE, canvas, shorten
from rankscope.tables import Table

_MAX_NAMED = 60
"""Number of runs up to which each has its name at the axis."""


def plot_certain(
    result: Certain, measure: str | None = None, highlight: Sequence[str] = (), *, width: float = DOUBLE
) -> Figure:
    """Draw the bounds of the mean of each run over all labels, and its possible ranks; dots are the current values.

    A rank is possible unless certain pairs exclude it: ties and labels cannot reverse these, and their differences are
    significant over topics. If ranks were followed (``across``), draw the bump chart
    (:func:`~rankscope.plots.plot_bump`), in which ``highlight`` names the runs in colour.

    Parameters
    ----------
    result
        Result of :func:`rankscope.certain`.
    measure
        Measure to draw (default: the first one).
    highlight
        Runs in colour.
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"d2": 2.0, "d1": 1.0}}}
    >>> found = rs.certain(rs.evaluate({"q": {"d1": 1, "d2": 0}}, runs, "RR"))
    >>> plot_certain(found).table.column("run")
    ['a', 'b']
    """
    if result.ranks is not None:
        return plot_bump(result, highlight, width=width)
    if highlight:
        raise SettingsError("runs are highlighted in the bump chart", hint="follow their ranks with across")
    measure_name = measure or result.runs[0].measure
    rows = [row for row in result.runs if row.measure == measure_name]
    height = 1.0 + 0.17 * min(len(rows), _MAX_NAMED) + 0.02 * max(0, len(rows) - _MAX_NAMED)
    with canvas(width, height, 1, 2, sharey=True) as (figure, (left, right)):
        for y, row in enumerate(rows, 1):
            ends = row.first_possible or y, row.last_possible or y
            low, high = (row.value if end is None else end for end in (row.lowest, row.highest))
            values, ranks = (left, COLOURS[0], row.value, low, high), (right, COLOURS[1], y, *ends)
            for axes, colour, current, first, last in (values, ranks):
                draw_range(
                    axes, first, last, y, color=colour, linewidth=3, alpha=0.55, solid_capstyle="round"
                )
                axes.plot([current], [y], "o", color=INK, markersize=3)
        if len(rows) <= _MAX_NAMED:
            left.set_yticks(range(1, len(rows) + 1), [shorten(row.run, 24) for row in rows])
        else:
            left.set_ylabel("rank by the mean")
        step = max(1, -(-len(rows) // 12))
        right.set(xlim=(0.5, len(rows) + 0.5), xticks=[1, *range(max(2, step), len(rows) + 1, step)])
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="y", visible=False)
        left.set(ylim=(len(rows) + 0.5, 0.5), xlabel=f"mean {measure_name}, and its bounds over labels")
        right.set_xlabel("rank and possible ranks")
    return Figure(figure, (left, right), Table("runs", result.runs.columns, rows))
