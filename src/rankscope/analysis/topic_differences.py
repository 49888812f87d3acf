"""Which topics did a run lose? The difference between two runs on every topic, the worst losses first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.matrices import CompleteMatrix
from rankscope.tables import Cell, Table

__all__ = ["topic_differences"]


def topic_differences(
    matrices: Sequence[CompleteMatrix], runs: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> Table:
    """For every measure and pair of runs the values of both on each topic, and the difference a - b.

    The topics on which a does worst against b come first; topics without a difference stand between losses and wins.
    """
    rows: list[tuple[Cell, ...]] = []
    for matrix in matrices:
        for a, b in pairs:
            first, second = matrix.values[a], matrix.values[b]
            difference: NDArray[np.float64] = first - second
            order = np.argsort(matrix.measure.merit(first) - matrix.measure.merit(second), kind="stable")
            label = (runs[a], runs[b], str(matrix.measure))
            rows += [
                (*label, matrix.topics[t], float(first[t]), float(second[t]), float(difference[t]))
                for t in order.tolist()
            ]
    columns = ("a", "b", "measure", "topic", "value_a", "value_b", "difference")
    caption = "Topics that a loses to b first (difference a - b), then those that it wins"
    return Table("topics", columns, rows, caption=caption, ranked_by=("difference",))
