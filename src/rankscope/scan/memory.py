"""Lists in memory (dicts, frames) against the judgments: the same hits as from a file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from rankscope.read.orders import in_32_bits, score_keys
from rankscope.read.qrels import Qrels
from rankscope.read.runs import RunList
from rankscope.scan.hits import RunHits, Ties

__all__ = ["hits_in_memory", "ranks_of_judged"]


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


def ranks_of_judged(
    scores: Mapping[str, float], judged: Mapping[str, int]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Where judged documents stand in a list ``{document: score}``, and their numbers: the ordering ``trec_eval9``.

    Only the judged documents are looked at one by one, and those that are tied with one of them.

    >>> ranks_of_judged({"d1": 1.0, "d2": 3.0, "d3": 1.0}, {"d1": 7, "d9": 8})
    (array([3], dtype=int32), array([7], dtype=int32))
    """
    names = [name for name in judged if name in scores]
    values = in_32_bits(np.fromiter(scores.values(), np.float64, len(scores)))
    mine = in_32_bits(np.fromiter(map(scores.__getitem__, names), np.float64, len(names)))
    falling = np.sort(-values)
    before = np.searchsorted(falling, -mine, side="left")
    tied = np.flatnonzero(np.searchsorted(falling, -mine, side="right") - before > 1).tolist()
    if tied:
        groups: dict[float, list[str]] = {float(mine[i]): [] for i in tied}
        for name, value in zip(scores, values.tolist(), strict=True):
            if value in groups:
                groups[value].append(name)
        place = {name: i for group in groups.values() for i, name in enumerate(sorted(group, reverse=True))}
        before[tied] += [place[names[i]] for i in tied]
    order = np.argsort(before)
    number = np.fromiter(map(judged.__getitem__, names), np.int32, len(names))
    return (before[order] + 1).astype(np.int32), number[order]
