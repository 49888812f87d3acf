"""What a property is, and which rankings single steps relate: as stretches of the prefix tree's arrays.

A million pairs are compared in one step this way. A relation is *local* when a pair consists of a ranking and its
extension, or of two extensions of one ranking: local ones need only a block of the tree at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World

__all__ = [
    "Pairs",
    "Relation",
    "Stretch",
    "Word",
    "append_nonrelevant",
    "append_redundant",
    "append_relevant",
    "extended",
    "nonrelevant",
    "of_length",
    "placed",
    "relevant",
    "replace",
    "row",
    "swap",
]

Bools = npt.NDArray[np.bool_]
Word = tuple[int, ...]
"""A ranking as the numbers of its letters."""


@dataclass(frozen=True)
class Stretch:
    """Some nodes of a tree: ``nodes[start:stop]``, seen in a shape, of which an index takes a part.

    The index has a number, or everything, for each dimension.
    """

    start: int
    stop: int
    shape: tuple[int, ...] = (-1,)
    index: tuple[Any, ...] = ()

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of these nodes."""
        return np.asarray(values[self.start : self.stop].reshape(self.shape)[self.index])

    @property
    def whole(self) -> bool:
        """Whether all nodes from start to stop are meant, in their order."""
        return self.shape == (-1,) and not self.index

    @property
    def number(self) -> int:
        """How many they are."""
        taken = [many for many, at in zip(self.shape, self.index, strict=False) if isinstance(at, int)]
        return (self.stop - self.start) // prod(taken)

    def nodes(self) -> npt.NDArray[np.int64]:
        """Their numbers."""
        return np.asarray(np.arange(self.start, self.stop).reshape(self.shape)[self.index])


@dataclass(frozen=True)
class Pairs:
    """Pairs of nodes, one from each stretch, in order; only those that ``mask`` marks, if it is given."""

    low: Stretch | npt.NDArray[np.int64]
    high: Stretch | npt.NDArray[np.int64]
    mask: Bools | None = None

    def of(
        self, values: npt.NDArray[Any], highs: npt.NDArray[Any] | None = None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The values of the lower and of the higher rankings, the latter from ``highs`` if it is given."""
        highs = values if highs is None else highs
        low = self.low.of(values) if isinstance(self.low, Stretch) else values[self.low]
        high = self.high.of(highs) if isinstance(self.high, Stretch) else highs[self.high]
        return (low, high) if self.mask is None else (low[self.mask], high[self.mask])

    @property
    def number(self) -> int:
        """How many pairs there are."""
        if self.mask is not None:
            return int(np.count_nonzero(self.mask))
        return self.low.number if isinstance(self.low, Stretch) else self.low.size

    def nodes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the lower and of the higher rankings."""
        low = self.low.nodes() if isinstance(self.low, Stretch) else self.low
        high = self.high.nodes() if isinstance(self.high, Stretch) else self.high
        return (low, high) if self.mask is None else (low[self.mask], high[self.mask])


@dataclass(frozen=True)
class Relation:
    """A property that a measure may have: ``score(low) <= score(high)`` for all its pairs.

    Where lower scores are better (``measure.better``) it is ``>=``, and what ``meaning`` and ``broken`` say of lowering
    and raising is said the other way round.

    ``pairs(tree, first)`` yields them for the rankings whose length is at least ``first`` (0: all). ``broken`` says
    what happened where a measure breaks it; ``tell(tree, low, high)``, if given, says it for two rankings.

    A ``strict`` relation asks for ``<``: a tie breaks it. Of one for ``some`` each ``Pairs`` is one case, which holds
    if one of its pairs does. One of scores ``within`` two numbers has pairs of a ranking with itself. One of ``words``
    names its rankings, so that they can be longer than what can be enumerated: it yields cases, lists of (low, high).
    A ``near`` one relates two of a ranking and those with one document more, whatever the aspects are called.
    ``short`` is the head of a column, and ``reference`` says who asks for it.
    """

    name: str
    meaning: str
    broken: str
    pairs: Callable[[Tree, int], Iterator[Pairs]]
    local: bool = False
    near: bool = False
    needs_aspects: bool = False
    tell: Callable[[Tree, str, str], str] | None = None
    strict: bool = False
    some: bool = False
    within: tuple[float, float] | None = None
    words: Callable[[World, int], Iterator[list[tuple[Word, Word]]]] | None = None
    short: str = ""
    reference: str = ""


def of_length(tree: Tree, level: int) -> Stretch:
    """All rankings of a length."""
    return Stretch(tree.shape.starts[level], tree.shape.starts[level + 1])


def row(tree: Tree, level: int, letter: int) -> Stretch:
    """The rankings of a length that end in a letter, in the order of what comes before it."""
    nodes = tree.shape.row(level, letter)
    return Stretch(nodes.start, nodes.stop)


def placed(tree: Tree, level: int, letters: dict[int, int]) -> Stretch:
    """The rankings of a length that have these letters at these ranks, in the order of all the others."""
    shape: list[int] = []
    index: list[Any] = []
    below = level
    for rank in sorted(letters, reverse=True):  # the last rank counts most
        shape += [len(tree.world) ** (below - rank), len(tree.world)]
        index += [slice(None), letters[rank]]
        below = rank - 1
    whole = of_length(tree, level)
    return Stretch(whole.start, whole.stop, (*shape, len(tree.world) ** below), (*index, slice(None)))


def extended(tree: Tree, first: int) -> range:
    """The lengths of extensions of rankings that are not empty."""
    return range(max(first, 2), tree.shape.depth + 1)


def relevant(world: World) -> list[int]:
    """The letters of relevant documents."""
    return [letter for letter, grade in enumerate(world.grades) if grade > 0]


def nonrelevant(world: World) -> list[int]:
    """The letters of the others."""
    return [letter for letter, grade in enumerate(world.grades) if grade <= 0]


def append_relevant(tree: Tree, first: int) -> Iterator[Pairs]:
    """S and S r."""
    for level in extended(tree, first):
        for letter in relevant(tree.world):
            yield Pairs(of_length(tree, level - 1), row(tree, level, letter))


def append_nonrelevant(tree: Tree, first: int) -> Iterator[Pairs]:
    """S x and S."""
    for level in extended(tree, first):
        for letter in nonrelevant(tree.world):
            yield Pairs(row(tree, level, letter), of_length(tree, level - 1))


def append_redundant(tree: Tree, first: int) -> Iterator[Pairs]:
    """S p and S n: p of aspects that S covers, n of as many that it does not."""
    kinds = tree.world.kinds
    covered = [tree.count_of([kind[a] > 0 for kind in kinds]) > 0 for a in range(tree.world.aspects)]
    fitting = []
    for old, new, seen, unseen in tree.world.redundant:
        where = reduce(np.logical_and, [covered[a] for a in seen])
        fitting.append((old, new, reduce(np.greater, [covered[a] for a in unseen], where)))
    for level in extended(tree, first):
        parents = slice(tree.shape.starts[level - 1], tree.shape.starts[level])
        for old, new, where in fitting:
            if where[parents].any():
                yield Pairs(row(tree, level, old), row(tree, level, new), where[parents])


def swap(tree: Tree, first: int, farthest: int | None = None) -> Iterator[Pairs]:
    """A document, and the same with a more relevant one that stood further down, at most so many ranks."""
    for level in range(max(first, 2), tree.shape.depth + 1):
        for upper in range(1, level):
            for lower in range(upper + 1, min(level, upper + (farthest or level)) + 1):
                for worse, better in tree.world.better:
                    yield Pairs(
                        placed(tree, level, {upper: worse, lower: better}),
                        placed(tree, level, {upper: better, lower: worse}),
                    )


def replace(tree: Tree, first: int) -> Iterator[Pairs]:
    """A document, and a more relevant one in its place."""
    for level in range(max(first, 1), tree.shape.depth + 1):
        for rank in range(1, level + 1):
            for worse, better in tree.world.better:
                yield Pairs(placed(tree, level, {rank: worse}), placed(tree, level, {rank: better}))
