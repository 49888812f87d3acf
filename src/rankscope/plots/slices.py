"""Runs on slices of topics: means, or differences from a baseline, with their intervals."""

from typing import Any

from rankscope.analysis.compare import Comparison
from rankscope.analysis.slices import Interaction, SliceDifference, slice_means
from rankscope.cells import format_cell
from rankscope.errors import SettingsError
from rankscope.measures.grammar import external_measure
from rankscope.plots import marks, style
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK, LOSS
from rankscope.plots.style import DOUBLE, canvas
from rankscope.scores import Scores


def plot_slices(
    result: Scores | Comparison, measure: str | None = None, by: str | None = None, *, width: float = DOUBLE
) -> Figure:
    """Draw a row per run, best first, and a panel per slice of topics: means, or differences from a baseline.

    A comparison without a baseline is drawn against its best run. Significant differences are filled, and the right
    margin has the adjusted p-value of the interaction, red if another run leads on a slice. A few runs have panels, and
    slices have rows. With more than 40 rows, the others share one; if not all panels fit, the largest slices are drawn.

    Parameters
    ----------
    result
        Scores, or result of :func:`rankscope.compare` with ``by``.
    measure
        Measure to draw (default: the first one).
    by
        Attribute of topics (default: the first one of the comparison; difficulty:3 of scores).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {f"q{i}": ["a"] for i in range(6)}, "poor": {f"q{i}": ["a", "b"][i % 2 :] for i in range(6)}}
    >>> scores = rs.evaluate({f"q{i}": {"a": 1} for i in range(6)}, runs, ["AP"])
    >>> plot_slices(rs.compare(scores, "poor", by="difficulty:2")).table.column("difference")
    [1.0, 0.0]
    """
    is_means = isinstance(result, Scores)
    select: Any = _select_means if is_means else _select_differences
    name, label, interval, runs, rows, tests = select(result, measure, by)
    sign = external_measure(name, others=True).sign or 1
    value = "value" if is_means else "difference"
    sizes = {row.slice: row.topics for row in rows}
    limit = int((width - 1.0) / 0.6)  # A panel is 0.6 inches wide at least.
    is_turned = len(runs) <= min(limit, len(sizes) - 1)
    largest = sorted(sizes, key=lambda part: -sizes[part])[:limit]
    down, across = runs, [part for part in sizes if part in largest]
    cells = {(row[0], row.slice): row for row in rows}
    if is_turned:
        down, across, cells = list(sizes), runs, {(part, run): row for (run, part), row in cells.items()}
    shown, rest = marks.split_rows(down)
    height, letters = marks.rows_height(shown, rest, 1.5), int(15 * (width - 1.0) / len(across))
    with canvas(width, height, 1, len(across), sharex=True, sharey=True, squeeze=False) as (figure, (grid,)):
        for panel, title, axes in zip(across, _shorten_titles(across, letters), grid, strict=True):
            for y, row in enumerate(cells[key, panel] for key in shown):
                if is_means:
                    marks.draw_range(axes, style.finite_or_zero(row.low), style.finite_or_zero(row.high), y)
                    marks.draw_dot(axes, row.value, y, COLOURS[0], True)
                else:
                    marks.draw_difference(axes, row, y, sign)
            if not is_means:
                axes.axvline(0, color=INK, linewidth=0.7, zorder=0)
            note = f"n {sizes[panel]:,}" if not is_turned else f"p {_format_p(tests[panel])}" if tests else ""
            axes.set_title(f"{title}\n{note}".strip(), fontsize=5.5, loc="center")
            marks.limit_ticks(axes.xaxis, 2 if width / len(across) < 1.5 else 4, integer=False)
            axes.tick_params(labelsize=5.5)
        noun, letters = "slice" if is_turned else "run", 24 if style.is_wide(width) else 14
        for panel, axes in zip(across, grid, strict=True):  # after all panels, which share their limits
            marks.draw_rest(axes, len(shown), (getattr(cells[key, panel], value) for key in rest), digits=2)
            marks.name_runs(axes, shown, len(rest), width=letters, noun=noun, fontsize=5.5)
        if tests and not is_turned:
            for y, test in enumerate(tests[run] for run in shown):
                colour = LOSS if test.alarm else INK
                marks.write_at_right(grid[-1], y, _format_p(test), x=1.05, fontsize=5.5, color=colour)
            marks.write_at_right(grid[-1], -1.0, "p", x=1.05, fontsize=5.5, style="italic")
        is_cut = not is_turned and len(across) < len(sizes)
        label += f", {len(across)} largest of {len(sizes)} slices" if is_cut else ""
        label += "" if is_means else "\np: equal differences on all slices"
        legend = marks.legend_differences(interval)
        marks.legend_below(figure, legend[3:] if is_means else legend, 2).set_title(label, {"size": 7})
    drawn = [cells[key, panel] for key in down for panel in across]
    return Figure(figure, tuple(grid), type(rows[0]).table("slices", drawn))


_Selection = tuple[str, str, str, list[str], list[Any], dict[str, Interaction]]
"""Measure, label, kind of the intervals, runs, best first, rows of runs and slices, and tests by run."""


def _select_means(scores: Scores, measure: str | None, by: str | None) -> _Selection:
    name = style.choose(measure, style.distinct(scores.measures), "{} was not evaluated")
    attribute = by or "difficulty:3"
    runs = [scores.runs[r] for r in scores.best_first(name)]
    rows = slice_means(scores.with_measures([name]), attribute)
    label = f"mean {name}\nby {style.shorten(attribute, 24)}"
    return name, label, "95 % interval, unadjusted", runs, list(rows), {}


def _select_differences(result: Comparison, measure: str | None, by: str | None) -> _Selection:
    if result.slices is None or result.interactions is None:
        raise SettingsError("the comparison has no slices", hint="compare with by= (--by)")
    problem = "{} was not compared"
    name, rows = style.choose_measure(result.slices, measure, problem)
    attribute = style.choose(by, style.distinct(row.attribute for row in rows), problem)
    runs = [row.run for row in result.best_first(name)]
    baseline = result.settings["baseline"] or runs[0]
    baseline = baseline if isinstance(baseline, str) else baseline[0]
    rows = [row for row in rows if row.attribute == attribute and baseline in (row.a, row.b)]
    rows = [row if row.b == baseline else _reverse(row) for row in rows]
    tests = [row for row in result.interactions if (row.measure, row.attribute) == (name, attribute)]
    tested = {row.b if row.a == baseline else row.a: row for row in tests if baseline in (row.a, row.b)}
    label = f"difference in {name} from {style.shorten(baseline, 20)}\nby {style.shorten(attribute, 24)}"
    interval = f"{100 * (1 - result.settings['alpha']):g} % interval, Holm's correction"
    return name, label, interval, [run for run in runs if run != baseline], rows, tested


def _reverse(row: SliceDifference) -> SliceDifference:
    """Return the row with the runs swapped."""
    values = -row.difference, -row.high, -row.low, row.p, row.adjusted, row.significant
    return SliceDifference(row.b, row.a, row.measure, row.attribute, row.slice, row.topics, *values)


def _shorten_titles(names: list[str], letters: int) -> list[str]:
    """Shorten names of panels; the ends of a long quantile bin have a line each."""
    if max(map(len, names)) <= letters or not all("–" in name for name in names):
        return style.shorten_all(names, letters)
    return ["–\n".join(style.shorten(end, letters) for end in name.split("–", 1)) for name in names]


def _format_p(test: Interaction) -> str:
    return format_cell(test.adjusted, 3, p_value=True)
