"""Rankings of fixed length or of any length, written out as lists.

:class:`ExplicitRankings` are the rankings that a property names. The functions enumerate all rankings of one length of
a topic whose numbers of documents per grade are known. Unlike the words of a prefix tree, they contain at most as many
documents of a grade as the topic has. They are built rank by rank, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, pairwise

import numpy as np

from rankscope.arrays import Ints, NDArray
from rankscope.errors import SettingsError
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.lab.rankings.worlds import World
from rankscope.measures.interval import enumerate_rankings, number_of_rankings

_MIN_ABBREVIATED = 8
"""Length of a run of equal letters from which it is abbreviated, as in ``0^11``."""


class ExplicitRankings(Lists):
    """Rankings of a world as lists: list i is ranking i.

    >>> from rankscope.lab.rankings.worlds import graded_world
    >>> from rankscope.measures import measure
    >>> lists = ExplicitRankings(graded_world(1, relevant=12, nonrelevant=12), [(0, 1), (1,) + (0,) * 11])
    >>> measure("RR").evaluate(lists).tolist(), lists.word(0), lists.word(1)
    ([0.5, 1.0], '01', '1 0^11')
    """

    def __init__(self, world: World, rankings: Sequence[Sequence[int]] | Ints) -> None:
        self.world = world
        self.rankings = rankings
        length = np.array([len(ranking) for ranking in rankings], np.int64)
        letters = np.concatenate([np.asarray(ranking, np.int64) for ranking in rankings])
        offsets = np.concatenate([[0], np.cumsum(length)])
        rank = np.arange(len(letters)) - np.repeat(offsets[:-1], length) + 1
        topic, documents = np.zeros(len(rankings), np.int64), world.document[letters]
        super().__init__(world.pool, topic, length, offsets, rank.astype(np.int32), documents)

    def word(self, number: int) -> str:
        """Return one ranking as text, with long runs of a letter abbreviated."""
        runs = [(letter, len(list(same))) for letter, same in groupby(self.rankings[number])]
        if all(count < _MIN_ABBREVIATED for _, count in runs):
            return self.world.word(self.rankings[number])
        word = self.world.word
        return " ".join(f"{word([x])}^{n}" if n >= _MIN_ABBREVIATED else word([x] * n) for x, n in runs)


MAX_LISTS = 20_000_000
"""Limit on the number of enumerated rankings: more do not fit into the memory of most machines."""

Letters = NDArray[np.int8]


def multiset_permutations(counts: Sequence[int], length: int) -> Letters:
    """Return every ranking of ``length`` documents with at most ``counts[g - 1]`` of grade g, one row each.

    Rows are in lexicographic order. Grade 0 may occur any number of times.

    >>> multiset_permutations([1], 2).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    n_lists = number_of_rankings(length, tuple(counts))
    if n_lists > MAX_LISTS:
        raise SettingsError(
            f"there are {n_lists:,} lists of {length} ranks with at most {sum(counts)} relevant documents",
            hint=f"choose fewer relevant documents or ranks; {MAX_LISTS:,} lists can be enumerated",
        )
    return np.ascontiguousarray(enumerate_rankings(length, counts)[:, ::-1])  # sorted by the last rank first


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
        for borders in combinations(range(1, relevant), used - 1):
            yield tuple(b - a for a, b in pairwise((0, *borders, relevant)))
