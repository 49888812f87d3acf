"""Marks, labels, axes and legends that figures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankscope.plots.palette import INK, QUIET
from rankscope.plots.style import LEFT_TO_RIGHT, is_panel, shorten

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
        positions[k] = min(
            positions[k], high - gap / 2 if k == len(positions) - 1 else positions[k + 1] - gap
        )
    for k, position in zip(order, positions, strict=True):
        height, name, colour = ends[k]
        axes.annotate(
            shorten(name, 20), (1.0, height), (12, position), xycoords=("axes fraction", "data"),
            textcoords=("offset points", "data"), va="center", fontsize=6.5, color=colour, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3, "relpos": (0, 0.5),
            },
        )  # fmt: skip


def legend_below(figure: Any, handles: Sequence[Any], columns: int) -> Any:
    """Add a legend below all axes, with at most :data:`MAX_ENTRIES` entries."""
    shown = list(handles)
    if len(shown) > MAX_ENTRIES:
        more = legend_line(f"and {len(shown) - MAX_ENTRIES + 1} more", linestyle="none")
        shown = [*shown[: MAX_ENTRIES - 1], more]
    for handle in shown:
        if handle.get_label().startswith("_"):  # matplotlib leaves out labels that start with an underscore.
            handle.set_label(LEFT_TO_RIGHT + handle.get_label())
    if is_panel():  # A panel may be narrow; an inch has room for about 13 letters of a legend.
        longest = max((len(handle.get_label()) for handle in shown), default=0)
        columns = min(columns, int(figure.bbox.width / figure.dpi * 13 / (longest + 7)))
    return figure.legend(handles=shown, loc="outside lower center", ncols=max(1, min(columns, len(shown))))
