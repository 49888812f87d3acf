"""The effort/gain plane: where every list stands by Twist and by a gain measure.

The plane (Ferro and others 2016) has Twist across, cut at 1/4, 1/2 and 3/4 into huge, high, medium and low effort,
and a gain measure upwards, cut at its quartiles over all lists into low, medium, high and huge gain. A Twist on a
border belongs to the column above it, a gain equal to a quartile to the row below: many lists may have the same gain,
and those that gain nothing are never high.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.errors import SettingsError, nearest
from rankscope.judging import Judged
from rankscope.measures import Measure
from rankscope.measures.grammar import parse

__all__ = ["EFFORTS", "GAINS", "Planes", "chosen_word"]

EFFORTS = ("huge", "high", "medium", "low")
"""The columns of the plane, by rising Twist."""

GAINS = ("low", "medium", "high", "huge")
"""The rows of the plane, by rising gain."""

_QUARTERS = (0.25, 0.5, 0.75)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def chosen_word(word: str, known: tuple[str, ...], what: str) -> int:
    """The place of a word among those there are, or an error that names them."""
    if word not in known:
        raise SettingsError(
            f"there is no {what} called {word!r}",
            hint=nearest(word, known) or f"choose one of {', '.join(known)}",
        )
    return known.index(word)


@dataclass(frozen=True, eq=False, repr=False)
class Planes:
    """Twist, archetype and gains of every list, and its cell in the plane of each gain measure.

    ``archetype`` and ``twist`` have one value per list (run by run, topic by topic), ``gain`` one such array per
    measure; lists that are left out (no relevant document, or missing with ``missing="skip"``) are empty text or NaN.
    """

    judged: Judged
    gains: tuple[Measure, ...]
    archetype: npt.NDArray[np.str_]
    twist: Floats
    gain: tuple[Floats, ...]
    settings: Mapping[str, Any]

    @cached_property
    def counted(self) -> Ints:
        """The lists that are not left out."""
        return np.flatnonzero(self.archetype != "")

    def labels(self, index: int) -> tuple[str, str]:
        """The run and the topic of a list."""
        run, topic = divmod(int(index), len(self.judged.topics))
        return self.judged.runs[run], self.judged.topics[topic]

    def number(self, measure: str | Measure) -> int:
        """The place of a gain measure among those of the analysis."""
        wanted = parse(measure) if isinstance(measure, str) else measure
        if wanted not in self.gains:
            known = [str(gain) for gain in self.gains]
            raise SettingsError(f"{wanted} is not one of the gains", hint=f"there are {', '.join(known)}")
        return self.gains.index(wanted)

    def cells(self, number: int) -> tuple[Ints, Ints, Ints]:
        """The lists of a plane, with the row and the column of each; where lower gains are better, they are above."""
        gain = self.gains[number].merit(self.gain[number])
        where = self.counted[np.isfinite(gain[self.counted])]
        if not len(where):
            return where, where, where
        rows = np.searchsorted(np.quantile(gain[where], _QUARTERS), gain[where], side="left")
        columns = np.searchsorted(_QUARTERS, self.twist[where], side="right")
        return where, rows, columns

    def quartiles(self, measure: str | Measure) -> list[float]:
        """The quartiles of a gain measure over the lists of its plane, the borders of its rows; none without lists."""
        number = self.number(measure)
        where, _, _ = self.cells(number)
        return np.quantile(self.gain[number][where], _QUARTERS).tolist() if len(where) else []

    def plane(self, measure: str | Measure) -> Ints:
        """How many lists are in each cell: gain from low to huge down, effort from huge to low across."""
        _, rows, columns = self.cells(self.number(measure))
        return np.bincount(rows * 4 + columns, minlength=16).reshape(4, 4)
