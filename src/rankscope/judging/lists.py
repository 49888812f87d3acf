"""Lists and hits: all that a measure sees of a collection.

A *list* is what one run returned for one topic. A *hit* is a judged document in a list, with its rank and grade.
Measures are formulas over hits; a run of a thousand documents has a few dozen of them.

:class:`Lists` and :class:`Hits` hold real runs as flat arrays. The laboratory has a second implementation of the
same protocol (``lab/rankings/tree.py``) for all possible rankings at once, so that a formula is written once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankscope.caching import CacheMixin
from rankscope.judging.pool import Pool
from rankscope.read.qrels import UNJUDGED

if TYPE_CHECKING:
    from rankscope.judging.aspects import ByAspect

__all__ = ["Floats", "GradedLists", "Hits", "Ints", "Lists"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]

_BLOCK = 1 << 22  # cells of a padded matrix held at a time


class Hits:
    """Some of the judged documents of some lists, in list order and by rank inside a list.

    ``rank``, ``grade``, ``judgment`` and ``list`` have one entry per hit; ``judgment`` is the index of the document
    among the judged documents of the collection.
    """

    def __init__(self, size: int, owner: Ints, rank: AnyArray, grade: AnyArray, judgment: AnyArray) -> None:
        self.size = size
        self.list = owner
        self.rank = rank
        self.grade = grade
        self.judgment = judgment

    def __len__(self) -> int:
        return len(self.rank)

    @cached_property
    def count(self) -> Ints:
        """How many of these hits each list has."""
        return self._bounds[1:] - self._bounds[:-1]

    @cached_property
    def _bounds(self) -> Ints:
        """Where the hits of each list begin, and where the last ones end; hits are in list order."""
        return np.searchsorted(self.list, np.arange(self.size + 1))

    @property
    def _starts(self) -> Ints:
        return self._bounds[:-1]

    @cached_property
    def ordinal(self) -> Ints:
        """1 for the first of these hits in its list, 2 for the second, ..."""
        return np.arange(1, len(self) + 1) - np.repeat(self._starts, self.count)

    def ordinals_at(self, index: Ints) -> Ints:
        """The ordinals of some of the hits, by ascending index, for when there are many and few are asked for."""
        return index + 1 - np.repeat(self._starts, np.diff(np.searchsorted(index, self._bounds)))

    def where(self, keep: npt.NDArray[np.bool_]) -> Hits:
        """The hits for which a condition holds."""
        return self if keep.all() else HitsView(self, np.flatnonzero(keep))

    def take(self, per_document: AnyArray) -> AnyArray:
        """The value of each hit's document, given one value per judged document of the collection."""
        return per_document.take(self.judgment, axis=0)

    def at_rank(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the rank of each hit, computed once for each rank (ranks repeat, logarithms are slow)."""
        table: AnyArray = function(np.arange(1, int(self.rank.max(initial=0)) + 1))
        return np.asarray(table[self.rank - 1])

    def at_ordinal(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """A function of the ordinal of each hit, computed once for each ordinal."""
        table: AnyArray = function(np.arange(1, int(self.ordinal.max(initial=0)) + 1))
        return np.asarray(table[self.ordinal - 1])

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """The sum of a value per hit over each list, added in rank order."""
        values = np.asarray(values)
        if values.ndim and values.dtype.kind in "iu":  # exact in any order, and five times faster so
            result = np.zeros(self.size)
            some = np.flatnonzero(self.count)
            if len(some):
                result[some] = np.add.reduceat(values, self._starts[some], dtype=np.int64)
            return result
        weights = values if values.ndim else np.full(len(self), values, np.float64)
        # bincount adds one by one in order: the same bits for every batch of lists
        return np.bincount(self.list, weights=weights, minlength=self.size).astype(np.float64, copy=False)

    def descending(self, values: AnyArray) -> AnyArray:
        """The values of the hits of each list, from the largest to the smallest."""
        return np.asarray(values)[np.lexsort((-np.asarray(values), self.list))]

    def before(self, values: AnyArray) -> AnyArray:
        """For each hit the sum of a value over the hits above it in its list."""
        values = np.asarray(values)
        if values.dtype.kind in "iub":
            running = np.cumsum(values, dtype=np.int64)
            running -= values
            some = np.flatnonzero(self.count)
            running -= np.repeat(running[self._starts[some]], self.count[some])
            return running
        return self._running(np.cumsum, values, 0.0)

    def product_before(self, values: AnyArray) -> Floats:
        """For each hit the product of a value over the hits above it in its list."""
        return self._running(np.cumprod, np.asarray(values, np.float64), 1.0)

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The value at the first hit of each list, or ``otherwise`` where a list has none."""
        result = np.full(self.size, otherwise)
        some = self.count > 0
        result[some] = np.asarray(values, np.float64)[self._starts[some]]
        return result

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """The largest value over the hits of each list, or ``otherwise`` where a list has none."""
        result = np.full(self.size, otherwise)
        some = np.flatnonzero(self.count)
        if len(some):
            result[some] = np.maximum.reduceat(np.asarray(values, np.float64), self._starts[some])
        return result

    def _running(self, accumulate: Callable[..., Floats], values: Floats, start: float) -> Floats:
        """Exclusive running totals inside each list, row by row of a padded matrix (so lists do not mix)."""
        result = np.empty(len(self))
        width = int(self.count.max(initial=0))
        if width == 0:
            return result
        step = max(1, _BLOCK // (width + 1))
        bounds = np.concatenate([self._starts, [len(self)]])
        for first in range(0, self.size, step):
            last = min(self.size, first + step)
            low, high = bounds[first], bounds[last]
            table = np.full((last - first, width + 1), start)
            rows, columns = self.list[low:high] - first, self.ordinal[low:high]
            table[rows, columns] = values[low:high]
            result[low:high] = accumulate(table, axis=1)[rows, columns - 1]
        return result


class HitsView(Hits):
    """Some of other hits. A column is taken from them when it is asked for: few measures look at all of them."""

    def __init__(self, hits: Hits, index: Ints) -> None:
        self.size = hits.size
        self._hits = hits
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @cached_property
    def list(self) -> Ints:  # type: ignore[override]
        return self._hits.list.take(self._index)

    @cached_property
    def rank(self) -> AnyArray:  # type: ignore[override]
        return self._hits.rank.take(self._index)

    @cached_property
    def grade(self) -> AnyArray:  # type: ignore[override]
        return self._hits.grade.take(self._index)

    @cached_property
    def judgment(self) -> AnyArray:  # type: ignore[override]
        return self._hits.judgment.take(self._index)

    @cached_property
    def _bounds(self) -> Ints:
        return np.searchsorted(self._index, self._hits._bounds)

    def where(self, keep: npt.NDArray[np.bool_]) -> Hits:
        return self if keep.all() else HitsView(self._hits, self._index[keep])


class _Retrieved(Hits):
    """All hits of some lists, between offsets."""

    def __init__(self, offsets: Ints, rank: AnyArray, grade: AnyArray, judgment: AnyArray) -> None:
        self.size = len(offsets) - 1
        self.rank, self.grade, self.judgment = rank, grade, judgment
        self._offsets = offsets

    @cached_property
    def list(self) -> Ints:  # type: ignore[override]
        return np.repeat(np.arange(self.size), np.diff(self._offsets))

    @property
    def _bounds(self) -> Ints:
        return self._offsets


class Lists(CacheMixin):
    """Ranked lists as flat arrays: the hits of list l are ``offsets[l]:offsets[l + 1]``.

    ``topic`` and ``length`` (documents retrieved) have one entry per list, ``rank`` and ``judgment`` one per hit.
    """

    def __init__(
        self, pool: Pool, topic: Ints, length: AnyArray, offsets: Ints, rank: AnyArray, judgment: AnyArray
    ) -> None:
        self.pool = pool
        self.topic = topic
        self.length = length
        self._offsets = offsets
        self._rank = rank
        self._judgment = judgment

    def __len__(self) -> int:
        return len(self.topic)

    @cached_property
    def _judged(self) -> Hits:
        hits = _Retrieved(self._offsets, self._rank, self.pool.grade.take(self._judgment), self._judgment)
        return hits.where(hits.grade != UNJUDGED)

    def hits(self, cutoff: int | None = None) -> Hits:
        """All judged documents of the lists, down to a rank."""
        return self._judged if cutoff is None else self._cut(self._judged, cutoff, "judged")

    def documents(self, cutoff: int | None = None) -> Hits:
        """Every retrieved document as a hit, down to a rank: an unjudged one has no grade and the judgment -1."""
        length = self.retrieved(cutoff)
        start = np.cumsum(length) - length
        owner = np.repeat(np.arange(len(self)), length)
        rank = np.arange(1, len(owner) + 1) - start[owner]
        grade = np.full(len(owner), UNJUDGED, np.int32)
        judgment = np.full(len(owner), -1, np.int32)
        hits = self.hits(cutoff)
        place = start[hits.list] + hits.rank - 1
        grade[place], judgment[place] = hits.grade, hits.judgment
        return Hits(len(self), owner, rank, grade, judgment)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> Hits:
        """The documents of grade ``rel`` or better, down to a rank."""
        relevant = self.cache(("relevant", rel), lambda: self._judged.where(self._judged.grade >= rel))
        return relevant if cutoff is None else self._cut(relevant, cutoff, rel)

    def ordinal_among(self, rel: int, lowest: int) -> Ints:
        """For each document of grade ``rel`` or better its ordinal among those of grade ``lowest`` or better."""
        return self.relevant(lowest).ordinals_at(self.places(rel, lowest))

    def places(self, rel: int, lowest: int) -> Ints:
        """Where the documents of grade ``rel`` or better stand among the hits of grade ``lowest`` or better."""
        return self.cache(("places", rel, lowest), lambda: np.flatnonzero(self.relevant(lowest).grade >= rel))

    def of_length(self, length: int) -> Lists:
        """The same lists cut, or filled up with unjudged documents, to so many ranks."""
        hits = self.hits(length)
        lengths = np.full(len(self), length)
        return Lists(self.pool, self.topic, lengths, hits._bounds, hits.rank, hits.judgment)

    def condensed(self) -> Lists:
        """The same lists without the documents that nobody judged; a negative grade says that one was only pooled."""
        return self.cache("condensed", self._condensed)

    def _condensed(self) -> Lists:
        hits = self.relevant(0)
        return Lists(self.pool, self.topic, hits.count, hits._bounds, hits.ordinal, hits.judgment)

    def with_grades(self, pool: Pool) -> Lists:
        """The same lists of the same documents, which have other grades."""
        hits = self.hits()
        return Lists(pool, self.topic, self.length, hits._bounds, hits.rank, hits.judgment)

    def under(self, pool: Pool) -> Lists:
        """The same lists with fewer judgments: every grade of ``pool`` is the one here, or taken back."""
        return _Fewer(self, pool)

    def _cut(self, hits: Hits, cutoff: int, name: Hashable) -> Hits:
        """The hits down to a rank; kept, because measures share their views of the lists."""
        return self.cache(("cut", name, cutoff), lambda: hits.where(hits.rank <= cutoff))

    def per_topic(self, values: AnyArray) -> AnyArray:
        """For each list the value of its topic."""
        return values[self.topic]

    def recall_base(self, rel: int = 1) -> Ints:
        """For each list the number of relevant documents of its topic."""
        return self.per_topic(self.pool.recall_base(rel))

    def retrieved(self, cutoff: int | None = None) -> Ints:
        """For each list the number of documents it has, down to a rank."""
        return self.length if cutoff is None else np.minimum(self.length, cutoff)

    def times_at_length(self, values: Floats, table: Floats, cutoff: int | None = None) -> Floats:
        """For each list its value times the entry of a table at the number of documents it has, down to a rank.

        It takes the place of the values.
        """
        values *= table[self.retrieved(cutoff)]
        return values

    @cached_property
    def by_aspect(self) -> ByAspect:
        """Every list once for each aspect of its topic, under the grades of that aspect."""
        from rankscope.judging.aspects import AspectLists, ByAspect

        return ByAspect(self, AspectLists(self))

    def grades(self, unjudged: Any = 0) -> list[list[Any]]:
        """Each list written out: one grade per retrieved document, ``unjudged`` where there is none."""
        hits = self._judged
        written = [[unjudged] * int(n) for n in self.length]
        for owner, rank, grade in zip(
            hits.list.tolist(), hits.rank.tolist(), hits.grade.tolist(), strict=True
        ):
            written[owner][rank - 1] = grade
        return written


class GradedLists(Lists):
    """Lists whose hits come with their grades: enough for measures that do not ask which documents they are."""

    def __init__(
        self, pool: Pool, topic: Ints, length: AnyArray, offsets: Ints, rank: AnyArray, grade: AnyArray
    ) -> None:
        super().__init__(pool, topic, length, offsets, rank, np.zeros(0, np.int32))  # whoever asks, fails
        self._grade = grade

    @cached_property
    def _judged(self) -> Hits:
        return _Retrieved(self._offsets, self._rank, self._grade, self._judgment)

    def _condensed(self) -> Lists:
        hits = self.relevant(0)
        return GradedLists(self.pool, self.topic, hits.count, hits._bounds, hits.ordinal, hits.grade)


class _Fewer(Lists):
    """Lists of which some judgments were taken back: their hits are looked for among the hits of the full ones."""

    def __init__(self, full: Lists, pool: Pool) -> None:
        super().__init__(pool, full.topic, full.length, full._offsets, full._rank, full._judgment)
        self._full = full

    @cached_property
    def _judged(self) -> Hits:
        return self._left(self._full.hits())

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> Hits:
        """The documents of grade ``rel`` or better, down to a rank."""
        return self.cache(("relevant", rel, cutoff), lambda: self._left(self._full.relevant(rel, cutoff)))

    def ordinal_among(self, rel: int, lowest: int) -> Ints:
        """For each document of grade ``rel`` or better its ordinal among those of grade ``lowest`` or better."""
        many, some = self._full.relevant(lowest), self.relevant(rel)
        assert isinstance(some, HitsView)
        left = np.cumsum(many.take(self.pool.grade != UNJUDGED), dtype=np.int32)
        before = np.concatenate([[0], left])[many._starts]  # in the lists before
        ordinal: Ints = left[self._full.places(rel, lowest)[some._index]] - np.repeat(before, some.count)
        return ordinal

    def _left(self, hits: Hits) -> Hits:
        # not hits.where: the columns of the full hits are taken once for all pools
        return HitsView(hits, np.flatnonzero(hits.take(self.pool.grade != UNJUDGED)))
