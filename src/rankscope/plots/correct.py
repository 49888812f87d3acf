"""Corrected means of runs, with intervals over labels and over labels and topics."""

from __future__ import annotations

from math import isfinite

from rankscope.analysis.correct import Corrected
from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, QUIET
from rankscope.plots.style import SINGLE, choose_measure


def plot_corrected(result: Corrected, measure: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw a row per run, best first: machine mean (open dot), corrected mean, and its two intervals.

    The thick line is the interval over labels, the thin one that over labels and topics.

    Parameters
    ----------
    result
        Result of :func:`rankscope.correct`.
    measure
        Measure to draw (default: the first one).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> machine = {f"q{i}": {"a": 1, "b": i % 2} for i in range(4)}
    >>> runs = {"x": {f"q{i}": ["a"] for i in range(4)}, "y": {f"q{i}": ["b"] for i in range(4)}}
    >>> result = rs.correct(rs.evaluate(machine, runs, "P@1"), {"q1": {"a": 0}, "q2": {"b": 1}}, pi=0.5)
    >>> len(plot_corrected(result).table)
    2
    """
    measure_name, rows = choose_measure(result.means, measure, "there are no corrected means of {}")
    with marks.row_figure(rows, width, "run", "corrected") as (axes, shown):
        for index, row in enumerate(shown):
            for low, high, line in ((row.low_topics, row.high_topics, 0.8), (row.low, row.high, 2.2)):
                if isfinite(high - low):
                    marks.draw_range(axes, low, high, index, linewidth=line)
            if isfinite(row.machine):
                marks.draw_dot(axes, row.machine, index, COLOURS[1], False)
            marks.draw_dot(axes, row.corrected, index, COLOURS[0], True)
        axes.set_xlabel(f"mean {measure_name}")
        level = f"{100 * (1 - result.settings['alpha']):g} %"
        legend = [
            marks.legend_dot("corrected", COLOURS[0]),
            marks.legend_dot("by machine labels", COLOURS[1], markerfacecolor="white"),
            marks.legend_line(f"{level}: labels", color=QUIET, linewidth=2.2),
            marks.legend_line(f"{level}: labels and topics", color=QUIET, linewidth=0.8),
        ]
        marks.legend_below(axes.figure, legend, 2)
    table = result.means.subset("means", rows, result.means.caption)
    return Figure(axes.figure, (axes,), table)
