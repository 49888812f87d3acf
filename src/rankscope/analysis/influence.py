"""Influence of documents on a leaderboard: other grades of judged ones, labels of unjudged ones, orders of judging."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankscope.analysis import stats
from rankscope.analysis.stats.randomness import generator
from rankscope.arrays import Floats, Grades, Ints
from rankscope.certainty.labels import best_label, values_under_grades
from rankscope.certainty.pairs import SLACK, TopicHits, hits_by_topic, lowest_differences, pair_form
from rankscope.errors import InputError, MeasureError
from rankscope.judging import UNJUDGED, Judged
from rankscope.measures import Measure
from rankscope.measures.forms import Weighted
from rankscope.progress import blocks
from rankscope.scores import score

_HITS_AT_ONCE = 500_000
_MAX_CELLS = 1 << 22  # cells (pairs x documents) of a temporary array: 32 MB
ORDERS = ("influence", "depth", "random")
"""Orders of judging that a simulation compares."""


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
    before, after = stats.rounded(merits), stats.rounded(moved)
    signs = [np.sign(values[:, None] - values[None, :]) for values in (before, after)]
    return int((signs[0] * signs[1] < 0).sum()) // 2


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
    return np.argsort(-stats.rounded(influence), kind="stable")


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
    first, second = stats.all_pairs(len(values))
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


def reveal(
    judged: Judged, measure: Measure, topics: Ints, order: str, *, batch: int, seed: int
) -> list[tuple[int, float]]:
    """Return the number of judgments, and the share of pairs in their final order, after each batch.

    All judgments count as the truth, and are revealed in batches.
    """

    def evaluate(judged: Judged) -> Floats:
        return np.asarray(np.nan_to_num(score(judged, [measure]).values[0]))

    pool = np.flatnonzero(judged.qrels.grade != UNJUDGED)
    final = _signs(evaluate(judged)[:, topics])
    is_revealed = np.zeros(len(judged.qrels), np.bool_)
    queue = pool
    if order == "random":
        queue = generator(seed).permutation(pool)
    elif order == "depth":
        queue = pool[np.argsort(judged.best_ranks[pool], kind="stable")]
    points = []
    while True:
        grade = np.where(is_revealed, judged.qrels.grade, np.int32(UNJUDGED)).astype(np.int32)
        revealed = judged.with_grades(grade)
        values = evaluate(revealed)
        share = float((_signs(values[:, topics]) == final).mean())
        points.append((int(is_revealed.sum()), share))
        if is_revealed[pool].all():
            return points
        if order == "influence":
            influence, *_ = measure_influence(revealed, measure, values, topics)
            influence[is_revealed] = -1.0
            # Documents that no open pair needs come last, in the order of the pool.
            queue = pool[argsort_influence(influence[pool])]
        is_revealed[queue[:batch]] = True
        queue = queue[batch:]


def _signs(values: Floats) -> Floats:
    """Return the sign of the difference of means of each pair of runs; rounding errors count as 0."""
    means = values.mean(axis=1)
    first, second = stats.all_pairs(len(means))
    difference = means[first] - means[second]
    return np.where(np.abs(difference) <= SLACK, 0.0, np.sign(difference))
