"""Scales of measures on rankings too long for enumeration, decided by theorems alone.

A measure that is a sum of gain times weight is additive by definition, so its N weights decide. Any other measure is
refuted by two intervals with equal difference vectors and unequal rises, if such a pair exists among short rankings
padded with non-relevant documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import SettingsError
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.convexity import broken_additivity, convexity, witness
from rankscope.lab.measurement.distances import unequal_pair
from rankscope.lab.measurement.intervals import rankings
from rankscope.lab.measurement.scales import ScaleVerdict
from rankscope.lab.measurement.study import ScaleStudy
from rankscope.lab.measurement.values import Setting, merits_at, merits_on_binary
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import RELATIVE, slack
from rankscope.measures import Measure
from rankscope.measures.weighted import WeightedPrecision

_SHORT = 6  # maximal length of the rankings that are searched for a violation of additivity


class LongStudy(ScaleStudy):
    """Analysis of one measure on binary rankings that are too long for enumeration.

    >>> from rankscope.measures import measure
    >>> study = LongStudy(measure("RBP(p=0.5)"), Setting(100, 100), "auto", 1, 1, None)
    >>> [study.verdict(scale).holds for scale in scale_results.FROM_WEIGHTS]
    [True, True, True, False]
    """

    def __init__(self, measure: Measure, setting: Setting, *options: Any) -> None:
        super().__init__(measure, setting, *options)
        self.weights: Floats | None = None
        if isinstance(measure, WeightedPrecision):
            codes = [0, *(1 << bit for bit in range(setting.length - 1, -1, -1))]
            values = merits_at(measure, codes, setting.length, setting.relevant)
            self.weights = values[1:] - values[0]

    def _merits_at(self, length: int, codes: Sequence[int]) -> Floats:
        if self.weights is None:
            return merits_on_binary(self.measure, length, self.setting.relevant)[list(codes)]
        weights = self.weights[:length].tolist()
        rankings = map(self.setting.with_length(length).digits, codes)
        return np.array([sum(itertools.compress(weights, grades)) for grades in rankings], np.float64)

    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        if self.weights is None:
            return self._not_additive(scale)
        holds = convexity(self.weights, equal_relevant).holds
        zeros = "" if equal_relevant else ", continued by zeros"
        because = f"it adds up weights that are {'' if holds else 'not '}convex{zeros}"
        return self._additive(scale, holds, because, self.setting.length)

    def _interval(self, scale: str) -> ScaleVerdict:
        if self.weights is None:
            return self._not_additive(scale)
        ranks = np.arange(self.setting.length, 0, -1, dtype=np.float64)
        is_strong = scale == scale_results.STRONG
        share = self.weights / (2.0 ** (ranks - self.setting.length - 1) if is_strong else ranks)
        holds = bool(self.weights[-1] != 0 and np.ptp(share) <= RELATIVE * np.abs(share).max())
        shape = "halve from rank to rank" if is_strong else "fall in equal steps to zero behind the last rank"
        because = f"its weights {'' if holds else 'do not '}{shape}"
        return self._additive(scale, holds, because, min(self.setting.length, _SHORT))

    def _additive(self, scale: str, holds: bool, because: str, longest: int) -> ScaleVerdict:
        """Return the verdict on a weighted sum, with the shortest counterexample up to a length."""
        if holds:
            return self._holds(scale, because, {"method": "theorem", **scale_results.NOTHING_VIOLATED})
        for n in range(1, longest + 1):
            pair = self._violation(n, scale)
            if pair is not None:
                return self._fails(scale, n, pair, {"method": "theorem"})
        return ScaleVerdict(self.name, scale, self.setting, False, method="theorem", because=because)

    def _violation(self, length: int, scale: str) -> Pair | None:
        """Return a pair that contradicts the scale, for rankings of a length."""
        assert self.weights is not None
        weights = self.weights[:length]
        if scale in (scale_results.ALL, scale_results.EQUAL):
            fails_at = convexity(weights, scale == scale_results.EQUAL).fails_at
            return None if fails_at is None else witness(length, fails_at, scale == scale_results.EQUAL)
        grades = rankings(length)
        values = np.where(grades.sum(axis=1) <= self.setting.relevant, grades @ weights, np.nan)
        return unequal_pair(values, "strong" if scale == scale_results.STRONG else "weak")

    def _not_additive(self, scale: str) -> ScaleVerdict:
        """Return the verdict on a measure that is not a weighted sum.

        Intervals with equal difference vectors have equal distances on every scale, so a violation of additivity
        refutes all of them.
        """
        length, relevant = self.setting.length, self.setting.relevant
        for n in range(1, _SHORT + 1):
            pair = broken_additivity(
                merits_on_binary(self.measure, n, relevant), scale == scale_results.EQUAL
            )
            if pair is None:
                continue
            padded = merits_at(self.measure, [code << (length - n) for code in pair], length, relevant)
            small, large = padded[1] - padded[0], padded[3] - padded[2]
            if abs(small - large) > slack(large, float(np.abs(padded).max())):
                return self._fails(scale, n, pair, {"method": "theorem"})
        hint = "only measures that are sums of gain times weight can be decided there; use a length up to 20"
        raise SettingsError(f"{self.name} on all 2^{length} rankings of length {length}", hint=hint)
