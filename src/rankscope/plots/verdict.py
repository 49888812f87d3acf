"""Winners by families of measures: regions of cutoffs and persistence for two runs, possible ranks for many."""

from collections.abc import Iterable, Sequence
from typing import Any

from rankscope.analysis.verdict import MeasureWinner, Region, Verdict
from rankscope.errors import SettingsError
from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK
from rankscope.plots.style import SINGLE, canvas, distinct, shorten
from rankscope.tables import Table


def plot_verdict(result: Verdict, **options: Any) -> Figure:
    """Draw the regions of two runs (:func:`plot_regions`) or the possible ranks of many (:func:`plot_ranks`).

    Parameters
    ----------
    result
        Result of :func:`rankscope.verdict`.
    **options
        Options of the function that draws.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a"]}, "y": {"q": ["n", "a"]}}
    >>> plot_verdict(rs.verdict(rs.evaluate({"q": {"a": 1}}, runs, "AP"))).table.name
    'regions'
    """
    return plot_ranks(result, **options) if result.regions is None else plot_regions(result, **options)


def plot_regions(result: Verdict, *, width: float = SINGLE) -> Figure:
    """Draw which of two runs has the higher mean, for every cutoff of P, R, DCG, nDCG and every p of RBP.

    Every family has a bar in the colour (and hatching) of the winner; marks in it are the measures of the scores.

    Parameters
    ----------
    result
        Result of :func:`rankscope.verdict` for two runs.
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a", "n", "m"]}, "y": {"q": ["n", "a", "b"]}}
    >>> figure = plot_regions(rs.verdict(rs.evaluate({"q": {"a": 1, "b": 1}}, runs, "AP")))
    >>> [tuple(row) for row in figure.table.rows[-2:]]
    [('RBP(p)', 0.0, 0.6180339887498949, 'x'), ('RBP(p)', 0.6180339887498949, 1.0, 'y')]
    """
    if result.regions is None or result.verdict is None or result.measures is None:
        raise SettingsError("only two runs have regions", hint="choose them with pair=")
    regions = list(result.regions)
    names = [result.verdict[0].a, result.verdict[0].b]
    cutoff_regions = [row for row in regions if row.family != "RBP(p)"]
    families = distinct(row.family for row in cutoff_regions)
    ratios = [len(families), 1]
    with canvas(width, 2.5, 2, height_ratios=ratios) as (figure, (cutoffs, persistence)):
        for height, family in enumerate(families):
            _bars(cutoffs, [row for row in regions if row.family == family], height, names, margin=0.5)
        _marks(cutoffs, result.measures, families)
        deepest = max(int(row.to) for row in cutoff_regions)
        marks.rank_axis(cutoffs, [1, deepest])
        cutoffs.set(xlim=(0.8, deepest + 0.5), xlabel="cutoff k")
        cutoffs.set_yticks(range(len(families)), families)
        cutoffs.invert_yaxis()
        _bars(persistence, [row for row in regions if row.family == "RBP(p)"], 0, names)
        _marks(persistence, result.measures, ["RBP(p)"])
        persistence.set(xlim=(0, 1), xlabel="persistence p")
        persistence.set_yticks([0], ["RBP(p)"])
        for axes in (cutoffs, persistence):
            axes.grid(False)
        labels = [*(f"{shorten(name, 24)} is better" for name in names), "equal"]
        legend = [marks.legend_patch(label, **_look(kind)) for kind, label in enumerate(labels)]
        if any(row.region for row in result.measures):
            legend.append(marks.legend_line("evaluated measure", linestyle="none", **_MARK))
        marks.legend_below(figure, legend, 4)
    return Figure(figure, (cutoffs, persistence), Table("regions", result.regions.columns, regions))


_MARK: dict[str, Any] = {"color": INK, "marker": "D", "markersize": 4, "markeredgecolor": "white"}


def _look(kind: int) -> dict[str, Any]:
    hatch = ("", "////", "")[kind]
    return {"facecolor": (COLOURS[0], COLOURS[5], "#dddddd")[kind], "edgecolor": "white", "hatch": hatch}


def _bars(axes: Any, regions: Sequence[Region], y: int, names: Sequence[str], margin: float = 0.0) -> None:
    for row in regions:
        kind = names.index(row.winner) if row.winner in names else 2
        width = row.to - row.from_ + 2 * margin
        axes.barh(y, width, left=row.from_ - margin, height=0.7, linewidth=0, **_look(kind))


def _marks(axes: Any, measures: Iterable[MeasureWinner], families: Sequence[str]) -> None:
    """Draw marks of measures on the bar of their family."""
    from rankscope.measures import parse_many

    for row in measures:
        (measure,) = parse_many([row.measure])
        family = "RBP(p)" if measure.name == "RBP" else f"{measure.name}@k"
        if row.region and family in families:
            value = measure.settings["p"] if family == "RBP(p)" else measure.cutoff
            axes.plot([value], [families.index(family)], **_MARK)


def plot_ranks(result: Verdict, *, width: float = SINGLE, max_runs: int = marks.MAX_ROWS) -> Figure:
    """Draw the ranks that each run can have by any additive measure (light), and by any convex one (dark).

    Runs whose bars do not overlap are in the same order by every measure of the family.

    Parameters
    ----------
    result
        Result of :func:`rankscope.verdict` for three or more runs.
    width
        Width in inches.
    max_runs
        Maximum number of runs with a row; the rest shares one, and the table has all of them.

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"x": {"q": ["a"]}, "y": {"q": ["n", "a"]}, "z": {"q": ["n", "m", "a"]}}
    >>> plot_ranks(rs.verdict(rs.evaluate({"q": {"a": 1}}, runs, "AP"))).table.rows[0]
    RunRanks(run='x', best_first=1, worst_first=1, best_second=1, worst_second=1)
    """
    if result.runs is None:
        raise SettingsError("two runs have no possible ranks", hint="give at least three runs")
    rows = list(result.runs)
    shown, rest = marks.split_rows(rows, max_runs)
    with canvas(width, marks.rows_height(shown, rest, 1.0)) as (figure, axes):
        for height, row in enumerate(shown):
            wide = (row.best_first, row.worst_first, "#b8d4e8", 0.8)
            narrow = (row.best_second, row.worst_second, COLOURS[0], 0.4)
            for low, high, colour, size in (wide, narrow):
                axes.barh(height, high - low + 0.8, left=low - 0.4, height=size, color=colour, linewidth=0)
        marks.draw_rest(axes, len(shown), (end for row in rest for end in (row.best_first, row.worst_first)))
        marks.name_runs(axes, [row.run for row in shown], len(rest), fontsize=6.5)
        axes.set_xlabel("possible ranks")
        marks.linear_ranks(axes, max(row.worst_first for row in rows))
        additive = marks.legend_patch("any additive measure", color="#b8d4e8")
        convex = marks.legend_patch("any with convex weights", color=COLOURS[0])
        marks.legend_below(figure, [additive, convex], 2)
    return Figure(figure, (axes,), Table("runs", result.runs.columns, rows))
