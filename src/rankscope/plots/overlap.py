"""Figure of the overlap of runs by depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, rank_axis
from rankscope.plots.palette import COLOURS, QUIET, series
from rankscope.plots.style import SINGLE, canvas, short
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result


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
    pairs = list(dict.fromkeys((str(row[0]), str(row[1])) for row in table.rows))
    overlaps = {(str(r["a"]), str(r["b"])): r["rbo"] for r in result["overlap"].records()}
    lines = {pair: [row for row in table.rows if (str(row[0]), str(row[1])) == pair] for pair in pairs}
    similar = sorted(pairs, key=lambda pair: -float(str(overlaps[pair] or 0.0)))[: len(COLOURS)]
    with canvas(width, 2.6 + 0.13 * len(similar)) as (figure, axes):
        for pair in pairs:
            if pair not in similar:
                depths, shares = [row[2] for row in lines[pair]], [row[4] for row in lines[pair]]
                [pale] = axes.plot(depths, shares, color=QUIET, linewidth=0.5, alpha=0.5)
        handles = [_draw(axes, k, lines[pair], pair, overlaps[pair]) for k, pair in enumerate(similar)]
        if len(pairs) > len(similar):
            pale.set_label(f"the other {len(pairs) - len(similar):,} pairs")
            handles.append(pale)
        rank_axis(axes, [int(row[2] or 1) for row in table.rows])
        axes.set(xlabel="documents compared (rank)", ylabel="mean Jaccard coefficient", ylim=(0, 1))
        legend_below(figure, handles, 1 if width < 5 else 2)
    return Figure(figure, (axes,), Table("overlap", table.columns, table.rows))


def _draw(axes: Any, number: int, rows: list[Any], pair: tuple[str, str], rbo: Any) -> Any:
    name = f"{short(pair[0], 18)} – {short(pair[1], 18)} (RBO {rbo:.2f})"
    return axes.plot(
        [row[2] for row in rows], [row[4] for row in rows], **series(number), label=name, gid=str(number)
    )[0]
