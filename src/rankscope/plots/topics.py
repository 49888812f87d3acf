"""Figure of a measure on each topic: range and median of all runs, and highlighted runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_line, name_columns, name_rows
from rankscope.plots.palette import INK, MARKERS, QUIET, series
from rankscope.plots.style import (
    SINGLE,
    canvas,
    choose_highlighted,
    count,
    finite_or_zero,
    shorten,
    shorten_all,
)
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

_MAX_ROWS = 60
"""Number of topics up to which each has a row; more are columns of a band, by ascending median."""


def plot_topics(
    scores: Scores, measure: str | None = None, highlight: Sequence[str] = (), *, width: float = SINGLE
) -> Figure:
    """Draw a row per topic: the line spans all runs, and the open dot is the median run.

    More than 60 topics are drawn side by side instead, by ascending median.

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
    has_rows = len(rows) <= _MAX_ROWS
    if not has_rows:
        rows.sort(key=lambda row: finite_or_zero(row[2]))
    height = (0.95 + 0.13 * len(rows) if has_rows else 2.6) + 0.13 * -(-len(coloured) // 2)
    with canvas(width, height) as (figure, axes):
        numbers = np.array([row[1:] for row in rows], np.float64).reshape(len(rows), 3 + len(own))
        position = np.arange(len(rows))
        spans = axes.hlines if has_rows else axes.vlines
        spans(position, numbers[:, 0], numbers[:, 2], color=QUIET, linewidth=1.4 if has_rows else 0.6)
        size = 1.0 if has_rows else 0.5

        def draw(values: Floats, **style: Any) -> list[Any]:
            points = (values, position) if has_rows else (position, values)
            return list(axes.plot(*points, linestyle="none", **style))

        span = f"lowest to highest of {count(len(matrix.runs), 'run')}"
        handles = [legend_line(span, color=QUIET, linewidth=1.4)]
        handles += draw(
            numbers[:, 1], marker="o", markersize=4 * size, markerfacecolor="white", markeredgecolor=INK,
            markeredgewidth=size, label="median run", zorder=3,
        )  # fmt: skip
        for k, run in enumerate(coloured):
            handles += draw(
                numbers[:, 3 + k], marker=MARKERS[(k + 1) % len(MARKERS)], markersize=3.4 * size**0.5,
                color=series(k)["color"], markeredgecolor="white", markeredgewidth=0.3, label=shorten(run, 20),
                zorder=4,
            )  # fmt: skip
        if has_rows:
            name_rows(axes, shorten_all((row[0] for row in rows), 16), fontsize=6)
            axes.set_xlabel(str(matrix.measure))
            if float(matrix.measure.range[0]) == 0:
                axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
        else:
            name_columns(axes, [str(row[0]) for row in rows], width / 2)
            axes.set(xlim=(-1, len(rows)), xlabel=f"{len(rows):,} topics, by ascending median")
            axes.set_ylabel(str(matrix.measure))
            axes.grid(axis="x", visible=False)
        legend_below(figure, handles, 2)
    columns = ("topic", "lowest", "median", "highest", *coloured)
    return Figure(figure, (axes,), Table("topics", columns, rows))
