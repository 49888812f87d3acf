"""The leaderboard with what it does not know: intervals of the means, and the ranks that a run may have."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rankscope.errors import SettingsError, suggest_names
from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, INK, QUIET, SINGLE, blank, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_leaderboard"]


def plot_leaderboard(result: Result, measure: str | None = None, *, width: float = SINGLE) -> Figure:
    """A row per run, best first: its mean, Student's interval, and on the right the range of its rank.

    Runs that are tied for first have filled dots. ``measure`` is the first one, unless set.

    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> board = rs.leaderboard(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]))
    >>> [text.get_text() for text in plot_leaderboard(board).axes[0].texts]
    ['1', '2']
    """
    table = result["leaderboard"]
    known = list(dict.fromkeys(str(name) for name in table.column("measure")))
    chosen = known[0] if measure is None else str(measure)
    if chosen not in known:
        hint = suggest_names(chosen, known) or f"choose one of {', '.join(known)}"
        raise SettingsError(f"the leaderboard has no {chosen!r}", hint=hint)
    rows = [row for row in table.records() if row["measure"] == chosen]
    with styled():
        figure = blank(width, min(9.0, 0.7 + 0.17 * len(rows)))
        axes = figure.subplots()
        for place, row in enumerate(rows):
            _draw(axes, place, row)
        axes.set_yticks(range(len(rows)), [short(str(row["run"]), 20) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        level = f"{100 * (1 - result.settings['alpha']):g} %"
        axes.set_xlabel(f"mean {chosen}, {level} intervals (unadjusted); right: ranks")
    return Figure(figure, (axes,), Table("leaderboard", table.columns, [tuple(row.values()) for row in rows]))


def _draw(axes: Any, place: int, row: dict[str, Any]) -> None:
    value, low, high = row["value"], row["low"], row["high"]
    if low is not None and high is not None and isfinite(high - low):
        axes.plot([low, high], [place, place], color=QUIET, linewidth=1.1, solid_capstyle="butt")
    if value is not None and isfinite(value):
        face = COLOURS[0] if row["tied_for_first"] else "white"
        axes.plot(value, place, marker="o", markersize=4, markerfacecolor=face, markeredgecolor=COLOURS[0])
    if row["first_rank"] is not None:
        first, last = row["first_rank"], row["last_rank"]
        text = str(first) if first == last else f"{first}–{last}"
        axes.text(1.02, place, text, transform=axes.get_yaxis_transform(), va="center", fontsize=7, color=INK)
