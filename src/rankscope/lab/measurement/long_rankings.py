"""Scales of measures on rankings too long for enumeration, decided by theorems alone.

A measure that is a sum of gain times weight is additive by definition, so its N weights decide. Any other measure is
refuted by two intervals with equal difference vectors and unequal rises, if such a pair exists among short rankings
padded with non-relevant documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.arrays import Floats
from rankscope.errors import SettingsError
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.convexity import broken_additivity, convexity, witness
from rankscope.lab.measurement.distances import unequal_pair
from rankscope.lab.measurement.intervals import ranking, rankings
from rankscope.lab.measurement.scales import Counterexample, ScaleVerdict
from rankscope.lab.measurement.setting import Setting
from rankscope.lab.measurement.values import merits_at, merits_on_binary
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import RELATIVE, slack
from rankscope.measures import Measure
from rankscope.measures.weighted import WeightedPrecision

_SHORT = 6  # maximal length of the rankings that are searched for a violation of additivity


def long_verdicts(measure: Measure, setting: Setting, scales: Sequence[str]) -> list[ScaleVerdict]:
    """Return the verdicts on one measure and each scale.

    >>> from rankscope.measures import measure
    >>> [f.holds for f in long_verdicts(measure("RBP(p=0.5)"), Setting(100, 100), scale_results.FROM_WEIGHTS)]
    [True, True, True, False]
    """
    if isinstance(measure, WeightedPrecision):
        codes = [0, *(1 << bit for bit in range(setting.length - 1, -1, -1))]
        values = merits_at(measure, codes, setting.length, setting.relevant)
        return [_additive(str(measure), values[1:] - values[0], setting, scale) for scale in scales]
    return [_other(measure, setting, scale) for scale in scales]


def _additive(name: str, weights: Floats, setting: Setting, scale: str) -> ScaleVerdict:
    length = setting.length
    if scale in (scale_results.ALL, scale_results.EQUAL):
        equal_relevant = scale == scale_results.EQUAL
        holds = convexity(weights, equal_relevant).holds
        because = f"it adds up weights that are {'' if holds else 'not '}convex"
        because += "" if equal_relevant else ", continued by zeros"
    else:
        ranks = np.arange(length, 0, -1, dtype=np.float64)
        share = weights / (2.0 ** (ranks - length - 1) if scale == scale_results.STRONG else ranks)
        holds = bool(weights[-1] != 0 and np.ptp(share) <= RELATIVE * np.abs(share).max())
        because = f"its weights {'' if holds else 'do not '}{_SHAPE[scale]}"
    if holds:
        return ScaleVerdict(
            name, scale, setting, True, method="theorem", because=because, **scale_results.NOTHING_VIOLATED
        )
    for n in range(
        1, length + 1 if scale in (scale_results.ALL, scale_results.EQUAL) else min(length, _SHORT) + 1
    ):
        pair = _violation(weights[:n], setting.with_length(n), scale)
        if pair is not None:
            rises = [_sum(weights[:n], b) - _sum(weights[:n], a) for a, b in (pair[:2], pair[2:])]
            return _refuted(name, scale, setting, Counterexample(setting.with_length(n), pair, *rises))
    return ScaleVerdict(name, scale, setting, False, method="theorem", because=because)


_SHAPE = {
    scale_results.STRONG: "halve from rank to rank",
    scale_results.WEAK: "fall in equal steps to zero behind the last rank",
}


def _sum(weights: Floats, code: int) -> float:
    graded = zip(weights, ranking(code, len(weights)), strict=True)
    return float(sum(weight for weight, grade in graded if grade))


def _violation(weights: Floats, setting: Setting, scale: str) -> Pair | None:
    """Return a pair that contradicts the scale, for rankings as long as the weights."""
    if scale in (scale_results.ALL, scale_results.EQUAL):
        fails_at = convexity(weights, scale == scale_results.EQUAL).fails_at
        return None if fails_at is None else witness(len(weights), fails_at, scale == scale_results.EQUAL)
    grades = rankings(len(weights))
    values = np.where(grades.sum(axis=1) <= setting.relevant, grades @ weights, np.nan)
    return unequal_pair(values, "strong" if scale == scale_results.STRONG else "weak")


def _other(measure: Measure, setting: Setting, scale: str) -> ScaleVerdict:
    """Return the verdict on a measure that is not a weighted sum.

    Intervals with equal difference vectors have equal distances on every scale, so a violation of additivity refutes
    all of them.
    """
    length, relevant = setting.length, setting.relevant
    for n in range(1, _SHORT + 1):
        values = merits_on_binary(measure, n, relevant)
        pair = broken_additivity(values, scale == scale_results.EQUAL)
        if pair is None:
            continue
        padded = merits_at(measure, [code << (length - n) for code in pair], length, relevant)
        small, large = padded[1] - padded[0], padded[3] - padded[2]
        if abs(small - large) > slack(large, float(np.abs(padded).max())):
            rises = [float(values[b] - values[a]) for a, b in (pair[:2], pair[2:])]
            example = Counterexample(setting.with_length(n), pair, *rises)
            return _refuted(str(measure), scale, setting, example)
    hint = "only measures that are sums of gain times weight can be decided there; use a length up to 20"
    raise SettingsError(f"{measure} on all 2^{length} rankings of length {length}", hint=hint)


def _refuted(name: str, scale: str, setting: Setting, example: Counterexample) -> ScaleVerdict:
    return ScaleVerdict(
        name, scale, setting, False, method="theorem",
        because=f"already at length {example.length} {example.sentence(name, scale)}",
        fails_from=example.length, counterexample=example,
    )  # fmt: skip
