"""Judges against each other: what one calls what, and where the runs go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope.errors import SettingsError, nearest
from rankscope.plots.figure import Figure
from rankscope.plots.style import ABOVE, BELOW, DOUBLE, INK, QUIET, SINGLE, blank, short, styled
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_confusion", "plot_slopes"]

_LABELLED = 45  # runs that have room for a name
_NAMED = 6  # runs that are named when not all can be: those that move most
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
        hint = nearest(chosen, known) or f"choose one of {', '.join(known)}"
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
            _slope(axes, row, row in named)
        axes.set_xlim(-0.75, 1.75)
        axes.set_xticks([0, 1], [short(str(name), 20) for name in pair])
        axes.set_ylabel(f"rank by {chosen}")
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_title("in colour: gains or loses beyond chance")
    rows = [tuple(row.values()) for row in records]
    return Figure(figure, (axes,), Table("slopes", table.columns, rows))


def _slope(axes: Any, row: dict[str, Cell], named: bool) -> None:
    ends = [_number(row["rank_a"]), _number(row["rank_b"])]
    low, high = _number(row["low"]), _number(row["high"])
    colour = BELOW if low > 0 else ABOVE if high < 0 else QUIET
    axes.plot(
        [0, 1], ends, color=colour, linewidth=1.1 if colour != QUIET else 0.7, marker="o", markersize=2.5,
        linestyle="solid" if colour != ABOVE else (0, (4, 1.5)), gid=str(row["run"]),
    )  # fmt: skip
    if named:
        name = short(str(row["run"]), 16)
        axes.text(-0.05, ends[0], name, ha="right", va="center", fontsize=6, color=INK)
        axes.text(1.05, ends[1], name, ha="left", va="center", fontsize=6, color=INK)


def _number(value: Cell) -> float:
    return float("nan") if value is None else float(value)
