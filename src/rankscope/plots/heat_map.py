"""Heat map of the values of runs on topics."""

from __future__ import annotations

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.style import DOUBLE, canvas, shorten
from rankscope.scores import Scores
from rankscope.tables import Table

_MAX_NAMED = 60
"""Number of rows or columns up to which each has its name."""


def plot_heat_map(scores: Scores, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw the value of each run (rows, best first) on each topic (columns, easiest first); darker is better.

    Parameters
    ----------
    scores
        Scores of the runs.
    measure
        Measure to draw (default: the first one).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> plot_heat_map(rs.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, runs, ["AP"])).table.rows[0]
    ('good', 'q1', 1.0)
    """
    matrix = scores.matrix(scores.measures[0] if measure is None else measure)
    merit = matrix.measure.merit(matrix.values)
    down = matrix.measure.best_first(scores.mean(matrix.measure))
    levels = np.array([np.nanmean(topic) if np.isfinite(topic).any() else -np.inf for topic in merit.T])
    across = np.argsort(-levels, kind="stable")
    values = matrix.values[down][:, across]
    runs, topics = [matrix.runs[r] for r in down], [matrix.topics[t] for t in across]
    with canvas(width, min(9.0, 1.4 + 0.13 * len(runs))) as (figure, axes):
        colours = "Greys" if matrix.measure.sign >= 0 else "Greys_r"
        image = axes.imshow(values, aspect="auto", cmap=colours, interpolation="nearest")
        if len(runs) <= _MAX_NAMED:
            axes.set_yticks(range(len(runs)), [shorten(run, 24) for run in runs], fontsize=6)
        else:
            axes.set_ylabel(f"{len(runs):,} runs, best first")
        if len(topics) <= _MAX_NAMED:
            names = [shorten(topic, 12) for topic in topics]
            axes.set_xticks(range(len(topics)), names, rotation=90, fontsize=5.5)
        else:
            axes.set_xticks([])
        axes.set_xlabel(f"{len(topics):,} topics, easiest first")
        axes.grid(visible=False)
        figure.colorbar(image, ax=axes, label=str(matrix.measure), fraction=0.03, pad=0.01)
    rows = [(run, topic, float(values[r, t])) for r, run in enumerate(runs) for t, topic in enumerate(topics)]
    return Figure(figure, (axes,), Table("heat_map", ("run", "topic", str(matrix.measure)), rows))
