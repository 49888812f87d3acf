"""Figure of discriminative power: ASL curves (Sakai 2006; Ferro et al. 2016, Figure 14)."""

from typing import Any

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, limit_ticks
from rankscope.plots.palette import INK, series
from rankscope.plots.style import SINGLE, canvas, choose, distinct, group, shorten
from rankscope.result import Result
from rankscope.tables import Cell, Table

MAX_ASL = 0.15
"""Largest significance level that is drawn, as in the literature."""


def plot_asl(result: Result, test: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw the achieved significance levels of all pairs of runs, largest first; curves further left are better.

    The legend has the power (share of pairs below alpha) and Delta (the difference that suffices).

    Parameters
    ----------
    result
        Result of :func:`rankscope.power`.
    test
        Test to draw (default: the first one).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {f"r{k}": {f"q{i}": ["a"] if i % 4 < k else ["x", "a"] for i in range(9)} for k in range(4)}
    >>> figure = plot_asl(rs.power(rs.evaluate(qrels, runs, ["AP"]), test="t"))
    >>> [text.get_text() for text in figure.figure.legends[0].get_texts()]
    ['AP: 50.0 %, Δ 0.20']
    """
    test_name = choose(test, distinct(result["power"].column("test")), "there are no results of the test {}")
    power = [row for row in result["power"].records() if row["test"] == test_name]
    alpha = float(power[0]["alpha"] or 0)
    table = _table(result, test_name)
    measures = distinct(row["measure"] for row in power)
    with canvas(width, 2.7 + 0.13 * ((len(measures) + 1) // 2)) as (figure, axes):
        handles = []
        for number, measure in enumerate(measures):
            record = next(row for row in power if row["measure"] == measure and row["alpha"] == alpha)
            handles.append(_draw(axes, number, record, [row for row in table.rows if row[0] == measure]))
        axes.axhline(alpha, color=INK, linewidth=0.8, linestyle=(0, (1, 1.2)))
        axes.annotate(f"α = {alpha:g}", (1, alpha), xycoords=("axes fraction", "data"), xytext=(0, 2),
                      textcoords="offset points", ha="right", fontsize=7)  # fmt: skip
        axes.set(ylim=(0, max(MAX_ASL, 1.5 * alpha)), xlim=(0, _last_pair(table)))
        limit_ticks(axes.xaxis, 4)
        limit_ticks(axes.yaxis, 4, integer=False)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("pairs of runs, by descending ASL")
        axes.set_ylabel(f"achieved significance level ({test_name})")
        legend = legend_below(figure, handles, 2 if width < 5 else 3)
        legend.set_title("significant pairs, and a difference Δ that suffices", {"size": 7})
    return Figure(figure, (axes,), table)


def _table(result: Result, test: str) -> Table:
    """Return the pairs of each measure by descending ASL."""
    tested = (record for record in result["asl"].records() if record["test"] == test)
    pairs = group((str(record["measure"]), record) for record in tested)
    rows: list[tuple[Cell, ...]] = []
    for measure, records in pairs.items():
        records.sort(key=lambda record: -float(record["asl"] if record["asl"] is not None else np.inf))
        rows += [(measure, number, r["asl"], r["a"], r["b"]) for number, r in enumerate(records, start=1)]
    return Table("asl curves", ("measure", "pair", "asl", "a", "b"), rows, caption=f"ASL by {test}")


def _last_pair(table: Table) -> float:
    """Return the position at which the last curve reaches 0."""
    undecided = [int(row[1] or 0) for row in table.rows if float(row[2] or 0) > 0.002]
    return 1.05 * max([1, *undecided])


def _draw(axes: Any, number: int, power: dict[str, Cell], rows: list[Any]) -> Any:
    asl = np.array([row[2] for row in rows], np.float64)
    visible = np.flatnonzero((asl <= MAX_ASL) & (asl > 0.002))
    marks = visible[number % 3 :: max(1, len(visible) // 8)].tolist()
    delta = np.nan if power["delta"] is None else float(power["delta"])
    suffix = "" if np.isnan(delta) else f", Δ {delta:.2f}"
    label = f"{shorten(str(power['measure']), 20)}: {100 * float(power['power'] or 0):.1f} %{suffix}"
    x = np.arange(1, len(asl) + 1)
    return axes.plot(x, asl, **series(number), markevery=marks, label=label, gid=str(number))[0]
