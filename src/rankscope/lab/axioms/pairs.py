"""Properties as relations between rankings, whose pairs are slices of the arrays of the prefix tree.

With slices, one vector operation compares a million pairs. A relation is *local* if each pair consists of a
ranking and its extension, or of two extensions of one ranking; a local relation needs one block of the tree at a time.

The *induced* relation is the transitive closure of relevance monotonicity, irrelevance monotonicity and redundancy. The
three are steps from one ranking to a better one; the induced relation is reachability by steps. A ranking reaches its
direct successors and all that these reach, so the closure is computed layer by layer from the top.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

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


class Steps(NamedTuple):
    """Rankings one step above each: those of node i are ``above[offsets[i]:offsets[i + 1]]``."""

    offsets: Ints
    above: Ints


def single_steps(tree: Tree) -> Steps:
    """Return all steps of the three relations, including those from the empty ranking."""
    shape, world = tree.shape, tree.world
    low, high = [], []
    covered = None
    if world.aspects > 1:
        covered = (tree.by_aspect.lists.relevant().count > 0).reshape(world.aspects, -1)
    for level in range(1, shape.depth + 1):
        parents = np.arange(shape.starts[level - 1], shape.starts[level])
        for letter, grade in enumerate(world.grades):
            children = np.arange(*shape.row(level, letter).indices(shape.size))
            low.append(parents if grade > 0 else children)
            high.append(children if grade > 0 else parents)
        for old, new, seen, unseen in world.redundant_pairs:
            assert covered is not None
            above = covered[:, parents]
            is_redundant = above[list(seen)].all(axis=0) & ~above[list(unseen)].any(axis=0)
            children = np.arange(*shape.row(level, old).indices(shape.size))[is_redundant]
            low.append(children)
            high.append(children + (new - old) * len(parents))
    lower, higher = np.concatenate(low), np.concatenate(high)
    order = np.argsort(lower, kind="stable")
    counts = np.bincount(lower, minlength=shape.size)
    return Steps(np.concatenate([[0], np.cumsum(counts)]), higher[order])


def induced_pairs(tree: Tree) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs (lower, higher) of different rankings such that steps lead from the lower to the higher one.

    >>> from rankscope.lab.rankings.worlds import aspect_world
    >>> tree = Tree(aspect_world(2, relevant=2, nonrelevant=2), 2)
    >>> sum(len(low) for low, high in induced_pairs(tree))
    37
    """
    steps = single_steps(tree)
    size = tree.shape.size
    layer = _longest_path_lengths(steps)
    # Node i reaches the nodes reach[begin[i]:begin[i] + number[i]], which are filled from the top layer down.
    begin, number = np.zeros(size, np.int64), np.zeros(size, np.int64)
    reach, filled = np.zeros(size, np.int64), 0
    for height in range(1, int(layer.max()) + 1):
        lower = np.flatnonzero(layer == height)
        origin, above = _gather(lower, steps.offsets[lower], np.diff(steps.offsets)[lower], steps.above)
        further, beyond = _gather(origin, begin[above], number[above], reach)
        pairs = np.unique(np.concatenate([origin * size + above, further * size + beyond]))
        low, high = np.divmod(pairs, size)
        yield low, high
        while len(reach) < filled + len(high):
            reach = np.concatenate([reach, np.zeros(len(reach), np.int64)])
        reach[filled : filled + len(high)] = high
        count = np.bincount(low, minlength=size)
        number[lower] = count[lower]
        begin[lower] = filled + np.cumsum(count[lower]) - count[lower]
        filled += len(high)


def shortest_path(tree: Tree, low: str, high: str) -> list[str]:
    """Return a shortest sequence of steps from one ranking to another, both included.

    >>> from rankscope.lab.rankings.worlds import aspect_world
    >>> shortest_path(Tree(aspect_world(2, relevant=2, nonrelevant=2), 3), "aax", "ab")
    ['aax', 'aa', 'ab']
    """
    steps = single_steps(tree)
    start, goal = tree.find_node(low.replace("-", "")), tree.find_node(high.replace("-", ""))
    parents = {start: start}
    queue = deque([start])
    while queue and goal not in parents:
        node = queue.popleft()
        assert node is not None
        for above in steps.above[steps.offsets[node] : steps.offsets[node + 1]].tolist():
            if above not in parents:
                parents[above] = node
                queue.append(above)
    path = [goal]
    while path[-1] != start:
        path.append(parents[path[-1]])
    return [tree.word(node) for node in reversed(path) if node is not None]


def _gather(owner: Ints, start: Ints, number: Ints, source: Ints) -> tuple[Ints, Ints]:
    """Return the concatenated slices ``source[start:start + number]`` of all owners, and the owner of each entry."""
    position = np.repeat(start - (np.cumsum(number) - number), number) + np.arange(number.sum())
    return np.repeat(owner, number), source[position]


def _longest_path_lengths(steps: Steps) -> Ints:
    """Return the length of the longest sequence of steps from each ranking."""
    layer = np.zeros(len(steps.offsets) - 1, np.int64)
    has_steps = np.flatnonzero(np.diff(steps.offsets))
    while True:
        higher = layer.copy()
        higher[has_steps] = np.maximum.reduceat(layer[steps.above], steps.offsets[has_steps]) + 1
        if (higher == layer).all():
            return layer
        layer = higher
