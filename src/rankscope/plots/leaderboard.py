"""The leaderboard with confidence intervals of means and ranks."""

from math import isfinite

from rankscope.analysis.leaderboard import Leaderboard
from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK, QUIET
from rankscope.plots.style import SINGLE, choose_measure


def plot_leaderboard(result: Leaderboard, measure: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw a row per run, best first: its mean, Student's interval, and on the right the interval of its rank.

    Runs that are tied for first have filled dots. With more than 40 runs, the others share a row.

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
    measure_name, rows = choose_measure(result.leaderboard, measure, "the leaderboard has no {}")
    with marks.row_figure(rows, width, "run", "value") as (axes, shown):
        for index, row in enumerate(shown):
            if isfinite(row.high - row.low):
                marks.draw_range(axes, row.low, row.high, index, linewidth=1.1)
            if isfinite(row.value):
                marks.draw_dot(axes, row.value, index, COLOURS[0], row.tied_for_first)
            if row.rank is not None:
                marks.write_at_right(axes, index, row.rank_range, fontsize=7, color=INK)
        axes.set_title("ranks", loc="right", fontsize=7)
        axes.set_xlabel(f"mean {measure_name}")
        level = f"{100 * (1 - result.settings['alpha']):g} %"
        legend = [
            marks.legend_dot("tied for first", COLOURS[0]),
            marks.legend_dot("other run", COLOURS[0], markerfacecolor="white"),
            marks.legend_line(f"{level} interval, unadjusted", color=QUIET, linewidth=1.1),
        ]
        marks.legend_below(axes.figure, legend, 3)
    table = result.leaderboard.subset("leaderboard", rows, result.leaderboard.caption)
    return Figure(axes.figure, (axes,), table)
