"""Lower and upper bounds by depth, with confidence bands (after Moffat and Zobel 2008, Figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.style import DOUBLE, INK, SINGLE, blank, legend_below, rank_axis, series, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_bounds"]


def plot_bounds(result: Result, *, width: float | None = None) -> Figure:
    """The mean lower (solid) and upper bound (dashed) of each measure over all runs, one panel per pool.

    What is between them is what unjudged documents could still add. Of several runs the shaded band is the 95 %
    confidence interval of the mean.

    >>> import rankscope as rs
    >>> found = rs.bounds({"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "x": 2, "b": 1}}, p=0.5, depths=[1, 2, 3])
    >>> plot_bounds(found).table.column("upper")
    [1.0, 1.0, 0.875]
    """
    table = result["means"]
    records = table.records()
    pools = list(dict.fromkeys(str(record["pool"]) for record in records))
    measures = list(dict.fromkeys(str(record["measure"]) for record in records))
    size = (SINGLE if len(pools) == 1 else DOUBLE) if width is None else width
    with styled():
        figure = blank(size, 2.6 + 0.13 * (len(measures) // 2 + 1))
        panels = figure.subplots(1, len(pools), sharey=True, squeeze=False)[0]
        handles: list[Any] = []
        for panel, pool in zip(panels, pools, strict=True):
            for number, measure in enumerate(measures):
                rows = [r for r in records if r["pool"] == pool and r["measure"] == measure]
                handle = _draw(panel, number, rows)
                handles += [handle] if pool == pools[0] else []
            _label(panel, [int(r["depth"] or 1) for r in records])
            if len(pools) > 1:
                panel.set_title(f"{'all judgments' if pool == 'full' else short('pool: ' + pool, 24)}")
        panels[0].set_ylabel("bound of the mean")
        legend_below(figure, [*handles, *_kinds(records)], 2 if size < 5 else 6)
    return Figure(figure, tuple(panels), _only_means(table))


def _only_means(table: Table) -> Table:
    return Table("bounds", table.columns, table.rows, caption="Bounds of the mean over runs")


def _draw(axes: Any, number: int, rows: list[dict[str, Any]]) -> Any:
    look = series(number)
    depth = [row["depth"] for row in rows]
    handle = None
    for bound, dash in (("lower", "solid"), ("upper", (0, (4, 1.5)))):
        middle, low, high = (_numbers(rows, f"{bound}{part}") for part in ("", "_low", "_high"))
        if np.isfinite(low).any():
            axes.fill_between(depth, low, high, color=look["color"], alpha=0.18, linewidth=0)
        line = axes.plot(
            depth, middle, color=look["color"], marker=look["marker"], markersize=3, linestyle=dash, linewidth=1,
            label=_name(rows[0]), gid=f"{number} {bound}",
        )[0]  # fmt: skip
        handle = handle or line
    return handle


def _name(row: dict[str, Any]) -> str:
    """The measure, always with its p."""
    name = short(str(row["measure"]), 30)
    return name if row["p"] is None or "p=" in name else f"{name}(p={row['p']:g})"


def _numbers(rows: list[dict[str, Any]], column: str) -> Any:
    return np.array([np.nan if row[column] is None else row[column] for row in rows], np.float64)


def _kinds(records: list[dict[str, Any]]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    kinds: list[Any] = [
        Line2D([], [], color=INK, label="lower bound"),
        Line2D([], [], color=INK, linestyle=(0, (4, 1.5)), label="upper bound"),
    ]
    if np.isfinite(_numbers(records, "lower_low")).any():
        kinds.append(Patch(color=INK, alpha=0.18, linewidth=0, label="95 % confidence"))
    return kinds


def _label(axes: Any, depths: list[int]) -> None:
    rank_axis(axes, depths)
    axes.set_xlabel("documents evaluated (rank)")
    axes.set_ylim(bottom=0)
