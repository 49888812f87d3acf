"""What the rules look at: the scores, and what several rules ask of them, computed once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.leaderboard import leaderboard
from rankscope.analysis.stats.matrices import CompleteMatrix, complete, run_merits
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.significance import Indices, all_pairs, run_test, tukey_hsd
from rankscope.caching import CacheMixin
from rankscope.errors import InputError
from rankscope.judging import EvaluationOptions, Judged, judge
from rankscope.judging.shares import has_nonrelevant
from rankscope.measures import Measure
from rankscope.scores import Scores
from rankscope.tables import Cell

__all__ = ["Basis"]

Floats = NDArray[np.float64]

_SHUFFLES = 2000
MOST_PAIRS = 100_000
"""Pairs of runs that are tested for every measure; of more, so many are drawn."""


@dataclass(frozen=True, eq=False)
class Basis(CacheMixin):
    """Scores and how to test them."""

    scores: Scores
    alpha: float
    test: str
    correction: str
    replicates: int
    seed: int

    @cached_property
    def matrices(self) -> Mapping[Measure, CompleteMatrix]:
        """The values of every measure of which some are better, on the topics where all runs have one.

        Without judged non-relevant documents, measures that need them are left out if there are others: they order the
        runs by the number of relevant documents, and would often be called the most discriminating.
        """
        found = {}
        for measure in self.scores.measures:
            if measure.better != "neither":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # the numbers of topics say it
                    try:
                        found[measure] = complete(self.scores, measure)
                    except InputError:
                        continue
        judged = self.scores.judged
        if judged is None or has_nonrelevant(judged):
            return found
        return {measure: one for measure, one in found.items() if not measure.needs_nonrelevant} or found

    @cached_property
    def first(self) -> CompleteMatrix | None:
        """The measure that findings are about where they can be about one only."""
        return next(iter(self.matrices.values()), None)

    @property
    def comparable(self) -> bool:
        """Whether there are two runs, and two topics to tell them apart."""
        return len(self.scores.runs) > 1 and self.first is not None and len(self.first.topics) > 1

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """All pairs of runs."""
        return all_pairs(len(self.scores.runs))

    @cached_property
    def tested(self) -> tuple[Indices, Indices]:
        """The pairs of runs that are tested: all of them, or a sample that the seed decides."""
        first, second = self.pairs
        if len(first) <= MOST_PAIRS:
            return first, second
        chosen = np.sort(generator(self.seed).choice(len(first), MOST_PAIRS, replace=False))
        return first[chosen], second[chosen]

    def board(self, measure: Measure) -> list[dict[str, Cell]]:
        """The rows of the leaderboard of one measure, best first."""
        alone = self.scores.of_measures([measure])
        return self.cache(
            ("board", str(measure)),
            lambda: leaderboard(alone, alpha=self.alpha, replicates=self.replicates, seed=self.seed)[
                "leaderboard"
            ].records(),
        )

    def chance(self, matrix: CompleteMatrix) -> float:
        """How often chance alone spreads the means of the runs as widely as they are: randomised Tukey HSD.

        The scores of every topic are shuffled over the runs; what counts is the range of the means (Carterette 2012).
        """
        if len(self.scores.runs) < 2 or len(matrix.topics) < 2:
            return nan
        merits = run_merits(matrix)
        ends = np.array([int(np.argmax(merits))]), np.array([int(np.argmin(merits))])
        return self.cache(
            ("chance", str(matrix.measure)),
            lambda: float(tukey_hsd(matrix.values, *ends, replicates=_SHUFFLES, seed=self.seed).p[0]),
        )

    def differ(self, matrix: CompleteMatrix) -> bool:
        """Whether the runs differ at all by a measure: nothing is said about their order otherwise."""
        return self.chance(matrix) < self.alpha

    def significant(self, matrix: CompleteMatrix) -> NDArray[np.bool_]:
        """Of each of the ``tested`` pairs of runs whether the test, corrected for their number, tells them apart."""

        def tested() -> NDArray[np.bool_]:
            options: Any = {"correction": self.correction, "alpha": self.alpha, "seed": self.seed}
            return np.asarray(
                run_test(self.test, matrix.values, *self.tested, **options).adjusted < self.alpha
            )

        return self.cache(("significant", str(matrix.measure)), tested)

    @cached_property
    def lists(self) -> Judged | None:
        """The lists as they are, unjudged documents not relevant, if they are at hand."""
        judged = self.scores.judged
        if (
            judged is not None and judged.options.unjudged == "bounds"
        ):  # there, unjudged documents have a place
            return self._judged_again()
        return None if judged is None else replace(judged, options=EvaluationOptions())

    @cached_property
    def tied_lists(self) -> Judged | None:
        """The lists with what is known of documents of equal score, if the runs are at hand."""
        if self.lists is not None and self.lists.ties is not None:
            return self.lists
        return self._judged_again()

    def _judged_again(self) -> Judged | None:
        found = self.scores.collection
        return None if found is None else judge(found.qrels, found.runs, ties=True, allow_disjoint=True)
