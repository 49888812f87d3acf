"""Judgments extended by unjudged retrieved documents, and all groups of documents with equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.certainty.labels import unjudged_counts
from rankscope.judging import UNJUDGED, EvaluationOptions, Judged, judge
from rankscope.measures.base import Measure, declared_form
from rankscope.measures.forms import ShareOfIdeal, Weighted
from rankscope.read import Qrels, Runs
from rankscope.scan import TieGroups, first_documents, tie_groups

EVERY = np.iinfo(np.int32).max
"""A depth beyond every list."""

SMALL = 10_000
"""Retrieved documents up to which all of them are included, so that more ranges are exact."""


def with_unjudged(
    qrels: Qrels, runs: Runs, measures: Sequence[Measure], *, depth: int = 0, **options: Any
) -> Judged:
    """Return the lists under judgments extended by every document whose label can change a measure.

    All documents down to ``depth`` are included; ``options`` are those of :func:`rankscope.judge`.

    For sums of gain times weight, the documents with a weight are enough, provided that a topic has enough other
    unjudged documents to fill the ideal list.
    """
    depth = max([depth, *map(deepest_weight, measures)])
    judged = judge(with_documents(qrels, runs, depth), runs, ties=True, **options)
    judged = replace(judged, known_depth=depth, options=EvaluationOptions(unjudged="bounds"))
    if has_unjudged(judged, measures):
        return judged
    return with_unjudged(qrels, runs, measures, depth=EVERY, **options)


def is_small(judged: Judged) -> bool:
    """Return whether the lists are so short that all unjudged documents are included."""
    return bool(judged.length.sum() <= SMALL)


def has_unjudged(judged: Judged, measures: Sequence[Measure]) -> bool:
    """Return whether lists include the unjudged documents that these measures need (:func:`with_unjudged`)."""
    depth = EVERY if is_small(judged) else max(map(deepest_weight, measures), default=0)
    if judged.ties is None or judged.known_depth < depth:
        return False
    shares = [measure.cutoff for measure in measures if isinstance(declared_form(measure), ShareOfIdeal)]
    return judged.known_depth == EVERY or not shares or _fills_ideal(judged, max(shares))


def _fills_ideal(judged: Judged, depth: int) -> bool:
    """Return whether each topic has no further unjudged documents, or at least as many as an ideal list."""
    is_open = judged.qrels.grade[judged.judgment] < 0
    owner = judged.arrays.owner
    hidden = unjudged_counts(judged) - np.bincount(owner[is_open], minlength=len(judged.length))
    hidden = judged.grid(hidden).max(axis=0)
    topic_index = (
        np.searchsorted(judged.qrels.topic_offsets, np.unique(judged.judgment[is_open]), side="right") - 1
    )
    n_seen = np.bincount(topic_index, minlength=len(judged.topics))
    return bool(((hidden == 0) | (n_seen + hidden >= depth)).all())


def deepest_weight(measure: Measure) -> int:
    """Return the last rank with weight in a sum of gain times weight; :data:`EVERY` for other measures.

    >>> from rankscope.measures import measure
    >>> [deepest_weight(measure(name)) for name in ("nDCG@10", "RBP(p=0.5)")]
    [10, 1074]
    """
    form = declared_form(measure)
    if not isinstance(form, Weighted) or measure.needs_aspects or measure.better != "higher":
        return EVERY
    low, high = 0, int(min(measure.cutoff or EVERY, EVERY))
    if form.weights(measure, np.array([high]))[0] > 0:
        return high
    while high - low > 1:  # Bisection is valid because weights never increase with the rank.
        middle = (low + high) // 2
        low, high = (middle, high) if form.weights(measure, np.array([middle]))[0] > 0 else (low, middle)
    return max(1, low)


def with_documents(qrels: Qrels, runs: Runs, depth: int = EVERY) -> Qrels:
    """Return the judgments extended by the documents of all lists down to a depth, without a grade.

    Documents with the same score as the document at that depth are included.

    >>> from rankscope.read import Run
    >>> more = with_documents(Qrels.from_dict({"q": {"b": 1}}), Runs([Run.from_dict({"q": {"c": 2.0, "a": 1.0}})]))
    >>> more.documents, more.judgments("q")
    ([b'a', b'b', b'c'], {'b': 1})
    """
    by_topic: list[set[bytes]] = [set() for _ in qrels.topics]
    for run in runs.values():
        for t, retrieved in first_documents(run, qrels, depth):
            by_topic[t].update(retrieved)
    documents: list[bytes] = []
    offsets = [0]
    position = np.empty(len(qrels), np.int64)
    for t, names in enumerate(by_topic):
        start, stop = int(qrels.topic_offsets[t]), int(qrels.topic_offsets[t + 1])
        judged = qrels.documents[start:stop]
        listed = sorted(names.union(judged))
        at = {name: offsets[-1] + i for i, name in enumerate(listed)}
        position[start:stop] = [at[name] for name in judged]
        documents += listed
        offsets.append(len(documents))
        names.clear()
    grade = np.full(len(documents), UNJUDGED, np.int32)
    grade[position] = qrels.grade
    aspects = qrels.aspects
    if aspects is not None:
        aspects = replace(aspects, document=position[aspects.document].astype(np.int32))
    return replace(
        qrels, topic_offsets=np.array(offsets, np.int64), documents=documents, grade=grade, aspects=aspects
    )


def with_groups(judged: Judged, runs: Runs) -> Judged:
    """Return the lists with all their groups of equal scores, judged or not, if there are any."""
    if not judged.tied.any():
        return judged
    width = len(judged.topics)
    lists = {
        r * width + t: groups
        for r, run in enumerate(runs.values())
        for t, groups in tie_groups(run, judged.qrels).items()
    }
    return replace(
        judged, arrays=replace(judged.arrays, groups=TieGroups.from_lists(lists, len(judged.length)))
    )
