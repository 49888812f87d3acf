"""Heat map of the values of runs on topics."""

from __future__ import annotations

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.marks import name_columns
from rankscope.plots.palette import EXACT, GAIN
from rankscope.plots.style import DOUBLE, canvas, count, is_wide, shorten_all
from rankscope.scores import Scores
from rankscope.tables import Table

_ROW = 0.085
"""Height of a name in inches; of more runs than fit, some have their names."""


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
    height = min(6.5, 1.4 + 0.11 * len(runs))
    with canvas(width, height) as (figure, axes):
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("gain", ["#ffffff", GAIN]).with_extremes(bad=EXACT)
        colours = shades if matrix.measure.sign >= 0 else shades.reversed()
        image = axes.imshow(values, aspect="auto", cmap=colours, interpolation="nearest")
        step = -(-len(runs) // int((height - 1.1) / _ROW))
        named = range(0, len(runs), step)
        names = shorten_all((runs[k] for k in named), 24 if is_wide(width) else 14)
        axes.set_yticks(list(named), names, fontsize=5.5)
        name_columns(axes, topics, width - 0.7)
        axes.set_ylabel(f"{count(len(runs), 'run')}, best first")
        axes.set_xlabel(f"{count(len(topics), 'topic')}, easiest first")
        axes.grid(visible=False)
        figure.colorbar(image, ax=axes, label=str(matrix.measure), fraction=0.05, pad=0.01, aspect=30)
    rows = [(run, topic, float(values[r, t])) for r, run in enumerate(runs) for t, topic in enumerate(topics)]
    return Figure(figure, (axes,), Table("heat_map", ("run", "topic", str(matrix.measure)), rows))
