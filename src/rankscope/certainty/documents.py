"""Judgments extended by unjudged retrieved documents, all groups of equal scores, and the hits of all runs by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import Bools, Ints
from rankscope.certainty.labels import unjudged_counts
from rankscope.judging import UNJUDGED, EvaluationOptions, Judged, judge
from rankscope.measures.base import Measure, declared_form
from rankscope.measures.forms import ShareOfIdeal, Weighted
from rankscope.read import Qrels, Runs
from rankscope.scan import TieGroups, first_documents, tie_groups

EVERY = np.iinfo(np.int32).max
"""A depth beyond every list."""

SMALL = 10_000
"""Maximum number of retrieved documents for which all are included, so that more ranges are exact."""


def with_unjudged(
    qrels: Qrels, runs: Runs, measures: Sequence[Measure], *, depth: int = 0, **options: Any
) -> Judged:
    """Return the lists under judgments extended by every document whose label can change a measure.

    All documents down to ``depth`` are included; ``options`` are those of :func:`rankscope.judge`.

    For sums of gain times weight, the documents with a weight are enough, provided that a topic has enough other
    unjudged documents to fill the ideal ranking.
    """
    depth = max([depth, *map(deepest_weight, measures)])
    judged = judge(with_documents(qrels, runs, depth), runs, ties=True, **options)
    judged = replace(judged, known_depth=depth, options=EvaluationOptions(unjudged="bounds"))
    if has_unjudged(judged, measures):
        return judged
    return with_unjudged(qrels, runs, measures, depth=EVERY, **options)


def is_small(judged: Judged) -> bool:
    """Return whether the rankings are so short that all unjudged documents are included."""
    return bool(judged.length.sum() <= SMALL)


def has_unjudged(judged: Judged, measures: Sequence[Measure]) -> bool:
    """Return whether lists include the unjudged documents that these measures need (:func:`with_unjudged`)."""
    depth = EVERY if is_small(judged) else max(map(deepest_weight, measures), default=0)
    if judged.ties is None or judged.known_depth < depth:
        return False
    shares = [measure.cutoff for measure in measures if isinstance(declared_form(measure), ShareOfIdeal)]
    return judged.known_depth == EVERY or not shares or _fills_ideal(judged, max(shares))


def _fills_ideal(judged: Judged, depth: int) -> bool:
    """Return whether each topic has no further unjudged documents, or at least as many as an ideal ranking."""
    is_open = judged.qrels.grade[judged.judgment] < 0
    owner = judged.arrays.owner
    hidden = unjudged_counts(judged) - np.bincount(owner[is_open], minlength=len(judged.length))
    hidden = judged.grid(hidden).max(axis=0)
    documents = np.unique(judged.judgment[is_open])
    topic_index = np.searchsorted(judged.qrels.topic_offsets, documents, side="right") - 1
    n_seen = np.bincount(topic_index, minlength=len(judged.topics))
    return bool(((hidden == 0) | (n_seen + hidden >= depth)).all())


def deepest_weight(measure: Measure) -> int:
    """Return the last rank with weight in a sum of gain times weight; :data:`EVERY` for other measures.

    >>> from rankscope.measures import measure
    >>> [deepest_weight(measure(name)) for name in ("nDCG@10", "RBP(p=0.5)")]
    [10, 1074]
    """
    form = declared_form(measure)
    if not isinstance(form, Weighted) or measure.needs_aspects or measure.better != "higher":
        return EVERY
    low, high = 0, int(min(measure.cutoff or EVERY, EVERY))
    if form.weights(measure, np.array([high]))[0] > 0:
        return high
    while high - low > 1:  # Bisection is valid because weights never increase with the rank.
        middle = (low + high) // 2
        low, high = (middle, high) if form.weights(measure, np.array([middle]))[0] > 0 else (low, middle)
    return max(1, low)


def with_documents(qrels: Qrels, runs: Runs, depth: int = EVERY) -> Qrels:
    """Return the judgments extended by the documents of all lists down to a depth, without a grade.

    Documents with the same score as the document at that depth are included.

    >>> from rankscope.read import Run
    >>> more = with_documents(Qrels.from_dict({"q": {"b": 1}}), Runs([Run.from_dict({"q": {"c": 2.0, "a": 1.0}})]))
    >>> more.documents, more.judgments("q")
    ([b'a', b'b', b'c'], {'b': 1})
    """
    by_topic: list[set[bytes]] = [set() for _ in qrels.topics]
    for run in runs.values():
        for t, retrieved in first_documents(run, qrels, depth):
            by_topic[t].update(retrieved)
    documents: list[bytes] = []
    offsets = [0]
    position = np.empty(len(qrels), np.int64)
    for t, names in enumerate(by_topic):
        start, stop = int(qrels.topic_offsets[t]), int(qrels.topic_offsets[t + 1])
        judged = qrels.documents[start:stop]
        listed = sorted(names.union(judged))
        at = {name: offsets[-1] + i for i, name in enumerate(listed)}
        position[start:stop] = [at[name] for name in judged]
        documents += listed
        offsets.append(len(documents))
        names.clear()
    grade = np.full(len(documents), UNJUDGED, np.int32)
    grade[position] = qrels.grade
    aspects = qrels.aspects
    if aspects is not None:
        aspects = replace(aspects, document=position[aspects.document].astype(np.int32))
    return replace(
        qrels, topic_offsets=np.array(offsets, np.int64), documents=documents, grade=grade, aspects=aspects
    )


def with_groups(judged: Judged, runs: Runs) -> Judged:
    """Return the lists with all their groups of equal scores, judged or not, if there are any."""
    if not judged.tied.any():
        return judged
    width = len(judged.topics)
    lists = {
        r * width + t: groups
        for r, run in enumerate(runs.values())
        for t, groups in tie_groups(run, judged.qrels).items()
    }
    return replace(
        judged, arrays=replace(judged.arrays, groups=TieGroups.from_lists(lists, len(judged.length)))
    )


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
        """Unjudged documents that some ranking contains."""
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
