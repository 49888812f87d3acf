"""Topics are a sample: intervals for the means of runs, for their ranks, and for differences.

Scores come as a matrix runs x topics, NaN where a run has no value; what is left out of a mean is left out of its
interval. Every interval holds the true value, that of all topics which could have been asked, in about 1 - alpha of the
samples of topics (``docs/certainty.md`` has the shares found by simulation).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.bootstrap import resample_counts
from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.randomness import generator
from rankscope.errors import SettingsError

__all__ = [
    "bootstrap_means",
    "check_level",
    "drawn_topics",
    "expanded",
    "lower_limit",
    "lower_limits",
    "percentile_intervals",
    "rank_intervals",
    "ranks",
    "reflected_interval",
    "t_intervals",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWN_AT_ONCE = 2**21  # topics of resamples: more would take much memory on large collections


def check_level(alpha: float, replicates: int = 1) -> None:
    """Refuse a level that is no share, and fewer than one replicate."""
    if not 0 < alpha < 1:
        raise SettingsError(f"alpha is {alpha}", hint="give a level between 0 and 1 such as 0.05")
    if replicates < 1:
        raise SettingsError(f"{replicates} replicates", hint="give at least 1, usually 1000")


def t_intervals(values: Floats, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Student's confidence interval for the mean of each row: mean -+ t(1 - alpha/2; n - 1) sd / sqrt(n).

    Undefined where fewer than two topics have a value, and where one of them is infinite.

    >>> [end.round(4).tolist() for end in t_intervals(np.array([[0.2, 0.4, 0.6]]))]
    [[-0.0968], [0.8968]]
    """
    mean, error, count = _moments(values)
    width = _t_quantile(1 - alpha / 2, count - 1) * error
    return mean - width, mean + width


def lower_limit(differences: Floats, alpha: float = 0.05) -> float:
    """The lower end of the one-sided (1 - alpha) interval for a mean: mean - t(1 - alpha; n - 1) sd / sqrt(n).

    A run is *no worse than the baseline by more than a margin d* if this end, for the differences run - baseline of all
    topics, is above -d (non-inferiority). Without any spread it is the mean itself.

    >>> round(lower_limit(np.array([0.02, -0.01, 0.03, 0.0])), 4)
    -0.0115
    """
    return float(lower_limits(differences[None, :], alpha)[0])


def lower_limits(differences: Floats, alpha: float = 0.05) -> Floats:
    """:func:`lower_limit` of each row."""
    mean, error, count = _moments(differences)
    return mean - _t_quantile(1 - alpha, count - 1) * error


def bootstrap_means(values: Floats, replicates: int = 1000, seed: int = 1) -> Floats:
    """The mean of each row in every bootstrap sample of the topics, runs x replicates.

    All runs are asked the same resampled topics, so that the columns can be compared. A sample in which a run has no
    value at all leaves its mean undefined.

    >>> bootstrap_means(np.array([[0.5, 0.5, 0.5]]), replicates=4).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """
    runs, topics = values.shape
    finite = np.isfinite(values)
    numbers = np.where(finite, values, 0.0)
    infinite = np.where(np.isinf(values), np.sign(values), 0.0)
    everywhere = bool(finite.all())
    means = np.empty((runs, replicates))
    start = 0
    for drawn in drawn_topics(topics, replicates, seed):
        counts = resample_counts(drawn).T.astype(np.float64)
        block = numbers @ counts
        if everywhere:
            block /= topics
        else:
            reached = infinite @ counts
            with np.errstate(invalid="ignore", divide="ignore"):
                block /= (~np.isnan(values)).astype(np.float64) @ counts
            block = np.where(reached != 0, np.copysign(np.inf, reached), block)
        means[:, start : start + len(drawn)] = block
        start += len(drawn)
    return means


def drawn_topics(topics: int, replicates: int = 1000, seed: int = 1) -> Iterator[Integers]:
    """The topics of every bootstrap sample, by number, one sample a row, in blocks; the page is given the same."""
    rng = generator(seed)
    step = max(1, _DRAWN_AT_ONCE // max(1, topics))
    for start in range(0, replicates, step):
        yield rng.integers(0, topics, size=(min(step, replicates - start), topics))


def expanded(alpha: float, topics: int) -> float:
    """The share to cut off at each end of bootstrap means, so that few topics give no narrower interval than Student's.

    Bootstrap means of n topics spread by sqrt((n - 1)/n) too little and know nothing of the heavier tails of t
    (Hesterberg 2015):

        alpha' / 2 = Phi(-sqrt(n / (n - 1)) t(1 - alpha/2; n - 1))

    >>> round(expanded(0.05, 25), 4), round(expanded(0.05, 100_000), 4)
    (0.0176, 0.025)
    """
    from scipy.special import ndtr, stdtrit

    if topics < 2:
        return alpha / 2
    return float(ndtr(-sqrt(topics / (topics - 1)) * stdtrit(topics - 1, 1 - alpha / 2)))


def percentile_intervals(replicates: Floats, tail: float) -> tuple[Floats, Floats]:
    """Per row the values that cut off the share ``tail`` of the replicates at each end; undefined ones are left out.

    >>> [end.tolist() for end in percentile_intervals(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), 0.25)]
    [[1.0], [3.0]]
    """
    if np.isfinite(replicates).all():
        low, high = np.quantile(replicates, [tail, 1 - tail], axis=1)
        return low, high
    low, high = np.full((2, len(replicates)), np.nan)
    for row, numbers in enumerate(replicates):
        known = numbers[~np.isnan(numbers)]
        if len(known) and np.isfinite(known).all():
            low[row], high[row] = np.quantile(known, [tail, 1 - tail])
    return low, high


def reflected_interval(value: float, replicates: Floats, tail: float) -> tuple[float, float]:
    """The basic bootstrap interval of a number, without the bias that resampling adds.

        value - (q(1 - tail) - mean)  ..  value + (mean - q(tail))

    with the mean and the quantiles q of the replicates. Correlations of two leaderboards are lower in every bootstrap
    sample than among the topics themselves, because resampling adds noise; only their spread can be used. Undefined
    replicates are left out.

    >>> [round(end, 4) for end in reflected_interval(0.9, np.array([0.7, 0.8, 0.8, 0.9]), 0.25)]
    [0.875, 0.925]
    """
    known = replicates[~np.isnan(replicates)]
    if not len(known) or np.isnan(value):
        return float("nan"), float("nan")
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(value - (high - known.mean())), float(value + (known.mean() - low))


def ranks(merits: Floats) -> tuple[Integers, Integers]:
    """The first and the last rank that each row can have in every column, most merit first; they differ in ties.

    Undefined merits rank last.

    >>> [one[:, 0].tolist() for one in ranks(np.array([[0.3], [0.5], [0.3]]))]
    [[2, 1, 2], [3, 1, 3]]
    """
    known = np.where(np.isnan(merits), -np.inf, merits)
    ordered = np.sort(-known, axis=0)
    first, last = np.empty((2, *known.shape), np.int64)
    for column in range(known.shape[1]):
        first[:, column] = np.searchsorted(ordered[:, column], -known[:, column], side="left") + 1
        last[:, column] = np.searchsorted(ordered[:, column], -known[:, column], side="right")
    return first, last


def rank_intervals(merits: Floats, alpha: float = 0.05) -> tuple[Integers, Integers]:
    """Per run the range of its rank over bootstrap samples: the ranks that at most alpha/2 of them leave on each side.

    ``merits`` is runs x replicates, more is better, as :func:`bootstrap_means` gives them. Equal means share their
    ranks: the first end counts the best of them, the last end the worst.

    >>> [end.tolist() for end in rank_intervals(np.array([[0.4, 0.5, 0.6], [0.5, 0.3, 0.2]]))]
    [[1, 1], [2, 2]]
    """
    first, last = ranks(rounded(merits))
    low = np.quantile(first, alpha / 2, axis=1, method="inverted_cdf")
    high = np.quantile(last, 1 - alpha / 2, axis=1, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def _moments(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, standard error of the mean and number of values of each row, NaN left out."""
    known = ~np.isnan(values)
    count = known.sum(axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=1) / count
        squares = np.where(known, np.square(values - mean[:, None]), 0.0).sum(axis=1)
        error = np.sqrt(squares / (count - 1) / count)
    return mean, error, count


def _t_quantile(level: float, freedom: Floats) -> Floats:
    from scipy.special import stdtrit

    return np.where(freedom >= 1, stdtrit(np.maximum(freedom, 1), level), np.nan)
