"""Correlations between measures as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import SettingsError
from rankscope.plots.figure import Figure
from rankscope.plots.style import DOUBLE, SINGLE, blank, short, styled
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.result import Result

__all__ = ["plot_correlation"]

METHODS = {
    "kendall": "Kendall’s tau-b",
    "ap": "AP-correlation",
    "spearman": "Spearman’s rho",
    "pearson": "Pearson’s r",
    "rbo": "Rank-biased overlap",
}
SAME = 0.9
"""Rankings this alike count as the same (Voorhees 2001)."""

_NUMBERED = 20  # measures up to which the cells have room for numbers


def plot_correlation(result: Result, method: str | None = None, *, width: float | None = None) -> Figure:
    """The correlation of every pair of measures: the darker, the more alike; 0.9 and more in bold.

    ``method`` is the first one that was computed, unless set; undefined correlations are hatched.

    >>> import rankscope as rs
    >>> runs = {"r1": {"q": ["a", "x"]}, "r2": {"q": ["x", "b"]}, "r3": {"q": ["a", "b"]}}
    >>> scores = rs.evaluate({"q": {"a": 1, "b": 1}}, runs, ["AP", "RR", "P@2"])
    >>> figure = plot_correlation(rs.correlate(scores, "kendall"))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.82', '0.82', '0.50']
    """
    table = _table(result, method)
    names = list(dict.fromkeys(str(row[side]) for row in table.rows for side in (0, 1)))
    matrix = np.full((len(names), len(names)), np.nan)
    for a, b, _, value, *_ in table.rows:
        matrix[names.index(str(b)), names.index(str(a))] = np.nan if value is None else float(value)
    many = len(names) > 7
    size = (DOUBLE if many else SINGLE) if width is None else width
    with styled():
        figure = blank(size, size * (0.78 if many else 0.88))
        axes = figure.subplots()
        _draw(figure, axes, matrix[1:, :-1], names)
        method, runs = METHODS[str(table.rows[0][2])], table.rows[0][5]
        axes.set_title(f"{method}, {runs:,} runs (bold: ≥ {SAME})")
    return Figure(figure, (axes,), table)


def _table(result: Result, method: str | None) -> Table:
    found = result["correlations"]
    methods = list(dict.fromkeys(str(value) for value in found.column("method")))
    chosen = methods[0] if method is None else method
    if chosen not in methods:
        raise SettingsError(
            f"there are no correlations by {chosen!r}", hint=f"choose one of {', '.join(methods)}"
        )
    rows = [row for row in found.rows if row[2] == chosen]
    return Table("correlations", found.columns, rows, caption=METHODS[chosen])


def _draw(figure: Any, axes: Any, values: Any, names: list[str]) -> None:
    low = min(0.6, float(np.floor(10 * np.nanmin(values, initial=1.0)) / 10))
    drawn = axes.pcolormesh(
        np.ma.masked_invalid(values),
        cmap="Blues",
        vmin=low,
        vmax=1 + 0.25 * (1 - low),
        edgecolors="white",
        linewidth=1,
        gid="cells",
    )
    for row, column in zip(*np.tril_indices(len(values)), strict=True):
        _write(axes, int(row), int(column), float(values[row, column]), len(names), low)
    bar = figure.colorbar(drawn, ax=axes, fraction=0.04, aspect=30, pad=0.02)
    bar.ax.set_ylim(low, 1)
    bar.outline.set_visible(False)
    ticks = np.arange(len(values)) + 0.5
    size = 7 if len(names) <= 24 else 5
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(ticks, [short(name, 24) for name in names[:-1]], fontsize=size, **slanted)
    axes.set_yticks(ticks, [short(name, 24) for name in names[1:]], fontsize=size)
    axes.tick_params(length=0)
    axes.invert_yaxis()
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _write(axes: Any, row: int, column: int, value: float, number: int, low: float) -> None:
    from matplotlib.patches import Rectangle

    if np.isnan(value):
        axes.add_patch(
            Rectangle((column, row), 1, 1, fill=False, hatch="////", edgecolor="#999999", linewidth=0)
        )
    elif number <= _NUMBERED:
        dark = value - low > 0.68 * (1 - low)
        axes.text(
            column + 0.5, row + 0.5, f"{value:.2f}", ha="center", va="center", color="white" if dark else "black",
            fontsize=7.5 if number <= 12 else 6, fontweight="bold" if round(value, 2) >= SAME else "normal",
        )  # fmt: skip
