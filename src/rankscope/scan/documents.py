"""The documents at the top of the lists of a run, judged or not, and which ranks of a list share a score.

Most questions need only hits. Those about unjudged documents need the ids of as many documents as a measure can see,
and no more: a file is read list by list.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rankscope.read.orders import score_keys
from rankscope.read.qrels import Qrels
from rankscope.read.run_text import LineProblem
from rankscope.read.runs import Run, RunList
from rankscope.read.source import Source
from rankscope.scan import native
from rankscope.scan.backends import backend_name
from rankscope.scan.hits import TieGroups

__all__ = ["first_documents", "tie_groups"]

Int32s = npt.NDArray[np.int32]


def first_documents(run: Run, qrels: Qrels, depth: int) -> Iterator[tuple[int, list[bytes]]]:
    """Of each judged topic, by its number, the documents down to a depth, and all others that share the last one's
    score; in no order that means anything.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> [(topic, sorted(found)) for topic, found in first_documents(run, Qrels.from_dict({"q": {"d": 1}}), 2)]
    [(0, [b'a', b'b', b'c'])]
    """
    run = run.loaded()
    if (
        run.source is not None
        and not run.in_memory
        and backend_name() == "native"
        and native.gives_documents()
    ):
        text = Source.of(run.source, run.label)
        try:
            yield from native.documents_in_source(text, qrels, run.order, depth)
        except LineProblem as problem:
            text.check_unchanged()
            raise problem.located(text.label) from None
        return
    for topic, one in run.each_list():
        if topic in qrels.topic_index:
            yield qrels.topic_index[topic], one.documents[: _reach(one, run.order, depth)]


def _reach(one: RunList, order: str, depth: int) -> int:
    """How many documents that is."""
    keys = score_keys(one.scores, order)
    if keys is None or depth >= len(keys) or depth < 1:
        return depth
    return depth + int(np.argmax(np.append(keys[depth:] != keys[depth - 1], True)))


def tie_groups(run: Run, qrels: Qrels) -> dict[int, tuple[Int32s, Int32s]]:
    """Of each judged topic, by its number, the first ranks and the sizes of the groups of documents with equal scores.

    >>> run = Run.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}})
    >>> tie_groups(run, Qrels.from_dict({"q": {"d": 1}}))
    {0: (array([2], dtype=int32), array([2], dtype=int32))}
    """
    if run.order in ("rank", "file"):
        return {}
    return {
        qrels.topic_index[topic]: TieGroups.in_list(score_keys(one.scores, run.order))
        for topic, one in run.each_list()
        if topic in qrels.topic_index
    }
