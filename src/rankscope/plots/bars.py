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
) -> None:
    """Bars from 0 to the value of each rank.

    The axis is linear; if values are beyond 15 times ``linear``, the smallest that must be seen, it is linear within
    ``linear`` and logarithmic beyond. ``colours`` are those of negative, zero and positive values; ``points`` is the
    width of the axes, from which the least width of a bar follows. Zeros are flat marks, one per stretch of ranks.
    """
    from matplotlib.collections import PolyCollection

    numbers = np.asarray(values, np.float64)
    low, high = min(0.0, float(numbers.min())), max(0.0, float(numbers.max()))
    half = max(FULL, THINNEST * len(numbers) / points) / 2
    logarithmic = max(high, -low) > NEAR * linear
    if logarithmic:
        axes.set_yscale("symlog", linthresh=linear, linscale=0.8)
    room, least = (2.2, 1.2 * linear) if logarithmic else (1.12, 0.3 * max(high - low, linear))
    axes.set_ylim(min(low * room, -least), max(high * room, least))
    flat = 0.3 * linear if logarithmic else 0.035 * max(high - low, linear)
    marks = [_box(a - 0.5, -flat, b + 0.5, flat) for a, b in stretches(numbers == 0)]
    axes.add_collection(PolyCollection(marks, facecolors=colours[1], linewidths=0, gid="zero"), autolim=False)
    for sign, colour, name in ((-1, colours[0], "negative"), (1, colours[2], "positive")):
        ranks = np.flatnonzero(np.sign(numbers) == sign) + 1
        boxes = [_box(r - half, 0, r + half, numbers[r - 1]) for r in ranks.tolist()]
        axes.add_collection(PolyCollection(boxes, facecolors=colour, linewidths=0, gid=name), autolim=False)
    # the label of a small extreme would cover the 0
    close = 1.5 * linear if logarithmic else 0.22 * (high - low)
    axes.set_yticks([low] * (low < -close) + [0.0] + [high] * (high > close))
    axes.yaxis.set_minor_locator(_no_ticks())
    axes.axhline(0, color="#555555", linewidth=0.5, zorder=3)
    axes.grid(False)


def _box(left: float, bottom: float, right: float, top: float) -> list[tuple[float, float]]:
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
