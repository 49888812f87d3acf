"""Draws bars of one value per rank that stay visible for any number of ranks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.arrays import Bools
from rankscope.plots.marks import limit_ticks

MIN_WIDTH = 0.7
"""Minimum width in points; a thinner bar vanishes when a page is printed or an image is scaled."""

BAR_WIDTH = 0.86
"""Width of a bar in ranks, if there is space."""

MAX_RATIO = 15
"""Largest value, in units of ``linear``, up to which the smallest value is visible on a linear axis."""


def find_stretches(mask: Bools) -> list[tuple[int, int]]:
    """Return the first and last rank (from 1) of each stretch of consecutive ranks in a mask.

    >>> find_stretches(np.array([True, True, False, True]))
    [(1, 2), (4, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a) + 1, int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def draw_bars(
    axes: Any,
    values: Sequence[float],
    *,
    colours: tuple[str, str, str],
    linear: float,
    points: float,
    scale: str = "auto",
    ranks: str = "linear",
) -> bool:
    """Draw bars from 0 to the value of each rank, and return whether the axis of values is logarithmic.

    ``linear`` is the smallest value that must be visible. With the ``scale`` auto, the axis is linear if all values are
    at most 15 times ``linear``; otherwise it is linear up to ``linear`` and logarithmic beyond, with lines at powers of
    ten. ``colours`` are those of negative, zero and positive values. ``points`` is the width of the axes and determines
    the minimum width of a bar; ``ranks`` is the scale of the axis of ranks, linear or log. Consecutive zeros are one
    flat mark.
    """
    from matplotlib.collections import PolyCollection

    numbers = np.asarray(values, np.float64)
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
    logarithmic = scale == "log" or (scale == "auto" and max(high, -low) > MAX_RATIO * linear)
    if logarithmic:
        axes.set_yscale("symlog", linthresh=linear, linscale=0.8)
    factor, minimum = (2.2, 1.2 * linear) if logarithmic else (1.12, 0.3 * max(high - low, linear))
    axes.set_ylim(min(low * factor, -minimum), max(high * factor, minimum))
    flat = 0.3 * linear if logarithmic else 0.035 * max(high - low, linear)
    marks = [_box(a - 0.5, -flat, b + 0.5, flat) for a, b in find_stretches(numbers == 0)]
    axes.add_collection(PolyCollection(marks, facecolors=colours[1], linewidths=0, gid="zero"), autolim=False)
    for sign, colour, name in ((-1, colours[0], "negative"), (1, colours[2], "positive")):
        boxes = []
        for rank in (np.flatnonzero(np.sign(numbers) == sign) + 1).tolist():
            left, right = _bar_sides(rank, len(numbers), points, ranks)
            boxes.append(_box(left, 0, right, numbers[rank - 1]))
        axes.add_collection(PolyCollection(boxes, facecolors=colour, linewidths=0, gid=name), autolim=False)
    if logarithmic:
        axes.set_yticks(_log_ticks(low, high, linear))
    else:
        limit_ticks(axes.yaxis, 4, integer=False, min_n_ticks=2)
    axes.minorticks_off()
    axes.axhline(0, color="#555555", linewidth=0.5, zorder=3)
    axes.grid(False)
    if logarithmic:
        axes.grid(True, axis="y")
    return logarithmic


def _bar_sides(rank: int, length: int, points: float, ranks: str) -> tuple[float, float]:
    """Return left and right of the bar of a rank, at least the minimum width apart."""
    if ranks == "linear":
        half = max(BAR_WIDTH, MIN_WIDTH * length / points) / 2
        return rank - half, rank + half
    # On a logarithmic axis the width of a bar is a factor, and the rank its geometric centre.
    minimum = float(np.exp(MIN_WIDTH / 2 / points * np.log((length + 0.5) / 0.5)))
    factor = max(np.sqrt((rank + BAR_WIDTH / 2) / (rank - BAR_WIDTH / 2)), minimum)
    return rank / factor, rank * factor


def _log_ticks(low: float, high: float, linear: float) -> list[float]:
    """Return 0 and powers of ten; an axis of an inch has room for three on each side."""
    ticks = [0.0]
    for sign, end in ((-1, -low), (1, high)):
        powers = [10.0**k for k in range(-16, 16) if linear * 0.999 <= 10.0**k <= end]
        # The label of the lowest power would cover the 0.
        labelled = powers[1:][:: max(1, -(-len(powers[1:]) // 3))] or powers or [end] * (end >= linear)
        ticks += [sign * power for power in labelled]
    return sorted(ticks)


def _box(left: float, bottom: float, right: float, top: float) -> list[tuple[float, float]]:
    return [(left, bottom), (right, bottom), (right, top), (left, top)]
