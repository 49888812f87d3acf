"""How relative positions arise: every document, and the nearest rank where the ideal list has its grade.

Ferro and others (2016), Figure 1, for any list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope.errors import SettingsError
from rankscope.plots.crp import title
from rankscope.plots.figure import Figure
from rankscope.plots.style import ABOVE, BELOW, DOUBLE, INK, blank, legend_below, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve

__all__ = ["plot_rp"]

RANKS = 24
"""Ranks shown unless more are asked for."""

MOST = 80
"""Ranks that have room for their numbers."""

_IDEAL, _LIST, _BELOW, _HEIGHT = 1.5, 0.0, -0.5, 0.34


def plot_rp(curve: Curve, ranks: int | None = None, *, width: float = DOUBLE) -> Figure:
    """The ideal list above, the list below, one cell per rank with its grade, and an arrow to every misplaced document.

    The arrow begins at the nearest rank that its grade has in the ideal list: the first of them for a document that
    comes too early, the last for one that comes too late. So its length is the relative position (RP), which stands
    below the document. ``ranks`` are shown, 24 unless set; an arrow from further down comes in from the right.

    >>> import rankscope as rs
    >>> found = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
    >>> plot_rp(found).table.rows[0]
    Place(rank=1, doc='x', grade=None, first=3, last=4, nearest=3, rp=-2)
    """
    if ranks is not None and not 1 <= ranks <= MOST:
        raise SettingsError(f"{ranks} ranks", hint=f"the figure has room for 1 to {MOST}")
    shown = min(ranks or RANKS, curve.length)
    rows = curve.places.rows[:shown]
    with styled():
        figure = blank(width, 2.3)
        axes = figure.subplots()
        grades = curve.ideal_grade[:shown].tolist()
        best = max(1, int(curve.ideal_grade.max(initial=1)))
        size = 7.0 if shown <= 30 else 7.0 * 30 / shown
        _draw_row(axes, _IDEAL, grades, best, size)
        _draw_row(axes, _LIST, curve.relevance[:shown].tolist(), best, size)
        for rank, *_, nearest, rp in rows:
            _draw_position(axes, int(str(rank)), int(str(nearest)), int(str(rp)), shown, size)
        axes.set_xlim(0.4, shown + 0.6)
        axes.set_ylim(_BELOW - 0.35, _IDEAL + 0.25)
        axes.set_yticks([_IDEAL, _LIST, _BELOW], ["ideal list", "list", "RP"])
        axes.set_xlabel("rank")
        axes.set_title(title(curve, width))
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        axes.tick_params(left=False)
        legend_below(figure, _legend(), 3)
    return Figure(figure, (axes,), _table(curve, shown))


def _table(curve: Curve, shown: int) -> Table:
    places = curve.places
    return Table("rp", places.columns, places.rows[:shown], caption=places.caption)


def _draw_row(axes: Any, height: float, grades: list[int], best: int, size: float) -> None:
    from matplotlib.patches import Rectangle

    for rank, grade in enumerate(grades, start=1):
        depth = 0.0 if grade == 0 else 0.18 + 0.5 * grade / best
        shade = (1 - 0.55 * depth, 1 - 0.4 * depth, 1 - 0.15 * depth)
        axes.add_patch(
            Rectangle((rank - 0.5, height - _HEIGHT / 2), 1, _HEIGHT, facecolor=shade, edgecolor=INK, linewidth=0.5)
        )  # fmt: skip
        axes.text(rank, height, str(grade), ha="center", va="center", fontsize=size)


def _draw_position(axes: Any, rank: int, nearest: int, rp: int, shown: int, size: float) -> None:
    colour = INK if rp == 0 else ABOVE if rp < 0 else BELOW
    sign = "+" if rp > 0 else "\N{MINUS SIGN}" if rp < 0 else ""
    axes.text(
        rank, _BELOW, f"{sign}{abs(rp)}", ha="center", va="center", fontsize=size, color=colour,
        rotation=90 if shown > 30 else 0,
    )  # fmt: skip
    if rp == 0:
        return
    # seen from outside the figure the arrow keeps its direction, and begins at the border
    start, top, bottom = float(nearest), _IDEAL - _HEIGHT / 2, _LIST + _HEIGHT / 2
    if nearest > shown:
        start = shown + 0.6
        top = bottom + (top - bottom) * (start - rank) / (nearest - rank)
    axes.annotate(
        "", (rank, bottom), (start, top), gid=f"rank {rank}",
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 0.8 * size / 7, "shrinkA": 0, "shrinkB": 0,
                    "mutation_scale": 6},
    )  # fmt: skip


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=ABOVE, label="too early (RP < 0): from the first rank of its grade"),
        Line2D([], [], color=BELOW, label="too late (RP > 0): from the last rank of its grade"),
    ]
