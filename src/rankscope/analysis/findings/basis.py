"""The input of the rules: scores, and results that several rules share."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from rankscope.analysis.leaderboard import leaderboard
from rankscope.analysis.stats.matrices import CompleteMatrix, complete, run_merits
from rankscope.analysis.stats.randomness import generator
from rankscope.analysis.stats.significance import all_pairs, run_test, tukey_hsd
from rankscope.analysis.stats.weighting import contributions
from rankscope.arrays import Bools, Indices
from rankscope.caching import CacheMixin
from rankscope.errors import InputError
from rankscope.judging import EvaluationOptions, Judged, judge
from rankscope.judging.shares import has_nonrelevant
from rankscope.measures import Measure
from rankscope.scores import Collection, Scores
from rankscope.tables import Cell

_SHUFFLES = 2000
MAX_PAIRS = 100_000
"""Maximum number of pairs of runs to test for every measure; of more pairs, a sample is tested."""


@dataclass(frozen=True, eq=False)
class Basis(CacheMixin):
    """Scores, the options of their tests, and cached results."""

    scores: Scores
    alpha: float
    test: str
    correction: str
    replicates: int
    seed: int
    by: tuple[str, ...] = ()
    """Attributes whose slices are compared."""

    @cached_property
    def matrices(self) -> Mapping[Measure, CompleteMatrix]:
        """Values of every measure with a direction, on the topics where all runs have a value.

        Without judged non-relevant documents, measures that need them are omitted if there are others: they order the
        runs by the number of relevant documents, and would often seem to be the most discriminating.
        """
        matrices = {}
        for measure in self.scores.measures:
            if measure.better != "neither":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # The findings state the number of topics.
                    try:
                        matrices[measure] = complete(self.scores, measure)
                    except InputError:
                        continue
        judged = self.scores.judged
        if judged is None or has_nonrelevant(judged):
            return matrices
        usable = {measure: matrix for measure, matrix in matrices.items() if not measure.needs_nonrelevant}
        return usable or matrices

    @cached_property
    def first(self) -> CompleteMatrix | None:
        """Values of the measure that findings about one measure use."""
        return next(iter(self.matrices.values()), None)

    @property
    def comparable(self) -> bool:
        """Whether there are two runs, and two topics to compare them on."""
        return len(self.scores.runs) > 1 and self.first is not None and len(self.first.topics) > 1

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """Pairs of runs."""
        return all_pairs(len(self.scores.runs))

    @cached_property
    def tested(self) -> tuple[Indices, Indices]:
        """Pairs of runs to test: all of them, or a random sample."""
        first, second = self.pairs
        if len(first) <= MAX_PAIRS:
            return first, second
        sample = np.sort(generator(self.seed).choice(len(first), MAX_PAIRS, replace=False))
        return first[sample], second[sample]

    def board(self, measure: Measure) -> list[dict[str, Cell]]:
        """Return the rows of the leaderboard of one measure, best first."""
        alone = self.scores.with_measures([measure])
        options: Any = {"alpha": self.alpha, "replicates": self.replicates, "seed": self.seed}
        rows = self.cache(("board", str(measure)), lambda: leaderboard(alone, **options).leaderboard)
        return rows.records()

    def chance(self, matrix: CompleteMatrix) -> float:
        """Return the probability that chance spreads the means of the runs as widely: randomised Tukey HSD.

        The scores of every topic are shuffled over the runs; the statistic is the range of the means (Carterette 2012).
        """
        if len(self.scores.runs) < 2 or len(matrix.topics) < 2:
            return nan
        merits = run_merits(matrix)
        ends = np.array([int(np.argmax(merits))]), np.array([int(np.argmin(merits))])
        weighted = contributions(matrix.values, matrix.weights)
        return self.cache(
            ("chance", str(matrix.measure)),
            lambda: float(tukey_hsd(weighted, *ends, replicates=_SHUFFLES, seed=self.seed).p[0]),
        )

    def differ(self, matrix: CompleteMatrix) -> bool:
        """Return whether the runs differ by a measure; otherwise no finding is about their order."""
        return self.chance(matrix) < self.alpha

    def significant(self, matrix: CompleteMatrix) -> Bools:
        """Return a mask of the ``tested`` pairs of runs that differ significantly, after correction."""
        options: Any = {"correction": self.correction, "alpha": self.alpha, "seed": self.seed}
        tests = self.cache(
            ("tests", str(matrix.measure)),
            lambda: run_test(self.test, matrix.values, *self.tested, weights=matrix.weights, **options),
        )
        return np.asarray(tests.adjusted < self.alpha)

    @cached_property
    def lists(self) -> Judged | None:
        """Judged rankings with default options, or None for scores from a file."""
        judged = self.scores.judged
        if judged is not None and judged.options.unjudged == "bounds":  # Its hits include unjudged documents.
            return self._judge_again()
        return None if judged is None else replace(judged, options=EvaluationOptions())

    @cached_property
    def tied_lists(self) -> Judged | None:
        """Judged rankings with groups of tied documents, or None for scores from a file."""
        if self.lists is not None and self.lists.ties is not None:
            return self.lists
        return self._judge_again()

    def _judge_again(self) -> Judged | None:
        collection = self.scores.collection
        inputs = collection.opened if isinstance(collection, Collection) else collection
        if inputs is None or inputs.qrels.gains is not None:  # Findings about documents compare grades.
            return None
        return judge(*inputs, ties=True, allow_disjoint=True)
