"""Sums along the paths of a prefix tree, where the summand of a document depends on its kind, rank and ordinal.

All trees with the same number of free ranks have the same paths below their prefix, so the counts of documents are
cached and shared by all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rankscope.arrays import Bools, Floats, NDArray
from rankscope.native import paths as native

if TYPE_CHECKING:
    from rankscope.lab.rankings.tree import Shape

Marked = tuple[bool, ...]
"""Mask of letters."""

Counts = NDArray[np.uint8]

_MAX_CACHED = 1 << 19
"""Maximum number of rankings of a level whose counts are cached for the next tree."""


def _below(marked: Marked, levels: int) -> Counts:
    """Return the number of documents of marked letters in each ranking of up to ``levels`` documents."""
    return (_cached_below if len(marked) ** levels <= _MAX_CACHED else _count_below)(marked, levels)


def _count_below(marked: Marked, levels: int) -> Counts:
    parts = [np.zeros(1, np.uint8)]
    more = np.array(marked, np.uint8)
    for _ in range(levels):
        parts.append((more[:, np.newaxis] + parts[-1]).ravel())
    counts = np.concatenate(parts)
    counts.setflags(write=False)
    return counts


_cached_below = lru_cache(maxsize=32)(_count_below)


def count_letters(shape: Shape, marked: Marked) -> Counts:
    """Return the number of documents of marked letters in the ranking of each node.

    >>> from rankscope.lab.rankings.tree import Shape
    >>> count_letters(Shape(2, (1,), 3), (False, True)).tolist()
    [0, 1, 1, 2, 1, 2, 2, 3]
    """
    fixed = len(shape.prefix)
    below = _below(marked, shape.depth - fixed)
    if not fixed:
        return below
    counts = np.empty(shape.size, np.uint8)
    counts[: fixed + 1] = np.cumsum([0, *(marked[letter] for letter in shape.prefix)])
    np.add(below, counts[fixed], out=counts[fixed:])
    return counts


def accumulate_paths(
    shape: Shape,
    marked: Sequence[Marked],
    table: Floats,
    hits: Bools,
    combine: np.ufunc = np.add,
    start: float = 0.0,
) -> Floats:
    """Return the total along the path to each node, summed over all trees in order.

    ``table[level, tree, letter, n]`` is the summand of a document with n marked documents above it; ``hits[level,
    tree, letter]`` is False where there are no summands.
    """
    fixed = len(shape.prefix)
    totals = np.empty(shape.size)
    totals[0] = start
    above = [0] * len(marked)
    for level, letter in enumerate(shape.prefix):
        totals[level + 1] = totals[level]
        for f, letters in enumerate(marked):
            if hits[level, f, letter]:
                totals[level + 1] = combine(totals[level + 1], table[level, f, letter, above[f]])
            above[f] += letters[letter]
    counts = [_below(letters, shape.depth - fixed) for letters in marked]
    if combine is np.add and native.available():
        native.descend(table[fixed:], hits[fixed:], counts, above, totals[fixed:])
    else:
        _descend(table[fixed:], hits[fixed:], counts, above, totals[fixed:], combine)
    return totals


def _descend(
    table: Floats,
    hits: Bools,
    counts: Sequence[Counts],
    above: Sequence[int],
    totals: Floats,
    combine: np.ufunc,
) -> None:
    """Fill ``totals`` like :func:`native.descend`, for any ufunc ``combine``."""
    first, width = 0, 1
    for level in range(len(table)):
        parents = totals[first : first + width]
        for letter in range(table.shape[2]):
            start = first + width + letter * width
            nodes, source = totals[start : start + width], parents
            for f in np.flatnonzero(hits[level, :, letter]).tolist():
                increments = table[level, f, letter, above[f] :]
                combine(source, increments.take(counts[f][first : first + width]), out=nodes)
                source = nodes
            if source is parents:
                nodes[:] = parents
        first += width
        width *= table.shape[2]
