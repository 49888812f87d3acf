"""Worlds: what a document of a thought-up ranking can be, and what is judged in the collection it comes from.

A *letter* is a kind of document: relevant to aspect a or b, or not relevant (x); or of grade 0, 1, 2, ... A ranking
is a word over these letters. A document that is relevant to several aspects, or more than relevant, has a letter too:
``(ab)`` is relevant to both, ``A`` highly relevant to a, ``(aB)`` relevant to a and highly to b.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import numpy.typing as npt

from rankscope.errors import SettingsError
from rankscope.judging.pool import Aspects, Pool

__all__ = ["World", "aspect_world", "graded_world", "letters_of"]

_ALPHABET = "abcdefghijklmnopqrst"
_MOST_KINDS = 30


@dataclass(frozen=True)
class World:
    """The letters, each with its grade for every aspect, and how many documents of each are judged.

    A graded world has no aspects: every letter has one grade.

    >>> world = aspect_world(2, relevant=10, nonrelevant=10)
    >>> world.labels, world.pool.recall_base(1).tolist(), world.pool.by_aspect.recall_base(1).tolist()
    (('a', 'b', 'x'), [20], [10, 10])
    """

    labels: tuple[str, ...]
    kinds: tuple[tuple[int, ...], ...]
    judged: tuple[int, ...]
    weights: tuple[float, ...] | None = None
    graded: bool = False
    """Whether documents have grades rather than aspects."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def aspects(self) -> int:
        """The number of aspects; 1 for graded worlds."""
        return len(self.kinds[0])

    @cached_property
    def grades(self) -> tuple[int, ...]:
        """The grade of each letter: its best one for some aspect."""
        return tuple(max(kind) for kind in self.kinds)

    @cached_property
    def better(self) -> list[tuple[int, int]]:
        """(worse, better) letters: the second is at least as relevant to every aspect, and more to one."""
        pairs = permutations(range(len(self)), 2)
        return [pair for pair in pairs if _at_least(self.kinds[pair[1]], self.kinds[pair[0]])]

    @cached_property
    def redundant(self) -> list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
        """(old, new, seen, unseen): letters that differ in aspects only, ``seen`` of the one, ``unseen`` of the other.

        Both are relevant to equally many aspects with the same grades, so that nothing but the aspects can matter.

        >>> aspect_world(2, relevant=1, nonrelevant=1).redundant
        [(0, 1, (0,), (1,)), (1, 0, (1,), (0,))]
        """
        found = []
        for old, new in permutations(range(len(self)), 2):
            mine, theirs = self.kinds[old], self.kinds[new]
            differ = [a for a in range(self.aspects) if mine[a] != theirs[a]]
            seen = tuple(a for a in differ if theirs[a] == 0)
            unseen = tuple(a for a in differ if mine[a] == 0)
            same = sorted(mine[a] for a in seen) == sorted(theirs[a] for a in unseen)
            if seen and same and len(seen) + len(unseen) == len(differ):
                found.append((old, new, seen, unseen))
        return found

    @cached_property
    def renamings(self) -> list[tuple[list[int], list[int]]]:
        """The pairs of aspects that can change their names and nothing else changes: (aspects, letters) afterwards.

        Both have the same weight, and as many documents of each kind are judged.

        >>> aspect_world(2, relevant=1, nonrelevant=1).renamings
        [([1, 0], [1, 0, 2])]
        """
        if self.graded:
            return []
        found = []
        number = {kind: letter for letter, kind in enumerate(self.kinds)}
        for one, other in combinations(range(self.aspects), 2):
            aspects = list(range(self.aspects))
            aspects[one], aspects[other] = other, one
            letters = [number.get(tuple(kind[a] for a in aspects), -1) for kind in self.kinds]
            weights = self.weights is None or self.weights[one] == self.weights[other]
            if (
                weights
                and -1 not in letters
                and all(self.judged[b] == n for b, n in zip(letters, self.judged, strict=True))
            ):
                found.append((aspects, letters))
        return found

    @cached_property
    def document(self) -> npt.NDArray[np.int64]:
        """For each letter one of its judged documents."""
        return np.cumsum([0, *self.judged[:-1]])

    @cached_property
    def pool(self) -> Pool:
        """The one topic of this world."""
        size, m = sum(self.judged), self.aspects
        grade = np.repeat(np.array(self.grades, np.int32), self.judged)
        if self.graded:
            return Pool(np.array([0, size]), grade)
        # every document is judged for every aspect, as assessors do it
        aspects = Aspects(
            tuple(_ALPHABET[:m]),
            np.array([0, m]),
            np.repeat(np.arange(size, dtype=np.int32), m),
            np.tile(np.arange(m, dtype=np.int32), size),
            np.repeat(np.array(self.kinds, np.int32), self.judged, axis=0).ravel(),
            None if self.weights is None else np.array(self.weights),
        )
        return Pool(np.array([0, size]), grade, aspects)

    def word(self, letters: Sequence[int]) -> str:
        """A ranking as text; ``-`` for the empty one."""
        return "".join(self.labels[letter] for letter in letters) or "-"


def letters_of(word: str) -> list[str]:
    """The letters of a ranking that was written as text.

    >>> letters_of("a(ab)x"), letters_of("-")
    (['a', '(ab)', 'x'], [])
    """
    return re.findall(r"\([^)]*\)|[^-]", word)


def _at_least(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def aspect_world(
    aspects: int,
    *,
    relevant: int,
    nonrelevant: int,
    weights: Sequence[float] | None = None,
    grades: int = 1,
    several: bool = False,
) -> World:
    """Documents relevant to one of m aspects (a, b, ...) with a grade up to ``grades``, or to none (x).

    ``several`` adds those that are relevant to several aspects; ``relevant`` documents of each kind are judged.

    >>> aspect_world(2, relevant=1, nonrelevant=1, grades=2, several=True).labels
    ('a', 'A', 'b', 'B', '(ab)', '(aB)', '(Ab)', '(AB)', 'x')
    """
    if not 1 <= aspects <= len(_ALPHABET):
        raise SettingsError(f"{aspects} aspects", hint="the case analysis has letters for 1 to 20 aspects")
    if not 1 <= grades <= 9:
        raise SettingsError(f"grades up to {grades}", hint="the case analysis has letters for grades up to 9")
    if weights is not None and (len(weights) != aspects or min(weights) < 0):
        raise SettingsError(
            f"weights {list(weights)} for {aspects} aspects", hint="give one weight per aspect"
        )
    most = aspects if several else 1
    number = sum(comb(aspects, k) * grades**k for k in range(1, most + 1))
    if number > _MOST_KINDS:
        raise SettingsError(
            f"{number:,} kinds of documents",
            hint=f"choose fewer aspects or grades: up to {_MOST_KINDS} kinds",
        )
    kinds = [
        tuple(dict(zip(chosen, given, strict=True)).get(a, 0) for a in range(aspects))
        for size in range(1, most + 1)
        for chosen in combinations(range(aspects), size)
        for given in product(range(1, grades + 1), repeat=size)
    ]
    return World(
        (*(_label(kind, grades) for kind in kinds), "x"),
        (*kinds, (0,) * aspects),
        (_at_least_one(relevant, "relevant"),) * len(kinds) + (_at_least_one(nonrelevant, "nonrelevant"),),
        None if weights is None else tuple(float(w) for w in weights),
    )


def _label(kind: tuple[int, ...], grades: int) -> str:
    """A letter for each aspect, a capital one for the second of two grades; with more grades, a number after it."""
    parts = []
    for letter, grade in zip(_ALPHABET, kind, strict=False):
        if grade:
            parts.append(f"{letter}{grade}" if grades > 2 else letter.upper() if grade == 2 else letter)
    text = "".join(parts)
    return text if len(text) == 1 else f"({text})"


def graded_world(max_grade: int, *, relevant: int, nonrelevant: int) -> World:
    """Documents of grade 0, 1, ..., max_grade; ``relevant`` documents are judged for each grade above 0."""
    if not 1 <= max_grade <= 9:
        raise SettingsError(
            f"grades up to {max_grade}", hint="the case analysis has letters for grades up to 9"
        )
    return World(
        tuple("0123456789"[: max_grade + 1]),
        tuple((grade,) for grade in range(max_grade + 1)),
        (_at_least_one(nonrelevant, "nonrelevant"),) + (_at_least_one(relevant, "relevant"),) * max_grade,
        graded=True,
    )


def _at_least_one(number: int, what: str) -> int:
    if number < 1:
        raise SettingsError(f"{number} {what} documents", hint=f"{what} documents are judged: give 1 or more")
    return number
