"""Figure of published and observed ranges of archetypes (Ferro et al. 2016, Figures 4 to 6)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankscope.lab.ranges import COLUMNS, QUANTITIES
from rankscope.plots.archetypes import example_curve
from rankscope.plots.figure import Figure
from rankscope.plots.marks import hide_frame, write_centred
from rankscope.plots.palette import ABOVE, EFFORT, INK, QUIET
from rankscope.plots.style import DOUBLE, apply_style, blank, is_wide
from rankscope.result import Result
from rankscope.tables import Cell, Table

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
    table = _table(result)
    with apply_style():
        names = list(COLUMNS)
        size = len(names) if is_wide(width) else -(-len(names) // 2)
        blocks = [names[k : k + size] for k in range(0, len(names), size)]
        figure = blank(width, 4.4 * len(blocks))
        grid = figure.add_gridspec(2 * len(blocks), size, height_ratios=(1, 4.2) * len(blocks))
        panels, cells = [], []
        for k, block in enumerate(blocks):
            for number, name in enumerate(block):
                panels.append(figure.add_subplot(grid[2 * k, number]))
                _draw_template(panels[-1], name, COLUMNS[name])
            cells.append(figure.add_subplot(grid[2 * k + 1, : len(block)]))
            _draw_cells(cells[-1], table, block)
    return Figure(figure, (*panels, *cells), table)


def _table(result: Result) -> Table:
    ranges = {(row["archetype"], row["quantity"]): row for row in result["ranges"].records()}
    rows: list[tuple[Cell, ...]] = []
    for entry in result["entries"].records():
        if entry["archetype"] not in COLUMNS or not str(entry["figure"]).startswith("Figure"):
            continue
        members = [ranges[name, entry["quantity"]] for name in COLUMNS[str(entry["archetype"])]]
        lowest = [float(str(row["lowest"])) for row in members if row["lists"]]
        highest = [float(str(row["highest"])) for row in members if row["lists"]]
        rows.append(
            (entry["archetype"], entry["quantity"], entry["published"], entry["verdict"],
             min(lowest, default=None), max(highest, default=None))
        )  # fmt: skip
    columns = ("archetype", "quantity", "published", "verdict", "lowest", "highest")
    return Table("archetype ranges", columns, rows, caption=result["ranges"].caption)


def _draw_template(axes: Any, name: str, members: tuple[str, ...]) -> None:
    for number, member in enumerate(members):
        curve = example_curve(member)
        axes.plot(
            np.arange(1, curve.length + 1), curve.crp, color=EFFORT, linewidth=1.1,
            linestyle="solid" if number == 0 else (0, (2, 1)), gid=member,
        )  # fmt: skip
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
        write_centred(
            axes, across + 0.5, down + 0.36, f"{row['published']} {mark}", fontsize=size + 0.5, color=colour
        )
        range_text = _range(row["lowest"], row["highest"])
        write_centred(axes, across + 0.5, down + 0.72, range_text, fontsize=size, color=INK)
    axes.set_yticks(np.arange(len(rows)) + 0.5, [_NAMES[name] for name in rows], fontsize=7)
    axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0), xticks=[])
    hide_frame(axes)
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
