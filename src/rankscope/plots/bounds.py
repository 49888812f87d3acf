"""Figure of lower and upper bounds by depth, with confidence bands (after Moffat and Zobel 2008, Figure 5)."""

from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_line, legend_patch, limit_ticks, rank_axis
from rankscope.plots.palette import INK, series
from rankscope.plots.style import DOUBLE, SINGLE, canvas, distinct, shorten
from rankscope.result import Result
from rankscope.tables import Table

MAX_RUNS = 4
"""Maximum number of runs for which each has a line."""


def plot_bounds(result: Result, *, width: float | None = None) -> Figure:
    """Draw the lower (solid) and upper bound (dashed) of each measure, one panel per pool.

    The difference of the bounds is the possible contribution of unjudged documents. Up to four runs have a line each;
    for more runs the mean is drawn, and the shaded band is its 95 % confidence interval.

    Parameters
    ----------
    result
        Result of :func:`rankscope.bounds`.
    width
        Width in inches (default: by the number of pools).

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> collection = rs.Collection({"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "x": 2, "b": 1}})
    >>> result = rs.bounds(collection, p=0.5, depths=[1, 2, 3])
    >>> plot_bounds(result).table.column("upper")
    [1.0, 1.0, 0.875]
    """
    table = _choose_table(result)
    records = table.records()
    runs = distinct(table.column("run")) if "run" in table.columns else [""]
    pools, measures = (distinct(table.column(name)) for name in ("pool", "measure"))
    size = (SINGLE if len(pools) == 1 else DOUBLE) if width is None else width
    height = 2.6 + 0.13 * (len(measures) // 2 + 1)
    with canvas(size, height, 1, len(pools), sharey=True, squeeze=False) as (figure, [panels]):
        handles: list[Any] = []
        for panel, pool in zip(panels, pools, strict=True):
            for number, measure in enumerate(measures):
                for index, run in enumerate(runs):
                    rows = [
                        r for r in records
                        if r["pool"] == pool and r["measure"] == measure and r.get("run", "") == run
                    ]  # fmt: skip
                    handle = _draw(panel, number, rows, index if len(runs) > 1 else number)
                    handles += [handle] if pool == pools[0] and index == 0 else []
            _label(panel, records)
            if len(pools) > 1:
                panel.set_title(f"{'all judgments' if pool == 'full' else shorten('pool: ' + pool, 24)}")
        panels[0].set_ylabel("bound of the mean" + ("" if runs == [""] else " over topics"))
        if len(runs) > 1:  # Measures differ by colour, and runs by marker.
            for k, run in enumerate(runs):
                marks = {"color": INK, "linestyle": "none", "markersize": 3, "marker": series(k)["marker"]}
                handles.append(legend_line(shorten(run, 24), **marks))
        legend_below(figure, [*handles, *_legend_entries(records)], 2 if size < 5 else 6)
    return Figure(figure, tuple(panels), table)


def _choose_table(result: Result) -> Table:
    """Return the bounds of each run if there are few, otherwise those of the mean."""
    if "runs" in result.tables and len(set(result["runs"].column("run"))) <= MAX_RUNS:
        return replace(result["runs"], name="bounds", caption="Bounds of the mean over topics")
    return replace(result["means"], name="bounds", caption="Bounds of the mean over runs")


def _draw(axes: Any, number: int, rows: list[dict[str, Any]], marker: int) -> Any:
    look = series(number) | {"marker": series(marker)["marker"]}
    depth = [row["depth"] for row in rows]
    handle = None
    for bound, dash in (("lower", "solid"), ("upper", (0, (4, 1.5)))):
        if f"{bound}_low" in rows[0]:
            low, high = _numbers(rows, f"{bound}_low"), _numbers(rows, f"{bound}_high")
            axes.fill_between(depth, low, high, color=look["color"], alpha=0.18, linewidth=0)
        line = axes.plot(
            depth, _numbers(rows, bound), color=look["color"], marker=look["marker"], markersize=3, linestyle=dash,
            linewidth=1, label=_name(rows[0]), gid=" ".join(filter(None, (str(number), bound, rows[0].get("run")))),
        )[0]  # fmt: skip
        handle = handle or line
    return handle


def _name(row: dict[str, Any]) -> str:
    """Return the measure with its p."""
    name = shorten(str(row["measure"]), 30)
    return name if row["p"] is None or "p=" in name else f"{name}(p={row['p']:g})"


def _numbers(rows: list[dict[str, Any]], column: str) -> Any:
    return np.array([np.nan if row[column] is None else row[column] for row in rows], np.float64)


def _legend_entries(records: list[dict[str, Any]]) -> list[Any]:
    upper = legend_line("upper bound: other documents relevant", color=INK, linestyle=(0, (4, 1.5)))
    entries: list[Any] = [legend_line("lower bound: other documents non-relevant", color=INK), upper]
    if "lower_low" in records[0] and np.isfinite(_numbers(records, "lower_low")).any():
        entries.append(legend_patch("95 % confidence", color=INK, alpha=0.18, linewidth=0))
    return entries


def _label(axes: Any, records: list[dict[str, Any]]) -> None:
    rank_axis(axes, [int(record["depth"] or 1) for record in records])
    axes.set_xlabel("documents evaluated (rank)")
    axes.set_ylim(bottom=min(0.0, float(_numbers(records, "lower").min())))
    limit_ticks(axes.yaxis, 5, integer=False)
