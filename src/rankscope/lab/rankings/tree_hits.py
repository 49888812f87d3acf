"""The hits of all rankings at once: sums, counts and products along the paths of a prefix tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.judging.aspects import ByAspect
from rankscope.judging.lists import AnyArray, Floats, Hits, Ints

if TYPE_CHECKING:
    from rankscope.lab.rankings.tree import Tree

__all__ = ["TreeByAspect", "TreeHits"]


class _Step(NamedTuple):
    """The nodes of a level that end in one letter: where their parents stand, they themselves, and their hits."""

    tree: int
    level: int
    letter: int
    parents: slice
    nodes: slice
    hits: slice | None


class TreeByAspect(ByAspect):
    """What connects a tree to its forest, one tree for each aspect."""

    def total(self, hits: Hits, values: AnyArray, weights: Floats) -> Floats:
        """For each ranking the sum over aspects of weight times the sum of a value over the hits of the aspect."""
        if isinstance(hits, TreeHits):
            return hits.sum_over_trees(values, weights[:, 0])
        return super().total(hits, values, weights)


class TreeHits(Hits):
    """The documents of a tree that carry one of some letters, down to a rank.

    Hit order: tree by tree, level by level, letter by letter, and then in the order of the parents. ``keep``, if
    given, says which of these hits are meant.
    """

    def __init__(
        self, tree: Tree, marked: npt.NDArray[np.bool_], cutoff: int, keep: Ints | None = None
    ) -> None:
        self.tree = tree
        self.size = len(tree)
        self._marked = marked
        self._cutoff = cutoff
        self._keep = keep

    @cached_property
    def _layout(self) -> tuple[list[_Step], int]:
        """How to go down the trees, and the number of slots for hits."""
        shape, end = self.tree.shape, 0
        steps = []
        for f, marked in enumerate(self._marked.tolist()):
            base = f * shape.size
            for level in range(1, shape.depth + 1):
                width, within = shape.widths[level - 1], level <= self._cutoff
                parents = slice(base + shape.starts[level - 1], base + shape.starts[level])
                row = base + shape.starts[level]
                for letter in shape.choices(level):
                    hits = None
                    if marked[letter] and within:
                        hits = slice(end, end + width)
                        end += width
                    steps.append(_Step(f, level, letter, parents, slice(row, row + width), hits))
                    row += width
        return steps, end

    def _each(self) -> Iterator[tuple[int, int, int, slice]]:
        """(tree, level, letter, place of the hits) in hit order."""
        return ((s.tree, s.level, s.letter, s.hits) for s in self._layout[0] if s.hits is not None)

    def _filled(self, value: Callable[[int, int, int], Any], kind: type) -> AnyArray:
        """One value per hit that depends only on its tree, level and letter."""
        result: AnyArray = np.empty(self._layout[1], kind)
        for f, level, letter, place in self._each():
            result[place] = value(f, level, letter)
        return self._kept(result)

    def _kept(self, slots: AnyArray) -> AnyArray:
        return slots if self._keep is None else slots[self._keep]

    def _spread(self, values: AnyArray | float, neutral: float) -> AnyArray:
        """Values of the hits as values of all slots."""
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
        """The rank of each hit."""
        return self._filled(lambda f, level, letter: level, np.int64)

    def ordinal_of(self, index: Ints) -> Ints:
        """The ordinals of some of the hits."""
        return self.ordinal[index]

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        """The grade of each hit."""
        return self._filled(lambda f, level, letter: self.tree.letter_grades[f, letter], np.int64)

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        """A judged document of the kind of each hit."""
        documents = len(self.tree.pool.grade) // len(self._marked)
        return self._filled(
            lambda f, level, letter: self.tree.world.document[letter] + f * documents, np.int64
        )

    @cached_property
    def list(self) -> Ints:  # type: ignore[override]
        """The shortest list of each hit: the ranking that ends with it."""
        nodes = np.empty(self._layout[1], np.int64)
        for step in self._layout[0]:
            if step.hits is not None:
                nodes[step.hits] = np.arange(step.nodes.start, step.nodes.stop)
        return self._kept(nodes)

    def __len__(self) -> int:
        return self._layout[1] if self._keep is None else len(self._keep)

    def where(self, keep: npt.NDArray[np.bool_]) -> TreeHits:
        """The hits for which a condition holds."""
        chosen = np.flatnonzero(keep)
        return TreeHits(
            self.tree, self._marked, self._cutoff, chosen if self._keep is None else self._keep[chosen]
        )

    def take(self, per_document: AnyArray) -> AnyArray:
        """The value of each hit's document, given one value per judged document of the collection."""
        documents = len(self.tree.pool.grade) // len(self._marked)
        first = self.tree.world.document
        return self._filled(
            lambda f, level, letter: per_document[first[letter] + f * documents], per_document.dtype.type
        )

    def at_rank(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the rank of each hit."""
        table = np.asarray(function(np.arange(1, self.tree.shape.depth + 1)))
        return self._filled(lambda f, level, letter: table[level - 1], table.dtype.type)

    def at_ordinal(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the ordinal of each hit."""
        values: AnyArray = np.asarray(function(np.arange(1, self.tree.shape.depth + 1)))
        table = np.concatenate([values[:1], values])  # ordinals begin with 1
        return np.asarray(table[self.ordinal])

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """The sum of a value per hit over each ranking."""
        return self._descend(np.add, np.asarray(self._spread(values, 0), np.float64), 0.0)

    def sum_over_trees(self, values: AnyArray, factors: Floats) -> Floats:
        """The sum over the trees of a factor times the sum of a value over the hits of each ranking.

        One way down serves all trees, because a sum of sums is a sum.
        """
        steps, _ = self._layout
        one = len(steps) // len(factors)
        own = np.asarray(self._spread(values, 0), np.float64)
        equal = bool((factors == factors[0]).all())
        if not equal:
            own = own.copy()
            for f, factor in enumerate(factors.tolist()):
                mine = [step.hits for step in steps[f * one : (f + 1) * one] if step.hits is not None]
                if mine:
                    own[mine[0].start : mine[-1].stop] *= factor
        totals = np.empty(self.tree.shape.size)
        totals[0] = 0.0
        for k in range(one):
            parents, nodes = totals[steps[k].parents], totals[steps[k].nodes]
            added = [own[hits] for hits in (step.hits for step in steps[k::one]) if hits is not None]
            if not added:
                nodes[:] = parents
                continue
            np.add(parents, added[0], out=nodes)
            for more in added[1:]:
                nodes += more
        if equal and factors[0] != 1:
            totals *= factors[0]
        return totals

    @cached_property
    def count(self) -> Ints:
        """How many of these hits each ranking has."""
        return self._descend(np.add, self._spread(1, 0), 0)

    @cached_property
    def ordinal(self) -> Ints:
        """1 for the first of these hits in its ranking, 2 for the second, ..."""
        return self._above(self.count) + 1

    def descending(self, values: AnyArray) -> AnyArray:
        """Not known here: a hit belongs to many rankings, in which it has different places by value."""
        raise TypeError("the hits of a prefix tree have no order by value")

    def before(self, values: AnyArray) -> AnyArray:
        """For each hit the sum of a value over the hits above it."""
        values = np.asarray(values)
        whole = values.dtype.kind in "iub"
        spread = self._spread(values.astype(np.int64 if whole else np.float64), 0)
        return self._above(self._descend(np.add, spread, 0 if whole else 0.0))

    def product_before(self, values: AnyArray) -> Floats:
        """For each hit the product of a value over the hits above it."""
        spread = self._spread(np.asarray(values, np.float64), 1.0)
        return self._above(self._descend(np.multiply, spread, 1.0))

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The value at the first hit of each ranking, or ``otherwise`` where it has none."""
        own = np.where(self.ordinal == 1, np.asarray(values, np.float64), 0.0)
        return np.where(self.count > 0, self.sum(own), otherwise)

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The largest value over the hits of each ranking, or ``otherwise`` where it has none."""
        spread = self._spread(np.asarray(values, np.float64), -np.inf)
        return np.where(self.count > 0, self._descend(np.maximum, spread, -np.inf), otherwise)

    def _descend(self, combine: np.ufunc, own: AnyArray, start: float) -> AnyArray:
        """Totals of all nodes: that of the parent, combined with the own value where the last document is a hit."""
        totals = np.empty(self.size, type(start))
        totals[:: self.tree.shape.size] = start
        for _, _, _, parents, nodes, hits in self._layout[0]:
            if hits is None:
                totals[nodes] = totals[parents]
            else:
                combine(totals[parents], own[hits], out=totals[nodes])
        return totals

    def _above(self, totals: AnyArray) -> AnyArray:
        """For each hit the total of the ranking above it."""
        slots = np.empty(self._layout[1], totals.dtype)
        for step in self._layout[0]:
            if step.hits is not None:
                slots[step.hits] = totals[step.parents]
        return self._kept(slots)
