"""Figures of the certainty of ranks: intervals, and ranks by several orders."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rankscope.analysis.certain import Certain
from rankscope.errors import SettingsError
from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK, QUIET, UNJUDGED, series
from rankscope.plots.style import DOUBLE, blank, canvas, choose_highlighted, count, distinct, group, shorten
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
        right.set_xlabel("rank")
        marks.limit_ticks(left.xaxis, 3 if width < 4 else 5, integer=False)
        marks.linear_ranks(right, len(rows), 3 if width < 4 else 6)
        legend = [
            marks.legend_dot("current value", INK, markersize=3),
            marks.legend_line("bounds over labels", color=UNJUDGED, **look),
            marks.legend_line("possible ranks", color=COLOURS[0], **look),
        ]
        marks.legend_below(figure, legend, 3)
    return Figure(figure, (left, right), Table("runs", result.runs.columns, rows))


_LEADERS = 6
"""Maximum number of leading runs for which each is named."""

_MANY, _FIRST = 60, 10
"""Number of runs above which the first ones of the first order are named as well, and how many of them; as in the
report."""


def plot_bump(result: Certain, highlight: Sequence[str] = (), *, width: float = DOUBLE) -> Figure:
    """Draw every run as a line through its ranks, best on top; the fewer lines cross, the more stable the order.

    Bars on the left are the confidence intervals of the ranks of runs in colour over topics. ``highlight`` names the
    runs in colour (default: the best ones by the first order). Runs that lead by another order are dark, with names,
    and of more than 60 runs the first ten.

    Parameters
    ----------
    result
        Result of :func:`rankscope.certain` with ``across``.
    highlight
        Runs in colour (default: the best ones by the first order).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a", "n"]}, "y": {"q": ["n", "a", "b"]}}
    >>> scores = rs.evaluate({"q": {"a": 1, "b": 1}}, runs, ["RR", "R@5"])
    >>> plot_bump(rs.certain(scores, across="measures")).table.columns
    ('run', 'by', 'value', 'rank', 'first_rank', 'last_rank')
    """
    if result.ranks is None:
        raise SettingsError("ranks were not followed", hint="set across: measures, cutoffs, pools or samples")
    columns = distinct(row.by for row in result.ranks)
    ranks = group((row.run, row.rank) for row in result.ranks)
    ends = {row.run: (row.first_rank, row.last_rank) for row in result.runs}
    coloured = choose_highlighted(list(ranks), highlight, sorted(ranks, key=lambda run: ranks[run][0]))
    height = min(6.5, max(1.3, 0.15 * len(ranks)))
    with blank(width, height + 0.75) as figure:
        from matplotlib import rcParams

        # A title that the caller adds goes above the ticks, which are at the top.
        rcParams["axes.titley"] = None
        axes = figure.subplots()
        pale = 0.8 if len(ranks) < 40 else 0.4
        for run, run_ranks in ranks.items():
            if run not in coloured:
                axes.plot(run_ranks, color=QUIET, linewidth=0.5, alpha=pale, zorder=1)
        leaders = _leaders(result, ranks, coloured)
        for run in leaders:
            axes.plot(ranks[run], color=INK, linewidth=0.8, zorder=2)
        for k, run in enumerate(coloured):
            style = {**series(k), "linewidth": 1.5, "markersize": 3.8, "zorder": 3}
            axes.plot(ranks[run], **style, clip_on=False, gid=run)
            _range(axes, k, ends[run])
        _scales(axes, columns, len(ranks), len(coloured), width)
        named = [(ranks[run][-1], run, series(k)["color"]) for k, run in enumerate(coloured)]
        named += [(ranks[run][-1], run, INK) for run in leaders]
        rest = [ranks[run][-1] for run in ranks if run not in (*coloured, *leaders)]
        named += [(max(rest, default=0.0), count(len(rest), "more run"), QUIET)] * bool(rest)
        marks.name_lines(axes, named, 0.115 * len(ranks) / height)
    rows = [(*row, *ends[row.run]) for row in result.ranks]
    return Figure(figure, (axes,), Table("ranks", (*result.ranks.columns, "first_rank", "last_rank"), rows))


def _leaders(result: Certain, ranks: dict[str, list[float]], coloured: Sequence[str]) -> list[str]:
    """Return the first of many runs, and those that are first in at least one order unless they are too many."""
    first = sorted(ranks, key=lambda run: ranks[run][0])
    leaders = list(dict.fromkeys([first[0], *(row.best for row in result.changes or ())]))
    named = (first[:_FIRST] if len(ranks) > _MANY else []) + (leaders if len(leaders) <= _LEADERS else [])
    return [run for run in dict.fromkeys(named) if run not in coloured]


def _range(axes: Any, k: int, ends: tuple[Any, Any]) -> None:
    """Draw the interval of the rank of a run as a bar to the left of the first order."""
    if None in ends:
        return
    look = {"color": series(k)["color"], "linewidth": 1.8, "solid_capstyle": "butt", "clip_on": False}
    x = -0.012 - 0.008 * k
    axes.plot([x, x], [ends[0] - 0.35, ends[1] + 0.35], transform=axes.get_yaxis_transform(), **look)


def _scales(axes: Any, columns: Sequence[str], runs: int, bars: int, width: float) -> None:
    wide = max((len(a) + len(b)) / 2 for a, b in pairwise([*columns, ""]))
    is_turned = wide * (len(columns) - 1) > 11 * (width - 2)  # letters that fit above the axes
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), [shorten(name, 24) for name in columns])
    if is_turned:
        axes.tick_params(axis="x", labelrotation=90)
    axes.set(xlim=(0, max(1, len(columns) - 1)), yticks=marks.rank_ticks(runs), ylim=(runs + 0.5, 0.5))
    axes.tick_params(axis="y", length=0, pad=8 + 2.8 * bars)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_ylabel("rank\n(bars: 95 % over topics)")
