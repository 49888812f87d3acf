"""Greedy ideal rankings of topics with aspects: at every rank the document with the largest gain.

Finding the best ranking is NP-hard; ndeval and other programs use the greedy algorithm (Clarke et al. 2008). Ties in
gain are broken by the larger document id. Documents with the same grades for all aspects are interchangeable, so the
algorithm takes one step per rank for all topics over the few *kinds* of documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np

from rankscope.arrays import Floats, Indices, Ints
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.measures.classic import satisfaction

_TIE = 1e-12  # relative difference below which two gains are equal up to rounding


class Novelty(Protocol):
    """Model of the gain of a document after others; models must implement equality and hash."""

    def start(self, shape: tuple[int, ...]) -> Floats:
        """Return the state before the first rank, for each (topic, aspect)."""
        ...

    def gain(self, state: Floats, grade: Ints) -> Floats:
        """Return the gain of a document of a grade for an aspect."""
        ...

    def after(self, state: Floats, grade: Ints) -> Floats:
        """Return the state after such a document."""
        ...


@dataclass(frozen=True)
class Redundancy:
    """Decreasing gains: each document of grade ``rel`` or better multiplies the gain of the next by ``1 - alpha``.

    The state is the remaining gain of each aspect.
    """

    rel: int
    alpha: float

    def start(self, shape: tuple[int, ...]) -> Floats:
        return np.ones(shape)

    def gain(self, state: Floats, grade: Ints) -> Floats:
        return np.asarray(state * (grade >= self.rel))

    def after(self, state: Floats, grade: Ints) -> Floats:
        return np.asarray(state * (1.0 - self.alpha * (grade >= self.rel)))


@dataclass(frozen=True)
class Satisfaction:
    """Users of ERR: a document satisfies the remaining users with a probability given by its grade."""

    best: int

    def start(self, shape: tuple[int, ...]) -> Floats:
        return np.ones(shape)

    def gain(self, state: Floats, grade: Ints) -> Floats:
        return np.asarray(state * satisfaction(grade, self.best))

    def after(self, state: Floats, grade: Ints) -> Floats:
        return np.asarray(state * (1.0 - satisfaction(grade, self.best)))


def ideal_lists(
    pool: Pool, novelty: Novelty, weights: Floats | None = None, depth: int | None = None
) -> Lists:
    """Return the greedy ideal ranking of every topic, at least down to a depth.

    ``weights`` are the weights of each (aspect, topic); by default 1 for aspects with relevant documents.
    """

    def greedy() -> _Greedy:
        factors = pool.aspects_counted().astype(np.float64) if weights is None else weights
        return _Greedy(pool, novelty, factors)

    key = ("greedy", novelty, None if weights is None else weights.tobytes())
    return pool.cache(key, greedy).down_to(depth)


class _Kinds:
    """Relevant documents of every topic by kind, padded: ``grade[t, k, a]``, ``left[t, k]``, ``best[t, k]``."""

    def __init__(self, pool: Pool) -> None:
        grades = np.maximum(pool.aspect_grades, 0)
        document = np.flatnonzero(grades.any(axis=0))
        topic = pool.topic[document]
        rows = np.column_stack([topic, grades[:, document].T])
        kinds, kind = np.unique(rows, axis=0, return_inverse=True)
        kind = kind.ravel()
        # Documents of a kind in descending order of id; the documents of a topic are sorted by id.
        self.order = document[np.lexsort((-document, kind))]
        count = np.bincount(kind, minlength=len(kinds))
        per_topic = np.bincount(kinds[:, 0], minlength=len(pool))
        index = np.arange(len(kinds)) - (np.cumsum(per_topic) - per_topic)[kinds[:, 0]]
        shape = (len(pool), int(per_topic.max(initial=0)))
        self.grade: Ints = np.zeros((*shape, len(grades)), np.int64)
        self.grade[kinds[:, 0], index] = kinds[:, 1:]
        self.left: Ints = np.zeros(shape, np.int64)
        self.left[kinds[:, 0], index] = count
        self.next: Ints = np.zeros(shape, np.int64)
        self.next[kinds[:, 0], index] = np.cumsum(count) - count
        self.relevant = np.bincount(topic, minlength=len(pool))


class _Greedy:
    """Ideal rankings of a pool, extended on demand."""

    def __init__(self, pool: Pool, novelty: Novelty, weights: Floats) -> None:
        self._pool = pool
        self._novelty = novelty
        self._weights = weights.T[:, np.newaxis]
        self._kinds = _Kinds(pool)
        self._state = novelty.start((len(pool), len(weights)))
        self._longest = int(self._kinds.relevant.max(initial=0))
        self._chosen: list[Ints] = []  # for every rank the document of every topic, -1 at the end of its list
        self._lists = self._build_lists()
        self._growing = Lock()  # several threads share the pool, and so these lists

    def down_to(self, depth: int | None) -> Lists:
        """Return the lists, at least down to a depth."""
        target = self._longest if depth is None else min(depth, self._longest)
        with self._growing:
            if target > len(self._chosen):
                while target > len(self._chosen):
                    self._chosen.append(self._step(len(self._chosen)))
                self._lists = self._build_lists()
            return self._lists

    def _step(self, rank: int) -> Ints:
        kinds, topics = self._kinds, np.arange(len(self._pool))
        gains = (self._novelty.gain(self._state[:, np.newaxis], kinds.grade) * self._weights).sum(axis=2)
        pick = _largest(np.where(kinds.left > 0, gains, -1.0), kinds)
        is_open = kinds.relevant > rank
        document = np.where(
            is_open, kinds.order[np.minimum(kinds.next[topics, pick], len(kinds.order) - 1)], -1
        )
        kinds.next[topics, pick] += is_open
        kinds.left[topics, pick] -= is_open
        self._state = self._novelty.after(self._state, kinds.grade[topics, pick])
        return np.asarray(document, np.int64)

    def _build_lists(self) -> Lists:
        size = len(self._pool)
        documents = np.stack(self._chosen, axis=1) if self._chosen else np.zeros((size, 0), np.int64)
        is_present = documents >= 0
        offsets = np.concatenate([[0], np.cumsum(is_present.sum(axis=1))])
        ranks = np.arange(1, documents.shape[1] + 1, dtype=np.int32)
        rank = np.broadcast_to(ranks, documents.shape)[is_present]
        return Lists(self._pool, np.arange(size), np.diff(offsets), offsets, rank, documents[is_present])


def _largest(gains: Floats, kinds: _Kinds) -> Indices:
    """Return the kind with the largest gain for every topic; the larger id of the next document breaks ties."""
    best = gains.max(axis=1, keepdims=True)
    tied = (gains >= best - _TIE * np.abs(best)) & (kinds.left > 0)
    document = kinds.order[np.minimum(kinds.next, len(kinds.order) - 1)]
    return np.asarray(np.where(tied, document, -1).argmax(axis=1))
