"""Comparisons: a forest of pairs with their intervals, and two runs topic by topic."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from rankscope.cells import format_cell
from rankscope.errors import SettingsError, suggest_names
from rankscope.plots.figure import Figure
from rankscope.plots.style import COLOURS, DOUBLE, INK, QUIET, SINGLE, blank, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_comparison", "plot_differences", "plot_forest"]

_PAIRS = 40
"""Pairs of a forest; of more, those with the largest effects."""


def plot_comparison(result: Result, measure: str | None = None, **options: Any) -> Figure:
    """Two runs topic by topic where there is one pair, else a forest of the pairs.

    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> found = rs.compare(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]))
    >>> plot_comparison(found).table.column("difference")
    [0.5, 0.5, 1.0, 1.0]
    """
    pairs = {(row["a"], row["b"]) for row in result["pairs"].records()} if len(result["pairs"]) < 1000 else ()
    draw = plot_differences if len(pairs) == 1 and "topics" in result.tables else plot_forest
    return draw(result, measure, **options)


def plot_forest(result: Result, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """A row per pair: the mean difference a - b with its interval, p adjusted, effect size, topics won and lost.

    Filled: significant. Of more than 40 pairs those with the largest effects are drawn.

    >>> import rankscope as rs
    >>> runs = {name: {f"q{i}": ["b", "a"][: i % k] for i in range(5)} for name, k in (("x", 2), ("y", 3), ("z", 4))}
    >>> found = rs.compare(rs.evaluate({f"q{i}": {"a": 1} for i in range(5)}, runs, ["AP"]))
    >>> len(plot_forest(found).table)
    3
    """
    chosen = _chosen(result, measure)
    rows = [row for row in result["pairs"].records() if row["measure"] == chosen]
    many = len(rows)
    rows = sorted(rows, key=lambda row: -abs(_finite(row["effect_size"])))[:_PAIRS]
    rows.sort(key=lambda row: -_finite(row["difference"]))
    with styled():
        figure = blank(width, 0.9 + 0.18 * len(rows))
        axes = figure.subplots()
        axes.axvline(0, color=INK, linewidth=0.7)
        for place, row in enumerate(rows):
            _interval(axes, place, row)
        axes.set_yticks(
            range(len(rows)), [f"{short(str(row['a']), 22)} − {short(str(row['b']), 22)}" for row in rows]
        )
        axes.set_ylim(len(rows) - 0.4, -1.1)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        beside = axes.twinx()
        beside.set_ylim(axes.get_ylim())
        beside.set_yticks(
            range(-1, len(rows)), ["p   /   d   /   won–lost", *map(_numbers, rows)], fontsize=6.5
        )
        beside.tick_params(axis="y", length=0)
        beside.grid(visible=False)
        level = f"{100 - 100 * result.settings['alpha']:g} %"
        rest = f"; the {len(rows)} largest effects of {many:,} pairs" if many > len(rows) else ""
        kind = f"{result.settings['intervals']} {level} intervals"
        axes.set_xlabel(f"difference in {chosen}, {kind}; filled: significant{rest}")
    columns = result["pairs"].columns
    return Figure(figure, (axes,), Table("forest", columns, [tuple(row.values()) for row in rows]))


def _interval(axes: Any, place: int, row: dict[str, Any]) -> None:
    low, high, value = (_finite(row[name]) for name in ("low", "high", "difference"))
    axes.plot([low, high], [place, place], color=QUIET, linewidth=1.3, solid_capstyle="butt")
    colour = COLOURS[0] if value >= 0 else COLOURS[1]
    face = colour if row["significant"] else "white"
    marker = "o" if value >= 0 else "s"
    axes.plot(value, place, marker=marker, markersize=4, markerfacecolor=face, markeredgecolor=colour)


def _numbers(row: dict[str, Any]) -> str:
    """p, effect size and topics, for the place beside a row."""
    p = format_cell(row["adjusted"], 3, p_value=True)
    effect = f"{_finite(row['effect_size']):.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{p} / {effect} / {row['wins']}–{row['losses']}"


def plot_differences(
    result: Result, measure: str | None = None, *, pair: tuple[str, str] | None = None, width: float = SINGLE
) -> Figure:
    """Two runs topic by topic, a's losses first: bars a - b, and behind them the interval of their mean.

    ``pair`` is the first one unless set.

    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> found = rs.compare(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]), per_topic=True)
    >>> len(plot_differences(found).axes[0].patches) >= 4
    True
    """
    if "topics" not in result.tables:
        raise SettingsError("no differences of topics were kept", hint="compare with per_topic=True (-q)")
    chosen = _chosen(result, measure)
    known = {(row["a"], row["b"]): row for row in result["pairs"].records() if row["measure"] == chosen}
    if pair is not None and pair not in known:
        raise SettingsError(
            f"{pair[0]!r} and {pair[1]!r} were not compared", hint="choose a pair of the table"
        )
    two = known[pair or next(iter(known))]
    rows = [
        row
        for row in result["topics"].records()
        if (row["measure"], row["a"], row["b"]) == (chosen, two["a"], two["b"])
    ]
    values = [_finite(row["difference"]) for row in rows]
    with styled():
        figure = blank(width, 2.3)
        axes = figure.subplots()
        axes.axhspan(_finite(two["low"]), _finite(two["high"]), color=QUIET, alpha=0.25, linewidth=0)
        axes.axhline(_finite(two["difference"]), color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        for sign, colour, hatch in ((1, COLOURS[0], None), (-1, COLOURS[1], "////")):
            mine = [(k, value) for k, value in enumerate(values) if value * sign > 0]
            wide = 0.86 if len(values) < 120 else 1.0
            hatched = (
                {"hatch": hatch, "edgecolor": "white", "linewidth": 0}
                if len(values) < 60
                else {"linewidth": 0}
            )
            axes.bar([k for k, _ in mine], [value for _, value in mine], width=wide, color=colour, **hatched)
        axes.axhline(0, color=INK, linewidth=0.7)
        if len(rows) <= 30:
            axes.set_xticks(
                range(len(rows)), [short(str(row["topic"]), 12) for row in rows], rotation=90, fontsize=5.5
            )
        else:
            axes.set_xticks([])
        axes.set_xlim(-0.7, len(rows) - 0.3)
        axes.grid(axis="x", visible=False)
        axes.set_xlabel(f"{len(rows):,} topics, largest loss of a first")
        axes.set_ylabel(f"difference in {chosen}")
        axes.set_title(_words(result, two), fontsize=6.5)
    return Figure(
        figure, (axes,), Table("differences", result["topics"].columns, [tuple(row.values()) for row in rows])
    )


def _words(result: Result, pair: dict[str, Any]) -> str:
    level = f"{100 - 100 * result.settings['alpha']:g} %"
    mean, low, high = (f"{_finite(pair[name]):+.4f}" for name in ("difference", "low", "high"))
    p, effect = format_cell(pair["adjusted"], 3, p_value=True), f"{_finite(pair['effect_size']):.2f}"
    alone = "" if result.settings["intervals"] == "simultaneous" else " (unadjusted)"
    return (
        f"a: {short(str(pair['a']), 40)}\nb: {short(str(pair['b']), 40)}\n"
        f"a − b = {mean}, {level} interval {low} to {high}{alone}\n"
        f"p = {p} ({result.settings['test']}), d = {effect};"
        f" won {pair['wins']}, lost {pair['losses']}, tied {pair['ties']}"
    )


def _chosen(result: Result, measure: str | None) -> str:
    known = [str(name) for name in result.settings.get("measures") or []]
    known = known or list(dict.fromkeys(str(name) for name in result["runs"].column("measure")))
    chosen = known[0] if measure is None else str(measure)
    if chosen not in known:
        hint = suggest_names(chosen, known) or f"choose one of {', '.join(known)}"
        raise SettingsError(f"{chosen!r} was not compared", hint=hint)
    return chosen


def _finite(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and isfinite(value) else 0.0
