"""Interaction of differences with slices of topics: Welch's one-way analysis of variance, and permutations.

Rows are differences of pairs of runs on topics. The mean of a slice may be weighted; then its variance is linearised
(:mod:`~rankscope.analysis.stats.weighting`).
"""

from collections.abc import Sequence

import numpy as np

from rankscope.analysis.stats.intervals import moments
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.weighting import degrees_of_freedom, linearise
from rankscope.arrays import AnyArray, Floats, Indices
from rankscope.progress import blocks

SMALL_SLICE = 5
"""Number of topics from which on every slice is large enough for Welch's test; otherwise topics are permuted."""
REPLICATES = 2000
"""Number of permutations."""
_PAIRS_AT_ONCE = 256
_NEGLIGIBLE = 1e-12
Weights = Floats | None
Slices = Sequence[Indices]
"""Topics of each slice."""


def test_interaction(
    differences: Floats, slices: Slices, weights: Weights, seed: int
) -> tuple[AnyArray, Floats, Floats]:
    """Return the name of the test, its statistic and its p-value for each row.

    It is Welch's test, or a permutation test without a statistic if a slice has few topics or no variance.
    """
    statistic, p = welch_anova(differences, slices, weights)
    is_small = min(map(len, slices)) < SMALL_SLICE
    is_permuted = (np.isnan(statistic) | is_small) & (len(slices) > 1)
    if is_permuted.any():
        p[is_permuted] = permuted_anova(differences[is_permuted], slices, weights, seed=seed)
    return np.where(is_permuted, "permutation", "welch"), np.where(is_permuted, np.nan, statistic), p


def welch_anova(differences: Floats, slices: Slices, weights: Weights = None) -> tuple[Floats, Floats]:
    """Return the statistic and the p-value of Welch's test that the means of all slices are equal, for each row.

    Undefined if a slice has fewer than two topics or no variance.

    References
    ----------
    Welch 1951.

    >>> rows = np.array([[0.1, 0.2, 0.3, 0.7, 0.8, 1.1]])
    >>> [float(x[0].round(4)) for x in welch_anova(rows, [np.arange(3), np.arange(3, 6)])]
    [25.0, 0.017]
    """
    from scipy.special import fdtrc

    parts = [(differences[:, topics], None if weights is None else weights[topics]) for topics in slices]
    freedom = np.stack([degrees_of_freedom(*part) for part in parts])
    means, errors = np.stack([moments(linearise(*part))[:2] for part in parts], axis=1)
    k = len(slices)
    negligible = np.abs(differences).max(axis=1, initial=0.0) * _NEGLIGIBLE
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


def permuted_anova(
    differences: Floats, slices: Slices, weights: Weights = None, replicates: int = REPLICATES, seed: int = 1
) -> Floats:
    """Return p-values of the hypothesis that slices are a random division of the topics, for each row.

    The statistic is the sum over slices of W (mean of the slice - mean)^2 with W the total weight of the slice.

    >>> rows = np.array([[0.1, 0.2, 0.3, 0.7, 0.8, 1.1], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]])
    >>> permuted_anova(rows, [np.arange(3), np.arange(3, 6)]).round(1).tolist()
    [0.1, 1.0]
    """
    kept = np.concatenate(list(slices))
    labels = np.repeat(np.arange(len(slices)), [len(topics) for topics in slices])
    w = np.ones(len(kept)) if weights is None else weights[kept]
    # The slice of each topic, first in the data, then in each permutation.
    orders = np.vstack([np.arange(len(kept)), permutations(len(kept), replicates, seed)])
    division = labels[np.argsort(orders, axis=1)]
    masks = [(division == number) * w for number in range(len(slices))]
    p = np.empty(len(differences))
    for block in blocks(len(differences), _PAIRS_AT_ONCE):
        rows = differences[block, kept]
        centred = rows - (rows @ w / w.sum())[:, None]
        statistic = sum(np.square(mask @ centred.T) / mask.sum(axis=1)[:, None] for mask in masks)
        reached = statistic[1:] >= statistic[0] * (1 - 1e-9) - _NEGLIGIBLE * np.square(rows).sum(axis=1)
        p[block] = (1 + reached.sum(axis=0)) / (1 + replicates)
    return p
