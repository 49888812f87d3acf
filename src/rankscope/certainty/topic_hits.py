"""Hits of all runs by topic, with the documents that labels and orders can change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankscope.arrays import Bools, Ints
from rankscope.certainty.labels import unjudged_counts
from rankscope.judging import Judged

ABSENT = np.iinfo(np.int32).max
"""The rank of a document in a list that does not hold it."""


class TopicHits(NamedTuple):
    """Documents of a topic that are listed in the judgments, in the lists of all runs."""

    topic: int
    run: Ints
    document: Ints
    """Indices among the documents of the topic."""
    rank: Ints
    first: Ints
    last: Ints
    """First and last rank of the tie group."""
    is_open: Bools
    """Whether the document is unjudged, or has a negative grade."""
    deep: int
    """Maximum over lists of the number of unjudged documents that the judgments do not list."""

    @property
    def union(self) -> Ints:
        """Unjudged documents that some list contains."""
        return np.unique(self.document[self.is_open])

    @property
    def has_open_ties(self) -> bool:
        """Whether some unjudged document shares its score."""
        return bool((self.last > self.first)[self.is_open].any())


def hits_by_topic(judged: Judged) -> list[TopicHits]:
    """Return the hits of each topic."""
    width = len(judged.topics)
    number = judged.arrays.owner
    order = np.argsort(number % width, kind="stable")
    number = number[order]
    judgment, rank = judged.judgment[order].astype(np.int64), judged.rank[order].astype(np.int64)
    first, last = rank, rank
    if judged.ties is not None:
        first = judged.ties.first[order].astype(np.int64)
        last = first + judged.ties.size[order] - 1
    is_open = judged.qrels.grade[judgment] < 0
    bounds = np.searchsorted(number % width, np.arange(width + 1))
    deep = unjudged_counts(judged) - np.bincount(number[is_open], minlength=len(judged.length))
    deepest = judged.grid(deep).max(axis=0)
    run, document = number // width, judgment - judged.qrels.topic_offsets[number % width]
    return [
        TopicHits(t, run[part], document[part], rank[part], first[part], last[part], is_open[part], int(deepest[t]))
        for t, part in enumerate(slice(bounds[t], bounds[t + 1]) for t in range(width))
    ]  # fmt: skip


def fixed_ranks(hits: TopicHits, is_relevant: Bools, best_first: bool) -> Ints:
    """Return the ranks of an order in which every group has relevant, then unjudged, then other documents, or the
    reverse."""
    key = np.where(is_relevant, 2, np.where(hits.is_open, 1, 0))
    order = np.lexsort((-key if best_first else key, hits.first, hits.run))
    group = hits.run[order] * (int(hits.first.max(initial=0)) + 1) + hits.first[order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    offset = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    rank = np.empty_like(hits.rank)
    rank[order] = hits.first[order] + offset
    return rank


def group_ranks(hits: TopicHits, rank: Ints, best_first: bool) -> Ints:
    """Return for each unjudged document the best, or the worst, rank that one of its group has in this order."""
    key = hits.run * (int(hits.first.max(initial=0)) + 1) + hits.first
    open_hits = np.flatnonzero(hits.is_open)
    group, group_index = np.unique(key[open_hits], return_inverse=True)
    end = np.full(len(group), ABSENT if best_first else 0)
    (np.minimum if best_first else np.maximum).at(end, group_index, rank[open_hits])
    result = rank.copy()
    result[open_hits] = end[group_index]
    return result
