"""What a scanner gives back: the hits of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.read.ids import to_text

__all__ = ["FoundList", "ReturningTopic", "RunHits", "TieGroups", "Ties", "assembled"]


class Ties(NamedTuple):
    """For each hit the documents that share its score, itself included, judged or not: any order of them is as good.

    Under the orderings ``rank`` and ``file`` there are none: each hit is alone.
    """

    first: npt.NDArray[np.int32]
    """The rank of the first of them."""
    size: npt.NDArray[np.int32]

    def taken(self, index: npt.NDArray[np.integer]) -> Ties:
        """Those of some of the hits, in another order perhaps."""
        return Ties(self.first[index], self.size[index])

    @classmethod
    def joined(cls, parts: Sequence[Ties]) -> Ties:
        """Those of several runs or parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        none = np.zeros(0, np.int32)
        first, size = ([none, *(part[column] for part in parts)] for column in (0, 1))
        return cls(np.concatenate(first), np.concatenate(size))

    @classmethod
    def of(cls, scores: npt.NDArray[np.floating] | None, rank: npt.NDArray[np.int32]) -> Ties:
        """Those of the hits at some ranks of a list; its scores from rank 1 on, or None where nothing is tied.

        >>> Ties.of(np.array([3.0, 2.0, 2.0, 1.0]), np.array([1, 3], np.int32))
        Ties(first=array([1, 2], dtype=int32), size=array([1, 2], dtype=int32))
        """
        if scores is None:
            return cls(rank, np.ones_like(rank))
        starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
        group = np.searchsorted(starts, rank, side="left") - 1
        ends = np.append(starts[1:], len(scores))
        return cls((starts[group] + 1).astype(np.int32), (ends - starts)[group].astype(np.int32))


class TieGroups(NamedTuple):
    """The groups of two and more documents with equal scores of lists, judged or not: those of list l are
    ``offsets[l]:offsets[l + 1]``, by rank."""

    offsets: npt.NDArray[np.int64]
    first: npt.NDArray[np.int32]
    """The rank of the first of a group."""
    size: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls, lists: Mapping[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]], many: int
    ) -> TieGroups:
        """Those of so many lists, by their numbers; the others have none."""
        count = np.zeros(many + 1, np.int64)
        for number, (first, _) in lists.items():
            count[number + 1] = len(first)
        none = np.zeros(0, np.int32)
        first, size = (
            np.concatenate([none, *(lists[number][column] for number in sorted(lists))]) for column in (0, 1)
        )
        return cls(np.cumsum(count), first, size)

    @classmethod
    def in_list(
        cls, scores: npt.NDArray[np.floating] | None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """First ranks and sizes in a list; its scores from rank 1 on, or None where nothing is tied.

        >>> TieGroups.in_list(np.array([3.0, 2.0, 2.0, 1.0]))
        (array([2], dtype=int32), array([2], dtype=int32))
        """
        if scores is None or not len(scores):
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
        size = np.diff(starts, append=len(scores))
        return (starts[size > 1] + 1).astype(np.int32), size[size > 1].astype(np.int32)

    def of_ranks(self, number: int, length: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """For every rank of a list the first rank of its group, and the size of that."""
        part = slice(self.offsets[number], self.offsets[number + 1])
        first, size = np.arange(1, length + 1), np.ones(length, np.int64)
        for start, many in zip(self.first[part].tolist(), self.size[part].tolist(), strict=True):
            first[start - 1 : start - 1 + many], size[start - 1 : start - 1 + many] = start, many
        return first, size

    def of_lists(self, numbers: npt.NDArray[np.integer]) -> TieGroups:
        """Those of some of the lists."""
        count = np.diff(self.offsets)[numbers]
        offsets = np.concatenate([[0], np.cumsum(count)])
        index = np.arange(offsets[-1]) + np.repeat(self.offsets[numbers] - offsets[:-1], count)
        return TieGroups(offsets, self.first[index], self.size[index])


class RunHits(NamedTuple):
    """Where the judged documents stand in a run, for the judged topics that occur in it.

    The hits of list k, for topic ``topic[k]``, are ``offsets[k]:offsets[k + 1]``; ``judgment`` counts through
    the judged documents of the qrels.
    """

    topic: npt.NDArray[np.int32]
    """Indices into the topics of the qrels, ascending."""
    length: npt.NDArray[np.int32]
    """How many documents were retrieved."""
    offsets: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int32]
    """From 1 on, ascending within a list, under the chosen ordering."""
    judgment: npt.NDArray[np.int32]
    tied: npt.NDArray[np.int32]
    """How many documents of the list share their score with another one."""
    ignored_topics: tuple[str, ...]
    """Topics of the file without judgments, in order of appearance."""
    tag: str
    """The last column of the first line."""
    ties: Ties | None = None
    """One entry per hit, where they were asked for."""


class FoundList(NamedTuple):
    """One list as a scanner finds it."""

    topic: int
    length: int
    tied: int
    rank: npt.NDArray[np.int32]
    judgment: npt.NDArray[np.int32]
    ties: Ties | None = None


def assembled(
    lists: Sequence[FoundList], ignored: Sequence[bytes], tag: bytes, with_ties: bool = False
) -> RunHits:
    """The lists by ascending topic in flat arrays."""
    lists = sorted(lists, key=lambda one: one.topic)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one.rank) for one in lists], out=offsets[1:])
    none = np.zeros(0, np.int32)
    return RunHits(
        topic=np.array([one.topic for one in lists], np.int32),
        length=np.array([one.length for one in lists], np.int32),
        offsets=offsets,
        rank=np.concatenate([none, *(one.rank for one in lists)]),
        judgment=np.concatenate([none, *(one.judgment for one in lists)]),
        tied=np.array([one.tied for one in lists], np.int32),
        ignored_topics=tuple(map(to_text, ignored)),
        tag=to_text(tag),
        ties=Ties.joined([one.ties for one in lists if one.ties is not None]) if with_ties else None,
    )


class ReturningTopic(Exception):  # noqa: N818 - a signal between scanners, not an error of the user
    """A topic comes back after another one: its list must be kept until the end of the file."""
