"""Figures of comparisons: a forest of pairs with their intervals, and two runs topic by topic."""

from __future__ import annotations

from typing import Any

from rankscope.analysis.compare import Comparison, Pair
from rankscope.cells import format_cell
from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_dot, draw_range, name_rows
from rankscope.plots.palette import COLOURS, INK, QUIET
from rankscope.plots.style import DOUBLE, SINGLE, canvas, choose, distinct, finite_or_zero, shorten

_MAX_PAIRS = 40
"""Number of pairs of a forest: those with the largest effects."""


def plot_comparison(result: Comparison, measure: str | None = None, **options: Any) -> Figure:
    """Draw two runs topic by topic (:func:`plot_differences`), or a forest of several pairs (:func:`plot_forest`).

    Parameters
    ----------
    result
        Result of :func:`rankscope.compare`.
    measure
        Measure to draw (default: the first one).
    **options
        Options of the function that draws.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> result = rs.compare(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]))
    >>> plot_comparison(result).table.column("difference")
    [0.5, 0.5, 1.0, 1.0]
    """
    is_single = len({(pair.a, pair.b) for pair in result.pairs}) == 1
    draw = plot_differences if is_single and result.topics is not None else plot_forest
    return draw(result, measure, **options)


def plot_forest(result: Comparison, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw a row per pair: the mean difference a - b, its interval, adjusted p, effect size, topics won and lost.

    Significant differences are filled. At most 40 pairs are drawn, those with the largest effects.

    Parameters
    ----------
    result
        Result of :func:`rankscope.compare`.
    measure
        Measure to draw (default: the first one).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {name: {f"q{i}": ["b", "a"][: i % k] for i in range(5)} for name, k in (("x", 2), ("y", 3), ("z", 4))}
    >>> result = rs.compare(rs.evaluate({f"q{i}": {"a": 1} for i in range(5)}, runs, ["AP"]))
    >>> len(plot_forest(result).table)
    3
    """
    measure_name = _choose_measure(result, measure)
    pairs = [pair for pair in result.pairs if pair.measure == measure_name]
    rows = sorted(pairs, key=lambda pair: -abs(finite_or_zero(pair.effect_size)))[:_MAX_PAIRS]
    rows.sort(key=lambda pair: -finite_or_zero(pair.difference))
    with canvas(width, 0.9 + 0.18 * len(rows)) as (figure, axes):
        axes.axvline(0, color=INK, linewidth=0.7)
        for y, pair in enumerate(rows):
            value = finite_or_zero(pair.difference)
            colour, marker = (COLOURS[0], "o") if value >= 0 else (COLOURS[1], "s")
            draw_range(axes, finite_or_zero(pair.low), finite_or_zero(pair.high), y)
            draw_dot(axes, value, y, colour, pair.significant, marker)
        name_rows(axes, [f"{shorten(pair.a, 22)} − {shorten(pair.b, 22)}" for pair in rows])
        axes.set_ylim(len(rows) - 0.4, -1.1)
        right = axes.twinx()
        right.set_ylim(axes.get_ylim())
        texts = ["p   /   d   /   won–lost", *map(_format_numbers, rows)]
        right.set_yticks(range(-1, len(rows)), texts, fontsize=6.5)
        right.tick_params(axis="y", length=0)
        right.grid(visible=False)
        rest = f"; the {len(rows)} largest effects of {len(pairs):,} pairs" if len(pairs) > len(rows) else ""
        kind = f"{result.settings['intervals']} {_level(result)} intervals"
        axes.set_xlabel(f"difference in {measure_name}, {kind}; filled: significant{rest}")
    return Figure(figure, (axes,), result.pairs.subset("forest", rows))


def _level(result: Comparison) -> str:
    return f"{100 - 100 * result.settings['alpha']:g} %"


def _format_numbers(pair: Pair) -> str:
    """Format p, effect size and topics, for the right side of a row."""
    p = format_cell(pair.adjusted, 3, p_value=True)
    effect = f"{finite_or_zero(pair.effect_size):.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{p} / {effect} / {pair.wins}–{pair.losses}"


def plot_differences(
    result: Comparison,
    measure: str | None = None,
    *,
    pair: tuple[str, str] | None = None,
    width: float = SINGLE,
) -> Figure:
    """Draw the differences a - b of two runs by topic, losses of a first, and the interval of their mean.

    Parameters
    ----------
    result
        Result of :func:`rankscope.compare` with ``per_topic``.
    measure
        Measure to draw (default: the first one).
    pair
        Names of the two runs (default: the first pair).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(4)}, "poor": {f"q{i}": ["b", "a"][:i] for i in range(4)}}
    >>> result = rs.compare(rs.evaluate({f"q{i}": {"a": 1} for i in range(4)}, runs, ["AP"]), per_topic=True)
    >>> len(plot_differences(result).axes[0].patches) >= 4
    True
    """
    if result.topics is None:
        hint = "compare with per_topic=True (-q)"
        raise SettingsError("the comparison has no differences by topic", hint=hint)
    measure_name = _choose_measure(result, measure)
    pairs = {(row.a, row.b): row for row in result.pairs if row.measure == measure_name}
    if pair is not None and pair not in pairs:
        hint = "choose a pair of the table"
        raise SettingsError(f"{pair[0]!r} and {pair[1]!r} were not compared", hint=hint)
    names = pair or next(iter(pairs))
    compared = pairs[names]
    rows = [row for row in result.topics if row.measure == measure_name and (row.a, row.b) == names]
    values = [finite_or_zero(row.difference) for row in rows]
    with canvas(width, 2.3) as (figure, axes):
        axes.axhspan(
            finite_or_zero(compared.low), finite_or_zero(compared.high), color=QUIET, alpha=0.25, linewidth=0
        )
        axes.axhline(finite_or_zero(compared.difference), color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        for sign, colour, hatch in ((1, COLOURS[0], None), (-1, COLOURS[1], "////")):
            bars = {x: value for x, value in enumerate(values) if value * sign > 0}
            style = {"hatch": hatch, "edgecolor": "white"} if len(values) < 60 else {}
            bar_width = 0.86 if len(values) < 120 else 1.0
            axes.bar(list(bars), list(bars.values()), width=bar_width, color=colour, linewidth=0, **style)
        axes.axhline(0, color=INK, linewidth=0.7)
        axes.set_xticks([])
        if len(rows) <= 30:
            topics = [shorten(row.topic, 12) for row in rows]
            axes.set_xticks(range(len(rows)), topics, rotation=90, fontsize=5.5)
        axes.grid(axis="x", visible=False)
        axes.set(xlim=(-0.7, len(rows) - 0.3), xlabel=f"{len(rows):,} topics, largest loss of a first")
        axes.set_ylabel(f"difference in {measure_name}")
        axes.set_title(_title(result, compared), fontsize=6.5)
    return Figure(figure, (axes,), result.topics.subset("differences", rows))


def _title(result: Comparison, pair: Pair) -> str:
    mean, low, high = (f"{finite_or_zero(value):+.4f}" for value in (pair.difference, pair.low, pair.high))
    p, effect = format_cell(pair.adjusted, 3, p_value=True), f"{finite_or_zero(pair.effect_size):.2f}"
    unadjusted = "" if result.settings["intervals"] == "simultaneous" else " (unadjusted)"
    return (
        f"a: {shorten(pair.a, 40)}\nb: {shorten(pair.b, 40)}\n"
        f"a − b = {mean}, {_level(result)} interval {low} to {high}{unadjusted}\n"
        f"p = {p} ({result.settings['test']}), d = {effect};"
        f" won {pair.wins}, lost {pair.losses}, tied {pair.ties}"
    )


def _choose_measure(result: Comparison, measure: str | None) -> str:
    measures = distinct(result.settings.get("measures") or (row.measure for row in result.runs))
    return choose(measure, measures, "{} was not compared")
