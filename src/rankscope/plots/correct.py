"""Corrected means of runs, with intervals over labels and over labels and topics."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from rankscope.analysis.correct import Corrected
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_dot, draw_range, name_rows
from rankscope.plots.palette import COLOURS
from rankscope.plots.style import SINGLE, canvas, choose, distinct, shorten


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
    measures = distinct(row.measure for row in result.means)
    measure_name = choose(measure, measures, "there are no corrected means of {}")
    rows = [row for row in result.means if row.measure == measure_name]
    with canvas(width, min(9.0, 0.7 + 0.17 * len(rows))) as (figure, axes):
        for index, row in enumerate(rows):
            for low, high, line in ((row.low_topics, row.high_topics, 0.8), (row.low, row.high, 2.2)):
                if isfinite(high - low):
                    draw_range(axes, low, high, index, linewidth=line)
            if isfinite(row.machine):
                draw_dot(axes, row.machine, index, COLOURS[1], False)
            draw_dot(axes, row.corrected, index, COLOURS[0], True)
        name_rows(axes, [shorten(row.run, 20) for row in rows])
        level = f"{100 * (1 - result.settings['alpha']):g} %"
        axes.set_xlabel(
            f"corrected {measure_name}, {level}: thick labels, thin labels and topics; open: machine"
        )
    return Figure(figure, (axes,), replace(result.means, rows=rows))
