"""Rankings with ties: any order inside a group of equal scores is possible.

A *tie group* has all documents of a ranking with the same score, judged or not. First rank and size of the group of
each hit are sufficient, because unjudged documents are interchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Bools, Ints
from rankscope.judging.judged import Judged
from rankscope.judging.lists import Hits, HitsView, Lists
from rankscope.read.qrels import UNJUDGED
from rankscope.scan import Ties

_BLOCK_HITS = 1 << 20
"""Number of hits of a block, which bounds memory."""


class HitGroups(NamedTuple):
    """Tie groups that have hits of a kind, in list order and by rank; most have one document."""

    list: Ints
    first: Ints
    """First rank of the group."""
    size: Ints
    """Number of documents of the group."""
    n_hits: Ints
    """Number of hits of the kind in the group."""
    before: Ints
    """Number of hits of the kind above the group in its list."""
    member: Ints
    """Indices of the hits of the kind, group by group."""
    owner: Ints
    """Group of each of these hits."""

    def ranks(self) -> tuple[Ints, Ints]:
        """Return the group of every rank of every group, and the position in the group from 1 on."""
        group = np.repeat(np.arange(len(self.size)), self.size)
        return group, np.arange(1, len(group) + 1) - np.repeat(np.cumsum(self.size) - self.size, self.size)


class TiedHits(NamedTuple):
    """Hits of a grade or better in groups whose documents differ, in list order and by rank."""

    list: Ints
    rank: Ints
    grade: AnyArray
    among: Ints
    """Index among all hits of that grade or better."""
    ordinal: Ints
    """Ordinal among the hits of its list."""
    first: Ints
    """First rank of the group."""
    size: Ints
    """Number of documents of the group."""
    start: Ints
    """First of these hits of each group; the others are consecutive."""
    n_hits: Ints
    """Number of these hits of each group."""


def bisect_ranges(values: AnyArray, low: Ints, high: Ints, targets: Ints) -> Ints:
    """Return, for each range from low to high, the first index whose value is at least the target.

    Values ascend in each range.

    >>> bisect_ranges(np.array([1, 4, 6, 2, 3]), np.array([0, 3]), np.array([3, 5]), np.array([5, 9])).tolist()
    [2, 5]
    """
    low, high = low.copy(), high.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        is_open = low < high
        is_less = is_open & (values[np.where(is_open, middle, 0)] < targets)
        low = np.where(is_less, middle + 1, low)
        high = np.where(is_open & ~is_less, middle, high)
    return low


class TiedLists(Lists):
    """Lists with the tie group of every hit; the ranks of hits are those of one possible order."""

    def __init__(self, lists: Lists, ties: Ties) -> None:
        arrays = lists.topic, lists.length, lists.offsets, lists.rank, lists.judgment
        super().__init__(lists.pool, *arrays)
        self.ties = ties

    @classmethod
    def from_judged(cls, judged: Judged, lists: Ints) -> TiedLists:
        """Return some lists of runs, by their numbers; they must be judged with ``ties=True``."""
        arrays = judged.arrays.take(lists)
        assert arrays.ties is not None
        columns = arrays.length, arrays.offsets, arrays.rank, arrays.judgment
        return cls(Lists(judged.pool, lists % len(judged.topics), *columns), arrays.ties)

    @classmethod
    def blocks(cls, judged: Judged) -> Iterator[tuple[Ints, TiedLists]]:
        """Yield the numbers of present lists, and the lists, in blocks; their hits are not copied."""
        assert judged.ties is not None
        present, lists = judged.present_lists()
        return ((present[part], block) for part, block in cls(lists, judged.ties).split(_BLOCK_HITS))

    def _part(self, lists: slice, hits: slice) -> TiedLists:
        return TiedLists(super()._part(lists, hits), Ties(self.ties.first[hits], self.ties.size[hits]))

    def tied(self, rel: int) -> TiedHits:
        """Return the hits of grade ``rel`` or better in groups whose documents differ, judged or not."""
        return self.cache(("tied", rel), lambda: self._tied(rel))

    def _tied(self, rel: int) -> TiedHits:
        hits = self.relevant(rel)
        index = _indices(hits)
        among = np.flatnonzero(self.ties.size.take(index) > 1)
        first, size = (column.take(index[among]).astype(np.int64) for column in self.ties)
        owner, grade = hits.list.take(among), hits.grade.take(among)
        is_start = np.ones(len(among), np.bool_)
        is_start[1:] = (owner[1:] != owner[:-1]) | (first[1:] != first[:-1])
        start = np.flatnonzero(is_start)
        n_hits = np.diff(np.append(start, len(among)))
        is_mixed = n_hits < size[start]
        if len(start):
            is_mixed |= np.minimum.reduceat(grade, start) != np.maximum.reduceat(grade, start)
        keep = np.flatnonzero(np.repeat(is_mixed, n_hits))
        n_hits = n_hits[is_mixed]
        owner, grade, among, first, size = (
            column.take(keep) for column in (owner, grade, among, first, size)
        )
        return TiedHits(
            owner, hits.rank.take(among), grade, among, among + 1 - hits._starts[owner], first, size,
            np.cumsum(n_hits) - n_hits, n_hits,
        )  # fmt: skip

    def relevant_lists(self, numbers: Ints, last: Ints) -> TiedLists:
        """Return some lists with only the relevant hits of groups that start at most at rank ``last`` of each list."""
        is_selected = np.zeros(len(self), np.bool_)
        is_selected[numbers] = True
        hits = self.relevant(1)
        index = _indices(hits)
        keep = is_selected[hits.list]
        keep[keep] = self.ties.first[index[keep]] <= last[hits.list[keep]]
        index, owner = index[keep], hits.list[keep]
        bounds = np.append(np.searchsorted(owner, numbers), len(owner))
        lists = self.with_hits(numbers, bounds, self.rank[index], self.judgment[index])
        return TiedLists(lists, self.ties.take(index))

    def owner(self) -> Ints:
        """Return the list of every hit."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def grade(self) -> AnyArray:
        """Return the grade of every hit; UNJUDGED if its judgment was removed."""
        return self.pool.grade.take(self.judgment)

    def groups(self, kind: Bools, label: AnyArray | None = None) -> HitGroups:
        """Return the groups with hits of a kind; hits with different labels are separate groups."""
        member = np.flatnonzero(kind)
        owner, first = self.owner()[member], self.ties.first[member].astype(np.int64)
        is_start = np.ones(len(member), np.bool_)
        is_start[1:] = False
        if label is not None:  # without labels, the hits of a group are consecutive
            labels = label[member]
            order = np.lexsort((labels, first, owner))
            member, owner, first, labels = member[order], owner[order], first[order], labels[order]
            is_start[1:] = labels[1:] != labels[:-1]
        is_start[1:] |= (owner[1:] != owner[:-1]) | (first[1:] != first[:-1])
        starts = np.flatnonzero(is_start)
        count = np.diff(np.append(starts, len(member)))
        group = np.cumsum(is_start) - 1
        before = starts - np.searchsorted(owner, owner[starts])
        size = self.ties.size[member[starts]].astype(np.int64)
        return HitGroups(owner[starts], first[starts], size, count, before, member, group)

    def sorted_groups(self, best_first: bool) -> Lists:
        """Return the order with the best grades of every group first, or last; unjudged documents are the worst."""
        grade = self.grade().astype(np.int64)
        key = self.owner() * (int(self.length.max(initial=0)) + 1) + self.ties.first
        order = np.lexsort((-grade if best_first else grade, key))
        first, size, key = self.ties.first[order].astype(np.int64), self.ties.size[order], key[order]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        n_hits = np.diff(starts, append=len(key))
        start, n_hits = np.repeat(starts, n_hits), np.repeat(n_hits, n_hits)
        position = np.arange(len(order)) - start
        rank = first + position + (0 if best_first else size - n_hits)
        return Lists(self.pool, self.topic, self.length, self.offsets, rank, self.judgment[order])

    def with_hits(self, row: Ints, offsets: Ints, rank: AnyArray, judgment: AnyArray) -> Lists:
        """Return list ``row[i]`` for each i, with hits at other ranks."""
        return Lists(self.pool, self.topic[row], self.length[row], offsets, rank, judgment)

    def has_unequal_ties(self) -> Bools:
        """Return for each list whether a group has documents that differ."""
        groups = self.groups(self.ties.size > 1)
        grade = self.grade()
        label = self.labels()
        low = np.full(len(groups.size), np.iinfo(np.int64).max)
        high = np.full(len(groups.size), -1)
        np.minimum.at(low, groups.owner, label[groups.member])
        np.maximum.at(high, groups.owner, label[groups.member])
        n_judged = np.bincount(
            groups.owner, weights=grade[groups.member] != UNJUDGED, minlength=len(groups.size)
        )
        is_mixed = (low < high) | ((n_judged > 0) & (n_judged < groups.size))
        result = np.zeros(len(self), np.bool_)
        result[groups.list[is_mixed]] = True
        return result

    def labels(self) -> Ints:
        """Return a number for every hit, equal for documents with the same grade for every aspect."""
        columns = (
            [self.pool.grade] if self.pool.aspects is None else [self.pool.grade, *self.pool.aspect_grades]
        )
        kinds = np.unique(np.array(columns), axis=1, return_inverse=True)[1].reshape(-1)
        return np.asarray(kinds.take(self.judgment), np.int64)


def _indices(hits: Hits) -> Ints:
    """Return the indices of hits among all hits of their lists."""
    return hits._index if isinstance(hits, HitsView) else np.arange(len(hits))
