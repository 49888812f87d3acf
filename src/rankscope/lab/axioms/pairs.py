"""Properties as relations between rankings, whose pairs are slices of the arrays of the prefix tree.

With slices, one vector operation compares a million pairs. A relation is *local* if each pair consists of a
ranking and its extension, or of two extensions of one ranking; a local relation needs one block of the tree at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Bools, Ints
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World

Word = tuple[int, ...]
"""A ranking as the numbers of its letters."""


@dataclass(frozen=True)
class Stretch:
    """Nodes of a tree: ``nodes[start:stop].reshape(shape)[index]``.

    The index has an integer or a full slice for each dimension.
    """

    start: int
    stop: int
    shape: tuple[int, ...] = (-1,)
    index: tuple[Any, ...] = ()

    def select(self, values: AnyArray) -> AnyArray:
        """Return the values of these nodes."""
        return np.asarray(values[self.start : self.stop].reshape(self.shape)[self.index])

    @property
    def is_whole(self) -> bool:
        """Whether the stretch contains all nodes from start to stop, in order."""
        return self.shape == (-1,) and not self.index

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        fixed = [size for size, at in zip(self.shape, self.index, strict=False) if isinstance(at, int)]
        return (self.stop - self.start) // prod(fixed)

    def nodes(self) -> Ints:
        """Return the indices of the nodes."""
        return np.asarray(np.arange(self.start, self.stop).reshape(self.shape)[self.index])


@dataclass(frozen=True)
class Pairs:
    """Pairs of nodes, one from each stretch, in order; if there is a ``mask``, only those it selects."""

    low: Stretch | Ints
    high: Stretch | Ints
    mask: Bools | None = None

    def select(self, values: AnyArray, highs: AnyArray | None = None) -> tuple[AnyArray, AnyArray]:
        """Return the values of the lower and of the higher rankings, the latter from ``highs`` if it is given."""
        highs = values if highs is None else highs
        low = self.low.select(values) if isinstance(self.low, Stretch) else values[self.low]
        high = self.high.select(highs) if isinstance(self.high, Stretch) else highs[self.high]
        return (low, high) if self.mask is None else (low[self.mask], high[self.mask])

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        if self.mask is not None:
            return int(np.count_nonzero(self.mask))
        return self.low.n_nodes if isinstance(self.low, Stretch) else self.low.size

    def nodes(self) -> tuple[Ints, Ints]:
        """Return the indices of the lower and of the higher rankings."""
        low = self.low.nodes() if isinstance(self.low, Stretch) else self.low
        high = self.high.nodes() if isinstance(self.high, Stretch) else self.high
        return (low, high) if self.mask is None else (low[self.mask], high[self.mask])


@dataclass(frozen=True)
class Relation:
    """Property of measures: ``score(low) <= score(high)`` for all pairs of a relation between rankings.

    If lower scores are better (``measure.better``), the condition is ``>=``, and "lower" and "raise" are exchanged in
    ``meaning`` and ``broken``.

    Parameters
    ----------
    name
        Name of the property.
    meaning
        The property as a sentence.
    broken
        Description of a violation.
    pairs
        Function ``pairs(tree, first)`` that yields the pairs of rankings of at least ``first`` documents (0: all).
    local
        Whether a pair consists of a ranking and its extension, or of two extensions of one ranking.
    near
        Whether both rankings of a pair are among a ranking and its extensions by one document, and the relation is
        symmetric in the aspects.
    needs_aspects
        Whether the relation is defined only for documents with aspects.
    tell
        Function ``tell(tree, low, high)`` that describes the violation by two rankings; replaces ``broken``.
    strict
        Whether the condition is ``<``, so that a tie is a violation.
    some
        Whether one pair that satisfies the condition suffices; then each ``Pairs`` is one case.
    within
        Smallest and largest allowed score; then the pairs consist of a ranking and itself.
    words
        Function ``words(world, depth)`` that yields cases, lists of (low, high), of explicit rankings, which may be
        longer than those that can be enumerated.
    short
        Column heading.
    reference
        Paper that states the property.
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


def level_nodes(tree: Tree, level: int) -> Stretch:
    """Return the rankings of a length."""
    return Stretch(tree.shape.starts[level], tree.shape.starts[level + 1])


def row(tree: Tree, level: int, letter: int) -> Stretch:
    """Return the rankings of a length that end in a letter, in the order of their prefixes."""
    nodes = tree.shape.row(level, letter)
    return Stretch(nodes.start, nodes.stop)


def nodes_with_letters(tree: Tree, level: int, letters: dict[int, int]) -> Stretch:
    """Return the rankings of a length with the given letters at given ranks, ordered by the other letters."""
    shape: list[int] = []
    index: list[Any] = []
    below = level
    for rank in sorted(letters, reverse=True):  # The last rank is the most significant.
        shape += [len(tree.world) ** (below - rank), len(tree.world)]
        index += [slice(None), letters[rank]]
        below = rank - 1
    whole = level_nodes(tree, level)
    return Stretch(whole.start, whole.stop, (*shape, len(tree.world) ** below), (*index, slice(None)))
