"""Figure of the means of runs by all judgments and by a smaller pool (Moffat and Zobel 2008, Figures 2 and 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below
from rankscope.plots.palette import INK, series
from rankscope.plots.style import SINGLE, canvas, distinct, shorten
from rankscope.result import Result
from rankscope.tables import Cell, Table


def plot_pool_means(result: Result, pool: Cell = None, *, width: float = SINGLE) -> Figure:
    """Draw the means of runs by all judgments (horizontally) and by a smaller pool (vertically).

    The smaller pool overestimates runs above the line, and underestimates runs below it. For repeated samples the mean
    is drawn.

    Parameters
    ----------
    result
        Result of :func:`rankscope.pools`.
    pool
        The smaller pool (default: the last one).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 1}}
    >>> runs = {"r1": {"q": {"a": 3, "c": 2}}, "r2": {"q": {"c": 3, "a": 2, "b": 1}}}
    >>> plot_pool_means(rs.pools(rs.evaluate(qrels, runs, ["P@2"]), pool_depth=1)).table.rows
    [('P@2', 'r1', 0.5, 0.5), ('P@2', 'r2', 0.5, 0.5)]
    """
    table, label = _table(result["means"], pool)
    measures = distinct(table.column("measure"))
    numbers = np.array([row[2:] for row in table.rows], np.float64)
    low, high = float(np.nanmin(numbers, initial=0)), float(np.nanmax(numbers, initial=0)) or 1.0
    with canvas(width, width + 0.13 * ((len(measures) + 1) // 2)) as (figure, axes):
        axes.plot([low, 1.04 * high], [low, 1.04 * high], color=INK, linewidth=0.7, zorder=1, gid="no change")
        handles = [_draw(axes, n, measure, table) for n, measure in enumerate(measures)]
        axes.set(xlim=(low, 1.04 * high), ylim=(low, 1.04 * high), aspect="equal")
        axes.set(xlabel="mean by all judgments", ylabel=f"mean by the pool: {label}")
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (axes,), table)


def _table(means: Table, pool: Cell) -> tuple[Table, str]:
    pools = [name for name in dict.fromkeys(means.column("pool")) if name != "full"]
    pool_name = (pools or ["full"])[-1] if pool is None else pool
    if pool_name not in pools:
        raise SettingsError(f"there are no means of the pool {pool_name!r}", hint=f"choose one of {pools}")
    full: dict[tuple[Cell, Cell], float] = {}
    smaller: dict[tuple[Cell, Cell], list[float]] = {}
    for record in means.records():
        key, value = (record["measure"], record["run"]), record["value"]
        number = float("nan") if value is None else float(value)
        if record["pool"] == "full":
            full[key] = number
        elif record["pool"] == pool_name:
            smaller.setdefault(key, []).append(number)
    rows = [(*key, full[key], float(np.mean(values))) for key, values in smaller.items()]
    label = pool_name if isinstance(pool_name, str) else f"{pool_name:g} %"
    return Table("pool means", ("measure", "run", "full", "smaller"), rows, caption=label), shorten(label, 20)


def _draw(axes: Any, number: int, measure: str, table: Table) -> Any:
    look = series(number)
    points = [row for row in table.rows if row[0] == measure]
    return axes.plot(
        [row[2] for row in points], [row[3] for row in points], linestyle="none", marker=look["marker"], markersize=3.5,
        markerfacecolor="none", markeredgecolor=look["color"], markeredgewidth=0.8, clip_on=False, gid=str(number),
        label=shorten(measure, 30),
    )[0]  # fmt: skip
