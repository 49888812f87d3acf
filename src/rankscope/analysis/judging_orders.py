"""Influence of unjudged documents on open pairs of runs, and the simulation of orders of judging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.significance import all_pairs
from rankscope.arrays import Floats, Ints
from rankscope.certainty.labels import best_label
from rankscope.certainty.pairs import SLACK, TopicHits, hits_by_topic, lowest_differences, pair_form
from rankscope.errors import InputError, MeasureError
from rankscope.judging import UNJUDGED, Judged
from rankscope.measures import Measure
from rankscope.measures.forms import Weighted
from rankscope.progress import blocks
from rankscope.scores import score

_MAX_CELLS = 1 << 22  # cells (pairs x documents) of a temporary array: 32 MB
ORDERS = ("influence", "depth", "random")
"""Orders of judging that a simulation compares."""


def counted_topics(judged: Judged, missing: str) -> Ints:
    """Return the indices of the topics that means include: with ``skip``, those that all runs have."""
    is_kept = judged.grid(judged.present).all(axis=0) | (missing != "skip")
    if not is_kept.any():
        raise InputError("the runs have no topic in common", hint="evaluate with missing=zero")
    return np.flatnonzero(is_kept)


def argsort_influence(influence: Floats) -> Ints:
    """Return the order of documents by decreasing influence; values that differ by rounding only are equal.

    >>> argsort_influence(np.array([0.1, 0.1 + 0.2, 0.3, 0.3])).tolist()
    [1, 2, 3, 0]
    """
    return np.argsort(-rounded(influence), kind="stable")


def measure_influence(
    judged: Judged, measure: Measure, values: Floats, topics: Ints
) -> tuple[Floats, int, int]:
    """Return the influence of each document, the number of pairs of runs, and how many of them labels can reverse."""
    if measure.better != "higher":
        raise MeasureError(f"higher values of {measure} are not better", hint="use nDCG@10, P@10 or RBP")
    form = pair_form(measure)
    if not isinstance(form, Weighted):
        problem = f"{measure} is not a sum of gains with fixed weights, so that influence is undefined"
        raise MeasureError(problem, hint="use nDCG@10, P@10, DCG@10 or RBP")
    values = np.nan_to_num(values[:, topics])
    all_hits = hits_by_topic(judged)
    hits = [all_hits[topic] for topic in topics.tolist()]
    first, second = all_pairs(len(values))
    can_reverse = [
        lowest_differences(judged, measure, hits, (values, values), *pair, ties=False).lowest < -SLACK
        for pair in ((first, second), (second, first))
    ]
    difference = values.mean(axis=1)[first] - values.mean(axis=1)[second]
    # A pair with equal means is open if either run can win.
    is_open = (can_reverse[0] & (difference >= -SLACK)) | (can_reverse[1] & (difference <= SLACK))
    influence = _sum_influence(judged, measure, form, hits, first[is_open], second[is_open])
    return influence, len(first), int(is_open.sum())


def _sum_influence(
    judged: Judged, measure: Measure, form: Weighted, hits: Sequence[TopicHits], first: Ints, second: Ints
) -> Floats:
    """Return the influence of each document, summed over pairs of runs."""
    total = np.zeros(len(judged.qrels))
    gain = form.gains(best_label(judged))[-1]
    grade = judged.qrels.grade
    for topic_hits in hits:
        documents = topic_hits.union
        if not len(documents):
            continue
        start, stop = judged.qrels.topic_offsets[topic_hits.topic : topic_hits.topic + 2]
        weight = np.zeros((len(judged.runs), len(documents)))
        is_open = topic_hits.is_open
        column = np.searchsorted(documents, topic_hits.document[is_open])
        weight[topic_hits.run[is_open], column] = form.weights(measure, topic_hits.rank[is_open])
        moved = np.zeros(len(documents))
        for part in blocks(len(first), max(1, _MAX_CELLS // len(documents))):
            moved += np.abs(weight[first[part]] - weight[second[part]]).sum(axis=0)
        judged_grades = grade[start:stop][grade[start:stop] >= 0]
        ideal = form.ideal(measure, np.bincount(judged_grades, minlength=best_label(judged) + 1), 1)
        total[start + documents] = gain * moved / (ideal[0] or ideal[1] or 1.0)
    return total


@dataclass(frozen=True, eq=False)
class Simulation:
    """A collection whose judgments count as the truth and are revealed in batches."""

    judged: Judged
    measure: Measure
    topics: Ints
    batch: int
    seed: int

    @property
    def pool(self) -> Ints:
        """Indices of the judged documents."""
        return np.flatnonzero(self.judged.qrels.grade != UNJUDGED)

    def reveal(self, order: str) -> list[tuple[int, float]]:
        """Return the number of judgments, and the share of pairs in their final order, after each batch."""
        pool = self.pool
        final = _signs(self._evaluate(self.judged)[:, self.topics])
        is_revealed = np.zeros(len(self.judged.qrels), np.bool_)
        queue = pool
        if order == "random":
            queue = generator(self.seed).permutation(pool)
        elif order == "depth":
            queue = pool[np.argsort(self._first_ranks()[pool], kind="stable")]
        points = []
        while True:
            grade = np.where(is_revealed, self.judged.qrels.grade, np.int32(UNJUDGED)).astype(np.int32)
            revealed = self.judged.with_grades(grade)
            values = self._evaluate(revealed)
            share = float((_signs(values[:, self.topics]) == final).mean())
            points.append((int(is_revealed.sum()), share))
            if is_revealed[pool].all():
                return points
            if order == "influence":
                influence, *_ = measure_influence(revealed, self.measure, values, self.topics)
                influence[is_revealed] = -1.0
                # Documents that no open pair needs come last, in the order of the pool.
                queue = pool[argsort_influence(influence[pool])]
            is_revealed[queue[: self.batch]] = True
            queue = queue[self.batch :]

    def _evaluate(self, judged: Judged) -> Floats:
        values: Floats = np.nan_to_num(score(judged, [self.measure]).values[0])
        return values

    def _first_ranks(self) -> Ints:
        """Return the best rank of each document in any run; documents of no run come last."""
        rank = np.full(len(self.judged.qrels), np.iinfo(np.int32).max)
        np.minimum.at(rank, self.judged.judgment, self.judged.rank)
        return rank


def _signs(values: Floats) -> Floats:
    """Return the sign of the difference of means of each pair of runs; rounding errors count as 0."""
    means = values.mean(axis=1)
    first, second = all_pairs(len(means))
    difference = means[first] - means[second]
    return np.where(np.abs(difference) <= SLACK, 0.0, np.sign(difference))
