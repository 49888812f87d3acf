"""Find the hits of runs in Python, with the same results as the C library, where that was not built."""

from __future__ import annotations

import numpy as np

from rankscope.read.columns import RunList
from rankscope.read.ids import to_text
from rankscope.read.qrels import Qrels
from rankscope.read.run_lists import ListIterator, parse_text_ranks
from rankscope.read.source import Source
from rankscope.scan.hits import ListHits, RunHits, assemble_hits
from rankscope.scan.memory import DocumentIndex


def scan_source(source: Source, qrels: Qrels, order: str, ties: bool = False) -> RunHits:
    """Find the hits of a run, with only incomplete rankings in memory."""
    index, run = DocumentIndex.from_qrels(qrels), ListIterator(source, order)
    hits: list[ListHits] = []
    for name, text in run:
        if (topic := index.topic.get(name)) is not None:
            ranks = parse_text_ranks(text.ranks) if order == "rank" else None
            ranking = RunList(text.documents, np.concatenate(text.scores), ranks)
            hits.append(index.find_hits(topic, ranking, order, ties))
    ignored = [to_text(name) for name in run.topics if name not in index.topic]
    return assemble_hits(hits, ignored, to_text(run.tag or b""), ties)
