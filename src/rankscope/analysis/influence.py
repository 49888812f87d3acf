"""Which judgments matter? What a leaderboard does when one document gets another grade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.matrices import rounded
from rankscope.certainty.labels import values_under
from rankscope.judging import UNJUDGED, Judged
from rankscope.measures import Measure

__all__ = ["Influence", "influences", "reversals"]

Floats = NDArray[np.float64]
Grades = NDArray[np.int32]
Integers = NDArray[np.int64]

_HITS_AT_ONCE = 500_000


class Influence(NamedTuple):
    """What one changed grade does: the document, and by how much the mean of every run moves."""

    document: int
    topic: int
    moves: Floats


def influences(judged: Judged, first: Grades, second: Grades, measure: Measure) -> Iterator[Influence]:
    """For every document that the second judge grades otherwise: the means of all runs with that one grade changed.

    ``first`` and ``second`` have a grade for every judged document (``UNJUDGED``: none). Documents that one judge holds
    non-relevant and the other has not judged are passed over. The topic of the document is evaluated again with the
    changed grade, so that recall bases and ideal lists change with it; nothing is approximated.

    >>> import rankscope as rs
    >>> qrels = rs.Qrels.from_dict({"q": {"a": 1, "b": 0}})
    >>> judged = rs.judge(qrels, rs.Runs([rs.Run.from_dict({"q": ["a", "b"]}, name="x")]))
    >>> [one.moves.tolist() for one in influences(judged, qrels.grade, np.array([1, 1], np.int32), rs.measure("P@2"))]
    [[0.5]]
    """
    before, after = (np.where(grade == UNJUDGED, 0, np.maximum(grade, 0)) for grade in (first, second))
    changed = np.flatnonzero(before != after)
    offsets = judged.qrels.topic_offsets
    topic_of = np.searchsorted(offsets, changed, side="right") - 1
    runs, width = len(judged.runs), len(judged.topics)
    for topic in np.unique(topic_of).tolist():
        every = np.arange(runs)
        lists = every * width + topic
        grades = first[offsets[topic] : offsets[topic + 1]]
        base = values_under(judged, measure, topic, every[None, :], grades[None, :])[0]
        mine = changed[topic_of == topic]
        hits = int((judged.offsets[lists + 1] - judged.offsets[lists]).sum())
        step = max(1, _HITS_AT_ONCE // max(1, hits + len(grades)))
        for start in range(0, len(mine), step):
            part = mine[start : start + step]
            variants = np.tile(grades, (len(part), 1))
            variants[np.arange(len(part)), part - offsets[topic]] = second[part]
            values = values_under(judged, measure, topic, np.tile(every, (len(part), 1)), variants)
            for document, row in zip(part.tolist(), values, strict=True):
                yield Influence(document, topic, (row - base) / width)


def reversals(merits: Floats, moved: Floats) -> int:
    """How many pairs of runs stand in the opposite order after a move of the merits.

    >>> reversals(np.array([0.5, 0.4, 0.1]), np.array([0.3, 0.4, 0.35]))
    2
    """
    before, after = rounded(merits), rounded(moved)
    signs = [np.sign(one[:, None] - one[None, :]) for one in (before, after)]
    return int((signs[0] * signs[1] < 0).sum()) // 2
