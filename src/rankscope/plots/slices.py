"""Runs on slices of topics: means, or differences from a baseline, with their intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

from rankscope.analysis.compare import Comparison
from rankscope.analysis.slices import Interaction, SliceDifference, slice_means
from rankscope.cells import format_cell
from rankscope.errors import SettingsError
from rankscope.measures.external import external_measure
from rankscope.plots import marks, style
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK, LOSS
from rankscope.rows import RowTable
from rankscope.scores import Scores

_PANEL = 0.6
"""Smallest width of a panel in inches."""


class _Drawn(NamedTuple):
    """Rows of a measure and an attribute, by run and slice."""

    table: RowTable[Any]
    label: str
    attribute: str
    sign: int
    alpha: float
    runs: list[str]
    cells: dict[tuple[str, str], Any]
    tests: dict[str, Interaction]


def plot_slices(
    result: Scores | Comparison,
    measure: str | None = None,
    by: str | None = None,
    *,
    width: float = style.DOUBLE,
) -> Figure:
    """Draw a row per run, best first, and a panel per slice of topics: means, or differences from a baseline.

    A comparison without a baseline is drawn against its best run. Significant differences are filled, and the right
    margin has the adjusted p-value of the interaction, red if another run leads on a slice. A few runs have panels, and
    slices have rows. Of more than 40 rows, the rest shares one; of more panels than fit, the largest slices are drawn.

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
    build: Any = _from_scores if is_means else _from_comparison
    drawn: _Drawn = build(result, measure, by)
    cells, tests, runs = drawn.cells, drawn.tests, drawn.runs
    sizes = {row.slice: row.topics for row in cells.values()}
    limit = int((width - 1.0) / _PANEL)
    is_turned = len(runs) <= min(limit, len(sizes) - 1)
    if is_turned:
        down, across, cells = list(sizes), runs, {(label, run): row for (run, label), row in cells.items()}
    else:
        largest = sorted(sizes, key=lambda label: -sizes[label])[:limit]
        down, across = runs, [label for label in sizes if label in largest]
    shown, rest = marks.split_rows(down)
    letters = int(15 * (width - 1.0) / len(across))
    options: dict[str, Any] = {"sharex": True, "sharey": True, "squeeze": False}
    with style.canvas(width, marks.rows_height(shown, rest, 1.5), 1, len(across), **options) as (
        figure,
        (grid,),
    ):
        for panel, title, axes in zip(across, _shorten_titles(across, letters), grid, strict=True):
            for y, row in ((y, cells[key, panel]) for y, key in enumerate(shown) if (key, panel) in cells):
                if is_means:
                    marks.draw_range(axes, style.finite_or_zero(row.low), style.finite_or_zero(row.high), y)
                    marks.draw_dot(axes, row.value, y, COLOURS[0], True)
                else:
                    marks.draw_difference(axes, row, y, drawn.sign)
            if not is_means:
                axes.axvline(0, color=INK, linewidth=0.7, zorder=0)
            note = _format_p(tests.get(panel), "p ") if is_turned else f"n {sizes[panel]:,}"
            axes.set_title(f"{title}\n{note}".strip(), fontsize=5.5, loc="center")
            marks.limit_ticks(axes.xaxis, 2 if width / len(across) < 1.5 else 4, integer=False)
            axes.tick_params(labelsize=5.5)
            axes.tick_params(axis="y", length=0)
            axes.grid(axis="y", visible=False)
        for panel, axes in zip(across, grid, strict=True):  # after all panels, which share their limits
            hidden = [cells[key, panel] for key in rest if (key, panel) in cells]
            marks.draw_rest(
                axes, len(shown), (row.value if is_means else row.difference for row in hidden), digits=2
            )
        noun = "slice" if is_turned else "run"
        marks.name_runs(
            grid[0], shown, len(rest), width=24 if style.is_wide(width) else 14, noun=noun, fontsize=5.5
        )
        for y, run in enumerate(() if is_turned else shown):
            colour = LOSS if run in tests and tests[run].alarm else INK
            marks.write_at_right(grid[-1], y, _format_p(tests.get(run)), x=1.05, fontsize=5.5, color=colour)
        if tests and not is_turned:
            marks.write_at_right(grid[-1], -1.0, "p", x=1.05, fontsize=5.5, style="italic")
        more = f", {len(across)} largest of {len(sizes)} slices" * (
            not is_turned and len(across) < len(sizes)
        )
        level = f"{100 * (1 - drawn.alpha):g} % interval"
        legend = marks.legend_differences(level + (", unadjusted" if is_means else ", Holm's correction"))
        below = marks.legend_below(figure, legend[3:] if is_means else legend, 2)
        text = f"{drawn.label}\nby {style.shorten(drawn.attribute, 24)}{more}"
        below.set_title(text if is_means else f"{text}\np: equal differences on all slices", {"size": 7})
    rows = [cells[key, panel] for key in down for panel in across if (key, panel) in cells]
    return Figure(figure, tuple(grid), drawn.table.subset("slices", rows))


def _from_scores(scores: Scores, measure: str | None, by: str | None) -> _Drawn:
    name = style.choose(measure, style.distinct(scores.measures), "{} was not evaluated")
    table = slice_means(scores.with_measures([name]), [by or "difficulty:3"])
    runs = [scores.runs[r] for r in scores.best_first(name)]
    cells = {(row.run, row.slice): row for row in table}
    return _Drawn(table, f"mean {name}", by or "difficulty:3", 1, 0.05, runs, cells, {})


def _from_comparison(result: Comparison, measure: str | None, by: str | None) -> _Drawn:
    if result.slices is None or result.interactions is None:
        raise SettingsError("the comparison has no slices", hint="compare with by= (--by)")
    name = style.choose(measure, style.distinct(row.measure for row in result.slices), "{} was not compared")
    attribute = style.choose(
        by, style.distinct(row.attribute for row in result.slices), "{} was not compared"
    )
    compared, means = external_measure(name, others=True), [row for row in result.runs if row.measure == name]
    best_first = [means[k].run for k in compared.best_first([row.mean for row in means])]
    baseline = result.settings["baseline"] or best_first[0]
    baseline = baseline if isinstance(baseline, str) else baseline[0]

    def select(table: RowTable[Any]) -> dict[str, list[Any]]:
        """Return the rows of each run that is compared with the baseline."""
        selected: dict[str, list[Any]] = {run: [] for run in best_first if run != baseline}
        for row in table:
            if (row.measure, row.attribute) == (name, attribute) and baseline in (row.a, row.b):
                selected[row.b if row.a == baseline else row.a].append(row)
        return selected

    cells = {
        (run, row.slice): row if row.b == baseline else _reverse(row)
        for run, rows in select(result.slices).items()
        for row in rows
    }
    tests = {run: row for run, rows in select(result.interactions).items() for row in rows}
    label = f"difference in {name} from {style.shorten(baseline, 20)}"
    alpha = result.settings["alpha"]
    return _Drawn(result.slices, label, attribute, compared.sign or 1, alpha, list(tests), cells, tests)


def _reverse(row: SliceDifference) -> SliceDifference:
    """Return the row with the runs swapped."""
    cells: dict[str, Any] = dict(zip(SliceDifference.specs, row, strict=True))
    cells |= {"a": row.b, "b": row.a, "difference": -row.difference, "low": -row.high, "high": -row.low}
    return SliceDifference(**cells)


def _shorten_titles(names: list[str], letters: int) -> list[str]:
    """Shorten names of panels; the ends of a long quantile bin have a line each."""
    if max(map(len, names)) <= letters or not all("–" in name for name in names):
        return style.shorten_all(names, letters)
    return ["–\n".join(style.shorten(end, letters) for end in name.split("–", 1)) for name in names]


def _format_p(test: Interaction | None, start: str = "") -> str:
    return "" if test is None else start + format_cell(test.adjusted, 3, p_value=True)
