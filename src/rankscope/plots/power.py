"""How well measures tell runs apart: ASL curves (Sakai 2006; Ferro and others 2016, Figure 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.style import INK, SINGLE, blank, legend_below, series, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_asl"]

HIGHEST = 0.15
"""The part of the significance levels that is drawn, as is custom."""


def plot_asl(result: Result, test: str | None = None, *, width: float = SINGLE) -> Figure:
    """The achieved significance levels of all pairs of runs, largest first: the further left a curve, the better.

    The legend gives power (the share of pairs below alpha) and Delta (the difference that suffices). ``test`` is the
    first one that was made, unless set.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> runs = {f"r{k}": {f"q{i}": ["a"] if i % 4 < k else ["x", "a"] for i in range(9)} for k in range(4)}
    >>> figure = plot_asl(rs.power(rs.evaluate(qrels, runs, ["AP"]), test="t"))
    >>> [text.get_text() for text in figure.figure.legends[0].get_texts()]
    ['AP: 50.0 %, Δ 0.20']
    """
    power = [row for row in result["power"].records() if row["test"] == _test(result, test)]
    alpha = float(power[0]["alpha"] or 0)
    table = _table(result, str(power[0]["test"]))
    with styled():
        measures = list(dict.fromkeys(str(row["measure"]) for row in power))
        figure = blank(width, 2.7 + 0.13 * ((len(measures) + 1) // 2))
        axes = figure.subplots()
        handles = []
        for number, measure in enumerate(measures):
            one = next(row for row in power if row["measure"] == measure and row["alpha"] == alpha)
            handles.append(_draw(axes, number, one, [row for row in table.rows if row[0] == measure]))
        axes.axhline(alpha, color=INK, linewidth=0.8, linestyle=(0, (1, 1.2)))
        axes.annotate(f"α = {alpha:g}", (1, alpha), xycoords=("axes fraction", "data"), xytext=(0, 2),
                      textcoords="offset points", ha="right", fontsize=7)  # fmt: skip
        axes.set_ylim(0, max(HIGHEST, 1.5 * alpha))
        axes.set_xlim(0, _last(table))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("pairs of runs, by falling ASL")
        axes.set_ylabel(f"achieved significance level ({power[0]['test']})")
        legend_below(figure, handles, 2 if width < 5 else 3)
    return Figure(figure, (axes,), table)


def _test(result: Result, test: str | None) -> str:
    tests = list(dict.fromkeys(str(name) for name in result["power"].column("test")))
    if test is not None and test not in tests:
        raise SettingsError(
            f"there are no results of the test {test!r}", hint=f"choose one of {', '.join(tests)}"
        )
    return tests[0] if test is None else test


def _table(result: Result, test: str) -> Table:
    """The pairs of each measure by falling ASL."""
    pairs: dict[str, list[dict[str, Cell]]] = {}
    for record in result["asl"].records():
        if record["test"] == test:
            pairs.setdefault(str(record["measure"]), []).append(record)
    rows: list[tuple[Cell, ...]] = []
    for measure, found in pairs.items():
        found.sort(key=lambda record: -float(record["asl"] if record["asl"] is not None else np.inf))
        rows += [(measure, place, r["asl"], r["a"], r["b"]) for place, r in enumerate(found, start=1)]
    return Table("asl curves", ("measure", "pair", "asl", "a", "b"), rows, caption=f"ASL by {test}")


def _last(table: Table) -> float:
    """Where the last curve has come down to nothing."""
    undecided = [int(row[1] or 0) for row in table.rows if float(row[2] or 0) > 0.002]
    return 1.05 * max([1, *undecided])


def _draw(axes: Any, number: int, power: dict[str, Cell], rows: list[Any]) -> Any:
    look = series(number)
    asl = np.array([row[2] for row in rows], np.float64)
    places = np.arange(1, len(asl) + 1)
    seen = np.flatnonzero((asl <= HIGHEST) & (asl > 0.002))
    marks = seen[number % 3 :: max(1, len(seen) // 8)].tolist()
    delta = (
        ""
        if power["delta"] is None or np.isnan(float(power["delta"]))
        else f", Δ {float(power['delta']):.2f}"
    )
    label = f"{short(str(power['measure']), 20)}: {100 * float(power['power'] or 0):.1f} %{delta}"
    return axes.plot(places, asl, **look, markevery=marks, label=label, gid=str(number))[0]
