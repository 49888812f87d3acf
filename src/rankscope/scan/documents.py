"""The documents at the top of the lists of a run, judged or not, and which ranks of a list share a score.

Most questions need only hits. Those about unjudged documents, and about the likeness of lists, need the ids of as many
documents as they can see, and no more: a file is read list by list.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rankscope.native.scanner import backend_name
from rankscope.read.line_problems import LineProblem
from rankscope.read.orders import is_by_score, score_keys, ties_descend
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run, RunList
from rankscope.read.source import Source
from rankscope.scan import native
from rankscope.scan.hits import TieGroups

__all__ = ["first_documents", "tie_groups", "top_list", "top_lists"]

Int32s = npt.NDArray[np.int32]


def first_documents(run: Run, qrels: Qrels, depth: int) -> Iterator[tuple[int, list[bytes]]]:
    """Of each judged topic, by its number, the documents down to a depth, and all others that share the last one's
    score; those with equal scores in no order that means anything.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> [(topic, sorted(found)) for topic, found in first_documents(run, Qrels.from_dict({"q": {"d": 1}}), 2)]
    [(0, [b'a', b'b', b'c'])]
    """
    for topic, documents, _ in _tops(run, qrels, depth):
        yield topic, documents


def top_lists(run: Run, qrels: Qrels, depth: int) -> Iterator[native.Top]:
    """Of each judged topic, by its number, the documents down to a depth, in the ordering of the run, and the first
    rank at which the score of each occurs.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> list(top_lists(run, Qrels.from_dict({"q": {"d": 1}}), 2))
    [(0, [b'a', b'c'], array([1, 2], dtype=int32))]
    """
    for topic, documents, first in _tops(run, qrels, depth):
        starts = np.flatnonzero(np.diff(first, prepend=0))
        if len(starts) < len(first):
            for start, stop in zip(starts, [*starts[1:], len(first)], strict=True):
                documents[start:stop] = sorted(documents[start:stop], reverse=ties_descend(run.order))
        yield topic, documents[:depth], first[:depth]


def _tops(run: Run, qrels: Qrels, depth: int) -> Iterator[native.Top]:
    run = run.loaded()
    if run.source is None or run.in_memory or backend_name() != "native" or not native.gives_documents():
        for topic, one in run.each_list():
            if topic in qrels.topic_index:
                yield qrels.topic_index[topic], *top_list(one, run.order, depth)
        return
    text = Source.of(run.source, run.label)
    try:
        yield from native.documents_in_source(text, qrels, run.order, depth)
    except LineProblem as problem:
        text.check_unchanged()
        raise problem.located(text.label) from None


def top_list(one: RunList, order: str, depth: int) -> tuple[list[bytes], Int32s]:
    """The documents of a list down to a depth, and the others with the score of the last; and the first ranks at which
    these scores occur."""
    rank = np.arange(1, len(one.documents) + 1, dtype=np.int32)
    keys = score_keys(one.scores, order)
    if keys is None:
        return one.documents[:depth], rank[:depth]
    fresh = np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]
    reach = depth + int(np.argmax(np.append(fresh[depth:], True)))
    return one.documents[:reach], np.maximum.accumulate(np.where(fresh, rank, 0))[:reach].astype(np.int32)


def tie_groups(run: Run, qrels: Qrels) -> dict[int, tuple[Int32s, Int32s]]:
    """Of each judged topic, by its number, the first ranks and the sizes of the groups of documents with equal scores.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> tie_groups(run, Qrels.from_dict({"q": {"d": 1}}))
    {0: (array([2], dtype=int32), array([2], dtype=int32))}
    """
    if not is_by_score(run.order):
        return {}
    return {
        qrels.topic_index[topic]: TieGroups.in_list(score_keys(one.scores, run.order))
        for topic, one in run.each_list()
        if topic in qrels.topic_index
    }
