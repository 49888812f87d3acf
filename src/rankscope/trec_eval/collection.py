"""Lists as trec_eval makes them of judgments and a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankscope.errors import InputError
from rankscope.judging import Lists, Pool
from rankscope.read import Qrels, Run
from rankscope.read.ids import to_bytes
from rankscope.scan import hits_of
from rankscope.trec_eval.options import Options

__all__ = ["Found", "find", "lists_of", "relstrings", "topics_of"]

Array = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Found:
    """What a run has for one topic: the ranks and judgments of its judged documents, and how many there are in all.

    ``missing`` says that the run lacks the topic and only ``-c`` brings it in.
    """

    rank: Array
    judgment: Array
    length: int
    missing: bool = False

    def as_cut(self, options: Options, grade: Array) -> Found:
        """The list under ``-M`` (only so many documents) and ``-J`` (only those that were judged)."""
        rank, judgment, length = self.rank, self.judgment, self.length
        if options.deepest is not None:
            keep = rank <= options.deepest
            rank, judgment, length = rank[keep], judgment[keep], min(length, options.deepest)
        if options.judged_only:
            judgment = judgment[grade[judgment] >= 0]
            rank, length = np.arange(1, len(judgment) + 1, dtype=np.int32), len(judgment)
        return Found(rank, judgment, length, self.missing)


_NONE = np.zeros(0, np.int32)

# for a missing topic trec_eval evaluates a list of one document that nobody judged
_MISSING = Found(_NONE, _NONE, 1, missing=True)


def find(qrels: Qrels, run: Run, options: Options) -> tuple[dict[str, Found], str]:
    """The lists of a run by topic, in the order of trec_eval (bytes of the topic), and the run's tag."""
    scanned = hits_of(run, qrels)
    lists = {}
    for k, t in enumerate(scanned.topic.tolist()):
        where = slice(scanned.offsets[k], scanned.offsets[k + 1])
        lists[qrels.topics[t]] = Found(scanned.rank[where], scanned.judgment[where], int(scanned.length[k]))
    ordered = topics_of(qrels.topics, lists, options, run.path or run.name)
    return {topic: lists.get(topic, _MISSING) for topic in ordered}, scanned.tag


def topics_of(
    judged: Sequence[str], found: dict[str, Found] | Sequence[str], options: Options, path: str
) -> list[str]:
    """The topics to evaluate: those of the run that have judgments; with ``-c`` all that have judgments."""
    topics = sorted((topic for topic in judged if options.complete or topic in found), key=to_bytes)
    if not topics:
        raise InputError(
            "no topic in common with the judgments",
            path=path,
            hint="check that the run and the judgments belong to the same collection",
        )
    return topics


def lists_of(pool: Pool, topics: Sequence[int], found: Sequence[Found]) -> Lists:
    """Lists for measures, one for each topic (an index into the pool)."""
    offsets = np.cumsum([0, *(len(one.rank) for one in found)])
    return Lists(
        pool,
        np.array(topics, np.int64),
        np.array([one.length for one in found], np.int32),
        offsets,
        np.concatenate([_NONE, *(one.rank for one in found)]),
        np.concatenate([_NONE, *(one.judgment for one in found)]),
    )


def relstrings(found: Sequence[Found], grade: Array, length: int) -> list[str]:
    """The first grades of each list as a string: a digit, ``>`` above 9, ``-`` unjudged, ``.`` for a negative grade."""
    strings = []
    for one in found:
        shown = ["-"] * min(length, one.length)
        for rank, g in zip(one.rank.tolist(), grade[one.judgment].tolist(), strict=True):
            if rank > len(shown):
                break
            shown[rank - 1] = "." if g < 0 else str(g) if g < 10 else ">"
        strings.append("".join(shown))
    return strings
