"""Rank correlation coefficients of two score vectors, one number per run.

All of them take higher scores to be better, treat equal scores as ties and return NaN where they are
undefined (fewer than two runs, or all runs tied).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import erfc, factorial, nan, sqrt

import numpy as np

from rankscope.arrays import ArrayLike, Bools, Floats, Indices, Ints
from rankscope.errors import InputError

_MAX_PAIRWISE = 1000
"""Largest number of scores whose pairs are compared one by one; of 10,000 scores they would take more than 1 GB."""


@dataclass(frozen=True)
class Coefficient:
    """A correlation, its two-sided p-value and its number of runs."""

    value: float
    p: float
    runs: int


@dataclass(frozen=True)
class Kendall:
    """Kendall's tau-b with its p-value, tau-a, and the counts of pairs that both are computed from."""

    tau_b: float
    tau_a: float
    p: float
    runs: int
    concordant: int
    discordant: int
    ties_x: int
    ties_y: int
    ties_both: int


class Standing:
    """Ranks and ties of runs by one score vector, computed once for all comparisons with other vectors."""

    def __init__(self, scores: ArrayLike) -> None:
        self.scores: Floats = np.asarray(scores, dtype=np.float64).ravel()
        self.undefined = bool(np.isnan(self.scores).any())

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def pairs(self) -> tuple[Bools, Bools, int]:
        """Masks of pairs: those whose first run is above the second, and tied ones; and the number of tied pairs."""
        first, second = _pairs(len(self))
        left, right = self.scores.take(first), self.scores.take(second)
        tied = left == right
        return left > right, tied, int(np.count_nonzero(tied))

    @cached_property
    def above(self) -> tuple[Bools, Ints]:
        """Mask of the runs above each run, and their number."""
        above = self.scores[None, :] > self.scores[:, None]
        return above, above.sum(axis=1)

    @cached_property
    def all_tied(self) -> bool:
        return bool((self.scores == self.scores[:1]).all())


def kendall(x: ArrayLike | Standing, y: ArrayLike | Standing) -> Kendall:
    """Return Kendall's tau between two score vectors (Kendall 1948).

    With C concordant and D discordant pairs among the n(n-1)/2, T_x and T_y pairs tied in x and in y:

        tau_a = (C - D) / (n(n-1)/2)
        tau_b = (C - D) / sqrt((n(n-1)/2 - T_x) (n(n-1)/2 - T_y))

    The p-value is exact without ties when n <= 33 or at most one pair is out of order, and otherwise that of
    the normal approximation with the variance corrected for ties, as in scipy.stats.kendalltau.

    >>> result = kendall([5, 1, 2, 5], [5, 3, 3, 4])
    >>> round(result.tau_b, 12), round(result.tau_a, 4), result.ties_x, result.ties_y
    (0.8, 0.6667, 1, 1)
    """
    a, b = _standings(x, y)
    n = len(a)
    pairs = n * (n - 1) // 2
    if n > _MAX_PAIRWISE:
        rank_a, rank_b = (np.unique(side.scores, return_inverse=True)[1] for side in (a, b))
        counts = _count_pairs(rank_a, rank_b, np.zeros(n, np.int64), 1)
        discordant, ties_a, ties_b, ties_both = (int(count[0]) for count in counts)
        concordant = pairs - ties_a - ties_b + ties_both - discordant
    else:
        (up_a, tied_a, ties_a), (up_b, tied_b, ties_b) = a.pairs, b.pairs
        untied = ~(tied_a | tied_b)
        concordant = int(np.count_nonzero((up_a == up_b) & untied))
        discordant = int(np.count_nonzero(untied)) - concordant
        ties_both = int(np.count_nonzero(tied_a & tied_b))
    balance = concordant - discordant
    tau_a = balance / pairs if pairs else nan
    if ties_a == pairs or ties_b == pairs:
        tau_b = p = nan
    else:
        # the root of the whole product, so that perfect agreement is exactly 1
        tau_b = balance / sqrt((pairs - ties_a) * (pairs - ties_b))
        p = _kendall_p(a.scores, b.scores, balance, discordant, ties_a, ties_b)
    return Kendall(tau_b, tau_a, p, n, concordant, discordant, ties_a, ties_b, ties_both)


def kendall_by_group(a: Ints, b: Ints, group: Ints, n_groups: int) -> Floats:
    """Return tau-b of the items of each group, given their ranks by two rankings, from 0 on.

    >>> kendall_by_group(np.array([0, 2, 1, 0]), np.array([1, 1, 0, 2]), np.array([0, 0, 0, 1]), 2).round(4).tolist()
    [0.0, nan]
    """
    discordant, ties_a, ties_b, ties_both = _count_pairs(a, b, group, n_groups)
    size = np.bincount(group, minlength=n_groups)
    pairs = size * (size - 1) // 2
    with np.errstate(invalid="ignore"):  # 0/0 where all are tied
        balance = pairs - ties_a - ties_b + ties_both - 2 * discordant
        return np.asarray(balance / np.sqrt((pairs - ties_a) * (pairs - ties_b)))


def _count_pairs(a: Ints, b: Ints, group: Ints, n_groups: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return for each group the numbers of discordant pairs, of pairs tied in a, in b and in both, in O(n log n).

    The algorithm is that of Knight (1966). Items have ranks from 0 on.

    >>> ranks = np.array([0, 1, 1, 2]), np.array([1, 0, 0, 0])
    >>> [count.tolist() for count in _count_pairs(*ranks, np.zeros(4, np.int64), 1)]
    [[3], [1], [3], [1]]
    """
    bits_a, bits_b = (int(ranks.max(initial=0)).bit_length() for ranks in (a, b))
    # Pairs tied in a are in the order of b, so that none of them counts as an inversion.
    by_both = np.sort((group << bits_a | a) << bits_b | b)
    by_b = np.sort(group << bits_b | b)
    keys = (by_both >> bits_b, bits_a), (by_b, bits_b), (by_both, bits_a + bits_b)
    ties = [_count_tied(key, key >> bits, n_groups) for key, bits in keys]
    group = by_both >> (bits_a + bits_b)
    return _count_inversions(by_both & ((1 << bits_b) - 1), group, n_groups), ties[0], ties[1], ties[2]


def _count_tied(keys: Ints, group: Ints, n_groups: int) -> Ints:
    """Return for each group the number of pairs of equal keys, given sorted keys."""
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    sizes = np.diff(starts, append=len(keys))
    return np.bincount(group[starts], sizes * (sizes - 1) // 2, n_groups).astype(np.int64)


_BLOCK_BITS = 8
"""Binary logarithm of the number of ranks in a block; counts within blocks fit a byte."""


def _count_inversions(ranks: Ints, group: Ints, n_groups: int) -> Ints:
    """Return for each group the number of pairs in which a larger rank precedes a smaller one; groups are sorted.

    All pairs within a block are compared, which vectorises; then blocks are merged, two by two.
    """
    sizes = np.bincount(group, minlength=n_groups)
    size = int(sizes.max(initial=0))
    position = group << size.bit_length() | (np.arange(len(ranks)) - (np.cumsum(sizes) - sizes)[group])
    bits = int(ranks.max(initial=0)).bit_length()
    # Keys of later blocks are larger, so that no pair of two blocks is inverted.
    keys = (position >> _BLOCK_BITS) << bits | ranks
    if size <= 1 << _BLOCK_BITS:
        keys = group << bits | ranks
    keys = keys.astype(np.min_scalar_type(keys.max(initial=0)))
    inversions = np.zeros(len(ranks), np.uint8)
    for lag in range(1, min(size, 1 << _BLOCK_BITS)):
        inversions[:-lag] += (keys[:-lag] > keys[lag:]).view(np.uint8)
    total = np.bincount(group, inversions, n_groups)
    for bit in range(_BLOCK_BITS, (size - 1).bit_length()):
        block = position >> (bit + 1)
        order = np.argsort(block << bits | ranks, kind="stable")
        is_right = position[order] >> bit & 1
        right = np.cumsum(is_right)
        before = np.append(0, right)[np.searchsorted(block, block)]  # Sorting moves no rank to another block.
        total += np.bincount(group, (1 - is_right) * (right - before), n_groups)
    return total.astype(np.int64)


def ap_correlation(
    reference: ArrayLike | Standing, estimate: ArrayLike | Standing, *, symmetric: bool = False
) -> float:
    """Return the AP correlation, a Kendall's tau that weights disagreement at the top more (Yilmaz et al. 2008).

        tau_AP = 2/(n-1) * sum over ranks i = 2..n of C(i)/(i-1) - 1

    where the ranks are those of ``estimate`` and C(i) counts the runs above rank i that ``reference`` also
    puts above the run at rank i. ``symmetric`` gives the mean of both directions.

    Ties (Urbano and Marrero 2017, tau_AP,b): runs tied in ``estimate`` share a rank; each is compared only
    with the p runs strictly above its group, C/p, and the sum is averaged over the runs below the first group. A
    pair tied in ``reference`` but not in ``estimate`` is not concordant.

    >>> ap_correlation([4, 3, 2, 1], [4, 3, 2, 1]), ap_correlation([4, 3, 2, 1], [1, 2, 3, 4])
    (1.0, -1.0)
    >>> round(ap_correlation([4, 3, 2, 1], [3, 4, 2, 1]), 4), round(ap_correlation([4, 3, 2, 1], [4, 3, 1, 2]), 4)
    (0.3333, 0.7778)
    """
    truth, ranking = _standings(reference, estimate)
    if symmetric:
        return (ap_correlation(truth, ranking) + ap_correlation(ranking, truth)) / 2
    above, size = ranking.above
    below_top = size > 0
    if truth.all_tied or not below_top.any():
        return nan
    share = np.count_nonzero(above & truth.above[0], axis=1)[below_top] / size[below_top]
    return float(2 * share.mean() - 1)


def pearson(x: ArrayLike | Standing, y: ArrayLike | Standing) -> Coefficient:
    """Return Pearson's linear correlation, with the p-value of the exact distribution for normal scores.

    >>> round(pearson([1, 2, 3, 4], [1, 2, 3, 5]).value, 4)
    0.9827
    """
    a, b = _vectors(x, y)
    n = len(a)
    if n < 2 or (a == a[0]).all() or (b == b[0]).all():
        return Coefficient(nan, nan, n)
    a, b = a - a.mean(), b - b.mean()
    # scaling first keeps tiny and huge scores from under- or overflowing
    r = float((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)))
    if n == 2 or 1 - abs(r) < 1e-15:
        # a perfect correlation that misses 1 by rounding would get a p-value of 1e-8 instead of 0
        return Coefficient(float(np.sign(r)), 1.0 if n == 2 else 0.0, n)
    from scipy.special import betainc

    half = n / 2 - 1
    return Coefficient(r, float(2 * betainc(half, half, (1 - abs(r)) / 2)), n)


def spearman(x: ArrayLike | Standing, y: ArrayLike | Standing) -> Coefficient:
    """Return Spearman's rho, Pearson's correlation of the average ranks, with the p-value by Student's t.

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 9]).value, 4)
    0.8
    """
    a, b = _vectors(x, y)
    # twice the centred ranks are whole numbers, so the sums are exact and a perfect agreement gives exactly 1
    a, b = 2 * average_ranks(a) - (len(a) + 1), 2 * average_ranks(b) - (len(b) + 1)
    spread = sqrt(float(a @ a) * float(b @ b))
    rho = float(a @ b) / spread if spread else nan
    freedom = len(a) - 2
    if np.isnan(rho) or freedom < 1:
        return Coefficient(rho, nan, len(a))
    if abs(rho) == 1:
        return Coefficient(rho, 0.0, len(a))
    from scipy.special import stdtr

    t = rho * sqrt(freedom / ((rho + 1.0) * (1.0 - rho)))
    return Coefficient(rho, float(2 * stdtr(freedom, -abs(t))), len(a))


def average_ranks(values: Floats) -> Floats:
    """Return ranks along the last axis, from 1 for the smallest value; ties share their mean rank.

    >>> average_ranks(np.array([10.0, 30.0, 10.0, 20.0])).tolist()
    [1.5, 4.0, 1.5, 3.0]
    """
    first, last = tied_ranks(values)
    return np.asarray((first + last) / 2)


def tied_ranks(values: Floats) -> tuple[Ints, Ints]:
    """Return the first and the last rank that each value can have along the last axis, smallest first.

    >>> [ends.tolist() for ends in tied_ranks(np.array([10.0, 30.0, 10.0, 20.0]))]
    [[1, 4, 1, 3], [2, 4, 2, 3]]
    """
    order = np.argsort(values, axis=-1)  # The order of equal values changes no rank.
    ordered = np.take_along_axis(values, order, axis=-1)
    length = values.shape[-1]
    # Edges are above the first, between others that differ, and below the last.
    is_edge = np.ones((*values.shape[:-1], length + 1), np.bool_)
    is_edge[..., 1:-1] = ordered[..., 1:] != ordered[..., :-1]
    rank = np.arange(1, length + 1)
    begin = np.maximum.accumulate(np.where(is_edge[..., :-1], rank, 1), axis=-1)
    end = np.minimum.accumulate(np.where(is_edge[..., 1:], rank, length)[..., ::-1], axis=-1)[..., ::-1]
    first, last = np.empty((2, *values.shape), np.int64)
    np.put_along_axis(first, order, begin, axis=-1)
    np.put_along_axis(last, order, end, axis=-1)
    return first, last


def _vectors(x: ArrayLike | Standing, y: ArrayLike | Standing) -> tuple[Floats, Floats]:
    a, b = _standings(x, y)
    return a.scores, b.scores


def _standings(x: ArrayLike | Standing, y: ArrayLike | Standing) -> tuple[Standing, Standing]:
    a, b = (values if isinstance(values, Standing) else Standing(values) for values in (x, y))
    if len(a) != len(b):
        hint = "give one score per run in both"
        raise InputError(f"correlation of {len(a)} with {len(b)} scores", hint=hint)
    if a.undefined or b.undefined:
        raise InputError("correlation of undefined scores (NaN)", hint="leave those runs out of both vectors")
    return a, b


@lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[Indices, Indices]:
    first, second = np.triu_indices(n, 1)
    return first, second


def _kendall_p(a: Floats, b: Floats, balance: int, discordant: int, ties_a: int, ties_b: int) -> float:
    n = len(a)
    pairs = n * (n - 1) // 2
    fewest = min(discordant, pairs - discordant)
    if not ties_a and not ties_b and (n <= 33 or fewest <= 1):
        if 2 * discordant == pairs:
            return 1.0
        at_most = n if fewest == 1 else 1 if fewest == 0 else _inversions(n)[fewest]
        return min(1.0, 2 * at_most / factorial(n))
    (cubic_a, square_a), (cubic_b, square_b) = _tie_terms(a), _tie_terms(b)
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - square_a - square_b) / 18 + (2 * ties_a * ties_b) / m
    if n > 2:
        variance += cubic_a * cubic_b / (9 * m * (n - 2))
    return erfc(abs(balance) / sqrt(2 * variance))


def _tie_terms(values: Floats) -> tuple[float, float]:
    """Return the sums over groups of t tied values of t(t-1)(t-2) and of t(t-1)(2t+5)."""
    t = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((t * (t - 1) * (t - 2)).sum()), float((t * (t - 1) * (2 * t + 5)).sum())


@lru_cache(maxsize=64)
def _inversions(n: int) -> list[int]:
    """Return the exact numbers of permutations of n with at most 0, 1, 2, ... inversions."""
    counts = np.ones(1, object)  # Integers of any size.
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.ones(size, object))
    return list(accumulate(counts))
