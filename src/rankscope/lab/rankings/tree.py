"""All rankings at once: the prefix tree, as lists and hits that every measure understands.

Each node is a ranking; its parent is the same ranking without the last document. A ranking shares the sum over its
hits with its parent but for one document, so a formula over hits costs one step per ranking, however long it is.

Nodes are numbered level by level; inside a level the last letter counts most. So the children that end in one letter
stand side by side in the order of their parents, and every step is plain arithmetic on whole stretches of arrays.
To bound memory a tree may begin with a fixed prefix, whose nodes have a single child each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.judging.aspects import ByAspect
from rankscope.judging.lists import AnyArray, Floats, Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.lab.rankings.paths import Counts, counts_of
from rankscope.lab.rankings.tree_hits import TreeByAspect, TreeHits
from rankscope.lab.rankings.worlds import World, letters_of

__all__ = ["Shape", "Tree"]

_KEPT = 1 << 19
"""Nodes of a tree whose lengths are kept for the next tree of its shape."""


@dataclass(frozen=True)
class Shape:
    """The levels of a tree: ``prefix`` fixed letters, then every letter down to ``depth``."""

    letters: int
    prefix: tuple[int, ...]
    depth: int

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of nodes of each level 0 .. depth."""
        return _widths(self.letters, len(self.prefix), self.depth)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first node of each level, and the number of nodes."""
        return _starts(self.letters, len(self.prefix), self.depth)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.starts[-1]

    @property
    def lengths(self) -> Ints:
        """The level of each node."""
        return (_kept_lengths if self.size <= _KEPT else _lengths)(self.letters, len(self.prefix), self.depth)

    def row(self, level: int, letter: int) -> slice:
        """The nodes of a level that end in a letter, in the order of their parents."""
        width = self.widths[level - 1]
        first = self.starts[level] + (0 if level <= len(self.prefix) else letter * width)
        return slice(first, first + width)

    def choices(self, level: int) -> range:
        """The letters that can stand at a rank."""
        if level <= len(self.prefix):
            return range(self.prefix[level - 1], self.prefix[level - 1] + 1)
        return range(self.letters)


@lru_cache(maxsize=256)  # blocks differ in their prefix, and hardly in its length
def _widths(letters: int, fixed: int, depth: int) -> tuple[int, ...]:
    return tuple(letters ** max(0, level - fixed) for level in range(depth + 1))


@lru_cache(maxsize=256)
def _starts(letters: int, fixed: int, depth: int) -> tuple[int, ...]:
    return (0, *accumulate(_widths(letters, fixed, depth)))


def _lengths(letters: int, fixed: int, depth: int) -> Ints:
    lengths = np.repeat(np.arange(depth + 1), _widths(letters, fixed, depth))
    lengths.setflags(write=False)
    return lengths


_kept_lengths = lru_cache(maxsize=16)(_lengths)


class Tree(Lists):
    """Every ranking that begins with ``prefix``, down to a depth, as lists: list i is node i.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> tree = Tree(graded_world(1, relevant=2, nonrelevant=2), 2)
    >>> tree.words()
    ['-', '0', '1', '00', '10', '01', '11']
    >>> tree.relevant().sum().tolist()
    [0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 2.0]
    """

    def __init__(self, world: World, depth: int, prefix: tuple[int, ...] = ()) -> None:
        self._setup(world, Shape(len(world), prefix, depth), world.pool, np.array([world.grades]))

    def _setup(self, world: World, shape: Shape, pool: Pool, grades: npt.NDArray[Any]) -> None:
        self.world = world
        self.shape = shape
        self.pool = pool
        self.letter_grades = grades  # [tree of the forest, letter]

    @cached_property
    def length(self) -> Ints:  # type: ignore[override]
        """The length of each ranking."""
        trees = len(self.letter_grades)
        return np.tile(self.shape.lengths, trees) if trees > 1 else self.shape.lengths

    def times_at_length(self, values: Floats, table: Floats, cutoff: int | None = None) -> Floats:
        """For each ranking its value times the entry of a table at the number of documents it has, in place."""
        for level in range(self.shape.depth + 1):
            mine = self.level(values, level)
            mine *= table[level if cutoff is None else min(level, cutoff)]
        return values

    @cached_property
    def topic(self) -> Ints:  # type: ignore[override]
        """The topic of each list."""
        return np.repeat(np.arange(len(self.letter_grades)), self.shape.size)

    def __len__(self) -> int:
        return len(self.letter_grades) * self.shape.size

    def hits(self, cutoff: int | None = None) -> TreeHits:
        """All documents of the rankings, down to a rank."""
        return self._letters(None, cutoff)

    def documents(self, cutoff: int | None = None) -> TreeHits:
        """All documents of the rankings, down to a rank: here every one is judged."""
        return self.hits(cutoff)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> TreeHits:
        """The documents of grade ``rel`` or better, down to a rank."""
        return self._letters(rel, cutoff)

    def _letters(self, rel: int | None, cutoff: int | None) -> TreeHits:
        marked = self.letter_grades >= (-1 if rel is None else rel)
        depth = self.shape.depth if cutoff is None else int(cutoff)
        return self.cache(("letters", rel, cutoff), lambda: TreeHits(self, marked, depth))

    def per_topic(self, values: AnyArray) -> AnyArray:
        """For each list the value of its topic."""
        if len(self.letter_grades) == 1:
            return np.broadcast_to(values[0], (len(self),))
        return np.repeat(values, self.shape.size)

    @cached_property
    def by_aspect(self) -> ByAspect:
        """The same rankings once for each aspect, under the grades of that aspect."""
        forest = Tree.__new__(Tree)
        grades = self.world.pool.aspect_grades[:, self.world.document]
        forest._setup(self.world, self.shape, self.pool.by_aspect, grades)
        return TreeByAspect(self, forest)

    def level(self, values: AnyArray, level: int) -> AnyArray:
        """The values of the rankings of one length, one row for each tree."""
        start = self.shape.starts[level]
        return values.reshape(-1, self.shape.size)[:, start : start + self.shape.widths[level]]

    def count_of(self, marked: Sequence[bool]) -> Counts:
        """For each node the number of documents of marked letters."""
        letters = tuple(marked)
        return self.cache(("count of", letters), lambda: counts_of(self.shape, letters))

    def letters_of(self, level: int) -> npt.NDArray[np.int8]:
        """The rankings of one length as a matrix: a row for each node, a column for each rank."""
        fixed = min(level, len(self.shape.prefix))
        code = np.arange(self.shape.widths[level])
        matrix = np.empty((len(code), level), np.int8)
        matrix[:, :fixed] = self.shape.prefix[:fixed]
        for rank in range(fixed, level):
            code, matrix[:, rank] = np.divmod(code, self.shape.letters)
        return matrix

    def words(self) -> list[str]:
        """The rankings as text, in node order."""
        return [
            self.world.word(row) for level in range(self.shape.depth + 1) for row in self.letters_of(level)
        ]

    def word(self, node: int) -> str:
        """One ranking as text."""
        level = int(np.searchsorted(self.shape.starts, node, side="right")) - 1
        code, letters = node - self.shape.starts[level], list(self.shape.prefix[:level])
        while len(letters) < level:
            code, letter = divmod(code, self.shape.letters)
            letters.append(letter)
        return self.world.word(letters)

    def alphabetical(self, nodes: Ints) -> Ints:
        """Numbers in the order of the rankings as text."""
        place = {label: number for number, label in enumerate(sorted(self.world.labels))}
        order = np.array([place[label] + 1 for label in self.world.labels])
        level = np.searchsorted(self.shape.starts, nodes, side="right") - 1
        code = nodes - np.array(self.shape.starts)[level]
        keys = np.zeros(len(nodes), np.int64)
        for rank in range(self.shape.depth):
            if rank < len(self.shape.prefix):
                letter = np.full(len(nodes), self.shape.prefix[rank])
            else:
                code, letter = np.divmod(code, self.shape.letters)
            keys = keys * (self.shape.letters + 1) + np.where(rank < level, order[letter], 0)
        return keys

    def node(self, word: str) -> int | None:
        """The number of a ranking in a tree without prefix; None if it is not in the tree."""
        letters = letters_of(word)
        if len(letters) > self.shape.depth or any(label not in self.world.labels for label in letters):
            return None
        code = 0
        for label in reversed(letters):
            code = code * self.shape.letters + self.world.labels.index(label)
        return self.shape.starts[len(letters)] + code

    def flat(self) -> Lists:
        """The same lists written out, document by document, for formulas that do not follow the tree."""
        forest = len(self.letter_grades)
        documents = len(self.pool.grade) // forest
        ranks, judgments = [], []
        for level in range(self.shape.depth + 1):
            letters = self.letters_of(level)
            ranks.append(np.tile(np.arange(1, level + 1), len(letters)))
            judgments.append(self.world.document[letters].ravel())
        judgment = np.concatenate([np.concatenate(judgments) + f * documents for f in range(forest)])
        offsets = np.concatenate([[0], np.cumsum(self.length)])
        rank = np.tile(np.concatenate(ranks), forest)
        return Lists(self.pool, self.topic, self.length, offsets, rank.astype(np.int32), judgment)

    def condensed(self) -> Tree:
        """The same rankings: here every document is judged."""
        return self

    def regraded(self, pool: Pool) -> Tree:
        """The same rankings of the same documents, which have other grades."""
        other = Tree.__new__(Tree)
        other._setup(self.world, self.shape, pool, pool.grade[self.world.document][np.newaxis])
        return other

    def of_length(self, length: int) -> Lists:
        """The same rankings cut, or filled up with unjudged documents, to so many ranks."""
        return self.flat().of_length(length)

    def grades(self, unjudged: Any = 0) -> list[list[Any]]:
        """Each ranking written out: one grade per document."""
        written: list[list[Any]] = []
        for grades in self.letter_grades:
            for level in range(self.shape.depth + 1):
                written += grades[self.letters_of(level)].tolist()
        return written
