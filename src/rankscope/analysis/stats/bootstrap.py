"""Sakai's paired bootstrap for many pairs of runs at once.

For a pair with per-topic differences z, t = mean(z) / (sd(z)/sqrt(n)). Under the null hypothesis the centred
differences w = z - mean(z) are resampled; a replicate that takes topic k c_k times has mean m = sum c_k w_k / n
and mean square q = sum c_k w_k^2 / n, and

    t*^2 = (n-1) m^2 / (q - m^2),    which grows with    r = m^2 / q    in [0, 1].

So comparing |t*| with |t| is comparing r with mean(z)^2 / mean(z^2): no square root, no subtraction of nearly equal
numbers, and both sums for all replicates are matrix products of the resample counts with w and w^2. The first
is even linear in the runs, so it is one product for all of them. A replicate without variance has r = 1 (t* is
infinite), or r = 0 if its differences are all zero (t* = 0).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, fsum

import numpy as np

from rankscope.analysis.stats.max_t import StepDown
from rankscope.analysis.stats.randomness import generator
from rankscope.arrays import Floats, Indices, Ints
from rankscope.engines import run_pieces
from rankscope.progress import blocks

_PAIRS_IN_PIECE = 512  # fixed, so that the number of jobs changes nothing
_PAIRS_AT_ONCE = 64  # the replicates of this many pairs stay in the processor's cache
_BLOCKS_IN_TURN = 128  # of the weights: a fraction of a second, after which Ctrl-C is checked
_NUMBERS_IN_TURN = 2**19  # pairs x replicates, likewise
_RELATIVE = 1e-9  # two statistics closer than this are equal: rounding must not decide a comparison
_NEGLIGIBLE = 1e-12  # differences below this share of the largest score are zero


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Achieved significance level of each pair of runs, and the smallest difference that would be significant."""

    asl: Floats
    delta: Floats
    critical: Floats
    """|t*| of the replicate that ``delta`` is taken from: the bootstrap's critical value for |t|."""


def resample(topics: int, replicates: int, seed: int) -> Ints:
    """Return the topics of every replicate, replicates x topics, the same for the same seed everywhere.

    >>> resample(3, 2, seed=1).shape
    (2, 3)
    """
    return generator(seed).integers(0, topics, size=(replicates, topics))


def bootstrap_pairs(
    values: Floats, first: Indices, second: Indices, resampled: Ints, *, alpha: float = 0.05
) -> Bootstrap:
    """Test run ``first[k]`` against run ``second[k]`` for every k by Sakai's (2006) paired bootstrap.

    ``values`` is runs x topics without NaN, ``resampled`` replicates x topics as from :func:`resample`.

        ASL = #{|t*| >= |t|} / B
        delta = |mean| of the replicate at position ceil(alpha B) in the order of |t*|, largest first

    Replicates with the same |t*| keep their order.

    Identical runs have ASL 1, runs that differ by a constant ASL 0.

    >>> values = np.array([[0.9, 0.8, 0.7, 0.9], [0.1, 0.2, 0.3, 0.1], [0.9, 0.8, 0.7, 0.9]])
    >>> result = bootstrap_pairs(values, np.array([0, 0]), np.array([1, 2]), resample(4, 200, seed=1))
    >>> result.asl.tolist()
    [0.065, 1.0]
    """
    replicates, topics = resampled.shape
    work = _Work(values, resampled, critical_rank(alpha, replicates))
    pieces = [(first[part], second[part]) for part in blocks(len(first), _PAIRS_IN_PIECE)]
    results = run_pieces(work, pieces, label="bootstrap")
    if not results:
        return Bootstrap(np.empty(0), np.empty(0), np.empty(0))
    exceeding, replicate, ratio = (np.concatenate([part[k] for part in results]) for k in range(3))
    delta = _replicate_means(work.centred, first, second, resampled, replicate)
    delta[delta <= work.negligible] = 0.0
    ratio[ratio > 1 - _RELATIVE] = 1.0
    with np.errstate(divide="ignore"):
        critical = np.sqrt((topics - 1) * ratio / (1 - ratio))
    return Bootstrap(exceeding / replicates, delta, critical)


def bootstrap_max_t(values: Floats, first: Indices, second: Indices, resampled: Ints) -> StepDown:
    """Return the test with the counts of its step-down adjustment for all pairs (Westfall and Young 1993).

    Statistics are r = sqrt(n m^2 / q) as above, as those of :func:`~rankscope.analysis.stats.max_t.flip_pairs`.

    >>> values = np.array([[9, 8, 9, 7, 8, 6, 9], [2, 1, 1, 2, 1, 0, 3], [1, 1, 2, 2, 1, 1, 3]]) / 10
    >>> found = bootstrap_max_t(values, np.array([0, 0, 1]), np.array([1, 2, 2]), resample(7, 500, seed=1))
    >>> (found.adjusted < 0.05).tolist()
    [True, True, False]
    """
    topics = resampled.shape[1]
    work = _Work(values, resampled, 1)
    step_down = StepDown(np.sqrt(topics * work.observed(first, second)))
    order = step_down.order
    step_down.count(
        (order[part], np.sqrt(np.multiply(ratio, topics, out=ratio), out=ratio))
        for part, ratio, _ in work.statistics(first[order], second[order])
    )
    return step_down


def critical_rank(alpha: float, replicates: int) -> int:
    """Return ceil(alpha B), tolerant of rounding errors: 0.07 x 100 = 7.000000000000001 gives 7."""
    return max(1, ceil(alpha * replicates - 1e-9))


def resample_counts(resampled: Ints) -> Ints:
    """Return the number of times that each replicate takes each topic, replicates x topics.

    >>> resample_counts(np.array([[0, 2, 2]])).tolist()
    [[1, 0, 2]]
    """
    replicates, topics = resampled.shape
    cells = resampled + np.arange(replicates)[:, None] * topics
    return np.bincount(cells.ravel(), minlength=resampled.size).reshape(resampled.shape)


def _cut(resampled: Ints) -> Floats:
    """Return the shares of topics as a stack of narrow matrices, blocks x topics x replicates of the block.

    A product this small stays in one thread of the linear algebra library; its threads gain nothing at this
    size, and cost a factor of ten when other programs use the cores.
    """
    replicates, topics = resampled.shape
    max_width = max(1, 2**18 // (_PAIRS_AT_ONCE * topics))
    width = max((w for w in range(1, max_width + 1) if replicates % w == 0), default=1)
    if width < 8:
        width = replicates
    cut = np.empty((replicates // width, topics, width))
    for part in blocks(len(cut), max(1, _NUMBERS_IN_TURN // (topics * width))):
        shares = resample_counts(resampled[part.start * width : part.stop * width]) / topics
        cut[part] = shares.reshape(-1, width, topics).transpose(0, 2, 1)
    return cut


def _multiply(rows: Floats, cut: Floats, out: Floats) -> None:
    """Multiply ``rows`` by the weights that were cut, and write the products to ``out``."""
    n_blocks, _, width = cut.shape
    into = out.reshape(len(rows), n_blocks, width).transpose(1, 0, 2)
    for part in blocks(n_blocks, _BLOCKS_IN_TURN):
        np.matmul(rows, cut[part], out=into[part])


class _Work:
    """One piece of the pairs: a pure function of the pairs, so pieces may run anywhere in any order."""

    def __init__(self, values: Floats, resampled: Ints, rank: int) -> None:
        self.rank, self.negligible = rank, float(np.abs(values).max(initial=0.0)) * _NEGLIGIBLE
        self.centre = values.mean(axis=1)
        self.centred = values - self.centre[:, None]
        self.weights = _cut(resampled)
        self.means = np.empty((len(values), len(resampled)))
        for part in blocks(len(values), _PAIRS_AT_ONCE):
            _multiply(self.centred[part], self.weights, self.means[part])

    def __call__(self, pairs: tuple[Indices, Indices]) -> tuple[Indices, Indices, Floats]:
        reached = self.observed(*pairs)[:, None] * (1 - _RELATIVE)
        results = [
            (np.count_nonzero(ratio >= reached[part], axis=1), *_holding(ratio, spare, self.rank))
            for part, ratio, spare in self.statistics(*pairs)
        ]
        exceeding, replicate, critical = (np.concatenate([part[k] for part in results]) for k in range(3))
        return exceeding, replicate, critical

    def observed(self, first: Indices, second: Indices) -> Floats:
        """Return the statistic of some pairs, mean(z)^2 / mean(z^2); 0 for a mean of zero."""
        statistic = np.zeros(len(first))
        for part in blocks(len(first), _PAIRS_AT_ONCE):
            variance = np.square(self._differences(first[part], second[part])).mean(axis=1)
            mean = self.centre[first[part]] - self.centre[second[part]]
            square = np.where(np.abs(mean) <= self.negligible, 0.0, mean * mean)
            np.divide(square, square + variance, out=statistic[part], where=square > 0)
        return statistic

    def statistics(self, first: Indices, second: Indices) -> Iterator[tuple[slice, Floats, Floats]]:
        """Yield blocks of pairs, their statistics in every replicate, and memory of this shape, which all share."""
        # Memory fresh from the system costs more than the arithmetic.
        space = np.empty((3, min(len(first), _PAIRS_AT_ONCE), self.means.shape[1]))
        for part in blocks(len(first), _PAIRS_AT_ONCE):
            w = np.square(self._differences(first[part], second[part]))
            ratio, squares, spare = space[:, : len(w)]
            _multiply(w, self.weights, squares)
            if not w.all():
                # A replicate of zeros only: its mean, zero but for rounding, must not be divided by zero.
                np.maximum(squares, max(self.negligible**2, 1e-300), out=squares)
            np.take(self.means, first[part], axis=0, out=ratio, mode="clip")
            np.take(self.means, second[part], axis=0, out=spare, mode="clip")
            np.subtract(ratio, spare, out=ratio)
            np.multiply(ratio, ratio, out=ratio)
            np.divide(ratio, squares, out=ratio)
            yield part, ratio, spare

    def _differences(self, first: Indices, second: Indices) -> Floats:
        w: Floats = self.centred[first] - self.centred[second]
        w[np.abs(w) <= self.negligible] = 0.0
        return w


def _holding(ratio: Floats, spare: Floats, rank: int) -> tuple[Indices, Floats]:
    """Return for each row the column with the rank-th largest value, the earlier of equal ones, and that value."""
    np.copyto(spare, ratio)
    split = ratio.shape[1] - rank
    spare.partition(split, axis=1)
    critical = spare[:, split].copy()
    column = np.argmax(ratio == critical[:, None], axis=1)
    low, high = critical * (1 - _RELATIVE), critical * (1 + _RELATIVE)
    tied = (spare[:, :split].max(axis=1, initial=-1.0) >= low) | (
        spare[:, split + 1 :].min(axis=1, initial=np.inf) <= high
    )
    for row in np.flatnonzero(tied):
        larger = np.count_nonzero(ratio[row] > high[row])
        columns = np.flatnonzero((ratio[row] >= low[row]) & (ratio[row] <= high[row]))
        column[row] = columns[rank - 1 - larger]
    return column, critical


def _replicate_means(
    centred: Floats, first: Indices, second: Indices, resampled: Ints, replicate: Indices
) -> Floats:
    """Return |mean| of the chosen replicate of each pair; the largest are summed exactly, so every machine agrees."""

    def differences(pairs: slice) -> Floats:
        topics = resampled[replicate[pairs]]
        result: Floats = centred[first[pairs, None], topics] - centred[second[pairs, None], topics]
        return result

    means = np.empty(len(first))
    for part in blocks(len(first), max(1, _NUMBERS_IN_TURN // resampled.shape[1])):
        means[part] = np.abs(differences(part).mean(axis=1))
    largest = means.max(initial=0.0)
    for pair in np.flatnonzero(means >= largest * (1 - _RELATIVE)).tolist() if largest else ():
        means[pair] = abs(fsum(differences(slice(pair, pair + 1))[0])) / resampled.shape[1]
    return means
