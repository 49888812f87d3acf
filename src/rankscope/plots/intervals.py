"""Two intervals of rankings and their difference vectors (Ferrante, Ferro and Pontarollo 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.measurement.intervals import cumsum, delta, is_below
from rankscope.lab.measurement.scales import ALL, EQUAL
from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, DOUBLE, INK, blank, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.lab.measurement.scales import Scales
    from rankscope.measures import Measure

__all__ = ["plot_intervals", "plot_scales"]

Ranking = str | Sequence[int]


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

    Where Delta_sr <= Delta_vu at every rank, a measure on an interval-like scale must not rise more on [r, s] than on
    [u, v]; with a ``measure`` its rises (or those given) are written below, and whether they contradict that.
    Rankings are grades or text such as ``"0110"``.

    >>> figure = plot_intervals("001", "010", "010", "100", "DCG(discount='jk')")
    >>> figure.table.column("delta_sr"), figure.table.column("delta_vu")
    ([0, 1, 1], [1, 1, 1])
    """
    ends = {name: _ranking(value, name) for name, value in zip("rsuv", (r, s, u, v), strict=True)}
    _check(ends)
    shown = _rises(ends, measure, rises)
    table = _table(ends)
    with styled():
        figure = blank(width, 2.5)
        panels = figure.subplots(1, 3, width_ratios=(1, 1, 1.15))
        for panel, low, high, number in ((panels[0], "r", "s", 0), (panels[1], "u", "v", 1)):
            _draw_interval(panel, ends, low, high, number, shown)
        top = 0.5 + max(int(cumsum(ends[name])[-1]) for name in "rsuv")
        for panel in panels[:2]:
            panel.set_ylim(-0.15, top)
        _draw_deltas(panels[2], table, shown)
        for panel in panels:
            _ranks(panel, len(ends["r"]))
    return Figure(figure, tuple(panels), table)


def plot_scales(result: Scales, measure: object = None, **options: Any) -> Figure:
    """The first counterexample to an interval-like scale, or the first one of a measure."""
    for found in result.findings:
        example = found.counterexample
        if example and found.scale in (ALL, EQUAL) and (measure is None or str(measure) == found.measure):
            rises = example.rise_sr, example.rise_vu
            r, s, u, v = example.ends()
            return plot_intervals(r, s, u, v, found.measure, rises=rises, **options)
    raise SettingsError(
        "no interval-like scale is violated: there is no counterexample to draw",
        hint="try other measures or lengths",
    )


def _ranking(value: Ranking, name: str) -> tuple[int, ...]:
    try:
        grades = tuple(int(grade) for grade in (value.strip("()") if isinstance(value, str) else value))
    except ValueError:
        grades = (-1,)
    if not grades or set(grades) - {0, 1}:
        raise SettingsError(
            f"{name}={value!r} is no binary ranking", hint="write it with 0 and 1, such as '0110'"
        )
    return grades


def _check(ends: dict[str, tuple[int, ...]]) -> None:
    if len({len(ranking) for ranking in ends.values()}) != 1:
        raise SettingsError("the four rankings differ in length", hint="give rankings of equal length")
    for low, high in ("rs", "uv"):
        if not is_below(ends[low], ends[high]):
            raise SettingsError(
                f"{low} is not below {high}",
                hint="every prefix sum of the first must be at most that of the second",
            )


def _rises(
    ends: dict[str, tuple[int, ...]],
    measure: str | Measure | None,
    known: tuple[float, float] | None,
) -> tuple[str, float, float] | None:
    """What is written about a measure: its name and its rises on the two intervals."""
    if measure is None or known is not None:
        return None if known is None else (str(measure or "rises"), *known)
    from rankscope.lab.measurement.intervals import code
    from rankscope.lab.measurement.values import values_at
    from rankscope.measures.grammar import parse

    chosen = parse(measure) if isinstance(measure, str) else measure
    at = values_at(chosen, [code(ends[name]) for name in "rsuv"], len(ends["r"])).tolist()
    return str(chosen), at[1] - at[0], at[3] - at[2]


def _table(ends: dict[str, tuple[int, ...]]) -> Table:
    columns: dict[str, list[Any]] = {"rank": list(range(1, len(ends["r"]) + 1))}
    for name in "rsuv":
        columns[name] = list(ends[name])
        columns[f"sum_{name}"] = cumsum(ends[name]).tolist()
    columns["delta_sr"] = delta(ends["r"], ends["s"]).tolist()
    columns["delta_vu"] = delta(ends["u"], ends["v"]).tolist()
    rows: list[tuple[Cell, ...]] = list(zip(*columns.values(), strict=True))
    return Table("intervals", tuple(columns), rows, caption="Two intervals and their difference vectors")


def _written(grades: tuple[int, ...]) -> str:
    return short("(" + "".join(map(str, grades)) + ")", 22)


def _draw_interval(
    axes: Any, ends: dict[str, tuple[int, ...]], low: str, high: str, number: int, rises: Any
) -> None:
    ranks = np.arange(1, len(ends[low]) + 1)
    lower, upper = cumsum(ends[low]), cumsum(ends[high])
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
    axes.plot(ranks, upper, color=colour, marker="^", label=f"{high} = {_written(ends[high])}", gid=high)
    axes.plot(
        ranks,
        lower,
        color=colour,
        marker="v",
        linestyle=(0, (4, 1.5)),
        label=f"{low} = {_written(ends[low])}",
        gid=low,
    )
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), borderaxespad=0.2, handlelength=1.8)
    axes.set_ylabel("relevant documents so far" if number == 0 else "")
    if rises is not None:
        axes.set_xlabel(f"rank\nrises by {rises[number + 1]:.4f}")


def _draw_deltas(axes: Any, table: Table, rises: tuple[str, float, float] | None) -> None:
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
    inside = bool((first <= second).all())
    verdict = "Δ of [r, s] is nowhere larger" if inside else "Δ are not ordered"
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.0),
        borderaxespad=0.2,
        handlelength=1.8,
        title=verdict,
        alignment="left",
    )
    if rises is not None:
        against = inside and rises[1] > rises[2] + 1e-12
        axes.set_xlabel(f"rank\n{short(rises[0], 30)}: {'contradiction' if against else 'no contradiction'}")


def _ranks(axes: Any, length: int) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(0.5, length + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    if not axes.get_xlabel():
        axes.set_xlabel("rank")
