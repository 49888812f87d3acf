"""Who wins by which measures: regions of cutoffs and persistence for two runs, possible ranks for many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, INK, QUIET, SINGLE, blank, legend_below, rank_axis, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.result import Result

__all__ = ["plot_ranks", "plot_regions"]


def plot_regions(result: Result, *, width: float = SINGLE) -> Figure:
    """For two runs: which of them has the higher mean, for every cutoff of P, R, DCG, nDCG and every p of RBP.

    A bar per family, in the colour (and hatching) of the winner, and the measures asked for as marks inside it.

    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a", "n", "m"]}, "y": {"q": ["n", "a", "b"]}}
    >>> plot_regions(rs.verdict({"q": {"a": 1, "b": 1}}, runs)).table.rows[-2:]
    [('RBP(p)', 0.0, 0.6180339887498949, 'x'), ('RBP(p)', 0.6180339887498949, 1.0, 'y')]
    """
    regions = list(result["regions"].rows)
    names = [str(name) for name in result["verdict"].rows[0][:2]]
    families = list(dict.fromkeys(str(row[0]) for row in regions if row[0] != "RBP(p)"))
    with styled():
        from matplotlib.patches import Patch

        figure = blank(width, 2.5)
        cutoffs, persistence = figure.subplots(2, 1, height_ratios=[len(families), 1])
        for height, family in enumerate(families):
            mine = [row for row in regions if row[0] == family]
            _bars(
                cutoffs,
                [(int(row[1] or 1) - 0.5, int(row[2] or 1) + 0.5, row[3]) for row in mine],
                height,
                names,
            )
        _marks(cutoffs, result["measures"].rows, families)
        deepest = max(int(row[2] or 1) for row in regions if row[0] != "RBP(p)")
        rank_axis(cutoffs, [1, deepest])
        cutoffs.set_xlim(0.8, deepest + 0.5)
        cutoffs.set_yticks(range(len(families)), families)
        cutoffs.invert_yaxis()
        cutoffs.set_xlabel("cutoff k")
        _bars(persistence, [row[1:] for row in regions if row[0] == "RBP(p)"], 0, names)
        _marks(persistence, result["measures"].rows, ["RBP(p)"])
        persistence.set_xlim(0, 1)
        persistence.set_yticks([0], ["RBP(p)"])
        persistence.set_xlabel("persistence p")
        for axes in (cutoffs, persistence):
            axes.grid(False)
        labels = [*(f"{short(name, 24)} is better" for name in names), "equal"]
        handles = [Patch(**_look(kind), label=label) for kind, label in enumerate(labels)]
        legend_below(figure, handles, 3)
    return Figure(figure, (cutoffs, persistence), Table("regions", result["regions"].columns, regions))


def _look(kind: int) -> dict[str, Any]:
    hatch = ("", "////", "")[kind]
    return {"facecolor": (COLOURS[0], COLOURS[5], "#dddddd")[kind], "edgecolor": "white", "hatch": hatch}


def _bars(axes: Any, regions: Sequence[Any], height: int, names: Sequence[str]) -> None:
    for low, high, winner in regions:
        kind = names.index(winner) if winner in names else 2
        axes.barh(height, high - low, left=low, height=0.7, linewidth=0, **_look(kind))


def _marks(axes: Any, measures: Sequence[Sequence[Cell]], families: Sequence[str]) -> None:
    """The measures asked for, as marks in the bar of their family."""
    from rankscope.measures import parse_many

    for row in measures:
        (measure,) = parse_many([str(row[0])])
        family = "RBP(p)" if measure.name == "RBP" else f"{measure.name}@k"
        if row[4] and family in families:
            place = measure.settings["p"] if family == "RBP(p)" else measure.cutoff
            axes.plot(
                [place], [families.index(family)], "D", color=INK, markersize=4, markeredgecolor="white"
            )


def plot_ranks(result: Result, *, width: float = SINGLE, most: int = 60) -> Figure:
    """For many runs: the ranks that each can have by any additive measure (light), and by any convex one (dark).

    Runs whose bars do not overlap are in the same order by every measure of the family. Of many runs the first
    ``most`` are drawn; the table has them all.

    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a"]}, "y": {"q": ["n", "a"]}, "z": {"q": ["n", "m", "a"]}}
    >>> plot_ranks(rs.verdict({"q": {"a": 1}}, runs)).table.rows[0]
    ('x', 1, 1, 1, 1)
    """
    rows = list(result["runs"].rows)
    shown = rows[:most]
    with styled():
        from matplotlib.patches import Patch

        figure = blank(width, 0.9 + 0.13 * len(shown))
        axes = figure.subplots()
        for height, (_, first, last, best, worst) in enumerate(shown):
            for low, high, colour, size in ((first, last, "#b8d4e8", 0.8), (best, worst, COLOURS[0], 0.4)):
                axes.barh(
                    height,
                    int(high or 0) - int(low or 0) + 0.8,
                    left=int(low or 0) - 0.4,
                    height=size,
                    color=colour,
                    linewidth=0,
                )
        axes.set_yticks(range(len(shown)), [short(str(row[0]), 26) for row in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0.4, max(int(row[2] or 1) for row in shown) + 0.6)
        more = f" (the first {most} of {len(rows)} runs)" if len(rows) > most else ""
        axes.set_xlabel(f"possible ranks{more}")
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0, labelsize=6, labelcolor=INK, color=QUIET)
        handles = [
            Patch(color="#b8d4e8", label="any additive measure"),
            Patch(color=COLOURS[0], label="any with convex weights"),
        ]
        legend_below(figure, handles, 2)
    return Figure(figure, (axes,), Table("runs", result["runs"].columns, rows))
