"""Evaluation of a measure on every ranking, block by block.

A block is the subtree of the prefix tree below one prefix. It fits into the processor's cache, so memory is bounded at
any depth, and the computation can be interrupted between two blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from rankscope.engines import stream_pieces
from rankscope.errors import MeasureError, RankscopeError, SettingsError
from rankscope.judging.lists import Floats, Lists
from rankscope.lab.rankings.tree import Shape, Tree
from rankscope.lab.rankings.tree_hits import NotLumpedError
from rankscope.lab.rankings.worlds import World, graded_world
from rankscope.lab.rounding import magnitude
from rankscope.measures.base import Measure

BLOCK = 1 << 19
"""Maximum number of rankings in a block."""

Piece = tuple[int, tuple[int, ...], int]
"""Block of rankings: the depth, the first letters, and the first length that no other block has."""
LIMIT = 1 << 34
"""Limit on the number of enumerated rankings: more would take hours."""

_FLAT_BLOCK = 1 << 15
"""Maximum number of rankings at a time for formulas that need ordinary lists, which take more memory."""


def count_rankings(letters: int, depth: int) -> int:
    """Return the number of rankings of at most ``depth`` documents, including the empty one.

    >>> count_rankings(3, 10)
    88573
    """
    return int((letters ** (depth + 1) - 1) // (letters - 1))


def blocks(world: World, depth: int, size: int | None = None) -> list[Piece]:
    """Split the enumeration into blocks (depth, prefix, first new level) of at most ``size`` rankings.

    >>> blocks(graded_world(1, relevant=1, nonrelevant=1), 3, size=7)
    [(1, (), 0), (3, (0,), 2), (3, (1,), 2)]
    """
    size = BLOCK if size is None else size
    check_depth(world, depth)
    below = depth
    while below > 1 and count_rankings(len(world), below) > size:
        below -= 1
    if below == depth:
        return [(depth, (), 0)]
    top = depth - below
    head = blocks(world, top, size)
    return head + [(depth, prefix, top + 1) for prefix in product(range(len(world)), repeat=top)]


def check_depth(world: World, depth: int) -> None:
    """Reject a depth with more than ``LIMIT`` rankings."""
    max_depth = _max_depth(len(world))
    if not 1 <= depth <= max_depth:
        # A much larger number of rankings could be too long to print.
        count = f"{count_rankings(len(world), depth):,}" if depth <= 3 * max_depth else f"over {LIMIT:,}"
        hint = f"choose a depth from 1 to {max_depth}"
        raise SettingsError(f"depth {depth} has {count} rankings over {len(world)} letters", hint=hint)


def _max_depth(letters: int) -> int:
    depth = 1
    while count_rankings(letters, depth + 1) <= LIMIT:
        depth += 1
    return depth


def evaluate_blocks(
    pieces: Sequence[Piece], evaluators: Sequence[Evaluator], world: World, jobs: int | None = None
) -> Iterator[tuple[Tree, int, list[Floats]]]:
    """Yield (tree, first new level, values of each measure) for every block, in order.

    Other workers evaluate a few blocks ahead.
    """
    values = stream_pieces(partial(_evaluate_block, world=world, evaluators=evaluators), pieces, jobs=jobs)
    for (depth, prefix, first), block_values in zip(pieces, values, strict=True):
        yield Tree(world, depth, prefix), first, block_values


def _evaluate_block(piece: Piece, world: World, evaluators: Sequence[Evaluator]) -> list[Floats]:
    """Return the values of all measures on one block."""
    tree = Tree(world, *piece[:2])
    return [evaluator.evaluate(tree) for evaluator in evaluators]


class Evaluator:
    """Evaluator of a measure on prefix trees.

    A formula that the tree does not support (for example because it uses the length of the list that contains a hit) is
    evaluated on ordinary lists. It is detected on short rankings, where both values are compared.
    """

    def __init__(self, measure: Measure, world: World) -> None:
        self.measure = measure
        short = Tree(world, 3)
        expected = self.evaluate_lists(short.flat())
        try:
            values = measure.evaluate(short)
        except Exception:  # The formula does not support the tree.
            self.can_lump = False
            return
        tolerance = 1e-12 * magnitude(expected)
        self.can_lump = bool(np.allclose(values, expected, rtol=1e-12, atol=tolerance, equal_nan=True))

    def evaluate_lists(self, lists: Lists) -> Floats:
        """Return the value of every list; name the measure if its formula fails."""
        try:
            return self.measure.evaluate(lists)
        except (RankscopeError, NotLumpedError):
            raise
        except Exception as error:
            longest = int(np.max(lists.length, initial=0))
            raise MeasureError(
                f"{self.measure} failed on rankings of up to {longest} documents ({type(error).__name__}: {error})",
                hint="only a measure that is a number on every ranking can be tested",
            ) from error

    def evaluate(self, tree: Tree) -> Floats:
        """Return the value of every node."""
        if self.can_lump:
            try:
                return self.evaluate_lists(tree)
            except NotLumpedError:  # raised on long rankings only
                pass
        starts = range(0, tree.shape.size, _FLAT_BLOCK)
        parts = (tree.flat(first, first + _FLAT_BLOCK) for first in starts)
        return np.concatenate([self.evaluate_lists(lists) for lists in parts])


def extension_nodes(shape: Shape, more: tuple[int, ...], level: int) -> slice:
    """Return the nodes of a level whose rankings continue the prefix of the tree with ``more``."""
    if level <= len(shape.prefix):
        return slice(level, level + 1)
    step = shape.letters ** len(more)
    offset = sum(letter * shape.letters**i for i, letter in enumerate(more))
    return slice(shape.starts[level] + offset, shape.starts[level + 1], step)


def values_on_binary(measure: Measure, length: int, relevant: int | None = None) -> Floats:
    """Return the values of a measure on all binary rankings of one length.

    Parameters
    ----------
    measure
        The measure.
    length
        Number of documents in a ranking.
    relevant
        Recall base; by default ``length``.

    Returns
    -------
    numpy.ndarray of shape (2 ** length,)
        Entry c belongs to the ranking whose relevance values are the binary digits of c, the first rank being the most
        significant digit.

    Examples
    --------
    >>> from rankscope.measures import measure
    >>> values_on_binary(measure("P@2"), 2).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    relevant = length if relevant is None else relevant
    return values_on_words(measure, graded_world(1, relevant=relevant, nonrelevant=length), length)


def values_on_words(measure: Measure, world: World, length: int) -> Floats:
    """Return the values of a measure on all words of one length over the letters of a world.

    Entry c belongs to the word whose letters are the digits of c, the first rank being the most significant digit.

    >>> from rankscope.measures import measure
    >>> values_on_words(measure("CG@2"), graded_world(2, relevant=2, nonrelevant=2), 2).tolist()
    [0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0]
    """
    evaluator, base = Evaluator(measure, world), len(world)
    values = np.empty(base**length)
    for tree in fixed_length(world, length):
        level_values = tree.level(evaluator.evaluate(tree), length)[0]
        free = length - len(tree.shape.prefix)
        start = 0
        for letter in tree.shape.prefix:
            start = start * base + letter
        start *= base**free
        values[start : start + base**free] = level_values.reshape((base,) * free).transpose().ravel()
    return values


def fixed_length(world: World, length: int) -> Iterator[Tree]:
    """Yield trees whose deepest levels together contain each ranking of the length exactly once."""
    for depth, prefix, _ in blocks(world, length):
        if depth == length:
            yield Tree(world, depth, prefix)
