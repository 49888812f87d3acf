"""Dynamic programs over all pairs of comparable intervals.

Two intervals with d1 = s - r and d2 = v - u are comparable, Delta_sr <= Delta_vu, iff T2 - T1 >= 0 at every
rank, where C = prefix sums of d (never negative) and T = prefix sums of C. The state after a rank is the triple
(T2 - T1, C1, C2), which takes polynomially many values. One backward pass over the ranks therefore

* counts the comparable pairs exactly (:func:`comparable_pairs`),
* draws them uniformly (:func:`sample_pairs`),
* finds the largest violation by an additive measure, or proves that no pair is violated (:func:`worst_pair`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Floats, Ints
from rankscope.lab.measurement.intervals import code

# Values of d = s - r at one rank for both intervals. (0, 0) is first, so that ties go to the pair with the fewest
# relevant documents.
_MOVES = [(d1, d2) for d1 in (0, 1, -1) for d2 in (0, 1, -1)]


class Pair(NamedTuple):
    """Codes (or arrays of them) of two intervals [r, s] and [u, v], the first no larger than the second."""

    r: Any
    s: Any
    u: Any
    v: Any


@dataclass(frozen=True)
class _States:
    """Grid of states: axis 0 is C2 - C1 (from -N), axis 1 is C1, axis 2 is T2 - T1."""

    length: int
    equal_relevant: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        n = self.length
        return 2 * n + 1, n + 1, n * (n + 1) // 2 + 1

    def last(self, allowed: Any, forbidden: Any, dtype: Any) -> AnyArray:
        """Return the layer below the last rank."""
        layer = np.full(self.shape, forbidden if self.equal_relevant else allowed, dtype=dtype)
        if self.equal_relevant:
            layer[self.length, 0, :] = allowed
        return layer

    def arrivals(self, layer: AnyArray, forbidden: Any) -> AnyArray:
        """Return the values of the layer below, indexed by its C2 - C1 and C1, and by T2 - T1 of the layer *above*.

        The array is padded by the largest change at one rank, and ``forbidden`` where C1, C2 or T2 - T1 is negative.
        """
        n = self.length
        wide, high, deep = self.shape
        reach = np.full((wide + 4, high + 2, deep), forbidden, dtype=layer.dtype)
        for lead in range(-n, n + 1):
            lowest = max(0, -lead)  # C1 >= 0 and C2 = C1 + lead >= 0
            target = reach[lead + n + 2, 1 + lowest : 1 + high]
            if lead >= 0:
                target[:, : deep - lead] = layer[lead + n, lowest:, lead:]
            else:
                target[:, -lead:] = layer[lead + n, lowest:, :lead]
        return reach

    def shifted(self, reach: AnyArray, d1: int, d2: int) -> AnyArray:
        """Return the arrivals after a move (d1, d2), aligned with the states before it."""
        wide, high, _ = self.shape
        return reach[2 + d2 - d1 : 2 + d2 - d1 + wide, 1 + d1 : 1 + d1 + high]


def _completions(states: _States, dtype: Any) -> Iterator[AnyArray]:
    """Yield, from the last rank upwards, the number of completions of each state to a comparable pair."""
    layer = states.last(1, 0, dtype)
    for _ in range(states.length):
        reach = states.arrivals(layer, 0)
        layer = np.zeros(states.shape, dtype=dtype)
        for d1, d2 in _MOVES:
            layer += states.shifted(reach, d1, d2) * dtype(_count_grades(d1, d2))
        yield layer


def _count_grades(d1: int, d2: int) -> int:
    """Return the number of grades for a move: where both ends agree there are two choices."""
    return (2 if d1 == 0 else 1) * (2 if d2 == 0 else 1)


def comparable_pairs(length: int, equal_relevant: bool = False) -> int:
    """Return the number of ordered pairs of intervals with Delta_sr <= Delta_vu, including an interval with itself.

    >>> comparable_pairs(4), comparable_pairs(4, equal_relevant=True)
    (7695, 1043)
    """
    states = _States(length, equal_relevant)
    *_, rough = _completions(states, np.float64)
    *_, wrapped = _completions(states, np.uint64)
    # The integer count is exact modulo 2^64, and the floating-point count determines the multiple of 2^64.
    low = int(wrapped[length, 0, 0])
    return low + round((float(rough[length, 0, 0]) - low) / 2**64) * 2**64


def sample_pairs(length: int, samples: int, rng: np.random.Generator, equal_relevant: bool = False) -> Pair:
    """Draw comparable pairs of intervals uniformly and independently, as four arrays of codes.

    >>> pair = sample_pairs(3, 5, np.random.default_rng(1))
    >>> len(pair.r), bool((pair.r <= pair.s).all())
    (5, True)
    """
    states = _States(length, equal_relevant)
    layers = [*reversed([states.last(1.0, 0.0, np.float64), *_completions(states, np.float64)])]
    state = [np.full(samples, length), np.zeros(samples, dtype=np.int64), np.zeros(samples, dtype=np.int64)]
    codes = [np.zeros(samples, dtype=np.int64) for _ in range(4)]
    for below in layers[1:]:
        reach = states.arrivals(below, 0.0)
        lead, c1, gap = state
        steps = [_count_grades(d1, d2) * reach[lead + 2 + d2 - d1, c1 + 1 + d1, gap] for d1, d2 in _MOVES]
        weights = np.cumsum(steps, axis=0)
        move = (weights <= rng.random(samples) * weights[-1]).sum(axis=0)
        d1, d2 = np.array(_MOVES)[move].T
        lead, c1 = lead + d2 - d1, c1 + d1
        state = [lead, c1, gap + lead - length]
        for index, change in ((0, d1), (2, d2)):
            agreed = rng.integers(0, 2, samples) * (change == 0)
            codes[index] = 2 * codes[index] + (agreed | (change < 0))
            codes[index + 1] = 2 * codes[index + 1] + (agreed | (change > 0))
    return Pair(*codes)


def sample_few_relevant(
    length: int, samples: int, rng: np.random.Generator, equal_relevant: bool, relevant: int
) -> Pair:
    """Draw comparable pairs of intervals whose rankings have at most ``relevant`` relevant documents, uniformly.

    This is rejection sampling: pairs of intervals are drawn, and the comparable ones are kept.

    >>> pair = sample_few_relevant(5, 100, np.random.default_rng(1), False, relevant=2)
    >>> max(int(code).bit_count() for code in pair.s)
    2
    """
    layers = _upper_ends(length, equal_relevant, relevant)
    kept: list[Ints] = []
    while sum(chunk.shape[1] for chunk in kept) < samples:
        first, second = (_draw_intervals(layers, length, relevant, 4 * samples, rng) for _ in range(2))
        fits = (first.delta <= second.delta).all(axis=0)
        kept.append(np.stack([first.lower, first.upper, second.lower, second.upper])[:, fits])
    return Pair(*np.concatenate(kept, axis=1)[:, :samples])


class _SampledIntervals(NamedTuple):
    """Sampled intervals: the codes of their ends, and their difference vectors (ranks, intervals)."""

    lower: Ints
    upper: Ints
    delta: Ints


_DIGITS = ((0, 0), (1, 1), (0, 1), (1, 0))  # grades of the lower and the upper end at a rank


def _upper_ends(length: int, equal_relevant: bool, relevant: int) -> list[Floats]:
    """Return, for each rank from the first, the number of ways to complete an interval below it.

    Each layer is indexed by the balance S - R and the number of relevant documents of the upper end so far, both padded
    by one.
    """
    layer = np.zeros((length + 3, relevant + 2))
    layer[1 if equal_relevant else slice(1, length + 2), : relevant + 1] = 1.0
    layers = [layer]
    for _ in range(length):
        before = np.zeros_like(layer)
        for low, high in _DIGITS:
            shifted = np.zeros_like(layer)
            lead = 1 + high - low
            shifted[1:-1, : relevant + 1] = layer[lead : len(layer) - 2 + lead, high : relevant + 1 + high]
            before += shifted
        before[0] = before[-1] = 0.0
        layer = before
        layers.append(layer)
    return layers[::-1]


def _draw_intervals(
    layers: list[Floats], length: int, relevant: int, count: int, rng: np.random.Generator
) -> _SampledIntervals:
    lower, upper, balance, n_upper, total = (np.zeros(count, dtype=np.int64) for _ in range(5))
    delta = np.empty((length, count), dtype=np.int64)
    for rank, below in enumerate(layers[1:]):
        capped = {high: np.minimum(n_upper + high, relevant + 1) for _, high in _DIGITS}
        ways = np.cumsum([below[balance + 1 + high - low, capped[high]] for low, high in _DIGITS], axis=0)
        move = (ways <= rng.random(count) * ways[-1]).sum(axis=0)
        low, high = np.array(_DIGITS)[move].T
        lower, upper = 2 * lower + low, 2 * upper + high
        balance, n_upper = balance + high - low, n_upper + high
        total = total + balance
        delta[rank] = total
    return _SampledIntervals(lower, upper, delta)


@dataclass(frozen=True)
class WorstPair:
    """Comparable pair with the largest excess of the smaller interval's rise over the larger one's.

    ``excess`` = (M(s) - M(r)) - (M(v) - M(u)); it is at most zero if no pair is violated.
    """

    excess: float
    pair: Pair
    length: int


def worst_pair(weights: Sequence[float] | Floats, equal_relevant: bool = False) -> WorstPair:
    """Return the largest violation by M(r) = sum of w_j r_j over all comparable pairs, by dynamic programming.

    An excess of zero proves that M is interval-like at this length.

    >>> worst = worst_pair([1.0, 1.0, 0.63, 0.5], equal_relevant=True)  # max(1, log2 i)
    >>> round(worst.excess, 2)
    0.37
    >>> worst_pair([0.5, 0.25, 0.125, 0.0625]).excess  # RBP(p=0.5)
    0.0
    """
    weights = np.asarray(weights, dtype=np.float64)
    length = len(weights)
    states = _States(length, equal_relevant)
    layer = states.last(0.0, -np.inf, np.float64)
    layers = [layer]
    for weight in weights[::-1]:
        reach = states.arrivals(layer, -np.inf)
        layer = np.full(states.shape, -np.inf)
        for d1, d2 in _MOVES:
            np.maximum(layer, states.shifted(reach, d1, d2) + weight * (d1 - d2), out=layer)
        layers.append(layer)
    excess = float(layer[length, 0, 0])
    return WorstPair(excess, _walk_down(states, weights, layers[::-1]), length)


def _walk_down(states: _States, weights: Floats, layers: list[AnyArray]) -> Pair:
    """Trace back the moves that reach the best value, as rankings with as few relevant documents as possible."""
    length = states.length
    lead, c1, gap = length, 0, 0
    changes: list[tuple[int, int]] = []
    for weight, below in zip(weights, layers[1:], strict=True):
        reach = states.arrivals(below, -np.inf)
        worth = [reach[lead + 2 + d2 - d1, c1 + 1 + d1, gap] + weight * (d1 - d2) for d1, d2 in _MOVES]
        d1, d2 = _MOVES[int(np.argmax(worth))]
        lead, c1 = lead + d2 - d1, c1 + d1
        gap += lead - length
        changes.append((d1, d2))
    first, second = zip(*changes, strict=True) if changes else ((), ())
    return Pair(
        code([d < 0 for d in first]), code([d > 0 for d in first]),
        code([d < 0 for d in second]), code([d > 0 for d in second]),
    )  # fmt: skip
