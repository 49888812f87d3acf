"""Figures of archetypes: a ranking of each, and the ranges of their points and ratios."""

import math
from typing import Any

import numpy as np

from rankscope.analysis.curve import Curve
from rankscope.analysis.effort import Effort
from rankscope.lab.ranges import COLUMNS, QUANTITIES
from rankscope.plots import marks
from rankscope.plots.figure import Figure
from rankscope.plots.palette import ABOVE, ARCHETYPE_COLOURS, EFFORT, INK, QUIET
from rankscope.plots.style import DOUBLE, SINGLE, blank, canvas, count, is_wide
from rankscope.result import Result
from rankscope.tables import Cell, Table

IDEAL = "333322221111"
LENGTH = 36

EXAMPLES = {
    "ideal": IDEAL,
    "worst": "",
    "full scale": "0" * (LENGTH - len(IDEAL)) + IDEAL[::-1],
    "excellent A": "332221111233",
    "excellent B": "332221211330",
    "ups-and-downs": "322223330011",
    "typical A": "302030100201000210003000002010",
    "typical B": "3020300100200001",
}
"""A ranking of each archetype, in the order of the paper: grades from rank 1 on, followed by 0 up to rank 36.

The topic has twelve relevant documents, four of each grade. The archetype is computed from the ranking, not from its
name here.
"""


def example_curve(name: str) -> Curve:
    """Return the CRP curve of the example of an archetype.

    >>> example_curve("excellent A").values.rows[-1]
    Value(name='archetype', value='excellent A')
    """
    from rankscope.analysis.curve import curve
    from rankscope.scores import Collection

    grades = EXAMPLES[name].ljust(LENGTH, "0")
    judged = {f"r{number}": int(grade) for number, grade in enumerate(IDEAL)}
    remaining = {grade: [doc for doc, g in judged.items() if g == grade] for grade in (3, 2, 1)}
    remaining[0] = [f"n{k}" for k in range(LENGTH)]
    documents = [remaining[int(grade)].pop(0) for grade in grades]
    return curve(Collection({"example": judged}, {name: {"example": documents}}), None, "example")


def plot_archetypes(effort: Effort | None = None, *, width: float = DOUBLE) -> Figure:
    """Draw CRP of an example of each archetype and, below, the share of rankings of each archetype.

    Parameters
    ----------
    effort
        Analysis whose shares are drawn (default: only the examples).
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> plot_archetypes().table.column("archetype")[::36]  # doctest: +ELLIPSIS
    ['ideal', 'worst', 'full scale', 'excellent A', 'excellent B', 'ups-and-downs', 'typical A', 'typical B']
    """
    curves = {name: example_curve(name) for name in EXAMPLES}
    counts: dict[str, tuple[Cell, Cell]] = dict.fromkeys(EXAMPLES, (None, None))
    if effort is not None:
        counts = {str(name): (count, share) for name, count, share in effort.summary.rows}
    columns = 4 if is_wide(width) else 2
    lines = len(curves) // columns
    ratios = (1,) * lines if effort is None else (*(1,) * lines, 1.25)
    with blank(width, 1.55 * lines if effort is None else 1.55 * lines + 1.8) as figure:
        grid = figure.add_gridspec(len(ratios), columns, height_ratios=ratios)
        axes = []
        for number, (name, curve) in enumerate(curves.items()):
            panel = figure.add_subplot(grid[divmod(number, columns)])
            _draw_example(panel, f"({'abcdefgh'[number]}) {name}", curve)
            if number % columns == 0:
                panel.set_ylabel("CRP (ranks)")
            if number >= len(curves) - columns:
                panel.set_xlabel("rank")
            axes.append(panel)
        if effort is not None:
            bars = figure.add_subplot(grid[lines, :])
            _draw_shares(bars, counts, len(effort.judged.runs), len(effort.judged.topics))
            axes.append(bars)
    return Figure(figure, tuple(axes), _table(curves, counts))


def plot_shares(effort: Effort, *, width: float = SINGLE) -> Figure:
    """Draw the shares of the archetypes in the rankings of each run, the highest mean Twist first.

    If there are more than 40 runs, the remaining ones share a row.

    Parameters
    ----------
    effort
        Result of :func:`rankscope.effort`.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> effort = rs.effort(rs.Collection({"q1": {"a": 1}, "q2": {"a": 1}}, runs), "AP")
    >>> plot_shares(effort).table.column("worst")
    [0.0, 0.5]
    """
    from rankscope.measures.effort_curves import ARCHETYPES

    runs, kinds = effort.judged.runs, effort.archetype.reshape(len(effort.judged.runs), -1)
    twist = np.nan_to_num(effort.twist).reshape(kinds.shape).sum(axis=1) / np.maximum(
        1, (kinds != "").sum(axis=1)
    )
    shown, rest = marks.split_rows(np.argsort(-twist, kind="stable").tolist())
    names = [runs[r] for r in shown]
    counts = np.array(
        [[(kinds[row] == name).sum() for name in ARCHETYPES] for row in [*shown, *[rest][: len(rest)]]]
    )
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    with canvas(width, marks.rows_height(shown, rest, 1.2)) as (figure, axes):
        for k in np.flatnonzero(counts.any(axis=0)).tolist():
            look = {"color": ARCHETYPE_COLOURS[k], "linewidth": 0, "label": list(ARCHETYPES)[k]}
            axes.barh(range(len(shares)), 100 * shares[:, k], 0.75, 100 * shares[:, :k].sum(axis=1), **look)
        marks.name_runs(axes, names, len(rest))
        axes.set(xlim=(0, 100), xlabel="share of the topics (%)")
        marks.legend_below(figure, list(axes.containers), 4 if is_wide(width) else 2)
    rows = zip([*names, f"{len(rest)} more runs"], *shares.T.tolist(), strict=False)
    return Figure(figure, (axes,), Table("shares", ("run", *ARCHETYPES), [*rows]))


def _table(curves: dict[str, Curve], counts: dict[str, tuple[Cell, Cell]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, curve in curves.items():
        values = zip(curve.relevance.tolist(), curve.rp.tolist(), curve.crp.tolist(), strict=True)
        rows += [(name, rank, *value, *counts[name]) for rank, value in enumerate(values, start=1)]
    return Table("archetypes", ("archetype", "rank", "grade", "rp", "crp", "count", "share"), rows)


def _draw_example(axes: Any, title: str, curve: Curve) -> None:
    axes.axhline(0, color=INK, linewidth=0.7)
    axes.axvline(curve.recall_base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.9)
    axes.plot(np.arange(1, curve.length + 1), curve.crp, color=EFFORT, linewidth=1.4, gid="crp")
    low, high = float(curve.crp.min()), float(curve.crp.max())
    span = max(high - low, 10.0)
    ends = min(low, -0.15 * span) - 0.1 * span, max(high, 0.15 * span) + 0.1 * span
    axes.set(ylim=ends, xlim=(0, curve.length + 1), title=title)
    ticks = {1: "1", curve.recall_base: f"R = {curve.recall_base}", curve.length: str(curve.length)}
    axes.set_xticks(list(ticks), list(ticks.values()))
    marks.limit_ticks(axes.yaxis, 4)
    axes.grid(False)


def _draw_shares(axes: Any, counts: dict[str, tuple[Cell, Cell]], n_runs: int, n_topics: int) -> None:
    from rankscope.measures.effort_curves import ARCHETYPES

    names = list(ARCHETYPES)
    shares = [100 * float(counts[name][1] or 0) for name in names]
    axes.barh(range(len(names)), np.nan_to_num(shares), height=0.7, color=EFFORT)
    for row, (name, share) in enumerate(zip(names, shares, strict=True)):
        text = "–" if np.isnan(share) else f"{share:.1f} %  ({counts[name][0]:,})"
        axes.text(np.nan_to_num(share), row, " " + text, va="center", fontsize=7)
    marks.name_rows(axes, names)
    axes.grid(False)
    total = sum(int(number or 0) for number, _ in counts.values())
    title = f"{total:,} rankings ({count(n_runs, 'run')} × {count(n_topics, 'topic')})"
    right = max(10.0, 1.4 * float(np.nan_to_num(shares).max()))
    axes.set(xlim=(0, right), xlabel="share of rankings (%)", title=title)
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= min(right, 100)])


_NAMES = {
    "first crossing": "first crossing",
    "BalancePoint": "balance point \N{GREEK SMALL LETTER BETA}",
    "Rho": "recovery \N{GREEK SMALL LETTER RHO}",
    "SigmaPlus": "forward \N{GREEK SMALL LETTER SIGMA}+",
    "SigmaMinus": "backward \N{GREEK SMALL LETTER SIGMA}\N{MINUS SIGN}",
    "Sigma": "space \N{GREEK SMALL LETTER SIGMA}",
    "Twist": "Twist \N{GREEK SMALL LETTER TAU}",
}


def plot_archetype_ranges(result: Result, *, width: float = DOUBLE) -> Figure:
    """Draw a column per archetype: an example of its curve, and the published and observed range of each quantity.

    A published entry has a check mark if it holds for all rankings, otherwise a cross. Below it are the smallest and
    the largest value over all rankings.

    Parameters
    ----------
    result
        Result of :func:`rankscope.lab.archetype_ranges`.
    width
        Width in inches.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from rankscope.lab import archetype_ranges
    >>> plot_archetype_ranges(archetype_ranges(2, 4)).table.columns
    ('archetype', 'quantity', 'published', 'verdict', 'lowest', 'highest')
    """
    table = _ranges_table(result)
    names = list(COLUMNS)
    size = len(names) if is_wide(width) else -(-len(names) // 2)
    blocks = [names[k : k + size] for k in range(0, len(names), size)]
    with blank(width, 4.4 * len(blocks) + 0.2) as figure:
        grid = figure.add_gridspec(2 * len(blocks), size, height_ratios=(1, 4.2) * len(blocks))
        panels, cells = [], []
        for k, block in enumerate(blocks):
            for number, name in enumerate(block):
                panels.append(figure.add_subplot(grid[2 * k, number]))
                _draw_template(panels[-1], name, COLUMNS[name])
            cells.append(figure.add_subplot(grid[2 * k + 1, : len(block)]))
            _draw_cells(cells[-1], table, block)
        figure.supxlabel(
            "upper line: published value (\N{CHECK MARK} holds for all rankings, \N{BALLOT X} does not)\n"
            "lower line: lowest and highest value\nRB, dotted: recall base; N: length of the ranking",
            fontsize=6.5,
        )
    return Figure(figure, (*panels, *cells), table)


def _ranges_table(result: Result) -> Table:
    ranges = {(row["archetype"], row["quantity"]): row for row in result["ranges"].records()}
    rows: list[tuple[Cell, ...]] = []
    for entry in result["entries"].records():
        if entry["archetype"] not in COLUMNS or not str(entry["figure"]).startswith("Figure"):
            continue
        members = [ranges[name, entry["quantity"]] for name in COLUMNS[str(entry["archetype"])]]
        lowest = [float(str(row["lowest"])) for row in members if row["lists"]]
        highest = [float(str(row["highest"])) for row in members if row["lists"]]
        ends = min(lowest, default=None), max(highest, default=None)
        rows.append((entry["archetype"], entry["quantity"], entry["published"], entry["verdict"], *ends))
    columns = ("archetype", "quantity", "published", "verdict", "lowest", "highest")
    return Table("archetype ranges", columns, rows, caption=result["ranges"].caption)


def _draw_template(axes: Any, name: str, members: tuple[str, ...]) -> None:
    for number, member in enumerate(members):
        curve = example_curve(member)
        look: Any = {"linewidth": 1.1, "linestyle": "solid" if number == 0 else (0, (2, 1))}
        axes.plot(np.arange(1, curve.length + 1), curve.crp, color=EFFORT, gid=member, **look)
    axes.axhline(0, color=INK, linewidth=0.6)
    axes.axvline(curve.recall_base, color=INK, linestyle=(0, (1, 1.2)), linewidth=0.7)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -10), max(high, 10))
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.set_title(name, loc="center", fontsize=7)


def _draw_cells(axes: Any, table: Table, columns: list[str]) -> None:
    rows = list(QUANTITIES)
    size = 6 if len(columns) == len(COLUMNS) else 5  # narrow columns
    for row in table.records():
        if row["archetype"] not in columns:
            continue
        across, down = columns.index(str(row["archetype"])), rows.index(str(row["quantity"]))
        is_confirmed = row["verdict"] == "confirmed"
        mark = {"confirmed": "\N{CHECK MARK}", "refuted": "\N{BALLOT X}"}.get(str(row["verdict"]), "")
        colour = INK if is_confirmed else ABOVE if mark else QUIET
        entry = f"{row['published']} {mark}".replace(" / ", "/").replace(" - ", " \N{MINUS SIGN} ")
        large = size + 0.5 * (len(entry) < 12)
        marks.write_centred(axes, across + 0.5, down + 0.36, entry, fontsize=large, color=colour)
        range_text = _range(row["lowest"], row["highest"])
        marks.write_centred(axes, across + 0.5, down + 0.72, range_text, fontsize=size, color=INK)
    axes.set_yticks(np.arange(len(rows)) + 0.5, [_NAMES[name] for name in rows], fontsize=7)
    axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0), xticks=[])
    marks.hide_frame(axes)
    for line in range(len(rows) + 1):
        axes.axhline(line, color="#d0d0d0", linewidth=0.5)
    for line in range(1, len(columns)):
        axes.axvline(line, color="#e6e6e6", linewidth=0.5)


def _range(low: Cell, high: Cell) -> str:
    if low is None or high is None:
        return "no such ranking"
    texts = [_number(float(str(value))) for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else " … ".join(texts)


def _number(value: float) -> str:
    if math.isinf(value):
        return "\N{INFINITY}"
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"
