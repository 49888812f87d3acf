"""Sums along the paths of a prefix tree, where what a document adds depends on its kind, its rank and its ordinal.

All trees with the same number of free ranks have the same paths below their prefix: documents are counted once for
all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rankscope.judging.lists import Floats
from rankscope.native import paths as native

if TYPE_CHECKING:
    from rankscope.lab.rankings.tree import Shape

__all__ = ["Counts", "Marked", "counts_of", "descended"]

Marked = tuple[bool, ...]
"""For each letter whether it is meant."""

Counts = npt.NDArray[np.uint8]

_KEPT = 1 << 19
"""Rankings of a level whose counts are kept for the next tree."""


def _below(marked: Marked, levels: int) -> Counts:
    """How many documents of marked letters each ranking of up to so many documents has, level by level."""
    return _kept_below(marked, levels) if len(marked) ** levels <= _KEPT else _counted(marked, levels)


@lru_cache(maxsize=32)
def _kept_below(marked: Marked, levels: int) -> Counts:
    return _counted(marked, levels)


def _counted(marked: Marked, levels: int) -> Counts:
    parts = [np.zeros(1, np.uint8)]
    more = np.array(marked, np.uint8)
    for _ in range(levels):
        parts.append((more[:, np.newaxis] + parts[-1]).ravel())
    counts = np.concatenate(parts)
    counts.setflags(write=False)
    return counts


def counts_of(shape: Shape, marked: Marked) -> Counts:
    """For each node of a tree the number of documents of marked letters.

    >>> from rankscope.lab.rankings.tree import Shape
    >>> counts_of(Shape(2, (1,), 3), (False, True)).tolist()
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


def descended(
    shape: Shape,
    marked: Sequence[Marked],
    table: Floats,
    hits: npt.NDArray[np.bool_],
    combine: np.ufunc = np.add,
    start: float = 0.0,
) -> Floats:
    """For each node the total along its path, of all trees together.

    ``table`` says what a document adds, by level, tree, letter and the number of the tree's documents above it;
    ``hits`` of which level, tree and letter there are any. The trees are added in their order.
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
    hits: npt.NDArray[np.bool_],
    counts: Sequence[Counts],
    above: Sequence[int],
    totals: Floats,
    combine: np.ufunc,
) -> None:
    """The same as :func:`native.descend` for any way to combine."""
    first, width = 0, 1
    for level in range(len(table)):
        parents = totals[first : first + width]
        for letter in range(table.shape[2]):
            start = first + width + letter * width
            nodes, known = totals[start : start + width], parents
            for f in np.flatnonzero(hits[level, :, letter]).tolist():
                more = table[level, f, letter, above[f] :]
                combine(known, more.take(counts[f][first : first + width]), out=nodes)
                known = nodes
            if known is parents:
                nodes[:] = parents
        first += width
        width *= table.shape[2]
