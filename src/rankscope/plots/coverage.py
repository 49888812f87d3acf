"""Figures of coverage: subtopic recall at each rank, and the first rank of each aspect of a topic."""

from collections.abc import Sequence
from typing import Any

from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.marks import legend_below, legend_line, name_rows, rank_axis, write_at_right
from rankscope.plots.palette import INK, QUIET, series
from rankscope.plots.style import DOUBLE, canvas, choose_highlighted, count, distinct, shorten, shorten_all
from rankscope.result import Result
from rankscope.tables import Table


def plot_coverage(result: Result, highlight: Sequence[str] = (), *, width: float = DOUBLE) -> Figure:
    """Draw the share of aspects that the first k documents cover, one line per run.
    Parameters
    ----------
    result
        Result of :func:`rankscope.coverage`.
    highlight
        Runs in colour (default: those that cover most in the first ten ranks).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    >>> collection = rs.Collection(qrels, {"good": {"q": ["a", "b"]}, "poor": {"q": ["x", "y", "b"]}})
    >>> plot_coverage(collection.coverage()).table.rows[0]
    CoverageAtRank(run='good', rank=1, value=0.5)
    """
    table = result["coverage"]
    lines: dict[str, list[tuple[int, float]]] = {}
    for run, rank, value in table.rows:
        lines.setdefault(str(run), []).append((int(str(rank)), float(str(value))))
    max_rank = int(result.settings["depth"])
    best = sorted(lines, key=lambda run: -max((v for k, v in lines[run] if k <= 10 and v == v), default=0.0))
    coloured = choose_highlighted(list(lines), highlight, best)
    with canvas(width, 2.8 + 0.13 * -(-len(coloured) // 4)) as (figure, axes):
        handles = {}
        for run, line in lines.items():
            look: dict[str, Any] = {"color": QUIET, "linewidth": 0.6, "alpha": 0.45}
            if run in coloured:
                look = series(coloured.index(run)) | {"marker": "", "linewidth": 1.5, "gid": run, "zorder": 3}
            steps = zip(*line, (max_rank, line[-1][1]), strict=True)
            [handles[run]] = axes.plot(*steps, drawstyle="steps-post", label=shorten(run, 24), **look)
        rank_axis(axes, [1, max_rank])
        axes.set(xlim=(1, max_rank), ylim=(0, 1))
        axes.set(xlabel="first k documents", ylabel="aspects covered (StRec@k)")
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        entries = [handles[run] for run in coloured]
        if len(lines) > len(coloured):
            more = count(len(lines) - len(coloured), "more run")
            entries.append(legend_line(more, color=QUIET, linewidth=0.6))
        legend_below(figure, entries, 4)
    return Figure(figure, (axes,), Table("coverage", table.columns, list(table.rows)))


def plot_aspects(
    result: Result, highlight: Sequence[str] = (), topic: str | None = None, *, width: float = DOUBLE
) -> Figure:
    """Draw the rank at which each run first covers each aspect of a topic, and the number of runs that never do.
    Parameters
    ----------
    result
        Result of :func:`rankscope.coverage`.
    highlight
        Runs in colour (default: those that cover most aspects in the first ten ranks).
    topic
        Topic to draw (default: the topic of the result, or the first one).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    >>> collection = rs.Collection(qrels, {"good": {"q": ["a", "b"]}, "poor": {"q": ["x", "y", "b"]}})
    >>> plot_aspects(collection.coverage()).table.rows[-1]
    AspectRank(topic='q', aspect='2', run='poor', rank=3)
    """
    table = result["aspects"]
    topics = distinct(table.column("topic"))
    topic_name = topic or result.settings["topic"] or (topics[0] if topics else None)
    rows = [row for row in table.rows if row[0] == topic_name]
    if not rows:
        hint = "name another topic"
        raise SettingsError(f"no document is relevant to an aspect of topic {topic_name}", hint=hint)
    first: dict[str, dict[str, int | None]] = {}
    for _, aspect, run, rank in rows:
        first.setdefault(str(aspect), {})[str(run)] = None if rank is None else int(str(rank))
    runs = distinct(row[2] for row in rows)
    early = {run: sum(0 < (ranks[run] or 0) <= 10 for ranks in first.values()) for run in runs}
    coloured = choose_highlighted(runs, highlight, sorted(runs, key=lambda run: -early[run]))
    height = 0.95 + max(0.24, 0.065 * len(coloured)) * len(first) + 0.13 * -(-len(coloured) // 4)
    with canvas(width, height) as (figure, axes):
        for y, ranks in enumerate(first.values()):
            handles = _aspect(axes, y, ranks, coloured)
        rank_axis(axes, [1, 10, *(rank for ranks in first.values() for rank in ranks.values() if rank)])
        name_rows(axes, [f"aspect {name}" for name in shorten_all(first, 20)])
        axes.grid(axis="y", visible=True)
        topic_label = f"topic {shorten(str(topic_name), 30)}"
        axes.set_xlabel(f"rank of the first relevant document, {topic_label}")
        axes.set_title("runs without it", loc="right", fontsize=6.5, color=INK)
        if len(runs) > len(coloured):
            look = {"color": QUIET, "marker": "|", "linestyle": "none", "markersize": 7, "alpha": 0.7}
            handles.append(legend_line("another run", **look))
        legend_below(figure, handles, 4)
    return Figure(figure, (axes,), Table("aspects", table.columns, rows))


def _aspect(axes: Any, y: int, ranks: dict[str, int | None], coloured: Sequence[str]) -> list[Any]:
    """Draw one row: strokes for all runs, marks for runs in colour, and the number of runs without the aspect."""
    others = [rank for run, rank in ranks.items() if rank is not None and run not in coloured]
    axes.vlines(others, y - 0.3, y + 0.3, color=QUIET, linewidth=0.7, alpha=0.5)
    handles: list[Any] = []
    for k, run in enumerate(coloured):
        height = y + 0.8 * ((k + 0.5) / len(coloured) - 0.5)
        rank = [] if ranks[run] is None else [ranks[run]]
        handles += axes.plot(
            rank, [height] * len(rank), **{**series(k), "linestyle": "none"}, markersize=4.2, markeredgecolor="white",
            markeredgewidth=0.4, label=shorten(run, 24), zorder=3,
        )  # fmt: skip
    n_missing = sum(rank is None for rank in ranks.values())
    write_at_right(axes, y, f"{n_missing} of {len(ranks)}", x=1.01, fontsize=6.5)
    return handles
