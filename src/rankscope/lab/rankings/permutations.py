"""All rankings of fixed length of a topic whose numbers of documents per grade are known.

Unlike the words of a prefix tree, all rankings have the same length and contain at most as many documents of a grade
as the topic has. They are built rank by rank, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
import numpy.typing as npt

from rankscope.errors import SettingsError
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool

MAX_LISTS = 20_000_000
"""Limit on the number of enumerated rankings: more do not fit into the memory of most machines."""

Letters = npt.NDArray[np.int8]


def count_multiset_permutations(counts: Sequence[int], length: int) -> int:
    """Return the number of rows of :func:`multiset_permutations`.

    >>> count_multiset_permutations([1, 1], 2)
    7
    """
    ways = {0: 1}  # number of ways by number of occupied ranks
    for count in counts:
        extended: dict[int, int] = {}
        for taken, number in ways.items():
            for added in range(min(count, length - taken) + 1):
                extended[taken + added] = extended.get(taken + added, 0) + number * comb(
                    length - taken, added
                )
        ways = extended
    return sum(ways.values())


def multiset_permutations(counts: Sequence[int], length: int) -> Letters:
    """Return every ranking of ``length`` documents with at most ``counts[g - 1]`` of grade g, one row each.

    Rows are in lexicographic order. Grade 0 may occur any number of times.

    >>> multiset_permutations([1], 2).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    n_lists = count_multiset_permutations(counts, length)
    if n_lists > MAX_LISTS:
        raise SettingsError(
            f"there are {n_lists:,} lists of {length} ranks with at most {sum(counts)} relevant documents",
            hint=f"choose fewer relevant documents or ranks; {MAX_LISTS:,} lists can be enumerated",
        )
    rows = np.zeros((1, 0), np.int8)
    left = np.array([counts], np.int8)
    for _ in range(length):
        parents = np.arange(len(rows))
        choices = [(parents, 0)] + [(np.flatnonzero(left[:, g] > 0), g + 1) for g in range(len(counts))]
        parent = np.concatenate([which for which, _ in choices])
        letter = np.concatenate([np.full(len(which), g, np.int8) for which, g in choices])
        order = np.lexsort((letter, parent))  # keeps the rows in lexicographic order
        parent, letter = parent[order], letter[order]
        rows = np.column_stack([rows[parent], letter])
        left = left[parent]
        relevant = np.flatnonzero(letter)
        left[relevant, letter[relevant] - 1] -= 1
    return rows


def lists_from_rows(rows: Letters, counts: Sequence[int]) -> Lists:
    """Return rows of grades as lists of a topic with ``counts[g - 1]`` documents of grade g.

    >>> from rankscope.measures import measure
    >>> measure("AP").evaluate(lists_from_rows(multiset_permutations([1], 2), [1])).tolist()
    [0.0, 0.5, 1.0]
    """
    grade = np.repeat(np.arange(1, len(counts) + 1, dtype=np.int32), counts)
    first = np.concatenate([[0], np.cumsum(counts)])
    owner, rank_index = np.nonzero(rows)
    offsets = np.searchsorted(owner, np.arange(len(rows) + 1))
    # Every hit of a grade refers to the first document of that grade: measures see only the grade.
    judgment = first[rows[owner, rank_index] - 1].astype(np.int32)
    length = np.full(len(rows), rows.shape[1], np.int32)
    pool = Pool(np.array([0, len(grade)]), grade)
    return Lists(
        pool, np.zeros(len(rows), np.int64), length, offsets, (rank_index + 1).astype(np.int32), judgment
    )


def iter_recall_bases(relevant: int, grades: int) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of documents per grade, lowest first, of all topics with ``relevant`` documents.

    A topic has at most ``grades`` grades, and at least one document of each.

    >>> list(iter_recall_bases(3, 2))
    [(3,), (1, 2), (2, 1)]
    """
    for used in range(1, min(grades, relevant) + 1):
        yield from _parts(relevant, used)


def _parts(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all compositions of ``total`` into ``parts`` positive integers."""
    if parts == 1:
        yield (total,)
        return
    for first in range(1, total - parts + 2):
        yield from ((first, *rest) for rest in _parts(total - first, parts - 1))
