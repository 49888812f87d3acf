"""What is expected of measures as models of users: the pairs of Amigó et al. 2013 and Moffat 2013.

Most ask for a strict difference: a document that moves up is not only no loss, but a gain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rankscope.lab.axioms.pairs import (
    Pairs,
    Word,
    extended,
    nonrelevant,
    of_length,
    placed,
    relevant,
    row,
    swap,
)
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World

__all__ = [
    "Spelled",
    "append_any",
    "append_to_some",
    "deeper_exchange",
    "each",
    "far_down",
    "near_the_top",
    "neighbours",
]


def neighbours(tree: Tree, first: int) -> Iterator[Pairs]:
    """A document, and the same with a more relevant one that stood right below it."""
    return swap(tree, first, farthest=1)


def deeper_exchange(tree: Tree, first: int) -> Iterator[Pairs]:
    """Two pairs of neighbours in the wrong order: the lower one corrected, and the upper one corrected."""
    for level in range(max(first, 4), tree.shape.depth + 1):
        for upper in range(1, level - 2):
            for lower in range(upper + 2, level):
                for worse, better in tree.world.better:
                    wrong, right = (worse, better), (better, worse)
                    yield Pairs(
                        placed(tree, level, _pairwise(upper, wrong, lower, right)),
                        placed(tree, level, _pairwise(upper, right, lower, wrong)),
                    )


def _pairwise(upper: int, above: Word, lower: int, below: Word) -> dict[int, int]:
    return {upper: above[0], upper + 1: above[1], lower: below[0], lower + 1: below[1]}


def append_to_some(tree: Tree, first: int) -> Iterator[Pairs]:
    """S x and S, where S holds a relevant document."""
    some = tree.relevant().count > 0
    for level in extended(tree, first):
        mask = np.asarray(of_length(tree, level - 1).of(some))
        for letter in nonrelevant(tree.world):
            yield Pairs(row(tree, level, letter), of_length(tree, level - 1), mask)


def append_any(tree: Tree, first: int) -> Iterator[Pairs]:
    """S and S d."""
    for level in extended(tree, first):
        for letter in range(len(tree.world)):
            yield Pairs(of_length(tree, level - 1), row(tree, level, letter))


def each(tree: Tree, first: int) -> Iterator[Pairs]:
    """Every ranking, beside itself."""
    for level in range(first, tree.shape.depth + 1):
        yield Pairs(of_length(tree, level), of_length(tree, level))


def near_the_top(world: World, depth: int) -> Iterator[list[tuple[Word, Word]]]:
    """One relevant document at the top, and n of the same after n others, for every n: one case each kind.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> list(near_the_top(graded_world(1, relevant=4, nonrelevant=4), 4))
    [[((1, 0), (0, 1)), ((1, 0, 0, 0), (0, 0, 1, 1))]]
    """
    for r, x, most in _kinds(world, depth):
        yield [_first_and_last(r, x, n) for n in range(1, most + 1)]


def far_down(world: World, depth: int) -> Iterator[list[tuple[Word, Word]]]:
    """The same for the largest n alone, and the other way round.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> list(far_down(graded_world(1, relevant=4, nonrelevant=4), 4))
    [[((0, 0, 1, 1), (1, 0, 0, 0))]]
    """
    for r, x, most in _kinds(world, depth):
        yield [_first_and_last(r, x, most)[::-1]] if most else []


def _kinds(world: World, depth: int) -> Iterator[tuple[int, int, int]]:
    """Every relevant and every other letter, with the largest n for which there are rankings of them."""
    for r in relevant(world):
        for x in nonrelevant(world):
            yield r, x, min(depth // 2, world.judged[r], (world.judged[x] + 1) // 2)


def _first_and_last(r: int, x: int, n: int) -> tuple[Word, Word]:
    return (r, *(x,) * (2 * n - 1)), (x,) * n + (r,) * n


@dataclass(frozen=True)
class Spelled:
    """The pairs of a relation that names its rankings, as nodes of a tree that has them."""

    words: Callable[[World, int], Iterator[list[tuple[Word, Word]]]]

    def __call__(self, tree: Tree, first: int) -> Iterator[Pairs]:
        """Each case by itself."""
        for case in self.words(tree.world, tree.shape.depth):
            nodes = [
                [tree.node(tree.world.word(word)) for word in pair] for pair in case if len(pair[0]) >= first
            ]
            places = np.array(nodes, np.int64).reshape(-1, 2)
            yield Pairs(places[:, 0], places[:, 1])
