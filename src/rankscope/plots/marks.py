"""Marks, labels, axes and legends that figures share."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from rankscope.plots.palette import GAIN, INK, LOSS, QUIET
from rankscope.plots.style import LEFT_TO_RIGHT, canvas, current_panel, finite_or_zero, shorten, shorten_all

_LOG_RANKS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

MAX_ENTRIES = 24
"""Number of entries of a legend; further series are drawn and are in the table, but not in the legend."""


def rank_axis(axes: Any, ranks: Sequence[int]) -> None:
    """Make the horizontal axis a logarithmic axis of ranks."""
    from matplotlib.ticker import NullLocator

    deepest = max(ranks, default=1)
    axes.set_xscale("log")
    axes.set_xticks([tick for tick in _LOG_RANKS if tick <= deepest] or [1])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(min(ranks, default=1) / 1.1, deepest * 1.1)


def rank_ticks(last: float, parts: int = 6) -> list[int]:
    """Return rank 1 and the multiples of a round number up to the last rank.

    >>> rank_ticks(10), rank_ticks(126)
    ([1, 2, 4, 6, 8, 10], [1, 25, 50, 75, 100, 125])
    """
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(parts, integer=True, steps=(1, 2, 2.5, 5, 10)).tick_values(0, last)
    return [1, *(int(tick) for tick in ticks if 1 < tick <= last)]


def linear_ranks(axes: Any, last: float, parts: int = 6) -> None:
    """Make the horizontal axis an axis of ranks, with space for the marks of the first and the last one."""
    margin = 0.5 + 0.02 * last
    axes.set_xlim(1 - margin, last + margin)
    axes.set_xticks(rank_ticks(last, parts))


MAX_ROWS = 40
"""Number of rows with a name; further ones share the last row."""

Row = TypeVar("Row")


def split_rows(rows: Sequence[Row], limit: int = MAX_ROWS) -> tuple[list[Row], list[Row]]:
    """Return the first rows and the rest, which share a row if there are at least two.

    >>> split_rows("abcd", 2), split_rows("abc", 2)
    ((['a', 'b'], ['c', 'd']), (['a', 'b', 'c'], []))
    """
    kept = len(rows) if len(rows) <= limit + 1 else limit
    return list(rows[:kept]), list(rows[kept:])


def rows_height(shown: Sequence[object], rest: Sequence[object], margin: float = 0.75) -> float:
    """Return the height in inches of a figure with a name per row."""
    return margin + 0.15 * (len(shown) + 1.4 * bool(rest))


@contextmanager
def row_figure(
    rows: list[Any], width: float, name: str, *ends: str, margin: float = 1, letters: int = 20, noun: str = ""
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the axes of a figure and the rows to draw, named by the attribute ``name``; the rest shares a row.

    The row of the rest extends from the lowest to the highest value of the attributes ``ends``.
    """
    shown, rest = split_rows(rows)
    with canvas(width, rows_height(shown, rest, margin)) as (_, axes):
        yield axes, shown
        draw_rest(axes, len(shown), (getattr(row, end) for row in rest for end in ends))
        names = [getattr(row, name) for row in shown]
        name_runs(axes, names, len(rest), width=letters, noun=noun or name)


def draw_rest(axes: Any, y: float, ends: Iterable[float | None], shade: str = QUIET, digits: int = 3) -> None:
    """Draw the row that the rest shares: a pale bar from its lowest to its highest value, and both in numbers.

    The axis keeps the limits of the other rows, because differences between these matter.
    """
    values = [end for end in ends if end is not None and np.isfinite(end)]
    if values:
        low, high = min(values), max(values)
        limits = axes.get_xlim()
        axes.barh(y, high - low, 0.8, low, color=shade, alpha=0.3, linewidth=0, gid="rest")
        axes.set_xlim(limits)
        text = f"{low:.{digits}g} to {high:.{digits}g}".replace("-", "\N{MINUS SIGN}")
        write_centred(axes, 0.5, y, text, transform=axes.get_yaxis_transform(), fontsize=6)


def name_runs(
    axes: Any, names: Sequence[str], n_rest: int, *, width: int = 20, noun: str = "run", **style: Any
) -> None:
    """Name the rows of runs, and the row of the rest below a gap."""
    texts = shorten_all(names, width)
    if n_rest:
        texts.append(f"{n_rest:,} more {noun}s")
    name_rows(axes, texts, **style)
    if n_rest:
        axes.set_ylim(len(names) + 0.6, -0.5)
        axes.axhline(len(names) - 0.5, color=QUIET, linewidth=0.4)


def name_columns(axes: Any, names: Sequence[str], width: float) -> None:
    """Write names below the columns of the horizontal axis, of as many of them as there is room for."""
    # A turned name of 5.5 points needs 0.085 inches.
    step = max(1, -(-len(names) // max(1, int((width - 0.9) / 0.085))))
    shown = range(0, len(names), step)
    texts = shorten_all((names[k] for k in shown), 12)
    axes.set_xticks(list(shown), texts, rotation=90, fontsize=5.5)


def label(axes: Any, text: str, point: tuple[float, float], offset: tuple[float, float], **style: Any) -> Any:
    """Write text ``offset`` points away from a point, on a white background that hides lines behind it."""
    paper = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    return axes.annotate(
        text, point, offset, textcoords="offset points", fontsize=6.5, color=INK, bbox=paper, zorder=6, **style
    )  # fmt: skip


def name_rows(axes: Any, names: Sequence[str], **style: Any) -> None:
    """Write a name at each row of the vertical axis, the first row on top, without ticks and grid lines."""
    axes.set_yticks(range(len(names)), names, **style)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def hide_frame(axes: Any) -> None:
    """Hide ticks, grid lines and spines, for a table of cells."""
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def legend_line(label: str, **style: Any) -> Any:
    """Return a line or marker for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **style)


def legend_dot(label: str, colour: str, marker: str = "o", **style: Any) -> Any:
    """Return a marker of the usual size for a legend."""
    return legend_line(
        label, **{"color": colour, "marker": marker, "linestyle": "none", "markersize": 4, **style}
    )


def legend_patch(label: str, **style: Any) -> Any:
    """Return a filled box for a legend."""
    from matplotlib.patches import Patch

    return Patch(label=label, **style)


def draw_box(axes: Any, left: float, bottom: float, width: float, height: float, **style: Any) -> None:
    """Draw a rectangle; without a ``facecolor`` it is not filled."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((left, bottom), width, height, fill="facecolor" in style, **style))


def write_centred(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    """Write text centred at a point."""
    axes.text(x, y, text, ha="center", va="center", **style)


def write_at_right(axes: Any, y: float, text: str, x: float = 1.02, **style: Any) -> None:
    """Write text to the right of the axes, at a height in data units; ``x`` is a fraction of the axes."""
    axes.text(x, y, text, transform=axes.get_yaxis_transform(), va="center", **style)


def draw_range(axes: Any, low: float, high: float, y: float, **style: Any) -> None:
    """Draw a horizontal line from the low to the high end of a range."""
    axes.plot([low, high], [y, y], **{"color": QUIET, "linewidth": 1.3, "solid_capstyle": "butt", **style})


def draw_dot(axes: Any, x: float, y: float, colour: str, is_filled: bool | None, marker: str = "o") -> None:
    """Draw a marker, filled or hollow."""
    face = colour if is_filled else "white"
    axes.plot(x, y, marker=marker, markersize=4, markeredgecolor=colour, markerfacecolor=face)


def draw_difference(axes: Any, row: Any, y: float, sign: int) -> None:
    """Draw the difference a - b and its interval: a circle if a is better, a square if it is worse."""
    draw_range(axes, finite_or_zero(row.low), finite_or_zero(row.high), y)
    value = finite_or_zero(row.difference)
    colour, marker = (GAIN, "o") if value * sign >= 0 else (LOSS, "s")
    draw_dot(axes, value, y, colour, row.significant, marker)


def legend_differences(interval: str, better: str = "better", worse: str = "worse") -> list[Any]:
    """Return the entries of a legend of differences."""
    return [
        legend_dot(better, GAIN),
        legend_dot(worse, LOSS, "s"),
        legend_dot("not significant", INK, markerfacecolor="white"),
        legend_line(interval, color=QUIET, linewidth=1.3),
    ]


def limit_ticks(axis: Any, intervals: int, **options: Any) -> None:
    """Divide an axis into a limited number of intervals, at whole numbers by default."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(**{"nbins": intervals, "integer": True, **options}))


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Move ascending positions apart as little as possible, so that no two are closer than ``gap``.

    >>> spread([1, 1, 1, 5], 1)
    [0.0, 1.0, 2.0, 5.0]
    """
    groups: list[tuple[float, int]] = []  # centre and size of groups of adjacent positions
    for position in positions:
        centre, size = float(position), 1
        while groups and centre - groups[-1][0] < gap * (size + groups[-1][1]) / 2 - 1e-9:
            before, more = groups.pop()
            centre, size = (before * more + centre * size) / (more + size), more + size
        groups.append((centre, size))
    return [centre + gap * (k - (size - 1) / 2) for centre, size in groups for k in range(size)]


def name_lines(axes: Any, ends: Sequence[tuple[float, str, str]], gap: float) -> None:
    """Write the names of lines at their right ends, in their colours, moved apart where they would overlap.

    ``ends`` has height, name and colour of each line; ``gap`` is the height of a name in data units.
    """
    order = sorted(range(len(ends)), key=lambda k: ends[k][0])
    positions = spread([ends[k][0] for k in order], gap)
    low, high = sorted(axes.get_ylim())
    # Two passes keep the names inside the axes, as far as there is room.
    for k in range(len(positions)):
        positions[k] = max(positions[k], low + gap / 2 if k == 0 else positions[k - 1] + gap)
    for k in reversed(range(len(positions))):
        highest = high - gap / 2 if k == len(positions) - 1 else positions[k + 1] - gap
        positions[k] = min(positions[k], highest)
    for k, position in zip(order, positions, strict=True):
        height, name, colour = ends[k]
        axes.annotate(
            shorten(name, 20), (1.0, height), (12, position), xycoords=("axes fraction", "data"),
            textcoords=("offset points", "data"), va="center", fontsize=6.5, color=colour, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5),
            },
        )  # fmt: skip


def _fit_columns(letters: Sequence[int], columns: int, inches: float) -> int:
    """Return the largest number of legend columns, up to ``columns``, that fit a width, given the letters per entry.

    >>> _fit_columns([5, 5, 30, 5], 4, 3.3), _fit_columns([5, 5, 5, 5], 4, 3.3)
    (2, 4)
    """
    for count in range(columns, 1, -1):
        # An inch has room for 17 letters, and a handle with its spaces is as wide as 7. matplotlib splits alike.
        if sum(part.max() + 7 for part in np.array_split(np.array(letters), count)) <= 17 * inches:
            return count
    return 1


def legend_below(figure: Any, handles: Sequence[Any], columns: int) -> Any:
    """Add a legend below all axes, with at most :data:`MAX_ENTRIES` entries."""
    shown = list(handles)
    if len(shown) > MAX_ENTRIES:
        more = legend_line(f"and {len(shown) - MAX_ENTRIES + 1} more", linestyle="none")
        shown = [*shown[: MAX_ENTRIES - 1], more]
    for handle in shown:
        if handle.get_label().startswith("_"):  # matplotlib leaves out labels that start with an underscore.
            handle.set_label(LEFT_TO_RIGHT + handle.get_label())
    planned = max(1, min(columns, len(shown)))
    letters = [len(handle.get_label()) for handle in shown]
    columns = _fit_columns(letters, planned, figure.bbox.width / figure.dpi)
    if columns < planned and current_panel.get() is None:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width, height + 0.14 * (-(-len(shown) // columns) - -(-len(shown) // planned)))
    return figure.legend(handles=shown, loc="outside lower center", ncols=columns)
