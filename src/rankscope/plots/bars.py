"""Bars of one value per rank, none of which is lost however many ranks there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["draw_bars", "stretches"]

THINNEST = 0.7
"""Points: a thinner rectangle vanishes when a page is printed or an image is scaled."""

FULL = 0.86
"""The part of its rank that a bar takes when there is space."""

NEAR = 15
"""Largest value, in units of ``linear``, up to which a plain linear axis shows the smallest one."""


def stretches(marked: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last rank (from 1) of every unbroken stretch of marked ranks.

    >>> stretches(np.array([True, True, False, True]))
    [(1, 2), (4, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8)))
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
    """Bars from 0 to the value of each rank; returns whether their axis is logarithmic.

    With the ``scale`` auto the axis is linear; if values are beyond 15 times ``linear``, the smallest that must be
    seen, it is linear within ``linear`` and logarithmic beyond, with lines at powers of ten. ``colours`` are those of
    negative, zero and positive values; ``points`` is the width of the axes, from which the least width of a bar
    follows, on an axis of ``ranks`` that is linear or log. Zeros are flat marks, one per stretch of ranks.
    """
    from matplotlib.collections import PolyCollection

    numbers = np.asarray(values, np.float64)
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
    logarithmic = scale == "log" or (scale == "auto" and max(high, -low) > NEAR * linear)
    if logarithmic:
        axes.set_yscale("symlog", linthresh=linear, linscale=0.8)
    room, least = (2.2, 1.2 * linear) if logarithmic else (1.12, 0.3 * max(high - low, linear))
    axes.set_ylim(min(low * room, -least), max(high * room, least))
    flat = 0.3 * linear if logarithmic else 0.035 * max(high - low, linear)
    marks = [_box(a - 0.5, -flat, b + 0.5, flat) for a, b in stretches(numbers == 0)]
    axes.add_collection(PolyCollection(marks, facecolors=colours[1], linewidths=0, gid="zero"), autolim=False)
    for sign, colour, name in ((-1, colours[0], "negative"), (1, colours[2], "positive")):
        found = np.flatnonzero(np.sign(numbers) == sign) + 1
        boxes = [
            _box(left, 0, right, numbers[r - 1])
            for r in found.tolist()
            for left, right in [_sides(r, len(numbers), points, ranks)]
        ]
        axes.add_collection(PolyCollection(boxes, facecolors=colour, linewidths=0, gid=name), autolim=False)
    axes.set_yticks(_ticks(low, high, linear) if logarithmic else _extremes(low, high))
    axes.yaxis.set_minor_locator(_no_ticks())
    axes.axhline(0, color="#555555", linewidth=0.5, zorder=3)
    axes.grid(False)
    if logarithmic:
        axes.grid(True, axis="y")
    return logarithmic


def _sides(rank: int, length: int, points: float, ranks: str) -> tuple[float, float]:
    """Where the bar of a rank begins and ends: never closer than the thinnest line that can be seen."""
    if ranks == "linear":
        half = max(FULL, THINNEST * length / points) / 2
        return rank - half, rank + half
    # on a logarithmic axis a bar keeps its middle, and its width is a factor
    least = float(np.exp(THINNEST / 2 / points * np.log((length + 0.5) / 0.5)))
    factor = max(np.sqrt((rank + FULL / 2) / (rank - FULL / 2)), least)
    return rank / factor, rank * factor


def _extremes(low: float, high: float) -> list[float]:
    # the label of a small extreme would cover the 0
    close = 0.22 * (high - low)
    return [low] * (low < -close) + [0.0] + [high] * (high > close)


def _ticks(low: float, high: float, linear: float) -> list[float]:
    """0 and powers of ten, of which an axis of an inch has room for three on a side."""
    found = [0.0]
    for sign, end in ((-1, -low), (1, high)):
        powers = [
            10.0**k for k in range(int(np.floor(np.log10(linear))), 16) if linear * 0.999 <= 10.0**k <= end
        ]
        # the lowest would stand upon the 0
        chosen = powers[1:][:: max(1, -(-len(powers[1:]) // 3))] or powers or [end] * (end >= linear)
        found += [sign * power for power in chosen]
    return sorted(found)


def _box(left: float, bottom: float, right: float, top: float) -> list[tuple[float, float]]:
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
