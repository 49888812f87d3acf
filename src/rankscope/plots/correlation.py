"""Heat map of correlations between measures."""

from typing import Any

import numpy as np

from rankscope.plots.figure import Figure
from rankscope.plots.marks import draw_box, hide_frame, write_centred
from rankscope.plots.style import DOUBLE, SINGLE, canvas, choose, distinct, shorten
from rankscope.result import Result
from rankscope.tables import Table

METHODS = {
    "kendall": "Kendall’s tau-b",
    "ap": "AP-correlation",
    "spearman": "Spearman’s rho",
    "pearson": "Pearson’s r",
    "rbo": "Rank-biased overlap",
}
SAME = 0.9
"""Correlation from which rankings count as equivalent (Voorhees 2001)."""

_MAX_NUMBERED = 20  # Cells of more measures have no room for numbers.


def plot_correlation(result: Result, method: str | None = None, *, width: float | None = None) -> Figure:
    """Draw the correlation of each pair of measures as a heat map.

    Darker cells are more similar, 0.9 and more is bold, and undefined correlations are hatched.

    Parameters
    ----------
    result
        Result of :func:`rankscope.correlate`.
    method
        Method of correlation (default: the first one).
    width
        Width in inches (default: by the number of measures).

    Returns
    -------
    Figure

    Examples
    --------
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
    is_large = len(names) > 7
    size = (DOUBLE if is_large else SINGLE) if width is None else width
    with canvas(size, size * (0.78 if is_large else 0.88)) as (figure, axes):
        _draw(figure, axes, matrix[1:, :-1], names)
        method, runs = METHODS[str(table.rows[0][2])], table.rows[0][5]
        axes.set_title(f"{method}, {runs:,} runs (bold: ≥ {SAME})")
    return Figure(figure, (axes,), table)


def _table(result: Result, method: str | None) -> Table:
    table = result["correlations"]
    method_name = choose(method, distinct(table.column("method")), "there are no correlations by {}")
    start = table.columns.index("a")  # A study names its collections first; the first one is drawn.
    rows = [tuple(row)[start:] for row in table.rows if tuple(row)[:start] == tuple(table.rows[0])[:start]]
    selected = [row for row in rows if row[2] == method_name]
    return Table("correlations", table.columns[start:], selected, caption=METHODS[method_name])


def _draw(figure: Any, axes: Any, values: Any, names: list[str]) -> None:
    low = min(0.6, float(np.floor(10 * np.nanmin(values, initial=1.0)) / 10))
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(values), cmap="Blues", vmin=low, vmax=1 + 0.25 * (1 - low), edgecolors="white",
        linewidth=1, gid="cells",
    )  # fmt: skip
    for row, column in zip(*np.tril_indices(len(values)), strict=True):
        _write(axes, int(row), int(column), float(values[row, column]), len(names), low)
    bar = figure.colorbar(mesh, ax=axes, fraction=0.04, aspect=30, pad=0.02)
    bar.ax.set_ylim(low, 1)
    bar.outline.set_visible(False)
    ticks = np.arange(len(values)) + 0.5
    size = 7 if len(names) <= 24 else 5
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(ticks, [shorten(name, 24) for name in names[:-1]], fontsize=size, **slanted)
    axes.set_yticks(ticks, [shorten(name, 24) for name in names[1:]], fontsize=size)
    axes.invert_yaxis()
    hide_frame(axes)


def _write(axes: Any, row: int, column: int, value: float, n_measures: int, low: float) -> None:
    """Write the number into a cell, or hatch the cell if it is undefined."""
    if np.isnan(value):
        draw_box(axes, column, row, 1, 1, hatch="////", edgecolor="#999999", linewidth=0)
    elif n_measures <= _MAX_NUMBERED:
        colour = "white" if value - low > 0.85 * (1 - low) else "black"
        style = {"fontsize": 7.5 if n_measures <= 12 else 6, "color": colour}
        weight = "bold" if round(value, 2) >= SAME else "normal"
        write_centred(axes, column + 0.5, row + 0.5, f"{value:.2f}", fontweight=weight, **style)
