"""The ideal list of a topic with aspects, built greedily: at every rank the document that gains most.

To find the best list is NP-hard; greedy is what ndeval and everybody does (Clarke et al. 2008). Equal gains are decided
by the larger document id. Documents with the same grades for all aspects are interchangeable, so all topics together
take one step per rank over the few *kinds* of documents there are.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from rankscope.judge.lists import Floats, Ints, Lists
from rankscope.judge.pool import Pool

__all__ = ["Cascade", "Novelty", "ideal_lists"]

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


class Cascade:
    """Gains that shrink: a document of grade g gains ``worth[g]`` times what earlier ones left of the aspect.

    It leaves ``1 - loss[g]`` of that; the state is what is left of each aspect.
    """

    def __init__(self, worth: tuple[float, ...], loss: tuple[float, ...]) -> None:
        self._key = (worth, loss)
        self._worth = np.array(worth)
        self._left = 1.0 - np.array(loss)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cascade) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def start(self, shape: tuple[int, ...]) -> Floats:
        return np.ones(shape)

    def gain(self, state: Floats, grade: Ints) -> Floats:
        return np.asarray(state * self._worth[grade])

    def after(self, state: Floats, grade: Ints) -> Floats:
        return np.asarray(state * self._left[grade])


def ideal_lists(pool: Pool, novelty: Novelty, weights: Floats | None = None) -> Lists:
    """The greedy ideal of every topic: all its relevant documents, one list per topic.

    ``weights`` says how much each (aspect, topic) counts; by default all that have relevant documents count 1.
    """
    key = (novelty, None if weights is None else weights.tobytes())
    if key not in pool.ideals:
        factors = pool.aspects_counted.astype(np.float64) if weights is None else weights
        pool.ideals[key] = _greedy(pool, novelty, factors)
    return pool.ideals[key]


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


def _greedy(pool: Pool, novelty: Novelty, weights: Floats) -> Lists:
    kinds = _Kinds(pool)
    lengths = kinds.relevant
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    chosen = np.zeros(offsets[-1], np.int32)
    state = novelty.start((len(pool), len(weights)))
    everyone = np.arange(len(pool))
    for rank in range(int(lengths.max(initial=0))):
        gains = (novelty.gain(state[:, np.newaxis], kinds.grade) * weights.T[:, np.newaxis]).sum(axis=2)
        pick = _largest(np.where(kinds.left > 0, gains, -1.0), kinds)
        going = lengths > rank
        document = kinds.order[kinds.next[everyone[going], pick[going]]]
        chosen[offsets[:-1][going] + rank] = document
        kinds.next[everyone[going], pick[going]] += 1
        kinds.left[everyone[going], pick[going]] -= 1
        state = novelty.after(state, kinds.grade[everyone, pick])
    ranks = np.arange(len(chosen)) - np.repeat(offsets[:-1], lengths) + 1
    return Lists(pool, everyone, lengths, offsets, ranks.astype(np.int32), chosen)


def _largest(gains: Floats, kinds: _Kinds) -> npt.NDArray[np.intp]:
    """For every topic the kind that gains most; among equals the one whose next document has the largest id."""
    best = gains.max(axis=1, keepdims=True)
    tied = (gains >= best - _TIE * np.abs(best)) & (kinds.left > 0)
    document = kinds.order[np.minimum(kinds.next, len(kinds.order) - 1)]
    return np.asarray(np.where(tied, document, -1).argmax(axis=1))
