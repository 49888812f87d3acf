"""The distribution of the runs' means, measure by measure (Ferro and others 2016, Figure 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, INK, SINGLE, blank, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.measures import Measure
    from rankscope.scores import ScoreMatrix, Scores

__all__ = ["draw_means", "plot_means"]

Floats = npt.NDArray[np.float64]

_LOWER = "↓"


def plot_means(scores: Scores | ScoreMatrix, *, width: float = SINGLE) -> Figure:
    """One row per measure: a dot per run, and a box from the first to the third quartile with a bar at the median.

    Measures that are not within 0..1, such as counts, get an axis of their own; an arrow marks those of which lower
    values are better. Dots at the same place are put side by side.

    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, ["AP", "RR"])
    >>> plot_means(scores).table.rows[:2]
    [('AP', 'a', 1.0), ('AP', 'b', 0.5)]
    """
    from rankscope.scores import as_scores

    scores = as_scores(scores)
    return draw_means(scores.runs, {measure: scores.mean(measure) for measure in scores.measures}, width)


def draw_means(runs: Sequence[str], by_measure: Mapping[Measure, Floats], width: float = SINGLE) -> Figure:
    """The same from the means themselves, one of each run."""
    means = {str(measure): values for measure, values in by_measure.items()}
    together = [name for name, values in means.items() if _is_share(values)]
    alone = [name for name in means if name not in together]
    groups = ([together] if together else []) + [[name] for name in alone]
    with styled():
        figure = blank(width, 0.45 + 0.42 * len(means) + 0.33 * len(groups))
        panels = figure.subplots(
            len(groups), 1, squeeze=False, height_ratios=[len(group) + 0.2 for group in groups]
        )[:, 0]
        for panel, group in zip(panels, groups, strict=True):
            mine = [m for m in by_measure if str(m) in group]
            _draw(panel, {str(m): means[str(m)] for m in mine}, width)
            panel.set_yticks(range(len(mine)), [_titled(m) for m in mine])
            kinds = " or ".join(dict.fromkeys(m.summary for m in mine))
            note = f"; {_LOWER}: lower is better" if any(m.better == "lower" for m in mine) else ""
            number = f"{len(runs):,} run{'s' if len(runs) != 1 else ''}"
            panel.set_xlabel(f"{kinds} over topics, {number}{note}")
    rows: list[tuple[Cell, ...]] = [
        (name, run, float(value))
        for name, values in means.items()
        for run, value in zip(runs, values, strict=True)
    ]
    return Figure(figure, tuple(panels), Table("means", ("measure", "run", "value"), rows))


def _titled(measure: Measure) -> str:
    return short(str(measure), 26) + (f" {_LOWER}" if measure.better == "lower" else "")


def _is_share(values: Floats) -> bool:
    defined = values[np.isfinite(values)]
    return bool((defined >= 0).all() and (defined <= 1).all())


def _draw(axes: Any, means: dict[str, Floats], width: float) -> None:
    from matplotlib.patches import Rectangle

    for row, (name, values) in enumerate(means.items()):
        defined = values[np.isfinite(values)]
        if len(defined):
            low, middle, high = np.quantile(defined, [0.25, 0.5, 0.75])
            axes.add_patch(
                Rectangle(
                    (low, row - 0.34),
                    high - low,
                    0.68,
                    facecolor="#dfe8ee",
                    edgecolor="#7a8a94",
                    linewidth=0.6,
                )
            )
            axes.plot(
                [middle, middle],
                [row - 0.34, row + 0.34],
                color=INK,
                linewidth=1.4,
                solid_capstyle="butt",
                zorder=4,
            )
        reach = float(np.ptp(defined)) if len(defined) and not _is_share(values) else 1.0
        axes.plot(
            values, row + _side_by_side(values, max(reach, 1e-12) * 0.012 * 3.4 / width), linestyle="none", marker="o",
            markersize=2.6, markerfacecolor=COLOURS[0], markeredgecolor="white", markeredgewidth=0.25, clip_on=False,
            zorder=3, gid=name,
        )  # fmt: skip
    axes.set_ylim(len(means) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    if all(_is_share(values) for values in means.values()):
        axes.set_xlim(0, 1)


def _side_by_side(values: Floats, apart: float) -> Floats:
    """Heights between -0.3 and 0.3 at which dots closer than ``apart`` do not cover each other."""
    heights = np.zeros(len(values))
    order = np.argsort(values, kind="stable")
    stack, last = 0, -np.inf
    for place in order[np.isfinite(values[order])].tolist():
        stack = stack + 1 if values[place] - last < apart else 0
        if stack == 0:
            last = values[place]
        heights[place] = ((stack + 1) // 2) * (0.09 if stack % 2 else -0.09)
    most = float(np.abs(heights).max(initial=0.0))
    return heights if most <= 0.3 else heights * (0.3 / most)
