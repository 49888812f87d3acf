"""Hits of a prefix tree: documents of the same kind, rank and ordinal are one hit.

A function of the kind, rank and ordinal of a hit is computed once for the thousands of documents that share them; only
quantities of whole rankings need one number per ranking, which is a sum along a path of the tree. If a formula uses
anything else of a hit, such as its list, :class:`NotLumpedError` is raised, and the formula is evaluated on ordinary
lists instead.

All trees with the same number of free ranks have the same paths below their prefix, so the counts of documents are
cached and shared by all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Ints, NDArray
from rankscope.judging.aspects import ByAspect
from rankscope.judging.lists import Hits

if TYPE_CHECKING:
    from rankscope.lab.rankings.tree import Shape, Tree


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
    tree: Tree,
    marked: Sequence[Marked],
    table: Floats,
    hits: Bools,
    combine: np.ufunc = np.add,
    start: float = 0.0,
) -> Floats:
    """Return the total along the path to each node, summed over all trees of a forest in order.

    ``table[level, tree, letter, n]`` is the summand of a document with n marked documents above it; ``hits[level,
    tree, letter]`` is False where there are no summands.
    """
    shape = tree.shape
    totals = np.empty(shape.size)
    totals[0] = start
    counts = [tree.count_letters(letters) for letters in marked]
    for level in range(shape.depth):
        parents = slice(shape.starts[level], shape.starts[level + 1])
        for letter in shape.choices(level + 1):
            nodes, source = totals[shape.row(level + 1, letter)], totals[parents]
            for f in np.flatnonzero(hits[level, :, letter]).tolist():
                combine(source, table[level, f, letter].take(counts[f][parents]), out=nodes)
                source = nodes
            if source is not nodes:
                nodes[:] = source
    return totals


class NotLumpedError(TypeError):
    """Raised if a formula reads a value that differs between hits of the same kind, rank and ordinal."""


class TreeByAspect(ByAspect):
    """Connection of a tree with its forest of one tree per aspect."""

    def sum_hits(self, hits: Hits, values: AnyArray, weights: Floats) -> Floats:
        """Return, per ranking, the weighted sum over aspects of the sum of a value over hits."""
        if isinstance(hits, TreeHits) and hits.n_trees == len(weights):
            return hits.sum_over_trees(values, weights[:, 0])
        return super().sum_hits(hits, values, weights)


class _Slots:
    """Lumped hits of marked letters down to a rank: one slot for each tree, level, letter and ordinal."""

    def __init__(self, marked: tuple[Marked, ...], depth: int, cutoff: int) -> None:
        trees, letters = len(marked), len(marked[0])
        self.marked = marked
        self.shape = (depth, trees, letters, max(depth, 1))
        self.cutoff = max(0, min(depth, cutoff))
        is_marked = np.array(marked, np.bool_)
        levels = np.arange(1, depth + 1) <= self.cutoff
        self.hits = levels[:, np.newaxis, np.newaxis] & is_marked
        ordinals = np.arange(1, depth + 1)
        possible = self.hits[..., np.newaxis] & (ordinals <= ordinals[:, np.newaxis, np.newaxis, np.newaxis])
        level, self.tree, self.letter, above = np.nonzero(possible)
        self.rank, self.ordinal = level + 1, above + 1
        self.slot_index = np.ravel_multi_index((level, self.tree, self.letter, above), self.shape)
        for array in (self.tree, self.letter, self.rank, self.ordinal, self.slot_index, self.hits):
            array.setflags(write=False)


lumped_slots = lru_cache(maxsize=64)(_Slots)


class TreeHits(Hits):
    """Lumped documents that have a marked letter, down to a rank."""

    def __init__(self, tree: Tree, slots: _Slots, keep: Ints | slice = slice(None)) -> None:
        self.size, self.n_trees = len(tree), len(slots.marked)
        self._tree = tree
        self._slots = slots
        self._keep = keep

    @cached_property
    def rank(self) -> AnyArray:  # type: ignore[override]
        """Rank of each hit."""
        return self._slots.rank[self._keep]

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        """Grade of each hit."""
        grades = self._tree.letter_grades.astype(np.int64)
        return np.asarray(grades[self._slots.tree, self._slots.letter][self._keep])

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        """A judged document of the kind of each hit."""
        documents = len(self._tree.pool.grade) // self.n_trees
        first = self._tree.world.document[self._slots.letter]
        return np.asarray((first + self._slots.tree * documents)[self._keep])

    @property
    def list(self) -> Ints:  # type: ignore[override]
        """Unsupported: raises :class:`NotLumpedError`."""
        raise NotLumpedError("a hit belongs to many rankings")

    @cached_property
    def ordinal(self) -> Ints:
        """Position of each hit among the hits of its ranking, from 1."""
        if len(self) < len(self._slots.ordinal):
            raise NotLumpedError("the number of selected hits above is unknown")
        return self._slots.ordinal

    def where(self, keep: Bools) -> TreeHits:
        """Return the hits for which a condition holds."""
        index = np.arange(len(self._slots.rank))[self._keep]
        return TreeHits(self._tree, self._slots, index[keep])

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the value at the first hit of each ranking; ``otherwise`` for rankings without hits."""
        own = np.where(self.ordinal == 1, np.asarray(values, np.float64), 0.0)
        return np.where(self.count > 0, self.sum(own), otherwise)

    def before(self, values: AnyArray) -> AnyArray:
        """Return the sum over the hits above each hit of a value that depends on the ordinal alone."""
        values = np.asarray(values)
        whole = values.dtype.kind in "iub"
        return self._running(np.cumsum, values.astype(np.int64 if whole else np.float64), 0)

    def product_before(self, values: AnyArray) -> Floats:
        """Return the product over the hits above each hit of a value that depends on the ordinal alone."""
        return self._running(np.cumprod, np.asarray(values, np.float64), 1)

    def _running(self, accumulate: Callable[..., AnyArray], values: AnyArray, start: float) -> AnyArray:
        slots, ordinal = self._slots, self.ordinal
        values = np.broadcast_to(values, (len(self),))
        by_ordinal = np.full((slots.shape[1], slots.shape[3] + 1), start, values.dtype)
        by_ordinal[slots.tree, ordinal] = values
        if not np.array_equal(by_ordinal[slots.tree, ordinal], values):
            raise NotLumpedError("the hits above a hit are known only by their number")
        return np.asarray(accumulate(by_ordinal, axis=1)[slots.tree, ordinal - 1])

    def _table(self, values: AnyArray | float, neutral: float = 0.0) -> Floats:
        table = np.full(self._slots.shape, neutral)
        table.ravel()[self._slots.slot_index[self._keep]] = values
        return table

    def _totals(self, table: Floats, combine: np.ufunc = np.add, start: float = 0.0) -> Floats:
        """Return the totals of all trees, concatenated."""
        tree, slots = self._tree, self._slots
        totals = []
        for f, marked in enumerate(slots.marked):
            part = slice(f, f + 1)
            own = table[:, part], slots.hits[:, part]
            totals.append(accumulate_paths(tree, (marked,), *own, combine, start))
        return totals[0] if len(totals) == 1 else np.concatenate(totals)

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """Return the sum of a value per hit over each ranking."""
        return self._totals(self._table(values))

    @cached_property
    def count(self) -> Ints:
        """Number of hits in each ranking."""
        return self.sum().astype(np.int64)

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the largest value over the hits of each ranking; ``otherwise`` for rankings without hits."""
        largest = self._totals(self._table(values, -np.inf), np.maximum, -np.inf)
        return np.where(self.count > 0, largest, otherwise)

    def sum_over_trees(self, values: AnyArray, factors: Floats) -> Floats:
        """Return, per ranking, the sum over trees of a factor times the sum of a value over hits."""
        tree, slots = self._tree, self._slots
        table = self._table(values)
        equal = bool((factors == factors[0]).all())
        if not equal:
            table *= factors[:, np.newaxis, np.newaxis]
        totals = accumulate_paths(tree, slots.marked, table, slots.hits)
        if equal and factors[0] != 1:
            totals *= factors[0]
        return totals
