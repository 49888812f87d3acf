"""Interval scale of a measure's own order: its values are evenly spaced.

Ferrante, Ferro and Fuhr (2021) take the order of the rankings from the measure itself. Rankings of equal value form a
class, and the distance between two rankings is the number of steps between their classes. Every step has distance 1, so
the values must be evenly spaced. The values of P@k are, those of AP are not; ``Interval(measure='AP')@N`` spaces the
values of AP evenly at length N.
"""

from __future__ import annotations

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.lab.measurement.counting import Tally
from rankscope.lab.measurement.distances import count_listed_distances
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import magnitude, slack


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
    lower, upper = np.triu_indices(len(order))
    rise = values[order[upper]] - values[order[lower]]
    distance = (class_index[upper] - class_index[lower]).astype(np.int32)
    return count_listed_distances(distance, rise, magnitude(values))
