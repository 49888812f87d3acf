"""Two intervals of rankings and their difference vectors (Ferrante, Ferro and Pontarollo 2017)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.lab.measurement.compared import Ranking, compared_intervals
from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, DOUBLE, INK, blank, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.lab.measurement.scales import Scales
    from rankscope.measures import Measure
    from rankscope.result import Result

__all__ = ["plot_compared", "plot_intervals", "plot_scales"]


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
    """The intervals [r, s] and [u, v] as areas between prefix sums, and both difference vectors beside them.

    With a ``measure`` its rises (or those given) are written below, and whether they contradict an interval-like
    scale. The arguments are those of :func:`~rankscope.lab.measurement.compared.compared_intervals`, whose tables are
    drawn.

    >>> figure = plot_intervals("001", "010", "010", "100", "DCG(discount='jk')")
    >>> figure.table.column("delta_sr"), figure.table.column("delta_vu")
    ([0, 1, 1], [1, 1, 1])
    """
    return plot_compared(compared_intervals(r, s, u, v, measure, rises=rises), width=width)


def plot_scales(result: Scales, measure: object = None, **options: Any) -> Figure:
    """The first counterexample to an interval-like scale, or the first one of a measure.

    >>> import rankscope as rs
    >>> plot_scales(rs.lab.scales("RBP(p=0.8)", length=3)).table.name
    'intervals'
    """
    return plot_compared(result.example(measure), **options)


def plot_compared(result: Result, *, width: float = DOUBLE) -> Figure:
    """The figure of two compared intervals: every number is in their tables; with several grades each has a row.

    >>> from rankscope.lab.measurement.compared import compared_intervals
    >>> plot_compared(compared_intervals([0, 0], [0, 1], [1, 0], [1, 1])).table.name
    'intervals'
    """
    whole, [verdict] = result["intervals"], result["comparison"].records()
    tables = _by_grade(whole)
    with styled():
        figure = blank(width, 0.4 + 2.1 * len(tables))
        panels = figure.subplots(len(tables), 3, width_ratios=(1, 1, 1.15), squeeze=False)
        for row, table in zip(panels, tables, strict=True):
            for panel, low, high, number in ((row[0], "r", "s", 0), (row[1], "u", "v", 1)):
                _draw_interval(panel, table, low, high, number)
            top = 0.5 + max(int(table.column(f"sum_{name}")[-1] or 0) for name in "rsuv")
            for panel in row[:2]:
                panel.set_ylim(-0.15, top)
            _draw_deltas(row[2], table, verdict)
            if len(tables) > 1:
                row[0].set_ylabel(f"grade {table.column('grade')[0]} or better")
        _say(panels[-1], verdict)
        for panel in panels.ravel():
            _ranks(panel, len(tables[0]))
    return Figure(figure, tuple(panels.ravel()), whole)


def _by_grade(table: Table) -> list[Table]:
    """The rows of each grade."""
    if "grade" not in table.columns:
        return [table]
    grades = table.column("grade")
    return [
        replace(table, rows=[row for row, own in zip(table.rows, grades, strict=True) if own == grade])
        for grade in dict.fromkeys(grades)
    ]


def _say(row: Any, verdict: dict[str, Cell]) -> None:
    """The rises of the measure, and whether they are a contradiction, below the last row."""
    for panel, name in zip(row[:2], ("rise_sr", "rise_vu"), strict=True):
        if verdict[name] is not None:
            panel.set_xlabel(f"rank\nrises by {verdict[name]:.4f}")
    if verdict["contradiction"] is not None:
        found = "contradiction" if verdict["contradiction"] else "no contradiction"
        row[2].set_xlabel(f"rank\n{short(str(verdict['measure'] or 'rises'), 30)}: {found}")


def _written(table: Table, name: str) -> str:
    return short("(" + "".join(map(str, table.column(name))) + ")", 22)


def _draw_interval(axes: Any, table: Table, low: str, high: str, number: int) -> None:
    ranks = np.array(table.column("rank"))
    lower, upper = (np.array(table.column(f"sum_{name}")) for name in (low, high))
    colour = COLOURS[number]
    axes.fill_between(
        ranks,
        lower,
        upper,
        color=colour,
        alpha=0.22,
        linewidth=0,
        hatch=("///", "\\\\\\")[number],
        edgecolor=colour,
    )
    axes.plot(ranks, upper, color=colour, marker="^", label=f"{high} = {_written(table, high)}", gid=high)
    axes.plot(
        ranks,
        lower,
        color=colour,
        marker="v",
        linestyle=(0, (4, 1.5)),
        label=f"{low} = {_written(table, low)}",
        gid=low,
    )
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.2, handlelength=1.8)
    axes.set_ylabel("relevant documents so far" if number == 0 else "")


def _draw_deltas(axes: Any, table: Table, verdict: dict[str, Cell]) -> None:
    ranks = np.array(table.column("rank"))
    first, second = (np.array(table.column(name), np.int64) for name in ("delta_sr", "delta_vu"))
    half = 0.19 if len(ranks) <= 60 else 0.25
    axes.bar(ranks - half, first, width=2 * half, color=COLOURS[0], label="Δ of [r, s]")
    axes.bar(
        ranks + half,
        second,
        width=2 * half,
        color=COLOURS[1],
        label="Δ of [u, v]",
        hatch="\\\\\\",
        edgecolor="white",
        linewidth=0,
    )
    axes.plot(ranks - half, first, linestyle="none", marker="_", color=INK, markersize=5)
    axes.plot(ranks + half, second, linestyle="none", marker="_", color=INK, markersize=5)
    axes.set_ylabel("Δ (steps, summed twice)")
    axes.set_ylim(0, 1.05 * max(1, int(first.max()), int(second.max())))
    title = "Δ of [r, s] is nowhere larger" if verdict["no_larger"] else "Δ are not ordered"
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        borderaxespad=0.2,
        handlelength=1.8,
        title=title,
        alignment="left",
    )


def _ranks(axes: Any, length: int) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(0.5, length + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    if not axes.get_xlabel():
        axes.set_xlabel("rank")
