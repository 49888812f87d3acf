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

    A run can have every rank that no run takes from it whose order with it stands: ties and labels cannot reverse it,
    and the difference is significant over topics.

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
            ends = row["first_rank"] or place, row["last_rank"] or place
            value = row["value"]
            known = [value if end is None else end for end in (row["lowest"], row["highest"])]
            for axes, colour, now, reach in (
                (left, COLOURS[0], value, known),
                (right, COLOURS[1], place, ends),
            ):
                axes.plot(
                    reach, [place, place], color=colour, linewidth=3, alpha=0.55, solid_capstyle="round"
                )
                axes.plot([now], [place], "o", color=INK, markersize=3)
        if len(rows) <= _NAMED:
            left.set_yticks(range(1, len(rows) + 1), [short(str(row["run"]), 24) for row in rows])
        else:
            left.set_ylabel("rank by the mean")
        left.set_ylim(len(rows) + 0.5, 0.5)
        right.set_xlim(0.5, len(rows) + 0.5)
        step = max(1, -(-len(rows) // 12))
        right.set_xticks([1, *range(max(2, step), len(rows) + 1, step)])
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="y", visible=False)
        left.set_xlabel(f"mean {chosen}, and its range over labels")
        right.set_xlabel("rank, and the ranks that are left (test over topics included)")
    return Figure(
        figure, (left, right), Table("runs", result["runs"].columns, [tuple(row.values()) for row in rows])
    )
