"""Step-down max-T tests over resamples (Westfall and Young 1993): p-values adjusted for many hypotheses at once.

All hypotheses share the resamples, so the largest statistic of each resample follows their joint null distribution,
whatever the dependence between them. Holm's correction multiplies p-values by the number of hypotheses instead, and
needs as many times more replicates before any hypothesis can be significant.

Statistics of pairs are t statistics in the form r = sum(z) / sqrt(sum(z^2)), which grows with t and has the same
denominator for all signs of the differences z.

Random signs are exact for one pair of exchangeable runs. For several pairs they assume that the differences of a topic
are jointly symmetric, which runs of different quality are not: with 20 such runs of equal mean and 25 topics, 6.7 % of
collections had a significant pair at the 5 % level. Joint comparisons of several pairs therefore divide the observed t
by sqrt((n + 1) / (n - 1)), a factor that vanishes with the number of topics n and that keeps the error rates of
docs/certainty.md at most at the nominal level.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import ceil, inf

import numpy as np

from rankscope.analysis.stats.randomness import generator
from rankscope.arrays import Floats, Indices
from rankscope.native import counting
from rankscope.progress import blocks

_RELATIVE = 1e-9  # Statistics closer than this are equal: rounding must not decide a comparison.
_NEGLIGIBLE = 1e-12  # Differences below this share of the largest score are zero.
_PAIRS_AT_ONCE = 32
_FLIPS_AT_ONCE = 2048  # Together with the pairs above, a block of statistics fits into the processor's cache.
_SIGNS_AT_ONCE = 2**21
_DIFFERENCES_AT_ONCE = 2**15  # They fit into the processor's cache.
_MAX_STUDENTISED = 500
"""Maximum number of runs for which each difference has its own standard error: work grows with their square."""


class StepDown:
    """Counts of replicates whose statistic reaches the observed one: of a hypothesis alone, and of those not above it.

    ``unit`` is the number of replicates that the observed data stand for, which are one of the possible replicates
    (Phipson and Smyth 2010): p is (unit + reached) / (unit + replicates), or the plain share if all replicates were
    enumerated (0).
    """

    def __init__(self, observed: Floats, unit: int = 1) -> None:
        self.observed, self.unit = observed, unit
        # Observed statistics for joint comparisons, and the factor by which t must exceed its critical value there.
        self.joint, self.factor = observed, 1.0
        self.order = np.argsort(observed, kind="stable")
        self.alone, self.jointly = np.zeros((2, len(observed)), np.int64)
        self.largest: list[Floats] = []
        # Largest statistics of differences without their means, if the replicates do not centre them.
        self.largest_centred: list[Floats] = []

    def count(self, drawn_blocks: Iterable[tuple[Indices, Floats]]) -> None:
        """Count some replicates: blocks of hypotheses in ``order``, each with statistics hypotheses x replicates."""
        running: Floats | None = None
        for indices, drawn in drawn_blocks:
            self.alone[indices] += _count_reached(drawn, self.observed[indices])
            # Each row becomes the maximum of all rows up to it, those of earlier blocks included.
            for row in drawn:
                running = row if running is None else np.maximum(row, running, out=row)
            running = None if running is None else running.copy()
            self.jointly[indices] += _count_reached(drawn, self.joint[indices])
        if running is not None:
            self.largest.append(running)

    @property
    def _replicates(self) -> int:
        return sum(map(len, self.largest))

    @property
    def p(self) -> Floats:
        """Unadjusted p-value of each hypothesis."""
        return (self.unit + self.alone) / (self.unit + self._replicates)

    @property
    def adjusted(self) -> Floats:
        """Adjusted p-values, monotone in the statistic."""
        adjusted = np.empty(len(self.observed))
        shares = (self.unit + self.jointly[self.order]) / (self.unit + self._replicates)
        adjusted[self.order] = np.maximum.accumulate(shares[::-1])[::-1]
        return adjusted

    def critical(self, alpha: float) -> float:
        """Return the joint statistic above which a hypothesis is significant in the first step, whichever it is.

        Intervals need the centred differences: the differences themselves are nearly proportional to each other where
        runs are far apart, which makes their largest statistic too small.
        """
        rank = ceil(alpha * (self.unit + self._replicates) - 1e-9) - self.unit
        if not 1 <= rank <= self._replicates:
            return inf
        samples = [np.concatenate(drawn) for drawn in (self.largest, self.largest_centred) if drawn]
        return max(float(-np.partition(-drawn, rank - 1)[rank - 1]) for drawn in samples)


def _count_reached(drawn: Floats, observed: Floats) -> Indices:
    return np.asarray(np.count_nonzero(drawn >= (observed * (1 - _RELATIVE))[:, None], axis=1))


@dataclass(frozen=True)
class Flips:
    """Random signs for the differences of each topic; all signs up to a common one, if they are no more."""

    topics: int
    replicates: int
    seed: int

    @property
    def every(self) -> bool:
        """Whether all signs are enumerated."""
        return self.topics - 1 <= 30 and 2 ** (self.topics - 1) <= self.replicates

    def blocks(self, size: int = _FLIPS_AT_ONCE) -> Iterator[Floats]:
        """Generate the signs, topics x replicates, some replicates at a time.

        >>> next(Flips(3, 100, 1).blocks()).tolist()
        [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]]
        """
        if self.every:
            numbers = np.arange(2 ** (self.topics - 1))
            for part in blocks(len(numbers), size):
                bits = numbers[part] >> np.arange(self.topics)[:, None] - 1 & 1
                bits[0] = 0
                yield (1 - 2 * bits).astype(np.float64)
            return
        rng = generator(self.seed)
        for drawn in blocks(self.replicates, max(1, _SIGNS_AT_ONCE // self.topics)):
            n_drawn = drawn.stop - drawn.start
            signs = rng.integers(0, 2, size=(n_drawn, self.topics)).astype(np.float64).T * 2 - 1
            for part in blocks(n_drawn, size):
                yield signs[:, part]


def small_sample_factor(topics: int) -> float:
    """Return the factor by which t must exceed its critical value in joint comparisons under random signs."""
    return float(np.sqrt((topics + 1) / max(1, topics - 1)))


def _reduced(r: Floats, topics: int) -> Floats:
    """Return statistics r whose t is divided by :func:`small_sample_factor`.

    With r^2 = n t^2 / (t^2 + n - 1), the new r^2 is n (n - 1) r^2 / (n (n + 1) - 2 r^2). A constant difference keeps
    its statistic sqrt(n), which no signs exceed.
    """
    square = r * r
    return np.sqrt(topics * (topics - 1) * square / np.maximum(topics * (topics + 1) - 2 * square, 1e-300))


def pair_norms(values: Floats, first: Indices, second: Indices) -> Floats:
    """Return the square root of the sum of squared differences of each pair, exactly zero where it is rounding."""
    zero = float(np.abs(values).max(initial=0.0)) * _NEGLIGIBLE
    norms = np.empty(len(first))
    for part in blocks(len(first), max(1, _DIFFERENCES_AT_ONCE // values.shape[1])):
        z = values[first[part]] - values[second[part]]
        norms[part] = np.sqrt(np.einsum("pt,pt->p", z, z))
    norms[norms <= zero] = 0.0
    return norms


def flip_pairs(values: Floats, first: Indices, second: Indices, flips: Flips) -> StepDown:
    """Test many pairs of runs by paired randomisation, two-sided, with the counts of the step-down adjustment.

    Parameters
    ----------
    values : array of runs x topics
    first, second : arrays with the runs of each pair

    >>> values = np.array([[9, 8, 9, 7, 8, 6, 9], [2, 1, 1, 2, 1, 0, 3], [1, 1, 2, 2, 1, 1, 3]]) / 10
    >>> flip_pairs(values, np.array([0, 0, 1]), np.array([1, 2, 2]), Flips(7, 1000, 1)).adjusted.round(3).tolist()
    [0.016, 0.016, 1.0]
    """
    inverse = _inverse(pair_norms(values, first, second))
    observed = np.abs(_differences(values, first, second)) * inverse
    counts = StepDown(observed, 0 if flips.every else 1)
    if len(first) > 1:
        counts.joint, counts.factor = _reduced(observed, flips.topics), small_sample_factor(flips.topics)
    centred = values - values.mean(axis=1, keepdims=True)
    order = counts.order
    a, b = first[order], second[order]
    weights = inverse[order, None]
    centred_weights = _inverse(pair_norms(centred, a, b))[:, None]
    for signs in flips.blocks():
        counts.count(_pair_blocks(values @ signs, a, b, weights, order))
        centred_blocks = _pair_blocks(centred @ signs, a, b, centred_weights, order)
        largest = (drawn.max(axis=0) for _, drawn in centred_blocks)
        counts.largest_centred.append(reduce(np.maximum, largest, np.zeros(signs.shape[1])))
    return counts


def _pair_blocks(
    sums: Floats, first: Indices, second: Indices, weights: Floats, order: Indices
) -> Iterator[tuple[Indices, Floats]]:
    for part in blocks(len(order), _PAIRS_AT_ONCE):
        drawn = sums[first[part]]
        drawn -= sums[second[part]]
        np.abs(drawn, out=drawn)
        drawn *= weights[part]
        yield order[part], drawn


def _differences(values: Floats, first: Indices, second: Indices) -> Floats:
    """Return the sum of the differences of each pair, exactly zero where it is only rounding."""
    sums = values.sum(axis=1)
    difference: Floats = sums[first] - sums[second]
    zero = float(np.abs(values).max(initial=0.0)) * _NEGLIGIBLE * values.shape[1]
    difference[np.abs(difference) <= zero] = 0.0
    return difference


def _inverse(norms: Floats) -> Floats:
    inverse = np.zeros_like(norms)
    np.divide(1.0, norms, out=inverse, where=norms > 0)
    return inverse


def worse_than_best(merits: Floats, *, replicates: int = 1000, seed: int = 1) -> Floats:
    """Return adjusted p-values of the hypotheses that a run is as good as the best one, whichever that is.

    The statistic of a run is its largest deficit to any other run, as r of the paired differences. Random signs of the
    topics' differences show how large the largest statistic of all runs still in question is by chance, also if the
    best run is selected by the data: with a probability of at least 1 - alpha, no run that is truly best has p < alpha.
    This is a step-down form of multiple comparisons with the best (Hsu 1981; Romano and Wolf 2005), like the model
    confidence set of Hansen, Lunde and Nason (2011). For more than 500 runs the statistic is the plain difference of
    means.

    Parameters
    ----------
    merits : array of runs x topics, higher is better

    Returns
    -------
    array of p-values, one per run

    >>> merits = np.array([[9, 8, 9, 7, 8, 6, 9, 7], [8, 9, 9, 7, 7, 7, 9, 7], [1, 1, 2, 2, 1, 1, 3, 1]]) / 10
    >>> (worse_than_best(merits) < 0.05).tolist()
    [False, False, True]
    """
    runs, topics = merits.shape
    flips = Flips(topics, replicates, seed)
    inverse: Floats | None = None
    if runs <= _MAX_STUDENTISED:
        inverse, pairs = np.zeros((runs, runs)), np.triu_indices(runs, 1)
        inverse[pairs] = inverse.T[pairs] = _inverse(pair_norms(merits, *pairs))
    observed = _deficits(merits.sum(axis=1, keepdims=True), inverse)[:, 0]
    counts = StepDown(observed, 0 if flips.every else 2)
    if runs > 2:
        is_r = inverse is not None
        counts.joint = _reduced(observed, topics) if is_r else observed / small_sample_factor(topics)
    # Few blocks, because threads of OpenBLAS spin after each product.
    for signs in flips.blocks(max(1, _SIGNS_AT_ONCE // (2 * runs))):
        counts.count([(counts.order, _deficits(merits @ signs, inverse)[counts.order])])
    return np.where(observed > 0, counts.adjusted, 1.0)


def _deficits(sums: Floats, inverse: Floats | None) -> Floats:
    """Return the largest deficit of each run to any other, for some signs and, to the right, for the opposite ones."""
    if inverse is None:
        return np.concatenate([sums.max(axis=0) - sums, sums - sums.min(axis=0)], axis=1)
    if counting.available() and np.isfinite(sums).all():
        return counting.largest_deficits(sums, inverse)
    runs, n_signs = sums.shape
    deficits, difference = np.empty((runs, 2 * n_signs)), np.empty((runs, n_signs))
    for run in range(runs):
        np.subtract(sums, sums[run], out=difference)
        difference *= inverse[run][:, None]
        difference.max(axis=0, out=deficits[run, :n_signs])
        difference.min(axis=0, out=deficits[run, n_signs:])
    np.negative(deficits[:, n_signs:], out=deficits[:, n_signs:])
    return deficits
