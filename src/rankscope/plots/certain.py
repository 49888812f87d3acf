"""The leaderboard with its partial order: who may stand where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, DOUBLE, INK, blank, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_certain"]

_NAMED = 60
"""Runs up to which each has its name at the axis."""


def plot_certain(result: Result, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """For each run the range of its mean over all labels, and the ranks that it can have; a dot is what it has now.

    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"d2": 2.0, "d1": 1.0}}}
    >>> found = rs.certain(rs.evaluate({"q": {"d1": 1, "d2": 0}}, runs, "RR"))
    >>> plot_certain(found).table.column("run")
    ['a', 'b']
    """
    chosen = measure or str(result["runs"].rows[0][1])
    rows = [row for row in result["runs"].records() if row["measure"] == chosen]
    with styled():
        figure = blank(width, 1.0 + 0.17 * min(len(rows), _NAMED) + 0.02 * max(0, len(rows) - _NAMED))
        left, right = figure.subplots(1, 2, sharey=True)
        for place, row in enumerate(rows, 1):
            left.plot([row["lowest"], row["highest"]], [place, place], color=COLOURS[0], linewidth=2)
            left.plot([row["value"]], [place], "o", color=INK, markersize=2.5)
            ends = (
                row["first_rank"] or place,
                row["last_rank"] or place,
            )
            right.plot(ends, [place, place], color=COLOURS[1], linewidth=2)
            right.plot([place], [place], "o", color=INK, markersize=2.5)
        if len(rows) <= _NAMED:
            left.set_yticks(range(1, len(rows) + 1), [short(str(row["run"]), 24) for row in rows])
        else:
            left.set_ylabel("rank by the mean")
        left.set_ylim(len(rows) + 0.5, 0.5)
        left.set_xlabel(f"{chosen}: mean and range over labels")
        right.set_xlabel("ranks that are possible")
    return Figure(
        figure, (left, right), Table("runs", result["runs"].columns, [tuple(row.values()) for row in rows])
    )
