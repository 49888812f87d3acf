"""Interval scales proper: equal distances between rankings if and only if equal score differences.

Ferrante, Ferro and Pontarollo (2017) take two orders of the rankings, each with a distance that is a plain
number:

    strong top-heaviness   all rankings in one chain, distance = difference of the codes (binary numbers)
    weak top-heaviness     the partial order of swaps and replacements, distance of r <= s = Delta_sr[N],
                           the steps of a chain from r to s

Every step of a chain has distance 1, so the score must rise by the same amount at each: M(r) = a + c *
place(r), c not 0, where place is the code, or sum of (N - j + 1) r_j. That decides the question from the
2^N values; the counts say how far a measure is from it.

A topic with RB < N relevant documents has fewer rankings (the values of the others are NaN here); distances
remain what they are. The score is still a + c * place: from nothing to a relevant document at rank j is as far as from
there to rank j - 1 in the one chain, and as far as the same document is from any ranking without it.
"""

from __future__ import annotations

from math import comb
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankscope.lab.measurement.convexity import broken_additivity
from rankscope.lab.measurement.counting import Tally
from rankscope.lab.measurement.intervals import interval_count, intervals, rankings
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import magnitude, slack

__all__ = [
    "Heaviness",
    "chain_intervals",
    "count_distances",
    "count_listed_distances",
    "is_interval_scale",
    "n_falling",
    "place",
    "unequal_pair",
]

Heaviness = Literal["strong", "weak"]
Floats = NDArray[np.float64]


class _Ends(NamedTuple):
    """The codes of the two ends of many intervals."""

    lower: NDArray[np.int32]
    upper: NDArray[np.int32]


def place(length: int, heaviness: Heaviness) -> NDArray[np.int64]:
    """Where each ranking stands: the distance of r <= s is place[s] - place[r].

    >>> place(3, "weak").tolist()
    [0, 1, 2, 3, 3, 4, 5, 6]
    """
    if heaviness == "strong":
        return np.arange(1 << length)
    return rankings(length) @ np.arange(length, 0, -1)


def is_interval_scale(values: Floats, heaviness: Heaviness) -> bool:
    """Whether a measure, given on all rankings, is an interval scale: M = a + c * place with c not 0.

    Values may miss the line by 1e-9 of a step, and by what rounding does to them.

    >>> is_interval_scale(np.arange(8) / 8, "strong")  # RBP(p=0.5)
    True
    """
    length = len(values).bit_length() - 1
    if length == 0:
        return True
    there = np.flatnonzero(~np.isnan(values))
    where, scale = place(length, heaviness)[there], magnitude(values)
    top = int(np.argmax(where))
    height = float(values[there[top]] - values[0])
    line = values[0] + where / where[top] * height
    return bool(
        abs(height) > slack(0.0, scale)
        and np.abs(values[there] - line).max() <= slack(height / where[top], scale)
    )


def chain_intervals(length: int, heaviness: Heaviness, relevant: int | None = None) -> int:
    """How many intervals there are: pairs r <= s, r = s included.

    >>> chain_intervals(3, "strong"), chain_intervals(3, "weak"), chain_intervals(3, "strong", relevant=1)
    (36, 35, 10)
    """
    if heaviness == "weak":
        return interval_count(length, relevant=relevant)
    most = length if relevant is None else relevant
    size = sum(comb(length, k) for k in range(min(most, length) + 1))
    return size * (size + 1) // 2


def _ends(values: Floats, heaviness: Heaviness) -> _Ends:
    """All intervals of the rankings that have a value."""
    if heaviness == "weak":
        length = len(values).bit_length() - 1
        there = np.flatnonzero(~np.isnan(values))
        found = intervals(length, relevant=max(int(code).bit_count() for code in there))
        return _Ends(found.lower, found.upper)
    codes: NDArray[np.int32] = np.flatnonzero(~np.isnan(values)).astype(np.int32)
    lower, upper = np.triu_indices(len(codes))
    return _Ends(codes[lower], codes[upper])


def count_distances(values: Floats, heaviness: Heaviness) -> Tally:
    """Ordered pairs of intervals with equal distances or equal rises, and those where only one is equal.

    >>> count_distances(np.arange(8) / 8, "strong").violations
    0
    >>> count_distances(np.array([0, 0.5, 1, 2.0]), "strong")
    Tally(comparable=32, violations=8, complete=True)
    """
    ends = _ends(values, heaviness)
    where = place(len(values).bit_length() - 1, heaviness)
    distance = (where[ends.upper] - where[ends.lower]).astype(np.int32)
    return count_listed_distances(distance, values[ends.upper] - values[ends.lower], magnitude(values))


def count_listed_distances(distance: NDArray[np.int32], rise: Floats, scale: float) -> Tally:
    """The same for intervals of which the distances and the rises are given."""
    order = np.argsort(rise, kind="stable")
    rise = rise[order]
    apart = np.diff(rise) > slack(rise[:-1], scale)
    kind = np.empty(len(rise), dtype=np.int64)
    kind[order] = np.concatenate([[0], np.cumsum(apart)])
    # equal distance, equal rise, both: sums of squared group sizes
    longest = int(distance.max()) + 1
    same_distance = _pairs(np.bincount(distance))
    same_rise = _pairs(np.bincount(kind))
    _, both_sizes = np.unique(kind * longest + distance, return_counts=True)
    same_both = _pairs(both_sizes)
    return Tally(same_distance + same_rise - same_both, same_distance + same_rise - 2 * same_both, True)


def _pairs(sizes: NDArray[np.int64]) -> int:
    return int(np.dot(sizes.astype(np.int64), sizes.astype(np.int64)))


def n_falling(values: Floats, equal_relevant: bool = False, relevant: int | None = None) -> int:
    """Return the number of intervals r <= s with M(s) < M(r).

    >>> n_falling(np.array([0, 1, 0.5, 2.0]))
    1
    """
    steps = _steps(values, "weak")
    if not (values[steps.upper] < values[steps.lower]).any():
        return 0  # every interval is a chain of steps
    found = intervals(len(values).bit_length() - 1, equal_relevant, relevant)
    rise = values[found.upper] - values[found.lower]
    return int((rise + slack(rise, magnitude(values)) < 0).sum())


def unequal_pair(values: Floats, heaviness: Heaviness) -> Pair | None:
    """Two intervals with equal distances and unequal rises, or the reverse; None if there are none.

    Single steps are looked at first, those with the fewest relevant documents before others.

    >>> from rankscope.lab.measurement.intervals import written
    >>> [written(c, 2) for c in unequal_pair(np.array([0, 0.5, 1, 2.0]), "strong")]
    ['(00)', '(01)', '(10)', '(11)']
    """
    length = len(values).bit_length() - 1
    relevant = rankings(length).sum(axis=1)
    steps = _steps(values, heaviness)
    plain = np.argsort(relevant[steps.lower] + relevant[steps.upper], kind="stable")
    lower, upper = steps.lower[plain], steps.upper[plain]
    rise = values[upper] - values[lower]
    scale = magnitude(values)
    if not len(rise):
        return None
    different = np.flatnonzero(np.abs(rise - rise[0]) > slack(rise[0], scale))
    if len(different):
        second = int(different[0])
        return Pair(int(lower[0]), int(upper[0]), int(lower[second]), int(upper[second]))
    if heaviness == "strong" and (pair := _broken_doubling(values) or broken_additivity(values)):
        return pair
    if abs(float(rise[0])) <= slack(0.0, scale):  # constant: every rise is 0, whatever the distance
        return Pair(0, 0, int(lower[0]), int(upper[0]))
    return None


def _broken_doubling(values: Floats) -> Pair | None:
    """From nothing to a relevant document at a rank, and from there to the rank above: equally far in the chain."""
    scale = magnitude(values)
    for bit in range(len(values).bit_length() - 2):
        low, high = 1 << bit, 2 << bit
        first, second = values[low] - values[0], values[high] - values[low]
        if abs(first - second) > slack(first, scale):
            return Pair(0, low, low, high)
    return None


def _steps(values: Floats, heaviness: Heaviness) -> _Ends:
    """The intervals of distance 1: neighbours in the chain, or one swap or one replacement at the end."""
    length = len(values).bit_length() - 1
    codes = np.flatnonzero(~np.isnan(values))
    if heaviness == "strong":
        near = np.flatnonzero(np.diff(codes) == 1)
        return _Ends(codes[near].astype(np.int32), codes[near + 1].astype(np.int32))
    last = codes[codes & 1 == 0] if length else codes[:0]
    last = last[~np.isnan(values[last | 1])] if length else last
    lower, upper = [last], [last | 1]
    for bit in range(length - 1):  # (.. 0 1 ..) -> (.. 1 0 ..)
        found = codes[(codes >> bit & 3) == 1]
        lower.append(found)
        upper.append(found + (1 << bit))
    return _Ends(np.concatenate(lower).astype(np.int32), np.concatenate(upper).astype(np.int32))
