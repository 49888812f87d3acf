"""Leaderboards over several tasks: tiers, critical distances and the influence of tasks."""

from rankscope.analysis.bench import Bench
from rankscope.analysis.bench_orders import cliques
from rankscope.errors import SettingsError
from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import COLOURS, INK, QUIET
from rankscope.plots.style import SINGLE, canvas, choose, shorten, shorten_all
from rankscope.tables import Table

_TIERS = (COLOURS[0], "o"), (COLOURS[5], "s")
"""Colours and markers of tiers in turn: two blues, because orange means a loss."""


def plot_tiers(result: Bench, aggregate: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw a row per system, best first: its rank, the interval of its rank, and the tiers in alternating colours.

    With more than 40 systems, the others share a row.

    Parameters
    ----------
    result
        Result of :func:`rankscope.bench`.
    aggregate
        Aggregate to draw (default: the first one).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> result = rs.bench({"model": ["a", "b"], "t1": [0.5, 0.4], "t2": [0.7, 0.8], "t3": [0.9, 0.5]})
    >>> len(plot_tiers(result).axes[0].lines)
    4
    """
    name = choose(aggregate, [*result.orders], "there is no aggregate {}")
    rows = [row for row in result.board if row.aggregate == name]
    with marks.row_figure(rows, width, "system", "first_rank", "last_rank", letters=22) as (axes, shown):
        for index, row in enumerate(shown):
            colour, marker = _TIERS[((row.tier or 1) - 1) % 2]
            marks.draw_range(axes, row.first_rank, row.last_rank, index, color=colour)
            if row.rank is not None:
                marks.draw_dot(axes, row.rank, index, colour, True, marker)
            text = result.board.format_cell(row.value, "value")
            marks.write_at_right(axes, index, text, fontsize=6.5, color=INK)
        marks.linear_ranks(axes, max(max(row.rank or 1, row.last_rank or 1) for row in shown))
        axes.set_title(shorten(name, 20), loc="right", fontsize=7)
        axes.set_xlabel(f"rank by {name}")
        legend = [
            marks.legend_line(f"{result.level}, {kind} tier", color=colour, marker=marker, markersize=4)
            for kind, (colour, marker) in zip(("odd", "even"), _TIERS, strict=True)
        ]
        marks.legend_below(axes.figure, legend[: max(row.tier or 1 for row in rows)], 2)
    return Figure(axes.figure, (axes,), result.board.subset("board", rows, result.board.caption))


def plot_critical_distance(result: Bench, *, width: float = SINGLE) -> Figure:
    """Draw the mean ranks of systems on an axis; bars connect systems that Nemenyi's test does not separate.

    With more than 40 systems, only the best 40 are named.

    Parameters
    ----------
    result
        Result of :func:`rankscope.bench`, of three systems at least and without missing scores.
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> table = {"model": ["a", "b", "c"], "t1": [0.5, 0.4, 0.3], "t2": [0.7, 0.6, 0.5], "t3": [0.9, 0.5, 0.6]}
    >>> print(plot_critical_distance(rs.bench(table, aggregate="mean")).table.text())
    system  mean_rank  groups
    ─────────────────────────
    a          1.0000  1
    b          2.3333  1
    c          2.6667  1
    """
    if not len(result.friedman):
        problem = "critical distances need three systems and all their scores"
        raise SettingsError(problem, hint="leave out systems or tasks with missing scores")
    distance = result.friedman[0].critical_distance
    systems, ranks = zip(*result.mean_ranks(), strict=True)
    groups = cliques(ranks, distance)
    names = shorten_all(systems[: marks.MAX_ROWS], 18)
    left = -(-len(names) // 2)
    # Heights in units of a line of text: bars below the axis, then names, the first half at the left.
    bars = min(0.6 * len(groups), 9.0) + 0.8
    lines = bars + left + 1
    with canvas(width, 0.45 + 0.125 * (lines + 2)) as (figure, axes):
        low, high, span = 1.0, float(len(systems)), len(systems) - 1.0
        # A letter of 5.5 points needs 0.048 inches; the mean rank and its spaces are as wide as seven.
        side = min(0.4, 0.048 * (max(map(len, names)) + 7) / width)
        margin = span * side / (1 - 2 * side)
        axes.set(xlim=(low - margin, high + margin), ylim=(-lines, 2.4), xticks=[], yticks=[])
        marks.hide_frame(axes)
        axes.plot([low, high], [0, 0], color=INK, linewidth=0.8)
        for tick in marks.rank_ticks(high, 4):
            axes.plot([tick, tick], [0, 0.3], color=INK, linewidth=0.8)
            axes.text(tick, 0.45, str(tick), ha="center", va="bottom", fontsize=6.5)
        end = low + min(distance, span)
        axes.plot([low, end], [2.0, 2.0], color=COLOURS[1], linewidth=1.5)
        axes.text(end + 0.03 * span, 2.0, f"CD {distance:.2f}", va="center", fontsize=6.5, color=COLOURS[1])
        axes.plot(ranks, [0] * len(ranks), ".", markersize=2.5, color=COLOURS[0])
        for k, (first, last) in enumerate(groups):
            height = -0.5 - (bars - 0.8) * k / len(groups)
            thick = 2.2 if len(groups) <= 15 else 0.8
            axes.plot([ranks[first], ranks[last]], [height] * 2, color=INK, linewidth=thick)
        for k, (name, rank) in enumerate(zip(names, ranks, strict=False)):
            is_left = k < left
            height = -bars - (k if is_left else len(names) - 1 - k) - 0.5
            side = low - 0.04 * span if is_left else high + 0.04 * span
            axes.plot([rank, rank, side], [0, height, height], color=QUIET, linewidth=0.4, zorder=0)
            text = f"{name} {rank:.1f}" if is_left else f"{rank:.1f} {name}"
            axes.text(side, height, text, ha="right" if is_left else "left", va="center", fontsize=5.5)
        more = "\nbars: no significant difference" if groups else ""
        more += f"\nnames: best {len(names)} of {len(systems)}" if len(names) < len(systems) else ""
        axes.set_xlabel(f"mean rank over {len(result.scores.tasks)} tasks (Nemenyi){more}")
    members = [range(first, last + 1) for first, last in groups]
    texts = [",".join(str(g) for g, own in enumerate(members, 1) if k in own) for k in range(len(systems))]
    rows = [*zip(systems, ranks, texts, strict=True)]
    return Figure(figure, (axes,), Table("critical_distance", ("system", "mean_rank", "groups"), rows))


def plot_task_influence(result: Bench, aggregate: str | None = None, *, width: float = SINGLE) -> Figure:
    """Draw for every task how many pairs of systems change their order without it; the new leader, if it changes.

    Parameters
    ----------
    result
        Result of :func:`rankscope.bench`.
    aggregate
        Aggregate to draw (default: the first one).
    width
        Width in inches.

    Examples
    --------
    >>> import rankscope as rs
    >>> result = rs.bench({"model": ["a", "b"], "t1": [0.5, 0.4], "t2": [0.5, 0.8], "t3": [0.9, 0.5]})
    >>> [text.get_text() for text in plot_task_influence(result).axes[0].texts]
    ['b']
    """
    name = choose(aggregate, [*result.orders], "there is no aggregate {}")
    rows = [row for row in result.fragility if row.aggregate == name and row.change == "task"]
    if not rows:
        hint = "leave out systems or tasks with missing scores"
        raise SettingsError("influence of tasks needs all scores", hint=hint)
    rows.sort(key=lambda row: -row.changed)
    figure = marks.row_figure(rows, width, "without", "changed", margin=0.75, letters=22, noun="task")
    with figure as (axes, shown):
        for index, row in enumerate(shown):
            is_new = row.leader != result.leader(name)
            axes.barh(index, row.changed, 0.7, color=COLOURS[int(is_new)])
            if is_new:
                marks.write_at_right(axes, index, shorten(row.leader, 18), fontsize=6.5, color=COLOURS[1])
                axes.set_title("new leader", loc="right", fontsize=7, color=COLOURS[1])
        marks.limit_ticks(axes.xaxis, 5)
        axes.set_xlabel("pairs reordered without the task")
    return Figure(axes.figure, (axes,), result.fragility.subset("fragility", rows))
