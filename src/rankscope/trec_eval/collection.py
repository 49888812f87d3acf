"""Rankings as trec_eval derives them from judgments and a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Ints
from rankscope.errors import InputError
from rankscope.judging import Lists, Pool
from rankscope.judging.judged import ListArrays, assemble
from rankscope.read import Qrels, Run
from rankscope.read.ids import to_bytes
from rankscope.scan import scan_run
from rankscope.trec_eval.options import Options


class Rankings(NamedTuple):
    """Rankings of a run by topic, and the tag of the run."""

    topics: list[str]
    arrays: ListArrays
    tag: str


def find_rankings(qrels: Qrels, run: Run, options: Options) -> Rankings:
    """Return the rankings of a run, sorted by the bytes of the topic as in trec_eval."""
    hits = scan_run(run, qrels)
    retrieved = {qrels.topics[t] for t in hits.topic.tolist()}
    topics = select_topics(qrels.topics, retrieved, options, run.path or run.name)
    lists = np.array([qrels.topic_index[topic] for topic in topics])
    return Rankings(topics, assemble(qrels, (run.name,), [hits]).arrays.take(lists), hits.tag)


def select_topics(
    judged: Sequence[str], retrieved: Collection[str], options: Options, path: str
) -> list[str]:
    """Return the topics to evaluate: judged topics in the run or, with ``-c``, all judged topics."""
    topics = sorted((topic for topic in judged if options.complete or topic in retrieved), key=to_bytes)
    if not topics:
        hint = "check that the run and the judgments belong to the same collection"
        raise InputError("no topic in common with the judgments", path=path, hint=hint)
    return topics


def build_lists(pool: Pool, topics: Ints, arrays: ListArrays, options: Options) -> Lists:
    """Return the input of measures, cut at the rank of ``-M`` and, with ``-J``, without unjudged documents."""
    # For a missing topic, trec_eval evaluates a ranking of one unjudged document.
    length = np.where(arrays.present, arrays.length, 1)
    lists = Lists(pool, topics, length, arrays.offsets, arrays.rank, arrays.judgment)
    if options.max_rank is not None:
        lists = lists.truncate(options.max_rank)
    return lists.condense() if options.judged_only else lists


def format_relstring(grades: Iterable[int | None]) -> str:
    """Return the grades of a ranking as a string.

    A grade is a digit, ``>`` above 9, ``.`` if negative, and ``-`` if the document is unjudged.

    >>> format_relstring([0, None, 12, -1])
    '0->.'
    """
    return "".join("-" if g is None else "." if g < 0 else str(g) if g < 10 else ">" for g in grades)
