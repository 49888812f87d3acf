"""Figure of relative positions: documents, and the nearest rank of their grade in the ideal ranking.

After Ferro et al. (2016), Figure 1, for any ranking.
"""

from __future__ import annotations

from typing import Any

from rankscope.analysis.curve import Curve
from rankscope.errors import SettingsError
from rankscope.plots.crp import title
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_box, legend_below, legend_line, limit_ticks, write_centred
from rankscope.plots.palette import ABOVE, BELOW, INK
from rankscope.plots.style import DOUBLE, canvas, is_wide
from rankscope.tables import Table

RANKS = 24
"""Default number of ranks."""

NARROW_RANKS = 14
"""Default number of ranks in the width of a column of a paper."""

MAX_RANKS = 80
"""Maximum number of ranks; there is no room for the numbers of more."""

_IDEAL, _LIST, _BELOW, _HEIGHT = 1.5, 0.0, -0.5, 0.34


def plot_rp(curve: Curve, ranks: int | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw the grades of the ideal ranking above those of the ranking, and an arrow to each misplaced document.

    The arrow starts at the nearest rank of the grade in the ideal ranking: the first one for a document that comes too
    early, the last one for a document that comes too late. Its length is the relative position (RP), which is written
    below the document. Arrows from ranks beyond the figure start at its border.

    Parameters
    ----------
    curve
        Result of :func:`rankscope.curve`.
    ranks
        Number of ranks, at most 80 (default: 24, or 14 in the width of a column).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> curve = rs.curve(rs.Collection({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}), None, "q")
    >>> plot_rp(curve).table.rows[0]
    Place(rank=1, doc='x', grade=None, first=3, last=4, nearest=3, rp=-2)
    """
    if ranks is not None and not 1 <= ranks <= MAX_RANKS:
        raise SettingsError(f"{ranks} ranks", hint=f"the figure has room for 1 to {MAX_RANKS}")
    depth = min(ranks or (RANKS if is_wide(width) else NARROW_RANKS), curve.length)
    rows = list(curve.places)[:depth]
    with canvas(width, 2.3) as (figure, axes):
        best = max(1, int(curve.ideal_grade.max(initial=1)))
        size = 7.0 * min(1.0, 30 / depth * width / DOUBLE)
        _draw_row(axes, _IDEAL, curve.ideal_grade[:depth].tolist(), best, size)
        _draw_row(axes, _LIST, curve.relevance[:depth].tolist(), best, size)
        for row in rows:
            _draw_position(axes, row.rank, row.nearest, row.rp, depth, size)
        axes.set(xlim=(0.4, depth + 0.6), ylim=(_BELOW - 0.35, _IDEAL + 0.25))
        axes.set_yticks([_IDEAL, _LIST, _BELOW], ["ideal", "ranking", "RP"])
        axes.set(xlabel="rank", title=title(curve, width))
        limit_ticks(axes.xaxis, 8, min_n_ticks=1)
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        axes.tick_params(left=False)
        handles = [
            legend_line("too early (RP < 0), from first rank of grade", color=ABOVE),
            legend_line("too late (RP > 0), from last rank of grade", color=BELOW),
        ]
        legend_below(figure, handles, 3)
    table = Table("rp", curve.places.columns, rows, caption=curve.places.caption)
    return Figure(figure, (axes,), table)


def _draw_row(axes: Any, height: float, grades: list[int], best: int, size: float) -> None:
    for rank, grade in enumerate(grades, start=1):
        darkness = 0.0 if grade == 0 else 0.18 + 0.5 * grade / best
        shade = (1 - 0.55 * darkness, 1 - 0.4 * darkness, 1 - 0.15 * darkness)
        style = {"facecolor": shade, "edgecolor": INK, "linewidth": 0.5}
        draw_box(axes, rank - 0.5, height - _HEIGHT / 2, 1, _HEIGHT, **style)
        write_centred(axes, rank, height, str(grade), fontsize=size)


def _draw_position(axes: Any, rank: int, nearest: int, rp: int, depth: int, size: float) -> None:
    colour = INK if rp == 0 else ABOVE if rp < 0 else BELOW
    sign = "+" if rp > 0 else "\N{MINUS SIGN}" if rp < 0 else ""
    turned = 90 if size < 7 else 0
    write_centred(axes, rank, _BELOW, f"{sign}{abs(rp)}", fontsize=size, color=colour, rotation=turned)
    if rp == 0:
        return
    # An arrow from outside the figure keeps its direction, and starts at the border.
    start, top, bottom = float(nearest), _IDEAL - _HEIGHT / 2, _LIST + _HEIGHT / 2
    if nearest > depth:
        start = depth + 0.6
        top = bottom + (top - bottom) * (start - rank) / (nearest - rank)
    axes.annotate(
        "", (rank, bottom), (start, top), gid=f"rank {rank}",
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 0.8 * size / 7, "shrinkA": 0, "shrinkB": 0,
                    "mutation_scale": 6},
    )  # fmt: skip
