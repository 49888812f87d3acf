"""The rows of a comparison: a few bytes for each pair of runs, and the rest computed in blocks when it is read.

5,000 runs have 12.5 million pairs. As rows of plain values these took more memory than most machines have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.intervals import lower_limits
from rankscope.analysis.stats.matrices import CompleteMatrix
from rankscope.analysis.stats.significance import effects, outcomes
from rankscope.columns import CategoricalColumn, Column, Rows, as_rows, to_values
from rankscope.measures.external import external_measure
from rankscope.tables import Table

__all__ = ["PairMarks", "PairRows", "ShownPairs"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MARKS = ("", "*", "↓")


@dataclass(frozen=True, eq=False, repr=False)
class PairRows(Rows):
    """The rows of one measure in the table ``pairs`` of :func:`~rankscope.analysis.compare.compare`.

    The first run wins a topic with the better value (``merits``), or with the higher one. With a margin there are
    two more columns: the lower end of the difference in merit, and whether it is above -margin.
    """

    runs: tuple[str, ...]
    matrix: CompleteMatrix
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
        """The columns of some pairs."""
        first, second = self.first[start:stop], self.second[start:stop]
        difference, effect = effects(self.matrix.values, first, second)
        wins, losses = outcomes(self.merits, first, second)
        half, adjusted = self.half[start:stop], self.adjusted[start:stop]
        measure = CategoricalColumn((str(self.matrix.measure),), np.zeros(len(first), np.int8))
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
        lower = lower_limits(merits[first] - merits[second], self.alpha)
        return [lower, lower > -self.margin]


class ShownPairs(Rows):
    """The rows of ``pairs`` as people read them: these columns, and in the place of ``w/l/t`` the three counts."""

    def __init__(self, pairs: Table, columns: Sequence[str]) -> None:
        self._rows, self._columns = as_rows(pairs.rows), tuple(columns)
        self._places = {name: place for place, name in enumerate(pairs.columns)}

    def __len__(self) -> int:
        return len(self._rows)

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """The columns of some pairs."""
        found = self._rows.block(start, stop)
        counts = [to_values(found[self._places[name]]) for name in ("wins", "losses", "ties")]
        outcome = [f"{wins}/{losses}/{ties}" for wins, losses, ties in zip(*counts, strict=True)]
        return [outcome if name == "w/l/t" else found[self._places[name]] for name in self._columns]


class PairMarks(Mapping[tuple[int, str], str]):
    """The marks of ``pairs``: ``*`` at a significant difference in favour of a, ``↓`` at one against it."""

    def __init__(self, pairs: Table) -> None:
        self._pairs = pairs

    @cached_property
    def _codes(self) -> NDArray[np.int8]:
        """Per row its mark, made when marks are first asked for."""
        places = [self._pairs.columns.index(name) for name in ("measure", "difference", "significant")]
        found = [np.empty(0, np.int8)]
        for block in as_rows(self._pairs.rows).blocks():
            measure, difference, significant = (block[place] for place in places)
            signs = {
                name: external_measure(str(name)).sign or 1 for name in dict.fromkeys(to_values(measure))
            }
            better = np.array(to_values(difference)) * [signs[name] for name in to_values(measure)] > 0
            marks = np.where(better, 1, 2) * np.array(to_values(significant), np.int8)
            found.append(marks.astype(np.int8))
        return np.concatenate(found)

    def __getitem__(self, cell: tuple[int, str]) -> str:
        row, column = cell
        if column != "difference" or not self._codes[row]:
            raise KeyError(cell)
        return _MARKS[self._codes[row]]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((row, "difference") for row in np.flatnonzero(self._codes).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self._codes))
