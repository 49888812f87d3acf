"""How many documents the lists of two runs share, by depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope.plots.figure import Figure
from rankscope.plots.style import (
    COLOURS,
    QUIET,
    SINGLE,
    blank,
    legend_below,
    rank_axis,
    series,
    short,
    styled,
)
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_overlap"]


def plot_overlap(result: Result, *, width: float = SINGLE) -> Figure:
    """The mean Jaccard coefficient of the first k documents of two runs, one line per pair of runs.

    Of many pairs the most alike by RBO are in colour and named; the table has them all.

    >>> import rankscope as rs
    >>> runs = {"one": {"q": ["a", "b"]}, "other": {"q": ["b", "a"]}}
    >>> found = rs.overlap(rs.Collection(None, runs), depths=[1, 2])
    >>> plot_overlap(found).table.column("jaccard")
    [0.0, 1.0]
    """
    table = result["depths"]
    pairs = list(dict.fromkeys((str(row[0]), str(row[1])) for row in table.rows))
    overlaps = {(str(r["a"]), str(r["b"])): r["rbo"] for r in result["overlap"].records()}
    lines = {pair: [row for row in table.rows if (str(row[0]), str(row[1])) == pair] for pair in pairs}
    alike = sorted(pairs, key=lambda pair: -float(str(overlaps[pair] or 0.0)))[: len(COLOURS)]
    with styled():
        figure = blank(width, 2.6 + 0.13 * len(alike))
        axes = figure.subplots()
        for pair in pairs:
            if pair not in alike:
                places, shares = [row[2] for row in lines[pair]], [row[4] for row in lines[pair]]
                [pale] = axes.plot(places, shares, color=QUIET, linewidth=0.5, alpha=0.5)
        handles = [_draw(axes, k, lines[pair], pair, overlaps[pair]) for k, pair in enumerate(alike)]
        if len(pairs) > len(alike):
            pale.set_label(f"the other {len(pairs) - len(alike):,} pairs")
            handles.append(pale)
        rank_axis(axes, [int(row[2] or 1) for row in table.rows])
        axes.set_xlabel("documents compared (rank)")
        axes.set_ylabel("mean Jaccard coefficient")
        axes.set_ylim(0, 1)
        legend_below(figure, handles, 1 if width < 5 else 2)
    return Figure(figure, (axes,), Table("overlap", table.columns, table.rows))


def _draw(axes: Any, number: int, rows: list[Any], pair: tuple[str, str], rbo: Any) -> Any:
    name = f"{short(pair[0], 18)} – {short(pair[1], 18)} (RBO {rbo:.2f})"
    return axes.plot(
        [row[2] for row in rows], [row[4] for row in rows], **series(number), label=name, gid=str(number)
    )[0]
