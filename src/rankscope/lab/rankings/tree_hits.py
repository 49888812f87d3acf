"""Hits of a prefix tree: sums, counts and products along its paths.

All trees with the same number of free ranks have the same paths below their prefix, so the counts of documents are
cached and shared by all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Ints, NDArray
from rankscope.judging.aspects import ByAspect
from rankscope.judging.lists import Hits
from rankscope.native import paths as native

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


class _Step(NamedTuple):
    """Nodes of a level that end in one letter, with the slices of their parents, themselves and their hits."""

    tree: int
    level: int
    letter: int
    parents: slice
    nodes: slice
    hits: slice | None


class TreeByAspect(ByAspect):
    """Connection of a tree with its forest of one tree per aspect."""

    def sum_hits(self, hits: Hits, values: AnyArray, weights: Floats) -> Floats:
        """Return, per ranking, the weighted sum over aspects of the sum of a value over hits."""
        if isinstance(hits, PathHits) and hits.n_trees == len(weights):
            return hits.sum_over_trees(values, weights[:, 0])
        return super().sum_hits(hits, values, weights)


class PathHits(Hits, ABC):
    """Hits of prefix trees: a hit belongs to all rankings that continue its own.

    ``_keep`` is the index of the selected hits, or None for all.
    """

    n_trees: int
    _keep: Ints | None

    def _select(self, values: AnyArray) -> AnyArray:
        return values if self._keep is None else values[self._keep]

    def _selection(self, keep: Bools) -> Ints:
        """Return the index of the hits for which a condition holds."""
        selected = np.flatnonzero(keep)
        return selected if self._keep is None else self._keep[selected]

    def ordinals_at(self, index: Ints) -> Ints:
        """Return the ordinals of some of the hits."""
        return self.ordinal[index]

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the value at the first hit of each ranking; ``otherwise`` for rankings without hits."""
        own = np.where(self.ordinal == 1, np.asarray(values, np.float64), 0.0)
        return np.where(self.count > 0, self.sum(own), otherwise)

    @abstractmethod
    def sum_over_trees(self, values: AnyArray, factors: Floats) -> Floats:
        """Return, per ranking, the sum over trees of a factor times the sum of a value over hits."""


class TreeHits(PathHits):
    """Documents of a tree that have a marked letter, down to a rank, by tree, level, letter and parent."""

    def __init__(self, tree: Tree, marked: Bools, cutoff: int, keep: Ints | None = None) -> None:
        self.tree = tree
        self.size, self.n_trees = len(tree), len(marked)
        self._marked = marked
        self._cutoff = cutoff
        self._keep = keep

    @cached_property
    def _layout(self) -> tuple[list[_Step], int]:
        """Steps down the trees, and the number of slots for hits."""
        shape, end = self.tree.shape, 0
        steps = []
        for tree_number, marked in enumerate(self._marked.tolist()):
            base = tree_number * shape.size
            for level in range(1, shape.depth + 1):
                width, is_within = shape.widths[level - 1], level <= self._cutoff
                parents = slice(base + shape.starts[level - 1], base + shape.starts[level])
                row = base + shape.starts[level]
                for letter in shape.choices(level):
                    hits = None
                    if marked[letter] and is_within:
                        hits = slice(end, end + width)
                        end += width
                    steps.append(_Step(tree_number, level, letter, parents, slice(row, row + width), hits))
                    row += width
        return steps, end

    def _each(self) -> Iterator[tuple[int, int, int, slice]]:
        """Return (tree, level, letter, slice of the hits) in hit order."""
        return ((s.tree, s.level, s.letter, s.hits) for s in self._layout[0] if s.hits is not None)

    def _filled(self, value: Callable[[int, int, int], Any], kind: type) -> AnyArray:
        """Return one value per hit, computed from its tree, level and letter."""
        result: AnyArray = np.empty(self._layout[1], kind)
        for f, level, letter, slots in self._each():
            result[slots] = value(f, level, letter)
        return self._select(result)

    def _spread(self, values: AnyArray | float, neutral: float) -> AnyArray:
        """Expand values of the selected hits to all slots."""
        values = np.asarray(values)
        if self._keep is None:
            return np.broadcast_to(values, (self._layout[1],))
        slots = np.full(
            self._layout[1], neutral, np.result_type(values.dtype, np.float64 if neutral else np.int8)
        )
        slots[self._keep] = values
        return slots

    @cached_property
    def rank(self) -> AnyArray:  # type: ignore[override]
        """Rank of each hit."""
        return self._filled(lambda f, level, letter: level, np.int64)

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        """Grade of each hit."""
        return self._filled(lambda f, level, letter: self.tree.letter_grades[f, letter], np.int64)

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        """A judged document of the kind of each hit."""
        documents, first = len(self.tree.pool.grade) // self.n_trees, self.tree.world.document
        return self._filled(lambda f, level, letter: first[letter] + f * documents, np.int64)

    @cached_property
    def list(self) -> Ints:  # type: ignore[override]
        """Shortest list of each hit: the ranking that ends with it."""
        nodes = np.empty(self._layout[1], np.int64)
        for step in self._layout[0]:
            if step.hits is not None:
                nodes[step.hits] = np.arange(step.nodes.start, step.nodes.stop)
        return self._select(nodes)

    def __len__(self) -> int:
        return self._layout[1] if self._keep is None else len(self._keep)

    def where(self, keep: Bools) -> TreeHits:
        """Return the hits for which a condition holds."""
        return TreeHits(self.tree, self._marked, self._cutoff, self._selection(keep))

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """Return the sum of a value per hit over each ranking."""
        return self._descend(np.add, np.asarray(self._spread(values, 0), np.float64), 0.0)

    def sum_over_trees(self, values: AnyArray, factors: Floats) -> Floats:
        """Return, per ranking, the sum over trees of a factor times the sum of a value over hits.

        One descent serves all trees, because the sums are additive.
        """
        steps, _ = self._layout
        steps_per_tree = len(steps) // len(factors)
        own = np.asarray(self._spread(values, 0), np.float64)
        equal = bool((factors == factors[0]).all())
        if not equal:
            own = own.copy()
            for f, factor in enumerate(factors.tolist()):
                tree_steps = steps[f * steps_per_tree : (f + 1) * steps_per_tree]
                tree_hits = [step.hits for step in tree_steps if step.hits is not None]
                if tree_hits:
                    own[tree_hits[0].start : tree_hits[-1].stop] *= factor
        totals = np.empty(self.tree.shape.size)
        totals[0] = 0.0
        for k in range(steps_per_tree):
            parents, nodes = totals[steps[k].parents], totals[steps[k].nodes]
            added = [own[step.hits] for step in steps[k::steps_per_tree] if step.hits is not None]
            if not added:
                nodes[:] = parents
                continue
            np.add(parents, added[0], out=nodes)
            for increment in added[1:]:
                nodes += increment
        if equal and factors[0] != 1:
            totals *= factors[0]
        return totals

    @cached_property
    def count(self) -> Ints:
        """Number of hits in each ranking."""
        return self._descend(np.add, self._spread(1, 0), 0)

    @cached_property
    def ordinal(self) -> Ints:
        """Position of each hit among the hits of its ranking, from 1."""
        return self._above(self.count) + 1

    def descending(self, values: AnyArray) -> AnyArray:
        """Raise TypeError: a hit belongs to many rankings, and its position by value differs between them."""
        raise TypeError("the hits of a prefix tree have no order by value")

    def before(self, values: AnyArray) -> AnyArray:
        """Return the sum of a value over the hits above each hit."""
        values = np.asarray(values)
        whole = values.dtype.kind in "iub"
        spread = self._spread(values.astype(np.int64 if whole else np.float64), 0)
        return self._above(self._descend(np.add, spread, 0 if whole else 0.0))

    def product_before(self, values: AnyArray) -> Floats:
        """Return the product of a value over the hits above each hit."""
        spread = self._spread(np.asarray(values, np.float64), 1.0)
        return self._above(self._descend(np.multiply, spread, 1.0))

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the largest value over the hits of each ranking; ``otherwise`` for rankings without hits."""
        spread = self._spread(np.asarray(values, np.float64), -np.inf)
        return np.where(self.count > 0, self._descend(np.maximum, spread, -np.inf), otherwise)

    def _descend(self, combine: np.ufunc, own: AnyArray, start: float) -> AnyArray:
        """Return the total of every node: its parent's, combined with its own value if its last document is a hit."""
        totals = np.empty(self.size, type(start))
        totals[:: self.tree.shape.size] = start
        for _, _, _, parents, nodes, hits in self._layout[0]:
            if hits is None:
                totals[nodes] = totals[parents]
            else:
                combine(totals[parents], own[hits], out=totals[nodes])
        return totals

    def _above(self, totals: AnyArray) -> AnyArray:
        """Return the total of the ranking above each hit."""
        slots = np.empty(self._layout[1], totals.dtype)
        for step in self._layout[0]:
            if step.hits is not None:
                slots[step.hits] = totals[step.parents]
        return self._select(slots)
