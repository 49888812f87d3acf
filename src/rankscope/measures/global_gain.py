"""D-measures: one gain per document, computed from its grades for all aspects, then an ordinary measure.

D and DS take any measure; D_nDCG and DS_nDCG are the usual ones, with their own gains.
"""

from __future__ import annotations

from math import gcd, lcm

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging import UNJUDGED
from rankscope.judging.lists import Floats, Lists
from rankscope.judging.pool import Pool
from rankscope.measures.base import parameter, ratio
from rankscope.measures.composed import Composed
from rankscope.measures.diversity import Diversity, StRec
from rankscope.measures.weighted import DCG

ORDER = 9
"""Position of these measures in listings."""

_MAX_PARTS = 1000
"""Weights of aspects are taken as fractions with no larger denominator."""


class D_nDCG(DCG):
    """nDCG on global gains: a document gains for every aspect, by its grade and the weight of the aspect.

    gain of a document = sum over aspects a of p_a gain(grade for a);  then nDCG: the ideal orders documents by gain

    User: The user of nDCG who gains from every aspect of a document at once, each by its weight and grade, and does not
    mind the same aspect again.
    """

    family = "diversity"
    needs_aspects = True
    range = (0.0, 1.0)
    reference = "Sakai and Song 2011"

    def evaluate(self, lists: Lists) -> Floats:
        pool = lists.pool
        self._reject_endless(pool.max_grade)
        gain = self._global_gain(pool)
        best = pool.best_first(gain)
        if self.cutoff is not None:
            best = best.where(best.rank <= self.cutoff)
        ideal = best.sum(best.take(gain) * best.at_rank(self.weight))
        hits, unjudged = self.gaining(lists), self.gain(np.array([UNJUDGED]), pool.max_grade)
        gains = np.where(hits.judgment < 0, unjudged, hits.take(gain))
        return ratio(hits.sum(gains * hits.at_rank(self.weight)), lists.per_topic(ideal))

    def _global_gain(self, pool: Pool) -> Floats:
        weights = pool.aspect_weights()[:, pool.topic]
        grades = pool.aspect_grades
        gains = self.gain(grades.ravel(), pool.max_grade).reshape(grades.shape)
        return np.asarray((weights * gains).sum(axis=0))

    def residual(self, lists: Lists) -> Floats:
        raise self._error("has no residual", "use DCG@k or RBP")


class DS_nDCG(D_nDCG):
    """D#-nDCG: subtopic recall and D_nDCG together.

    DS_nDCG@k = gamma StRec@k + (1 - gamma) D_nDCG@k

    User: Half a user of D_nDCG and half one of StRec: wants much gain early and every aspect touched once.
    """

    aliases = ("Dsharp_nDCG",)
    gamma: float = parameter(0.5, "weight of subtopic recall relative to D_nDCG", low=0, high=1)

    def evaluate(self, lists: Lists) -> Floats:
        return self.gamma * StRec(self.cutoff).evaluate(lists) + (1 - self.gamma) * super().evaluate(lists)


class D(Composed, Diversity):
    """D-measure: any measure on global gains, computed from the grades of a document for all aspects.

    grade of a document = sum over aspects a of W_a (grade for a), with the smallest whole numbers W_a in the ratio of
    the weights p_a: the global gain as a whole number (equal weights: the grades added up). Then the inner measure
    write D(measure='nDCG')@10; the cutoff is that of the inner measure

    User: The user of the inner measure, who gains from every aspect of a document at once, each by its weight and
    grade.
    """

    reference = "Sakai and Song 2011"
    range = (-float("inf"), float("inf"))
    inner_rule = "the inner measure already uses aspects"
    measure: str = parameter("nDCG", "the measure of the global gains, such as 'RBP(p=0.5,graded=True)'")

    def evaluate(self, lists: Lists) -> Floats:
        gains = lists.pool.cache("global gains", lambda: _global(lists.pool))
        return self.inner().evaluate(lists.with_grades(gains))


class DS(D):
    """D#-measure: subtopic recall and a D-measure together.

    DS@k = gamma StRec@k + (1 - gamma) D@k;  write DS(measure='ERR')@10

    User: The user of a D-measure who also wants every aspect touched once, with the weight gamma.
    """

    aliases = ("Dsharp",)
    gamma: float = parameter(0.5, "weight of subtopic recall relative to the D-measure", low=0, high=1)

    def validate(self) -> None:
        super().validate()
        if self.better != "higher":  # higher subtopic recall is better, so the sum would have no direction
            object.__setattr__(self, "better", "neither")

    def evaluate(self, lists: Lists) -> Floats:
        return self.gamma * StRec(self.cutoff).evaluate(lists) + (1 - self.gamma) * super().evaluate(lists)


def _global(pool: Pool) -> Pool:
    """Return the pool in which each document has its global gain as a grade."""
    grades = np.maximum(pool.aspect_grades, 0).astype(np.int64)
    integers = [_to_integers(weights) for weights in pool.aspect_weights().T]
    whole = np.array(integers, np.int64).reshape(len(pool), -1)
    gain = (grades * whole.T[:, pool.topic]).sum(axis=0)
    if gain.max(initial=0) > np.iinfo(np.int32).max - 2:
        raise MeasureError("global gains are too large for grades", hint="give aspects simpler weights")
    return Pool(pool.offsets, np.where(pool.grade == UNJUDGED, UNJUDGED, gain).astype(np.int32))


def _to_integers(weights: Floats) -> list[int]:
    """Return the smallest whole numbers in the ratio of the weights.

    >>> _to_integers(np.array([0.5, 0.3, 0.2])), _to_integers(np.array([1 / 3] * 3)), _to_integers(np.zeros(2))
    ([5, 3, 2], [1, 1, 1], [0, 0])
    """
    from fractions import Fraction

    parts = [Fraction(float(weight)).limit_denominator(_MAX_PARTS) for weight in weights]
    if not np.allclose([float(part) for part in parts], weights, rtol=0, atol=1e-9):
        hint = f"D needs weights that are fractions with denominators up to {_MAX_PARTS:,}"
        raise MeasureError(f"aspects have the weights {', '.join(f'{w:g}' for w in weights)}", hint=hint)
    common = lcm(*(part.denominator for part in parts))
    numbers = [int(part * common) for part in parts]
    return [number // max(1, gcd(*numbers)) for number in numbers]
