"""Figure of a leaderboard with the bounds of means and the possible ranks."""

from __future__ import annotations

from collections.abc import Sequence

from rankscope.analysis.certain import Certain
from rankscope.errors import SettingsError
from rankscope.plots import marks
from rankscope.plots.bump import plot_bump
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK, UNJUDGED
from rankscope.plots.style import DOUBLE, canvas
from rankscope.tables import Table


def plot_certain(
    result: Certain, measure: str | None = None, highlight: Sequence[str] = (), *, width: float = DOUBLE
) -> Figure:
    """Draw the bounds of the mean of each run over all labels, and its possible ranks; dots are the current values.

    If there are more than 40 runs, the remaining ones share a row.

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
    shown, rest = marks.split_rows(rows)
    look = {"linewidth": 3, "alpha": 0.55}
    with canvas(width, marks.rows_height(shown, rest, 1.0), 1, 2, sharey=True) as (figure, (left, right)):
        for y, row in enumerate(shown):
            ends = row.first_possible or y + 1, row.last_possible or y + 1
            low, high = (row.value if end is None else end for end in (row.lowest, row.highest))
            values, ranks = (left, UNJUDGED, row.value, low, high), (right, COLOURS[0], y + 1, *ends)
            for axes, colour, current, first, last in (values, ranks):
                marks.draw_range(axes, first, last, y, color=colour, **look, solid_capstyle="round")
                axes.plot([current], [y], "o", color=INK, markersize=3)
        values_of_rest = [end for row in rest for end in (row.value, row.lowest, row.highest)]
        ranks_of_rest = [end for row in rest for end in (row.first_possible, row.last_possible)]
        marks.draw_rest(left, len(shown), values_of_rest, UNJUDGED)
        marks.draw_rest(right, len(shown), ranks_of_rest, COLOURS[0])
        marks.name_runs(left, [row.run for row in shown], len(rest))
        right.tick_params(axis="y", length=0)
        right.grid(axis="y", visible=False)
        left.set_xlabel(f"mean {measure_name}")
        right.set(xlim=(0.5, len(rows) + 0.5), xlabel="rank")
        marks.limit_ticks(left.xaxis, 3 if width < 4 else 5, integer=False)
        marks.limit_ticks(right.xaxis, 5)
        legend = [
            marks.legend_line("current value", color=INK, marker="o", markersize=3, linestyle="none"),
            marks.legend_line("bounds over labels", color=UNJUDGED, **look),
            marks.legend_line("possible ranks", color=COLOURS[0], **look),
        ]
        marks.legend_below(figure, legend, 3)
    return Figure(figure, (left, right), Table("runs", result.runs.columns, rows))
