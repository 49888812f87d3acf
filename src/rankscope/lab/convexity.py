"""When a measure is interval-like, decided without looking at pairs.

**Additivity.** The intervals [x, x + e_i] and [x + e_j, x + e_j + e_i] have the same difference vector, so an
interval-like measure must rise equally on both: M(r) = M(0) + sum of w_j r_j. If only intervals with equally
many relevant documents at both ends count, the same argument with swaps [x + e_j, x + e_i] leaves
M(r) = f(relevant documents) + sum of w_j r_j.

**Convexity.** Summing by parts twice, M(s) - M(r) is a sum of Delta_sr[i] times the second differences of w,
so it grows with the difference vector iff these are not negative:

    all intervals               w_i - 2 w_(i+1) + w_(i+2) >= 0 for i = 1..N, w continued by two zeros
    equally many relevant       the same for i = 1..N-2, and w_(N-1) >= w_N

Both together decide the question for every measure and every length from the 2^N values, and for an
additive measure from its N weights. The conditions are also necessary: each names a pair of intervals with
at most one relevant document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope.lab.dominance import RELATIVE, slack
from rankscope.lab.walks import Pair

__all__ = [
    "Convexity",
    "additive_weights",
    "convexity",
    "least_rankings",
    "rbp_threshold",
    "simplest_violation",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Convexity:
    """The second differences of the weights, and the rank where they are first negative (None: nowhere)."""

    second_differences: tuple[float, ...]
    fails_at: int | None

    @property
    def holds(self) -> bool:
        """Whether the additive measure with these weights is interval-like."""
        return self.fails_at is None


def convexity(
    weights: Sequence[float] | Floats, equal_relevant: bool = False, noise: float = 0.0
) -> Convexity:
    """Whether M(r) = sum of w_j r_j is interval-like, for a ranking as long as the weights.

    A second difference counts as negative below -1e-9 of the weights it is made of (and below -``noise``).

    >>> rbp = [0.2 * 0.8**i for i in range(10)]
    >>> convexity(rbp, equal_relevant=True).holds, convexity(rbp).fails_at
    (True, 9)
    """
    w = np.asarray(weights, dtype=np.float64)
    if equal_relevant:
        # only differences of weights count: beyond the last one they go on as if it repeated
        w = np.concatenate([w, w[-1:]])
    else:
        w = np.concatenate([w, [0.0, 0.0]])
    second = w[:-2] - 2 * w[1:-1] + w[2:]
    size = np.abs(w[:-2]) + 2 * np.abs(w[1:-1]) + np.abs(w[2:])
    negative = np.flatnonzero(second < -RELATIVE * size - noise)
    return Convexity(tuple(second.tolist()), int(negative[0]) + 1 if len(negative) else None)


def additive_weights(values: Floats, equal_relevant: bool = False) -> Floats | None:
    """The weights w of an additive measure, from its values on all rankings; None when it is not additive.

    With ``equal_relevant`` a part that depends only on the number of relevant documents is allowed besides.
    Values may miss the sum by 1e-9 of the largest one.

    >>> r = rankings(3)
    >>> additive_weights(r @ np.array([4.0, 2.0, 1.0])).tolist()
    [4.0, 2.0, 1.0]
    >>> additive_weights(r.max(axis=1).astype(float)) is None
    True
    """
    length = len(values).bit_length() - 1
    weights = values[1 << np.arange(length - 1, -1, -1)] - values[0]
    rest = values - _sums(weights) - values[0]
    tolerance = RELATIVE * float(np.abs(values).max())
    if not equal_relevant:
        return weights if float(np.abs(rest).max()) <= tolerance else None
    relevant = _sums(np.ones(length)).astype(np.int64)
    highest = np.full(length + 1, -np.inf)
    lowest = np.full(length + 1, np.inf)
    np.maximum.at(highest, relevant, rest)
    np.minimum.at(lowest, relevant, rest)
    return weights if float((highest - lowest).max()) <= tolerance else None


def _sums(weights: Floats) -> Floats:
    """The additive measure with these weights on all rankings, doubled from rank to rank."""
    values = np.zeros(1)
    for weight in weights:
        values = np.stack([values, values + weight], axis=1).ravel()
    return values


def least_rankings(length: int) -> list[int]:
    """The codes of the rankings with at most one relevant document, the empty one first."""
    return [0, *(1 << place for place in range(length))]


def simplest_violation(values: Floats, equal_relevant: bool = False) -> Pair | None:
    """A violated pair of intervals with few relevant documents; None when there is none.

    First among rankings with at most one relevant document, which is complete for additive measures; then
    the broken additivity in the smallest context x. Of equally plain pairs the one with the largest excess.

    >>> from rankscope.lab.intervals import written
    >>> jk = rankings(3) @ (1 / np.maximum(1, np.log2([1, 2, 3])))
    >>> [written(c, 3) for c in simplest_violation(jk, equal_relevant=True)]
    ['(001)', '(010)', '(010)', '(100)']
    """
    return _with_one_relevant(values, equal_relevant) or _broken_additivity(values, equal_relevant)


def _with_one_relevant(values: Floats, equal_relevant: bool) -> Pair | None:
    length = len(values).bit_length() - 1
    codes = np.array(least_rankings(length))
    lower, upper = (c.ravel() for c in np.meshgrid(codes, codes, indexing="ij"))
    keep = lower <= upper  # with one relevant document the order of codes is the partial order
    if equal_relevant:
        keep &= (lower > 0) == (upper > 0)
    lower, upper = lower[keep], upper[keep]
    digits = np.array([[c >> (length - 1 - i) & 1 for i in range(length)] for c in codes.tolist()])
    sums = dict(zip(codes.tolist(), digits.cumsum(axis=1).cumsum(axis=1), strict=True))
    delta = np.array([sums[int(s)] - sums[int(r)] for r, s in zip(lower, upper, strict=True)])
    relevant = (lower > 0).astype(int) + (upper > 0)
    rise = values[upper] - values[lower]
    limit = rise + slack(rise, float(np.abs(values).max()))
    best: tuple[int, float, int, int] | None = None
    for small in range(len(rise)):
        violated = np.flatnonzero((rise[small] > limit) & (delta[small] <= delta).all(axis=1))
        for large in violated.tolist():
            found = (int(relevant[small] + relevant[large]), float(rise[large] - rise[small]), small, large)
            best = found if best is None else min(best, found)
    if best is None:
        return None
    return Pair(*(int(c[i]) for i in best[2:] for c in (lower, upper)))


def _broken_additivity(values: Floats, equal_relevant: bool) -> Pair | None:
    """Two intervals with equal difference vectors and unequal rises; their context x as small as possible."""
    length = len(values).bit_length() - 1
    codes = np.arange(len(values))
    tolerance = float(np.abs(values).max())
    relevant = _sums(np.ones(length)).astype(np.int64)
    best: tuple[int, float, Pair] | None = None
    for i in range(length):
        for j in range(i + 1, length):
            top, low = 1 << (length - 1 - i), 1 << (length - 1 - j)
            context = codes[(codes & (top | low)) == 0]
            if equal_relevant:  # the swap from j up to i, without and with a context
                ends = (
                    np.zeros_like(context) + low,
                    np.zeros_like(context) + top,
                    context | low,
                    context | top,
                )
            else:  # a relevant document at j, without and with one at i
                ends = (context, context | low, context | top, context | top | low)
            first, second = values[ends[1]] - values[ends[0]], values[ends[3]] - values[ends[2]]
            gap = np.abs(first - second)
            broken = np.flatnonzero(gap > slack(np.minimum(np.abs(first), np.abs(second)), tolerance))
            if not len(broken):
                continue
            plainest = broken[np.lexsort((-gap[broken], relevant[context[broken]]))[0]]
            r, s, u, v = (int(end[plainest]) for end in ends)
            pair = Pair(r, s, u, v) if first[plainest] > second[plainest] else Pair(u, v, r, s)
            found = (int(relevant[context[plainest]]), -float(gap[plainest]), pair)
            if best is None or found[:2] < best[:2]:
                best = found
    return None if best is None else best[2]


def rbp_threshold(r: Sequence[int], s: Sequence[int], u: Sequence[int], v: Sequence[int]) -> float:
    """The p above which RBP(p) rises more from r to s than from u to v; NaN when there is no such p below 1.

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
