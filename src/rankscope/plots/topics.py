"""A measure on every topic: the span of all runs, the median run, and chosen runs among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.style import (
    INK,
    MARKERS,
    QUIET,
    SINGLE,
    blank,
    highlighted,
    legend_below,
    series,
    short,
    styled,
)
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.scores import Scores

__all__ = ["plot_topics"]

_NAMED = 90
"""Topics up to which each has its name."""


def plot_topics(
    scores: Scores, measure: str | None = None, highlight: Sequence[str] = (), *, width: float = SINGLE
) -> Figure:
    """A row per topic: the line spans all runs, the open dot is the median run. ``measure`` is the first one.

    ``highlight`` says which runs have marks of their own; none, unless set.

    >>> import rankscope as rs
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> plot_topics(rs.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, runs, ["AP"]), highlight=["good"]).table.rows
    [('q1', 0.5, 0.75, 1.0, 1.0), ('q2', 0.0, 0.5, 1.0, 1.0)]
    """
    chosen = scores.matrix(scores.measures[0] if measure is None else measure)
    coloured = highlighted(list(chosen.runs), highlight, [])
    own = [chosen.values[list(chosen.runs).index(run)] for run in coloured]
    rows: list[tuple[Cell, ...]] = []
    for t, topic in enumerate(chosen.topics):
        known = chosen.values[:, t][~np.isnan(chosen.values[:, t])]
        ends = np.quantile(known, [0, 0.5, 1]).tolist() if len(known) else [float("nan")] * 3
        rows.append((topic, *ends, *(float(values[t]) for values in own)))
    with styled():
        figure = blank(width, min(9.0, 0.75 + 0.13 * len(rows) + 0.13 * -(-len(coloured) // 2)))
        axes = figure.subplots()
        numbers = np.array([row[1:] for row in rows], np.float64).reshape(len(rows), 3 + len(own))
        places = np.arange(len(rows))
        axes.hlines(places, numbers[:, 0], numbers[:, 2], color=QUIET, linewidth=1.4)
        dots, *_ = axes.plot(
            numbers[:, 1], places, "o", markersize=4, markerfacecolor="white", markeredgecolor=INK,
            label="median run", zorder=3,
        )  # fmt: skip
        handles = [dots]
        for k, run in enumerate(coloured):
            handles += axes.plot(
                numbers[:, 3 + k], places, linestyle="none", marker=MARKERS[(k + 1) % len(MARKERS)], markersize=3.4,
                color=series(k)["color"], markeredgecolor="white", markeredgewidth=0.3, label=short(run, 20), zorder=4,
            )  # fmt: skip
        if len(rows) <= _NAMED:
            axes.set_yticks(places, [short(str(row[0]), 16) for row in rows], fontsize=6)
        else:
            axes.set_yticks([])
            axes.set_ylabel(f"{len(rows):,} topics")
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        if float(chosen.measure.range[0]) == 0:
            axes.set_xlim(left=-0.02 * axes.get_xlim()[1])
        many = f"{len(chosen.runs):,} run{'s' if len(chosen.runs) != 1 else ''}"
        axes.set_xlabel(f"{chosen.measure} of {many}, from the lowest to the highest")
        legend_below(figure, handles, 2)
    columns = ("topic", "lowest", "median", "highest", *coloured)
    return Figure(figure, (axes,), Table("topics", columns, rows))
