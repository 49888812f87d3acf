"""The paired randomisation test for many pairs of runs at once (Fisher 1935; Smucker, Allan and Carterette 2007).

If two runs are equally good, each of the n differences has either sign with the same probability. The p-value is the
share of the 2^n choices of signs in which the absolute sum of the differences is at least the observed one.
"""

from collections.abc import Iterable

import numpy as np

from rankscope.arrays import Floats
from rankscope.progress import advance

EXACT_UP_TO = 20
"""Maximum number of topics to enumerate all signs; :mod:`rankscope.analysis.stats.max_t` draws them for more."""

_RELATIVE = 1e-9  # two sums closer than this are equal: rounding must not decide a comparison


def exact_randomisation(differences: Floats) -> Floats:
    """Return the two-sided p-values over all 2^n signs, one per row of pairs x topics.

    The topics are split into two halves. Every sum is one of the 2^(n/2) sums of the first half plus one of the second.
    For each sum of the first half, bisection counts the sums of the second half that reach the observed sum: the result
    is exact, without computing 2^n sums.

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
