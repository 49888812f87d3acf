"""Explicit rankings of any length, for properties that name their rankings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from rankscope.arrays import Ints
from rankscope.judging.lists import Lists
from rankscope.lab.rankings.worlds import World

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
