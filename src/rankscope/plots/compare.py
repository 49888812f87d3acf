"""Figures of comparisons: a forest of pairs with their intervals, and two runs topic by topic."""

from typing import Any

from rankscope.analysis.compare import Comparison, Pair
from rankscope.cells import format_cell
from rankscope.errors import SettingsError
from rankscope.measures.grammar import external_measure
from rankscope.plots import marks, style
from rankscope.plots.figure import Figure
from rankscope.plots.palette import GAIN, INK, LOSS, QUIET
from rankscope.plots.slices import plot_slices


def plot_comparison(result: Comparison, measure: str | None = None, **options: Any) -> Figure:
    """Draw slices, if there are any, or two runs topic by topic, or a forest of several pairs.

    The functions are :func:`plot_slices`, :func:`plot_differences` and :func:`plot_forest`.

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
    if result.slices is not None:
        return plot_slices(result, measure, **options)
    is_single = len({(pair.a, pair.b) for pair in result.pairs}) == 1
    draw = plot_differences if is_single and result.topics is not None else plot_forest
    return draw(result, measure, **options)


def plot_forest(result: Comparison, measure: str | None = None, *, width: float = style.DOUBLE) -> Figure:
    """Draw a row per pair: the mean difference a - b, its interval, adjusted p, effect size, topics won and lost.

    Significant differences are filled. With more than 40 pairs, those of the best runs have rows, and the others share
    one.

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
    baseline = pairs[0].b if len({pair.b for pair in pairs}) == 1 < len(pairs) else None
    rank = {row.run: place for place, row in enumerate(result.best_first(measure_name))}
    pairs.sort(key=lambda pair: sorted((rank[pair.a], rank[pair.b]), reverse=True))
    rows, rest = marks.split_rows(pairs)
    sign = external_measure(measure_name, others=True).sign or 1
    rows.sort(key=lambda pair: -style.finite_or_zero(pair.difference))
    # Next to the names of two runs, a column of a paper has no room for the three numbers of a row.
    length, size, numbers = (22, 7.0, True) if style.is_wide(width) else (13, 5.5, False)
    with style.canvas(width, marks.rows_height(rows, rest, 1.2)) as (figure, axes):
        axes.axvline(0, color=INK, linewidth=0.7)
        for y, pair in enumerate(rows):
            marks.draw_difference(axes, pair, y, sign)
        if not numbers:
            marks.limit_ticks(axes.xaxis, 4, integer=False, steps=(1, 2, 2.5, 5, 10))
        marks.draw_rest(axes, len(rows), (pair.difference for pair in rest))
        names = style.shorten_all(
            (run for pair in rows for run in (pair.a, pair.b)), length + 9 * bool(baseline)
        )
        texts = [a if baseline else f"{a} − {b}" for a, b in zip(names[::2], names[1::2], strict=True)]
        noun = "run" if baseline else "pair"
        marks.name_runs(axes, texts, len(rest), width=2 * length + 3, noun=noun, fontsize=size)
        axes.set_ylim(axes.get_ylim()[0], -1.1)
        marks.write_at_right(axes, -0.8, "p / d / won–lost" if numbers else "p", fontsize=size)
        for y, pair in enumerate(rows):
            marks.write_at_right(axes, y, _format_numbers(pair, numbers), fontsize=size)
        axes.set_xlabel(
            f"difference in {measure_name}" + (f" from {style.shorten(baseline)}" if baseline else "")
        )
        kind = f"{result.settings['intervals']} {_level(result)} interval"
        words = ("better", "worse") if baseline else ("a is better", "b is better")
        marks.legend_below(figure, marks.legend_differences(kind, *words), 4)
    return Figure(figure, (axes,), result.pairs.subset("forest", rows))


def _level(result: Comparison) -> str:
    return f"{100 - 100 * result.settings['alpha']:g} %"


def _format_numbers(pair: Pair, is_complete: bool) -> str:
    """Format p and, if there is room, effect size and topics, for the right side of a row."""
    p = format_cell(pair.adjusted, 3, p_value=True)
    if not is_complete:
        return p
    effect = f"{style.finite_or_zero(pair.effect_size):.2f}".replace("-", "\N{MINUS SIGN}")
    return f"{p} / {effect} / {pair.wins}–{pair.losses}"


def plot_differences(
    result: Comparison,
    measure: str | None = None,
    *,
    pair: tuple[str, str] | None = None,
    width: float = style.SINGLE,
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
    values = [style.finite_or_zero(row.difference) for row in rows]
    with style.canvas(width, 2.4) as (figure, axes):
        mean, low, high = map(style.finite_or_zero, (compared.difference, compared.low, compared.high))
        axes.axhspan(low, high, color=QUIET, alpha=0.25, linewidth=0)
        axes.axhline(mean, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        for sign, colour, hatch in ((1, GAIN, None), (-1, LOSS, "////")):
            bars = {x: value for x, value in enumerate(values) if value * sign > 0}
            look = {"hatch": hatch, "edgecolor": "white"} if len(values) < 60 else {}
            bar_width = 0.86 if len(values) < 120 else 1.0
            axes.bar(list(bars), list(bars.values()), width=bar_width, color=colour, linewidth=0, **look)
        axes.axhline(0, color=INK, linewidth=0.7)
        marks.name_columns(axes, [row.topic for row in rows], width)
        axes.grid(axis="x", visible=False)
        order = f"{len(rows):,} topics, largest loss of a first\n(dashed: mean; grey: its interval)"
        axes.set(xlim=(-0.7, len(rows) - 0.3), xlabel=order)
        axes.set_ylabel(f"difference in {measure_name}")
        axes.set_title(_title(result, compared), fontsize=5.5 if width < 4 else 6.5)
    return Figure(figure, (axes,), result.topics.subset("differences", rows))


def _title(result: Comparison, pair: Pair) -> str:
    numbers = [f"{style.finite_or_zero(value):+.4f}" for value in (pair.difference, pair.low, pair.high)]
    numbers.append(f"{style.finite_or_zero(pair.effect_size):.2f}")
    mean, low, high, effect = (number.replace("-", "\N{MINUS SIGN}") for number in numbers)
    p = format_cell(pair.adjusted, 3, p_value=True)
    unadjusted = "" if result.settings["intervals"] == "simultaneous" else " (unadjusted)"
    return (
        f"a: {style.shorten(pair.a, 40)}\nb: {style.shorten(pair.b, 40)}\n"
        f"a − b = {mean}, {_level(result)}: {low} to {high}{unadjusted}\n"
        f"p {p if p.startswith('<') else f'= {p}'} ({result.settings['test']}), d = {effect};"
        f" won {pair.wins}, lost {pair.losses}, tied {pair.ties}"
    )


def _choose_measure(result: Comparison, measure: str | None) -> str:
    measures = style.distinct(result.settings.get("measures") or (row.measure for row in result.runs))
    return style.choose(measure, measures, "{} was not compared")
