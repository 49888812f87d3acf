"""Is the order of the runs certain? What ties, unjudged documents and the sample of topics leave of a leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.matrices import CompleteMatrix, complete, left_out
from rankscope.analysis.stats.significance import adjust, all_pairs, run_test
from rankscope.certainty.documents import knowing, knows
from rankscope.certainty.pairs import SLACK, Effects, effects_of
from rankscope.certainty.values import values_of
from rankscope.errors import InputError, SettingsError, nearest
from rankscope.judging import Handling, Judged
from rankscope.measures import Measure
from rankscope.read import Collection
from rankscope.read.ids import to_text
from rankscope.result import TableResult
from rankscope.scores import Scores, score
from rankscope.tables import Cell, Table

__all__ = [
    "Extremes",
    "certain",
    "in_order_of_ids",
    "knowing_documents",
    "knowing_scores",
    "tie_extremes",
    "tie_verdicts",
]

Floats = NDArray[np.float64]
Verdicts = NDArray[np.float64]
"""1: certain, 0: not certain, NaN: neither proved nor refuted."""

_WITH_LABELS = 1000
"""Pairs up to which the labels that reverse each are listed without being asked for."""

_PAIRS = (
    "a", "b", "measure", "order", "ties", "unjudged", "topics", "together", "difference", "lowest", "p", "labels",
)  # fmt: skip


def certain(
    scores: Scores,
    baseline: str | None = None,
    *,
    alpha: float = 0.05,
    test: str = "t",
    correction: str = "holm",
    labels: bool | None = None,
    seed: int = 1,
) -> TableResult:
    """Which pairs of runs have an order that nothing can reverse?

    The order of two runs by the mean of a measure is certain under ``ties`` if it is the same for all orders of
    documents with equal scores, under ``unjudged`` if it is the same for all labels of the unjudged documents, where a
    document has one label in both lists, and under ``topics`` if a paired test tells them apart (``test`` at level
    ``alpha`` with ``correction``). ``together``: no labels and orders at once reverse it, and the test tells the
    runs apart. Each is true, false, or nothing where it is neither proved nor refuted: labels are exact for sums of
    gain times weight (P, RBP, DCG), nearly so for nDCG, and the difference of two ranges for other measures.

    Tables: ``pairs``, ``a`` being the better run, with the ``lowest`` difference that labels are known to reach and the
    smallest known number of ``labels`` that reverse it; ``labels`` {a, b, measure, topic, doc, grade}: which ones (for
    up to 1,000 pairs, or if asked for); ``runs``: the mean, its range over all labels, and the ranks that are possible;
    ``certainty``: how many pairs are certain.

    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"d2": 2.0, "y": 1.0}}}
    >>> found = certain(rs.evaluate({"q": {"d1": 1, "d2": 0}}, runs, "P@2"))
    >>> [(row["a"], row["order"], row["b"], row["unjudged"], row["lowest"]) for row in found["pairs"].records()]
    [('a', '>', 'b', True, 0.0)]
    """
    judged = knowing_documents(scores)
    scores = in_order_of_ids(scores, judged)
    matrices = [complete(scores, measure) for measure in scores.measures]
    blocks = [
        _Pairs.of(scores, judged, matrix, baseline, alpha=alpha, test=test, correction=correction, seed=seed)
        for matrix in matrices
    ]
    pairs = [row for block in blocks for row in block.rows(scores.runs)]
    listed = labels if labels is not None else len(pairs) <= _WITH_LABELS
    tables = [
        Table("pairs", _PAIRS, pairs),
        Table(
            "runs",
            ("run", "measure", "value", "lowest", "highest", "first_rank", "last_rank"),
            [row for block in blocks for row in block.run_rows(scores, judged)],
            caption="What each run may score, and the ranks that it may have",
        ),
        Table(
            "certainty",
            ("measure", "pairs", "ties", "unjudged", "topics", "together", "not_proved"),
            [block.summary() for block in blocks],
            caption="Pairs of runs whose order nothing can reverse, by what might",
        ),
    ]
    if listed:
        rows = [row for block in blocks for row in block.label_rows(scores.runs, judged)]
        tables.append(Table("labels", ("a", "b", "measure", "topic", "doc", "grade"), rows))
    settings = {
        **scores.settings, "baseline": baseline, "alpha": alpha, "test": test, "correction": correction,
        "seed": seed, **left_out(matrices),
    }  # fmt: skip
    return TableResult.of(*tables, settings=settings, display=(tables[2], tables[1]))


def in_order_of_ids(scores: Scores, judged: Judged) -> Scores:
    """The scores of the order by document id: what ties leave open is asked for by itself."""
    said = {
        key: value for key, value in scores.settings.items() if key not in ("ties", "unjudged", "ties_seed")
    }
    missing = str(said.get("missing", "zero"))
    return score(replace(judged, handling=Handling()), scores.measures, missing=missing, settings=said)


def knowing_scores(
    collection: Collection,
    measures: Sequence[Measure],
    *,
    missing: str = "zero",
    jobs: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Scores:
    """The scores of a collection that is read once for what :func:`certain` and ``next_judgments`` ask of it."""
    judged = knowing(*collection, measures, jobs=jobs)
    made = score(
        replace(judged, handling=Handling()),
        measures,
        missing=missing,
        settings=settings or collection.settings,
    )
    return replace(made, judged=judged, collection=collection)


def knowing_documents(scores: Scores) -> Judged:
    """The lists of scores under judgments in which unjudged documents that a measure can see have a place, too."""
    judged = scores.judged
    if judged is not None and knows(judged, scores.measures):
        return judged
    if scores.collection is None:
        raise SettingsError(
            "these scores do not know which documents are unjudged",
            hint="evaluate the runs: rankscope.evaluate(qrels, runs, measures)",
        )
    return knowing(*scores.collection, scores.measures, allow_disjoint=True)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """What is certain about the pairs of runs under one measure; the first run of a pair is the better one."""

    measure: Measure
    means: Floats
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    difference: Floats
    ties: Verdicts
    unjudged: Verdicts
    topics: Verdicts
    together: Verdicts
    lowest: Floats
    p: Floats
    labels: NDArray[np.int64]
    effects: Effects | None
    every: bool
    """Whether these are all pairs."""
    topic_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        scores: Scores,
        judged: Judged,
        matrix: CompleteMatrix,
        baseline: str | None,
        *,
        alpha: float,
        test: str,
        correction: str,
        seed: int,
    ) -> _Pairs:
        measure, runs = matrix.measure, scores.runs
        merit = measure.merit(matrix.values)
        means = merit.mean(axis=1)
        first, second = _ordered(means, *_chosen(runs, baseline))
        done = run_test(test, matrix.values, first, second, alpha=alpha, seed=seed)
        apart = (adjust(done.p, correction) < alpha).astype(np.float64)
        difference = means[first] - means[second]
        where = np.array([judged.qrels.topic_index[topic] for topic in matrix.topics])
        extremes = tie_extremes(judged, measure, where)
        ties = tie_verdicts(extremes, first, second, difference)
        effects = effects_of(judged, measure, merit, where) if measure.better == "higher" else None
        if effects is not None:
            found = effects.reversals(first, second)
            lowest, proved, labels = found.lowest, found.proved, found.labels
            both = _jointly(judged, measure, merit, where, extremes, first, second, proved)
        else:
            low, high = _ranges(judged, measure, where, "break")
            lowest = proved = low.mean(axis=1)[first] - high.mean(axis=1)[second]
            labels = np.zeros(len(first), np.int64)
            both = proved
            if extremes.any_ties:
                worst, best = (
                    _ranges(judged, measure, where, "worst")[0],
                    _ranges(judged, measure, where, "best")[1],
                )
                both = worst.mean(axis=1)[first] - best.mean(axis=1)[second]
        unjudged = np.where(proved >= -SLACK, 1.0, np.where(labels > 0, 0.0, np.nan))
        equal = np.abs(difference) <= SLACK
        if effects is not None and equal.any():  # equal means: certain if neither can win
            other = effects.reversals(second[equal], first[equal])
            unjudged[equal] = np.fmin(unjudged[equal], np.where(other.proved >= -SLACK, 1.0, 0.0))
        refuted = (ties == 0) | (unjudged == 0) | (apart == 0)
        proved_both = (both >= -SLACK) & (apart == 1) & (ties == 1) & (unjudged == 1)
        together = np.where(proved_both, 1.0, np.where(refuted, 0.0, np.nan))
        return cls(
            measure, means, first, second, difference, ties, unjudged, apart, together, lowest, done.p, labels,
            effects, baseline is None, matrix.topics,
        )  # fmt: skip

    @property
    def _verdicts(self) -> tuple[Verdicts, ...]:
        return self.ties, self.unjudged, self.topics, self.together

    def rows(self, runs: Sequence[str]) -> list[tuple[Cell, ...]]:
        """One row for each pair."""
        equal = np.abs(self.difference) <= SLACK
        return list(
            zip(
                [runs[r] for r in self.first], [runs[r] for r in self.second], [str(self.measure)] * len(self.first),
                ["=" if same else ">" for same in equal.tolist()],
                *(list(map(_verdict, column.tolist())) for column in self._verdicts),
                self.difference.tolist(), self.lowest.tolist(), self.p.tolist(),
                [many or None for many in self.labels.tolist()],
                strict=True,
            )
        )  # fmt: skip

    def run_rows(self, scores: Scores, judged: Judged) -> list[tuple[Cell, ...]]:
        """The mean of each run with its range, and the ranks it can have as far as the pairs say."""
        wins = np.bincount(self.first[self.together == 1], minlength=len(self.means))
        losses = np.bincount(self.second[self.together == 1], minlength=len(self.means))
        where = np.array([judged.qrels.topic_index[topic] for topic in self.topic_names])
        low, high = _ranges(judged, self.measure, where, "break")
        if self.measure.better == "lower":
            low, high = -high, -low
        value = scores.mean(self.measure)
        many = len(self.means)
        return [
            (
                scores.runs[r], str(self.measure), float(value[r]),
                self.measure.mean(low[r]), self.measure.mean(high[r]),
                int(losses[r]) + 1 if self.every else None, many - int(wins[r]) if self.every else None,
            )
            for r in self.measure.best_first(value)
        ]  # fmt: skip

    def summary(self) -> tuple[Cell, ...]:
        """How many pairs are certain."""
        counts = [int((column == 1).sum()) for column in self._verdicts]
        return (str(self.measure), len(self.first), *counts, int(np.isnan(self.unjudged).sum()))

    def label_rows(self, runs: Sequence[str], judged: Judged) -> list[tuple[Cell, ...]]:
        """The labels that reverse each pair that labels can reverse."""
        if self.effects is None:
            return []
        best = judged.pool.max_grade
        return [
            (
                runs[a], runs[b], str(self.measure), self.topic_names[topic],
                to_text(judged.qrels.documents[document]), best,
            )
            for a, b, many in zip(self.first.tolist(), self.second.tolist(), self.labels.tolist(), strict=True)
            for topic, document in self.effects.labels(a, b, many)
        ]  # fmt: skip


def _verdict(value: float) -> bool | None:
    return None if np.isnan(value) else bool(value)


def _chosen(runs: Sequence[str], baseline: str | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if len(runs) < 2:
        raise InputError("one run has no order", hint="name at least two")
    if baseline is None:
        return all_pairs(len(runs))
    if baseline not in runs:
        hint = nearest(baseline, runs) or f"the runs are called {', '.join(runs[:3])} ..."
        raise InputError(f"no run is called {baseline!r}", hint=hint)
    against = runs.index(baseline)
    others = np.array([r for r in range(len(runs)) if r != against], dtype=np.intp)
    return others, np.full(len(others), against, dtype=np.intp)


def _ordered(
    means: Floats, a: NDArray[np.intp], b: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The better run of each pair first."""
    turned = means[a] < means[b]
    return np.where(turned, b, a), np.where(turned, a, b)


@dataclass(frozen=True, eq=False)
class Extremes:
    """The merit of every run and topic in the best and in the worst order of tied documents."""

    best: Floats
    worst: Floats
    exact: bool
    any_ties: bool


def tie_extremes(judged: Judged, measure: Measure, where: NDArray[np.int64]) -> Extremes:
    """The merit of every run on some topics in the best and in the worst order of its tied documents."""
    found = []
    exact = True
    for ties in ("best", "worst"):
        values, known = values_of(replace(judged, handling=Handling(ties)), [measure])
        exact = exact and (known is None or known.exact is None or bool(known.exact.all()))
        found.append(measure.merit(values[0][:, where]))
    return Extremes(found[0], found[1], exact, bool((found[0] != found[1]).any()))


def tie_verdicts(
    extremes: Extremes, first: NDArray[np.intp], second: NDArray[np.intp], difference: Floats
) -> Verdicts:
    """Of each pair, the better run first, whether its order is the same in all orders of tied documents."""
    least = extremes.worst.mean(axis=1)[first] - extremes.best.mean(axis=1)[second]
    most = extremes.best.mean(axis=1)[first] - extremes.worst.mean(axis=1)[second]
    kept = (least >= -SLACK) & ((np.abs(difference) > SLACK) | (most <= SLACK))
    return np.where(kept, 1.0 if extremes.exact else np.nan, 0.0)


def _ranges(judged: Judged, measure: Measure, where: NDArray[np.int64], ties: str) -> tuple[Floats, Floats]:
    """The lowest and the highest merit of every run and topic over all labels."""
    _, known = values_of(replace(judged, handling=Handling(ties, "bounds")), [measure])
    assert known is not None and known.lowest is not None and known.highest is not None
    low, high = known.lowest[0][:, where], known.highest[0][:, where]
    return (-high, -low) if measure.better == "lower" else (low, high)


def _jointly(
    judged: Judged,
    measure: Measure,
    merit: Floats,
    where: NDArray[np.int64],
    extremes: Extremes,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    proved: Floats,
) -> Floats:
    """A difference that labels and orders together do not go below.

    The worst order of the first run under labels has at least its worst value without them and, for every label, the
    weight at the end of the group of the document; the best order of the second one at most the weight at its head.
    """
    if not extremes.any_ties or judged.ties is None:
        return proved
    last = judged.ties.first + judged.ties.size - 1
    low = effects_of(judged, measure, extremes.worst, where, last)
    high = effects_of(judged, measure, extremes.best, where, judged.ties.first)
    assert low is not None and high is not None
    return low.bounds_against(high, first, second)
