"""The scanner in Python: the same results as the one in C, for machines without it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rankscope.read.ids import to_bytes
from rankscope.read.orders import in_32_bits, is_by_score, ties_descend
from rankscope.read.qrels import Qrels
from rankscope.read.run_text import RunText, TextList
from rankscope.read.source import Source
from rankscope.scan.hits import FoundList, ReturningTopic, RunHits, Ties, assembled

__all__ = ["hits_in_source"]


def hits_in_source(source: Source, qrels: Qrels, order: str, ties: bool = False) -> RunHits:
    """The hits of a run."""
    judged = _judged(qrels)
    try:
        return _found(source, _ListFinder(judged, order, ties, keep=False))
    except ReturningTopic:
        return _found(source, _ListFinder(judged, order, ties, keep=True))


def _found(source: Source, state: _ListFinder) -> RunHits:
    state.read(source)
    return state.finished()


class _Judged:
    """The judged documents of each topic by their ids, made when a run first needs them."""

    def __init__(self, qrels: Qrels) -> None:
        self._documents, self._offsets = qrels.documents, qrels.topic_offsets.tolist()
        self.topic = {to_bytes(name): t for t, name in enumerate(qrels.topics)}
        self._tables: dict[int, dict[bytes, int]] = {}

    def table(self, topic: int) -> dict[bytes, int]:
        if topic not in self._tables:
            start, stop = self._offsets[topic], self._offsets[topic + 1]
            self._tables[topic] = dict(zip(self._documents[start:stop], range(start, stop), strict=True))
        return self._tables[topic]


_known: WeakKeyDictionary[Qrels, _Judged] = WeakKeyDictionary()


def _judged(qrels: Qrels) -> _Judged:
    found = _known.get(qrels)
    if found is None:
        found = _known[qrels] = _Judged(qrels)
    return found


class _ListFinder(RunText):
    """Finds the hits of a list as soon as it is complete; with ``keep``, once there are no more lines."""

    def __init__(self, judged: _Judged, order: str, ties: bool, keep: bool) -> None:
        super().__init__(order)
        self.judged, self.ties, self.keep = judged, ties, keep
        self.name: bytes | None = None
        self.current: TextList | None = None
        self.lists: dict[bytes, TextList | None] = {}
        self.found: list[FoundList] = []

    def list_of(self, topic: bytes) -> TextList:
        """The list that the lines of a topic belong to; the one before is complete unless topics may return."""
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

    def _finish(self, name: bytes | None, one: TextList) -> None:
        topic = None if name is None else self.judged.topic.get(name)
        if topic is None:
            return
        table = self.judged.table(topic)
        count = len(one.documents)
        judgment = np.fromiter(map(table.get, one.documents, repeat(-1)), np.int32, count)
        order, tied, scores = _ordering(one, self.order)
        if order is not None:
            judgment = judgment[order]
        hits = np.flatnonzero(judgment >= 0)
        rank = (hits + 1).astype(np.int32)
        ties = Ties.of(scores, rank) if self.ties else None
        self.found.append(FoundList(topic, count, tied, rank, judgment[hits], ties))

    def finished(self) -> RunHits:
        """All lists, once there are no more lines."""
        kept: Iterable[tuple[bytes | None, TextList | None]]
        kept = self.lists.items() if self.keep else [(self.name, self.current)]
        for name, one in kept:
            if one is not None:
                self._finish(name, one)
        ignored = [name for name in self.lists if name not in self.judged.topic]
        return assembled(self.found, ignored, self.tag or b"", self.ties)


def _ordering(
    one: TextList, order: str
) -> tuple[npt.NDArray[np.int64] | None, int, npt.NDArray[np.floating] | None]:
    """The documents from the best on (None: as in the file), how many share their score with another, and the scores
    in this order where it is theirs."""
    scores = np.concatenate(one.scores)
    if order == "trec_eval9":
        scores = in_32_bits(scores).astype(np.float64)
    scored = is_by_score(order)
    by_score: npt.NDArray[np.int64] | None = None
    tied = 0
    if not (scores[:-1] > scores[1:]).all():
        by_score = np.argsort(-scores, kind="stable")
        tied = _break_ties(scores[by_score], by_score, one.documents if scored else None, ties_descend(order))
    if scored:
        return by_score, tied, scores if by_score is None else scores[by_score]
    if order == "file":
        return None, tied, None
    ranks = np.array([int(rank) for part in one.ranks for rank in part], np.int64)
    return np.argsort(ranks, kind="stable"), tied, None


def _break_ties(
    falling: npt.NDArray[np.floating],
    by_score: npt.NDArray[np.int64],
    documents: list[bytes] | None,
    descending: bool,
) -> int:
    """Sort documents with equal scores by id; return how many share a score."""
    same = np.concatenate(([False], falling[1:] == falling[:-1], [False]))
    places = np.flatnonzero(same[1:] | same[:-1])
    if documents is not None and len(places):
        members = by_score[places]
        names = [documents[row] for row in members.tolist()]
        by_id = sorted(range(len(places)), key=names.__getitem__, reverse=descending)
        by_score[places] = members[by_id][np.argsort(-falling[places][by_id], kind="stable")]
    return len(places)
