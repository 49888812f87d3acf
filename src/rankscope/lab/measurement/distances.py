"""Interval scales: equal distances between rankings if and only if equal score differences.

Ferrante, Ferro and Pontarollo (2017) consider two orders of the rankings, each with a numerical distance:

    strong top-heaviness   all rankings in one chain, distance = difference of the codes (binary numbers)
    weak top-heaviness     the partial order of swaps and replacements, distance of r <= s = Delta_sr[N],
                           the steps of a chain from r to s

Every step of a chain has distance 1, so the score must rise by the same amount at each: M(r) = a + c *
position(r) with c not 0, where the position is the code, or the sum of (N - j + 1) r_j. This decides the question from
the 2^N values; the counts measure how far a measure is from such a scale.

A topic with RB < N relevant documents has fewer rankings (the values of the others are NaN here) and the same
distances. The score is still a + c * position: under strong top-heaviness the empty ranking is as far from a relevant
document at rank j as this is from rank j - 1; under weak top-heaviness adding a document covers the same distance from
every ranking without it.

Ferrante, Ferro and Fuhr (2021) take the order of the rankings from the measure itself. Rankings of equal value form a
class, and the distance between two rankings is the number of steps between their classes. Every step has distance 1, so
the values must be evenly spaced. The values of P@k are, those of AP are not; ``Interval(measure='AP')@N`` spaces the
values of AP evenly at length N.
"""

from __future__ import annotations

from math import comb
from typing import Literal

import numpy as np

from rankscope.arrays import Floats, Int32s, Ints
from rankscope.lab.measurement.convexity import broken_additivity
from rankscope.lab.measurement.counting import Tally
from rankscope.lab.measurement.intervals import Codes, interval_count, intervals, rankings
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import magnitude, slack

Heaviness = Literal["strong", "weak"]


Ends = tuple[Int32s, Int32s]
"""Codes of the lower and the upper ends of many intervals."""


def positions(length: int, heaviness: Heaviness, grades: int = 1) -> Ints:
    """Return the position of each ranking; the distance of r <= s is the difference of their positions.

    >>> positions(3, "weak").tolist()
    [0, 1, 2, 3, 3, 4, 5, 6]
    """
    if heaviness == "strong":
        return np.arange((grades + 1) ** length)
    return rankings(length, grades) @ np.arange(length, 0, -1)


def is_interval_scale(values: Floats, heaviness: Heaviness) -> bool:
    """Return whether a measure, given on all rankings, is an interval scale: M = a + c * position with c not 0.

    Values may deviate from the line by 1e-9 of a step plus their rounding error.

    >>> is_interval_scale(np.arange(8) / 8, "strong")  # RBP(p=0.5)
    True
    """
    length = len(values).bit_length() - 1
    if length == 0:
        return True
    defined = np.flatnonzero(~np.isnan(values))
    position, scale = positions(length, heaviness)[defined], magnitude(values)
    top = int(np.argmax(position))
    height = float(values[defined[top]] - values[0])
    line = values[0] + position / position[top] * height
    return bool(
        abs(height) > slack(0.0, scale)
        and np.abs(values[defined] - line).max() <= slack(height / position[top], scale)
    )


def chain_intervals(length: int, heaviness: Heaviness, relevant: int | None = None) -> int:
    """Return the number of intervals: pairs r <= s, including r = s.

    >>> chain_intervals(3, "strong"), chain_intervals(3, "weak"), chain_intervals(3, "strong", relevant=1)
    (36, 35, 10)
    """
    if heaviness == "weak":
        return interval_count(length, relevant=relevant)
    max_relevant = length if relevant is None else relevant
    size = sum(comb(length, k) for k in range(min(max_relevant, length) + 1))
    return size * (size + 1) // 2


def _ends(values: Floats, heaviness: Heaviness) -> Ends:
    """Return all intervals between rankings with a defined value."""
    codes: Int32s = np.flatnonzero(~np.isnan(values)).astype(np.int32)
    if heaviness == "weak":
        length, relevant = len(values).bit_length() - 1, max(int(code).bit_count() for code in codes)
        pairs = intervals(length, relevant=relevant)
        return pairs.lower, pairs.upper
    lower, upper = np.triu_indices(len(codes))
    return codes[lower], codes[upper]


def count_distances(values: Floats, heaviness: Heaviness) -> Tally:
    """Count the ordered pairs of intervals with equal distances or rises, and those where only one is equal.

    >>> count_distances(np.arange(8) / 8, "strong").violations
    0
    >>> count_distances(np.array([0, 0.5, 1, 2.0]), "strong")
    Tally(comparable=32, violations=8, complete=True)
    """
    position = positions(len(values).bit_length() - 1, heaviness)
    return count_between(values, *_ends(values, heaviness), position)


def count_between(values: Floats, lower: Codes, upper: Codes, position: Ints) -> Tally:
    """Count the same pairs as :func:`count_distances`, given the ends of intervals and the positions of rankings."""
    distance, rise = position[upper] - position[lower], values[upper] - values[lower]
    order = np.argsort(rise, kind="stable")
    apart = np.diff(rise[order]) > slack(rise[order[:-1]], magnitude(values))
    kind = np.empty(len(rise), dtype=np.int64)
    kind[order] = np.concatenate([[0], np.cumsum(apart)])
    # The numbers of pairs with equal distance, equal rise, and both are sums of squared group sizes.
    counts = np.unique(kind * (int(distance.max()) + 1) + distance, return_counts=True)[1]
    same_distance, same_rise, same_both = (
        int(np.dot(sizes, sizes)) for sizes in (np.bincount(distance), np.bincount(kind), counts)
    )
    return Tally(same_distance + same_rise - same_both, same_distance + same_rise - 2 * same_both, True)


def n_falling(values: Floats, equal_relevant: bool = False, relevant: int | None = None) -> int:
    """Return the number of intervals r <= s with M(s) < M(r).

    >>> n_falling(np.array([0, 1, 0.5, 2.0]))
    1
    """
    lower, upper = _steps(values, "weak")
    if not (values[upper] < values[lower]).any():
        return 0  # Every interval is a chain of steps, none of which falls.
    pairs = intervals(len(values).bit_length() - 1, equal_relevant, relevant)
    rise = values[pairs.upper] - values[pairs.lower]
    return int((rise + slack(rise, magnitude(values)) < 0).sum())


def unequal_pair(values: Floats, heaviness: Heaviness) -> Pair | None:
    """Return two intervals with equal distances and unequal rises, or the reverse; None if no such pair exists.

    Single steps are compared first, those with the fewest relevant documents before others.

    >>> from rankscope.lab.measurement.intervals import binary_word
    >>> [binary_word(c, 2) for c in unequal_pair(np.array([0, 0.5, 1, 2.0]), "strong")]
    ['(00)', '(01)', '(10)', '(11)']
    """
    relevant = rankings(len(values).bit_length() - 1).sum(axis=1)
    lower, upper = _steps(values, heaviness)
    plain = np.argsort(relevant[lower] + relevant[upper], kind="stable")
    lower, upper = lower[plain], upper[plain]
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
    if abs(float(rise[0])) <= slack(0.0, scale):  # Constant measure: every rise is 0 at any distance.
        return Pair(0, 0, int(lower[0]), int(upper[0]))
    return None


def _broken_doubling(values: Floats) -> Pair | None:
    """Return unequal rises to a relevant document at a rank and from there to the rank above, which are equally far."""
    scale = magnitude(values)
    for bit in range(len(values).bit_length() - 2):
        low, high = 1 << bit, 2 << bit
        first, second = values[low] - values[0], values[high] - values[low]
        if abs(first - second) > slack(first, scale):
            return Pair(0, low, low, high)
    return None


def _steps(values: Floats, heaviness: Heaviness) -> Ends:
    """Return the intervals of distance 1: neighbours in the chain, or one swap or replacement at the last rank."""
    length = len(values).bit_length() - 1
    codes = np.flatnonzero(~np.isnan(values)).astype(np.int32)
    if heaviness == "strong":
        near = np.flatnonzero(np.diff(codes) == 1)
        return codes[near], codes[near + 1]
    last = codes[codes & 1 == 0] if length else codes[:0]
    last = last[~np.isnan(values[last | 1])] if length else last
    swappable = [codes[(codes >> bit & 3) == 1] for bit in range(length - 1)]  # (.. 0 1 ..) -> (.. 1 0 ..)
    swapped = [swaps + (1 << bit) for bit, swaps in enumerate(swappable)]
    return np.concatenate([last, *swappable]), np.concatenate([last | 1, *swapped])


def value_classes(values: Floats) -> tuple[Ints, Ints]:
    """Return the rankings with a defined value in ascending order, and the class of each.

    >>> order, class_index = value_classes(np.array([0.5, 0.0, 0.5, np.nan, 1.0]))
    >>> order.tolist(), class_index.tolist()
    ([1, 0, 2, 4], [0, 1, 1, 2])
    """
    defined = np.flatnonzero(~np.isnan(values))
    order = defined[np.argsort(values[defined], kind="stable")]
    sorted_values = values[order]
    apart = np.diff(sorted_values) > slack(sorted_values[:-1], magnitude(values))
    return order, np.concatenate([[0], np.cumsum(apart)])


def is_evenly_spaced(values: Floats) -> bool:
    """Return whether all steps between classes rise by the same amount.

    >>> is_evenly_spaced(np.array([0, 0.5, 0.5, 1.0])), is_evenly_spaced(np.array([0, 0.25, 0.5, 1.0]))
    (True, False)
    """
    order, class_index = value_classes(values)
    sorted_values, steps = values[order], int(class_index[-1])
    if steps == 0:
        return True
    step = (sorted_values[-1] - sorted_values[0]) / steps
    return bool(
        np.abs(sorted_values - sorted_values[0] - class_index * step).max() <= slack(step, magnitude(values))
    )


def uneven_steps(values: Floats) -> Pair:
    """Return the lowest step, and the first step that rises by a different amount, as indices of rankings.

    >>> uneven_steps(np.array([0, 0.25, 0.5, 1.0]))
    Pair(r=0, s=1, u=2, v=3)
    """
    order, class_index = value_classes(values)
    first_in_class = np.searchsorted(class_index, np.arange(class_index[-1] + 1))
    rise = np.diff(values[order[first_in_class]])
    gap = np.abs(rise - rise[0])
    second = int(np.argmax(gap > slack(rise[0], magnitude(values))) or np.argmax(gap))
    return Pair(*(int(order[first_in_class[k]]) for k in (0, 1, second, second + 1)))


def count_steps(values: Floats) -> Tally:
    """Count the ordered pairs of intervals with equal distances or rises, and those where only one is equal.

    >>> count_steps(np.array([0, 0.5, 1, 2.0]))
    Tally(comparable=32, violations=8, complete=True)
    """
    order, class_index = value_classes(values)
    position = np.zeros(len(values), np.int64)
    position[order] = class_index
    lower, upper = np.triu_indices(len(order))
    return count_between(values, order[lower], order[upper], position)
