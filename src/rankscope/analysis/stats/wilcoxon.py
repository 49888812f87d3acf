"""The Wilcoxon signed rank test for many pairs of runs at once."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.coefficients import average_ranks

__all__ = ["wilcoxon_p"]

Floats = NDArray[np.float64]

_EXACT_UP_TO = 50  # topics, when no difference is zero and no two are equal in size
_ENUMERATED_UP_TO = 13  # topics, otherwise


def wilcoxon_p(differences: Floats) -> Floats:
    """Two-sided p-values of the Wilcoxon signed rank test (1945), one per row of pairs x topics.

    Zero differences are left out, equal ones share their rank. T+ is the sum of the ranks of positive
    differences; its distribution is exact for up to 50 topics without zeros and ties and for up to 13 topics with them,
    and otherwise normal with the variance corrected for ties, without continuity correction: the choices of
    scipy.stats.wilcoxon (1.13 and later). A pair without any difference has p = 1.

    >>> wilcoxon_p(np.array([[0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 0.0, 0.0, 0.0, 0.0]])).tolist()
    [0.0625, 1.0]
    """
    topics = differences.shape[1]
    size = np.abs(differences)
    nonzero = differences != 0
    # zeros sort before everything else, so subtracting their number gives the ranks without them
    ranks = average_ranks(size) - (topics - nonzero.sum(axis=1))[:, None]
    ranks[~nonzero] = 0.0
    positive = np.where(differences > 0, ranks, 0.0).sum(axis=1)
    ties = _tie_correction(size, nonzero)
    p = np.ones(len(differences))
    count = nonzero.sum(axis=1)
    plain = (ties == 0) & (count == topics) & (topics <= _EXACT_UP_TO)
    p[plain] = _exact_plain(positive[plain], topics)
    rest = ~plain & (count > 0)
    if topics <= _ENUMERATED_UP_TO:
        for row in np.flatnonzero(rest):
            p[row] = _exact_tied(ranks[row][nonzero[row]], positive[row])
    else:
        p[rest] = _normal(positive[rest], count[rest], ties[rest])
    return p


def _tie_correction(size: Floats, nonzero: NDArray[np.bool_]) -> Floats:
    """Per row the sum of t^3 - t over the groups of t equal non-zero sizes."""
    ordered = np.sort(np.where(nonzero, size, np.inf), axis=1)
    rows, length = ordered.shape
    starts = np.ones(ordered.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.flatnonzero(starts)
    t = np.diff(np.append(first, rows * length)).astype(np.float64)
    t[np.isinf(ordered.ravel()[first])] = 0.0
    return np.bincount(first // length, weights=t**3 - t, minlength=rows).astype(np.float64)


def _exact_plain(positive: Floats, topics: int) -> Floats:
    """With the ranks 1..n each of the 2^n signs is equally likely."""
    if not len(positive):
        return np.empty(0)
    below = _at_most(topics)
    fewest = np.minimum(positive, topics * (topics + 1) // 2 - positive).astype(np.intp)
    return np.minimum(1.0, 2 * below[fewest])


@lru_cache(maxsize=64)
def _at_most(topics: int) -> Floats:
    """P(T+ <= k) for k = 0, 1, ... from exact counts."""
    counts = _subset_sums(list(range(1, topics + 1)))
    total, below = 0, []
    for count in counts:
        total += count
        below.append(total / 2**topics)
    return np.array(below)


def _exact_tied(ranks: Floats, positive: float) -> float:
    """All signs of the given, possibly tied, ranks; doubled, they are whole numbers."""
    counts = _subset_sums([round(2 * rank) for rank in ranks.tolist()])
    observed = 2 * positive
    at_most, at_least = sum(counts[: floor(observed) + 1]), sum(counts[ceil(observed) :])
    return min(1.0, float(2 * min(at_most, at_least) / 2 ** len(ranks)))


def _subset_sums(sizes: list[int]) -> list[int]:
    """How many subsets have the sum 0, 1, 2, ..."""
    counts = [1] + [0] * sum(sizes)
    reach = 0
    for size in sizes:
        reach += size
        for k in range(reach, size - 1, -1):
            counts[k] += counts[k - size]
    return counts


def _normal(positive: Floats, count: NDArray[np.intp], ties: Floats) -> Floats:
    from scipy.special import ndtr

    n = count.astype(np.float64)
    deviation = np.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    z = (positive - n * (n + 1) / 4) / deviation
    return np.asarray(2 * ndtr(-np.abs(z)))
