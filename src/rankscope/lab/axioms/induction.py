"""Transitive closure of relevance monotonicity, irrelevance monotonicity and redundancy.

The three relations are steps from one ranking to a better one; the induced relation is reachability by steps. A ranking
reaches its direct successors and all that these reach, so the closure is computed layer by layer from the top.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Ints
from rankscope.lab.rankings.tree import Tree


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
