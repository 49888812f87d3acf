"""Lists that gain the same at different prices: one of each effort, found in the effort/gain plane.

Ferro and others (2016), Figure 11: four lists of about the same gain whose effort goes from huge to low.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rankscope.analysis.plane import EFFORTS, GAINS, EqualGain, Planes, chosen_word
from rankscope.rows import RowTable

__all__ = ["equal_gain", "nearest_values"]

Ints = npt.NDArray[np.int64]


def nearest_values(groups: Sequence[Sequence[float]]) -> list[int]:
    """One index into each of some ascending rows of numbers, such that the numbers there are as close as can be.

    Of several equally close choices the one with the largest numbers is taken.

    >>> nearest_values([[0.1, 0.5, 0.9], [0.2, 0.52], [0.51, 0.8]])
    [1, 1, 0]
    """
    # from the largest numbers downwards: only lowering the highest one can bring them together
    at = [len(group) - 1 for group in groups]
    queue = [(-group[-1], g) for g, group in enumerate(groups)]
    heapq.heapify(queue)
    lowest = min(group[-1] for group in groups)
    best, chosen = np.inf, list(at)
    while True:
        highest, g = queue[0]
        if -highest - lowest < best:
            best, chosen = -highest - lowest, list(at)
        at[g] -= 1
        if at[g] < 0:
            return chosen
        lowest = min(lowest, groups[g][at[g]])
        heapq.heapreplace(queue, (-groups[g][at[g]], g))


def equal_gain(effort: Planes, gain: str | None = None) -> RowTable[EqualGain]:
    """Return for each effort in a row of the plane a list, such that their gains are as close together as can be.

    One row of the plane of every gain measure: that of huge gain unless set, or the next one down if too many lists
    have the best gain there is for any to lie above the quartile. An effort that no list of the row has is left out.

    >>> import rankscope as rs
    >>> lists = {"a": ["d", "e", "x"], "b": ["d", "x", "e"], "c": ["x", "d", "y"], "z": ["x", "y", "z"]}
    >>> runs = {name: {"q": ranks} for name, ranks in lists.items()}
    >>> found = rs.effort(rs.Collection({"q": {"d": 1, "e": 1}}, runs), "R@2")
    >>> [row[1:5] for row in equal_gain(found, gain="low")]
    [('low', 'huge', 'z', 'q')]
    """
    wanted = None if gain is None else chosen_word(gain, GAINS, "gain")
    found: list[EqualGain] = []
    for number, measure in enumerate(effort.gains):
        values = effort.gain[number]
        row = int(effort.cells(number)[1].max(initial=0)) if wanted is None else wanted
        for column, index in _alike(effort, number, row).items():
            run, topic = effort.labels(index)
            value, twist = float(values[index]), float(effort.twist[index])
            archetype = str(effort.archetype[index])
            found.append(
                EqualGain(str(measure), GAINS[row], EFFORTS[column], run, topic, value, twist, archetype)
            )
    return EqualGain.table("equal_gain", found, caption="Lists of about equal gain, by effort")


def _alike(effort: Planes, number: int, row: int) -> dict[int, int]:
    """The list of each column of a row of the plane of a gain measure."""
    where, rows, columns = effort.cells(number)
    values = effort.gain[number]
    groups: dict[int, Ints] = {}
    for column in range(4):
        inside = where[(rows == row) & (columns == column)]
        if len(inside):
            # among lists of one gain the one in the middle of its column is the most typical
            off_centre = np.abs(effort.twist[inside] - (column + 0.5) / 4)
            groups[column] = inside[np.lexsort((-inside, -off_centre, values[inside]))]
    picks = nearest_values([values[group].tolist() for group in groups.values()]) if groups else []
    return {column: int(group[pick]) for (column, group), pick in zip(groups.items(), picks, strict=True)}
