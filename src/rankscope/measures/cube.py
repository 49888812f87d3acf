"""The cube test: a search task as a cube that relevant documents fill, one prism per aspect, as fast as possible.

The official programs differ; a preset names one of them.

=============== ================ =========== ===================== ===================== =====================
preset          gain of grade g  divided by  full when             overflow              time, unless set
=============== ================ =========== ===================== ===================== =====================
trec-dd-2017    gamma^(n+1) g    height      height is reached     cut off               iterations
trec-dd-2014    gamma^(n+1) g/4  -           height 1 is reached   kept                  seconds (a reading model)
equation7       gamma^n g/g_max  -           grades reach height   kept                  documents
=============== ================ =========== ===================== ===================== =====================

Equation 7 does not define the time; the accompanying text names the number of iterations (``time=iterations``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankscope.judging.lists import Floats, Hits, Ints, Lists
from rankscope.measures.base import parameter, ratio
from rankscope.measures.diversity import Diversity
from rankscope.measures.ideal import ideal_lists

ORDER = 5
"""Position of these measures in listings."""

# Reading model of the 2014 program: seconds per summary, word and decision, and click probabilities.
_SUMMARY, _WORD, _DECISION, _CLICK_RELEVANT, _CLICK_OTHER = 4.4, 0.018, 7.8, 0.64, 0.39
_BEST_GRADE_2014 = 4


class CT(Diversity):
    """Cube test: how much of the information need is filled, per unit of time.

    CT = 1 / (Time * height) * sum over aspects a of p_a min(height, sum over documents of gamma^(n+1) grade)
    n = documents relevant to a above; Time = 1, or with iteration=5 the number of pages of 5 documents.
    preset equation7: gamma^n instead, not divided by height (Albahem et al. 2018); its Time is the number of documents,
    or with time=iterations 1, or the number of pages, as the paper states for TREC
    preset trec-dd-2014: TREC's first program, with its model of reading time

    User: A professional whose need has several aspects, each of which can be filled up to a height; gains the volume
    filled, divided by the time spent.
    """

    range = (0.0, float("inf"))
    reference = "Luo, Wing, Yang and Hearst 2013"
    preset: str = parameter(
        "trec-dd-2017", "which program", choices=("trec-dd-2017", "trec-dd-2014", "equation7")
    )
    gamma: float = parameter(0.5, "discount for each earlier document of the same aspect", low=0, high=1)
    height: float = parameter(
        5.0,
        "height at which an aspect is full (2014: always 1)",
        low=0,
        excluded="the height is greater than 0",
    )
    time: str = parameter(
        "preset",
        "unit of Time: iterations, documents, or that of the preset (2017 iterations, equation7 documents)",
        choices=("preset", "iterations", "documents"),
    )
    iteration: int = parameter(0, "documents of an iteration; 0: all in one", low=0)
    words: float = parameter(150.0, "length of a document (2014 only)", low=0)

    def validate(self) -> None:
        if self.preset == "trec-dd-2014" and self.time != "preset":
            hint = "its program counts seconds of reading"
            raise self._error(f"of 2014 cannot have time={self.time!r}", hint)

    def evaluate(self, lists: Lists) -> Floats:
        hits = self._hits(lists)
        filled = lists.by_aspect.sum_hits(hits, self.increments(lists), lists.pool.aspect_weights())
        return ratio(filled, self._time(lists))

    def _hits(self, lists: Lists) -> Hits:
        return lists.by_aspect.lists.relevant(1, self.cutoff)

    def increments(self, lists: Lists) -> Floats:
        """Return the increment of each hit to its aspect."""
        hits = self._hits(lists)
        earlier = 1 if self.preset == "equation7" else 0
        remaining = hits.at_ordinal(lambda ordinal: self.gamma ** (ordinal - earlier + 0.0))
        if self.preset == "equation7":
            grade = hits.grade / lists.pool.max_grade
            return remaining * grade * (hits.before(grade) < self.height)
        if self.preset == "trec-dd-2014":
            gain = remaining * hits.grade / _BEST_GRADE_2014
            return gain * (hits.before(gain) < 1.0)
        gain = remaining * hits.grade
        if lists.pool.max_grade * self.gamma <= self.height * (1 - self.gamma):
            return gain / self.height  # a geometric series that never reaches the top
        before = hits.before(gain)
        return np.maximum(np.minimum(gain, self.height - before), 0.0) / self.height

    def _time(self, lists: Lists) -> Floats:
        """Return the time to read each list."""
        retrieved = lists.retrieved(self.cutoff)
        if self.preset == "trec-dd-2014":
            return self._seconds(retrieved, lists.relevant(1, self.cutoff).count)
        return self._time_until(retrieved)

    def _time_until(self, rank: Ints) -> Floats:
        """Return the time to read down to each rank, in iterations or documents."""
        by_documents = (self.time, self.preset) in (("documents", self.preset), ("preset", "equation7"))
        if by_documents:
            return np.asarray(rank, np.float64)
        if self.iteration == 0:
            return np.ones(len(rank))
        return np.maximum(1.0, np.ceil(rank / self.iteration))

    def _seconds(self, rank: Ints, relevant: Ints) -> Floats:
        read = _WORD * self.words + _DECISION
        return rank * (_SUMMARY + read * _CLICK_OTHER) + relevant * read * (_CLICK_RELEVANT - _CLICK_OTHER)


class ACT(CT):
    """Average cube test: the mean over all documents of the cube test of the ranking down to it.

    ACT = 1/n * sum over ranks i of CT(first i documents);  presets as for CT

    User: The user of CT, measured after every document; the values are averaged, so that gains at early ranks count
    again at every later one.
    """

    reference = "Yang, Frank and Soboroff 2015"

    def evaluate(self, lists: Lists) -> Floats:
        retrieved = lists.retrieved(self.cutoff)
        if self.preset == "trec-dd-2014":
            return ratio(self._rank_by_rank(lists), retrieved)
        # A gain at rank r counts at every rank from r on, each time divided by the time spent so far.
        deepest = int(retrieved.max(initial=0))
        ranks = np.arange(1, deepest + 1)
        speed = np.concatenate([[0.0], np.cumsum(1.0 / self._time_until(ranks))])
        hits, gain = self._hits(lists), self.increments(lists)
        weights = lists.pool.aspect_weights()
        filled = lists.by_aspect.sum_hits(hits, gain, weights)
        early = lists.by_aspect.sum_hits(hits, gain * hits.at_rank(lambda rank: speed[rank - 1]), weights)
        length = np.maximum(np.arange(deepest + 1.0), 1.0)
        value = lists.times_at_length(filled, speed / length, self.cutoff)
        value -= lists.times_at_length(early, 1.0 / length, self.cutoff)
        return value

    def _rank_by_rank(self, lists: Lists) -> Floats:
        """Return the sum of CT over all ranks when time depends on which documents are relevant."""
        total = np.zeros(len(lists))
        retrieved = lists.retrieved(self.cutoff)
        for rank in range(1, int(retrieved.max(initial=0)) + 1):
            value = CT(rank, **self.settings).evaluate(lists)
            total += np.where(retrieved >= rank, value, 0.0)
        return total


@dataclass(frozen=True)
class _Filling:
    """Novelty model of the cube: the state of an aspect is its height and its number of documents so far."""

    gamma: float
    height: float

    def start(self, shape: tuple[int, ...]) -> Floats:
        return np.zeros((*shape, 2))

    def gain(self, state: Floats, grade: Ints) -> Floats:
        return np.minimum(self.gamma ** (state[..., 1] + 1) * grade, self.height - state[..., 0])

    def after(self, state: Floats, grade: Ints) -> Floats:
        return np.stack([state[..., 0] + self.gain(state, grade), state[..., 1] + (grade > 0)], axis=-1)


class nCT(CT):
    """Normalised cube test: CT divided by that of the ideal ranking.

    nCT = CT / CT(ideal), the ideal built greedily and cut at the same depth (bound greedy; with several grades
    greedy is not always best, so that nCT can slightly exceed 1);  bound trec-dd-2017 is that of TREC's program:
    every aspect filled by its best documents at once with gamma^n, over all pages down to the cutoff

    User: The user of CT, whose speed is compared with that on an ideal ranking of the same length.
    """

    reference = "Yang, Tang and Soboroff 2017"
    bound: str = parameter("greedy", "divisor of CT", choices=("greedy", "trec-dd-2017"))

    def evaluate(self, lists: Lists) -> Floats:
        if self.bound == "trec-dd-2017":
            return ratio(super().evaluate(lists), lists.per_topic(self._official_bound(lists)))
        model = _Filling(self.gamma, self.height)
        ideal = ideal_lists(lists.pool, model, lists.pool.aspect_weights(), self.cutoff)
        return ratio(super().evaluate(lists), lists.per_topic(super().evaluate(ideal)))

    def _official_bound(self, lists: Lists) -> Floats:
        pool = lists.pool
        deepest = int(pool.by_aspect.recall_base(1).max(initial=0)) if self.cutoff is None else self.cutoff
        # The official program uses one document more than the depth.
        best = pool.by_aspect.ideal.relevant(1, deepest + 1)
        gain = self.gamma ** (best.ordinal - 1.0) * best.grade
        filled = np.minimum(best.sum(gain), self.height).reshape(pool.aspect_weights().shape)
        pages = np.maximum(1.0, np.ceil(deepest / self.iteration)) if self.iteration else 1.0
        return np.asarray((filled * pool.aspect_weights()).sum(axis=0) / self.height / pages)
