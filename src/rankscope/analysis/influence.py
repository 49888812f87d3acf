"""Influence of single judgments on a leaderboard: how means move if one document gets another grade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankscope.analysis.stats.matrices import rounded
from rankscope.arrays import Floats, Grades
from rankscope.certainty.labels import values_under_grades
from rankscope.judging import UNJUDGED, Judged
from rankscope.measures import Measure
from rankscope.progress import blocks

_HITS_AT_ONCE = 500_000


class Influence(NamedTuple):
    """Effect of one changed grade: the document, its topic, and the change of the mean of every run."""

    document: int
    topic: int
    moves: Floats


def influences(judged: Judged, first: Grades, second: Grades, measure: Measure) -> Iterator[Influence]:
    """Yield the change of all means for every document that the second judge grades differently, one grade at a time.

    ``first`` and ``second`` have the grade of every judged document, or ``UNJUDGED``. Documents that one judge graded
    non-relevant and the other did not judge are skipped. The topic is evaluated again with the changed grade, so recall
    base and ideal ranking change with it; nothing is approximated.

    >>> import rankscope as rs
    >>> qrels = rs.Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> judged = rs.judge(qrels, rs.Runs([rs.Run.from_dict({"q": ["a", "b"]}, name="x")]))
    >>> [one.moves.tolist() for one in influences(judged, qrels.grade, np.array([1, 1], np.int32), rs.measure("P@2"))]
    [[0.5]]
    """
    before, after = (np.where(grade == UNJUDGED, 0, np.maximum(grade, 0)) for grade in (first, second))
    changed = np.flatnonzero(before != after)
    offsets = judged.qrels.topic_offsets
    topics = judged.pool.topic[changed]
    n_runs, n_topics = len(judged.runs), len(judged.topics)
    for topic in np.unique(topics).tolist():
        all_runs = np.arange(n_runs)
        lists = all_runs * n_topics + topic
        grades = first[offsets[topic] : offsets[topic + 1]]
        base = values_under_grades(judged, measure, np.array([topic]), all_runs[None, :], grades)[0]
        documents = changed[topics == topic]
        hits = int((judged.offsets[lists + 1] - judged.offsets[lists]).sum())
        step = max(1, _HITS_AT_ONCE // max(1, hits + len(grades)))
        for part in (documents[block] for block in blocks(len(documents), step)):
            variants = np.tile(grades, (len(part), 1))
            variants[np.arange(len(part)), part - offsets[topic]] = second[part]
            copies, runs = np.full(len(part), topic), np.tile(all_runs, (len(part), 1))
            values = values_under_grades(judged, measure, copies, runs, variants.ravel())
            for document, row in zip(part.tolist(), values, strict=True):
                yield Influence(document, topic, (row - base) / n_topics)


def count_reversals(merits: Floats, moved: Floats) -> int:
    """Return the number of pairs of runs whose order is reversed after a change of the merits.

    >>> count_reversals(np.array([0.5, 0.4, 0.1]), np.array([0.3, 0.4, 0.35]))
    2
    """
    before, after = rounded(merits), rounded(moved)
    signs = [np.sign(values[:, None] - values[None, :]) for values in (before, after)]
    return int((signs[0] * signs[1] < 0).sum()) // 2
