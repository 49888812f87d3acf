"""Judges: confusion of their grades, and ranks of the runs under each."""

from __future__ import annotations

from typing import Any

from rankscope.analysis.judges import GradePair, Judges, RunGain
from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.marks import hide_frame, legend_below, legend_line, rank_ticks, spread, write_centred
from rankscope.plots.palette import GAIN, INK, LOSS, QUIET
from rankscope.plots.style import DOUBLE, SINGLE, canvas, choose_measure, shorten, shorten_all
from rankscope.tables import Table

_LABELLED = 45  # More names do not fit into the figure.
_NAMED = 6  # If not all names fit, the runs that move most are named.
_NAME_HEIGHT = 0.115  # inches
_NONE = "none"
_DASH = (0, (4, 1.5))


def plot_confusion(result: Judges, *, width: float | None = None) -> Figure:
    """Draw the grades of two judges against each other, a panel for each pair of judges; darker: more of the row.

    Parameters
    ----------
    result
        Result of :func:`rankscope.judges`.
    width
        Width in inches (default: by the number of pairs of judges).

    Examples
    --------
    >>> import rankscope as rs
    >>> found = rs.judges({"one": {"q": {"a": 1, "b": 0}}, "other": {"q": {"a": 1, "b": 1}}})
    >>> [text.get_text() for text in plot_confusion(found).axes[0].texts]
    ['0', '1', '0', '1']
    """
    rows = list(result.confusion)
    pairs = list(dict.fromkeys((row.a, row.b) for row in rows))
    columns = min(3, len(pairs))
    lines = -(-len(pairs) // columns)
    size = width or (SINGLE if columns == 1 else DOUBLE)
    with canvas(size, size / columns * lines * 0.95, lines, columns, squeeze=False) as (figure, panels):
        for panel in panels.flat[len(pairs) :]:
            panel.set_visible(False)
        for panel, pair in zip(panels.flat, pairs, strict=False):
            _confusion(panel, [row for row in rows if (row.a, row.b) == pair], pair)
        figure.supxlabel("darker: larger share of the row; bold: same grade", fontsize=7)
    return Figure(figure, tuple(panels.flat[: len(pairs)]), result.confusion)


def _confusion(axes: Any, rows: list[GradePair], pair: tuple[str, str]) -> None:
    sides = {row.grade_a for row in rows}, {row.grade_b for row in rows}
    grades = sorted(grade for grade in set.union(*sides) if grade is not None)
    down, across = ([*grades, *([None] if None in side else [])] for side in sides)
    counts = {(row.grade_a, row.grade_b): row.documents for row in rows}
    totals = {a: sum(counts.get((a, b), 0) for b in across) for a in down}
    shares = [[counts.get((a, b), 0) / max(1, totals[a]) for b in across] for a in down]
    axes.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1.1, edgecolors="white", linewidth=1)
    for y, a in enumerate(down):
        for x, b in enumerate(across):
            style: Any = {"fontweight": "bold" if a == b else "normal", "fontsize": 7.5}
            style["color"] = "white" if shares[y][x] > 0.75 else INK
            write_centred(axes, x + 0.5, y + 0.5, f"{counts.get((a, b), 0):,}", **style)
    for axis, grades_of_judge, judge in ((axes.xaxis, across, pair[1]), (axes.yaxis, down, pair[0])):
        names = [_NONE if grade is None else str(grade) for grade in grades_of_judge]
        axis.set_ticks([k + 0.5 for k in range(len(names))], names)
        axis.set_label_text(f"grade by {shorten(judge, 24)}")
    axes.invert_yaxis()
    hide_frame(axes)


def plot_slopes(result: Judges, measure: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw the rank of every run under the first two judges; runs that gain or lose beyond chance are in colour.

    Parameters
    ----------
    result
        Result of :func:`rankscope.judges` with runs.
    measure
        Measure to draw (default: the first one).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> sets = {"one": {"q": {"a": 1}, "r": {"a": 1}}, "other": {"q": {"b": 1}, "r": {"a": 1}}}
    >>> runs = {"x": {"q": ["a"], "r": ["a"]}, "y": {"q": ["b"], "r": ["c"]}}
    >>> plot_slopes(rs.judges(sets, rs.Collection(None, runs), "AP")).table.column("rank_b")
    [1, 1]
    """
    if result.bias is None:
        raise SettingsError("there are no runs to rank under the judges", hint="name runs (--runs)")
    measure_name, rows = choose_measure(result.bias, measure, "the judges were not compared by {}")
    pair = rows[0].a, rows[0].b
    rows = [row for row in rows if (row.a, row.b) == pair]
    with canvas(width, min(7.0, 1.4 + 0.14 * len(rows))) as (figure, axes):
        moved = sorted(rows, key=lambda row: -abs(row.rank_a - row.rank_b))
        named = rows if len(rows) <= _LABELLED else moved[:_NAMED]
        for row in rows:
            colour = GAIN if row.low > 0 else LOSS if row.high < 0 else QUIET
            dash = _DASH if colour == LOSS else "solid"
            look = {"linewidth": 0.7 if colour == QUIET else 1.1, "linestyle": dash}
            ends = [row.rank_a, row.rank_b]
            axes.plot([0, 1], ends, color=colour, marker="o", markersize=2.5, gid=row.run, **look)
        for side in (0, 1):
            _name_side(axes, named, side)
        axes.set_xlim(-1.1, 2.1)
        axes.set_xticks([0, 1], [shorten(name, 20) for name in pair])
        axes.set_ylabel(f"rank by {measure_name}")
        axes.set_yticks(rank_ticks(len(rows), 8))
        axes.set_xlabel(f"names: the {len(named)} runs that move most" if len(named) < len(rows) else "")
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        legend = [
            legend_line("gains beyond chance", color=GAIN),
            legend_line("loses beyond chance", color=LOSS, linestyle=_DASH),
            legend_line("within chance", color=QUIET, linewidth=0.7),
        ]
        legend_below(figure, legend, 3)
    return Figure(figure, (axes,), Table("slopes", result.bias.columns, rows))


def _name_side(axes: Any, rows: list[RunGain], side: int) -> None:
    """Draw names at one end of the slopes; where runs share a rank or lie close, a thin line leads to the name."""
    ranked = sorted((((row.rank_a, row.rank_b)[side], row.run) for row in rows), key=lambda item: item[0])
    ranks = [float(rank) for rank, _ in ranked]
    # A name is as high as one rank where every run has one, and takes a larger part of the axis where ranks are few.
    bottom, top = axes.get_ylim()
    inches = axes.figure.get_size_inches()[1] - 0.95
    gap = _NAME_HEIGHT * abs(top - bottom) / max(inches, 0.5)
    out = -1 if side == 0 else 1
    names = shorten_all((run for _, run in ranked), 14)
    for (rank, _), height, name in zip(ranked, spread(ranks, gap), names, strict=True):
        if abs(height - rank) > 0.05 * gap:
            ends = [side + 0.02 * out, side + 0.11 * out]
            axes.plot(ends, [rank, height], color=QUIET, linewidth=0.4, gid="lead")
        axes.text(
            side + 0.13 * out, height, name, ha="right" if side == 0 else "left", va="center",
            fontsize=6, color=INK, gid=f"name {('rank_a', 'rank_b')[side]}",
        )  # fmt: skip
