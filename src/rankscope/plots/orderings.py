"""Two orderings of the same files: how many documents stand elsewhere, and which runs that moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, DOUBLE, INK, QUIET, blank, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_orderings"]

_RUNS = 40
"""Runs that are drawn; of more, those with the largest shares."""


def plot_orderings(result: Result, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """For each run the share of its documents that stand elsewhere, and what that does to a measure.

    >>> import rankscope as rs
    >>> found = rs.orderings(rs.evaluate({"q": {"a": 1}}, {"q": {"x": 1.0, "a": 2.0, "y": 0.5}}, ["RR"]))
    >>> plot_orderings(found).table.rows
    [('run', 0.6666666666666666, 'RR', 0.5)]
    """
    names = list(dict.fromkeys(str(name) for name in result["effect"].column("measure")))
    chosen = measure or names[0]
    moved = {
        str(row["run"]): float(str(row["difference"] or 0.0))
        for row in result["effect"].records()
        if row["measure"] == chosen
    }
    shares = [(str(row["run"]), float(str(row["share"] or 0.0))) for row in result["swaps"].records()]
    rows = sorted(shares, key=lambda row: -row[1])[:_RUNS]
    first, second = result.settings["orders"]
    with styled():
        figure = blank(width, 0.8 + 0.17 * len(rows))
        left, right = figure.subplots(1, 2, sharey=True)
        for place, (run, share) in enumerate(rows):
            left.barh(place, 100 * share, height=0.62, color=COLOURS[0])
            right.plot([0, moved[run]], [place, place], color=QUIET, linewidth=1.2)
            risen = moved[run] >= 0
            right.plot(
                moved[run],
                place,
                "o" if risen else "s",
                color=COLOURS[0] if risen else COLOURS[1],
                markersize=4,
            )
        right.axvline(0, color=INK, linewidth=0.7)
        left.set_yticks(range(len(rows)), [short(run, 24) for run, _ in rows], fontsize=6.5)
        left.set_ylim(len(rows) - 0.5, -0.5)
        left.tick_params(axis="y", length=0)
        for axes in (left, right):
            axes.grid(axis="y", visible=False)
        rest = f" ({len(rows)} of {len(shares)} runs)" if len(shares) > len(rows) else ""
        left.set_xlim(0, max(1.0, 105 * max((share for _, share in rows), default=0.0)))
        left.set_xlabel(f"% of documents that stand elsewhere{rest}")
        right.xaxis.set_major_formatter("{x:g}")
        right.set_xlabel(f"{chosen}: {second} minus {first}")
    table = Table(
        "orderings", ("run", "share", "measure", "difference"), [(r, s, chosen, moved[r]) for r, s in rows]
    )
    return Figure(figure, (left, right), table)
