"""The Wilcoxon signed rank test for many pairs of runs at once."""

from functools import lru_cache

import numpy as np

from rankscope.analysis.stats.coefficients import tied_ranks
from rankscope.arrays import Floats, Indices

_EXACT_UP_TO = 50  # topics, when no difference is zero and no two are equal in size
_FEW = 25  # differences that are not zero, otherwise: beyond, published counts use the normal distribution


def wilcoxon_p(differences: Floats) -> Floats:
    """Return the two-sided p-values of the Wilcoxon signed rank test (1945), one per row of pairs x topics.

    Zero differences are left out, equal ones share their rank. T+ is the sum of the ranks of positive differences. Its
    distribution is exact for up to 50 topics without zeros and ties, and for any number of topics if at most 25
    differences are not zero. Otherwise it is normal with the variance corrected for ties,
    without continuity correction, as in scipy.stats.wilcoxon, which is exact less often where there are zeros or ties.
    A pair without any difference has p = 1.

    >>> wilcoxon_p(np.array([[0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 0.0, 0.0, 0.0, 0.0]])).tolist()
    [0.0625, 1.0]
    """
    topics = differences.shape[1]
    nonzero = differences != 0
    count = nonzero.sum(axis=1)
    first, last = tied_ranks(np.abs(differences))
    # zeros sort before everything else, so subtracting their number gives the ranks without them
    ranks = np.where(nonzero, (first + last) / 2 - (topics - count)[:, None], 0.0)
    positive = np.where(differences > 0, ranks, 0.0).sum(axis=1)
    # The sum of t^3 - t over groups of t equal sizes is that of t^2 - 1 over their members.
    ties = np.where(nonzero, np.square(last - first + 1.0) - 1, 0.0).sum(axis=1)
    p = np.ones(len(differences))
    limit = np.where((ties == 0) & (count == topics), _EXACT_UP_TO, _FEW)
    plain = (ties == 0) & (count > 0) & (count <= limit)
    for size_left in np.unique(count[plain]).tolist():
        selected = plain & (count == size_left)
        p[selected] = _exact_plain(positive[selected], size_left)
    tied = (ties > 0) & (count <= _FEW)
    for row in np.flatnonzero(tied):
        p[row] = _exact_tied(ranks[row][nonzero[row]], positive[row])
    rest = ~plain & ~tied & (count > 0)
    p[rest] = _normal(positive[rest], count[rest], ties[rest])
    return p


def _exact_plain(positive: Floats, topics: int) -> Floats:
    """Return exact p-values for the ranks 1..n without ties: each of the 2^n signs is equally likely."""
    below = _at_most(topics)
    fewest = np.minimum(positive, topics * (topics + 1) // 2 - positive).astype(np.intp)
    return np.minimum(1.0, 2 * below[fewest])


@lru_cache(maxsize=64)
def _at_most(topics: int) -> Floats:
    """Return P(T+ <= k) for k = 0, 1, ... from exact counts."""
    return np.cumsum(_subset_sums(np.arange(1, topics + 1))) / 2.0**topics


def _exact_tied(ranks: Floats, positive: float) -> float:
    """Enumerate all signs of the ranks, which may be tied; twice a rank is an integer."""
    counts = _subset_sums(np.rint(2 * ranks).astype(np.intp))
    observed = round(2 * positive)
    return min(1.0, 2 * float(min(counts[: observed + 1].sum(), counts[observed:].sum())) / 2.0 ** len(ranks))


def _subset_sums(sizes: Indices) -> Floats:
    """Return the number of subsets with the sum 0, 1, 2, ...; counts up to 2^50 are exact."""
    counts = np.zeros(int(sizes.sum()) + 1)
    counts[0], reach = 1.0, 0
    for size in np.sort(sizes).tolist():
        reach += size
        counts[size : reach + 1] += counts[: reach + 1 - size].copy()
    return counts


def _normal(positive: Floats, count: Indices, ties: Floats) -> Floats:
    from scipy.special import ndtr

    n = count.astype(np.float64)
    deviation = np.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    z = (positive - n * (n + 1) / 4) / deviation
    return np.asarray(2 * ndtr(-np.abs(z)))
