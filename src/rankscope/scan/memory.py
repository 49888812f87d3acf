"""Find the hits of rankings in memory (dicts, frames), with the same results as from files."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import Any

import numpy as np

from rankscope.arrays import Floats, Ints, NDArray
from rankscope.errors import InputError
from rankscope.native import memory as native
from rankscope.read.ids import key_text, to_bytes
from rankscope.read.orders import is_by_score, permutation, score_keys, ties_descend
from rankscope.read.qrels import Qrels
from rankscope.read.runs import Run, RunList
from rankscope.scan.hits import ListHits, RunHits, Ties, assemble_hits


def match_run(run: Run, qrels: Qrels, ties: bool = False) -> RunHits:
    """Find the hits of a run in memory."""
    data = run.data or {}
    hits = match_plain(data, qrels, run.order, run.name, ties)
    if hits is None and (plain := _as_plain(data)) is not None:
        hits = match_plain(plain, qrels, run.order, run.name, ties)
    return match_lists(run.memory or {}, qrels, run.order, run.name, ties) if hits is None else hits


def match_plain(
    data: Mapping[str, Any], qrels: Qrels, order: str, name: str, ties: bool = False
) -> RunHits | None:
    """Find the hits of rankings of plain types with the extension module; None if it cannot read them."""
    options = is_by_score(order), order == "trec_eval9", not ties_descend(order), ties
    matched = native.match(data, qrels.topic_index, qrels.memory_index(), *options)
    if matched is None:
        return None
    topic, length, offsets, rank, judgment, tied, first, size, ignored = matched
    found_ties = Ties(first, size) if ties else None
    return RunHits(topic, length, offsets, rank, judgment, tied, tuple(ignored), name, found_ties)


def _as_plain(data: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Return rankings with ids as text and scores as floats; None if a value is invalid or an id is repeated."""
    plain: dict[str, Any] = {}
    try:
        for topic, ranking in data.items():
            documents: Any = [key_text(document, "document") for document in ranking]
            if len(set(documents)) < len(documents):
                return None
            if isinstance(ranking, Mapping):
                documents = dict(zip(documents, map(float, ranking.values()), strict=True))
            plain[key_text(topic, "topic")] = documents
    except (TypeError, ValueError, InputError):
        return None  # the caller reports the error
    return plain if len(plain) == len(data) else None


class DocumentIndex:
    """Indices of the judged documents, by topic; the dict of a topic is built when it is first used."""

    def __init__(self, qrels: Qrels) -> None:
        self._documents, self._offsets = qrels.documents, qrels.topic_offsets.tolist()
        self.topic = {to_bytes(name): t for t, name in enumerate(qrels.topics)}
        self._numbers: dict[int, dict[bytes, int]] = {}

    @classmethod
    def from_qrels(cls, qrels: Qrels) -> DocumentIndex:
        """Return the index of judgments, which their copies share."""
        return qrels.tables.get("python", lambda: cls(qrels))

    def numbers(self, topic: int) -> dict[bytes, int]:
        """Return the indices of the judged documents of a topic."""
        if topic not in self._numbers:
            start, stop = self._offsets[topic], self._offsets[topic + 1]
            self._numbers[topic] = dict(zip(self._documents[start:stop], range(start, stop), strict=True))
        return self._numbers[topic]

    def find_hits(self, topic: int, ranking: RunList, order: str, ties: bool) -> ListHits:
        """Find the hits of a ranking of a topic, in an ordering."""
        numbers = self.numbers(topic)
        count = len(ranking.documents)
        index = permutation(ranking.documents, ranking.scores, ranking.ranks, order)
        judgment = np.fromiter(map(numbers.get, ranking.documents, repeat(-1)), np.int32, count)[index]
        position = np.flatnonzero(judgment >= 0)
        rank = (position + 1).astype(np.int32)
        keys = score_keys(ranking.scores, order)
        if keys is not None:
            keys = keys[index]
        tied = 0 if ranking.scores is None else _count_tied(np.sort(ranking.scores) if keys is None else keys)
        return ListHits(
            topic, count, tied, rank, judgment[position], Ties.from_scores(keys, rank) if ties else None
        )


def _count_tied(ordered: NDArray[np.floating]) -> int:
    """Return the number of scores, in order, that are not unique."""
    is_same = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    return int(np.count_nonzero(is_same[1:] | is_same[:-1]))


def match_lists(
    lists: Mapping[str, RunList], qrels: Qrels, order: str, name: str, ties: bool = False
) -> RunHits:
    """Find the hits of rankings by topic, in an ordering; ``name`` replaces the tag."""
    index = DocumentIndex.from_qrels(qrels)
    judged = {topic: t for topic in lists if (t := qrels.topic_index.get(topic)) is not None}
    hits = [index.find_hits(t, lists[topic], order, ties) for topic, t in judged.items()]
    return assemble_hits(hits, (topic for topic in lists if topic not in judged), name, ties)


def match_arrays(scores: Floats, offsets: Ints, order: str, name: str, ties: bool = False) -> RunHits:
    """Find the hits of groups of judged documents; tied documents are in descending (or ascending) order of position.

    >>> match_arrays(np.array([0.1, 0.3, 0.3]), np.array([0, 3]), "trec_eval", "run").judgment.tolist()
    [2, 1, 0]
    """
    if order == "trec_eval9":
        scores = scores.astype(np.float32).astype(np.float64)
    sizes = np.diff(offsets)
    group = np.repeat(np.arange(len(sizes)), sizes)
    rank = (np.arange(1, len(scores) + 1) - offsets[group]).astype(np.int32)
    sorted_groups = native.sort_groups(scores, offsets, not ties_descend(order))
    if sorted_groups is None:
        position = np.arange(len(scores))
        judgment = np.lexsort((-position if ties_descend(order) else position, -scores, group)).astype(
            np.int32
        )
        by_rank = scores[judgment]
        is_start = np.ones(len(scores), np.bool_)
        is_start[1:] = (by_rank[1:] != by_rank[:-1]) | (rank[1:] == 1)
        starts = np.flatnonzero(is_start)
        size = np.diff(starts, append=len(scores)).astype(np.int32)
        first, size = np.repeat(rank[starts], size), np.repeat(size, size)
        tied = np.bincount(group[size > 1], minlength=len(sizes)).astype(np.int32)
    else:
        judgment, first, size, tied = sorted_groups
    present = np.flatnonzero(sizes)
    starts = np.append(offsets[present], len(scores))
    length = sizes[present].astype(np.int32)
    return RunHits(
        present.astype(np.int32), length, starts, rank, judgment, tied[present], (), name,
        Ties(first, size) if ties else None,
    )  # fmt: skip
