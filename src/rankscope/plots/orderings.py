"""Figure of the effect of two orderings of the same run files."""

from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import GAIN, INK, LOSS, QUIET
from rankscope.plots.style import DOUBLE, canvas, distinct
from rankscope.result import Result
from rankscope.tables import Table


def plot_orderings(result: Result, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw for each run the share of documents at another rank, and the change of a measure.

    With more than 40 runs, those with the largest shares have a row each, and the others share one.

    Parameters
    ----------
    result
        Result of :func:`rankscope.orderings`.
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
    >>> result = rs.orderings(rs.evaluate({"q": {"a": 1}}, {"q": {"x": 1.0, "a": 2.0, "y": 0.5}}, ["RR"]))
    >>> plot_orderings(result).table.rows
    [('run', 0.6666666666666666, 'RR', 0.5)]
    """
    measure_name = measure or distinct(result["effect"].column("measure"))[0]
    change = {
        str(row["run"]): float(str(row["difference"] or 0.0))
        for row in result["effect"].records()
        if row["measure"] == measure_name
    }
    shares = [(str(row["run"]), float(str(row["share"] or 0.0))) for row in result["swaps"].records()]
    rows, rest = marks.split_rows(sorted(shares, key=lambda row: -row[1]))
    first, second = result.settings["orders"]
    with canvas(width, marks.rows_height(rows, rest, 1.0), 1, 2, sharey=True) as (figure, (left, right)):
        for y, (run, share) in enumerate(rows):
            left.barh(y, 100 * share, height=0.62, color=QUIET)
            marks.draw_range(right, 0, change[run], y, linewidth=1.2, solid_capstyle="projecting")
            marker, colour = ("o", GAIN) if change[run] >= 0 else ("s", LOSS)
            right.plot(change[run], y, marker, color=colour, markersize=4)
        right.axvline(0, color=INK, linewidth=0.7)
        marks.draw_rest(left, len(rows), (100 * share for _, share in rest))
        marks.draw_rest(right, len(rows), (change[run] for run, _ in rest))
        marks.name_runs(left, [run for run, _ in rows], len(rest), fontsize=6.5)
        right.grid(axis="y", visible=False)
        left.set_xlim(0, max(1.0, 105 * max((share for _, share in rows), default=0.0)))
        left.set_xlabel("moved documents (%)")
        right.xaxis.set_major_formatter("{x:g}")
        marks.limit_ticks(left.xaxis, 4)
        marks.limit_ticks(right.xaxis, 2 if width < 4 else 4, integer=False)
        right.set_xlabel(f"change of {measure_name}")
        legend = [
            marks.legend_patch(f"at another rank by {second} than by {first}", color=QUIET),
            marks.legend_dot(f"{second} is not lower", GAIN),
            marks.legend_dot(f"{second} is lower", LOSS, "s"),
        ]
        marks.legend_below(figure, legend, 3)
    drawn = [(run, share, measure_name, change[run]) for run, share in (*rows, *rest)]
    table = Table("orderings", ("run", "share", "measure", "difference"), drawn)
    return Figure(figure, (left, right), table)
