"""The paired randomisation test for many pairs of runs at once (Fisher 1935; Smucker, Allan and Carterette 2007).

If two runs were alike, each of the n differences could as well have had the other sign. The p-value is the share of the
2^n ways to choose the signs in which the absolute sum of the differences is at least the one that was found.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rankscope.arrays import Floats
from rankscope.progress import advance

EXACT_UP_TO = 20
"""Topics up to which all signs are counted; beyond, they are drawn (:mod:`rankscope.analysis.stats.max_t`)."""

_RELATIVE = 1e-9  # two sums closer than this are equal: rounding must not decide a comparison


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


def _signed_sums(numbers: Iterable[float]) -> Floats:
    """Return the sums of the numbers under every choice of their signs."""
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums + number, sums - number])
    return sums
