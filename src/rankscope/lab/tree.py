"""All rankings at once: the prefix tree, as lists and hits that every measure understands.

Each node is a ranking; its parent is the same ranking without the last document. A ranking shares the sum over its
hits with its parent but for one document, so a formula over hits costs one step per ranking, however long it is.

Nodes are numbered level by level; inside a level the last letter counts most. So the children that end in one letter
stand side by side in the order of their parents, and every step is plain arithmetic on whole stretches of arrays.
To bound memory a tree may begin with a fixed prefix, whose nodes have a single child each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.judge.aspects import ByAspect
from rankscope.judge.lists import AnyArray, Floats, Hits, Ints, Lists
from rankscope.judge.pool import Pool
from rankscope.lab.worlds import World

__all__ = ["Tree", "TreeHits"]


class _Step(NamedTuple):
    """The nodes of a level that end in one letter: where their parents stand, they themselves, and their hits."""

    tree: int
    level: int
    letter: int
    parents: slice
    nodes: slice
    hits: slice | None


@dataclass(frozen=True)
class Shape:
    """The levels of a tree: ``prefix`` fixed letters, then every letter down to ``depth``."""

    letters: int
    prefix: tuple[int, ...]
    depth: int

    @cached_property
    def widths(self) -> list[int]:
        """The number of nodes of each level 0 .. depth."""
        return [self.letters ** max(0, level - len(self.prefix)) for level in range(self.depth + 1)]

    @cached_property
    def starts(self) -> list[int]:
        """The first node of each level, and the number of nodes."""
        return [0, *np.cumsum(self.widths).tolist()]

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.starts[-1]

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


class Tree(Lists):
    """Every ranking that begins with ``prefix``, down to a depth, as lists: list i is node i.

    >>> from rankscope.lab.worlds import graded_world
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
        self.length = np.tile(np.repeat(np.arange(shape.depth + 1), shape.widths), len(grades))
        self._views = {}

    @cached_property
    def topic(self) -> Ints:  # type: ignore[override]
        """The topic of each list."""
        return np.repeat(np.arange(len(self.letter_grades)), self.shape.size)

    def __len__(self) -> int:
        return len(self.letter_grades) * self.shape.size

    def hits(self, cutoff: int | None = None) -> TreeHits:
        """All documents of the rankings, down to a rank."""
        return self._letters(None, cutoff)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> TreeHits:
        """The documents of grade ``rel`` or better, down to a rank."""
        return self._letters(rel, cutoff)

    def _letters(self, rel: int | None, cutoff: int | None) -> TreeHits:
        key = (rel, cutoff)
        if key not in self._views:
            marked = self.letter_grades >= (-1 if rel is None else rel)
            self._views[key] = TreeHits(self, marked, self.shape.depth if cutoff is None else int(cutoff))
        found = self._views[key]
        assert isinstance(found, TreeHits)
        return found

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
        return ByAspect(self, forest)

    def level(self, values: AnyArray, level: int) -> AnyArray:
        """The values of the rankings of one length, one row for each tree."""
        start = self.shape.starts[level]
        return values.reshape(-1, self.shape.size)[:, start : start + self.shape.widths[level]]

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

    def node(self, word: str) -> int | None:
        """The number of a ranking in a tree without prefix; None if it is not in the tree."""
        if len(word) > self.shape.depth or any(label not in self.world.labels for label in word):
            return None
        code = 0
        for label in reversed(word):
            code = code * self.shape.letters + self.world.labels.index(label)
        return self.shape.starts[len(word)] + code

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

    def grades(self, unjudged: Any = 0) -> list[list[Any]]:
        """Each ranking written out: one grade per document."""
        written: list[list[Any]] = []
        for grades in self.letter_grades:
            for level in range(self.shape.depth + 1):
                written += grades[self.letters_of(level)].tolist()
        return written


class TreeHits(Hits):
    """The documents of a tree that carry one of some letters, down to a rank.

    Hit order: tree by tree, level by level, letter by letter, and then in the order of the parents. ``keep``, if
    given, says which of these hits are meant.
    """

    def __init__(
        self, tree: Tree, marked: npt.NDArray[np.bool_], cutoff: int, keep: Ints | None = None
    ) -> None:
        self.tree = tree
        self.size = len(tree)
        self._marked = marked
        self._cutoff = cutoff
        self._keep = keep

    @cached_property
    def _layout(self) -> tuple[list[_Step], int]:
        """How to go down the trees, and the number of slots for hits."""
        shape, end = self.tree.shape, 0
        steps = []
        for f, marked in enumerate(self._marked.tolist()):
            base = f * shape.size
            for level in range(1, shape.depth + 1):
                width, within = shape.widths[level - 1], level <= self._cutoff
                parents = slice(base + shape.starts[level - 1], base + shape.starts[level])
                row = base + shape.starts[level]
                for letter in shape.choices(level):
                    hits = None
                    if marked[letter] and within:
                        hits = slice(end, end + width)
                        end += width
                    steps.append(_Step(f, level, letter, parents, slice(row, row + width), hits))
                    row += width
        return steps, end

    def _each(self) -> Iterator[tuple[int, int, int, slice]]:
        """(tree, level, letter, place of the hits) in hit order."""
        return ((s.tree, s.level, s.letter, s.hits) for s in self._layout[0] if s.hits is not None)

    def _filled(self, value: Callable[[int, int, int], Any], kind: type) -> AnyArray:
        """One value per hit that depends only on its tree, level and letter."""
        result: AnyArray = np.empty(self._layout[1], kind)
        for f, level, letter, place in self._each():
            result[place] = value(f, level, letter)
        return self._kept(result)

    def _kept(self, slots: AnyArray) -> AnyArray:
        return slots if self._keep is None else slots[self._keep]

    def _spread(self, values: AnyArray | float, neutral: float) -> AnyArray:
        """Values of the hits as values of all slots."""
        values = np.asarray(values)
        if self._keep is None:
            return np.broadcast_to(values, (self._layout[1],))
        slots = np.full(
            self._layout[1], neutral, np.result_type(values.dtype, np.float64 if neutral else np.int8)
        )
        slots[self._keep] = values
        return slots

    @cached_property
    def rank(self) -> AnyArray:  # type: ignore[override]
        """The rank of each hit."""
        return self._filled(lambda f, level, letter: level, np.int64)

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        """The grade of each hit."""
        return self._filled(lambda f, level, letter: self.tree.letter_grades[f, letter], np.int64)

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        """A judged document of the kind of each hit."""
        documents = len(self.tree.pool.grade) // len(self._marked)
        return self._filled(
            lambda f, level, letter: self.tree.world.document[letter] + f * documents, np.int64
        )

    @cached_property
    def list(self) -> Ints:  # type: ignore[override]
        """The shortest list of each hit: the ranking that ends with it."""
        nodes = np.empty(self._layout[1], np.int64)
        for step in self._layout[0]:
            if step.hits is not None:
                nodes[step.hits] = np.arange(step.nodes.start, step.nodes.stop)
        return self._kept(nodes)

    def __len__(self) -> int:
        return self._layout[1] if self._keep is None else len(self._keep)

    def where(self, keep: npt.NDArray[np.bool_]) -> TreeHits:
        """The hits for which a condition holds."""
        chosen = np.flatnonzero(keep)
        return TreeHits(
            self.tree, self._marked, self._cutoff, chosen if self._keep is None else self._keep[chosen]
        )

    def take(self, per_document: AnyArray) -> AnyArray:
        """The value of each hit's document, given one value per judged document of the collection."""
        documents = len(self.tree.pool.grade) // len(self._marked)
        first = self.tree.world.document
        return self._filled(
            lambda f, level, letter: per_document[first[letter] + f * documents], per_document.dtype.type
        )

    def at_rank(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the rank of each hit."""
        table = np.asarray(function(np.arange(1, self.tree.shape.depth + 1)))
        return self._filled(lambda f, level, letter: table[level - 1], table.dtype.type)

    def at_ordinal(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the ordinal of each hit."""
        table: AnyArray = np.asarray(function(np.arange(1, self.tree.shape.depth + 1)))
        return np.asarray(table[self._above(self.count)])

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """The sum of a value per hit over each ranking."""
        return self._descend(np.add, np.asarray(self._spread(values, 0), np.float64), 0.0)

    @cached_property
    def count(self) -> Ints:
        """How many of these hits each ranking has."""
        return self._descend(np.add, self._spread(1, 0), 0)

    @cached_property
    def ordinal(self) -> Ints:
        """1 for the first of these hits in its ranking, 2 for the second, ..."""
        return self._above(self.count) + 1

    def before(self, values: AnyArray) -> AnyArray:
        """For each hit the sum of a value over the hits above it."""
        values = np.asarray(values)
        whole = values.dtype.kind in "iub"
        spread = self._spread(values.astype(np.int64 if whole else np.float64), 0)
        return self._above(self._descend(np.add, spread, 0 if whole else 0.0))

    def product_before(self, values: AnyArray) -> Floats:
        """For each hit the product of a value over the hits above it."""
        spread = self._spread(np.asarray(values, np.float64), 1.0)
        return self._above(self._descend(np.multiply, spread, 1.0))

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The value at the first hit of each ranking, or ``otherwise`` where it has none."""
        own = np.where(self.ordinal == 1, np.asarray(values, np.float64), 0.0)
        return np.where(self.count > 0, self.sum(own), otherwise)

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The largest value over the hits of each ranking, or ``otherwise`` where it has none."""
        spread = self._spread(np.asarray(values, np.float64), -np.inf)
        return np.where(self.count > 0, self._descend(np.maximum, spread, -np.inf), otherwise)

    def _descend(self, combine: np.ufunc, own: AnyArray, start: float) -> AnyArray:
        """Totals of all nodes: that of the parent, combined with the own value where the last document is a hit."""
        totals = np.empty(self.size, type(start))
        totals[:: self.tree.shape.size] = start
        for _, _, _, parents, nodes, hits in self._layout[0]:
            if hits is None:
                totals[nodes] = totals[parents]
            else:
                combine(totals[parents], own[hits], out=totals[nodes])
        return totals

    def _above(self, totals: AnyArray) -> AnyArray:
        """For each hit the total of the ranking above it."""
        slots = np.empty(self._layout[1], totals.dtype)
        for step in self._layout[0]:
            if step.hits is not None:
                slots[step.hits] = totals[step.parents]
        return self._kept(slots)
