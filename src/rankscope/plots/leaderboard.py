"""The leaderboard with confidence intervals of means and ranks."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from rankscope.analysis.leaderboard import Leaderboard
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_dot, draw_range, name_rows, write_at_right
from rankscope.plots.palette import COLOURS, INK
from rankscope.plots.style import SINGLE, canvas, choose, distinct, shorten


def plot_leaderboard(result: Leaderboard, measure: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw a row per run, best first: its mean, Student's interval, and on the right the interval of its rank.

    Runs that are tied for first have filled dots.

    Parameters
    ----------
    result
        Result of :func:`rankscope.leaderboard`.
    measure
        Measure to draw (default: the first one).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> board = rs.leaderboard(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]))
    >>> [text.get_text() for text in plot_leaderboard(board).axes[0].texts]
    ['1', '2']
    """
    measures = distinct(row.measure for row in result.leaderboard)
    measure_name = choose(measure, measures, "the leaderboard has no {}")
    rows = [row for row in result.leaderboard if row.measure == measure_name]
    with canvas(width, min(9.0, 0.7 + 0.17 * len(rows))) as (figure, axes):
        for index, row in enumerate(rows):
            if isfinite(row.high - row.low):
                draw_range(axes, row.low, row.high, index, linewidth=1.1)
            if isfinite(row.value):
                draw_dot(axes, row.value, index, COLOURS[0], row.tied_for_first)
            if row.rank is not None:
                write_at_right(axes, index, row.rank_range, fontsize=7, color=INK)
        name_rows(axes, [shorten(row.run, 20) for row in rows])
        level = f"{100 * (1 - result.settings['alpha']):g} %"
        axes.set_xlabel(f"mean {measure_name}, {level} intervals (unadjusted); right: ranks")
    return Figure(figure, (axes,), replace(result.leaderboard, rows=rows))
