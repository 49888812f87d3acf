"""Worlds: the kinds of documents in hypothetical rankings, and the number of judged documents of each kind.

A *letter* is a kind of document: relevant to aspect a or b, or not relevant (x); or of grade 0, 1, 2, ... A ranking
is a word over these letters. Documents that are relevant to several aspects, or highly relevant, have letters too:
``(ab)`` is relevant to both, ``A`` highly relevant to a, ``(aB)`` relevant to a and highly relevant to b.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product
from math import comb

import numpy as np

from rankscope.arrays import Ints
from rankscope.errors import SettingsError
from rankscope.judging.pool import Aspects, Pool

_ALPHABET = "abcdefghijklmnopqrst"
_MAX_KINDS = 30


@dataclass(frozen=True)
class World:
    """Letters with their grades for every aspect and their numbers of judged documents.

    In a graded world, which has no aspects, every letter has one grade.

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
        """Number of aspects; 1 for graded worlds."""
        return len(self.kinds[0])

    @cached_property
    def grades(self) -> tuple[int, ...]:
        """Grade of each letter: its maximum over aspects."""
        return tuple(max(kind) for kind in self.kinds)

    @cached_property
    def better_pairs(self) -> list[tuple[int, int]]:
        """Pairs (worse, better) of letters: the second is at least as relevant to every aspect, and more to one."""
        pairs = permutations(range(len(self)), 2)
        return [pair for pair in pairs if _at_least(self.kinds[pair[1]], self.kinds[pair[0]])]

    @cached_property
    def redundant_pairs(self) -> list[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
        """Tuples (old, new, seen, unseen): letters that differ only in their aspects.

        ``seen`` are the aspects of ``old`` alone, ``unseen`` those of ``new`` alone. Both letters have the same grades
        for equally many aspects, so only the aspects can make a difference.

        >>> aspect_world(2, relevant=1, nonrelevant=1).redundant_pairs
        [(0, 1, (0,), (1,)), (1, 0, (1,), (0,))]
        """
        result = []
        for old, new in permutations(range(len(self)), 2):
            old_kind, new_kind = self.kinds[old], self.kinds[new]
            differ = [a for a in range(self.aspects) if old_kind[a] != new_kind[a]]
            seen = tuple(a for a in differ if new_kind[a] == 0)
            unseen = tuple(a for a in differ if old_kind[a] == 0)
            same = sorted(old_kind[a] for a in seen) == sorted(new_kind[a] for a in unseen)
            if seen and same and len(seen) + len(unseen) == len(differ):
                result.append((old, new, seen, unseen))
        return result

    @cached_property
    def document(self) -> Ints:
        """Index of the first judged document of each letter."""
        return np.cumsum([0, *self.judged[:-1]])

    @cached_property
    def pool(self) -> Pool:
        """Pool of the single topic of this world."""
        size, m = sum(self.judged), self.aspects
        grade = np.repeat(np.array(self.grades, np.int32), self.judged)
        if self.graded:
            return Pool(np.array([0, size]), grade)
        # Every document is judged for every aspect, as assessors do it.
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
        """Return a ranking as text; ``-`` for the empty one."""
        return "".join(self.labels[letter] for letter in letters) or "-"


def split_word(word: str) -> list[str]:
    """Split the text of a ranking into its letters.

    >>> split_word("a(ab)x"), split_word("-")
    (['a', '(ab)', 'x'], [])
    """
    return re.findall(r"\([^)]*\)|[^-]", word)


def _at_least(kind: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return kind != other and all(a >= b for a, b in zip(kind, other, strict=True))


def aspect_world(
    aspects: int,
    *,
    relevant: int,
    nonrelevant: int,
    weights: Sequence[float] | None = None,
    grades: int = 1,
    multi_aspect: bool = False,
) -> World:
    """Return the world of documents relevant to one aspect (a, b, ...) with grades up to ``grades``, or to none (x).

    ``multi_aspect`` adds documents relevant to several aspects; ``relevant`` documents of each kind are judged.

    >>> aspect_world(2, relevant=1, nonrelevant=1, grades=2, multi_aspect=True).labels
    ('a', 'A', 'b', 'B', '(ab)', '(aB)', '(Ab)', '(AB)', 'x')
    """
    if not 1 <= aspects <= len(_ALPHABET):
        raise SettingsError(f"{aspects} aspects", hint="the case analysis has letters for 1 to 20 aspects")
    _check_grades(grades)
    if weights is not None and (len(weights) != aspects or min(weights) < 0):
        hint = "give one weight per aspect"
        raise SettingsError(f"weights {list(weights)} for {aspects} aspects", hint=hint)
    max_aspects = aspects if multi_aspect else 1
    number = sum(comb(aspects, k) * grades**k for k in range(1, max_aspects + 1))
    if number > _MAX_KINDS:
        hint = f"choose fewer aspects or grades: up to {_MAX_KINDS} kinds"
        raise SettingsError(f"{number:,} kinds of documents", hint=hint)
    kinds = [
        tuple(dict(zip(subset, subset_grades, strict=True)).get(a, 0) for a in range(aspects))
        for size in range(1, max_aspects + 1)
        for subset in combinations(range(aspects), size)
        for subset_grades in product(range(1, grades + 1), repeat=size)
    ]
    return World(
        (*(_label(kind, grades) for kind in kinds), "x"),
        (*kinds, (0,) * aspects),
        (_at_least_one(relevant, "relevant"),) * len(kinds) + (_at_least_one(nonrelevant, "nonrelevant"),),
        None if weights is None else tuple(float(w) for w in weights),
    )


def _label(kind: tuple[int, ...], grades: int) -> str:
    """Return the label of a kind: a letter per aspect.

    With two grades a capital letter is the higher one; with more grades the grade follows the letter.
    """
    parts = []
    for letter, grade in zip(_ALPHABET, kind, strict=False):
        if grade:
            parts.append(f"{letter}{grade}" if grades > 2 else letter.upper() if grade == 2 else letter)
    text = "".join(parts)
    return text if len(text) == 1 else f"({text})"


def graded_world(max_grade: int, *, relevant: int, nonrelevant: int) -> World:
    """Return the world of documents of grades 0 to ``max_grade``; ``relevant`` of each grade above 0 are judged."""
    _check_grades(max_grade)
    return World(
        tuple("0123456789"[: max_grade + 1]),
        tuple((grade,) for grade in range(max_grade + 1)),
        (_at_least_one(nonrelevant, "nonrelevant"),) + (_at_least_one(relevant, "relevant"),) * max_grade,
        graded=True,
    )


def _check_grades(grades: int) -> None:
    if not 1 <= grades <= 9:
        raise SettingsError(f"grades up to {grades}", hint="the case analysis has letters for grades up to 9")


def _at_least_one(number: int, kind: str) -> int:
    if number < 1:
        raise SettingsError(f"{number} {kind} documents", hint=f"{kind} documents are judged: give 1 or more")
    return number
