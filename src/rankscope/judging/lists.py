"""Lists and hits: the protocol that measures use.

A *list* is the ranking of a run for a topic. A *hit* is a judged document in a list, with its rank and grade. Measures
are formulas over hits; a run of a thousand documents has a few dozen of them.

:class:`Lists` and :class:`Hits` represent real runs as flat arrays. The laboratory implements the same protocol
(``lab/rankings/tree.py``) for all possible rankings, so that a formula is written once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.arrays import AnyArray as AnyArray
from rankscope.arrays import Bools
from rankscope.arrays import Floats as Floats
from rankscope.arrays import Ints as Ints
from rankscope.caching import CacheMixin, cached_property
from rankscope.judging.pool import Pool
from rankscope.read.qrels import UNJUDGED

if TYPE_CHECKING:
    from rankscope.judging.aspects import ByAspect


_BLOCK = 1 << 22  # cells of a padded matrix, which bounds memory
_MAX_KEPT = 4096  # ranks of a table that is kept, which bounds memory


def _evaluate_ranks(function: Callable[[AnyArray], AnyArray], depth: int) -> AnyArray:
    return function(np.arange(1, depth + 1))


_rank_table = lru_cache(_evaluate_ranks)


class Hits:
    """Judged documents of lists, or a subset of them, in list order and by rank inside a list.

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
        """Number of these hits in each list."""
        return self._bounds[1:] - self._bounds[:-1]

    @cached_property
    def _bounds(self) -> Ints:
        """Index of the first hit of each list, and the number of hits."""
        return self.list.searchsorted(np.arange(self.size + 1))

    @property
    def _starts(self) -> Ints:
        return self._bounds[:-1]

    @cached_property
    def ordinal(self) -> Ints:
        """1 for the first of these hits in its list, 2 for the second, ..."""
        return np.arange(1, len(self) + 1) - self._starts.repeat(self.count)

    def ordinals_at(self, index: Ints) -> Ints:
        """Return the ordinals of some hits, by ascending index, without computing all of them."""
        return index + 1 - np.repeat(self._starts, np.diff(np.searchsorted(index, self._bounds)))

    def where(self, keep: Bools) -> Hits:
        """Return the hits for which a mask is true."""
        return self if np.count_nonzero(keep) == len(keep) else HitsView(self, keep.nonzero()[0])

    def take(self, per_document: AnyArray) -> AnyArray:
        """Return the value of each hit's document, given one value per judged document of the collection."""
        return per_document.take(self.judgment, axis=0)

    def at_rank(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """Apply a function to the rank of each hit; it is evaluated once per rank, since logarithms are slow."""
        depth = self.max_rank
        # The table of a method is kept: its measure is immutable. Few depths occur if they are powers of two.
        is_kept = depth <= _MAX_KEPT and hasattr(function, "__self__")
        table = (
            _rank_table(function, 1 << depth.bit_length()) if is_kept else _evaluate_ranks(function, depth)
        )
        return np.asarray(table.take(self.rank - 1))

    @cached_property
    def max_rank(self) -> int:
        """Largest rank of these hits; 0 without any."""
        return int(self.rank.max()) if len(self.rank) else 0

    def at_ordinal(self, function: Callable[[AnyArray], AnyArray]) -> AnyArray:
        """Apply a function to the ordinal of each hit; it is evaluated once per ordinal."""
        table: AnyArray = function(np.arange(1, int(self.ordinal.max(initial=0)) + 1))
        return np.asarray(table[self.ordinal - 1])

    def sum(self, values: AnyArray | float = 1.0) -> Floats:
        """Return the sum of a value per hit over each list, added in rank order."""
        values = np.asarray(values)
        if (
            values.ndim and values.dtype.kind in "iu"
        ):  # integers are exact in any order: reduceat is 5 times faster
            result = np.zeros(self.size)
            filled = self.count.nonzero()[0]
            if len(filled):
                result[filled] = np.add.reduceat(values, self._starts[filled], dtype=np.int64)
            return result
        weights = values if values.ndim else np.full(len(self), values, np.float64)
        # bincount adds one by one in order, which gives the same bits for every batch of lists.
        return np.bincount(self.list, weights=weights, minlength=self.size).astype(np.float64, copy=False)

    def descending(self, values: AnyArray) -> AnyArray:
        """Return the values of the hits of each list in descending order."""
        return np.asarray(values)[np.lexsort((-np.asarray(values), self.list))]

    def before(self, values: AnyArray) -> AnyArray:
        """Return for each hit the sum of a value over the hits above it in its list."""
        values = np.asarray(values)
        if values.dtype.kind in "iub":
            running = np.cumsum(values, dtype=np.int64)
            running -= values
            filled = np.flatnonzero(self.count)
            running -= np.repeat(running[self._starts[filled]], self.count[filled])
            return running
        return self._accumulate(np.cumsum, values, 0.0)

    def product_before(self, values: AnyArray) -> Floats:
        """Return for each hit the product of a value over the hits above it in its list."""
        return self._accumulate(np.cumprod, np.asarray(values, np.float64), 1.0)

    def first(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the value at the first hit of each list, or ``otherwise`` for a list without hits."""
        result = np.full(self.size, otherwise)
        filled = self.count.nonzero()[0]
        result[filled] = np.asarray(values, np.float64)[self._starts[filled]]
        return result

    def max(self, values: AnyArray, otherwise: float = 0.0) -> Floats:
        """Return the maximum over the hits of each list, or ``otherwise`` for a list without hits."""
        result = np.full(self.size, otherwise)
        filled = np.flatnonzero(self.count)
        if len(filled):
            result[filled] = np.maximum.reduceat(np.asarray(values, np.float64), self._starts[filled])
        return result

    def _accumulate(self, accumulate: Callable[..., Floats], values: Floats, start: float) -> Floats:
        """Return exclusive running totals of each list, computed in the rows of a padded matrix."""
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
    """Subset of other hits; a column is copied when it is first used, since few measures use all of them."""

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
        return self._index.searchsorted(self._hits._bounds)

    def where(self, keep: Bools) -> Hits:
        return self if np.count_nonzero(keep) == len(keep) else HitsView(self._hits, self._index[keep])


class _Retrieved(Hits):
    """Hits of lists, given by offsets."""

    def __init__(self, offsets: Ints, rank: AnyArray, grade: AnyArray, judgment: AnyArray) -> None:
        self.size = len(offsets) - 1
        self.rank, self.grade, self.judgment = rank, grade, judgment
        self._offsets = offsets

    @cached_property
    def list(self) -> Ints:  # type: ignore[override]
        return np.arange(self.size).repeat(self._offsets[1:] - self._offsets[:-1])

    @property
    def _bounds(self) -> Ints:
        return self._offsets


class Lists(CacheMixin):
    """Lists in flat arrays: the hits of list l are ``offsets[l]:offsets[l + 1]``.

    ``topic`` and ``length`` (documents retrieved) have one entry per list, ``rank`` and ``judgment`` one per hit.
    """

    def __init__(
        self, pool: Pool, topic: Ints, length: AnyArray, offsets: Ints, rank: AnyArray, judgment: AnyArray
    ) -> None:
        self.pool = pool
        self.topic = topic
        self.length = length
        self.offsets = offsets
        self.rank = rank
        self.judgment = judgment

    @classmethod
    def empty(cls, pool: Pool) -> Lists:
        """Return an empty list of each topic."""
        width, none = len(pool), np.zeros(0, np.int32)
        return cls(
            pool, np.arange(width), np.zeros(width, np.int32), np.zeros(width + 1, np.int64), none, none
        )

    def __len__(self) -> int:
        return len(self.topic)

    @cached_property
    def _judged(self) -> Hits:
        hits = _Retrieved(self.offsets, self.rank, self.pool.grade.take(self.judgment), self.judgment)
        return hits.where(hits.grade != UNJUDGED)

    def hits(self, cutoff: int | None = None) -> Hits:
        """Return all judged documents of the lists, down to a rank."""
        return self._judged if cutoff is None else self._cut(self._judged, cutoff, "judged")

    def documents(self, cutoff: int | None = None) -> Hits:
        """Return every retrieved document as a hit, down to a rank; unjudged ones have grade UNJUDGED, judgment -1."""
        length = self.retrieved(cutoff)
        start = np.cumsum(length) - length
        owner = np.repeat(np.arange(len(self)), length)
        rank = np.arange(1, len(owner) + 1) - start[owner]
        grade = np.full(len(owner), UNJUDGED, np.int32)
        judgment = np.full(len(owner), -1, np.int32)
        hits = self.hits(cutoff)
        index = start[hits.list] + hits.rank - 1
        grade[index], judgment[index] = hits.grade, hits.judgment
        return Hits(len(self), owner, rank, grade, judgment)

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> Hits:
        """Return the documents of grade ``rel`` or better, down to a rank."""
        relevant = self.cache(("relevant", rel), lambda: self._judged.where(self._judged.grade >= rel))
        return relevant if cutoff is None else self._cut(relevant, cutoff, rel)

    def ordinal_among(self, rel: int, lowest: int) -> Ints:
        """Return the ordinal of each hit of grade ``rel`` or better among those of grade ``lowest`` or better."""
        return self.relevant(lowest).ordinals_at(self.positions_among(rel, lowest))

    def positions_among(self, rel: int, lowest: int) -> Ints:
        """Return the indices of the hits of grade ``rel`` or better among those of grade ``lowest`` or better."""
        return self.cache(
            ("positions", rel, lowest), lambda: np.flatnonzero(self.relevant(lowest).grade >= rel)
        )

    def split(self, max_hits: int) -> Iterator[tuple[slice, Any]]:
        """Yield the lists in parts with about ``max_hits`` hits and at most as many lists, without copying hits."""
        first = 0
        while first < len(self):
            last = int(np.searchsorted(self.offsets, self.offsets[first] + max_hits, side="right")) - 1
            last = max(first + 1, min(last, first + max_hits, len(self)))
            part = slice(first, last)
            yield part, self._part(part, slice(self.offsets[first], self.offsets[last]))
            first = last

    def _part(self, lists: slice, hits: slice) -> Lists:
        offsets = self.offsets[lists.start : lists.stop + 1] - hits.start
        columns = self.rank[hits], self.judgment[hits]
        return Lists(self.pool, self.topic[lists], self.length[lists], offsets, *columns)

    def truncate(self, rank: int) -> Lists:
        """Return the same lists down to a rank."""
        hits = self.hits(rank)
        return Lists(self.pool, self.topic, self.retrieved(rank), hits._bounds, hits.rank, hits.judgment)

    def with_length(self, length: int) -> Lists:
        """Return the same lists truncated, or padded with unjudged documents, to a length."""
        hits = self.hits(length)
        lengths = np.full(len(self), length)
        return Lists(self.pool, self.topic, lengths, hits._bounds, hits.rank, hits.judgment)

    def condense(self) -> Lists:
        """Return the same lists without unjudged documents, to which those with negative grades belong."""
        return self.cache("condensed", self._condensed)

    def _condensed(self) -> Lists:
        hits = self.relevant(0)
        return Lists(self.pool, self.topic, hits.count, hits._bounds, hits.ordinal, hits.judgment)

    def with_grades(self, pool: Pool) -> Lists:
        """Return the same lists with other grades."""
        hits = self.hits()
        return Lists(pool, self.topic, self.length, hits._bounds, hits.rank, hits.judgment)

    def with_pool_subset(self, pool: Pool) -> Lists:
        """Return the same lists with fewer judgments: every grade of ``pool`` is the same or UNJUDGED."""
        return PoolSubset(self, pool)

    def _cut(self, hits: Hits, cutoff: int, name: Hashable) -> Hits:
        """Return the hits down to a rank; cached, because measures share them."""
        if hits.max_rank <= cutoff:
            return hits
        return self.cache(("cut", name, cutoff), lambda: hits.where(hits.rank <= cutoff))

    def per_topic(self, values: AnyArray) -> AnyArray:
        """Return for each list the value of its topic."""
        return values[self.topic]

    def recall_base(self, rel: int = 1) -> Ints:
        """Return for each list the number of relevant documents of its topic."""
        return self.per_topic(self.pool.recall_base(rel))

    def retrieved(self, cutoff: int | None = None) -> Ints:
        """Return the number of documents of each list, down to a rank."""
        return self.length if cutoff is None else np.minimum(self.length, cutoff)

    def times_at_length(self, values: Floats, table: Floats, cutoff: int | None = None) -> Floats:
        """Multiply the value of each list in place by the entry of a table at its length, down to a rank."""
        values *= table[self.retrieved(cutoff)]
        return values

    @cached_property
    def by_aspect(self) -> ByAspect:
        """Lists for each aspect of their topics, with the grades for that aspect."""
        from rankscope.judging.aspects import AspectLists, ByAspect

        return ByAspect(self, AspectLists(self))

    def grades(self, unjudged: Any = 0) -> list[list[Any]]:
        """Return one grade per retrieved document of each list, ``unjudged`` for those without a judgment."""
        hits = self._judged
        result = [[unjudged] * int(length) for length in self.length]
        columns = (column.tolist() for column in (hits.list, hits.rank, hits.grade))
        for owner, rank, grade in zip(*columns, strict=True):
            result[owner][rank - 1] = grade
        return result


class PoolSubset(Lists):
    """Lists without some of their judgments; their hits are found among the hits of the full lists."""

    def __init__(self, full: Lists, pool: Pool) -> None:
        super().__init__(pool, full.topic, full.length, full.offsets, full.rank, full.judgment)
        self._full = full

    @cached_property
    def _judged(self) -> Hits:
        return self._still_judged(self._full.hits())

    def relevant(self, rel: int = 1, cutoff: int | None = None) -> Hits:
        """Return the documents of grade ``rel`` or better, down to a rank."""
        return self.cache(
            ("relevant", rel, cutoff), lambda: self._still_judged(self._full.relevant(rel, cutoff))
        )

    def ordinal_among(self, rel: int, lowest: int) -> Ints:
        """Return the ordinal of each hit of grade ``rel`` or better among those of grade ``lowest`` or better."""
        full_hits, hits = self._full.relevant(lowest), self.relevant(rel)
        assert isinstance(hits, HitsView)
        n_judged = np.cumsum(full_hits.take(self.pool.grade != UNJUDGED), dtype=np.int32)
        before = np.concatenate([[0], n_judged])[full_hits._starts]  # in earlier lists
        positions = self._full.positions_among(rel, lowest)[hits._index]
        ordinal: Ints = n_judged[positions] - np.repeat(before, hits.count)
        return ordinal

    def _still_judged(self, hits: Hits) -> Hits:
        # Not hits.where: the columns of the full hits are copied once for all pools.
        return HitsView(hits, np.flatnonzero(hits.take(self.pool.grade != UNJUDGED)))
