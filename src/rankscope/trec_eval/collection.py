"""Rankings as trec_eval derives them from judgments and a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from rankscope.arrays import Int32s
from rankscope.errors import InputError
from rankscope.judging import Lists, Pool
from rankscope.read import Qrels, Run
from rankscope.read.ids import to_bytes
from rankscope.scan import scan_run
from rankscope.trec_eval.options import Options

Array = Int32s


@dataclass(frozen=True)
class TopicHits:
    """Ranks and judgments of the judged documents in a ranking, and the length of the ranking.

    ``missing`` is True if the run lacks the topic and only ``-c`` includes it.
    """

    rank: Array
    judgment: Array
    length: int
    missing: bool = False

    def truncate(self, options: Options, grade: Array) -> TopicHits:
        """Return the ranking cut at the rank of ``-M`` and, with ``-J``, without unjudged documents."""
        rank, judgment, length = self.rank, self.judgment, self.length
        if options.max_rank is not None:
            keep = rank <= options.max_rank
            rank, judgment, length = rank[keep], judgment[keep], min(length, options.max_rank)
        if options.judged_only:
            judgment = judgment[grade[judgment] >= 0]
            rank, length = np.arange(1, len(judgment) + 1, dtype=np.int32), len(judgment)
        return TopicHits(rank, judgment, length, self.missing)


_NONE = np.zeros(0, np.int32)

# For a missing topic, trec_eval evaluates a ranking of one unjudged document.
_MISSING = TopicHits(_NONE, _NONE, 1, missing=True)


def find_hits(qrels: Qrels, run: Run, options: Options) -> tuple[dict[str, TopicHits], str]:
    """Return the hits of a run by topic, sorted by the bytes of the topic as in trec_eval, and the run's tag."""
    scanned = scan_run(run, qrels)
    hits = {}
    for k, t in enumerate(scanned.topic.tolist()):
        where = slice(scanned.offsets[k], scanned.offsets[k + 1])
        hits[qrels.topics[t]] = TopicHits(
            scanned.rank[where], scanned.judgment[where], int(scanned.length[k])
        )
    ordered = select_topics(qrels.topics, hits, options, run.path or run.name)
    return {topic: hits.get(topic, _MISSING) for topic in ordered}, scanned.tag


def select_topics(
    judged: Sequence[str], retrieved: dict[str, TopicHits] | Sequence[str], options: Options, path: str
) -> list[str]:
    """Return the topics to evaluate: judged topics in the run or, with ``-c``, all judged topics."""
    topics = sorted((topic for topic in judged if options.complete or topic in retrieved), key=to_bytes)
    if not topics:
        hint = "check that the run and the judgments belong to the same collection"
        raise InputError("no topic in common with the judgments", path=path, hint=hint)
    return topics


def build_lists(pool: Pool, topics: Sequence[int], hits: Sequence[TopicHits]) -> Lists:
    """Return the input of measures: one ranking per topic (an index into the pool)."""
    offsets = np.cumsum([0, *(len(topic_hits.rank) for topic_hits in hits)])
    length = np.array([topic_hits.length for topic_hits in hits], np.int32)
    rank, judgment = (np.concatenate([_NONE, *map(attrgetter(name), hits)]) for name in ("rank", "judgment"))
    return Lists(pool, np.array(topics, np.int64), length, offsets, rank, judgment)


def format_relstrings(hits: Sequence[TopicHits], grade: Array, length: int) -> list[str]:
    """Return the first grades of each ranking as a string.

    A grade is a digit, ``>`` above 9, ``.`` if negative, and ``-`` if the document is unjudged.
    """
    strings = []
    for topic_hits in hits:
        characters = ["-"] * min(length, topic_hits.length)
        for rank, g in zip(topic_hits.rank.tolist(), grade[topic_hits.judgment].tolist(), strict=True):
            if rank > len(characters):
                break
            characters[rank - 1] = "." if g < 0 else str(g) if g < 10 else ">"
        strings.append("".join(characters))
    return strings
