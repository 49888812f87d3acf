"""Ids of the documents at the top of rankings, judged or not, and groups of tied ranks.

Most analyses need only hits. Analyses of unjudged documents and of ranking similarity need ids down to a depth;
files are read one ranking at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rankscope.arrays import Int32s
from rankscope.native.scanner import backend_name
from rankscope.native.scans import Top
from rankscope.read.lines import locate_problems
from rankscope.read.orders import is_by_score, score_keys, ties_descend
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run, RunList
from rankscope.read.source import Source
from rankscope.scan import native
from rankscope.scan.hits import TieGroups


def first_documents(run: Run, qrels: Qrels, depth: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of every judged topic, and its documents down to a depth.

    Documents tied with the last one are included; the order of tied documents is arbitrary.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> [(topic, sorted(documents)) for topic, documents in first_documents(run, Qrels.from_dict({"q": {"d": 1}}), 2)]
    [(0, [b'a', b'b', b'c'])]
    """
    for topic, documents, _ in _tops(run, qrels, depth):
        yield topic, documents


def top_lists(run: Run, qrels: Qrels, depth: int) -> Iterator[Top]:
    """Yield the number of every judged topic, its documents down to a depth, and the first rank with each score.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> list(top_lists(run, Qrels.from_dict({"q": {"d": 1}}), 2))
    [(0, [b'a', b'c'], array([1, 2], dtype=int32))]
    """
    descend = ties_descend(run.order)
    for topic, documents, first in _tops(run, qrels, depth):
        for rank, more in Counter(first[1:][first[1:] == first[:-1]].tolist()).items():
            tied = slice(rank - 1, rank + more)
            documents[tied] = sorted(documents[tied], reverse=descend)
        yield topic, documents[:depth], first[:depth]


def _tops(run: Run, qrels: Qrels, depth: int) -> Iterator[Top]:
    run = run.load()
    if run.source is None or run.in_memory or backend_name() != "native":
        for topic, ranking in run.iterate_lists():
            if topic in qrels.topic_index:
                yield qrels.topic_index[topic], *top_list(ranking, run.order, depth)
        return
    text = Source.open(run.source, run.label)
    with locate_problems(text):
        yield from native.scan_documents(text, qrels, run.order, depth)


def top_list(ranking: RunList, order: str, depth: int) -> tuple[list[bytes], Int32s]:
    """Return the documents of a ranking down to a depth, those tied with the last, and the first rank of each score."""
    rank = np.arange(1, len(ranking.documents) + 1, dtype=np.int32)
    keys = score_keys(ranking.scores, order)
    if keys is None:
        return ranking.documents[:depth], rank[:depth]
    is_first = np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]
    end = depth + int(np.argmax(np.append(is_first[depth:], True)))
    first = np.maximum.accumulate(np.where(is_first, rank, 0))[:end].astype(np.int32)
    return ranking.documents[:end], first


def tie_groups(run: Run, qrels: Qrels) -> dict[int, tuple[Int32s, Int32s]]:
    """Return first ranks and sizes of the groups of tied documents, by the number of the judged topic.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> tie_groups(run, Qrels.from_dict({"q": {"d": 1}}))
    {0: (array([2], dtype=int32), array([2], dtype=int32))}
    """
    if not is_by_score(run.order):
        return {}
    return {
        qrels.topic_index[topic]: TieGroups.in_list(score_keys(ranking.scores, run.order))
        for topic, ranking in run.iterate_lists()
        if topic in qrels.topic_index
    }
