"""Confidence intervals for the means, ranks and differences of runs, with topics as the sample.

Scores are a matrix runs x topics, with NaN for undefined values, which means and intervals leave out. An interval
covers the value for the population of topics in about 1 - alpha of the samples of topics (``docs/certainty.md`` has the
simulated coverage).
"""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from rankscope.analysis.stats.bootstrap import resample_counts
from rankscope.analysis.stats.coefficients import tied_ranks
from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.weighting import degrees_of_freedom, linearise
from rankscope.arrays import Floats, Ints, Weights
from rankscope.errors import SettingsError
from rankscope.progress import blocks

_DRAWN_AT_ONCE = 2**21  # topics of resamples: more would take much memory on large collections


MIN_ALPHA = 1e-12
"""Smallest significance level: below it quantiles of 1 - alpha/2 lose their digits, and from 1e-16 on are infinite."""


def check_level(alpha: float, replicates: int = 1) -> None:
    """Reject a level outside (0, 1), a level so small that 1 - alpha/2 rounds to 1, and fewer than one replicate."""
    if not 0 < alpha < 1:
        raise SettingsError(f"alpha is {alpha}", hint="give a level between 0 and 1 such as 0.05")
    if alpha < MIN_ALPHA:
        hint = "give a level such as 0.05"
        raise SettingsError(f"alpha is {alpha}, which is less than {MIN_ALPHA}", hint=hint)
    if replicates < 1:
        raise SettingsError(f"{replicates} replicates", hint="give at least 1, usually 1000")


def t_intervals(values: Floats, alpha: float = 0.05, weights: Weights = None) -> tuple[Floats, Floats]:
    """Return Student's confidence interval of the mean of each row: mean -+ t(1 - alpha/2; n - 1) sd / sqrt(n).

    Undefined where fewer than two topics have a value, and where one of them is infinite. With weights, the mean is
    weighted, its variance is linearised, and t has fewer degrees of freedom
    (:mod:`~rankscope.analysis.stats.weighting`).

    >>> [end.round(4).tolist() for end in t_intervals(np.array([[0.2, 0.4, 0.6]]))]
    [[-0.0968], [0.8968]]
    """
    mean, error, _ = moments(linearise(values, weights))
    width = _t_quantile(1 - alpha / 2, degrees_of_freedom(values, weights)) * error
    return mean - width, mean + width


def lower_limit(differences: Floats, alpha: float = 0.05, weights: Weights = None) -> float:
    """Return the lower end of the one-sided (1 - alpha) interval for a mean: mean - t(1 - alpha; n - 1) sd / sqrt(n).

    A run is *no worse than the baseline by more than a margin d* if this end, for the differences run - baseline of all
    topics, is above -d (non-inferiority). Without any spread it is the mean itself.

    >>> round(lower_limit(np.array([0.02, -0.01, 0.03, 0.0])), 4)
    -0.0115
    """
    return float(lower_limits(differences[None, :], alpha, weights)[0])


def lower_limits(differences: Floats, alpha: float = 0.05, weights: Weights = None) -> Floats:
    """Return :func:`lower_limit` of each row."""
    mean, error, _ = moments(linearise(differences, weights))
    return mean - _t_quantile(1 - alpha, degrees_of_freedom(differences, weights)) * error


def bootstrap_means(values: Floats, replicates: int = 1000, seed: int = 1, weights: Weights = None) -> Floats:
    """Return the mean of each row in every bootstrap sample of the topics, runs x replicates.

    All runs have the same resampled topics, so that the columns can be compared. A sample in which a run has no
    value at all leaves its mean undefined. Topics are drawn with equal chance, and carry their weights.

    >>> bootstrap_means(np.array([[0.5, 0.5, 0.5]]), replicates=4).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """
    topics = values.shape[1]
    finite = np.isfinite(values)
    numbers = np.where(finite, values, 0.0)
    infinite = np.where(np.isinf(values), np.sign(values), 0.0)
    everywhere = bool(finite.all()) and weights is None
    means = []
    for drawn in drawn_topics(topics, replicates, seed):
        counts = resample_counts(drawn).T.astype(np.float64)
        if weights is not None:
            counts *= weights[:, None]
        block = numbers @ counts
        if everywhere:
            block /= topics
        else:
            reached = infinite @ counts
            with np.errstate(invalid="ignore", divide="ignore"):
                block /= (~np.isnan(values)).astype(np.float64) @ counts
            block = np.where(reached != 0, np.copysign(np.inf, reached), block)
        means.append(block)
    return np.concatenate(means, axis=1)


def drawn_topics(topics: int, replicates: int = 1000, seed: int = 1) -> Iterator[Ints]:
    """Generate blocks of bootstrap samples, a row of topic numbers each; the report uses the same samples."""
    rng = generator(seed)
    for part in blocks(replicates, max(1, _DRAWN_AT_ONCE // max(1, topics))):
        yield rng.integers(0, topics, size=(part.stop - part.start, topics))


def expanded(alpha: float, topics: int, freedom: float | None = None) -> float:
    """Return the share of bootstrap means to cut off at each end, less for few topics.

    The spread of bootstrap means of n topics is too small by sqrt((n - 1)/n), and ignores the heavier tails of t
    (Hesterberg 2015):

        alpha' / 2 = Phi(-sqrt(n / (n - 1)) t(1 - alpha/2; n - 1))

    With weights of the topics, ``freedom`` has the degrees of freedom of t.

    >>> round(expanded(0.05, 25), 4), round(expanded(0.05, 100_000), 4)
    (0.0176, 0.025)
    """
    from scipy.special import ndtr, stdtrit

    if topics < 2:
        return alpha / 2
    return float(ndtr(-sqrt(topics / (topics - 1)) * stdtrit(freedom or topics - 1, 1 - alpha / 2)))


def percentile_intervals(replicates: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return for each row the values that cut off the share ``tail`` of its replicates at each end, without NaN.

    >>> [end.tolist() for end in percentile_intervals(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), 0.25)]
    [[1.0], [3.0]]
    """
    if np.isfinite(replicates).all():
        low, high = np.quantile(replicates, [tail, 1 - tail], axis=1)
        return low, high
    low, high = np.full((2, len(replicates)), np.nan)
    for row, numbers in enumerate(replicates):
        defined = numbers[~np.isnan(numbers)]
        if len(defined) and np.isfinite(defined).all():
            low[row], high[row] = np.quantile(defined, [tail, 1 - tail])
    return low, high


def reflected_interval(value: float, replicates: Floats, tail: float) -> tuple[float, float]:
    """Return the basic bootstrap interval of a number, without the bias that resampling adds.

        value - (q(1 - tail) - mean)  ..  value + (mean - q(tail))

    with the mean and the quantiles q of the replicates. Correlations of two leaderboards are lower in every bootstrap
    sample than among the topics themselves, because resampling adds noise; only their spread can be used. Undefined
    replicates are left out.

    >>> [round(end, 4) for end in reflected_interval(0.9, np.array([0.7, 0.8, 0.8, 0.9]), 0.25)]
    [0.875, 0.925]
    """
    defined = replicates[~np.isnan(replicates)]
    if not len(defined) or np.isnan(value):
        return float("nan"), float("nan")
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(value - (high - defined.mean())), float(value + (defined.mean() - low))


def ranks(merits: Floats) -> tuple[Ints, Ints]:
    """Return the first and last rank of each row in every column, highest merit first; they differ for tied rows.

    Undefined merits rank last.

    >>> [ends.tolist() for ends in ranks(np.array([0.3, 0.5, 0.3]))]
    [[2, 1, 2], [3, 1, 3]]
    """
    first, last = tied_ranks(np.where(np.isnan(merits), np.inf, -merits).T)
    return first.T, last.T


def rank_intervals(
    merits: Floats, drawn: Floats, alpha: float = 0.05, weights: Weights = None
) -> tuple[Ints, Ints]:
    """Return a confidence interval of the rank of each run, of level about 1 - alpha; it includes the observed rank.

    ``merits`` is runs x topics, more is better, and ``drawn`` has their means in bootstrap samples of the topics, runs
    x replicates, as :func:`bootstrap_means` gives them.

    The means of few topics are further apart than the true ones are, because chance was added to them. In a group of
    runs, with s^2 the variance of their means and e^2 the part of it due to chance, true means are expected at a share

        B = max(0, 1 - e^2 / s^2)

    of the observed distances, and uncertain by sqrt(B) e (Efron and Morris 1975). So the runs are ranked by

        m + sqrt(B) (mean - m) + c (mean in the sample - mean)
        c = sqrt(n / (n - 1)) t(1 - alpha/2; n - 1) / z(1 - alpha/2)

    with m the mean of the group, which has the same order; c widens the intervals of few topics to those of Student's t
    (:func:`expanded`). A group ends where Student's interval for the difference of the next two runs excludes zero, so
    that separated runs are not shrunk together. The range is the shortest one that contains 1 - alpha of these ranks,
    or the best one that is a rank shorter if its share is nearer to 1 - alpha: integer ranks contain too much or too
    little, and the nearer one is right on average (mid-P, Lancaster 1961). Goldstein and Spiegelhalter (1996) used
    percentiles, without B and c. Runs with equal means share their ranks, and a range contains all of them. A single
    topic gives no information.

    >>> values = np.array([[0.6, 0.7, 0.5, 0.8], [0.5, 0.8, 0.6, 0.7], [0.1, 0.2, 0.1, 0.2]])
    >>> [end.tolist() for end in rank_intervals(values, bootstrap_means(values, 200))]
    [[1, 1, 3], [2, 2, 3]]
    """
    runs, replicates = drawn.shape
    means, _, counts = moments(linearise(merits, weights))
    best, worst = ranks(rounded(means))
    first, last = ranks(rounded(_ranked_by(means, drawn, counts, degrees_of_freedom(merits, weights), alpha)))
    low, high = np.ones(runs, np.int64), np.full(runs, runs)
    for run in np.flatnonzero(counts > 1):
        below = np.cumsum(np.bincount(first[run], minlength=runs + 1))[: best[run]]
        within = np.cumsum(np.bincount(last[run], minlength=runs + 1))
        low[run], high[run] = _shortest(below, within, int(worst[run]), (1 - alpha) * replicates)
    return low, high


def _shortest(below: Ints, within: Ints, worst: int, target: float) -> tuple[int, int]:
    """Return the range of :func:`rank_intervals` from how many samples rank before 1, 2, ... and up to 0, 1, 2, ...

    It begins at one of the ranks of ``below``, and ends at ``worst`` or later.
    """
    begin = np.arange(1, len(below) + 1)
    end = np.maximum(np.searchsorted(within, target + below - 1e-9), worst)
    fits = end < len(within)
    size = int((end - begin)[fits].min(initial=len(within) - 2))
    ranges = []
    for length in (size, size - 1):
        end = begin + length
        fits = (end >= worst) & (end < len(within))
        if fits.any():
            n_inside = within[end[fits]] - below[fits]
            best = int(np.argmax(n_inside))
            ranges.append((int(n_inside[best]), int(begin[fits][best]), int(end[fits][best])))
    nearer = len(ranges) > 1 and target - ranges[1][0] < ranges[0][0] - target - 1e-9
    return ranges[nearer][1:]


def _ranked_by(means: Floats, drawn: Floats, counts: Floats, freedom: Floats, alpha: float) -> Floats:
    """Return the values by which :func:`rank_intervals` ranks the runs in every sample, possibly infinite."""
    from scipy.special import ndtri

    several = np.maximum(counts, 2)
    with np.errstate(invalid="ignore"):
        moved = np.where(np.isfinite(drawn) & np.isfinite(means[:, None]), drawn - means[:, None], np.nan)
    moved *= np.sqrt(several / (several - 1))[:, None]
    reach = _t_quantile(1 - alpha / 2, np.maximum(freedom, 1))
    closer = means.copy()
    full = np.isfinite(moved[np.isfinite(means)]).all(axis=0)
    for group in _groups(means, moved[:, full], reach) if full.any() else ():
        spread = means[group].var(ddof=1)
        chance = moved[np.ix_(group, full)].var(axis=0, ddof=1).mean()
        share = max(0.0, 1 - chance / spread) if spread > 0 else 0.0
        middle = means[group].mean()
        closer[group] = middle + sqrt(share) * (means[group] - middle)
    width = reach / ndtri(1 - alpha / 2)
    return np.where(np.isnan(moved), drawn, closer[:, None] + width[:, None] * moved)


def _groups(means: Floats, moved: Floats, reach: Floats) -> list[Ints]:
    """Return groups of two or more runs with finite means; a group ends where neighbours differ by more than chance."""
    kept = np.flatnonzero(np.isfinite(means))
    order = kept[np.argsort(means[kept], kind="stable")]
    error = np.sqrt(np.square(moved[order[1:]] - moved[order[:-1]]).mean(axis=1))
    apart = np.diff(means[order]) > np.maximum(reach[order[1:]], reach[order[:-1]]) * error
    return [group for group in np.split(order, np.flatnonzero(apart) + 1) if len(group) > 1]


def moments(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, standard error of the mean and number of values of each row, without NaN."""
    is_defined = ~np.isnan(values)
    count = is_defined.sum(axis=1).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_defined, values, 0.0).sum(axis=1) / count
        squares = np.where(is_defined, np.square(values - mean[:, None]), 0.0).sum(axis=1)
        error = np.sqrt(squares / (count - 1) / count)
    return mean, error, count


def _t_quantile(level: float, freedom: Floats) -> Floats:
    from scipy.special import stdtrit

    return np.where(freedom >= 1, stdtrit(np.maximum(freedom, 1), level), np.nan)
