"""Weights of topics: weighted statistics as plain statistics of transformed values.

The variance of a weighted mean is that of its linearisation, n/(n - 1) sum w^2 (x - mean)^2 / (sum w)^2. It is also the
plain variance of the mean of the values u = mean + (w / mean w) (x - mean), whose plain mean is the weighted one. So
Student's intervals and tests of weighted means are those of u (:func:`linearise`).

The variance of u is that of a sum of squares with unequal weights, so t has fewer than n - 1 degrees of freedom
(:func:`degrees_of_freedom`). Intervals are slightly too wide for very unequal weights (docs/tutorials/slices.md has the
simulated coverage): a topic with a large weight moves the mean and its variance together. The degrees of freedom of
Bell and McCaffrey (2002), which allow for the estimated mean, give nearly the same intervals.

Tests that flip signs or shuffle the scores of a topic need contributions (w / mean w) x (:func:`contributions`): a
topic with difference 0 contributes 0, and the plain mean is the weighted one, too.
"""

import numpy as np

from rankscope.arrays import Floats
from rankscope.measures.base import weighted_means


def linearise(values: Floats, weights: Floats | None) -> Floats:
    """Return values whose plain mean and variance are those of the weighted mean of each row; NaN stays NaN.

    >>> u = linearise(np.array([[0.34, 0.039]]), np.array([5.0, 1.0]))
    >>> u.mean().round(6), (u.var(ddof=1) / 2).round(9)
    (np.float64(0.289833), np.float64(0.006990818))
    """
    if weights is None:
        return values
    mean = weighted_means(values, weights)[:, None]
    with np.errstate(invalid="ignore"):  # Infinite values have no variance.
        return np.asarray(mean + _relative(values, weights) * (values - mean))


def contributions(values: Floats, weights: Floats | None) -> Floats:
    """Return values times the relative weights of their topics, whose plain mean is the weighted mean of each row.

    >>> contributions(np.array([[1.0, 0.0]]), np.array([3.0, 1.0])).tolist()
    [[1.5, 0.0]]
    """
    return values if weights is None else _relative(values, weights) * values


def degrees_of_freedom(values: Floats, weights: Floats | None) -> Floats:
    """Return the degrees of freedom of the variance of the mean of each row: n - 1, or fewer with weights.

    (n - 1)/n (sum w^2)^2 / sum w^4, and at least 1, is that of a chi-squared variable with the mean and the variance of
    sum w^2 (x - mean)^2 (Satterthwaite 1946).

    >>> rows = np.array([[0.34, 0.039, 0.2, 0.4]])
    >>> degrees_of_freedom(rows, None), degrees_of_freedom(rows, np.array([4.0, 1.0, 1.0, 1.0])).round(2)
    (array([3.]), array([1.05]))
    """
    is_defined = ~np.isnan(values)
    n = is_defined.sum(axis=1).astype(np.float64)
    if weights is None:
        return np.asarray(n - 1)
    squares = np.where(is_defined, np.square(weights / weights.max()), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = (n - 1) / n * np.square(squares.sum(axis=1)) / np.square(squares).sum(axis=1)
    return np.asarray(np.where(n > 1, np.maximum(freedom, 1.0), n - 1))


def _relative(values: Floats, weights: Floats) -> Floats:
    """Return the weights divided by their mean over the defined values of each row."""
    is_defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(is_defined, weights, 0.0).sum(axis=1) / is_defined.sum(axis=1)
        return np.asarray(weights / means[:, None])
