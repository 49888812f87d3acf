"""Interaction of differences with slices of topics: Welch's one-way analysis of variance, and permutations.

Rows are differences of pairs of runs on topics. The mean of a slice may be weighted; then its variance is linearised
(:mod:`~rankscope.analysis.stats.weighting`).
"""

from collections.abc import Sequence

import numpy as np

from rankscope.analysis.stats.intervals import moments
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.weighting import degrees_of_freedom, linearise
from rankscope.arrays import AnyArray, Floats, Indices, Weights
from rankscope.progress import blocks

SMALL_SLICE = 5
"""Number of topics from which on every slice is large enough for Welch's test; otherwise topics are permuted."""
REPLICATES = 2000
"""Number of permutations."""
_PAIRS_AT_ONCE = 256
_NEGLIGIBLE = 1e-12
Parts = Sequence[tuple[Floats, Weights]]
"""Differences on the topics of each slice, and the weights of these topics."""


def test_interaction(parts: Parts, seed: int) -> tuple[AnyArray, Floats, Floats]:
    """Return the name of the test, its statistic and its p-value for each row.

    It is Welch's test, or a permutation test without a statistic if a slice has few topics or no variance.
    """
    statistic, p = welch_anova(parts)
    is_small = min(values.shape[1] for values, _ in parts) < SMALL_SLICE
    is_permuted = (np.isnan(statistic) | is_small) & (len(parts) > 1)
    if is_permuted.any():
        p[is_permuted] = permuted_anova([(values[is_permuted], w) for values, w in parts], seed=seed)
    return np.where(is_permuted, "permutation", "welch"), np.where(is_permuted, np.nan, statistic), p


def welch_anova(parts: Parts) -> tuple[Floats, Floats]:
    """Return the statistic and the p-value of Welch's test that the means of all slices are equal, for each row.

    Undefined if a slice has fewer than two topics or no variance.

    References
    ----------
    Welch 1951.

    >>> parts = [(np.array([[0.1, 0.2, 0.3]]), None), (np.array([[0.7, 0.8, 1.1]]), None)]
    >>> [float(x[0].round(4)) for x in welch_anova(parts)]
    [25.0, 0.017]
    """
    from scipy.special import fdtrc

    freedom = np.stack([degrees_of_freedom(*part) for part in parts])
    means, errors = np.stack([moments(linearise(*part))[:2] for part in parts], axis=1)
    k = len(parts)
    negligible = np.abs(np.hstack([values for values, _ in parts])).max(axis=1, initial=0.0) * _NEGLIGIBLE
    usable = (errors > negligible).all(axis=0) & bool((freedom > 0).all()) & (k > 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = 1 / np.square(errors)
        share = precision / precision.sum(axis=0)
        centre = (share * means).sum(axis=0)
        rest = (np.square(1 - share) / freedom).sum(axis=0)
        between = (precision * np.square(means - centre)).sum(axis=0) / (k - 1)
        statistic = between / (1 + 2 * (k - 2) / max(1, k * k - 1) * rest)
        p = fdtrc(k - 1, (k * k - 1) / (3 * rest), statistic)
    return np.where(usable, statistic, np.nan), np.where(usable, p, np.nan)


def permutations(topics: int, replicates: int = REPLICATES, seed: int = 1) -> Indices:
    """Return random orders of topics, replicates x topics; the report has the same ones."""
    rng = generator(seed)
    return np.array([rng.permutation(topics) for _ in range(replicates)])


def permuted_anova(parts: Parts, replicates: int = REPLICATES, seed: int = 1) -> Floats:
    """Return p-values of the hypothesis that slices are a random division of the topics, for each row.

    The statistic is the sum over slices of W (mean of the slice - mean)^2 with W the total weight of the slice.

    >>> rows = np.array([[0.1, 0.2, 0.3, 0.7, 0.8, 1.1], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]])
    >>> permuted_anova([(rows[:, :3], None), (rows[:, 3:], None)]).round(1).tolist()
    [0.1, 1.0]
    """
    differences = np.hstack([values for values, _ in parts])
    w = np.hstack([np.ones(values.shape[1]) if weights is None else weights for values, weights in parts])
    labels = np.repeat(np.arange(len(parts)), [values.shape[1] for values, _ in parts])
    # The slice of each topic, first in the data, then in each permutation.
    orders = np.vstack([np.arange(len(w)), permutations(len(w), replicates, seed)])
    division = labels[np.argsort(orders, axis=1)]
    masks = [(division == number) * w for number in range(len(parts))]
    p = np.empty(len(differences))
    for block in blocks(len(differences), _PAIRS_AT_ONCE):
        rows = differences[block]
        centred = rows - (rows @ w / w.sum())[:, None]
        statistic = sum(np.square(mask @ centred.T) / mask.sum(axis=1)[:, None] for mask in masks)
        reached = statistic[1:] >= statistic[0] * (1 - 1e-9) - _NEGLIGIBLE * np.square(rows).sum(axis=1)
        p[block] = (1 + reached.sum(axis=0)) / (1 + replicates)
    return p
