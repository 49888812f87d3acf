"""Certainty of pairs of runs under ties, labels of unjudged documents, and the sample of topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankscope.analysis.rank_changes import rank_interval
from rankscope.analysis.stats.matrices import CompleteMatrix, complete, row_means
from rankscope.analysis.stats.significance import all_pairs, run_test
from rankscope.arrays import Bools, Floats, Indices, Ints
from rankscope.certainty.documents import EVERY, has_unjudged, is_small, with_unjudged
from rankscope.certainty.pairs import SLACK, Differences, TopicHits, lowest_differences
from rankscope.certainty.values import compute_values
from rankscope.certainty.witnesses import Label, reversing_labels
from rankscope.declaration import check_run
from rankscope.errors import InputError
from rankscope.judging import EvaluationOptions, Judged, judge
from rankscope.measures import Measure
from rankscope.read.collection import open_collection
from rankscope.read.ids import to_text
from rankscope.read.runs import Runs
from rankscope.scores import Collection, Scores, score
from rankscope.tables import Cell

Verdicts = Floats
"""1: certain, 0: not certain, NaN: neither proved nor refuted."""
Rows = list[tuple[Cell, ...]]


def evaluate_with_unjudged(collection: Collection, measures: Sequence[Measure]) -> Scores:
    """Return scores for :func:`~rankscope.certain` and :func:`~rankscope.next`, for which files are read only once."""
    judged = with_unjudged(collection.qrels, collection.runs, measures, jobs=collection.jobs)
    scores = score(
        replace(judged, options=EvaluationOptions()),
        measures,
        missing=collection.missing,
        settings=collection.settings,
    )
    return replace(scores, judged=judged, collection=collection)


def judge_with_unjudged(scores: Scores, analysis: str) -> Judged:
    """Return the rankings of scores, with the ids of all unjudged documents that a measure can see."""
    judged = scores.require_judged(analysis)
    if has_unjudged(judged, scores.measures):
        return judged
    collection = scores.require_collection(analysis)
    depth = EVERY if is_small(judged) else 0
    return with_unjudged(collection.qrels, collection.runs, scores.measures, depth=depth, allow_disjoint=True)


def score_in_id_order(scores: Scores, judged: Judged) -> Scores:
    """Return the scores of the order by document id: other orders of tied documents are examined separately."""
    options = ("ties", "unjudged", "ties_seed")
    settings = {key: value for key, value in scores.settings.items() if key not in options}
    missing = str(settings.get("missing", "zero"))
    return score(
        replace(judged, options=EvaluationOptions()), scores.measures, missing=missing, settings=settings
    )


def without_options(scores: Scores, analysis: str) -> Scores:
    """Return the scores with the usual handling of tied and unjudged documents."""
    if not scores.require_judged(analysis).options.settings:
        return scores
    return score_in_id_order(scores, judge(*scores.require_collection(analysis).inputs))


@dataclass(frozen=True, eq=False)
class CertainPairs:
    """Certainty of pairs of runs under one measure; the first run of a pair is the better one."""

    measure: Measure
    matrix: CompleteMatrix
    first: Indices
    second: Indices
    difference: Floats
    ties: Verdicts
    unjudged: Verdicts
    topics: Verdicts
    together: Verdicts
    lowest: Floats
    exact: Bools
    p: Floats
    labels: list[list[Label]]
    ranges: tuple[Differences, Differences]
    """Range of the merit of each run: the lowest merits, and the highest ones with the opposite sign."""
    limits: list[tuple[Differences, Differences]]
    """Range of the difference of each pair over orders, over labels, and over both; empty unless listed."""
    is_complete: bool
    """Whether these are all pairs."""
    rank_intervals: list[tuple[int | None, int | None]]
    """Confidence interval of the rank of each run over topics; None if the measure has no direction."""
    judges: Verdicts | None = None
    """Whether all further judges give the same order."""

    @classmethod
    def from_matrix(
        cls,
        scores: Scores,
        judged: Judged | None,
        hits: Sequence[TopicHits],
        matrix: CompleteMatrix,
        baseline: str | None,
        *,
        alpha: float,
        test: str,
        correction: str,
        seed: int,
        is_listed: bool,
    ) -> CertainPairs:
        measure, runs = matrix.measure, scores.runs
        merits = _terms(measure)
        merit = merits(matrix.values)
        means = merit.mean(axis=1)
        first, second = _ordered(means, *choose_pairs(runs, baseline))
        outcome = run_test(test, matrix.values, first, second, correction=correction, alpha=alpha, seed=seed)
        topics_verdict = (outcome.adjusted < alpha).astype(np.float64)
        difference = means[first] - means[second]
        is_equal = np.abs(difference) <= SLACK
        intervals: list[tuple[int | None, int | None]] = [(None, None)] * len(runs)
        if measure.better != "neither":
            ends = rank_interval(measure, scores.matrix(measure).values, alpha, seed)
            intervals = list(zip(*(end.tolist() for end in ends), strict=True))
        labels: list[list[Label]] = [[] for _ in first]
        if judged is None:  # Without rankings, only the test over topics is known.
            unknown = np.full(len(first), np.nan)
            unbounded = Differences(np.full(len(runs), -np.inf), np.zeros(len(runs), np.bool_))
            return cls(
                measure, matrix, first, second, difference, unknown, unknown, topics_verdict,
                np.where(topics_verdict == 0, 0.0, np.nan), unknown, np.zeros(len(first), np.bool_), outcome.p, labels,
                (unbounded, unbounded), [], baseline is None, intervals,
            )  # fmt: skip
        joint = _Joint.from_matrix(judged, hits, matrix, merit)
        ties = tie_verdicts(joint.extremes, first, second, difference)
        ties[(ties == 1) & joint.has_undefined_ties] = np.nan
        # The opposite direction is needed for equal means, and for all pairs if their ranges are listed.
        pairs = np.arange(len(first))
        backward_pairs = pairs if is_listed else np.flatnonzero(is_equal)
        no_run, all_runs = np.full(len(runs), len(runs)), np.arange(len(runs))
        forward, backward, low, high = joint.lowest(
            (first, second),
            (second[backward_pairs], first[backward_pairs]),
            (all_runs, no_run),
            (no_run, all_runs),
            ties=False,
        )
        unjudged = _verdicts(forward, backward, is_equal, is_equal[backward_pairs])
        if is_listed:
            selected = np.flatnonzero((unjudged != 1) & (forward.lowest < -SLACK))
            label_sets = reversing_labels(
                judged, measure, joint.kept, merit, merits, first[selected], second[selected]
            )
            for pair, pair_labels in zip(selected.tolist(), label_sets, strict=True):
                labels[pair] = pair_labels
                if pair_labels:
                    unjudged[pair] = 0.0
        combined = np.where((ties == 0) | (unjudged == 0) | (topics_verdict == 0), 0.0, np.nan)
        selected = pairs if is_listed else np.flatnonzero(np.isnan(combined))
        backward_pairs = selected[is_equal[selected] | is_listed]
        forward_tied, backward_tied = joint.lowest(
            (first[selected], second[selected]), (second[backward_pairs], first[backward_pairs]), ties=True
        )
        decided = _verdicts(forward_tied, backward_tied, is_equal[selected], is_equal[backward_pairs])
        combined[selected] = np.where(np.isnan(combined[selected]), decided, combined[selected])
        limits = [
            (joint.orders(first, second), joint.orders(second, first)), (forward, backward),
            (forward_tied, backward_tied),
        ] if is_listed else []  # fmt: skip
        return cls(
            measure, matrix, first, second, difference, ties, unjudged, topics_verdict, combined, forward.lowest,
            forward.exact, outcome.p, labels, (low, high), limits, baseline is None, intervals,
        )  # fmt: skip

    @property
    def _verdicts(self) -> tuple[Verdicts, ...]:
        return self.ties, self.unjudged, self.topics, self.together

    def rows(self, runs: Sequence[str]) -> Rows:
        """Return one row per pair."""
        is_equal = np.abs(self.difference) <= SLACK
        return list(
            zip(
                [runs[r] for r in self.first], [runs[r] for r in self.second], [str(self.measure)] * len(self.first),
                ["=" if same else ">" for same in is_equal.tolist()],
                *(list(map(_verdict, column.tolist())) for column in self._verdicts),
                self.difference.tolist(), list(map(_finite, self.lowest.tolist())), self.exact.tolist(),
                self.p.tolist(), [len(pair_labels) or None for pair_labels in self.labels],
                [None] * len(self.first) if self.judges is None else (self.judges == 1).tolist(),
                strict=True,
            )
        )  # fmt: skip

    def run_rows(self, runs: Sequence[str]) -> Rows:
        """Return mean, range, rank interval and possible ranks of each run, best first."""
        n_runs = len(runs)
        wins = np.bincount(self.first[self.together == 1], minlength=n_runs)
        losses = np.bincount(self.second[self.together == 1], minlength=n_runs)
        ends = [self.ranges[0].lowest, -self.ranges[1].lowest]
        if self.measure.better == "lower":
            ends = [-ends[1], -ends[0]]
        if self.measure.summary == "geometric mean":
            ends = [np.exp(end) for end in ends]
        elif self.measure.summary == "sum":
            ends = [end * len(self.matrix.topics) for end in ends]
        value = row_means(self.measure, self.matrix.values)
        exact = self.ranges[0].exact & self.ranges[1].exact
        return [
            (
                runs[r], str(self.measure), float(value[r]), _finite(float(ends[0][r])), _finite(float(ends[1][r])),
                bool(exact[r]), *self.rank_intervals[r],
                int(losses[r]) + 1 if self.is_complete else None,
                n_runs - int(wins[r]) if self.is_complete else None,
            )
            for r in self.measure.best_first(value)
        ]  # fmt: skip

    def summary(self) -> tuple[Cell, ...]:
        """Return the number of pairs, of certain pairs by source, and of pairs whose range over labels is exact."""
        counts = [int((column == 1).sum()) for column in self._verdicts]
        not_proved = int(np.isnan(self.unjudged).sum())
        # The schemas promise "topics", the former name of "significant", too.
        judges = None if self.judges is None else int(self.judges.sum())
        unproved = not_proved, int(self.exact.sum())
        return (str(self.measure), len(self.first), *counts, *unproved, counts[2], judges)

    def range_rows(self, runs: Sequence[str]) -> Rows:
        """Return the range of the difference of each pair over orders, over labels, and over both."""
        rows: Rows = []
        for source, (low_side, high_side) in zip(("ties", "unjudged", "both"), self.limits, strict=True):
            lowest, highest, exact = low_side.lowest, -high_side.lowest, low_side.exact & high_side.exact
            rows += [
                (runs[a], runs[b], str(self.measure), source, _finite(low), _finite(high), is_exact)
                for a, b, low, high, is_exact in zip(
                    self.first.tolist(), self.second.tolist(), lowest.tolist(), highest.tolist(), exact.tolist(),
                    strict=True,
                )
            ]  # fmt: skip
        return rows

    def label_rows(self, runs: Sequence[str], judged: Judged) -> Rows:
        """Return the labels that reverse a pair, for all pairs with known labels."""
        best = judged.pool.max_grade
        return [
            (
                runs[a], runs[b], str(self.measure), self.matrix.topics[topic],
                to_text(judged.qrels.documents[document]), best,
            )
            for a, b, labels in zip(self.first.tolist(), self.second.tolist(), self.labels, strict=True)
            for topic, document in labels
        ]  # fmt: skip


def add_judges(
    blocks: Sequence[CertainPairs], scores: Scores, runs: Runs, judges: Sequence[Any]
) -> list[CertainPairs]:
    """Return the pairs with the verdicts of further judges: whether the means under each have the same order."""
    missing = str(scores.settings.get("missing", "zero"))
    verdicts = [np.ones(len(block.first)) for block in blocks]
    for judgments in judges:
        by_judge = score(judge(*open_collection(judgments, runs)), scores.measures, missing=missing)
        for block, verdict in zip(blocks, verdicts, strict=True):
            means = _terms(block.measure)(complete(by_judge, block.measure).values).mean(axis=1)
            difference = means[block.first] - means[block.second]
            is_equal = np.abs(block.difference) <= SLACK
            verdict[np.where(is_equal, np.abs(difference) > SLACK, difference < -SLACK)] = 0
    return [
        replace(block, judges=verdict, together=np.where(verdict == 0, 0.0, block.together))
        for block, verdict in zip(blocks, verdicts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Joint:
    """Effect of labels and orders, separately or jointly, on the differences of runs under one measure."""

    judged: Judged
    measure: Measure
    kept: list[TopicHits]
    """Topics that means are over."""
    undefined: list[TopicHits]
    """Topics that every run has, but on which the measure is undefined for some run."""
    merit: Floats
    extremes: Extremes

    @classmethod
    def from_matrix(
        cls, judged: Judged, hits: Sequence[TopicHits], matrix: CompleteMatrix, merit: Floats
    ) -> _Joint:
        where = np.array([judged.qrels.topic_index[str(topic)] for topic in matrix.topics])
        present = np.asarray(judged.grid(judged.present).all(axis=0))
        extremes = tie_extremes(judged, matrix.measure, where)
        if matrix.measure.summary == "geometric mean":
            extremes = replace(extremes, best=np.log(extremes.best), worst=np.log(extremes.worst))
        dropped = (judged.qrels.topic_index[str(topic)] for topic in matrix.dropped)
        return cls(
            judged, matrix.measure, [hits[t] for t in where.tolist()], [hits[t] for t in dropped if present[t]], merit,
            extremes,
        )  # fmt: skip

    @property
    def has_undefined_ties(self) -> bool:
        """Whether another order of tied documents may define a value that is undefined now."""
        return any(bool((topic_hits.last > topic_hits.first).any()) for topic_hits in self.undefined)

    def orders(self, first: Indices, second: Indices) -> Differences:
        """Return the lowest differences of pairs over orders of tied documents alone."""
        low, high = self.extremes.worst.mean(axis=1), self.extremes.best.mean(axis=1)
        exact = self.extremes.exact and not self.has_undefined_ties
        difference = low[first] - high[second]
        return Differences(difference, np.isfinite(difference) & exact)

    def lowest(self, *sides: tuple[Indices, Indices], ties: bool) -> list[Differences]:
        """Return the lowest differences of several sets of pairs; the index ``len(runs)`` stands for no run."""
        first, second = (np.concatenate(column) for column in zip(*sides, strict=True))
        no_run = np.zeros((len(self.merit), len(self.undefined)))
        ends = (self.extremes.worst, self.extremes.best) if ties else (self.merit, self.merit)
        differences = lowest_differences(
            self.judged, self.measure, [*self.kept, *self.undefined],
            (np.hstack([ends[0], no_run]), np.hstack([ends[1], no_run])), first, second, ties=ties,
            is_undefined=np.arange(len(self.kept) + len(self.undefined)) >= len(self.kept),
        )  # fmt: skip
        if ties and not self.extremes.exact:  # the ends of a sample of orders prove nothing
            differences = Differences(np.full(len(first), -np.inf), np.zeros(len(first), np.bool_))
        cuts = np.cumsum([len(side[0]) for side in sides])[:-1]
        columns = (np.split(column, cuts) for column in differences)
        return [Differences(*part) for part in zip(*columns, strict=True)]


def _verdicts(forward: Differences, backward: Differences, equal: Bools, other_equal: Bools) -> Verdicts:
    """Return whether no labels or orders reverse each pair; with equal means, neither run may win."""
    result = _to_verdicts(forward)
    sides = np.stack([result[equal], _to_verdicts(backward)[other_equal]])
    result[equal] = np.where((sides == 0).any(axis=0), 0.0, sides.mean(axis=0))
    return result


def _to_verdicts(differences: Differences) -> Verdicts:
    return np.where(differences.lowest >= -SLACK, 1.0, np.where(differences.exact, 0.0, np.nan))


def _terms(measure: Measure) -> Callable[[Floats], Floats]:
    """Return a function from values to merits, whose arithmetic mean orders the runs."""
    if measure.summary == "geometric mean":
        return lambda values: measure.merit(np.log(values))
    return measure.merit


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _verdict(value: float) -> bool | None:
    return None if np.isnan(value) else bool(value)


def choose_pairs(runs: Sequence[str], baseline: str | None) -> tuple[Indices, Indices]:
    """Return the indices of the first and of the second run of all pairs, or of those with the baseline."""
    if len(runs) < 2:
        raise InputError("one run has no order", hint="name at least two")
    if baseline is None:
        return all_pairs(len(runs))
    check_run(baseline, runs)
    against = runs.index(baseline)
    others = np.array([r for r in range(len(runs)) if r != against], dtype=np.intp)
    return others, np.full(len(others), against, dtype=np.intp)


def _ordered(means: Floats, a: Indices, b: Indices) -> tuple[Indices, Indices]:
    """Return the pairs with the better run first."""
    turned = means[a] < means[b]
    return np.where(turned, b, a), np.where(turned, a, b)


@dataclass(frozen=True, eq=False)
class Extremes:
    """Merit of every run and topic in the best and in the worst order of tied documents."""

    best: Floats
    worst: Floats
    exact: bool
    any_ties: bool


def tie_extremes(judged: Judged, measure: Measure, where: Ints) -> Extremes:
    """Return the merit of every run on some topics in the best and in the worst order of its tied documents."""
    merits = []
    exact = True
    for ties in ("best", "worst"):
        values, uncertainty = compute_values(replace(judged, options=EvaluationOptions(ties)), [measure])
        exact = exact and (uncertainty is None or uncertainty.exact is None or bool(uncertainty.exact.all()))
        merits.append(measure.merit(values[0][:, where]))
    return Extremes(merits[0], merits[1], exact, bool((merits[0] != merits[1]).any()))


def tie_verdicts(extremes: Extremes, first: Indices, second: Indices, difference: Floats) -> Verdicts:
    """Return whether all orders of tied documents give each pair, better run first, the same order."""
    with np.errstate(invalid="ignore"):
        lowest = extremes.worst.mean(axis=1)[first] - extremes.best.mean(axis=1)[second]
        highest = extremes.best.mean(axis=1)[first] - extremes.worst.mean(axis=1)[second]
    kept = (lowest >= -SLACK) & ((np.abs(difference) > SLACK) | (highest <= SLACK))
    proved = np.where(kept, 1.0 if extremes.exact else np.nan, 0.0)
    return np.where(np.isfinite(lowest) & np.isfinite(highest), proved, np.nan)
