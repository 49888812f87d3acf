"""How measures stand up to fewer judgments (Ferro and others 2016, Figure 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.style import SINGLE, blank, legend_below, series, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_robustness"]


def plot_robustness(result: Result, *, width: float = SINGLE) -> Figure:
    """Kendall's tau between the ranking of runs by the full pool and by smaller ones, one line per measure.

    A line goes through the means over the repeats; a whisker spans the middle nine tenths of them. At the full pool
    tau is 1 by definition.

    >>> import rankscope as rs
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 1}}
    >>> runs = {"r1": {"q": {"a": 3, "c": 2}}, "r2": {"q": {"c": 3, "a": 2, "b": 1}}}
    >>> plot_robustness(rs.pools(rs.evaluate(qrels, runs, ["AP"]), pool_depth=[2, 1])).table.column("pool")
    ['full', 'depth 2', 'depth 1']
    """
    table = _table(result["robustness"])
    names = list(dict.fromkeys(str(name) for name in table.column("measure")))
    pools = list(dict.fromkeys(table.column("pool")))
    numeric = all(isinstance(pool, int | float) for pool in pools)
    places = {pool: float(pool) if numeric else number for number, pool in enumerate(pools)}  # type: ignore[arg-type]
    with styled():
        figure = blank(width, 2.7 + 0.13 * ((len(names) + 1) // 2))
        axes = figure.subplots()
        handles = []
        repeated = any(int(row[5] or 0) > 1 for row in table.rows)
        for number, name in enumerate(names):
            rows = [row for row in table.rows if row[0] == name]
            apart = (number - (len(names) - 1) / 2) * (-0.9 if numeric else 0.05) * min(1.0, 6 / len(names))
            handles.append(_draw(axes, number, rows, places, apart if repeated else 0.0))
        _label(axes, pools, numeric)
        legend_below(figure, handles, 2 if width < 5 else 4)
    return Figure(figure, (axes,), table)


def _table(robustness: Table) -> Table:
    """Mean and spread of tau per measure and pool, from the full pool on."""
    taus: dict[tuple[Cell, Cell], list[float]] = {}
    for record in robustness.records():
        key = record["measure"], record["pool"]
        taus.setdefault(key, []).append(float(record["tau"] if record["tau"] is not None else np.nan))
    full: Cell = "full" if any(isinstance(pool, str) for _, pool in taus) else 100
    rows: list[tuple[Cell, ...]] = []
    for measure in dict.fromkeys(measure for measure, _ in taus):
        rows.append((measure, full, 1.0, 1.0, 1.0, 1))
        for (name, pool), values in taus.items():
            if name == measure and pool != 100:
                rows.append((measure, pool, *_spread(np.array(values)), len(values)))
    return Table("robustness", ("measure", "pool", "tau", "low", "high", "repeats"), rows)


def _spread(values: Any) -> tuple[float, float, float]:
    defined = values[np.isfinite(values)]
    if not len(defined):
        return (float("nan"),) * 3
    low, high = np.quantile(defined, [0.05, 0.95]).tolist()
    return float(defined.mean()), low, high


def _draw(axes: Any, number: int, rows: list[Any], places: dict[Cell, float], apart: float) -> Any:
    """One measure, a little aside, so that the whiskers of the measures do not cover each other."""
    look = series(number)
    x = np.array([places[row[1]] + apart for row in rows])
    x[0] -= apart
    tau, low, high = (np.array([row[i] for row in rows], np.float64) for i in (2, 3, 4))
    axes.errorbar(
        x, tau, yerr=[np.maximum(tau - low, 0), np.maximum(high - tau, 0)], fmt="none", ecolor=look["color"],
        elinewidth=0.8, capsize=1.5, capthick=0.8,
    )  # fmt: skip
    return axes.plot(x, tau, **look, label=short(str(rows[0][0]), 30), gid=str(number))[0]


def _label(axes: Any, pools: list[Cell], numeric: bool) -> None:
    axes.set_ylabel("Kendall’s tau-b with the full pool")
    if numeric:
        axes.set_xlabel("judgments kept (%)")
        axes.set_xticks([float(pool) for pool in pools], [f"{pool:g}" for pool in pools])  # type: ignore[arg-type]
        axes.invert_xaxis()
    else:
        axes.set_xlabel("pool")
        axes.set_xticks(
            range(len(pools)), [short(str(pool), 14) for pool in pools], rotation=0 if len(pools) < 7 else 45
        )
    low, _ = axes.get_ylim()
    axes.set_ylim(min(low, 0.9), 1.0 + 0.04 * (1 - min(low, 0.9)))
