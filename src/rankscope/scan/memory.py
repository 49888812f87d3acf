"""Lists in memory (dicts, frames) against the judgments: the same hits as from a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

from rankscope.read.orders import in_32_bits, score_keys
from rankscope.read.qrels import UNJUDGED, Qrels
from rankscope.read.runs import RunList
from rankscope.scan.hits import RunHits, Ties

__all__ = ["hits_in_memory", "ranks_of_judged"]

Ints = npt.NDArray[np.int32]
Found = tuple[Ints, Ints, npt.NDArray[np.int64]]
"""Ranks, grades and offsets."""

_FEW, _SHORT = 60, 100
"""Up to so many documents in all lists are looked at in plain Python; lists up to such a length are sorted all at once;
longer ones are sorted one by one, and only their judged documents looked at."""


def hits_in_memory(
    lists: Mapping[str, RunList], qrels: Qrels, order: str, name: str, ties: bool = False
) -> RunHits:
    """The hits of lists, by topic, in an ordering; ``name`` takes the place of the tag."""
    found = sorted(qrels.topic_index[topic] for topic in lists if topic in qrels.topic_index)
    ranks, judgments, offsets, lengths, tied, groups = [], [], [0], [], [], []
    for t in found:
        one = lists[qrels.topics[t]].ordered(order)
        start, stop = int(qrels.topic_offsets[t]), int(qrels.topic_offsets[t + 1])
        place = {document: start + i for i, document in enumerate(qrels.documents[start:stop])}
        where = [place.get(document, -1) for document in one.documents]
        index = np.array(where, np.int32)
        hits = np.flatnonzero(index >= 0)
        ranks.append((hits + 1).astype(np.int32))
        judgments.append(index[hits])
        offsets.append(offsets[-1] + len(hits))
        lengths.append(len(where))
        scores = score_keys(one.scores, order)
        tied.append(_count_tied(one.scores if scores is None else scores))
        if ties:
            groups.append(Ties.of(scores, ranks[-1]))
    return RunHits(
        topic=np.array(found, np.int32),
        length=np.array(lengths, np.int32),
        offsets=np.array(offsets, np.int64),
        rank=np.concatenate(ranks) if ranks else np.zeros(0, np.int32),
        judgment=np.concatenate(judgments) if judgments else np.zeros(0, np.int32),
        tied=np.array(tied, np.int32),
        ignored_topics=tuple(topic for topic in lists if topic not in qrels.topic_index),
        tag=name,
        ties=Ties.joined(groups) if ties else None,
    )


def _count_tied(scores: npt.NDArray[np.floating] | None) -> int:
    if scores is None:
        return 0
    _, counts = np.unique(scores, return_counts=True)
    return int(counts[counts > 1].sum())


def ranks_of_judged(lists: Sequence[Mapping[str, float]], judged: Sequence[Mapping[str, int]]) -> Found:
    """Where judged documents stand in lists ``{document: score}``, in the ordering ``trec_eval9``, and their grades.

    ``judged`` has the grades of each list's topic, or any other whole numbers. The hits of list l are
    ``offsets[l]:offsets[l + 1]``, by rank.

    >>> ranks_of_judged([{"d1": 1.0, "d2": 3.0, "d3": 1.0}], [{"d1": 7, "d9": 8}])
    (array([3], dtype=int32), array([7], dtype=int32), array([0, 1]))
    """
    lengths = [*map(len, lists)]
    if max(lengths, default=0) > _SHORT:
        return _in_long_lists(lists, judged)
    if sum(lengths) > _FEW:
        return _in_short_lists(lists, judged, lengths)
    return _in_few_lists(lists, judged)


def _in_few_lists(lists: Sequence[Mapping[str, float]], judged: Sequence[Mapping[str, int]]) -> Found:
    """One after the other, in plain Python."""
    rank, grade, offsets = [], [], [0]
    for one, known in zip(lists, judged, strict=True):
        for place, name in enumerate(_ranked(one), 1):
            if name in known:
                rank.append(place)
                grade.append(known[name])
        offsets.append(len(rank))
    return np.array(rank, np.int32), np.array(grade, np.int32), np.array(offsets)


def _in_short_lists(
    lists: Sequence[Mapping[str, float]], judged: Sequence[Mapping[str, int]], lengths: Sequence[int]
) -> Found:
    """As rows of one table, which are padded at their ends and sorted all at once."""
    size = sum(lengths)
    there = np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]
    values = np.full(there.shape, np.inf, np.float32)  # the sort is stable: the padding stays at the end
    values[there] = _ascending(chain.from_iterable(one.values() for one in lists), size)
    order = values.argsort(axis=1, kind="stable")
    # the grade of every document, without a loop in Python
    grades = chain.from_iterable(map(map, (known.get for known in judged), lists, repeat(repeat(UNJUDGED))))
    grade = np.full(there.shape, UNJUDGED, np.int32)
    grade[there] = np.fromiter(grades, np.int32, size)
    row = np.arange(len(lists))[:, np.newaxis]
    values, grade = values[row, order], grade[row, order]
    for i in np.flatnonzero(((values[:, 1:] == values[:, :-1]) & there[:, 1:]).any(axis=1)).tolist():
        grade[i, : lengths[i]] = [judged[i].get(name, UNJUDGED) for name in _ranked(lists[i])]
    owner, place = (grade != UNJUDGED).nonzero()
    offsets = np.searchsorted(owner, np.arange(len(lists) + 1))
    return (place + 1).astype(np.int32), grade[owner, place], offsets


def _ranked(one: Mapping[str, float]) -> list[str]:
    """The documents of a list from the top; of equal scores the greater id first."""
    values = (-_ascending(one.values(), len(one))).tolist()
    return [name for _, name in sorted(zip(values, one, strict=True), reverse=True)]


def _ascending(scores: Iterable[float], size: int) -> npt.NDArray[np.float32]:
    """Numbers that ascend where scores, as 32 bits, descend; what is no number counts as the lowest score."""
    values = -in_32_bits(np.fromiter(scores, np.float64, size))
    values[np.isnan(values)] = np.inf
    return values


def _in_long_lists(lists: Sequence[Mapping[str, float]], judged: Sequence[Mapping[str, int]]) -> Found:
    """Only the judged documents are looked at one by one, and those that are tied with one of them."""
    found = [
        [name for name in known if name in one]
        if len(known) < len(one)
        else [name for name in one if name in known]
        for one, known in zip(lists, judged, strict=True)
    ]
    start = np.cumsum([0, *map(len, lists)])
    offsets = np.cumsum([0, *map(len, found)])
    size = int(offsets[-1])
    values = _ascending(chain.from_iterable(one.values() for one in lists), int(start[-1]))
    scored = (one[name] for one, names in zip(lists, found, strict=True) for name in names)
    mine = _ascending(scored, size)
    grades = (known[name] for known, names in zip(judged, found, strict=True) for name in names)
    grade = np.fromiter(grades, np.int32, size)
    before = np.empty(size, np.int64)
    bounds, places = start.tolist(), offsets.tolist()
    for i, names in enumerate(found):
        if names:
            here = slice(places[i], places[i + 1])
            segment = np.array(values[bounds[i] : bounds[i + 1]])
            segment.sort()
            before[here] = segment.searchsorted(mine[here])
            tied = np.flatnonzero(segment.searchsorted(mine[here], "right") - before[here] > 1)
            if len(tied):
                before[here] += _places_in_ties(
                    lists[i], values[bounds[i] : bounds[i + 1]], names, mine[here], tied.tolist()
                )
    order = np.lexsort((before, np.repeat(np.arange(len(lists)), np.diff(offsets))))
    return (before[order] + 1).astype(np.int32), grade[order], offsets


def _places_in_ties(
    scores: Mapping[str, float],
    values: npt.NDArray[np.float32],
    names: Sequence[str],
    mine: npt.NDArray[np.float32],
    tied: Sequence[int],
) -> npt.NDArray[np.int64]:
    """How many documents with the same score stand above each named one: those whose ids are greater."""
    groups: dict[float, list[str]] = {float(mine[i]): [] for i in tied}
    for name, value in zip(scores, values.tolist(), strict=True):
        if value in groups:
            groups[value].append(name)
    place = {name: i for group in groups.values() for i, name in enumerate(sorted(group, reverse=True))}
    above = np.zeros(len(names), np.int64)
    above[list(tied)] = [place[names[i]] for i in tied]
    return above
