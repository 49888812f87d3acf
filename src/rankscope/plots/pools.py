"""Figures of smaller pools: robustness of measures, and means of runs.

After Ferro et al. (2016), Figure 13, and Moffat and Zobel (2008), Figures 2 and 4.
"""

from typing import Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below
from rankscope.plots.palette import INK, series
from rankscope.plots.style import SINGLE, canvas, distinct, group, shorten
from rankscope.result import Result
from rankscope.tables import Cell, Table


def plot_robustness(result: Result, *, width: float = SINGLE) -> Figure:
    """Draw Kendall's tau between the ranking of runs by the full pool and by smaller ones, one line per measure.

    Lines connect the means over repeated samples; whiskers span the middle 90 % of the samples. At the full pool tau
    is 1 by definition.

    Parameters
    ----------
    result
        Result of :func:`rankscope.pools`.
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
    >>> plot_robustness(rs.pools(rs.evaluate(qrels, runs, ["AP"]), pool_depth=[2, 1])).table.column("pool")
    ['full', 'depth 2', 'depth 1']
    """
    table = _table(result["robustness"])
    names = distinct(table.column("measure"))
    pools = list(dict.fromkeys(table.column("pool")))
    is_numeric = all(isinstance(pool, int | float) for pool in pools)
    positions = {pool: float(pool) if is_numeric else k for k, pool in enumerate(pools)}  # type: ignore[arg-type]
    is_repeated = any(int(row[5] or 0) > 1 for row in table.rows)
    step = (-0.9 if is_numeric else 0.05) * min(1.0, 6 / len(names)) * is_repeated
    with canvas(width, 2.7 + 0.13 * ((len(names) + 1) // 2)) as (figure, axes):
        handles = []
        for number, name in enumerate(names):
            rows = [row for row in table.rows if row[0] == name]
            handles.append(_draw(axes, number, rows, positions, (number - (len(names) - 1) / 2) * step))
        _label(axes, pools, is_numeric)
        if is_repeated:
            axes.set_xlabel(f"{axes.get_xlabel()}\n(whiskers: middle 90 % of samples)")
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (axes,), table)


def _table(robustness: Table) -> Table:
    """Return mean and spread of tau per measure and pool, starting with the full pool."""
    taus = group(((row["measure"], row["pool"]), row["tau"]) for row in robustness.records())
    full: Cell = "full" if any(isinstance(pool, str) for _, pool in taus) else 100
    rows: list[tuple[Cell, ...]] = []
    for measure in dict.fromkeys(measure for measure, _ in taus):
        rows.append((measure, full, 1.0, 1.0, 1.0, 1))
        for (name, pool), values in taus.items():
            if name == measure and pool != 100:
                rows.append((measure, pool, *_spread(np.array(values, np.float64)), len(values)))
    return Table("robustness", ("measure", "pool", "tau", "low", "high", "repeats"), rows)


def _spread(values: Any) -> tuple[float, float, float]:
    defined = values[np.isfinite(values)]
    if not len(defined):
        return (float("nan"),) * 3
    low, high = np.quantile(defined, [0.05, 0.95]).tolist()
    return float(defined.mean()), low, high


def _draw(axes: Any, number: int, rows: list[Any], positions: dict[Cell, float], shift: float) -> Any:
    """Draw a measure, shifted a little, so that the whiskers of measures do not overlap."""
    look = series(number)
    x = np.array([positions[row[1]] + shift for row in rows])
    x[0] -= shift
    tau, low, high = (np.array([row[i] for row in rows], np.float64) for i in (2, 3, 4))
    axes.errorbar(
        x, tau, yerr=[np.maximum(tau - low, 0), np.maximum(high - tau, 0)], fmt="none", ecolor=look["color"],
        elinewidth=0.8, capsize=1.5, capthick=0.8,
    )  # fmt: skip
    return axes.plot(x, tau, **look, label=shorten(str(rows[0][0]), 30), gid=str(number))[0]


def _label(axes: Any, pools: list[Cell], is_numeric: bool) -> None:
    axes.set_ylabel("Kendall’s tau-b with the full pool")
    if is_numeric:
        axes.set_xlabel("judgments kept (%)")
        axes.set_xticks([float(pool) for pool in pools], [f"{pool:g}" for pool in pools])  # type: ignore[arg-type]
        axes.invert_xaxis()
    else:
        axes.set_xlabel("pool")
        names = [shorten(str(pool), 14) for pool in pools]
        axes.set_xticks(range(len(pools)), names, rotation=0 if len(pools) < 7 else 45)
    low, _ = axes.get_ylim()
    axes.set_ylim(min(low, 0.9), 1.0 + 0.04 * (1 - min(low, 0.9)))


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
    table, label = _means_table(result["means"], pool)
    measures = distinct(table.column("measure"))
    numbers = np.array([row[2:] for row in table.rows], np.float64)
    low, high = float(np.nanmin(numbers, initial=0)), float(np.nanmax(numbers, initial=0)) or 1.0
    with canvas(width, width + 0.13 * ((len(measures) + 1) // 2)) as (figure, axes):
        axes.plot([low, 1.04 * high], [low, 1.04 * high], color=INK, linewidth=0.7, zorder=1, gid="no change")
        handles = [_draw_means(axes, n, measure, table) for n, measure in enumerate(measures)]
        axes.set(xlim=(low, 1.04 * high), ylim=(low, 1.04 * high), aspect="equal")
        axes.set(xlabel="mean by all judgments", ylabel=f"mean by the pool: {label}")
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (axes,), table)


def _means_table(means: Table, pool: Cell) -> tuple[Table, str]:
    pools = [name for name in dict.fromkeys(means.column("pool")) if name != "full"]
    pool_name = (pools or ["full"])[-1] if pool is None else pool
    if pool_name not in pools:
        raise SettingsError(f"there are no means of the pool {pool_name!r}", hint=f"choose one of {pools}")
    values = group(((row["pool"], row["measure"], row["run"]), row["value"]) for row in means.records())
    mean = {key: float(np.mean(np.array(own, np.float64))) for key, own in values.items()}
    drawn = [(measure, run) for name, measure, run in mean if name == pool_name]
    rows = [(*key, mean["full", *key], mean[pool_name, *key]) for key in drawn]
    label = pool_name if isinstance(pool_name, str) else f"{pool_name:g} %"
    return Table("pool means", ("measure", "run", "full", "smaller"), rows, caption=label), shorten(label, 20)


def _draw_means(axes: Any, number: int, measure: str, table: Table) -> Any:
    look = series(number)
    points = [row for row in table.rows if row[0] == measure]
    x, y = zip(*(row[2:] for row in points), strict=True)
    look = {"marker": look["marker"], "markeredgecolor": look["color"], "linestyle": "none"}
    look |= {"markersize": 3.5, "markerfacecolor": "none", "markeredgewidth": 0.8}
    return axes.plot(x, y, **look, clip_on=False, gid=str(number), label=shorten(measure, 30))[0]
