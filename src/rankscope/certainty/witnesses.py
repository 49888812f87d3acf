"""Labels that reverse the order of two runs, each recomputed by the formula of the measure before it is reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rankscope.certainty.declared import form_of, rewards_grades
from rankscope.certainty.labels import best_label, values_under
from rankscope.certainty.pairs import SLACK, TopicHits, pair_form
from rankscope.judging import Judged
from rankscope.judging.lists import Floats, Ints
from rankscope.measures.base import Measure
from rankscope.measures.forms import Weighted

__all__ = ["Label", "reversing_labels"]

_NEUTRAL = 30
"""Documents that count for neither run of a pair and are labelled all the same: enough to fill an ideal list."""

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128)
"""Numbers of labels on a topic that are tried when few are looked for."""

_CELLS = 1 << 20
"""Documents of labelled topics held at a time."""


class Label(NamedTuple):
    """A document that gets the best grade."""

    topic: int
    """Place among the topics that means are taken over."""
    document: int
    """Place in the judgments."""


class _Task(NamedTuple):
    """The first of the documents that help the second run of a pair on a topic get the best grade."""

    pair: int
    documents: Ints


def reversing_labels(
    judged: Judged,
    measure: Measure,
    hits: Sequence[TopicHits],
    now: Floats,
    merits: Callable[[Floats], Floats],
    first: Ints,
    second: Ints,
) -> list[list[Label]]:
    """Return few labels that reverse each pair, nothing where none are found.

    On each topic documents that the second run ranks higher get the best grade, from the one that should help most on.
    Topics, and how many documents on each, are chosen by the values that the formula of the measure gives.

    Parameters
    ----------
    now
        The merits without labels, runs x topics.
    merits
        What makes merits of values of the measure.
    """
    found: list[list[Label]] = [[] for _ in first]
    if measure.needs_aspects:
        return found
    difference = now[first] - now[second]
    change = np.zeros(difference.shape)
    helpful: list[list[Ints]] = []
    for t, mine in enumerate(hits):
        tasks = _candidates(judged, measure, mine, first, second)
        helpful.append([np.zeros(0, np.int64)] * len(first))
        values = _values(judged, measure, mine, first, second, tasks, merits)
        for task, value in zip(tasks, values, strict=True):
            if value - difference[task.pair, t] < change[task.pair, t]:
                change[task.pair, t] = value - difference[task.pair, t]
                helpful[t][task.pair] = task.documents
    total = difference.sum(axis=1)
    limit = -SLACK * len(hits)
    order = np.argsort(change, axis=1, kind="stable")
    running = total[:, np.newaxis] + np.cumsum(np.take_along_axis(change, order, axis=1), axis=1)
    reversed_ = running < limit
    chosen: list[list[int]] = [
        order[p, : int(reversed_[p].argmax()) + 1].tolist() if reversed_[p].any() else []
        for p in range(len(first))
    ]
    steps = _steps(judged, measure, hits, first, second, merits, chosen, helpful, difference)
    for p, topics in enumerate(chosen):
        if not topics:
            continue
        sizes = _fewest(float(total[p]), limit, {t: steps[p, t] for t in topics})
        for t, n in sizes.items():
            start = int(judged.qrels.topic_offsets[hits[t].topic])
            found[p] += [Label(t, start + d) for d in helpful[t][p][:n].tolist()]
    return found


def _candidates(judged: Judged, measure: Measure, hits: TopicHits, first: Ints, second: Ints) -> list[_Task]:
    """Return for each pair the unjudged documents that count more in the second run, the most helpful first, and the
    same with some that count for neither: these only make the recall base or the ideal list grow."""
    form = pair_form(measure)
    rank = hits.rank[hits.is_open]
    weight = form.weights(measure, rank) if isinstance(form, Weighted) else 1.0 / rank
    names = hits.union
    dense = np.zeros((len(judged.runs), len(names)))
    dense[hits.run[hits.is_open], np.searchsorted(names, hits.document[hits.is_open])] = weight
    tasks = []
    for pair, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        change = dense[a] - dense[b]
        order = np.argsort(change, kind="stable")
        more = int((change < 0).sum())
        same = 0 if rewards_grades(measure) else min(_NEUTRAL, int((change == 0).sum()))
        tasks += [_Task(pair, names[order[:n]]) for n in sorted({more, more + same}) if n]
    return tasks


def _steps(
    judged: Judged,
    measure: Measure,
    hits: Sequence[TopicHits],
    first: Ints,
    second: Ints,
    merits: Callable[[Floats], Floats],
    chosen: Sequence[Sequence[int]],
    helpful: Sequence[Sequence[Ints]],
    difference: Floats,
) -> dict[tuple[int, int], list[tuple[int, float]]]:
    """Return what the first 1, 2, 4, ... helpful documents change, by pair and topic."""
    by_topic: dict[int, list[_Task]] = {}
    for p, topics in enumerate(chosen):
        for t in topics:
            many = len(helpful[t][p])
            sizes = sorted({many, *(size for size in _SIZES if size < many)})
            by_topic.setdefault(t, []).extend(_Task(p, helpful[t][p][:size]) for size in sizes)
    steps: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for t, tasks in by_topic.items():
        values = _values(judged, measure, hits[t], first, second, tasks, merits)
        for task, value in zip(tasks, values, strict=True):
            made = float(value - difference[task.pair, t])
            steps.setdefault((task.pair, t), []).append((len(task.documents), made))
    return steps


def _fewest(total: float, limit: float, steps: dict[int, list[tuple[int, float]]]) -> dict[int, int]:
    """Return how many labels each topic gets: the steps with most change per label, until the order is reversed."""
    sizes = dict.fromkeys(steps, 0)
    made = dict.fromkeys(steps, 0.0)
    while total + sum(made.values()) >= limit:
        _, topic, size, change = min(
            ((change - made[t]) / (size - sizes[t]), t, size, change)
            for t, mine in steps.items() for size, change in mine if size > sizes[t]
        )  # fmt: skip
        sizes[topic], made[topic] = size, change
    return {t: size for t, size in sizes.items() if size}


def _values(
    judged: Judged,
    measure: Measure,
    hits: TopicHits,
    first: Ints,
    second: Ints,
    tasks: Sequence[_Task],
    merits: Callable[[Floats], Floats],
) -> Floats:
    """Return the difference of each pair on a topic under the labels of its task.

    Other unjudged documents stay unjudged, or are non-relevant: the higher difference of the two, so that a reversal
    holds either way. It is infinite where the measure is undefined for some run, which leaves the topic out.
    """
    start, stop = judged.qrels.topic_offsets[hits.topic : hits.topic + 2]
    grade = judged.qrels.grade[start:stop]
    rest = grade.copy()
    rest[hits.union] = 0
    best = best_label(judged)
    result = np.full(len(tasks), np.inf)
    # What has a form is defined everywhere, so that other runs need not be looked at.
    others = np.arange(len(judged.runs) if form_of(measure) is None else 0)
    step = max(1, _CELLS // max(1, len(grade) + len(hits.rank) * (2 + len(others)) // len(judged.runs)))
    for begin in range(0, len(tasks), step):
        part = tasks[begin : begin + step]
        pair = np.array([task.pair for task in part])
        runs = np.hstack([np.stack([first[pair], second[pair]], axis=1), np.tile(others, (len(part), 1))])
        ends = []
        for known in (grade, rest):
            variants = np.tile(known, (len(part), 1))
            for row, task in zip(variants, part, strict=True):
                row[task.documents] = best
            value = values_under(judged, measure, hits.topic, runs, variants)
            merit = merits(value)
            ends.append(np.where(np.isfinite(value).all(axis=1), merit[:, 0] - merit[:, 1], np.inf))
        result[begin : begin + step] = np.maximum(*ends)
    return np.where(np.isfinite(result), result, np.inf)
