"""Prefix tree with lumped hits: hits of the same kind, rank and ordinal are one.

A function of the kind, rank and ordinal of a hit is computed once for the thousands of hits that share them; only
quantities of whole rankings need one number per ranking. If a formula uses anything else of a hit, such as its list,
:class:`NotLumpedError` is raised, and the formula is evaluated on the tree instead.

Every number that a formula reads passes through this module, which can therefore record how many ranks the formula
inspects and whether it is symmetric in the aspects (:class:`Watch`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Ints, NDArray
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.tree_hits import Marked, PathHits, accumulate_paths
from rankscope.lab.rankings.worlds import World


class NotLumpedError(TypeError):
    """Raised if a formula reads a value that differs between hits of the same kind, rank and ordinal."""


@dataclass
class Watch:
    """Record of the numbers that a formula read.

    ``reach`` is the lowest rank that they depend on. They are ``symmetric`` if they are invariant under all renamings
    of aspects under which the world is invariant; then the value of the formula is invariant as well.
    """

    reach: int = 0
    symmetric: bool = True

    def record_depth(self, rank: int) -> None:
        """Record that numbers were read that depend on documents down to a rank."""
        self.reach = max(self.reach, rank)

    def record_sums(self, world: World, marked: Bools, table: Floats) -> None:
        """Record that the sums of a table [level, tree, letter, ordinal] were read."""
        # A document that counts in two trees is added twice, and rounding could depend on the order.
        counts_once = bool((marked.sum(axis=0) <= 1).all())
        for aspects, letters in world.renamings:
            trees = list(aspects) if len(marked) > 1 else [0]
            same = np.array_equal(marked[trees][:, letters], marked)
            self.symmetric &= counts_once and same and np.array_equal(table[:, trees][:, :, letters], table)


class _Slots:
    """Lumped hits of marked letters down to a rank: one slot for each tree, level, letter and ordinal."""

    def __init__(self, marked: tuple[Marked, ...], depth: int, cutoff: int) -> None:
        trees, letters = len(marked), len(marked[0])
        self.marked = marked
        self.shape = (depth, trees, letters, max(depth, 1))
        self.cutoff = max(0, min(depth, cutoff))
        is_marked = np.array(marked, np.bool_)
        levels = np.arange(1, depth + 1) <= self.cutoff
        self.hits = np.ascontiguousarray(levels[:, np.newaxis, np.newaxis] & is_marked)
        ordinals = np.arange(1, depth + 1)
        possible = self.hits[..., np.newaxis] & (ordinals <= ordinals[:, np.newaxis, np.newaxis, np.newaxis])
        level, self.tree, self.letter, above = np.nonzero(possible)
        self.rank, self.ordinal = level + 1, above + 1
        self.slot_index = np.ravel_multi_index((level, self.tree, self.letter, above), self.shape)
        for array in (self.tree, self.letter, self.rank, self.ordinal, self.slot_index, self.hits):
            array.setflags(write=False)


_slots = lru_cache(maxsize=64)(_Slots)


class LumpedHits(PathHits):
    """Lumped documents that have a marked letter, down to a rank."""

    def __init__(self, tree: LumpedTree, slots: _Slots, keep: Ints | None = None) -> None:
        self.size, self.n_trees = len(tree), len(slots.marked)
        self._tree = tree
        self._slots = slots
        self._keep = keep

    def __len__(self) -> int:
        return len(self._slots.slot_index) if self._keep is None else len(self._keep)

    @cached_property
    def rank(self) -> AnyArray:  # type: ignore[override]
        """Rank of each hit."""
        return self._select(self._slots.rank)

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        """Grade of each hit."""
        grades = self._tree.letter_grades.astype(np.int64)
        return self._select(grades[self._slots.tree, self._slots.letter])

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        """A judged document of the kind of each hit."""
        documents = len(self._tree.pool.grade) // self.n_trees
        first = self._tree.world.document[self._slots.letter]
        return self._select(first + self._slots.tree * documents)

    @property
    def list(self) -> Ints:  # type: ignore[override]
        """Unsupported: raises :class:`NotLumpedError`."""
        raise NotLumpedError("a hit belongs to many rankings")

    @cached_property
    def ordinal(self) -> Ints:
        """Position of each hit among the hits of its ranking, from 1."""
        if self._keep is not None:
            raise NotLumpedError("the number of selected hits above is unknown")
        return self._slots.ordinal

    def where(self, keep: Bools) -> LumpedHits:
        """Return the hits for which a condition holds."""
        return LumpedHits(self._tree, self._slots, self._selection(keep))

    def descending(self, values: AnyArray) -> AnyArray:
        """Raise :class:`NotLumpedError`."""
        raise NotLumpedError("the hits of a prefix tree have no order by value")

    def before(self, values: AnyArray) -> AnyArray:
        """Return the sum over the hits above each hit of a value that depends on the ordinal alone."""
        values = np.asarray(values)
        whole = values.dtype.kind in "iub"
        return self._running(np.cumsum, values.astype(np.int64 if whole else np.float64), 0)

    def product_before(self, values: AnyArray) -> Floats:
        """Return the product over the hits above each hit of a value that depends on the ordinal alone."""
        return self._running(np.cumprod, np.asarray(values, np.float64), 1)

    def _running(self, accumulate: Callable[..., AnyArray], values: AnyArray, start: float) -> AnyArray:
        slots, ordinal = self._slots, self.ordinal
        values = np.broadcast_to(values, (len(self),))
        by_ordinal = np.full((slots.shape[1], slots.shape[3] + 1), start, values.dtype)
        by_ordinal[slots.tree, ordinal] = values
        if not np.array_equal(by_ordinal[slots.tree, ordinal], values):
            raise NotLumpedError("the hits above a hit are known only by their number")
        return np.asarray(accumulate(by_ordinal, axis=1)[slots.tree, ordinal - 1])

    def _table(self, values: AnyArray | float, neutral: float = 0.0) -> Floats:
        table = np.full(self._slots.shape, neutral)
        table.ravel()[self._select(self._slots.slot_index)] = values
        return table

    def _totals(self, table: Floats, combine: np.ufunc = np.add, start: float = 0.0) -> Floats:
        """Return the totals of all trees, concatenated."""
        tree, slots = self._tree, self._slots
        self._record_sums(table)
        if tree.watch is not None:
            # With several trees the formula can select the numbers of a single aspect.
            tree.watch.symmetric &= self.n_trees == 1
        totals = [
            accumulate_paths(
                tree.shape, (marked,), np.ascontiguousarray(table[:, f : f + 1]),
                np.ascontiguousarray(slots.hits[:, f : f + 1]), combine, start,
            )
            for f, marked in enumerate(slots.marked)
        ]  # fmt: skip
        return totals[0] if len(totals) == 1 else np.concatenate(totals)

    def _record_sums(self, table: Floats) -> None:
        if self._tree.watch is not None:
            self._tree.watch.record_depth(self._slots.cutoff)
            self._tree.watch.record_sums(self._tree.world, np.array(self._slots.marked), table)

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """Return the sum of a value per hit over each ranking."""
        return self._totals(self._table(values))

    @cached_property
    def count(self) -> Ints:
        """Number of hits in each ranking."""
        return self.sum().astype(np.int64)

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the largest value over the hits of each ranking; ``otherwise`` for rankings without hits."""
        largest = self._totals(self._table(values, -np.inf), np.maximum, -np.inf)
        return np.where(self.count > 0, largest, otherwise)

    def sum_over_trees(self, values: AnyArray, factors: Floats) -> Floats:
        """Return, per ranking, the sum over trees of a factor times the sum of a value over hits."""
        tree, slots = self._tree, self._slots
        table = self._table(values)
        equal = bool((factors == factors[0]).all())
        if not equal:
            table *= factors[:, np.newaxis, np.newaxis]
        self._record_sums(table)
        totals = accumulate_paths(tree.shape, slots.marked, table, slots.hits)
        if equal and factors[0] != 1:
            totals *= factors[0]
        return totals


class LumpedTree(Tree):
    """Prefix tree whose hits are lumped.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> tree = LumpedTree(graded_world(1, relevant=2, nonrelevant=2), 2)
    >>> hits = tree.relevant()
    >>> hits.rank.tolist(), hits.ordinal.tolist(), hits.sum(1 / hits.rank).tolist()
    ([1, 2, 2], [1, 1, 2], [0.0, 0.0, 1.0, 0.0, 1.0, 0.5, 1.5])
    """

    watch: Watch | None = None

    def watch_formula(self) -> Watch:
        """Start to record the numbers that are read, and return the record."""
        self.watch = Watch()
        return self.watch

    @property
    def length(self) -> Ints:  # type: ignore[override]
        """Length of each ranking."""
        return self.retrieved(None)

    def retrieved(self, cutoff: int | None = None) -> Ints:
        """Return the number of documents of each ranking, down to a rank."""
        self._record_depth(cutoff)
        return self._lengths if cutoff is None else np.minimum(self._lengths, cutoff)

    def times_at_length(self, values: Floats, table: Floats, cutoff: int | None = None) -> Floats:
        """Multiply the value of each ranking in place by the entry of ``table`` at its length."""
        self._record_depth(cutoff)
        return super().times_at_length(values, table, cutoff)

    def _record_depth(self, cutoff: int | None) -> None:
        if self.watch is not None:
            self.watch.record_depth(self.shape.depth if cutoff is None else int(cutoff))

    @property
    def topic(self) -> Ints:  # type: ignore[override]
        """Topic of each list."""
        self._record_aspects()
        return np.repeat(np.arange(len(self.letter_grades)), self.shape.size)

    def per_topic(self, values: AnyArray) -> AnyArray:
        """Return the value of each list's topic."""
        self._record_aspects()
        return super().per_topic(values)

    def _record_aspects(self) -> None:
        if self.watch is not None and len(self.letter_grades) > 1:
            self.watch.symmetric = False

    def _letters(self, rel: int | None, cutoff: int | None) -> LumpedHits:  # type: ignore[override]
        marked = self.letter_grades >= (-1 if rel is None else rel)
        depth = self.shape.depth if cutoff is None else int(cutoff)
        letters = tuple(map(tuple, marked.tolist()))
        return self.cache(
            ("letters", rel, cutoff), lambda: LumpedHits(self, _slots(letters, self.shape.depth, depth))
        )

    def _with_grades(self, pool: Pool, grades: AnyArray) -> Self:
        other = super()._with_grades(pool, grades)
        other.watch = self.watch
        return other

    def ordinal_among(self, rel: int, lowest: int) -> Ints:
        """Raise :class:`NotLumpedError`."""
        raise NotLumpedError("hits of different grades are lumped differently")

    def letter_matrix(self, level: int) -> NDArray[np.int8]:
        """Raise :class:`NotLumpedError`, since the letters reveal everything about the rankings."""
        raise NotLumpedError("the rankings are not written out")

    def flat(self) -> Lists:
        """Raise :class:`NotLumpedError`, since explicit lists reveal everything about the rankings."""
        raise NotLumpedError("the rankings are not written out")

    def with_pool_subset(self, pool: Pool) -> Lists:
        """Raise :class:`NotLumpedError`."""
        raise NotLumpedError("the rankings are not written out")


def lump(tree: Tree) -> LumpedTree:
    """Return the cached lumped tree of the same rankings."""
    return tree.cache("lumped", lambda: LumpedTree(tree.world, tree.shape.depth, tree.shape.prefix))
