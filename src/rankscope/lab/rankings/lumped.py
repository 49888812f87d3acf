"""All rankings at once, with their hits lumped: those of a kind, a rank and an ordinal are one.

What a formula computes from the kind, the rank and the ordinal of a hit is computed once for thousands of hits that
share them; only what it asks of whole rankings takes a number for each. A formula that asks a hit for more, such as the
list it stands in, is told so by :class:`NotLumpedError`, and goes down the tree itself.

Since everything that such a formula learns of a ranking passes through here, one can watch it: how far down it looks,
and whether it would notice if two aspects changed their names (:class:`Watch`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.judging.aspects import ByAspect
from rankscope.judging.lists import AnyArray, Floats, Hits, Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.lab.rankings.paths import Marked, descended
from rankscope.lab.rankings.tree import Shape, Tree
from rankscope.lab.rankings.worlds import World

__all__ = ["Lumped", "NotLumpedError", "Watch"]

Bools = npt.NDArray[np.bool_]


class NotLumpedError(TypeError):
    """A formula asked for what differs between hits of the same kind, rank and ordinal."""


@dataclass
class Watch:
    """What a formula learnt of rankings: nothing from ranks below ``reach``, nothing of the names of aspects.

    It is ``alike`` if every number that was handed out for each ranking is the same when aspects that the world treats
    alike change their names: then so is what any formula makes of these numbers, ranking by ranking.
    """

    reach: int = 0
    alike: bool = True

    def down_to(self, rank: int) -> None:
        """Numbers that depend on documents down to a rank were handed out."""
        self.reach = max(self.reach, rank)

    def handed_out(self, world: World, marked: Bools, table: Floats) -> None:
        """Sums over [level, tree, letter, ordinal], with the letters of each tree, were handed out."""
        # a document that counts in two trees is added twice, and rounding could tell the order
        once = bool((marked.sum(axis=0) <= 1).all())
        for aspects, letters in world.renamings:
            trees = list(aspects) if len(marked) > 1 else [0]
            same = np.array_equal(marked[trees][:, letters], marked)
            self.alike &= once and same and np.array_equal(table[:, trees][:, :, letters], table)


class _Slots:
    """The hits of some letters down to a rank, lumped: one slot for each tree, level, letter and ordinal."""

    def __init__(self, marked: tuple[Marked, ...], depth: int, cutoff: int) -> None:
        trees, letters = len(marked), len(marked[0])
        self.marked = marked
        self.shape = (depth, trees, letters, max(depth, 1))
        self.cutoff = max(0, min(depth, cutoff))
        given = np.array(marked, np.bool_)
        levels = np.arange(1, depth + 1) <= self.cutoff
        self.hits = np.ascontiguousarray(levels[:, np.newaxis, np.newaxis] & given)
        ordinals = np.arange(1, depth + 1)
        possible = self.hits[..., np.newaxis] & (ordinals <= ordinals[:, np.newaxis, np.newaxis, np.newaxis])
        level, self.tree, self.letter, above = np.nonzero(possible)
        self.rank, self.ordinal = level + 1, above + 1
        self.place = np.ravel_multi_index((level, self.tree, self.letter, above), self.shape)
        for array in (self.tree, self.letter, self.rank, self.ordinal, self.place, self.hits):
            array.setflags(write=False)


_slots = lru_cache(maxsize=64)(_Slots)


class LumpedHits(Hits):
    """The documents of rankings that carry one of some letters, down to a rank, one for all that a formula cannot tell.

    ``keep``, if given, says which of them are meant.
    """

    def __init__(self, tree: Lumped, slots: _Slots, keep: Ints | None = None) -> None:
        self.size = len(tree)
        self._tree = tree
        self._slots = slots
        self._keep = keep

    def __len__(self) -> int:
        return len(self._slots.place) if self._keep is None else len(self._keep)

    def _kept(self, values: AnyArray) -> AnyArray:
        return values if self._keep is None else values[self._keep]

    @cached_property
    def rank(self) -> AnyArray:  # type: ignore[override]
        """The rank of each hit."""
        return self._kept(self._slots.rank)

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        """The grade of each hit."""
        grades = self._tree.letter_grades.astype(np.int64)
        return self._kept(grades[self._slots.tree, self._slots.letter])

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        """A judged document of the kind of each hit."""
        documents = len(self._tree.pool.grade) // len(self._slots.marked)
        first = self._tree.world.document[self._slots.letter]
        return self._kept(first + self._slots.tree * documents)

    @property
    def list(self) -> Ints:  # type: ignore[override]
        """Not known here."""
        raise NotLumpedError("a hit belongs to many rankings")

    @cached_property
    def ordinal(self) -> Ints:
        """1 for the first of these hits in its ranking, 2 for the second, ..."""
        if self._keep is not None:
            raise NotLumpedError("how many of the hits above were chosen is not known")
        return self._slots.ordinal

    def ordinal_of(self, index: Ints) -> Ints:
        """The ordinals of some of the hits."""
        return self.ordinal[index]

    def where(self, keep: Bools) -> LumpedHits:
        """The hits for which a condition holds."""
        chosen = np.flatnonzero(keep)
        return LumpedHits(self._tree, self._slots, chosen if self._keep is None else self._keep[chosen])

    def take(self, per_document: AnyArray) -> AnyArray:
        """The value of each hit's document, given one value per judged document of the collection."""
        return np.asarray(per_document[self.judgment])

    def at_rank(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the rank of each hit."""
        table = np.asarray(function(np.arange(1, self._tree.shape.depth + 1)))
        return np.asarray(table[self.rank - 1])

    def at_ordinal(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the ordinal of each hit."""
        table = np.asarray(function(np.arange(1, self._tree.shape.depth + 1)))
        return np.asarray(table[self.ordinal - 1])

    def descending(self, values: AnyArray) -> AnyArray:
        """Not known here."""
        raise NotLumpedError("the hits of a prefix tree have no order by value")

    def before(self, values: AnyArray) -> AnyArray:
        """For each hit the sum of a value over the hits above it, if the value depends on the ordinal alone."""
        values = np.asarray(values)
        whole = values.dtype.kind in "iub"
        return self._running(np.cumsum, values.astype(np.int64 if whole else np.float64), 0)

    def product_before(self, values: AnyArray) -> Floats:
        """For each hit the product of a value over the hits above it, if the value depends on the ordinal alone."""
        return self._running(np.cumprod, np.asarray(values, np.float64), 1)

    def _running(self, accumulate: Callable[..., AnyArray], values: AnyArray, start: float) -> AnyArray:
        slots, ordinal = self._slots, self.ordinal
        values = np.broadcast_to(values, (len(self),))
        by_ordinal = np.full((slots.shape[1], slots.shape[3] + 1), start, values.dtype)
        by_ordinal[slots.tree, ordinal] = values
        if not np.array_equal(by_ordinal[slots.tree, ordinal], values):
            raise NotLumpedError("what stands above a hit depends on more than how many there are")
        return np.asarray(accumulate(by_ordinal, axis=1)[slots.tree, ordinal - 1])

    def _table(self, values: AnyArray | float, neutral: float = 0.0) -> Floats:
        table = np.full(self._slots.shape, neutral)
        table.ravel()[self._kept(self._slots.place)] = values
        return table

    def _totals(self, table: Floats, combine: np.ufunc = np.add, start: float = 0.0) -> Floats:
        """The totals of every tree, one after the other."""
        tree, slots = self._tree, self._slots
        if tree.watch is not None:
            tree.watch.down_to(slots.cutoff)
            tree.watch.handed_out(tree.world, np.array(slots.marked), table)
            tree.watch.alike &= len(slots.marked) == 1  # else one could look at one aspect only
        found = [
            descended(
                tree.shape, (marked,), np.ascontiguousarray(table[:, f : f + 1]),
                np.ascontiguousarray(slots.hits[:, f : f + 1]), combine, start,
            )
            for f, marked in enumerate(slots.marked)
        ]  # fmt: skip
        return found[0] if len(found) == 1 else np.concatenate(found)

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """The sum of a value per hit over each ranking."""
        return self._totals(self._table(values))

    @cached_property
    def count(self) -> Ints:
        """How many of these hits each ranking has."""
        return self.sum().astype(np.int64)

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The value at the first hit of each ranking, or ``otherwise`` where it has none."""
        own = np.where(self.ordinal == 1, np.asarray(values, np.float64), 0.0)
        return np.where(self.count > 0, self.sum(own), otherwise)

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The largest value over the hits of each ranking, or ``otherwise`` where it has none."""
        largest = self._totals(self._table(values, -np.inf), np.maximum, -np.inf)
        return np.where(self.count > 0, largest, otherwise)

    def sum_over_trees(self, values: AnyArray, factors: Floats) -> Floats:
        """The sum over the trees of a factor times the sum of a value over the hits of each ranking."""
        tree, slots = self._tree, self._slots
        table = self._table(values)
        equal = bool((factors == factors[0]).all())
        if not equal:
            table *= factors[:, np.newaxis, np.newaxis]
        if tree.watch is not None:
            tree.watch.down_to(slots.cutoff)
            tree.watch.handed_out(tree.world, np.array(slots.marked), table)
        totals = descended(tree.shape, slots.marked, table, slots.hits)
        if equal and factors[0] != 1:
            totals *= factors[0]
        return totals


class LumpedByAspect(ByAspect):
    """What connects a tree to its forest, one tree for each aspect."""

    def total(self, hits: Hits, values: AnyArray, weights: Floats) -> Floats:
        """For each ranking the sum over aspects of weight times the sum of a value over the hits of the aspect."""
        if isinstance(hits, LumpedHits) and len(hits._slots.marked) == len(weights):
            return hits.sum_over_trees(values, weights[:, 0])
        return super().total(hits, values, weights)


class Lumped(Tree):
    """Every ranking that begins with a prefix, down to a depth, as lists whose hits are lumped.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> tree = Lumped(graded_world(1, relevant=2, nonrelevant=2), 2)
    >>> hits = tree.relevant()
    >>> hits.rank.tolist(), hits.ordinal.tolist(), hits.sum(1 / hits.rank).tolist()
    ([1, 2, 2], [1, 1, 2], [0.0, 0.0, 1.0, 0.0, 1.0, 0.5, 1.5])
    """

    watch: Watch | None = None

    def watched(self) -> Watch:
        """From now on, what is learnt of these rankings."""
        self.watch = Watch()
        return self.watch

    @property
    def length(self) -> Ints:  # type: ignore[override]
        """The length of each ranking."""
        return self.retrieved(None)

    @cached_property
    def _lengths(self) -> Ints:
        trees = len(self.letter_grades)
        return np.tile(self.shape.lengths, trees) if trees > 1 else self.shape.lengths

    def retrieved(self, cutoff: int | None = None) -> Ints:
        """For each ranking the number of documents it has, down to a rank."""
        self._looked_down_to(cutoff)
        return self._lengths if cutoff is None else np.minimum(self._lengths, cutoff)

    def times_at_length(self, values: Floats, table: Floats, cutoff: int | None = None) -> Floats:
        """For each ranking its value times the entry of a table at the number of documents it has, in place."""
        self._looked_down_to(cutoff)
        return super().times_at_length(values, table, cutoff)

    def _looked_down_to(self, cutoff: int | None) -> None:
        if self.watch is not None:
            self.watch.down_to(self.shape.depth if cutoff is None else int(cutoff))

    @property
    def topic(self) -> Ints:  # type: ignore[override]
        """The topic of each list."""
        self._tells_aspects()
        return np.repeat(np.arange(len(self.letter_grades)), self.shape.size)

    def per_topic(self, values: AnyArray) -> AnyArray:
        """For each list the value of its topic."""
        self._tells_aspects()
        return super().per_topic(values)

    def _tells_aspects(self) -> None:
        if self.watch is not None and len(self.letter_grades) > 1:
            self.watch.alike = False

    def _letters(self, rel: int | None, cutoff: int | None) -> LumpedHits:  # type: ignore[override]
        marked = self.letter_grades >= (-1 if rel is None else rel)
        depth = self.shape.depth if cutoff is None else int(cutoff)
        letters = tuple(map(tuple, marked.tolist()))
        return self.cache(
            ("letters", rel, cutoff), lambda: LumpedHits(self, _slots(letters, self.shape.depth, depth))
        )

    @cached_property
    def by_aspect(self) -> ByAspect:
        """The same rankings once for each aspect, under the grades of that aspect."""
        grades = self.world.pool.aspect_grades[:, self.world.document]
        return LumpedByAspect(self, self._other(self.pool.by_aspect, grades))

    def regraded(self, pool: Pool) -> Lumped:
        """The same rankings of the same documents, which have other grades."""
        return self._other(pool, pool.grade[self.world.document][np.newaxis])

    def _other(self, pool: Pool, grades: npt.NDArray[Any]) -> Lumped:
        other = Lumped.__new__(Lumped)
        other._setup(self.world, self.shape, pool, grades)
        other.watch = self.watch
        return other

    def condensed(self) -> Lumped:
        """The same rankings: here every document is judged."""
        return self

    def ordinal_among(self, rel: int, lowest: int) -> Ints:
        """Not known here."""
        raise NotLumpedError("hits of different grades are lumped differently")

    def places(self, rel: int, lowest: int) -> Ints:
        """Not known here."""
        raise NotLumpedError("hits of different grades are lumped differently")

    def letters_of(self, level: int) -> npt.NDArray[np.int8]:
        """Not known here: it would tell everything about the rankings."""
        raise NotLumpedError("the rankings are not written out")

    def flat(self) -> Lists:
        """Not known here: it would tell everything about the rankings."""
        raise NotLumpedError("the rankings are not written out")

    def under(self, pool: Pool) -> Lists:
        """Not known here."""
        raise NotLumpedError("the rankings are not written out")


def lumped(tree: Tree) -> Lumped:
    """The same rankings with their hits lumped, made once."""
    shape: Shape = tree.shape
    return tree.cache("lumped", lambda: Lumped(tree.world, shape.depth, shape.prefix))
