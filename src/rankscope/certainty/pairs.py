"""Two runs under one labelling: an unjudged document has the same label in both lists.

For measures that are sums of gain times weight, perhaps as a share of the ideal list, a label x of document d changes
the difference of two runs by x (weight in A - weight in B): what can be reversed, and by which labels, follows from the
weights (:class:`Effects`). Others have the difference of their ranges, which is proved but not tight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.certainty.declared import form_of
from rankscope.certainty.labels import best_label, unjudged_counts
from rankscope.judging import Judged
from rankscope.judging.lists import Floats, Ints
from rankscope.measures.base import Measure
from rankscope.measures.forms import Weighted

__all__ = ["SLACK", "Effects", "Reversals", "effects_of"]

SLACK = 1e-12
"""A difference of means that is no larger is none."""

_CELLS = 1 << 21
"""Cells of a matrix pairs x labels held at a time."""


class Topic(NamedTuple):
    """What labels can do on one topic; runs have as many columns as the one with most unjudged documents needs."""

    numerator: Floats
    """What each run has now, before it is divided."""
    ideal: Floats
    """What is divided by, with 0, 1, 2, ... more documents of the best grade; the last one stays."""
    document: Ints
    """runs x columns: the unjudged documents of each run that have weight, by their numbers on this topic."""
    weight: Floats
    """runs x columns: their weights, 0 where a run has no more of them."""
    dense: Floats
    """runs x documents: the weight of every such document in every run."""
    names: Ints
    """The place of each of these documents in the judgments."""
    unjudged: Ints
    """How many unjudged documents each run has, with weight or without."""


@dataclass(frozen=True, eq=False)
class Reversals:
    """For each pair, of which the first run is better now, what labels can do to the mean difference."""

    lowest: Floats
    """The lowest difference that a known labelling reaches."""
    proved: Floats
    """A difference below which no labelling leads."""
    labels: Ints
    """How many documents must be judged relevant so that the second run wins, as far as is known; 0: none are."""


@dataclass(frozen=True, eq=False)
class Effects:
    """What labels do to a measure, topic by topic."""

    topics: tuple[Topic, ...]
    gain: float
    """That of the best grade."""
    scaled: bool
    """Whether values are divided by those of an ideal list."""

    def reversals(self, first: Ints, second: Ints) -> Reversals:
        """What labels can do to each pair of runs."""
        width = sum(topic.weight.shape[1] for topic in self.topics) + 1
        step = max(1, _CELLS // width)
        parts = [
            self._block(first[start : start + step], second[start : start + step])
            for start in range(0, len(first), step)
        ]
        return Reversals(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _block(self, first: Ints, second: Ints) -> tuple[Floats, Floats, Ints]:
        now = np.zeros(len(first))
        proved = np.zeros(len(first))
        deltas, keys = [], []
        for topic in self.topics:
            delta, key, start, bound = self._topic(topic, first, second)
            now += start
            proved += bound
            deltas.append(delta)
            keys.append(key)
        delta, key = np.concatenate(deltas, axis=1), np.concatenate(keys, axis=1)
        order = np.argsort(key, axis=1, kind="stable")
        running = now[:, np.newaxis] + np.cumsum(np.take_along_axis(delta, order, axis=1), axis=1)
        many = len(self.topics)
        below = running < -SLACK * many
        labels = np.where(below.any(axis=1), below.argmax(axis=1) + 1, 0)
        lowest = np.minimum(now, running.min(axis=1, initial=np.inf)) / many
        return lowest, np.minimum(proved / many, lowest), labels

    def _topic(self, topic: Topic, first: Ints, second: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """What each further label of the best grade changes, in the best order, and what orders labels of all topics.

        Documents are those of the second run, from the one that helps it most on; labels that do not help are worth 0.
        """
        change = topic.dense[first[:, np.newaxis], topic.document[second]] - topic.weight[second]
        change = self.gain * np.sort(np.minimum(change, 0.0), axis=1)
        difference = topic.numerator[first] - topic.numerator[second]
        sums = difference[:, np.newaxis] + np.concatenate(
            [np.zeros((len(first), 1)), np.cumsum(change, axis=1)], axis=1
        )
        divisor = topic.ideal[np.minimum(np.arange(sums.shape[1]), len(topic.ideal) - 1)]
        values = np.divide(sums, divisor, out=np.zeros_like(sums), where=divisor > 0)
        best = values.argmin(axis=1)
        delta = np.diff(values, axis=1)
        delta[np.arange(delta.shape[1]) >= best[:, np.newaxis]] = 0.0
        return (
            delta,
            np.maximum.accumulate(delta, axis=1),
            values[:, 0],
            self._proved(topic, first, second, sums[:, -1]),
        )

    def _proved(self, topic: Topic, first: Ints, second: Ints, least: Floats) -> Floats:
        """A bound of what the difference on a topic can become."""
        if not self.scaled:
            return least
        # a share of an ideal list that is at least what it is now, and at most what all labels make of it
        most = topic.ideal[np.minimum(topic.unjudged[first] + topic.unjudged[second], len(topic.ideal) - 1)]
        now = topic.ideal[0]
        if now == 0:
            return np.where(least < 0, -1.0, 0.0)
        return np.asarray(np.maximum(np.where(least < 0, least / now, least / most), -1.0))

    def bounds_against(self, other: Effects, first: Ints, second: Ints) -> Floats:
        """A bound of the mean difference of the first runs, by these effects, and the second ones, by the other's."""
        total = np.zeros(len(first))
        step = max(1, _CELLS // (max(topic.weight.shape[1] for topic in other.topics) + 1))
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            for mine, theirs in zip(self.topics, other.topics, strict=True):
                a, b = first[part], second[part]
                known = np.searchsorted(mine.names, theirs.names)
                there = np.minimum(known, max(0, len(mine.names) - 1))
                same = np.zeros(theirs.dense.shape[1], np.bool_)
                if len(mine.names):
                    same[: len(theirs.names)] = mine.names[there] == theirs.names
                dense = np.zeros((len(mine.dense), theirs.dense.shape[1]))
                dense[:, same] = mine.dense[:, there[same[: len(theirs.names)]]]
                change = dense[a[:, np.newaxis], theirs.document[b]] - theirs.weight[b]
                least = (
                    mine.numerator[a] - theirs.numerator[b] + self.gain * np.minimum(change, 0.0).sum(axis=1)
                )
                total[part] += self._proved(theirs, a, b, least)
        return total / len(self.topics)

    def labels(self, first: int, second: int, many: int) -> Iterator[tuple[int, int]]:
        """The topic and the document, by its place in the judgments, of the labels that turn a pair over."""
        a, b = np.array([first]), np.array([second])
        rows = []
        for t, topic in enumerate(self.topics):
            if not len(topic.names):
                continue
            key = self._topic(topic, a, b)[1]
            change = topic.dense[first, topic.document[second]] - topic.weight[second]
            order = np.argsort(np.minimum(change, 0.0), kind="stable")
            rows += [
                (float(k), t, int(topic.names[topic.document[second][d]]))
                for d, k in zip(order, key[0], strict=True)
            ]
        keys = np.array([key for key, *_ in rows])
        for row in np.argsort(keys, kind="stable")[:many].tolist():
            yield rows[row][1], rows[row][2]


def effects_of(
    judged: Judged,
    measure: Measure,
    values: Floats,
    topics: Ints,
    ranks: npt.NDArray[np.integer] | None = None,
) -> Effects | None:
    """What labels do to a measure on some topics; None if it is not a sum of gains with weights.

    The judgments know all documents that have weight (:func:`rankscope.certainty.documents.knowing`); ``values`` are
    those of the runs on these topics, and ``ranks`` those of all hits if they are not the ranks in the lists.
    """
    form = form_of(measure)
    if not isinstance(form, Weighted) or measure.needs_aspects:
        return None
    grade = judged.qrels.grade
    rank = judged.rank if ranks is None else ranks
    width = len(judged.topics)
    number = np.repeat(np.arange(len(judged.length)), np.diff(judged.offsets))
    open_ = np.flatnonzero(grade[judged.judgment] < 0)
    weight = form.weights(measure, rank[open_])
    by_topic = np.argsort(number[open_] % width, kind="stable")
    bounds = np.searchsorted((number[open_] % width)[by_topic], np.arange(width + 1))
    many = judged.grid(unjudged_counts(judged))
    best = best_label(judged)
    gain = float(form.gains(best)[-1])
    found = []
    for place, t in enumerate(topics.tolist()):
        mine = by_topic[bounds[t] : bounds[t + 1]]
        run, document = number[open_][mine] // width, judged.judgment[open_][mine].astype(np.int64)
        unjudged = many[:, t]
        start, stop = judged.qrels.topic_offsets[t], judged.qrels.topic_offsets[t + 1]
        known = grade[start:stop][grade[start:stop] >= 0]
        counts = np.bincount(known, minlength=best + 1)
        most = int(np.sort(unjudged)[-2:].sum())
        ideal = _until_it_stays(form.ideal(measure, counts, most))
        numerator = values[:, place] * ideal[0]
        found.append(_topic(run, document, weight[mine], unjudged, numerator, ideal))
    return Effects(tuple(found), gain, type(form) is not Weighted)


def _until_it_stays(values: Floats) -> Floats:
    """The values up to the one that all others are equal to: below a cutoff nothing changes.

    >>> _until_it_stays(np.array([1.0, 2.0, 2.5, 2.5, 2.5])).tolist()
    [1.0, 2.0, 2.5]
    """
    other = np.flatnonzero(values != values[-1])
    return values[: other[-1] + 2 if len(other) else 1].copy()


def _topic(
    run: Ints, document: Ints, weight: Floats, unjudged: Ints, numerator: Floats, ideal: Floats
) -> Topic:
    some = np.flatnonzero(weight > 0)
    run, weight = run[some], weight[some]
    names, document = np.unique(document[some], return_inverse=True)
    runs = len(numerator)
    dense = np.zeros((runs, max(1, len(names))))
    dense[run, document] = weight
    order = np.argsort(run, kind="stable")
    run, document, weight = run[order], document[order], weight[order]
    place = np.arange(len(run)) - np.searchsorted(run, run)
    width = int(place.max(initial=0)) + 1  # a column of nothing where nothing is open
    documents, weights = np.zeros((runs, width), np.int64), np.zeros((runs, width))
    documents[run, place], weights[run, place] = document, weight
    return Topic(numerator, ideal, documents, weights, dense, names, unjudged)
