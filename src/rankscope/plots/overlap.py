"""Figure of the overlap of runs by depth."""

from typing import Any

from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, rank_axis
from rankscope.plots.palette import COLOURS, QUIET, series
from rankscope.plots.style import SINGLE, canvas, count, group, shorten
from rankscope.result import Result
from rankscope.tables import Table


def plot_overlap(result: Result, *, width: float = SINGLE) -> Figure:
    """Draw the mean Jaccard coefficient of the first k documents, one line per pair of runs.

    The most similar pairs by RBO are in colour and have names; the table has all pairs.

    Parameters
    ----------
    result
        Result of :func:`rankscope.overlap`.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"one": {"q": ["a", "b"]}, "other": {"q": ["b", "a"]}}
    >>> result = rs.overlap(rs.Collection(None, runs), depths=[1, 2])
    >>> plot_overlap(result).table.column("jaccard")
    [0.0, 1.0]
    """
    table = result["depths"]
    lines = group(((str(row[0]), str(row[1])), (row[2], row[4])) for row in table.rows)
    overlaps: dict[tuple[str, str], Any] = {
        (str(r["a"]), str(r["b"])): r["rbo"] for r in result["overlap"].records()
    }
    similar = sorted(lines, key=lambda pair: -float(str(overlaps[pair] or 0.0)))[: len(COLOURS)]
    with canvas(width, 2.6 + 0.13 * len(similar)) as (figure, axes):
        rest = [pair for pair in lines if pair not in similar]
        for pair in rest:
            [pale] = axes.plot(*zip(*lines[pair], strict=True), color=QUIET, linewidth=0.5, alpha=0.5)
        handles = []
        for k, pair in enumerate(similar):
            name = f"{shorten(pair[0], 18)} – {shorten(pair[1], 18)} (RBO {overlaps[pair]:.2f})"
            look = series(k) | {"label": name, "gid": str(k), "clip_on": False}
            handles += axes.plot(*zip(*lines[pair], strict=True), **look)
        if rest:
            pale.set_label(count(len(rest), "more pair"))
            handles.append(pale)
        rank_axis(axes, [int(row[2] or 1) for row in table.rows])
        axes.set(xlabel="documents compared (rank)", ylabel="mean Jaccard coefficient", ylim=(0, 1))
        legend_below(figure, handles, 1 if width < 5 else 2)
    return Figure(figure, (axes,), Table("overlap", table.columns, table.rows))
