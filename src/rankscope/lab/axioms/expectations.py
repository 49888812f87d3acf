"""Pairs of rankings of the properties of Amigó et al. 2013 and Moffat 2013.

Most of these properties are strict: moving a relevant document up must raise the score, not only keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.lab.axioms.pairs import (
    Pairs,
    Word,
    extension_lengths,
    level_nodes,
    nodes_with_letters,
    nonrelevant_letters,
    relevant_letters,
    row,
    swap,
)
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World


def swap_neighbours(tree: Tree, first: int) -> Iterator[Pairs]:
    """Yield a ranking and the same after a swap of a document with a more relevant one right below it."""
    return swap(tree, first, farthest=1)


def swap_deeper(tree: Tree, first: int) -> Iterator[Pairs]:
    """Yield a ranking after a swap of neighbours, and the same ranking after an equal swap nearer to the top."""
    for level in range(max(first, 4), tree.shape.depth + 1):
        for upper in range(1, level - 2):
            for lower in range(upper + 2, level):
                for worse, better in tree.world.better:
                    wrong, right = (worse, better), (better, worse)
                    yield Pairs(
                        nodes_with_letters(tree, level, _pairwise(upper, wrong, lower, right)),
                        nodes_with_letters(tree, level, _pairwise(upper, right, lower, wrong)),
                    )


def _pairwise(upper: int, above: Word, lower: int, below: Word) -> dict[int, int]:
    return {upper: above[0], upper + 1: above[1], lower: below[0], lower + 1: below[1]}


def append_after_relevant(tree: Tree, first: int) -> Iterator[Pairs]:
    """Yield the pairs S x < S where S contains a relevant document."""
    has_relevant = tree.relevant().count > 0
    for level in extension_lengths(tree, first):
        mask = np.asarray(level_nodes(tree, level - 1).select(has_relevant))
        for letter in nonrelevant_letters(tree.world):
            yield Pairs(row(tree, level, letter), level_nodes(tree, level - 1), mask)


def append_any(tree: Tree, first: int) -> Iterator[Pairs]:
    """Yield the pairs S <= S d: any document is appended."""
    for level in extension_lengths(tree, first):
        for letter in range(len(tree.world)):
            yield Pairs(level_nodes(tree, level - 1), row(tree, level, letter))


def identical_pairs(tree: Tree, first: int) -> Iterator[Pairs]:
    """Yield every ranking paired with itself."""
    for level in range(first, tree.shape.depth + 1):
        yield Pairs(level_nodes(tree, level), level_nodes(tree, level))


def near_the_top(world: World, depth: int) -> Iterator[list[tuple[Word, Word]]]:
    """Yield, per kind, a case of pairs for every n: one relevant document at the top, and n of them after n others.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> list(near_the_top(graded_world(1, relevant=4, nonrelevant=4), 4))
    [[((1, 0), (0, 1)), ((1, 0, 0, 0), (0, 0, 1, 1))]]
    """
    for r, x, max_n in _kinds(world, depth):
        yield [_first_and_last(r, x, n) for n in range(1, max_n + 1)]


def far_down(world: World, depth: int) -> Iterator[list[tuple[Word, Word]]]:
    """Yield, per kind, the reversed pair of :func:`near_the_top` for the largest n.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> list(far_down(graded_world(1, relevant=4, nonrelevant=4), 4))
    [[((0, 0, 1, 1), (1, 0, 0, 0))]]
    """
    for r, x, max_n in _kinds(world, depth):
        yield [_first_and_last(r, x, max_n)[::-1]] if max_n else []


def _kinds(world: World, depth: int) -> Iterator[tuple[int, int, int]]:
    """Yield every pair of a relevant and a non-relevant letter, with the largest n for which their rankings exist."""
    for r in relevant_letters(world):
        for x in nonrelevant_letters(world):
            yield r, x, min(depth // 2, world.judged[r], (world.judged[x] + 1) // 2)


def _first_and_last(r: int, x: int, n: int) -> tuple[Word, Word]:
    return (r, *(x,) * (2 * n - 1)), (x,) * n + (r,) * n


@dataclass(frozen=True)
class NamedPairs:
    """Pairs of a relation that names its rankings, as nodes of a tree that contains them."""

    words: Callable[[World, int], Iterator[list[tuple[Word, Word]]]]

    def __call__(self, tree: Tree, first: int) -> Iterator[Pairs]:
        """Yield one ``Pairs`` per case."""
        for case in self.words(tree.world, tree.shape.depth):
            pairs = [
                [tree.node(tree.world.word(word)) for word in pair] for pair in case if len(pair[0]) >= first
            ]
            nodes = np.array(pairs, np.int64).reshape(-1, 2)
            yield Pairs(nodes[:, 0], nodes[:, 1])
