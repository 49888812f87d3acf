"""Figure of a measure on each topic: range and median of all runs, and highlighted runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, name_rows
from rankscope.plots.palette import INK, MARKERS, QUIET, series
from rankscope.plots.style import SINGLE, canvas, choose_highlighted, count, shorten
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

_MAX_NAMED = 90
"""Number of topics up to which each has its name."""


def plot_topics(
    scores: Scores, measure: str | None = None, highlight: Sequence[str] = (), *, width: float = SINGLE
) -> Figure:
    """Draw a row per topic: the line spans all runs, and the open dot is the median run.

    Parameters
    ----------
    scores
        Scores of the runs.
    measure
        Measure to draw (default: the first one).
    highlight
        Runs with marks of their own.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> plot_topics(rs.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, runs, ["AP"]), highlight=["good"]).table.rows
    [('q1', 0.5, 0.75, 1.0, 1.0), ('q2', 0.0, 0.5, 1.0, 1.0)]
    """
    matrix = scores.matrix(scores.measures[0] if measure is None else measure)
    coloured = choose_highlighted(list(matrix.runs), highlight, [])
    own = [matrix.values[list(matrix.runs).index(run)] for run in coloured]
    rows: list[tuple[Cell, ...]] = []
    for t, topic in enumerate(matrix.topics):
        defined = matrix.values[:, t][~np.isnan(matrix.values[:, t])]
        ends = np.quantile(defined, [0, 0.5, 1]).tolist() if len(defined) else [float("nan")] * 3
        rows.append((topic, *ends, *(float(values[t]) for values in own)))
    height = min(9.0, 0.75 + 0.13 * len(rows) + 0.13 * -(-len(coloured) // 2))
    with canvas(width, height) as (figure, axes):
        numbers = np.array([row[1:] for row in rows], np.float64).reshape(len(rows), 3 + len(own))
        y = np.arange(len(rows))
        axes.hlines(y, numbers[:, 0], numbers[:, 2], color=QUIET, linewidth=1.4)
        handles = axes.plot(
            numbers[:, 1], y, "o", markersize=4, markerfacecolor="white", markeredgecolor=INK, label="median run",
            zorder=3,
        )  # fmt: skip
        for k, run in enumerate(coloured):
            handles += axes.plot(
                numbers[:, 3 + k], y, linestyle="none", marker=MARKERS[(k + 1) % len(MARKERS)], markersize=3.4,
                color=series(k)["color"], markeredgecolor="white", markeredgewidth=0.3, label=shorten(run, 20),
                zorder=4,
            )  # fmt: skip
        name_rows(axes, [shorten(str(row[0]), 16) for row in rows], fontsize=6)
        if len(rows) > _MAX_NAMED:
            axes.set_yticks([])
            axes.set_ylabel(f"{len(rows):,} topics")
        if float(matrix.measure.range[0]) == 0:
            axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
        runs = count(len(matrix.runs), "run")
        axes.set_xlabel(f"{matrix.measure} of {runs}, from the lowest to the highest")
        legend_below(figure, handles, 2)
    columns = ("topic", "lowest", "median", "highest", *coloured)
    return Figure(figure, (axes,), Table("topics", columns, rows))
