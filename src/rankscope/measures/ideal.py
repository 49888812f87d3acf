"""The ideal list of a topic with aspects, built greedily: at every rank the document that gains most.

To find the best list is NP-hard; greedy is what ndeval and everybody does (Clarke et al. 2008). Equal gains are decided
by the larger document id. Documents with the same grades for all aspects are interchangeable, so all topics together
take one step per rank over the few *kinds* of documents there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rankscope.judging.lists import Floats, Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.measures.classic import satisfaction

__all__ = ["Novelty", "Redundancy", "Satisfaction", "ideal_lists"]

_TIE = 1e-12  # gains this close, relative to the larger, are the same number rounded differently


class Novelty(Protocol):
    """How much a document is worth when others were seen before; equal models must be equal and hashable."""

    def start(self, shape: tuple[int, ...]) -> Floats:
        """What is known before the first rank, for each (topic, aspect)."""
        ...

    def gain(self, state: Floats, grade: Ints) -> Floats:
        """The gain of a document of a grade for an aspect."""
        ...

    def after(self, state: Floats, grade: Ints) -> Floats:
        """What is known after such a document."""
        ...


@dataclass(frozen=True)
class Redundancy:
    """Gains that shrink: a document of grade ``rel`` or better gains what earlier ones left of the aspect.

    It leaves ``1 - alpha`` of that; the state is what is left of each aspect.
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
    """The users of ERR: a document satisfies those who are left with a probability that its grade says."""

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
    """The greedy ideal of every topic: its relevant documents, one list per topic, at least down to a depth.

    ``weights`` says how much each (aspect, topic) counts; by default all that have relevant documents count 1.
    """

    def greedy() -> _Greedy:
        factors = pool.aspects_counted().astype(np.float64) if weights is None else weights
        return _Greedy(pool, novelty, factors)

    key = ("greedy", novelty, None if weights is None else weights.tobytes())
    return pool.once(key, greedy).down_to(depth)


class _Kinds:
    """The relevant documents of every topic by kind, padded: ``grade[t, k, a]``, ``left[t, k]``, ``best[t, k]``."""

    def __init__(self, pool: Pool) -> None:
        grades = np.maximum(pool.aspect_grades, 0)
        document = np.flatnonzero(grades.any(axis=0))
        topic = pool.topic[document]
        rows = np.column_stack([topic, grades[:, document].T])
        kinds, kind = np.unique(rows, axis=0, return_inverse=True)
        kind = kind.ravel()
        # documents of a kind from the largest id to the smallest: those of a topic are sorted by id
        self.order = document[np.lexsort((-document, kind))]
        count = np.bincount(kind, minlength=len(kinds))
        per_topic = np.bincount(kinds[:, 0], minlength=len(pool))
        place = np.arange(len(kinds)) - (np.cumsum(per_topic) - per_topic)[kinds[:, 0]]
        shape = (len(pool), int(per_topic.max(initial=0)))
        self.grade: Ints = np.zeros((*shape, len(grades)), np.int64)
        self.grade[kinds[:, 0], place] = kinds[:, 1:]
        self.left: Ints = np.zeros(shape, np.int64)
        self.left[kinds[:, 0], place] = count
        self.next: Ints = np.zeros(shape, np.int64)
        self.next[kinds[:, 0], place] = np.cumsum(count) - count
        self.relevant = np.bincount(topic, minlength=len(pool))


class _Greedy:
    """The ideal lists of a pool as far as anybody has asked for."""

    def __init__(self, pool: Pool, novelty: Novelty, weights: Floats) -> None:
        self._pool = pool
        self._novelty = novelty
        self._weights = weights.T[:, np.newaxis]
        self._kinds = _Kinds(pool)
        self._state = novelty.start((len(pool), len(weights)))
        self._longest = int(self._kinds.relevant.max(initial=0))
        self._chosen: list[
            Ints
        ] = []  # for every rank the document of every topic, -1 where there is none left
        self._lists = self._written()
        self._growing = Lock()  # pieces of work in several threads share the pool, and so these lists

    def down_to(self, depth: int | None) -> Lists:
        """The lists, at least down to a depth."""
        wanted = self._longest if depth is None else min(depth, self._longest)
        with self._growing:
            if wanted > len(self._chosen):
                while wanted > len(self._chosen):
                    self._chosen.append(self._step(len(self._chosen)))
                self._lists = self._written()
            return self._lists

    def _step(self, rank: int) -> Ints:
        kinds, topics = self._kinds, np.arange(len(self._pool))
        gains = (self._novelty.gain(self._state[:, np.newaxis], kinds.grade) * self._weights).sum(axis=2)
        pick = _largest(np.where(kinds.left > 0, gains, -1.0), kinds)
        going = kinds.relevant > rank
        document = np.where(
            going, kinds.order[np.minimum(kinds.next[topics, pick], len(kinds.order) - 1)], -1
        )
        kinds.next[topics, pick] += going
        kinds.left[topics, pick] -= going
        self._state = self._novelty.after(self._state, kinds.grade[topics, pick])
        return np.asarray(document, np.int64)

    def _written(self) -> Lists:
        size = len(self._pool)
        chosen = np.stack(self._chosen, axis=1) if self._chosen else np.zeros((size, 0), np.int64)
        there = chosen >= 0
        offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        rank = np.broadcast_to(np.arange(1, chosen.shape[1] + 1, dtype=np.int32), chosen.shape)[there]
        return Lists(self._pool, np.arange(size), np.diff(offsets), offsets, rank, chosen[there])


def _largest(gains: Floats, kinds: _Kinds) -> npt.NDArray[np.intp]:
    """For every topic the kind that gains most; among equals the one whose next document has the largest id."""
    best = gains.max(axis=1, keepdims=True)
    tied = (gains >= best - _TIE * np.abs(best)) & (kinds.left > 0)
    document = kinds.order[np.minimum(kinds.next, len(kinds.order) - 1)]
    return np.asarray(np.where(tied, document, -1).argmax(axis=1))
