"""Judges against each other: what one calls what, and where the runs go."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rankscope.errors import SettingsError, suggest_names
from rankscope.plots.figure import Figure
from rankscope.plots.style import ABOVE, BELOW, DOUBLE, INK, QUIET, SINGLE, blank, short, spread, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_confusion", "plot_slopes"]

_LABELLED = 45  # runs that have room for a name
_NAMED = 6  # runs that are named when not all can be: those that move most
_NAME_HEIGHT = 0.115  # inches of a name
_NONE = "none"


def plot_confusion(result: Result, *, width: float | None = None) -> Figure:
    """The grades of two judges against each other, a panel for each pair of judges; darker: more of the row.

    >>> import rankscope as rs
    >>> found = rs.judges({"one": {"q": {"a": 1, "b": 0}}, "other": {"q": {"a": 1, "b": 1}}})
    >>> [text.get_text() for text in plot_confusion(found).axes[0].texts]
    ['0', '1', '0', '1']
    """
    table = result["confusion"]
    pairs = list(dict.fromkeys((str(row[0]), str(row[1])) for row in table.rows))
    columns = min(3, len(pairs))
    lines = -(-len(pairs) // columns)
    size = width or (SINGLE if columns == 1 else DOUBLE)
    with styled():
        figure = blank(size, size / columns * lines * 0.95)
        panels = figure.subplots(lines, columns, squeeze=False)
        for panel in panels.flat[len(pairs) :]:
            panel.set_visible(False)
        for panel, pair in zip(panels.flat, pairs, strict=False):
            _confusion(panel, [row for row in table.rows if (row[0], row[1]) == pair], pair)
    return Figure(
        figure, tuple(panels.flat[: len(pairs)]), Table("confusion", table.columns, list(table.rows))
    )


def _confusion(axes: Any, rows: list[Any], pair: tuple[str, str]) -> None:
    sides = [sorted({row[side] for row in rows}, key=lambda grade: (grade is None, grade)) for side in (2, 3)]
    grades = sorted({g for side in sides for g in side if g is not None})
    down, across = ([*grades, *([None] if None in side else [])] for side in sides)
    counts = {(row[2], row[3]): int(row[4]) for row in rows}
    totals = {a: sum(counts.get((a, b), 0) for b in across) for a in down}
    shares = [[counts.get((a, b), 0) / max(1, totals[a]) for b in across] for a in down]
    axes.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1.1, edgecolors="white", linewidth=1)
    for y, a in enumerate(down):
        for x, b in enumerate(across):
            axes.text(
                x + 0.5, y + 0.5, f"{counts.get((a, b), 0):,}", ha="center", va="center", fontsize=7.5,
                color="white" if shares[y][x] > 0.65 else INK, fontweight="bold" if a == b else "normal",
            )  # fmt: skip
    axes.set_xticks([x + 0.5 for x in range(len(across))], [_NONE if g is None else str(g) for g in across])
    axes.set_yticks([y + 0.5 for y in range(len(down))], [_NONE if g is None else str(g) for g in down])
    axes.set_xlabel(f"grade by {short(pair[1], 24)}")
    axes.set_ylabel(f"grade by {short(pair[0], 24)}")
    axes.invert_yaxis()
    axes.grid(False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def plot_slopes(result: Result, measure: str | None = None, *, width: float = SINGLE) -> Figure:
    """The rank of every run under the first two judges, a line each; those that gain or lose beyond chance in colour.

    ``measure`` is the first one that was evaluated, unless set.

    >>> import rankscope as rs
    >>> sets = {"one": {"q": {"a": 1}, "r": {"a": 1}}, "other": {"q": {"b": 1}, "r": {"a": 1}}}
    >>> runs = {"x": {"q": ["a"], "r": ["a"]}, "y": {"q": ["b"], "r": ["c"]}}
    >>> plot_slopes(rs.judges(sets, runs, "AP")).table.column("rank_b")
    [1, 1]
    """
    if "bias" not in result.tables:
        raise SettingsError("there are no runs to rank under the judges", hint="name runs (--runs)")
    table = result["bias"]
    known = list(dict.fromkeys(str(name) for name in table.column("measure")))
    chosen = known[0] if measure is None else str(measure)
    if chosen not in known:
        hint = suggest_names(chosen, known) or f"choose one of {', '.join(known)}"
        raise SettingsError(f"the judges were not compared by {chosen!r}", hint=hint)
    records = [row for row in table.records() if row["measure"] == chosen]
    pair = records[0]["a"], records[0]["b"]
    records = [row for row in records if (row["a"], row["b"]) == pair]
    with styled():
        figure = blank(width, min(8.0, 1.2 + 0.14 * len(records)))
        axes = figure.subplots()
        moved = sorted(records, key=lambda row: -abs(_number(row["rank_a"]) - _number(row["rank_b"])))
        named = records if len(records) <= _LABELLED else moved[:_NAMED]
        for row in records:
            _slope(axes, row)
        for side, end in enumerate(("rank_a", "rank_b")):
            _name_side(axes, named, side, end)
        axes.set_xlim(-0.85, 1.85)
        axes.set_xticks([0, 1], [short(str(name), 20) for name in pair])
        axes.set_ylabel(f"rank by {chosen}")
        axes.set_yticks([1, *(tick for tick in axes.get_yticks() if 1 < tick <= len(records))])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_title("in colour: gains or loses beyond chance")
    rows = [tuple(row.values()) for row in records]
    return Figure(figure, (axes,), Table("slopes", table.columns, rows))


def _slope(axes: Any, row: dict[str, Cell]) -> None:
    ends = [_number(row["rank_a"]), _number(row["rank_b"])]
    low, high = _number(row["low"]), _number(row["high"])
    colour = BELOW if low > 0 else ABOVE if high < 0 else QUIET
    axes.plot(
        [0, 1], ends, color=colour, linewidth=1.1 if colour != QUIET else 0.7, marker="o", markersize=2.5,
        linestyle="solid" if colour != ABOVE else (0, (4, 1.5)), gid=str(row["run"]),
    )  # fmt: skip


def _name_side(axes: Any, rows: list[dict[str, Cell]], side: int, end: str) -> None:
    """Names at one end of the slopes; where runs share a rank or lie close, a thin line leads to the name."""
    rows = sorted((row for row in rows if isfinite(_number(row[end]))), key=lambda row: _number(row[end]))
    ranks = [_number(row[end]) for row in rows]
    # a name is as high as one rank where every run has one, and takes a larger part of the axis where ranks are few
    bottom, top = axes.get_ylim()
    inches = axes.figure.get_size_inches()[1] - 0.75
    gap = _NAME_HEIGHT * abs(top - bottom) / max(inches, 0.5)
    out = -1 if side == 0 else 1
    for row, rank, place in zip(rows, ranks, spread(ranks, gap), strict=True):
        if abs(place - rank) > 0.05 * gap:
            axes.plot(
                [side + 0.02 * out, side + 0.11 * out], [rank, place], color=QUIET, linewidth=0.4, gid="lead"
            )
        axes.text(
            side + 0.13 * out, place, short(str(row["run"]), 16), ha="right" if side == 0 else "left", va="center",
            fontsize=6, color=INK, gid=f"name {end}",
        )  # fmt: skip


def _number(value: Cell) -> float:
    return float("nan") if value is None else float(value)
