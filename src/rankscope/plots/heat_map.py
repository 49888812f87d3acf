"""Every run on every topic: where a good run fails, and which topics are hard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.style import DOUBLE, blank, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.scores import Scores

__all__ = ["plot_heat_map"]

_NAMED = 60
"""Rows or columns up to which each has its name."""


def plot_heat_map(scores: Scores, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """Runs down, best first, topics across, easiest first; darker is a better value. ``measure`` is the first one.

    >>> import rankscope as rs
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> plot_heat_map(rs.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, runs, ["AP"])).table.rows[0]
    ('good', 'q1', 1.0)
    """
    chosen = scores.matrix(scores.measures[0] if measure is None else measure)
    merit = chosen.measure.merit(chosen.values)
    down = chosen.measure.best_first(scores.mean(chosen.measure))
    level = [float(np.nanmean(c)) if np.isfinite(c).any() else -np.inf for c in merit.T]
    across = np.argsort([-one for one in level], kind="stable")
    values = chosen.values[down][:, across]
    runs, topics = [chosen.runs[r] for r in down], [chosen.topics[t] for t in across]
    with styled():
        figure = blank(width, min(9.0, 1.4 + 0.13 * len(runs)))
        axes = figure.subplots()
        colours = "Greys" if chosen.measure.sign >= 0 else "Greys_r"
        image = axes.imshow(values, aspect="auto", cmap=colours, interpolation="nearest")
        if len(runs) <= _NAMED:
            axes.set_yticks(range(len(runs)), [short(run, 24) for run in runs], fontsize=6)
        else:
            axes.set_ylabel(f"{len(runs):,} runs, best first")
        if len(topics) <= _NAMED:
            axes.set_xticks(
                range(len(topics)), [short(topic, 12) for topic in topics], rotation=90, fontsize=5.5
            )
        else:
            axes.set_xticks([])
        axes.set_xlabel(f"{len(topics):,} topics, easiest first")
        axes.grid(visible=False)
        figure.colorbar(image, ax=axes, label=str(chosen.measure), fraction=0.03, pad=0.01)
    rows = [(run, topic, float(values[r, t])) for r, run in enumerate(runs) for t, topic in enumerate(topics)]
    return Figure(figure, (axes,), Table("heat_map", ("run", "topic", str(chosen.measure)), rows))
