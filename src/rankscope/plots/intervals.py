"""Figures of two intervals of rankings and their difference vectors (Ferrante, Ferro and Pontarollo 2017)."""

import textwrap
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.lab.measurement.interval_comparison import Ranking, compare_intervals
from rankscope.lab.measurement.scales import Scales
from rankscope.lab.rounding import format_distinct
from rankscope.measures import Measure
from rankscope.plots.figure import Figure
from rankscope.plots.marks import limit_ticks
from rankscope.plots.palette import COLOURS, INK
from rankscope.plots.style import DOUBLE, blank, group, is_wide, shorten
from rankscope.result import Result
from rankscope.tables import Cell, Table


def plot_intervals(
    r: Ranking,
    s: Ranking,
    u: Ranking,
    v: Ranking,
    measure: str | Measure | None = None,
    *,
    rises: tuple[float, float] | None = None,
    width: float = DOUBLE,
) -> Figure:
    """Draw the intervals [r, s] and [u, v] as steps between rankings, and their difference vectors.

    The title states whether the rises of the measure contradict an interval-like scale.

    Parameters
    ----------
    r, s, u, v, measure, rises
        As for :func:`~rankscope.lab.measurement.interval_comparison.compare_intervals`, whose tables are drawn.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> figure = plot_intervals("001", "010", "010", "100", "DCG(discount='jk')")
    >>> figure.table.column("delta_sr"), figure.table.column("delta_vu")
    ([0, 1, 1], [1, 1, 1])
    """
    return plot_compared(compare_intervals(r, s, u, v, measure, rises=rises), width=width)


def plot_scales(result: Scales, measure: str | Measure | None = None, **options: Any) -> Figure:
    """Draw the first counterexample to an interval-like scale.

    Parameters
    ----------
    result
        Result of :func:`rankscope.lab.scales`.
    measure
        Measure of the counterexample (default: the first one that has any).
    **options
        Options of :func:`plot_compared`.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> plot_scales(rs.lab.scales("RBP(p=0.8)", length=3)).table.name
    'intervals'
    """
    return plot_compared(result.example(measure), **options)


def plot_compared(result: Result, *, width: float = DOUBLE) -> Figure:
    """Draw two steps between rankings, their sizes, and the rises of a measure.

    The panels are, from left to right: the rankings of step A (from r to s) and of step B (from u to v) with their
    relevant documents so far, the size of both steps at each rank, and the rises of the measure. A measure on an
    interval-like scale must not rise more on a step that is nowhere larger; the title states whether it does. Each
    grade has a row.

    Parameters
    ----------
    result
        Result of :func:`~rankscope.lab.measurement.interval_comparison.compare_intervals`.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from rankscope.lab.measurement.interval_comparison import compare_intervals
    >>> plot_compared(compare_intervals([0, 0], [0, 1], [1, 0], [1, 1])).table.name
    'intervals'
    """
    whole, [verdict] = result["intervals"], result["comparison"].records()
    tables = _split_by_grade(whole)
    has_rises = verdict["rise_sr"] is not None
    # In a narrow figure, sizes and rises are below the steps.
    columns, lines = (3 + has_rises, 1) if is_wide(width) else (2, 2)
    with blank(width, 0.75 + 2.0 * len(tables) * lines + 0.25 * (lines - 1)) as figure:
        ratios = (1, 1, 1.1, 0.7)[:columns]
        grid = figure.add_gridspec(len(tables) * lines, columns, width_ratios=ratios)
        panels = [
            [figure.add_subplot(grid[row * lines + k // columns, k % columns]) for k in range(3)]
            for row in range(len(tables))
        ]
        for row, table in zip(panels, tables, strict=True):
            for panel, low, high, number in ((row[0], "r", "s", 0), (row[1], "u", "v", 1)):
                _draw_step(panel, table, low, high, number)
            top = 0.5 + max(int(table.column(f"sum_{name}")[-1] or 0) for name in "rsuv")
            for panel in row[:2]:
                panel.set_ylim(-0.15, top)
            _draw_sizes(row[2], table, verdict)
            if len(tables) > 1:
                row[0].set_ylabel(f"grade {table.column('grade')[0]} or better")
            for panel in row:
                _label_ranks(panel, len(table))
        axes = [panel for row in panels for panel in row]
        if has_rises:
            axes.append(figure.add_subplot(grid[:, 3] if lines == 1 else grid[-1, 1]))
            _draw_rises(axes[-1], verdict)
        sentence = textwrap.fill(_sentence(verdict), int(13 * width))
        figure.suptitle(sentence, x=0.01, ha="left", fontsize=8.5, fontweight="bold")
    return Figure(figure, tuple(axes), whole)


def _split_by_grade(table: Table) -> list[Table]:
    """Return a table with the rows of each grade."""
    if "grade" not in table.columns:
        return [table]
    rows = group(zip(table.column("grade"), table.rows, strict=True))
    return [replace(table, rows=selected) for selected in rows.values()]


def _sentence(verdict: dict[str, Cell]) -> str:
    """Return the verdict and its reason, for readers who do not know difference vectors."""
    larger = "Step A is nowhere larger than step B"
    if not verdict["no_larger"]:
        problem = "Neither the sizes of the steps nor the measure can be compared"
        return f"{problem}: step A is larger at some rank."
    if verdict["contradiction"] is None:
        return f"{larger}: on an interval-like scale no measure may rise more on A."
    measure = shorten(str(verdict["measure"] or "the measure"), 40)
    a, b = format_distinct(_number(verdict["rise_sr"]), _number(verdict["rise_vu"]))
    if verdict["contradiction"]:
        return (
            f"{measure} is not on an interval-like scale: step A is nowhere larger than step B, "
            f"and yet the measure rises more on A, by {a} against {b}."
        )
    return f"No contradiction: {larger[0].lower()}{larger[1:]}, and {measure} rises by {a} against {b}."


def _number(value: Cell) -> float:
    return float(str(value))


def _format_ranking(table: Table, name: str) -> str:
    return shorten("".join(map(str, table.column(name))), 22)


_LEGEND: dict[str, Any] = {
    "loc": "lower left", "bbox_to_anchor": (-0.02, 1.0), "borderaxespad": 0.2, "handlelength": 1.8,
    "alignment": "left", "title_fontproperties": {"weight": "bold", "size": 7.5},
}  # fmt: skip


_HATCHED: dict[str, Any] = {"hatch": "\\\\\\", "edgecolor": "white", "linewidth": 0}


def _draw_step(axes: Any, table: Table, low: str, high: str, number: int) -> None:
    """Draw a step from one ranking to a better one, as the area between their relevant documents so far."""
    ranks = np.array(table.column("rank"))
    lower, upper = (np.array(table.column(f"sum_{name}")) for name in (low, high))
    colour, name = COLOURS[number], "AB"[number]
    style = {"color": colour, "edgecolor": colour, "hatch": ("///", "\\\\\\")[number]}
    axes.fill_between(ranks, lower, upper, alpha=0.22, linewidth=0, **style)
    axes.plot(ranks, upper, color=colour, marker="^", label=f"to {_format_ranking(table, high)}", gid=high)
    start = f"from {_format_ranking(table, low)}"
    axes.plot(ranks, lower, color=colour, marker="v", linestyle=(0, (4, 1.5)), label=start, gid=low)
    axes.legend(reverse=True, title=f"Step {name}", **_LEGEND)
    axes.set_ylabel("relevant documents so far" if number == 0 else "")


def _draw_sizes(axes: Any, table: Table, verdict: dict[str, Cell]) -> None:
    """Draw the difference vectors: the size of the steps up to each rank."""
    ranks = np.array(table.column("rank"))
    first, second = (np.array(table.column(name), np.int64) for name in ("delta_sr", "delta_vu"))
    half = 0.19 if len(ranks) <= 60 else 0.25
    axes.bar(ranks - half, first, width=2 * half, color=COLOURS[0], label="step A")
    axes.bar(ranks + half, second, width=2 * half, color=COLOURS[1], label="step B", **_HATCHED)
    for side, sizes in ((-half, first), (half, second)):
        axes.plot(ranks + side, sizes, linestyle="none", marker="_", color=INK, markersize=5)
    axes.set_ylim(0, 1.05 * max(1, int(first.max()), int(second.max())))
    title = "Size: A ≤ B" if verdict["no_larger"] else "Size: A > B at a rank"
    axes.legend(title=title, **_LEGEND)
    axes.set_ylabel("shaded area so far (Δ)")


def _draw_rises(axes: Any, verdict: dict[str, Cell]) -> None:
    """Draw the rises of the measure on both steps."""
    rises = [_number(verdict[name]) for name in ("rise_sr", "rise_vu")]
    bars = axes.bar([0, 1], rises, width=0.6, color=COLOURS[:2], gid="rises")
    bars[1].set(**_HATCHED)
    axes.bar_label(bars, format_distinct(*rises), padding=2, fontsize=7)
    axes.axhline(0, color=INK, linewidth=0.6)
    axes.set_xticks([0, 1], ["step A", "step B"])
    low, high = min(0.0, *rises), max(0.0, *rises)
    top = high + 0.12 * (high - low) if high > low else 1
    axes.set(xlim=(-0.6, 1.6), ylim=(low - 0.05 * (high - low), top))
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="x", visible=False)
    title = "Rise: more on A" if verdict["contradiction"] else "Rise"
    axes.set_title(title, fontsize=7.5, fontweight="bold")
    axes.set_ylabel(shorten(str(verdict["measure"] or "measure"), 28), fontsize=7)


def _label_ranks(axes: Any, length: int) -> None:
    axes.set(xlim=(0.5, length + 0.5), xlabel="rank")
    limit_ticks(axes.xaxis, 10, min_n_ticks=1)
    limit_ticks(axes.yaxis, 6, min_n_ticks=1)
