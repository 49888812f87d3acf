"""How much each rank counts: the attention that the user behind a measure gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.plots.figure import Figure
from rankscope.plots.style import SINGLE, blank, legend_below, series, short, styled

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_weights"]


def plot_weights(result: Result, *, width: float = SINGLE) -> Figure:
    """The weight of every rank, one line per measure.

    >>> import rankscope as rs
    >>> len(plot_weights(rs.rank_weights("RBP(p=0.5) P@2", depth=3)).axes[0].lines)
    2
    """
    table = result["weights"]
    names = list(dict.fromkeys(str(name) for name in table.column("measure")))
    with styled():
        figure = blank(width, 2.3 + 0.13 * ((len(names) + 1) // 2))
        axes = figure.subplots()
        handles = []
        for number, name in enumerate(names):
            mine = [row for row in table.rows if row[0] == name]
            ranks, weights = [row[1] for row in mine], [row[2] for row in mine]
            handles += axes.plot(ranks, weights, **series(number), label=short(name, 30), gid=str(number))
        axes.set_xlabel("rank")
        axes.set_ylabel("weight")
        axes.set_ylim(bottom=0)
        legend_below(figure, handles, 2)
    return Figure(figure, (axes,), table)
