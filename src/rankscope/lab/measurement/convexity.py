"""Conditions under which a measure is interval-like, which need no comparison of pairs.

**Additivity.** The intervals [x, x + e_i] and [x + e_j, x + e_j + e_i] have the same difference vector, so an
interval-like measure must rise equally on both: M(r) = M(0) + sum of w_j r_j. If only intervals with equally
many relevant documents at both ends count, the same argument with swaps [x + e_j, x + e_i] yields
M(r) = f(relevant documents) + sum of w_j r_j.

**Convexity.** Summing by parts twice, M(s) - M(r) is a sum of Delta_sr[i] times the second differences of w,
so it grows with the difference vector iff these are not negative:

    all intervals               w_i - 2 w_(i+1) + w_(i+2) >= 0 for i = 1..N, w continued by two zeros
    equally many relevant       the same for i = 1..N-2, and w_(N-1) >= w_N

Both together decide the question for every measure and every length from the 2^N values, and for an
additive measure from its N weights. The conditions are also necessary: each corresponds to a pair of intervals with
at most one relevant document.

The result also holds with fewer relevant documents (RB) than ranks. There are no rankings with more than RB relevant
documents, but the additivity of the others follows from x with at most RB - 2 of them (RB - 1 for swaps), and the pairs
that prove convexity have at most one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import RELATIVE, magnitude, slack


@dataclass(frozen=True)
class Convexity:
    """Second differences of the weights, and the rank where they are first negative (None: nowhere)."""

    second_differences: tuple[float, ...]
    fails_at: int | None

    @property
    def holds(self) -> bool:
        """Whether the additive measure with these weights is interval-like."""
        return self.fails_at is None


def convexity(
    weights: Sequence[float] | Floats, equal_relevant: bool = False, noise: float = 0.0
) -> Convexity:
    """Test whether M(r) = sum of w_j r_j is interval-like, for rankings as long as the weights.

    The second difference w_i - 2 w_(i+1) + w_(i+2) compares two rises, w_i - w_(i+1) and w_(i+1) - w_(i+2); it is
    negative if the second exceeds the first by more than 1e-9 of it plus the weights' rounding error and ``noise``.

    >>> rbp = [0.2 * 0.8**i for i in range(10)]
    >>> convexity(rbp, equal_relevant=True).holds, convexity(rbp).fails_at
    (True, 9)
    """
    w = np.asarray(weights, dtype=np.float64)
    # With equally many relevant documents only differences of weights matter: the last one is repeated behind the end.
    w = np.concatenate([w, w[-1:] if equal_relevant else [0.0, 0.0]])
    second = w[:-2] - 2 * w[1:-1] + w[2:]
    rounding = 1e-15 * (np.abs(w[:-2]) + 2 * np.abs(w[1:-1]) + np.abs(w[2:])) + noise
    negative = np.flatnonzero(second < -RELATIVE * np.abs(w[:-2] - w[1:-1]) - rounding)
    return Convexity(tuple(second.tolist()), int(negative[0]) + 1 if len(negative) else None)


def additive_weights(values: Floats, equal_relevant: bool = False) -> Floats | None:
    """Return the weights w of an additive measure, from its values on all rankings; None if it is not additive.

    With ``equal_relevant`` an additional term that depends only on the number of relevant documents is allowed.
    Values may deviate from the sum by 1e-9 of the largest one; NaN marks rankings that the topic does not have.

    >>> from rankscope.lab.measurement.intervals import rankings
    >>> r = rankings(3)
    >>> additive_weights(r @ np.array([4.0, 2.0, 1.0])).tolist()
    [4.0, 2.0, 1.0]
    >>> additive_weights(r.max(axis=1).astype(float)) is None
    True
    """
    length = len(values).bit_length() - 1
    weights = values[1 << np.arange(length - 1, -1, -1)] - values[0]
    rest = values - _sums(weights) - values[0]
    is_defined = ~np.isnan(values)
    tolerance = RELATIVE * magnitude(values)
    if not equal_relevant:
        return weights if float(np.abs(rest[is_defined]).max()) <= tolerance else None
    relevant = _sums(np.ones(length)).astype(np.int64)
    return weights if group_ranges(rest[is_defined], relevant[is_defined]).max() <= tolerance else None


def group_ranges(values: Floats, group: Ints) -> Floats:
    """Return the difference between the largest and the smallest value of each group."""
    n_groups = int(group.max()) + 1
    highest, lowest = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    np.maximum.at(highest, group, values)
    np.minimum.at(lowest, group, values)
    return np.asarray(highest - lowest)


def _sums(weights: Floats) -> Floats:
    """Return the values of the additive measure with these weights on all rankings, indexed by code."""
    values = np.zeros(1)
    for weight in weights:
        values = np.stack([values, values + weight], axis=1).ravel()
    return values


def witness(length: int, fails_at: int, equal_relevant: bool = False) -> Pair:
    """Return the violated pair, with at most one relevant document, for a negative second difference at a rank.

    >>> from rankscope.lab.measurement.intervals import binary_word
    >>> [binary_word(c, 3) for c in witness(3, 1)]
    ['(001)', '(010)', '(010)', '(100)']
    >>> [binary_word(c, 3) for c in witness(3, 2)]
    ['(000)', '(001)', '(001)', '(010)']
    """

    def encode(rank: int) -> int:
        """Return the code of the ranking with one relevant document; 0 if the rank is beyond the end."""
        return 1 << (length - rank) if rank <= length else 0

    if equal_relevant and fails_at == length - 1:  # The last swap lowers the score.
        return Pair(encode(length), encode(length), encode(length), encode(length - 1))
    return Pair(encode(fails_at + 2), encode(fails_at + 1), encode(fails_at + 1), encode(fails_at))


def broken_additivity(values: Floats, equal_relevant: bool = False) -> Pair | None:
    """Return two intervals with equal difference vectors and unequal rises; None if no such pair exists.

    Both make the same change, one of them with additional relevant documents at other ranks. Pairs with few additional
    documents, then with close ranks of the change, are preferred. NaN marks rankings that the topic does not have.

    >>> from rankscope.lab.measurement.intervals import binary_word
    >>> [binary_word(c, 2) for c in broken_additivity(np.array([0, 0.5, 1, 2.0]))]
    ['(10)', '(11)', '(00)', '(01)']
    """
    length = len(values).bit_length() - 1
    codes = np.arange(len(values))
    scale = magnitude(values)
    relevant = _sums(np.ones(length)).astype(np.int64)
    best: tuple[int, int, float, Pair] | None = None
    for upper, lower in combinations(1 << np.arange(length - 1, -1, -1), 2):
        context = codes[(codes & (upper | lower)) == 0]
        if equal_relevant:  # The swap from the lower to the upper rank, without and with x.
            alone = np.full_like(context, lower), np.full_like(context, upper)
            ends = (*alone, context | lower, context | upper)
        else:  # A relevant document at the lower rank, without and with one at the upper rank.
            ends = (context, context | lower, context | upper, context | upper | lower)
        first, second = values[ends[1]] - values[ends[0]], values[ends[3]] - values[ends[2]]
        gap = np.abs(first - second)
        broken = np.flatnonzero(gap > slack(np.minimum(np.abs(first), np.abs(second)), scale))
        if not len(broken):
            continue
        plainest = broken[np.lexsort((-gap[broken], relevant[context[broken]]))[0]]
        r, s, u, v = (int(end[plainest]) for end in ends)
        pair = Pair(r, s, u, v) if first[plainest] > second[plainest] else Pair(u, v, r, s)
        candidate = (int(relevant[context[plainest]]), int(upper // lower), -float(gap[plainest]), pair)
        if best is None or candidate[:3] < best[:3]:
            best = candidate
    return None if best is None else best[3]


def rbp_threshold(r: Sequence[int], s: Sequence[int], u: Sequence[int], v: Sequence[int]) -> float:
    """Return the p above which RBP(p) rises more from r to s than from u to v; NaN if there is no such p below 1.

    It is the largest root in (0, 1) of the polynomial sum of ((s_j - r_j) - (v_j - u_j)) p^(j-1), if that
    is positive above.

    >>> round(rbp_threshold((0, 0, 0), (0, 0, 1), (0, 0, 1), (0, 1, 0)), 12)
    0.5
    """
    changes = [(b - a) - (d - c) for a, b, c, d in zip(r, s, u, v, strict=True)]
    roots = np.roots(np.trim_zeros(np.array(changes[::-1], dtype=np.float64), "f"))
    real = np.sort(roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < 1)].real)
    if not len(real):
        return float("nan")
    between = (float(real[-1]) + 1) / 2
    above = float(np.polyval(changes[::-1], between))
    return float(real[-1]) if above > 0 else float("nan")
