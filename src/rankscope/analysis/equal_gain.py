"""Rankings of equal gain at different efforts, selected from the effort/gain plane.

Ferro et al. (2016), Figure 11: four rankings of about the same gain whose effort goes from huge to low.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from rankscope.analysis.plane import EqualGain, Planes, find_choice
from rankscope.arrays import Ints
from rankscope.choices import EFFORTS, GAINS
from rankscope.rows import RowTable


def nearest_values(groups: Sequence[Sequence[float]]) -> list[int]:
    """Return an index into each ascending group of numbers that minimises the range of the selected numbers.

    Of several minima the one with the largest numbers is returned.

    >>> nearest_values([[0.1, 0.5, 0.9], [0.2, 0.52], [0.51, 0.8]])
    [1, 1, 0]
    """
    # Start at the largest numbers: only a smaller number in place of the highest one can reduce the range.
    at = [len(group) - 1 for group in groups]
    queue = [(-group[-1], g) for g, group in enumerate(groups)]
    heapq.heapify(queue)
    lowest = min(group[-1] for group in groups)
    smallest_range, best = np.inf, list(at)
    while True:
        highest, g = queue[0]
        if -highest - lowest < smallest_range:
            smallest_range, best = -highest - lowest, list(at)
        at[g] -= 1
        if at[g] < 0:
            return best
        lowest = min(lowest, groups[g][at[g]])
        heapq.heapreplace(queue, (-groups[g][at[g]], g))


def equal_gain(effort: Planes, gain: str | None = None) -> RowTable[EqualGain]:
    """Return a ranking of each effort in a row of the plane, such that their gains are as close as possible.

    ``gain`` names the row, by default the highest one that has rankings: if many rankings have the maximum gain, none
    lies above the upper quartile. Efforts without rankings in the row are left out.

    >>> import rankscope as rs
    >>> lists = {"a": ["d", "e", "x"], "b": ["d", "x", "e"], "c": ["x", "d", "y"], "z": ["x", "y", "z"]}
    >>> runs = {name: {"q": ranks} for name, ranks in lists.items()}
    >>> result = rs.effort(rs.Collection({"q": {"d": 1, "e": 1}}, runs), "R@2")
    >>> [row[1:5] for row in equal_gain(result, gain="low")]
    [('low', 'huge', 'z', 'q')]
    """
    wanted_row = None if gain is None else find_choice(gain, GAINS, "gain")
    selected: list[EqualGain] = []
    for number, measure in enumerate(effort.gains):
        values = effort.gain[number]
        row = int(effort.cells(number)[1].max(initial=0)) if wanted_row is None else wanted_row
        for column, index in _select(effort, number, row).items():
            run, topic = effort.labels(index)
            value, twist = float(values[index]), float(effort.twist[index])
            archetype = str(effort.archetype[index])
            selected.append(
                EqualGain(str(measure), GAINS[row], EFFORTS[column], run, topic, value, twist, archetype)
            )
    return EqualGain.table("equal_gain", selected, caption="Rankings of about equal gain, by effort")


def _select(effort: Planes, number: int, row: int) -> dict[int, int]:
    """Return the selected ranking of each column in a row of the plane of a gain measure."""
    where, rows, columns = effort.cells(number)
    values = effort.gain[number]
    groups: dict[int, Ints] = {}
    for column in range(4):
        inside = where[(rows == row) & (columns == column)]
        if len(inside):
            # Of rankings with equal gain, the one in the middle of its column is the most typical.
            off_centre = np.abs(effort.twist[inside] - (column + 0.5) / 4)
            groups[column] = inside[np.lexsort((-inside, -off_centre, values[inside]))]
    picks = nearest_values([values[group].tolist() for group in groups.values()]) if groups else []
    return {column: int(group[pick]) for (column, group), pick in zip(groups.items(), picks, strict=True)}
