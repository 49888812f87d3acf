"""Parallel coordinates of the indicators of topics (Angelini et al. 2012, Figure 3)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.analysis.effort import Effort
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_line
from rankscope.plots.palette import INK, MARKERS, QUARTER_COLOURS
from rankscope.plots.style import DOUBLE, canvas, count, group, is_wide, shorten
from rankscope.tables import Cell, Table

COORDINATES = {
    "rho_w": "ρ of full scale",
    "Rho2012_clamped": "ρ (recovery)",
    "b_ratio_clamped": "balance ratio",
    "CRP_min_clamped": "CRP minimum",
    "CRP_N_clamped": "CRP at N",
}
"""Columns of the table of indicators that are drawn, and the names of their axes."""

_MAX_NAMED = 32  # The first axis has no room for the names of more topics.


def plot_indicators(effort: Effort, run: str | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw one line per topic through its recall base (by rank) and its indicators, clamped to 0..1; 1 is best.

    A line has a gap where an indicator is undefined. The lines of more than 32 topics are thin, and a thick line is the
    median of each quarter of the topics by recall base.

    Parameters
    ----------
    effort
        Result of :func:`rankscope.effort`.
    run
        Run to draw (default: the mean over all runs).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}
    >>> effort = rs.effort(rs.Collection(qrels, {"r": {"q1": ["a"], "q2": ["x", "a", "b"]}}), "AP")
    >>> plot_indicators(effort).table.column("recall_base")
    [1, 2]
    """
    table = _table(effort, run)
    with canvas(width, 3.4) as (figure, axes):
        values = np.array([row[3:] for row in table.rows], np.float64)
        order = (np.arange(len(values)) + 0.5) / len(values)
        lines = np.column_stack([order, values])
        is_named = len(values) <= _MAX_NAMED
        quarter = np.arange(len(values)) * 4 // len(values)
        x = range(lines.shape[1])
        look: dict[str, Any] = {"linewidth": 0.3, "alpha": 0.35}
        if is_named:
            look = {"linewidth": 1.1, "marker": "o", "markersize": 2}
        for line, colour in zip(lines, np.array(QUARTER_COLOURS)[quarter], strict=True):
            axes.plot(x, line, color=colour, clip_on=False, **look)
        handles = []
        for k in np.unique(quarter).tolist():
            bases = [row[1] for row, own in zip(table.rows, quarter, strict=True) if own == k]
            name = f"R = {bases[0]:,}" + (f" to {bases[-1]:,}" if bases[-1] != bases[0] else "")
            handles.append(legend_line(name, color=QUARTER_COLOURS[k], linewidth=2))
            if not is_named:
                defined = [own[np.isfinite(own)] for own in lines[quarter == k].T]
                medians = [np.median(own) if len(own) else np.nan for own in defined]
                style = {"color": QUARTER_COLOURS[k], "linewidth": 2, "marker": MARKERS[k], "zorder": 4}
                axes.plot(x, medians, clip_on=False, **style)
        for position in x:
            axes.axvline(position, color=INK, linewidth=0.6, zorder=1)
        _label(axes, table, is_named, width)
        legend_below(figure, handles, 4)
        name = shorten(table.caption, int(5 * width))
        rho = float(np.nanmean(values[:, 1])) if np.isfinite(values[:, 1]).any() else float("nan")
        axes.set_title(f"{name}: {count(len(values), 'topic')}, mean ρ {rho:.3f}")
    return Figure(figure, (axes,), table)


def _table(effort: Effort, run: str | None) -> Table:
    """Return one row per topic, by ascending recall base; ``runs`` is the number of runs in the mean."""
    runs = effort.judged.runs
    if run is not None and run not in runs:
        raise SettingsError(f"there is no run {run!r}", hint=suggest_names(run, runs) or f"such as {runs[0]}")
    records = (record for record in effort.indicators.records() if run in (None, record["run"]))
    by_topic = group((record["topic"], record) for record in records)
    if not by_topic:
        raise InputError("no topic has relevant documents", hint="the indicators need at least one")
    rows: list[tuple[Any, ...]] = [
        (topic, own[0]["recall_base"], len(own), *_means(own)) for topic, own in by_topic.items()
    ]
    rows.sort(key=lambda row: row[1])
    name = run if run is not None else runs[0] if len(runs) == 1 else f"mean of {len(runs):,} runs"
    return Table("parallel coordinates", ("topic", "recall_base", "runs", *COORDINATES), rows, caption=name)


def _means(records: Sequence[dict[str, Cell]]) -> list[float]:
    """Return the mean of each coordinate over its defined values, or NaN if it has no defined value."""
    values = np.array([[record[name] for name in COORDINATES] for record in records], np.float64)
    with np.errstate(invalid="ignore"):
        means: list[float] = (np.nansum(values, axis=0) / np.isfinite(values).sum(axis=0)).tolist()
    return means


def _label(axes: Any, table: Table, is_named: bool, width: float) -> None:
    n = len(table)
    marked = range(n) if is_named else np.unique(np.linspace(0, n - 1, 9).round().astype(int)).tolist()
    topics, bases = table.column("topic"), table.column("recall_base")
    texts = [f"{shorten(str(topics[i]), 18)} ({bases[i]:,})" if is_named else f"{bases[i]:,}" for i in marked]
    axes.set_yticks([(i + 0.5) / n for i in marked], texts, fontsize=7 if len(texts) <= 14 else 5)
    axes.set(ylim=(0, 1), xlim=(0, len(COORDINATES)))
    names = ["recall base R", *COORDINATES.values()]
    # In a narrow figure the words of a name are below each other.
    texts = names if is_wide(width) else [name.replace(" ", "\n") for name in names]
    axes.set_xticks(range(len(names)), texts, fontsize=7 if is_wide(width) else 5.5)
    axes.set_ylabel("topic (recall base R), ascending" if is_named else "recall base R of topics, ascending")
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    right = axes.twinx()
    right.set(ylim=(0, 1), ylabel="indicator, clamped (1 = best)")
    right.spines["right"].set_visible(True)
    right.grid(False)
