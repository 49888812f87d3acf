"""Find the hits of runs in Python, with the same results as the C library, where that was not built."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rankscope.native.scans import ReturningTopic
from rankscope.read.columns import RunList
from rankscope.read.ids import to_text
from rankscope.read.qrels import Qrels
from rankscope.read.run_lists import parse_text_ranks
from rankscope.read.run_text import RunText, TextList
from rankscope.read.source import Source
from rankscope.scan.hits import ListHits, RunHits, assemble_hits
from rankscope.scan.memory import DocumentIndex


def scan_source(source: Source, qrels: Qrels, order: str, ties: bool = False) -> RunHits:
    """Find the hits of a run; if a topic returns, start again and keep all rankings until the end."""
    index = DocumentIndex.from_qrels(qrels)
    try:
        return _HitFinder(index, order, ties, keep=False).scan(source)
    except ReturningTopic:
        return _HitFinder(index, order, ties, keep=True).scan(source)


class _HitFinder(RunText):
    """Finds the hits of a ranking as soon as it is complete; with ``keep``, at the end of the file."""

    def __init__(self, index: DocumentIndex, order: str, ties: bool, keep: bool) -> None:
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
        if topic is not None:
            ranks = parse_text_ranks(ranking.ranks) if self.order == "rank" else None
            run_list = RunList(ranking.documents, np.concatenate(ranking.scores), ranks)
            self.hits.append(self.index.find_hits(topic, run_list, self.order, self.ties))

    def scan(self, source: Source) -> RunHits:
        """Return the hits of a source."""
        self.read(source)
        unfinished: Iterable[tuple[bytes | None, TextList | None]]
        unfinished = self.lists.items() if self.keep else [(self.name, self.current)]
        for name, ranking in unfinished:
            if ranking is not None:
                self._finish(name, ranking)
        ignored = [to_text(name) for name in self.lists if name not in self.index.topic]
        return assemble_hits(self.hits, ignored, to_text(self.tag or b""), self.ties)
