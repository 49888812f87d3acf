"""Step-down max-T tests over resamples (Westfall and Young 1993): p-values adjusted for many hypotheses at once.

The hypotheses share their resamples, so that the largest statistic of a resample is what chance makes of all of them
together, however they depend on each other. Holm's correction multiplies p-values by the number of hypotheses instead,
and needs that many more replicates before anything can be significant.

Statistics of pairs are t statistics in the form r = sum(z) / sqrt(sum(z^2)), which grows with t and has the same
denominator for all signs of the differences z.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.randomness import generator
from rankscope.progress import advance

__all__ = ["Flips", "StepDown", "flip_pairs", "pair_norms", "worse_than_best"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_RELATIVE = 1e-9  # two statistics closer than this are equal: rounding must not decide a comparison
_NEGLIGIBLE = 1e-12  # differences below this share of the largest score are zero
_PAIRS_AT_ONCE = 32
_FLIPS_AT_ONCE = 2048  # with the pairs above, what is compared stays in the processor's cache
_SIGNS_AT_ONCE = 2**21
_STUDENTISED = 500
"""Runs up to which each difference from the best has its own standard error: the work grows with their square."""


@dataclass(eq=False)
class StepDown:
    """Counts of replicates whose statistic reaches the observed one: of a hypothesis alone, and of those not above it.

    ``unit`` is what stands for the observed data, which are one of the possible replicates (Phipson and Smyth 2010): p
    is (unit + reached) / (unit + replicates), or the plain share if all replicates were enumerated (0).
    """

    observed: Floats
    unit: int = 1
    alone: NDArray[np.int64] = field(init=False)
    jointly: NDArray[np.int64] = field(init=False)
    largest: list[Floats] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.order = np.argsort(self.observed, kind="stable")
        self.alone, self.jointly = np.zeros((2, len(self.observed)), np.int64)

    def count(self, blocks: Iterable[tuple[Indices, Floats]]) -> None:
        """Count some replicates: blocks of hypotheses in ``order``, each with statistics hypotheses x replicates."""
        running: Floats | None = None
        for places, drawn in blocks:
            advance()
            limit = (self.observed[places] * (1 - _RELATIVE))[:, None]
            self.alone[places] += np.count_nonzero(drawn >= limit, axis=1)
            for row in drawn:
                running = row if running is None else np.maximum(row, running, out=row)
            self.jointly[places] += np.count_nonzero(drawn >= limit, axis=1)
            running = None if running is None else running.copy()
        if running is not None:
            self.largest.append(running)

    @property
    def _replicates(self) -> int:
        return sum(map(len, self.largest))

    @property
    def p(self) -> Floats:
        """The p-value of each hypothesis alone."""
        return (self.unit + self.alone) / (self.unit + self._replicates)

    @property
    def adjusted(self) -> Floats:
        """The p-values adjusted for all hypotheses, never below that of a larger statistic."""
        adjusted = np.empty(len(self.observed))
        shares = (self.unit + self.jointly[self.order]) / (self.unit + self._replicates)
        adjusted[self.order] = np.maximum.accumulate(shares[::-1])[::-1]
        return adjusted

    def critical(self, alpha: float) -> float:
        """The statistic above which a hypothesis is significant in the first step, whichever it is."""
        rank = ceil(alpha * (self.unit + self._replicates) - 1e-9) - self.unit
        drawn = np.concatenate(self.largest) if self.largest else np.empty(0)
        return float(-np.partition(-drawn, rank - 1)[rank - 1]) if 1 <= rank <= len(drawn) else inf


@dataclass(frozen=True)
class Flips:
    """Random signs for the differences of each topic; all of them, but for a common sign, if they are no more."""

    topics: int
    replicates: int
    seed: int

    @property
    def every(self) -> bool:
        """Whether all signs are enumerated."""
        return self.topics - 1 <= 30 and 2 ** (self.topics - 1) <= self.replicates

    def blocks(self, size: int = _FLIPS_AT_ONCE) -> Iterator[Floats]:
        """The signs, topics x replicates, some replicates at a time.

        >>> next(Flips(3, 100, 1).blocks()).tolist()
        [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]]
        """
        if self.every:
            numbers = np.arange(2 ** (self.topics - 1))
            for start in range(0, len(numbers), size):
                bits = numbers[start : start + size] >> np.arange(self.topics)[:, None] - 1 & 1
                bits[0] = 0
                yield (1 - 2 * bits).astype(np.float64)
            return
        rng, left = generator(self.seed), self.replicates
        while left:
            drawn = min(left, max(1, _SIGNS_AT_ONCE // self.topics))
            signs = rng.integers(0, 2, size=(drawn, self.topics)).astype(np.float64).T * 2 - 1
            for start in range(0, drawn, size):
                yield signs[:, start : start + size]
            left -= drawn


def pair_norms(values: Floats, first: Indices, second: Indices) -> Floats:
    """The square root of the sum of squared differences of each pair; what is only rounding is exactly zero."""
    zero = float(np.abs(values).max(initial=0.0)) * _NEGLIGIBLE
    norms = np.empty(len(first))
    size = max(1, _SIGNS_AT_ONCE // values.shape[1])
    for start in range(0, len(first), size):
        part = slice(start, start + size)
        z = values[first[part]] - values[second[part]]
        norms[part] = np.sqrt(np.einsum("pt,pt->p", z, z))
    norms[norms <= zero] = 0.0
    return norms


def flip_pairs(values: Floats, first: Indices, second: Indices, flips: Flips) -> StepDown:
    """Paired randomisation tests of many pairs of runs, two-sided, with the counts of their step-down adjustment.

    Parameters
    ----------
    values : array of runs x topics
    first, second : arrays with the runs of each pair

    >>> values = np.array([[9, 8, 9, 7, 8, 6, 9], [2, 1, 1, 2, 1, 0, 3], [1, 1, 2, 2, 1, 1, 3]]) / 10
    >>> flip_pairs(values, np.array([0, 0, 1]), np.array([1, 2, 2]), Flips(7, 1000, 1)).adjusted.round(3).tolist()
    [0.016, 0.016, 1.0]
    """
    inverse = _inverse(pair_norms(values, first, second))
    found = StepDown(np.abs(_differences(values, first, second)) * inverse, 0 if flips.every else 1)
    a, b = first[found.order], second[found.order]
    weights = inverse[found.order, None]
    for signs in flips.blocks():
        sums = values @ signs
        found.count(_pair_blocks(sums, a, b, weights, found.order))
    return found


def _pair_blocks(
    sums: Floats, first: Indices, second: Indices, weights: Floats, order: Indices
) -> Iterator[tuple[Indices, Floats]]:
    for start in range(0, len(order), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        drawn = sums[first[part]]
        drawn -= sums[second[part]]
        np.abs(drawn, out=drawn)
        drawn *= weights[part]
        yield order[part], drawn


def _differences(values: Floats, first: Indices, second: Indices) -> Floats:
    """The sum of the differences of each pair, exactly zero where it is only rounding."""
    sums = values.sum(axis=1)
    found: Floats = sums[first] - sums[second]
    found[np.abs(found) <= float(np.abs(values).max(initial=0.0)) * _NEGLIGIBLE * values.shape[1]] = 0.0
    return found


def _inverse(norms: Floats) -> Floats:
    inverse = np.zeros_like(norms)
    np.divide(1.0, norms, out=inverse, where=norms > 0)
    return inverse


def worse_than_best(merits: Floats, *, replicates: int = 1000, seed: int = 1) -> Floats:
    """Adjusted p-values of the hypotheses that a run is as good as the best one, whichever that is.

    The statistic of a run is its largest deficit to any other run, as r of the paired differences. Under random signs
    of the topics' differences the largest statistic of all runs that are still in question is what chance makes of
    it, also if the best run is chosen after the fact: with a chance of at least 1 - alpha, no run that is truly best
    has p < alpha. This is a step-down form of multiple comparisons with the best (Hsu 1981; Romano and Wolf 2005), like
    the model confidence set of Hansen, Lunde and Nason (2011). Of more than 500 runs the statistic is the plain
    difference of means.

    Parameters
    ----------
    merits : array of runs x topics, higher is better

    Returns
    -------
    array of p-values, one per run

    >>> merits = np.array([[9, 8, 9, 7, 8, 6, 9, 7], [8, 9, 9, 7, 7, 7, 9, 7], [1, 1, 2, 2, 1, 1, 3, 1]]) / 10
    >>> (worse_than_best(merits) < 0.05).tolist()
    [False, False, True]
    """
    runs, topics = merits.shape
    flips = Flips(topics, replicates, seed)
    everyone = np.arange(runs)
    inverse = (
        np.stack([_inverse(pair_norms(merits, everyone, np.full(runs, run))) for run in everyone])
        if runs <= _STUDENTISED
        else None
    )
    observed = _deficits(merits.sum(axis=1, keepdims=True), inverse)[:, 0]
    found = StepDown(observed, 0 if flips.every else 2)
    for signs in flips.blocks(256):
        found.count([(found.order, _deficits(merits @ signs, inverse)[found.order])])
    return np.where(observed > 0, found.adjusted, 1.0)


def _deficits(sums: Floats, inverse: Floats | None) -> Floats:
    """The largest deficit of each run to any other, for some signs and, to the right, for the opposite ones."""
    if inverse is None:
        return np.concatenate([sums.max(axis=0) - sums, sums - sums.min(axis=0)], axis=1)
    runs, many = sums.shape
    found = np.empty((runs, 2 * many))
    for run in range(runs):
        apart = (sums - sums[run]) * inverse[run][:, None]
        found[run, :many], found[run, many:] = apart.max(axis=0), -apart.min(axis=0)
    return found
