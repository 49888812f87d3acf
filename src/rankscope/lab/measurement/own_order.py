"""The interval scale of a measure's own order: its values are evenly spaced.

Ferrante, Ferro and Fuhr (2021) take the order of the rankings from the measure itself. Rankings of one value are one
class, and the distance of two rankings is the number of steps from class to class between them. Every step has distance
1, so the values must be evenly spaced: those of P@k are, those of AP are not, and those of ``Interval(measure='AP')@N``
are at length N, which is what it is made for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankscope.lab.measurement.counting import Tally
from rankscope.lab.measurement.distances import count_listed_distances
from rankscope.lab.rounding import magnitude, slack

__all__ = ["Steps", "classes", "count_steps", "evenly_spaced", "uneven_steps"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Steps(NamedTuple):
    """Two steps that are equally far and rise unequally: the numbers of the rankings at their ends."""

    r: int
    s: int
    u: int
    v: int


def classes(values: Floats) -> tuple[Ints, Ints]:
    """The rankings that have a value, from the lowest on, and the class of each.

    >>> order, place = classes(np.array([0.5, 0.0, 0.5, np.nan, 1.0]))
    >>> order.tolist(), place.tolist()
    ([1, 0, 2, 4], [0, 1, 1, 2])
    """
    there = np.flatnonzero(~np.isnan(values))
    order = there[np.argsort(values[there], kind="stable")]
    found = values[order]
    apart = np.diff(found) > slack(found[:-1], magnitude(values))
    return order, np.concatenate([[0], np.cumsum(apart)])


def evenly_spaced(values: Floats) -> bool:
    """Whether every step from class to class rises by the same amount.

    >>> evenly_spaced(np.array([0, 0.5, 0.5, 1.0])), evenly_spaced(np.array([0, 0.25, 0.5, 1.0]))
    (True, False)
    """
    order, place = classes(values)
    found, steps = values[order], int(place[-1])
    if steps == 0:
        return True
    step = (found[-1] - found[0]) / steps
    return bool(np.abs(found - found[0] - place * step).max() <= slack(step, magnitude(values)))


def uneven_steps(values: Floats) -> Steps:
    """The lowest step, and the first one that rises by another amount.

    >>> uneven_steps(np.array([0, 0.25, 0.5, 1.0]))
    Steps(r=0, s=1, u=2, v=3)
    """
    order, place = classes(values)
    firsts = np.searchsorted(place, np.arange(place[-1] + 1))
    rise = np.diff(values[order[firsts]])
    gap = np.abs(rise - rise[0])
    second = int(np.argmax(gap > slack(rise[0], magnitude(values))) or np.argmax(gap))
    return Steps(*(int(order[firsts[k]]) for k in (0, 1, second, second + 1)))


def count_steps(values: Floats) -> Tally:
    """Ordered pairs of intervals with equal distances or equal rises, and those where only one is equal.

    >>> count_steps(np.array([0, 0.5, 1, 2.0]))
    Tally(comparable=32, violations=8, complete=True)
    """
    order, place = classes(values)
    lower, upper = np.triu_indices(len(order))
    rise = values[order[upper]] - values[order[lower]]
    return count_listed_distances((place[upper] - place[lower]).astype(np.int32), rise, magnitude(values))
