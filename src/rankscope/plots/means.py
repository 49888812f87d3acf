"""Figure of the distribution of means of runs, by measure (Ferro et al. 2016, Figure 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.measures import Measure
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_box, name_rows
from rankscope.plots.palette import COLOURS, INK
from rankscope.plots.style import SINGLE, canvas, count, shorten
from rankscope.scores import ScoreMatrix, Scores
from rankscope.tables import Cell, Table

_LOWER = "↓"


def plot_means(scores: Scores | ScoreMatrix, *, width: float = SINGLE) -> Figure:
    """Draw one row per measure: a dot per run, and a box from the first to the third quartile with the median.

    Measures outside 0..1, such as counts, have an axis of their own. An arrow marks measures whose lower values are
    better. Dots at the same position are drawn side by side.

    Parameters
    ----------
    scores
        Scores of the runs.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> scores = rs.evaluate({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, ["AP", "RR"])
    >>> plot_means(scores).table.rows[:2]
    [('AP', 'a', 1.0), ('AP', 'b', 0.5)]
    """
    from rankscope.scores import as_scores

    scores = as_scores(scores)
    return draw_means(scores.runs, {measure: scores.mean(measure) for measure in scores.measures}, width)


def draw_means(runs: Sequence[str], by_measure: Mapping[Measure, Floats], width: float = SINGLE) -> Figure:
    """Draw the same figure from the means of the runs."""
    shares = [measure for measure, values in by_measure.items() if _is_share(values)]
    groups = [shares] * bool(shares) + [[measure] for measure in by_measure if measure not in shares]
    height = 0.45 + 0.42 * len(by_measure) + 0.33 * len(groups)
    ratios = [len(group) + 0.2 for group in groups]
    with canvas(width, height, len(groups), squeeze=False, height_ratios=ratios) as (figure, grid):
        panels = grid[:, 0]
        for panel, group in zip(panels, groups, strict=True):
            _draw(panel, {measure: by_measure[measure] for measure in group}, width)
            kinds = " or ".join(dict.fromkeys(measure.summary for measure in group))
            note = f"; {_LOWER}: lower is better" if any(m.better == "lower" for m in group) else ""
            panel.set_xlabel(f"{kinds} over topics, {count(len(runs), 'run')}{note}")
    rows: list[tuple[Cell, ...]] = [
        (str(measure), run, float(value))
        for measure, values in by_measure.items()
        for run, value in zip(runs, values, strict=True)
    ]
    return Figure(figure, tuple(panels), Table("means", ("measure", "run", "value"), rows))


def _row_name(measure: Measure) -> str:
    return shorten(str(measure), 26) + (f" {_LOWER}" if measure.better == "lower" else "")


def _is_share(values: Floats) -> bool:
    defined = values[np.isfinite(values)]
    return bool((defined >= 0).all() and (defined <= 1).all())


def _draw(axes: Any, means: dict[Measure, Floats], width: float) -> None:
    box: Any = {"facecolor": "#dfe8ee", "edgecolor": "#7a8a94", "linewidth": 0.6}
    bar: Any = {"color": INK, "linewidth": 1.4, "solid_capstyle": "butt", "zorder": 4}
    for row, (measure, values) in enumerate(means.items()):
        defined = values[np.isfinite(values)]
        if len(defined):
            low, median, high = np.quantile(defined, [0.25, 0.5, 0.75])
            draw_box(axes, low, row - 0.34, high - low, 0.68, **box)
            axes.plot([median, median], [row - 0.34, row + 0.34], **bar)
        span = float(np.ptp(defined)) if len(defined) and not _is_share(values) else 1.0
        axes.plot(
            values, row + _stack_dots(values, max(span, 1e-12) * 0.012 * 3.4 / width), linestyle="none", marker="o",
            markersize=2.6, markerfacecolor=COLOURS[0], markeredgecolor="white", markeredgewidth=0.25, clip_on=False,
            zorder=3, gid=str(measure),
        )  # fmt: skip
    name_rows(axes, list(map(_row_name, means)))
    if all(_is_share(values) for values in means.values()):
        axes.set_xlim(0, 1)


def _stack_dots(values: Floats, gap: float) -> Floats:
    """Return heights between -0.3 and 0.3 at which dots closer than ``gap`` do not overlap."""
    heights = np.zeros(len(values))
    order = np.argsort(values, kind="stable")
    level, first = 0, -np.inf
    for index in order[np.isfinite(values[order])].tolist():
        level = level + 1 if values[index] - first < gap else 0
        if level == 0:
            first = values[index]
        heights[index] = ((level + 1) // 2) * (0.09 if level % 2 else -0.09)
    largest = float(np.abs(heights).max(initial=0.0))
    return heights if largest <= 0.3 else heights * (0.3 / largest)
