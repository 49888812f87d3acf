"""Hits of a run, as scanners return them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.arrays import Int32s, take_spans


def _concatenate(arrays: Iterable[Int32s]) -> Int32s:
    return np.concatenate([np.zeros(0, np.int32), *arrays])


def _group_starts(scores: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the index of the first of every group of equal scores."""
    return np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))


class Ties(NamedTuple):
    """For every hit the group of documents with its score, judged or not, itself included.

    Under the orderings ``rank`` and ``file`` every hit is alone.
    """

    first: Int32s
    """Rank of the first document of the group."""
    size: Int32s

    def take(self, index: npt.NDArray[np.integer]) -> Ties:
        """Return the ties of some hits, by their indices."""
        return Ties(self.first[index], self.size[index])

    @classmethod
    def concatenate(cls, parts: Sequence[Ties]) -> Ties:
        """Join the ties of several runs or parts."""
        if len(parts) == 1:
            return parts[0]
        return cls(_concatenate(part.first for part in parts), _concatenate(part.size for part in parts))

    @classmethod
    def from_scores(cls, scores: npt.NDArray[np.floating] | None, rank: Int32s) -> Ties:
        """Return the ties of the hits at ``rank``; ``scores`` are the scores from rank 1 on, or None without ties.

        >>> Ties.from_scores(np.array([3.0, 2.0, 2.0, 1.0]), np.array([1, 3], np.int32))
        Ties(first=array([1, 2], dtype=int32), size=array([1, 2], dtype=int32))
        """
        if scores is None:
            return cls(rank, np.ones_like(rank))
        starts = _group_starts(scores)
        group = np.searchsorted(starts, rank, side="left") - 1
        size = np.diff(starts, append=len(scores))
        return cls((starts[group] + 1).astype(np.int32), size[group].astype(np.int32))


class TieGroups(NamedTuple):
    """Groups of two or more documents with equal scores, judged or not.

    The groups of ranking l are ``offsets[l]:offsets[l + 1]``, by rank.
    """

    offsets: npt.NDArray[np.int64]
    first: Int32s
    """Rank of the first document of a group."""
    size: Int32s

    @classmethod
    def from_lists(cls, lists: Mapping[int, tuple[Int32s, Int32s]], n_lists: int) -> TieGroups:
        """Combine the groups of rankings, by the number of the ranking; the other rankings have no ties."""
        count = np.zeros(n_lists + 1, np.int64)
        for number, (first, _) in lists.items():
            count[number + 1] = len(first)
        groups = [lists[number] for number in sorted(lists)]
        return cls(
            np.cumsum(count),
            _concatenate(first for first, _ in groups),
            _concatenate(size for _, size in groups),
        )

    @classmethod
    def in_list(cls, scores: npt.NDArray[np.floating] | None) -> tuple[Int32s, Int32s]:
        """Return first ranks and sizes of the groups; ``scores`` are those from rank 1 on, or None without ties.

        >>> TieGroups.in_list(np.array([3.0, 2.0, 2.0, 1.0]))
        (array([2], dtype=int32), array([2], dtype=int32))
        """
        if scores is None or not len(scores):
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        starts = _group_starts(scores)
        size = np.diff(starts, append=len(scores))
        return (starts[size > 1] + 1).astype(np.int32), size[size > 1].astype(np.int32)

    def by_rank(self, number: int, length: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return, for every rank of a ranking, the first rank and the size of its tie group."""
        part = slice(self.offsets[number], self.offsets[number + 1])
        first, size = np.arange(1, length + 1), np.ones(length, np.int64)
        for start, count in zip(self.first[part].tolist(), self.size[part].tolist(), strict=True):
            group = slice(start - 1, start - 1 + count)
            first[group], size[group] = start, count
        return first, size

    def take(self, numbers: npt.NDArray[np.integer]) -> TieGroups:
        """Return the groups of some rankings."""
        offsets, index = take_spans(self.offsets, numbers)
        return TieGroups(offsets, self.first[index], self.size[index])


class RunHits(NamedTuple):
    """Ranks of the judged documents of a run, for the judged topics that occur in it.

    The hits of ranking k, for topic ``topic[k]``, are ``offsets[k]:offsets[k + 1]``; ``judgment`` is an index into the
    judged documents of the qrels.
    """

    topic: Int32s
    """Indices into the topics of the qrels, ascending."""
    length: Int32s
    """Number of retrieved documents."""
    offsets: npt.NDArray[np.int64]
    rank: Int32s
    """Ranks from 1 on, ascending within a ranking, in the chosen ordering."""
    judgment: Int32s
    tied: Int32s
    """Number of documents of the ranking that share their score with another one."""
    ignored_topics: tuple[str, ...]
    """Topics of the run without judgments, in order of appearance."""
    tag: str
    """Last column of the first line."""
    ties: Ties | None = None
    """Ties of every hit, if requested."""


class ListHits(NamedTuple):
    """Hits of one ranking."""

    topic: int
    length: int
    tied: int
    rank: Int32s
    judgment: Int32s
    ties: Ties | None = None


def assemble_hits(
    lists: Sequence[ListHits], ignored: Iterable[str], tag: str, with_ties: bool = False
) -> RunHits:
    """Combine the hits of rankings, sorted by topic, in flat arrays."""
    lists = sorted(lists, key=lambda ranking: ranking.topic)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(ranking.rank) for ranking in lists], out=offsets[1:])
    return RunHits(
        topic=np.array([ranking.topic for ranking in lists], np.int32),
        length=np.array([ranking.length for ranking in lists], np.int32),
        offsets=offsets,
        rank=_concatenate(ranking.rank for ranking in lists),
        judgment=_concatenate(ranking.judgment for ranking in lists),
        tied=np.array([ranking.tied for ranking in lists], np.int32),
        ignored_topics=tuple(ignored),
        tag=tag,
        ties=Ties.concatenate([r.ties for r in lists if r.ties is not None]) if with_ties else None,
    )
