"""Lists whose documents may share scores: every order inside a group of equal scores is as good as another.

A *tie group* holds all documents of a list with one score, judged or not. A hit knows the first rank of its group and
its size, which is all there is to know: documents without a judgment are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.judging.judged import Judged
from rankscope.judging.lists import AnyArray, HitsView, Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.read.qrels import UNJUDGED
from rankscope.scan import Ties

__all__ = ["Groups", "TiedHits", "TiedLists", "bisected"]

_HITS = 1 << 20
"""Hits that are looked at together."""


class Groups(NamedTuple):
    """The tie groups of lists that hold documents of some kind, in list order and by rank; most hold one document."""

    list: Ints
    first: Ints
    """The first rank of the group."""
    size: Ints
    """How many documents it has."""
    held: Ints
    """How many of them are of that kind."""
    before: Ints
    """How many of that kind the list has above the group."""
    member: Ints
    """The hits of that kind; those of a group follow each other."""
    owner: Ints
    """The group of each of these hits."""

    def ranks(self) -> tuple[Ints, Ints]:
        """Every rank of every group: the group it belongs to, and its place in the group from 1 on."""
        group = np.repeat(np.arange(len(self.size)), self.size)
        return group, np.arange(1, len(group) + 1) - np.repeat(np.cumsum(self.size) - self.size, self.size)


class TiedHits(NamedTuple):
    """Hits of some grade or better in groups whose documents differ, in list order and by rank."""

    list: Ints
    rank: Ints
    grade: AnyArray
    among: Ints
    """Its place among all hits of that grade or better."""
    ordinal: Ints
    """Its number among those of its list."""
    first: Ints
    """The first rank of the group."""
    size: Ints
    """How many documents the group has."""
    start: Ints
    """For each group the first of these hits; the others follow it."""
    held: Ints
    """For each group how many of these hits it has."""


def bisected(values: AnyArray, low: Ints, high: Ints, wanted: Ints) -> Ints:
    """For each range from low to high the first place whose value is not below the wanted one; values rise there.

    >>> bisected(np.array([1, 4, 6, 2, 3]), np.array([0, 3]), np.array([3, 5]), np.array([5, 9])).tolist()
    [2, 5]
    """
    low, high = low.copy(), high.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        open_ = low < high
        less = open_ & (values[np.where(open_, middle, 0)] < wanted)
        low = np.where(less, middle + 1, low)
        high = np.where(open_ & ~less, middle, high)
    return low


class TiedLists(Lists):
    """Lists with the tie group of every hit; the ranks of the hits are those of one possible order."""

    def __init__(
        self,
        pool: Pool,
        topic: Ints,
        length: AnyArray,
        offsets: Ints,
        rank: AnyArray,
        judgment: AnyArray,
        ties: Ties,
    ) -> None:
        super().__init__(pool, topic, length, offsets, rank, judgment)
        self.ties = ties

    @classmethod
    def of(cls, judged: Judged, where: Ints) -> TiedLists:
        """Some of the lists of runs, by their numbers; they were judged with ``ties=True``."""
        assert judged.ties is not None
        size = np.diff(judged.offsets)[where]
        offsets = np.concatenate([[0], np.cumsum(size)])
        hits = np.arange(offsets[-1]) + np.repeat(judged.offsets[where] - offsets[:-1], size)
        return cls(
            judged.pool,
            where % len(judged.topics),
            judged.length[where],
            offsets,
            judged.rank[hits],
            judged.judgment[hits],
            judged.ties.take(hits),
        )

    @classmethod
    def blocks(cls, judged: Judged) -> Iterator[tuple[Ints, TiedLists]]:
        """All lists that runs have, some at a time, with their numbers; their hits are not copied."""
        assert judged.ties is not None
        present = np.flatnonzero(judged.present)
        starts = np.append(judged.offsets[present], judged.offsets[-1])
        block = starts[:-1] // _HITS
        for where in np.split(present, np.flatnonzero(np.diff(block)) + 1):
            low, high = judged.offsets[where[0]], judged.offsets[where[-1] + 1]
            bounds = np.append(judged.offsets[where], high) - low
            part = slice(low, high)
            yield (
                where,
                cls(
                    judged.pool, where % len(judged.topics), judged.length[where], bounds, judged.rank[part],
                    judged.judgment[part], Ties(judged.ties.first[part], judged.ties.size[part]),
                ),
            )  # fmt: skip

    def tied(self, rel: int) -> TiedHits:
        """The hits of grade ``rel`` or better in groups whose documents differ, judged or not."""
        return self.cache(("tied", rel), lambda: self._tied(rel))

    def _tied(self, rel: int) -> TiedHits:
        hits = self.relevant(rel)
        place = hits._index if isinstance(hits, HitsView) else np.arange(len(hits))
        some = np.flatnonzero(self.ties.size.take(place) > 1)
        first, size = (column.take(place[some]).astype(np.int64) for column in self.ties)
        owner, grade = hits.list.take(some), hits.grade.take(some)
        new = np.ones(len(some), np.bool_)
        new[1:] = (owner[1:] != owner[:-1]) | (first[1:] != first[:-1])
        start = np.flatnonzero(new)
        held = np.diff(np.append(start, len(some)))
        mixed = held < size[start]
        if len(start):
            mixed |= np.minimum.reduceat(grade, start) != np.maximum.reduceat(grade, start)
        keep = np.flatnonzero(np.repeat(mixed, held))
        held = held[mixed]
        owner, grade, among, first, size = (column.take(keep) for column in (owner, grade, some, first, size))
        return TiedHits(
            owner, hits.rank.take(among), grade, among, among + 1 - hits._starts[owner], first, size,
            np.cumsum(held) - held, held,
        )  # fmt: skip

    def relevant_lists(self, where: Ints, last: Ints) -> TiedLists:
        """Some of the lists with their relevant hits alone, those of groups that begin above rank ``last`` of each."""
        chosen = np.zeros(len(self), np.bool_)
        chosen[where] = True
        hits = self.relevant(1)
        place = hits._index if isinstance(hits, HitsView) else np.arange(len(hits))
        keep = chosen[hits.list]
        keep[keep] = self.ties.first[place[keep]] <= last[hits.list[keep]]
        place, owner = place[keep], hits.list[keep]
        bounds = np.append(np.searchsorted(owner, where), len(owner))
        return TiedLists(
            self.pool, self.topic[where], self.length[where], bounds, self._rank[place], self._judgment[place],
            self.ties.take(place),
        )  # fmt: skip

    @property
    def offsets(self) -> Ints:
        """Where the hits of each list begin, and where the last ones end."""
        return self._offsets

    @property
    def rank(self) -> AnyArray:
        """The rank of every hit."""
        return self._rank

    @property
    def judgment(self) -> AnyArray:
        """The document of every hit."""
        return self._judgment

    def owner(self) -> Ints:
        """The list of every hit."""
        return np.repeat(np.arange(len(self)), np.diff(self._offsets))

    def grade(self) -> AnyArray:
        """The grade of every hit; some may have lost their judgment."""
        return self.pool.grade.take(self._judgment)

    def groups(self, kind: npt.NDArray[np.bool_], label: AnyArray | None = None) -> Groups:
        """The groups that hold hits of a kind; with ``label``, hits that differ in it are kept apart."""
        member = np.flatnonzero(kind)
        owner, first = self.owner()[member], self.ties.first[member].astype(np.int64)
        new = np.ones(len(member), np.bool_)
        if label is not None:  # else the hits of a group follow each other already
            tag = label[member]
            order = np.lexsort((tag, first, owner))
            member, owner, first, tag = member[order], owner[order], first[order], tag[order]
            new[1:] = tag[1:] != tag[:-1]
        new[1:] = (
            (owner[1:] != owner[:-1]) | (first[1:] != first[:-1]) | (new[1:] if label is not None else False)
        )
        starts = np.flatnonzero(new)
        count = np.diff(np.append(starts, len(member)))
        group = np.cumsum(new) - 1
        before = starts - np.searchsorted(owner, owner[starts])
        size = self.ties.size[member[starts]].astype(np.int64)
        return Groups(owner[starts], first[starts], size, count, before, member, group)

    def sorted_groups(self, best_first: bool) -> Lists:
        """The order in which every group has its best grades first, or last, those without a judgment as the worst."""
        grade = self.grade().astype(np.int64)
        key = self.owner() * (int(self.length.max(initial=0)) + 1) + self.ties.first
        order = np.lexsort((-grade if best_first else grade, key))
        first, size, key = self.ties.first[order].astype(np.int64), self.ties.size[order], key[order]
        starts = np.flatnonzero(np.diff(key, prepend=-1))
        held = np.diff(starts, append=len(key))
        start, held = np.repeat(starts, held), np.repeat(held, held)
        place = np.arange(len(order)) - start
        rank = first + place + (0 if best_first else size - held)
        return Lists(self.pool, self.topic, self.length, self._offsets, rank, self._judgment[order])

    def arranged(self, row: Ints, offsets: Ints, rank: AnyArray, judgment: AnyArray) -> Lists:
        """Other orders: list ``row[i]`` once more, with hits at other ranks."""
        return Lists(self.pool, self.topic[row], self.length[row], offsets, rank, judgment)

    def unequal(self) -> npt.NDArray[np.bool_]:
        """For each list whether some group has documents that differ."""
        tied = self.ties.size > 1
        grouped = self.groups(tied)
        grade = self.grade()
        label = self.labels()
        low = np.full(len(grouped.size), np.iinfo(np.int64).max)
        high = np.full(len(grouped.size), -1)
        np.minimum.at(low, grouped.owner, label[grouped.member])
        np.maximum.at(high, grouped.owner, label[grouped.member])
        hidden = np.bincount(
            grouped.owner, weights=grade[grouped.member] != UNJUDGED, minlength=len(grouped.size)
        )
        mixed = (low < high) | ((hidden > 0) & (hidden < grouped.size))
        result = np.zeros(len(self), np.bool_)
        result[grouped.list[mixed]] = True
        return result

    def labels(self) -> Ints:
        """A number for every hit, equal for documents that are alike: the same grade, under every aspect."""
        columns = (
            [self.pool.grade] if self.pool.aspects is None else [self.pool.grade, *self.pool.aspect_grades]
        )
        kinds = np.unique(np.array(columns), axis=1, return_inverse=True)[1].reshape(-1)
        return np.asarray(kinds.take(self._judgment), np.int64)
