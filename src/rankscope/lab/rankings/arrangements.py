"""All lists of a topic of given grades: every way in which its relevant documents can stand in so many ranks.

Unlike the words of a prefix tree, these are whole lists of one length that hold no more documents of a grade than the
topic has. They are made rank by rank, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
import numpy.typing as npt

from rankscope.errors import SettingsError
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool

__all__ = ["MOST", "arrangements", "lists_of", "number_of_arrangements", "recall_bases"]

MOST = 20_000_000
"""Lists beyond which an enumeration is refused: they would not fit into the memory of most machines."""

Letters = npt.NDArray[np.int8]


def number_of_arrangements(counts: Sequence[int], length: int) -> int:
    """How many lists :func:`arrangements` makes.

    >>> number_of_arrangements([1, 1], 2)
    7
    """
    ways = {0: 1}  # by the ranks that are taken
    for count in counts:
        more: dict[int, int] = {}
        for taken, number in ways.items():
            for here in range(min(count, length - taken) + 1):
                more[taken + here] = more.get(taken + here, 0) + number * comb(length - taken, here)
        ways = more
    return sum(ways.values())


def arrangements(counts: Sequence[int], length: int) -> Letters:
    """Every list of ``length`` ranks with at most ``counts[g - 1]`` documents of grade g, one row each.

    >>> arrangements([1], 2).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    many = number_of_arrangements(counts, length)
    if many > MOST:
        raise SettingsError(
            f"there are {many:,} lists of {length} ranks with at most {sum(counts)} relevant documents",
            hint=f"choose fewer relevant documents or ranks; {MOST:,} lists can be looked at",
        )
    rows = np.zeros((1, 0), np.int8)
    left = np.array([counts], np.int8)
    for _ in range(length):
        before = np.arange(len(rows))
        chosen = [(before, 0)] + [(np.flatnonzero(left[:, g] > 0), g + 1) for g in range(len(counts))]
        parent = np.concatenate([which for which, _ in chosen])
        letter = np.concatenate([np.full(len(which), g, np.int8) for which, g in chosen])
        order = np.lexsort((letter, parent))  # so that lists come in the order of their grades
        parent, letter = parent[order], letter[order]
        rows = np.column_stack([rows[parent], letter])
        left = left[parent]
        relevant = np.flatnonzero(letter)
        left[relevant, letter[relevant] - 1] -= 1
    return rows


def lists_of(rows: Letters, counts: Sequence[int]) -> Lists:
    """The rows as lists of a topic with ``counts[g - 1]`` documents of grade g.

    >>> from rankscope.measures import measure
    >>> measure("AP").evaluate(lists_of(arrangements([1], 2), [1])).tolist()
    [0.0, 0.5, 1.0]
    """
    grade = np.repeat(np.arange(1, len(counts) + 1, dtype=np.int32), counts)
    first = np.concatenate([[0], np.cumsum(counts)])
    owner, place = np.nonzero(rows)
    offsets = np.searchsorted(owner, np.arange(len(rows) + 1))
    # a hit is known by its grade: which of the documents of that grade it is makes no difference
    judgment = first[rows[owner, place] - 1].astype(np.int32)
    length = np.full(len(rows), rows.shape[1], np.int32)
    pool = Pool(np.array([0, len(grade)]), grade)
    return Lists(pool, np.zeros(len(rows), np.int64), length, offsets, (place + 1).astype(np.int32), judgment)


def recall_bases(relevant: int, grades: int) -> Iterator[tuple[int, ...]]:
    """All topics of ``relevant`` documents of at most so many grades, every grade in use: counts from the lowest on.

    >>> list(recall_bases(3, 2))
    [(3,), (1, 2), (2, 1)]
    """
    for used in range(1, min(grades, relevant) + 1):
        yield from _parts(relevant, used)


def _parts(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(1, total - parts + 2):
        yield from ((first, *rest) for rest in _parts(total - first, parts - 1))
