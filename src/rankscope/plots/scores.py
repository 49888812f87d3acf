"""Figures of scores: means of runs, every run on every topic, and a measure on each topic."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.measures import Measure
from rankscope.plots import style
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_box, legend_below, legend_line, name_columns, name_rows
from rankscope.plots.palette import COLOURS, EXACT, GAIN, INK, LOSS, MARKERS, QUIET, series
from rankscope.scores import ScoreMatrix, Scores
from rankscope.tables import Cell, Table

_LOWER = "↓"


def plot_means(scores: Scores | ScoreMatrix, *, width: float = style.SINGLE) -> Figure:
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


def draw_means(runs: Sequence[str], means: Mapping[Measure, Floats], width: float = style.SINGLE) -> Figure:
    """Draw the same figure from the means of the runs."""
    shares = [measure for measure, values in means.items() if _is_share(values)]
    groups = [shares] * bool(shares) + [[measure] for measure in means if measure not in shares]
    height = 0.6 + 0.42 * len(means) + 0.33 * len(groups)
    ratios = [len(group) + 0.2 for group in groups]
    with style.canvas(width, height, len(groups), squeeze=False, height_ratios=ratios) as (figure, grid):
        panels = grid[:, 0]
        for panel, group in zip(panels, groups, strict=True):
            _draw(panel, {measure: means[measure] for measure in group}, width)
            kinds = " or ".join(dict.fromkeys(measure.summary for measure in group))
            note = f"; {_LOWER}: lower is better" if any(m.better == "lower" for m in group) else ""
            panel.set_xlabel(f"{kinds} over topics, {style.count(len(runs), 'run')}{note}")
        panel.set_xlabel(f"{panel.get_xlabel()}\n(dots: runs; box: quartiles and median)")
    rows: list[tuple[Cell, ...]] = [
        (str(measure), run, float(value))
        for measure, values in means.items()
        for run, value in zip(runs, values, strict=True)
    ]
    return Figure(figure, tuple(panels), Table("means", ("measure", "run", "value"), rows))


def _row_name(measure: Measure) -> str:
    return style.shorten(str(measure), 26) + (f" {_LOWER}" if measure.better == "lower" else "")


def _is_share(values: Floats) -> bool:
    defined = values[np.isfinite(values)]
    return bool((defined >= 0).all() and (defined <= 1).all())


def _draw(axes: Any, means: dict[Measure, Floats], width: float) -> None:
    box: Any = {"facecolor": "#dfe8ee", "edgecolor": "#7a8a94", "linewidth": 0.6}
    dot: Any = {"markersize": 2.6, "markeredgecolor": "white", "markeredgewidth": 0.25, "zorder": 3}
    bar: Any = {"color": INK, "linewidth": 1.4, "solid_capstyle": "butt", "zorder": 4}
    for row, (measure, values) in enumerate(means.items()):
        defined = values[np.isfinite(values)]
        if len(defined):
            low, median, high = np.quantile(defined, [0.25, 0.5, 0.75])
            draw_box(axes, low, row - 0.34, high - low, 0.68, **box)
            axes.plot([median, median], [row - 0.34, row + 0.34], **bar)
        span = float(np.ptp(defined)) if len(defined) and not _is_share(values) else 1.0
        heights = row + _stack_dots(values, max(span, 1e-12) * 0.012 * 3.4 / width)
        axes.plot(values, heights, "o", markerfacecolor=COLOURS[0], clip_on=False, gid=str(measure), **dot)
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


_ROW = 0.085
"""Height of a name in inches; of more runs than fit, some have their names."""


def plot_heat_map(
    scores: Scores, measure: str | None = None, baseline: str | None = None, *, width: float = style.DOUBLE
) -> Figure:
    """Draw the value of each run (rows, best first) on each topic (columns, easiest first); darker is better.

    With a baseline, draw differences from it: blue where a run is better, orange where it is worse.

    Parameters
    ----------
    scores
        Scores of the runs.
    measure
        Measure to draw (default: the first one).
    baseline
        Run to compare with (default: draw the values themselves).
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
    shades, label = ["#ffffff", GAIN], str(matrix.measure)
    ends: dict[str, float] = {}
    if baseline is not None:
        style.choose(baseline, runs, "there is no run {}")
        values = values - values[runs.index(baseline)]
        shades, label = [LOSS, *shades], f"difference in {label} from {style.shorten(baseline, 20)}"
        most = float(np.nanquantile(np.abs(values), 0.98)) or 1.0
        ends = {"vmin": -most, "vmax": most}
    height = min(6.5, 1.4 + 0.11 * len(runs))
    with style.canvas(width, height) as (figure, axes):
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("gain", shades[:: matrix.measure.sign or 1])
        image = axes.imshow(
            values, aspect="auto", cmap=colours.with_extremes(bad=EXACT), interpolation="nearest", **ends
        )
        step = -(-len(runs) // int((height - 1.1) / _ROW))
        named = range(0, len(runs), step)
        names = style.shorten_all((runs[k] for k in named), 24 if style.is_wide(width) else 14)
        axes.set_yticks(list(named), names, fontsize=5.5)
        name_columns(axes, topics, width - 0.7)
        axes.set_ylabel(f"{style.count(len(runs), 'run')}, best first")
        axes.set_xlabel(f"{style.count(len(topics), 'topic')}, easiest first")
        axes.grid(visible=False)
        figure.colorbar(image, ax=axes, label=label, fraction=0.05, pad=0.01, aspect=30)
    rows = [(run, topic, float(values[r, t])) for r, run in enumerate(runs) for t, topic in enumerate(topics)]
    return Figure(figure, (axes,), Table("heat_map", ("run", "topic", label), rows))


_MAX_ROWS = 60
"""Maximum number of rows of topics; more topics are columns of a band, by ascending median."""


def plot_topics(
    scores: Scores, measure: str | None = None, highlight: Sequence[str] = (), *, width: float = style.SINGLE
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
    coloured = style.choose_highlighted(list(matrix.runs), highlight, [])
    own = [matrix.values[list(matrix.runs).index(run)] for run in coloured]
    rows: list[tuple[Cell, ...]] = []
    for t, topic in enumerate(matrix.topics):
        defined = matrix.values[:, t][~np.isnan(matrix.values[:, t])]
        ends = np.quantile(defined, [0, 0.5, 1]).tolist() if len(defined) else [float("nan")] * 3
        rows.append((topic, *ends, *(float(values[t]) for values in own)))
    has_rows = len(rows) <= _MAX_ROWS
    if not has_rows:
        rows.sort(key=lambda row: style.finite_or_zero(row[2]))
    height = (0.95 + 0.13 * len(rows) if has_rows else 2.6) + 0.13 * -(-len(coloured) // 2)
    with style.canvas(width, height) as (figure, axes):
        numbers = np.array([row[1:] for row in rows], np.float64).reshape(len(rows), 3 + len(own))
        position = np.arange(len(rows))
        spans = axes.hlines if has_rows else axes.vlines
        spans(position, numbers[:, 0], numbers[:, 2], color=QUIET, linewidth=1.4 if has_rows else 0.6)
        size = 1.0 if has_rows else 0.5

        def draw(values: Floats, **look: Any) -> list[Any]:
            points = (values, position) if has_rows else (position, values)
            return list(axes.plot(*points, linestyle="none", **look))

        span = f"lowest to highest of {style.count(len(matrix.runs), 'run')}"
        handles = [legend_line(span, color=QUIET, linewidth=1.4)]
        handles += draw(
            numbers[:, 1], marker="o", markersize=4 * size, markerfacecolor="white", markeredgecolor=INK,
            markeredgewidth=size, label="median run", zorder=3,
        )  # fmt: skip
        for k, run in enumerate(coloured):
            handles += draw(
                numbers[:, 3 + k], marker=MARKERS[(k + 1) % len(MARKERS)], markersize=3.4 * size**0.5,
                color=series(k)["color"], markeredgecolor="white", markeredgewidth=0.3, label=style.shorten(run, 20),
                zorder=4,
            )  # fmt: skip
        if has_rows:
            name_rows(axes, style.shorten_all((row[0] for row in rows), 16), fontsize=6)
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
