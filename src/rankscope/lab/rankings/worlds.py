"""Worlds: what a document of a thought-up ranking can be, and what is judged in the collection it comes from.

A *letter* is a kind of document: relevant to aspect a or b, or not relevant (x); or of grade 0, 1, 2, ... A ranking
is a word over these letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rankscope.errors import SettingsError
from rankscope.judging.pool import Aspects, Pool

__all__ = ["World", "aspect_world", "graded_world"]


@dataclass(frozen=True)
class World:
    """The letters, each with its grade and the aspect it is relevant to (-1: none), and how many documents of each
    are judged.

    >>> world = aspect_world(2, relevant=10, nonrelevant=10)
    >>> world.labels, world.pool.recall_base(1).tolist(), world.pool.by_aspect.recall_base(1).tolist()
    (('a', 'b', 'x'), [20], [10, 10])
    """

    labels: tuple[str, ...]
    grades: tuple[int, ...]
    aspect: tuple[int, ...]
    judged: tuple[int, ...]
    weights: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def graded(self) -> bool:
        """Whether documents have grades rather than aspects."""
        return max(self.aspect) < 0

    @property
    def aspects(self) -> int:
        """The number of aspects; 1 for graded worlds."""
        return max(1, 1 + max(self.aspect))

    @cached_property
    def document(self) -> npt.NDArray[np.int64]:
        """For each letter one of its judged documents."""
        return np.cumsum([0, *self.judged[:-1]])

    @cached_property
    def pool(self) -> Pool:
        """The one topic of this world."""
        size = sum(self.judged)
        grade = np.repeat(np.array(self.grades, np.int32), self.judged)
        if self.graded:
            return Pool(np.array([0, size]), grade)
        m = self.aspects
        names = tuple(self.labels[self.aspect.index(a)] for a in range(m))
        # every document is judged for every aspect, as assessors do it
        mine = np.repeat(np.array(self.aspect), self.judged)[:, np.newaxis] == np.arange(m)
        aspects = Aspects(
            names,
            np.array([0, m]),
            np.repeat(np.arange(size, dtype=np.int32), m),
            np.tile(np.arange(m, dtype=np.int32), size),
            np.where(mine, grade[:, np.newaxis], 0).ravel().astype(np.int32),
            None if self.weights is None else np.array(self.weights),
        )
        return Pool(np.array([0, size]), grade, aspects)

    def word(self, letters: Sequence[int]) -> str:
        """A ranking as text; ``-`` for the empty one."""
        return "".join(self.labels[letter] for letter in letters) or "-"


def aspect_world(
    aspects: int, *, relevant: int, nonrelevant: int, weights: Sequence[float] | None = None
) -> World:
    """Documents relevant to exactly one of m aspects (a, b, ...) or to none (x)."""
    if not 1 <= aspects <= 20:
        raise SettingsError(f"{aspects} aspects", hint="the case analysis has letters for 1 to 20 aspects")
    if weights is not None and (len(weights) != aspects or min(weights) < 0):
        raise SettingsError(
            f"weights {list(weights)} for {aspects} aspects", hint="give one weight per aspect"
        )
    return World(
        (*"abcdefghijklmnopqrst"[:aspects], "x"),
        (1,) * aspects + (0,),
        (*range(aspects), -1),
        (_at_least_one(relevant, "relevant"),) * aspects + (_at_least_one(nonrelevant, "nonrelevant"),),
        None if weights is None else tuple(float(w) for w in weights),
    )


def graded_world(max_grade: int, *, relevant: int, nonrelevant: int) -> World:
    """Documents of grade 0, 1, ..., max_grade; ``relevant`` documents are judged for each grade above 0."""
    if not 1 <= max_grade <= 9:
        raise SettingsError(
            f"grades up to {max_grade}", hint="the case analysis has letters for grades up to 9"
        )
    return World(
        tuple("0123456789"[: max_grade + 1]),
        tuple(range(max_grade + 1)),
        (-1,) * (max_grade + 1),
        (_at_least_one(nonrelevant, "nonrelevant"),) + (_at_least_one(relevant, "relevant"),) * max_grade,
    )


def _at_least_one(number: int, what: str) -> int:
    if number < 1:
        raise SettingsError(f"{number} {what} documents", hint=f"{what} documents are judged: give 1 or more")
    return number
