"""Labels that reverse the order of two runs, each recomputed by the formula of the measure before it is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.certainty.labels import best_label, values_under_grades
from rankscope.certainty.pairs import SLACK, TopicHits, pair_form
from rankscope.judging import Judged
from rankscope.measures.base import Measure, declared_form, rewards_grades
from rankscope.measures.forms import Weighted

_NEUTRAL = 30
"""Maximum number of labelled documents that count for neither run of a pair: enough to fill an ideal ranking."""

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128)
"""Numbers of labels on a topic that the search for a small set tries."""

_CELLS = 1 << 20
"""Documents of labelled topics held at a time."""


class Label(NamedTuple):
    """A document that gets the best grade."""

    topic: int
    """Index among the topics that means are taken over."""
    document: int
    """Index in the judgments."""


class _Task(NamedTuple):
    """Documents of a topic that get the best grade, to help the second run of a pair."""

    pair: int
    topic: int
    documents: Ints


def reversing_labels(
    judged: Judged,
    measure: Measure,
    hits: Sequence[TopicHits],
    current: Floats,
    merits: Callable[[Floats], Floats],
    first: Ints,
    second: Ints,
) -> list[list[Label]]:
    """Return a small set of labels that reverses each pair; empty if none is found.

    On each topic, documents that the second run ranks higher get the best grade, the most helpful ones first.
    Topics, and the number of documents on each, are chosen by the values of the measure under these labels.

    Parameters
    ----------
    current
        The merits without labels, runs x topics.
    merits
        Function from values of the measure to merits.
    """
    labels: list[list[Label]] = [[] for _ in first]
    if measure.needs_aspects:
        return labels
    search = _Search(judged, measure, hits, merits, first, second)
    difference = current[first] - current[second]
    change, size = np.zeros(difference.shape), np.zeros(difference.shape, np.int64)
    for task, value in search.evaluate(search.candidates()):
        if value - difference[task.pair, task.topic] < change[task.pair, task.topic]:
            change[task.pair, task.topic] = value - difference[task.pair, task.topic]
            size[task.pair, task.topic] = len(task.documents)
    total = difference.sum(axis=1)
    limit = -SLACK * len(hits)
    order = np.argsort(change, axis=1, kind="stable")
    running = total[:, np.newaxis] + np.cumsum(np.take_along_axis(change, order, axis=1), axis=1)
    n_needed = np.where((running < limit).any(axis=1), (running < limit).argmax(axis=1) + 1, 0)
    topics_of_pairs = [(p, t) for p, n in enumerate(n_needed.tolist()) for t in order[p, :n].tolist()]
    # A step is a number of labels on a topic and the change that they make.
    steps: dict[tuple[int, int], list[tuple[int, float]]] = {key: [] for key in topics_of_pairs}
    for task, value in search.evaluate(search.subsets(topics_of_pairs, size)):
        step = len(task.documents), float(value - difference[task.pair, task.topic])
        steps[task.pair, task.topic].append(step)
    by_pair: dict[int, dict[int, list[tuple[int, float]]]] = {}
    for p, t in topics_of_pairs:
        by_pair.setdefault(p, {})[t] = steps[p, t]
    for p, pair_steps in by_pair.items():
        for t, n in _fewest(float(total[p]), limit, pair_steps).items():
            start = int(judged.qrels.topic_offsets[hits[t].topic])
            labels[p] += [Label(t, start + d) for d in search.helpful(p, t)[0][:n].tolist()]
    return labels


@dataclass(eq=False)
class _Search:
    """Search for labels that favour the second run of each pair, and for the differences under these labels."""

    judged: Judged
    measure: Measure
    hits: Sequence[TopicHits]
    merits: Callable[[Floats], Floats]
    first: Ints
    second: Ints
    _weights: tuple[int, Ints, Floats] | None = None

    def helpful(self, pair: int, t: int) -> tuple[Ints, Floats]:
        """Return the unjudged documents of a topic, those most helpful to the second run first, and weight changes."""
        if self._weights is None or self._weights[0] != t:
            hits = self.hits[t]
            rank = hits.rank[hits.is_open]
            form = pair_form(self.measure)
            weight = form.weights(self.measure, rank) if isinstance(form, Weighted) else 1.0 / rank
            names, column = np.unique(hits.document[hits.is_open], return_inverse=True)
            dense = np.zeros((len(self.judged.runs), len(names)))
            dense[hits.run[hits.is_open], column] = weight
            self._weights = t, names, dense
        _, names, dense = self._weights
        change = dense[self.first[pair]] - dense[self.second[pair]]
        order = np.argsort(change, kind="stable")
        return names[order], change[order]

    def candidates(self) -> Iterator[_Task]:
        """Generate for each pair and topic the documents that count more in the second run, and the same with some
        that count for neither: these only make the recall base or the ideal ranking grow."""
        adds_neutral = not rewards_grades(self.measure)
        for t, hits in enumerate(self.hits):
            for pair in range(len(self.first)) if hits.is_open.any() else ():
                documents, change = self.helpful(pair, t)
                n_helpful = int((change < 0).sum())
                n_neutral = min(_NEUTRAL, int((change == 0).sum())) if adds_neutral else 0
                for n in sorted({n_helpful, n_helpful + n_neutral}):
                    if n:
                        yield _Task(pair, t, documents[:n])

    def subsets(self, pairs_and_topics: Sequence[tuple[int, int]], size: Ints) -> Iterator[_Task]:
        """Yield a task for the first 1, 2, 4, ... helpful documents of each chosen pair and topic."""
        # By topic, whose weights are computed once.
        for p, t in sorted(pairs_and_topics, key=lambda key: key[1]):
            documents, n_all = self.helpful(p, t)[0], int(size[p, t])
            for n in sorted({n_all, *(n for n in _SIZES if n < n_all)}):
                yield _Task(p, t, documents[:n])

    def evaluate(self, tasks: Iterator[_Task]) -> Iterator[tuple[_Task, float]]:
        """Yield each task with the difference of its pair on its topic; many tasks are evaluated at once."""
        width = len(self.judged.runs)
        # A measure with a closed form is defined everywhere, so that other runs do not matter.
        n_lists = 2 if declared_form(self.measure) is not None else width + 2
        offsets = self.judged.qrels.topic_offsets
        batch: list[_Task] = []
        n_cells = 0
        for task in tasks:
            batch.append(task)
            hits = self.hits[task.topic]
            n_cells += int(offsets[hits.topic + 1] - offsets[hits.topic]) + len(hits.rank) * n_lists // width
            if n_cells >= _CELLS:
                yield from zip(batch, self._differences(batch, n_lists > 2).tolist(), strict=True)
                batch, n_cells = [], 0
        if batch:
            yield from zip(batch, self._differences(batch, n_lists > 2).tolist(), strict=True)

    def _differences(self, tasks: Sequence[_Task], all_runs: bool) -> Floats:
        """Return the difference of each pair on a topic under the labels of its task.

        Other unjudged documents stay unjudged, or are non-relevant: the higher difference of the two, so that a
        reversal holds either way. It is infinite where the measure is undefined for some run, which leaves the topic
        out.
        """
        judged = self.judged
        topic = np.array([self.hits[task.topic].topic for task in tasks])
        pair = np.array([task.pair for task in tasks])
        starts, size = judged.qrels.topic_offsets[topic], np.diff(judged.qrels.topic_offsets)[topic]
        offsets = np.concatenate([[0], np.cumsum(size)])
        grade = judged.qrels.grade[np.repeat(starts - offsets[:-1], size) + np.arange(offsets[-1])]
        labelled = np.concatenate([
            offset + task.documents for offset, task in zip(offsets.tolist(), tasks, strict=False)
        ])  # fmt: skip
        union = {t: self.hits[t].union for t in {task.topic for task in tasks}}
        is_open = np.concatenate([
            offset + union[task.topic] for offset, task in zip(offsets.tolist(), tasks, strict=False)
        ])  # fmt: skip
        rest = grade.copy()
        rest[is_open] = 0
        others = np.tile(np.arange(len(judged.runs) if all_runs else 0), (len(tasks), 1))
        runs = np.hstack([self.first[pair][:, np.newaxis], self.second[pair][:, np.newaxis], others])
        ends = []
        for variant in (grade, rest):
            variant[labelled] = best_label(judged)
            value = values_under_grades(judged, self.measure, topic, runs, variant)
            merit = self.merits(value)
            ends.append(np.where(np.isfinite(value).all(axis=1), merit[:, 0] - merit[:, 1], np.inf))
        highest = np.maximum(*ends)
        return np.where(np.isfinite(highest), highest, np.inf)


def _fewest(total: float, limit: float, steps: dict[int, list[tuple[int, float]]]) -> dict[int, int]:
    """Return the number of labels per topic: steps with the largest change per label, until the order is reversed."""
    sizes = dict.fromkeys(steps, 0)
    changes, start = dict.fromkeys(steps, 0.0), total

    def best_step(t: int) -> tuple[float, int, int, float]:
        options = (
            ((change - changes[t]) / (size - sizes[t]), t, size, change)
            for size, change in steps[t] if size > sizes[t]
        )  # fmt: skip
        return min(options, default=(np.inf, t, 0, 0.0))

    heap = [best_step(t) for t in steps]
    heapify(heap)
    # The running sum only saves time: the sum of all changes decides.
    while total >= limit or start + sum(changes.values()) >= limit:
        ratio, topic, size, change = heap[0]
        if np.isinf(ratio):  # No step is left.
            return {}
        total += change - changes[topic]
        sizes[topic], changes[topic] = size, change
        heapreplace(heap, best_step(topic))
    return {t: size for t, size in sizes.items() if size}
