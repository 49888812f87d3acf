"""Figure of the effect of two orderings of the same run files."""

from __future__ import annotations

from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_range, name_rows
from rankscope.plots.palette import COLOURS, INK
from rankscope.plots.style import DOUBLE, canvas, distinct, shorten
from rankscope.result import Result
from rankscope.tables import Table

_MAX_RUNS = 40
"""Number of runs that are drawn: those with the largest shares."""


def plot_orderings(result: Result, measure: str | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw for each run the share of documents at another rank, and the change of a measure.

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
    rows = sorted(shares, key=lambda row: -row[1])[:_MAX_RUNS]
    first, second = result.settings["orders"]
    with canvas(width, 0.8 + 0.17 * len(rows), 1, 2, sharey=True) as (figure, (left, right)):
        for y, (run, share) in enumerate(rows):
            left.barh(y, 100 * share, height=0.62, color=COLOURS[0])
            draw_range(right, 0, change[run], y, linewidth=1.2, solid_capstyle="projecting")
            marker, colour = ("o", COLOURS[0]) if change[run] >= 0 else ("s", COLOURS[1])
            right.plot(change[run], y, marker, color=colour, markersize=4)
        right.axvline(0, color=INK, linewidth=0.7)
        name_rows(left, [shorten(run, 24) for run, _ in rows], fontsize=6.5)
        right.grid(axis="y", visible=False)
        rest = f" ({len(rows)} of {len(shares)} runs)" if len(shares) > len(rows) else ""
        left.set_xlim(0, max(1.0, 105 * max((share for _, share in rows), default=0.0)))
        left.set_xlabel(f"% of documents at another rank{rest}")
        right.xaxis.set_major_formatter("{x:g}")
        right.set_xlabel(f"{measure_name}: {second} minus {first}")
    drawn = [(run, share, measure_name, change[run]) for run, share in rows]
    table = Table("orderings", ("run", "share", "measure", "difference"), drawn)
    return Figure(figure, (left, right), table)
