"""Prefix tree of all rankings, with the interface of lists and hits that measures use.

Each node is a ranking; its parent is the same ranking without the last document. The sum over the hits of a ranking is
the sum of its parent plus one summand, so a formula over hits costs one step per ranking of any length. A formula that
distinguishes documents of the same kind, rank and ordinal (:mod:`~rankscope.lab.rankings.tree_hits`) needs ordinary
lists, :meth:`Tree.flat`.

Nodes are numbered level by level; within a level the last letter is the most significant. The children that end in one
letter are therefore contiguous and in the order of their parents, and every step is vector arithmetic on slices.
To bound memory a tree may begin with a fixed prefix, whose nodes have a single child each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Self

import numpy as np

from rankscope.arrays import AnyArray, Floats, Ints, NDArray
from rankscope.judging.aspects import ByAspect
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.lab.rankings.tree_hits import (
    Counts,
    NotLumpedError,
    TreeByAspect,
    TreeHits,
    count_letters,
    lumped_slots,
)
from rankscope.lab.rankings.worlds import World, split_word

_MAX_CACHED = 1 << 19
"""Maximum number of nodes of a tree whose lengths are cached for the next tree of its shape."""


@dataclass(frozen=True)
class Shape:
    """Shape of a tree: a fixed prefix, then every letter down to ``depth``."""

    letters: int
    prefix: tuple[int, ...]
    depth: int

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Number of nodes of each level 0 .. depth."""
        fixed = len(self.prefix)
        return tuple(self.letters ** max(0, level - fixed) for level in range(self.depth + 1))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """First node of each level, followed by the number of nodes."""
        return (0, *accumulate(self.widths))

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.starts[-1]

    @property
    def lengths(self) -> Ints:
        """Level of each node."""
        return (_cached_lengths if self.size <= _MAX_CACHED else _lengths)(self.widths)

    def row(self, level: int, letter: int) -> slice:
        """Return the nodes of a level that end in a letter, in the order of their parents."""
        width = self.widths[level - 1]
        first = self.starts[level] + (0 if level <= len(self.prefix) else letter * width)
        return slice(first, first + width)

    def choices(self, level: int) -> Sequence[int]:
        """Return the letters that are possible at a rank."""
        return self.prefix[level - 1 : level] or range(self.letters)


def _lengths(widths: tuple[int, ...]) -> Ints:
    lengths = np.repeat(np.arange(len(widths)), widths)
    lengths.setflags(write=False)
    return lengths


_cached_lengths = lru_cache(maxsize=16)(_lengths)


class Tree(Lists):
    """Rankings that begin with ``prefix``, up to a length: list i is node i.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> tree = Tree(graded_world(1, relevant=2, nonrelevant=2), 2)
    >>> tree.words()
    ['-', '0', '1', '00', '10', '01', '11']
    >>> hits = tree.relevant()
    >>> hits.rank.tolist(), hits.ordinal.tolist(), hits.sum(1 / hits.rank).tolist()
    ([1, 2, 2], [1, 1, 2], [0.0, 0.0, 1.0, 0.0, 1.0, 0.5, 1.5])
    """

    def __init__(self, world: World, depth: int, prefix: tuple[int, ...] = ()) -> None:
        self._setup(world, Shape(len(world), prefix, depth), world.pool, np.array([world.grades]))

    def _setup(self, world: World, shape: Shape, pool: Pool, grades: AnyArray) -> None:
        self.world = world
        self.shape = shape
        self.pool = pool
        self.letter_grades = grades  # shape (trees, letters)

    @property
    def offsets(self) -> Ints:  # type: ignore[override]
        """Unsupported: raises :class:`NotLumpedError`."""
        raise NotLumpedError("the rankings are not written out")

    @cached_property
    def length(self) -> Ints:  # type: ignore[override]
        """Length of each ranking."""
        trees = len(self.letter_grades)
        return np.tile(self.shape.lengths, trees) if trees > 1 else self.shape.lengths

    def times_at_length(self, values: Floats, table: Floats, cutoff: int | None = None) -> Floats:
        """Multiply the value of each ranking in place by the entry of ``table`` at its length."""
        for level in range(self.shape.depth + 1):
            level_values = self.level(values, level)
            level_values *= table[level if cutoff is None else min(level, cutoff)]
        return values

    @cached_property
    def topic(self) -> Ints:  # type: ignore[override]
        """Topic of each list."""
        return np.repeat(np.arange(len(self.letter_grades)), self.shape.size)

    def per_topic(self, values: AnyArray) -> AnyArray:
        """Return the value of each list's topic."""
        if len(self.letter_grades) == 1:
            return np.broadcast_to(values[0], (len(self),))
        return np.repeat(values, self.shape.size)

    def __len__(self) -> int:
        return len(self.letter_grades) * self.shape.size

    def hits(self, cutoff: int | None = None) -> TreeHits:
        """Return all documents of the rankings, down to a rank."""
        return self.relevant(-1, cutoff)

    def documents(self, cutoff: int | None = None) -> TreeHits:
        """Return all documents of the rankings, down to a rank; all are judged."""
        return self.hits(cutoff)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> TreeHits:
        """Return the documents of grade ``rel`` or better, down to a rank."""
        depth = self.shape.depth if cutoff is None else int(cutoff)
        letters = tuple(map(tuple, (self.letter_grades >= rel).tolist()))
        return self.cache(
            ("relevant", rel, cutoff), lambda: TreeHits(self, lumped_slots(letters, self.shape.depth, depth))
        )

    @cached_property
    def by_aspect(self) -> ByAspect:
        """Forest of one tree per aspect, with the grades for that aspect."""
        grades = self.world.pool.aspect_grades[:, self.world.document]
        return TreeByAspect(self, self._with_grades(self.pool.by_aspect, grades))

    def _with_grades(self, pool: Pool, grades: AnyArray) -> Self:
        """Return the same rankings with the grades of another pool, of shape (trees, letters)."""
        other = type(self).__new__(type(self))
        other._setup(self.world, self.shape, pool, grades)
        return other

    def level(self, values: AnyArray, level: int) -> AnyArray:
        """Return the values of the rankings of one length, one row for each tree."""
        start = self.shape.starts[level]
        return values.reshape(-1, self.shape.size)[:, start : start + self.shape.widths[level]]

    def count_letters(self, marked: Sequence[bool]) -> Counts:
        """Return the number of documents of marked letters in each ranking."""
        letters = tuple(marked)
        return self.cache(("letter counts", letters), lambda: count_letters(self.shape, letters))

    def letter_matrix(self, level: int) -> NDArray[np.int8]:
        """Return the rankings of one length as a matrix: a row for each node, a column for each rank."""
        return self._letter_rows(level, np.arange(self.shape.widths[level]))

    def _letter_rows(self, level: int, codes: Ints) -> NDArray[np.int8]:
        """Return the rankings at some positions of a level, which are the numbers of their free letters."""
        fixed = min(level, len(self.shape.prefix))
        matrix = np.empty((len(codes), level), np.int8)
        matrix[:, :fixed] = self.shape.prefix[:fixed]
        for rank in range(fixed, level):
            codes, matrix[:, rank] = np.divmod(codes, self.shape.letters)
        return matrix

    def words(self) -> list[str]:
        """Return the rankings as text, in node order."""
        return [
            self.world.word(row) for level in range(self.shape.depth + 1) for row in self.letter_matrix(level)
        ]

    def word(self, node: int) -> str:
        """Return one ranking as text."""
        level = int(np.searchsorted(self.shape.starts, node, side="right")) - 1
        return self.world.word(*self._letter_rows(level, np.array([node - self.shape.starts[level]])))

    def alphabetical_keys(self, nodes: Ints) -> Ints:
        """Return integers that sort nodes like the texts of their rankings."""
        positions = {label: number for number, label in enumerate(sorted(self.world.labels))}
        order = np.array([positions[label] + 1 for label in self.world.labels])
        level = np.searchsorted(self.shape.starts, nodes, side="right") - 1
        codes = nodes - np.array(self.shape.starts)[level]
        letters = self._letter_rows(self.shape.depth, codes)
        digits = np.where(np.arange(self.shape.depth) < level[:, np.newaxis], order[letters], 0)
        return np.asarray(digits @ (self.shape.letters + 1) ** np.arange(self.shape.depth - 1, -1, -1))

    def find_node(self, word: str) -> int | None:
        """Return the node of a ranking, or None if it is not in the tree. The tree must have no prefix."""
        letters = split_word(word)
        if len(letters) > self.shape.depth or any(label not in self.world.labels for label in letters):
            return None
        code = 0
        for label in reversed(letters):
            code = code * self.shape.letters + self.world.labels.index(label)
        return self.shape.starts[len(letters)] + code

    def flat(self, first: int = 0, last: int | None = None) -> Lists:
        """Return the rankings of nodes first..last as ordinary lists, for formulas that the tree does not support."""
        length = self.length[first:last]
        letters = []
        for level, count in enumerate(np.bincount(length).tolist()):
            code = max(first - self.shape.starts[level], 0)
            letters.append(self._letter_rows(level, np.arange(code, code + count)))
        rank = np.concatenate([np.tile(np.arange(1, rows.shape[1] + 1), len(rows)) for rows in letters])
        judgment = np.concatenate([self.world.document[rows].ravel() for rows in letters])
        offsets = np.concatenate([[0], np.cumsum(length)])
        return Lists(self.pool, np.zeros_like(length), length, offsets, rank.astype(np.int32), judgment)

    def condense(self) -> Self:
        """Return the tree itself, since every document is judged."""
        return self

    def with_grades(self, pool: Pool) -> Self:
        """Return the same rankings with the grades of another pool."""
        return self._with_grades(pool, pool.grade[self.world.document][np.newaxis])
