"""Judgments that know every retrieved document, those that nobody judged as well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankscope.judging import UNJUDGED
from rankscope.read import Qrels, Runs

__all__ = ["with_documents"]


def with_documents(qrels: Qrels, runs: Runs) -> Qrels:
    """The same judgments, in which each retrieved document of a judged topic has a place, if only without a grade.

    >>> from rankscope.read import Run
    >>> more = with_documents(Qrels.from_dict({"q": {"b": 1}}), Runs([Run.from_dict({"q": {"c": 2.0, "a": 1.0}})]))
    >>> more.documents, more.judgments("q")
    ([b'a', b'b', b'c'], {'b': 1})
    """
    found: list[set[bytes]] = [set() for _ in qrels.topics]
    for run in runs.values():
        for topic, mine in run.documents().items():
            if topic in qrels.topic_index:
                found[qrels.topic_index[topic]].update(mine)
    documents: list[bytes] = []
    offsets = [0]
    place = np.empty(len(qrels), np.int64)
    for t, names in enumerate(found):
        start, stop = int(qrels.topic_offsets[t]), int(qrels.topic_offsets[t + 1])
        known = qrels.documents[start:stop]
        listed = sorted(names.union(known))
        at = {name: offsets[-1] + i for i, name in enumerate(listed)}
        place[start:stop] = [at[name] for name in known]
        documents += listed
        offsets.append(len(documents))
    grade = np.full(len(documents), UNJUDGED, np.int32)
    grade[place] = qrels.grade
    aspects = qrels.aspects
    if aspects is not None:
        aspects = replace(aspects, document=place[aspects.document].astype(np.int32))
    return replace(
        qrels, topic_offsets=np.array(offsets, np.int64), documents=documents, grade=grade, aspects=aspects
    )
