"""The paired randomisation test for many pairs of runs at once (Fisher 1935; Smucker, Allan and Carterette 2007).

If two runs were alike, each of the n differences could as well have had the other sign. The p-value is the share of the
2^n ways to choose the signs in which the absolute sum of the differences is at least the one that was found.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.randomness import generator
from rankscope.progress import advance

__all__ = ["EXACT_UP_TO", "exact_randomisation", "sampled_randomisation"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

EXACT_UP_TO = 20
"""Topics up to which all signs are counted; beyond, they are drawn."""

_RELATIVE = 1e-9  # two sums closer than this are equal: rounding must not decide a comparison
_PAIRS_AT_ONCE = 256
_DRAWN_AT_ONCE = 2**21


def exact_randomisation(differences: Floats) -> Floats:
    """Two-sided p-values over all 2^n signs, one per row of pairs x topics.

    The topics are cut into two halves. Every sum is one of the 2^(n/2) of the first half plus one of the second, so
    that for each of the first those of the second which reach the observed sum are found by bisection: exact, without
    2^n sums.

    >>> exact_randomisation(np.array([[0.1, 0.2, 0.3], [0.1, -0.1, 0.0]])).tolist()
    [0.25, 1.0]
    """
    pairs, topics = differences.shape
    half = topics // 2
    p = np.ones(pairs)
    for pair in range(pairs):
        advance()
        z = differences[pair]
        observed = abs(float(z.sum()))
        negligible = _RELATIVE * float(np.abs(z).max(initial=0.0))
        if observed > negligible:
            first, second = _signed_sums(z[:half]), np.sort(_signed_sums(z[half:]))
            reached = len(second) - np.searchsorted(second, observed - negligible - first, side="left")
            p[pair] = min(1.0, 2 * float(reached.sum()) / 2.0**topics)
    return p


def sampled_randomisation(
    values: Floats, first: Indices, second: Indices, *, replicates: int, seed: int
) -> Floats:
    """Two-sided p-values over seeded random signs, the same for all pairs: (1 + reached) / (1 + replicates).

    The signs that were found are among those that could be, which the one stands for (Phipson and Smyth 2010).

    >>> values = np.array([[0.9, 0.8, 0.7, 0.9], [0.1, 0.2, 0.3, 0.1]])
    >>> sampled_randomisation(values, np.array([0]), np.array([1]), replicates=999, seed=1).round(2).tolist()
    [0.14]
    """
    topics = values.shape[1]
    difference = np.abs(values[first].sum(axis=1) - values[second].sum(axis=1))
    # the observed sum is rounded, too; what misses it by no more than rounding reaches it
    slack = _RELATIVE * np.array(
        [np.abs(values[a] - values[b]).max() for a, b in zip(first, second, strict=True)]
    )
    reached = np.zeros(len(first), np.int64)
    rng, left = generator(seed), replicates
    while left:
        size = min(left, max(1, _DRAWN_AT_ONCE // topics))
        signs = rng.integers(0, 2, size=(size, topics)).astype(np.float64) * 2 - 1
        sums = values @ signs.T
        for start in range(0, len(first), _PAIRS_AT_ONCE):
            advance()
            block = slice(start, start + _PAIRS_AT_ONCE)
            drawn = np.abs(sums[first[block]] - sums[second[block]])
            reached[block] += np.count_nonzero(drawn >= (difference - slack)[block, None], axis=1)
        left -= size
    return (1 + reached) / (1 + replicates)


def _signed_sums(numbers: Iterable[float]) -> Floats:
    """The sums of the numbers under every choice of their signs."""
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums + number, sums - number])
    return sums
