"""The value of a measure on every ranking, block by block.

A block is the part of the prefix tree below one prefix; it fits a processor's cache, so that memory is bounded
whatever the depth and work can stop between two blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from rankscope.engines import stream_pieces
from rankscope.errors import MeasureError, RankscopeError, SettingsError
from rankscope.judging.lists import Floats, Lists
from rankscope.lab.rankings.lumped import Lumped, NotLumpedError, Watch, lumped
from rankscope.lab.rankings.tree import Shape, Tree
from rankscope.lab.rankings.worlds import World, graded_world
from rankscope.lab.rounding import magnitude
from rankscope.measures.base import Measure

__all__ = [
    "Evaluator",
    "blocks",
    "check_depth",
    "evaluated",
    "number_of_rankings",
    "orbits",
    "places",
    "values_on_binary",
    "values_on_words",
]

BLOCK = 1 << 19
"""Rankings evaluated at a time."""

LIMIT = 1 << 34
"""Rankings beyond which an enumeration is refused: hours of work."""

_FLAT_BLOCK = 1 << 15


def number_of_rankings(letters: int, depth: int) -> int:
    """How many rankings of at most ``depth`` documents there are, the empty one included.

    >>> number_of_rankings(3, 10)
    88573
    """
    return int((letters ** (depth + 1) - 1) // (letters - 1))


def blocks(world: World, depth: int, size: int | None = None) -> list[tuple[int, tuple[int, ...], int]]:
    """The enumeration cut into (depth, prefix, first own level), each of at most ``size`` rankings.

    >>> blocks(graded_world(1, relevant=1, nonrelevant=1), 3, size=7)
    [(1, (), 0), (3, (0,), 2), (3, (1,), 2)]
    """
    size = BLOCK if size is None else size
    check_depth(world, depth)
    below = depth
    while below > 1 and number_of_rankings(len(world), below) > size:
        below -= 1
    if below == depth:
        return [(depth, (), 0)]
    top = depth - below
    head = blocks(world, top, size)
    return head + [(depth, prefix, top + 1) for prefix in product(range(len(world)), repeat=top)]


def orbits(
    world: World, pieces: Sequence[tuple[int, tuple[int, ...], int]]
) -> list[tuple[tuple[int, tuple[int, ...], int], int]]:
    """One of all blocks that differ by the names of aspects, the first in alphabetical order; and how many they are.

    >>> from rankscope.lab.rankings.worlds import aspect_world
    >>> world = aspect_world(2, relevant=1, nonrelevant=1)
    >>> orbits(world, blocks(world, 2, size=4))
    [((1, (), 0), 1), ((2, (0,), 2), 2), ((2, (2,), 2), 1)]
    """
    found = []
    many: dict[tuple[int, ...], int] = {}
    for piece in pieces:
        prefix = piece[1]
        if prefix not in many:
            images = _images(world, prefix)
            many |= dict.fromkeys(images, 0)
            many[min(images, key=world.word)] = len(images)
        if many[prefix]:
            found.append((piece, many[prefix]))
    return found


def _images(world: World, prefix: tuple[int, ...]) -> set[tuple[int, ...]]:
    """What a ranking becomes when aspects change their names, itself included."""
    images, waiting = {prefix}, [prefix]
    while waiting:
        here = waiting.pop()
        more = {tuple(letters[letter] for letter in here) for _, letters in world.renamings} - images
        images |= more
        waiting += more
    return images


def check_depth(world: World, depth: int) -> None:
    """Refuse a depth with more rankings than can be looked at; such a number may be too long even to print."""
    deepest = _deepest(len(world))
    if not 1 <= depth <= deepest:
        many = f"{number_of_rankings(len(world), depth):,}" if depth <= 3 * deepest else f"over {LIMIT:,}"
        raise SettingsError(
            f"depth {depth} has {many} rankings over {len(world)} letters",
            hint=f"choose a depth from 1 to {deepest}",
        )


def _deepest(letters: int) -> int:
    depth = 1
    while number_of_rankings(letters, depth + 1) <= LIMIT:
        depth += 1
    return depth


def evaluated(
    pieces: Sequence[tuple[int, tuple[int, ...], int]],
    evaluators: Sequence[Evaluator],
    world: World,
    jobs: int | None = None,
) -> Iterator[tuple[Tree, int, list[Floats]]]:
    """(tree, first own level, values of each measure) for every block, in order; a few blocks ahead on other cores."""

    values = stream_pieces(_Evaluated(world, tuple(evaluators)), pieces, jobs=jobs)
    for (depth, prefix, first), found in zip(pieces, values, strict=True):
        yield Tree(world, depth, prefix), first, found


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """The values of every measure on one block."""

    world: World
    evaluators: tuple[Evaluator, ...]

    def __call__(self, piece: tuple[int, tuple[int, ...], int]) -> list[Floats]:
        tree = Tree(self.world, *piece[:2])
        return [evaluator.evaluate(tree) for evaluator in self.evaluators]


class Evaluator:
    """A measure with the way to evaluate it on trees.

    Most formulas follow the tree, and many of them need its hits only lumped. One that does not (it needs lists
    written out, or asks for the length of the list a hit stands in) shows itself on short rankings, and is then given
    lists written out; the measure is the same.
    """

    def __init__(self, measure: Measure, world: World) -> None:
        self.measure = measure
        short = Tree(world, 3)
        expected = self._values(short.flat())
        self.follows_tree = self._agrees(short, expected)
        self.lumps = self.follows_tree and self._agrees(lumped(short), expected)

    def watched(self, world: World, depth: int) -> Watch:
        """What the formula learns of the rankings down to a depth: everything, if it cannot be watched.

        The hits of a lumped tree are those of all rankings, whatever its prefix: a few rankings show what it asks.
        """
        thin = Lumped(world, depth, (0,) * (depth - 1))
        watch = thin.watched()
        try:
            if self.lumps:
                self._values(thin)
                return watch
        except NotLumpedError:
            pass
        return Watch(depth, alike=False)

    def _agrees(self, tree: Tree, expected: Floats) -> bool:
        try:
            found = self.measure.evaluate(tree)
        except Exception:  # whatever an unsuited formula runs into
            return False
        return bool(
            np.allclose(found, expected, rtol=1e-12, atol=1e-12 * magnitude(expected), equal_nan=True)
        )

    def _values(self, lists: Lists) -> Floats:
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
        """The value of every node."""
        if self.lumps:
            try:
                return self._values(lumped(tree))
            except NotLumpedError:  # on long rankings only
                pass
        if self.follows_tree:
            return self._values(tree)
        if tree.shape.size <= _FLAT_BLOCK:
            return self._values(tree.flat())
        return self._in_pieces(tree)

    def written(self, lists: Lists) -> Floats:
        """The value of every list that is written out."""
        return self._values(lists)

    def _in_pieces(self, tree: Tree) -> Floats:
        """Lists written out take much memory: a piece of the tree at a time."""
        values = np.empty(tree.shape.size)
        fixed = tree.shape.prefix
        for depth, more, first in blocks(tree.world, tree.shape.depth - len(fixed), _FLAT_BLOCK):
            piece = Tree(tree.world, len(fixed) + depth, fixed + more)
            found = self._values(piece.flat())
            for level in range(len(fixed) + first if more else 0, piece.shape.depth + 1):
                values[places(tree.shape, more, level)] = piece.level(found, level)[0]
        return values


def places(shape: Shape, more: tuple[int, ...], level: int) -> slice:
    """Where the rankings of a level that go on with ``more`` after the prefix stand in a tree."""
    if level <= len(shape.prefix):
        return slice(level, level + 1)
    step = shape.letters ** len(more)
    offset = sum(letter * shape.letters**i for i, letter in enumerate(more))
    return slice(shape.starts[level] + offset, shape.starts[level + 1], step)


def values_on_binary(measure: Measure, length: int, relevant: int | None = None) -> Floats:
    """The value of a measure on all 2^length binary rankings of one length.

    Entry c is the ranking whose binary number is c, the first rank counting most. ``relevant`` is the recall base;
    by default as many as there are ranks.

    >>> from rankscope.measures import measure
    >>> values_on_binary(measure("P@2"), 2).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    relevant = length if relevant is None else relevant
    return values_on_words(measure, graded_world(1, relevant=relevant, nonrelevant=length), length)


def values_on_words(measure: Measure, world: World, length: int) -> Floats:
    """The value of a measure on all words of one length over the letters of a world.

    Entry c is the word whose letters are the digits of the number c, the first rank counting most.

    >>> from rankscope.measures import measure
    >>> values_on_words(measure("CG@2"), graded_world(2, relevant=2, nonrelevant=2), 2).tolist()
    [0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0]
    """
    evaluator, base = Evaluator(measure, world), len(world)
    values = np.empty(base**length)
    for tree in fixed_length(world, length):
        found = tree.level(evaluator.evaluate(tree), length)[0]
        free = length - len(tree.shape.prefix)
        start = 0
        for letter in tree.shape.prefix:
            start = start * base + letter
        start *= base**free
        values[start : start + base**free] = found.reshape((base,) * free).transpose().ravel()
    return values


def fixed_length(world: World, length: int) -> Iterator[Tree]:
    """Trees whose deepest levels together are all rankings of one length, each once."""
    for depth, prefix, _ in blocks(world, length):
        if depth == length:
            yield Tree(world, depth, prefix)
