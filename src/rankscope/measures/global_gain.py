"""D-measures: one gain for each document, made of its grades for all aspects, then an ordinary measure."""

from __future__ import annotations

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging import UNJUDGED
from rankscope.judging.lists import Floats, Lists
from rankscope.judging.pool import Pool
from rankscope.measures.base import parameter, ratio
from rankscope.measures.diversity import StRec
from rankscope.measures.weighted import DCG

__all__ = ["DS_nDCG", "D_nDCG"]


class D_nDCG(DCG):
    """nDCG on global gains: a document gains for every aspect, by its grade and the weight of the aspect.

    gain of a document = sum over aspects a of p_a gain(grade for a);  then nDCG: the ideal orders documents by gain
    """

    family = "diversity"
    needs_aspects = True
    range = (0.0, 1.0)
    reference = "Sakai and Song 2011"

    def of(self, lists: Lists) -> Floats:
        self._refuse_endless(lists.pool.max_grade)
        gain = self._global_gain(lists.pool)
        return ratio(
            self._cumulated(lists, gain), lists.per_topic(self._cumulated(_by_gain(lists.pool, gain), gain))
        )

    def _global_gain(self, pool: Pool) -> Floats:
        weights = pool.aspect_weights[:, pool.topic]
        grades = pool.aspect_grades
        gains = self.gain(grades.ravel(), pool.max_grade).reshape(grades.shape)
        return np.asarray((weights * gains).sum(axis=0))

    def _cumulated(self, lists: Lists, gain: Floats) -> Floats:
        hits = self.gaining(lists)
        unjudged = self.gain(np.array([UNJUDGED]), lists.pool.max_grade)
        gains = np.where(hits.judgment < 0, unjudged, hits.take(gain))
        return hits.sum(gains * hits.at_rank(self.weight))

    def residual(self, lists: Lists) -> Floats:
        raise MeasureError(f"{self.name} has no residual", hint="use DCG@k or RBP")


def _by_gain(pool: Pool, gain: Floats) -> Lists:
    """One list per topic: the documents that gain something, from the largest gain to the smallest."""
    some = np.flatnonzero(gain > 0)
    order = some[np.lexsort((-gain[some], pool.topic[some]))]
    lengths = np.bincount(pool.topic[order], minlength=len(pool))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rank = np.arange(1, len(order) + 1) - offsets[pool.topic[order]]
    return Lists(pool, np.arange(len(pool)), lengths, offsets, rank.astype(np.int32), order)


class DS_nDCG(D_nDCG):
    """D#-nDCG: subtopic recall and D_nDCG together.

    DS_nDCG@k = gamma StRec@k + (1 - gamma) D_nDCG@k
    """

    aliases = ("Dsharp_nDCG",)
    gamma: float = parameter(0.5, "how much subtopic recall counts against D_nDCG", low=0, high=1)

    def of(self, lists: Lists) -> Floats:
        return self.gamma * StRec(self.cutoff).of(lists) + (1 - self.gamma) * super().of(lists)
