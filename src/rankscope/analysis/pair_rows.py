"""Rows of a comparison: pairs of runs, and the topics that a run loses.

Pairs take a few bytes; the rest is computed in blocks when it is read.

5,000 runs have 12.5 million pairs, whose tuples would take more memory than most machines have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope.analysis import stats
from rankscope.columns import ROWS_AT_ONCE, CategoricalColumn, Rows, as_rows, constant_column, to_values
from rankscope.lazy import numpy as np
from rankscope.rows import MeasuredPairRow, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Indices
    from rankscope.columns import Column
    from rankscope.tables import Table


@dataclass(frozen=True, eq=False, repr=False)
class PairRows(Rows):
    """Rows of one measure in the table ``pairs`` of :func:`~rankscope.analysis.compare.compare`.

    The first run wins a topic with the higher merit. With a margin there are two more columns: the lower end of the
    difference in merit, and whether it is above -margin.
    """

    runs: tuple[str, ...]
    matrix: stats.CompleteMatrix
    merits: Floats
    first: Indices
    second: Indices
    p: Floats
    adjusted: Floats
    half: Floats
    alpha: float
    margin: float | None = None

    def __len__(self) -> int:
        return len(self.first)

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return the columns of some pairs."""
        first, second = self.first[start:stop], self.second[start:stop]
        difference, effect = stats.effects(self.matrix.values, first, second, self.matrix.weights)
        wins, losses = stats.outcomes(self.merits, first, second)
        half, adjusted = self.half[start:stop], self.adjusted[start:stop]
        measure = constant_column(str(self.matrix.measure), len(first))
        return [
            CategoricalColumn(self.runs, first), CategoricalColumn(self.runs, second), measure,
            difference, self.p[start:stop], adjusted, adjusted < self.alpha, effect,
            difference - half, difference + half, wins, losses, self.merits.shape[1] - wins - losses,
            *self._noninferior(first, second),
        ]  # fmt: skip

    def _noninferior(self, first: Indices, second: Indices) -> list[Column]:
        if self.margin is None:
            return []
        merits = self.matrix.measure.merit(self.matrix.values)
        lower = stats.lower_limits(merits[first] - merits[second], self.alpha, self.matrix.weights)
        return [lower, lower > -self.margin]


class ShownPairs(Rows):
    """Rows of ``pairs`` as people read them: some of the columns; ``w/l/t`` stands for wins, losses and ties."""

    def __init__(self, pairs: Table, columns: Sequence[str]) -> None:
        self._rows, self._columns = as_rows(pairs.rows), tuple(columns)
        self._indices = {name: index for index, name in enumerate(pairs.columns)}

    def __len__(self) -> int:
        return len(self._rows)

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return the columns of some pairs."""
        columns = self._rows.block(start, stop)
        counts = np.array([columns[self._indices[name]] for name in ("wins", "losses", "ties")])
        shape = (int(counts.max(initial=0)) + 1,) * 3
        keys, codes = np.unique(np.ravel_multi_index(tuple(counts), shape), return_inverse=True)
        texts = ["/".join(map(str, key)) for key in zip(*np.unravel_index(keys, shape), strict=True)]
        outcomes = CategoricalColumn(texts, codes)
        return [outcomes if name == "w/l/t" else columns[self._indices[name]] for name in self._columns]


class PairMarks(Mapping[tuple[int, str], str]):
    """Marks of ``pairs``: ``*`` at a significant difference in favour of a, ``↓`` at one against it."""

    def __init__(self, pairs: Table) -> None:
        self._rows = as_rows(pairs.rows)
        self._indices = [pairs.columns.index(name) for name in ("measure", "difference", "significant")]
        self._block: tuple[int, list[str]] = (-1, [])

    def _marks(self, number: int) -> list[str]:
        """Return the marks of a block of rows; keeps the last block."""
        from rankscope.measures.grammar import external_measure

        if self._block[0] != number:
            start = number * ROWS_AT_ONCE
            block = self._rows.block(start, min(len(self._rows), start + ROWS_AT_ONCE))
            names, differences, significant = (to_values(block[index]) for index in self._indices)
            signs = {name: external_measure(str(name), others=True).sign or 1 for name in set(names)}
            better = np.array(differences) * [signs[name] for name in names] > 0
            marks = np.where(np.array(significant, bool), np.where(better, "*", "↓"), "")
            self._block = (number, marks.tolist())
        return self._block[1]

    def __getitem__(self, cell: tuple[int, str]) -> str:
        row, column = cell
        number, index = divmod(row, ROWS_AT_ONCE)
        is_marked = column == "difference" and 0 <= row < len(self._rows)
        if not is_marked or not (mark := self._marks(number)[index]):
            raise KeyError(cell)
        return mark

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for number in range(-(-len(self._rows) // ROWS_AT_ONCE)):
            marks = self._marks(number)
            yield from ((number * ROWS_AT_ONCE + i, "difference") for i, mark in enumerate(marks) if mark)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None


class TopicDifference(MeasuredPairRow):
    """Two runs on a topic."""

    topic: str = column()
    value_a: float = column()
    value_b: float = column()
    difference: float = column()


def topic_differences(
    matrices: Sequence[stats.CompleteMatrix], runs: Sequence[str], pairs: Sequence[tuple[int, int]]
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
