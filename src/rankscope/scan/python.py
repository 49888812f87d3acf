"""Find the hits of runs in Python, with the same results as the C library, where that was not built."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

import numpy as np
import numpy.typing as npt

from rankscope.native.scans import ReturningTopic
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.orders import in_32_bits, is_by_score, ties_descend
from rankscope.read.qrels import Qrels
from rankscope.read.run_text import RunText, TextList
from rankscope.read.source import Source
from rankscope.scan.hits import ListHits, RunHits, Ties, assemble_hits


def scan_source(source: Source, qrels: Qrels, order: str, ties: bool = False) -> RunHits:
    """Find the hits of a run; if a topic returns, start again and keep all rankings until the end."""
    index = qrels.tables.get("python", lambda: _DocumentIndex(qrels))
    try:
        return _HitFinder(index, order, ties, keep=False).scan(source)
    except ReturningTopic:
        return _HitFinder(index, order, ties, keep=True).scan(source)


class _DocumentIndex:
    """Numbers of the judged documents by id, built for a topic when a run first needs it."""

    def __init__(self, qrels: Qrels) -> None:
        self._documents, self._offsets = qrels.documents, qrels.topic_offsets.tolist()
        self.topic = {to_bytes(name): t for t, name in enumerate(qrels.topics)}
        self._numbers: dict[int, dict[bytes, int]] = {}

    def numbers(self, topic: int) -> dict[bytes, int]:
        if topic not in self._numbers:
            start, stop = self._offsets[topic], self._offsets[topic + 1]
            self._numbers[topic] = dict(zip(self._documents[start:stop], range(start, stop), strict=True))
        return self._numbers[topic]


class _HitFinder(RunText):
    """Finds the hits of a ranking as soon as it is complete; with ``keep``, at the end of the file."""

    def __init__(self, index: _DocumentIndex, order: str, ties: bool, keep: bool) -> None:
        super().__init__(order)
        self.index, self.ties, self.keep = index, ties, keep
        self.name: bytes | None = None
        self.current: TextList | None = None
        self.lists: dict[bytes, TextList | None] = {}
        self.hits: list[ListHits] = []

    def list_for(self, topic: bytes) -> TextList:
        """Return the ranking that collects the lines of a topic; finish the previous one unless topics may return."""
        if topic == self.name and self.current is not None:
            return self.current
        if topic in self.lists and not self.keep:
            raise ReturningTopic
        if self.current is not None and not self.keep:
            self._finish(self.name, self.current)
        self.name = topic
        self.current = self.lists.get(topic) or TextList()
        self.lists[topic] = self.current if self.keep else None
        return self.current

    def _finish(self, name: bytes | None, ranking: TextList) -> None:
        topic = None if name is None else self.index.topic.get(name)
        if topic is None:
            return
        numbers = self.index.numbers(topic)
        count = len(ranking.documents)
        judgment = np.fromiter(map(numbers.get, ranking.documents, repeat(-1)), np.int32, count)
        order, tied, scores = _sort_list(ranking, self.order)
        if order is not None:
            judgment = judgment[order]
        hits = np.flatnonzero(judgment >= 0)
        rank = (hits + 1).astype(np.int32)
        ties = Ties.from_scores(scores, rank) if self.ties else None
        self.hits.append(ListHits(topic, count, tied, rank, judgment[hits], ties))

    def scan(self, source: Source) -> RunHits:
        """Return the hits of a source."""
        self.read(source)
        kept: Iterable[tuple[bytes | None, TextList | None]]
        kept = self.lists.items() if self.keep else [(self.name, self.current)]
        for name, ranking in kept:
            if ranking is not None:
                self._finish(name, ranking)
        ignored = [to_text(name) for name in self.lists if name not in self.index.topic]
        return assemble_hits(self.hits, ignored, to_text(self.tag or b""), self.ties)


def _sort_list(
    ranking: TextList, order: str
) -> tuple[npt.NDArray[np.int64] | None, int, npt.NDArray[np.floating] | None]:
    """Return the permutation that sorts a ranking (None: sorted), the number of tied documents, and sorted scores.

    Scores are None if the ordering does not compare them.
    """
    scores = np.concatenate(ranking.scores)
    if order == "trec_eval9":
        scores = in_32_bits(scores).astype(np.float64)
    scored = is_by_score(order)
    by_score: npt.NDArray[np.int64] | None = None
    tied = 0
    if not (scores[:-1] > scores[1:]).all():
        by_score = np.argsort(-scores, kind="stable")
        documents = ranking.documents if scored else None
        tied = _break_ties(scores[by_score], by_score, documents, ties_descend(order))
    if scored:
        return by_score, tied, scores if by_score is None else scores[by_score]
    if order == "file":
        return None, tied, None
    ranks = np.array([int(rank) for part in ranking.ranks for rank in part], np.int64)
    return np.argsort(ranks, kind="stable"), tied, None


def _break_ties(
    descending: npt.NDArray[np.floating],
    by_score: npt.NDArray[np.int64],
    documents: list[bytes] | None,
    ids_descend: bool,
) -> int:
    """Sort documents with equal scores by id in place; return the number of documents that share a score."""
    is_same = np.concatenate(([False], descending[1:] == descending[:-1], [False]))
    tied = np.flatnonzero(is_same[1:] | is_same[:-1])
    if documents is not None and len(tied):
        members = by_score[tied]
        names = [documents[row] for row in members.tolist()]
        by_id = sorted(range(len(tied)), key=names.__getitem__, reverse=ids_descend)
        by_score[tied] = members[by_id][np.argsort(-descending[tied][by_id], kind="stable")]
    return len(tied)
