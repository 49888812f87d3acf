"""Which topics did a run lose? The difference between two runs on every topic, the largest losses first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankscope.rows import MeasuredPairRow, RowTable, column

if TYPE_CHECKING:
    from rankscope.analysis.stats.matrices import CompleteMatrix


class TopicDifference(MeasuredPairRow):
    """Two runs on a topic."""

    topic: str = column()
    value_a: float = column()
    value_b: float = column()
    difference: float = column()


def topic_differences(
    matrices: Sequence[CompleteMatrix], runs: Sequence[str], pairs: Sequence[tuple[int, int]]
) -> RowTable[TopicDifference]:
    """Return the values of both runs of every pair on each topic, and the difference a - b.

    The topics on which a does worst against b come first; ties stand between losses and wins.
    """
    rows: list[TopicDifference] = []
    for matrix in matrices:
        for a, b in pairs:
            first, second = matrix.values[a], matrix.values[b]
            order = (matrix.measure.merit(first) - matrix.measure.merit(second)).argsort(kind="stable")
            rows += [
                TopicDifference(runs[a], runs[b], str(matrix.measure), matrix.topics[t], x, y, x - y)
                for t, x, y in zip(order, first[order].tolist(), second[order].tolist(), strict=True)
            ]
    caption = "Topics that a loses to b first (difference a - b), then those that it wins"
    return TopicDifference.table("topics", rows, caption=caption, ranked_by=("difference",))
