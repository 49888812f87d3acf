"""Certainty of pairs of runs under ties, labels of unjudged documents, and the sample of topics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.analysis import stats
from rankscope.analysis.compare import select_pairs
from rankscope.arrays import Bools, Floats, Indices, Ints
from rankscope.certainty.documents import EVERY, has_unjudged, is_small, with_unjudged
from rankscope.certainty.pairs import SLACK, Differences, TopicHits, lowest_differences
from rankscope.certainty.values import compute_values
from rankscope.certainty.witnesses import Label, reversing_labels
from rankscope.declaration import list_names
from rankscope.errors import InputError
from rankscope.judging import EvaluationOptions, Judged, judge
from rankscope.measures import Measure
from rankscope.read.collection import open_collection
from rankscope.read.ids import key_text, to_text
from rankscope.scores import Collection, Scores, score
from rankscope.tables import Cell

Verdicts = Floats
"""1: certain, 0: not certain, NaN: neither proved nor refuted."""
Rows = list[tuple[Cell, ...]]

REPLICATES = 1000
"""Bootstrap samples of the topics for the intervals of ranks."""


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
    plain = replace(judged, options=EvaluationOptions())
    return score(plain, scores.measures, missing=missing, settings=settings)


def without_options(scores: Scores, analysis: str) -> Scores:
    """Return the scores with the usual handling of tied and unjudged documents."""
    if not scores.require_judged(analysis).options.settings:
        return scores
    return score_in_id_order(scores, judge(*scores.require_collection(analysis).inputs))


def rank_interval(
    measure: Measure, values: Floats, alpha: float, seed: int, replicates: int = REPLICATES
) -> list[tuple[int, int]]:
    """Return the 1 - alpha confidence interval of the rank of each run over topics; ``values``: runs x topics."""
    terms, _ = measure.split_mean(values)
    means = stats.bootstrap_means(terms, replicates, seed)
    ends = stats.rank_intervals(measure.merit(terms), measure.merit(means), alpha)
    return list(zip(*(end.tolist() for end in ends), strict=True))


class CertainPairs:
    """Certainty of pairs of runs under one measure; the first run of a pair is the better one.

    Without judged rankings, only the test over topics is known. ``judges`` has the scores under further judgments,
    ``test`` the options of :func:`~rankscope.analysis.stats.significance.run_test`.
    """

    def __init__(
        self,
        scores: Scores,
        judged: Judged | None,
        hits: Sequence[TopicHits],
        matrix: stats.CompleteMatrix,
        baseline: str | None,
        judges: Sequence[Scores],
        *,
        is_listed: bool,
        **test: Any,
    ) -> None:
        self.runs, self.matrix, self.measure, self.judged = scores.runs, matrix, matrix.measure, judged
        self.is_complete = baseline is None  # Whether these are all pairs.
        merit = self._merits(matrix.values)
        means = merit.mean(axis=1)
        first, second = select_pairs(self.runs, list_names(baseline))
        is_turned = means[first] < means[second]
        self.first, self.second = np.where(is_turned, second, first), np.where(is_turned, first, second)
        self.difference = means[self.first] - means[self.second]
        self.is_equal = np.abs(self.difference) <= SLACK
        outcome = stats.run_test(values=matrix.values, first=self.first, second=self.second, **test)
        self.p, self.topics = outcome.p, (outcome.adjusted < test["alpha"]).astype(np.float64)
        # Confidence interval of the rank of each run over topics; a measure without a direction has none.
        self.rank_intervals: list[tuple[int | None, int | None]] = [(None, None)] * len(self.runs)
        if self.measure.better != "neither":
            values = scores.matrix(self.measure).values
            self.rank_intervals = [*rank_interval(self.measure, values, test["alpha"], test["seed"])]
        self.ties = self.unjudged = np.full(len(first), np.nan)
        self.together = np.where(self.topics == 0, 0.0, np.nan)
        self.labels: list[list[Label]] = [[] for _ in first]
        self.over_labels = Differences(self.ties, np.zeros(len(first), np.bool_))
        # Range of the merit of each run: the lowest merits, and the highest ones with the opposite sign.
        unbounded = Differences(np.full(len(self.runs), -np.inf), np.zeros(len(self.runs), np.bool_))
        self.ranges = [unbounded, unbounded]
        # Range of the difference of each pair over orders, over labels, and over both; empty unless listed.
        self.limits: list[tuple[Differences, Differences]] = []
        if judged is not None:
            self._bound(judged, hits, merit, is_listed)
        # Whether no further judge reverses the order.
        self.judges = np.ones(len(first), np.bool_) if judges else None
        for by_judge in judges:
            means = self._merits(stats.complete(by_judge, self.measure).values).mean(axis=1)
            difference = means[self.first] - means[self.second]
            is_other = np.where(self.is_equal, np.abs(difference) > SLACK, difference < -SLACK)
            self.judges &= ~is_other
            self.together[is_other] = 0.0

    def _merits(self, values: Floats) -> Floats:
        """Return the merits of values, whose arithmetic mean orders the runs."""
        return self.measure.merit(np.log(values) if self.measure.summary == "geometric mean" else values)

    def _bound(self, judged: Judged, hits: Sequence[TopicHits], merit: Floats, is_listed: bool) -> None:
        """Set the verdicts, labels and ranges that need rankings."""
        joint = _Joint(judged, hits, self.matrix, merit)
        first, second, is_equal = self.first, self.second, self.is_equal
        self.ties = tie_verdicts(joint.extremes, first, second, self.difference)
        self.ties[(self.ties == 1) & joint.has_undefined_ties] = np.nan
        # The opposite direction is needed for equal means, and for all pairs if their ranges are listed.
        pairs = np.arange(len(first))
        backward_pairs = pairs if is_listed else np.flatnonzero(is_equal)
        no_run, all_runs = np.full(len(self.runs), len(self.runs)), np.arange(len(self.runs))
        self.over_labels, backward, *self.ranges = joint.lowest(
            (first, second),
            (second[backward_pairs], first[backward_pairs]),
            (all_runs, no_run),
            (no_run, all_runs),
            ties=False,
        )
        self.unjudged = _verdicts(self.over_labels, backward, is_equal, is_equal[backward_pairs])
        if is_listed:
            selected = np.flatnonzero((self.unjudged != 1) & (self.over_labels.lowest < -SLACK))
            label_sets = reversing_labels(
                judged, self.measure, joint.kept, merit, self._merits, first[selected], second[selected]
            )
            for pair, labels in zip(selected.tolist(), label_sets, strict=True):
                self.labels[pair] = labels
                if labels:
                    self.unjudged[pair] = 0.0
        self.together[(self.ties == 0) | (self.unjudged == 0)] = 0.0
        selected = pairs if is_listed else np.flatnonzero(np.isnan(self.together))
        backward_pairs = selected[is_equal[selected] | is_listed]
        forward_tied, backward_tied = joint.lowest(
            (first[selected], second[selected]), (second[backward_pairs], first[backward_pairs]), ties=True
        )
        decided = _verdicts(forward_tied, backward_tied, is_equal[selected], is_equal[backward_pairs])
        earlier = self.together[selected]
        self.together[selected] = np.where(np.isnan(earlier), decided, earlier)
        if is_listed:
            by_order = joint.orders(first, second), joint.orders(second, first)
            self.limits = [by_order, (self.over_labels, backward), (forward_tied, backward_tied)]

    @property
    def _verdicts(self) -> tuple[Verdicts, ...]:
        return self.ties, self.unjudged, self.topics, self.together

    @cached_property
    def _names(self) -> list[tuple[str, str, str]]:
        """Runs and measure of each pair."""
        pairs = zip(self.first.tolist(), self.second.tolist(), strict=True)
        return [(self.runs[a], self.runs[b], str(self.measure)) for a, b in pairs]

    def rows(self) -> Rows:
        """Return one row per pair."""
        verdicts = ([None if np.isnan(v) else bool(v) for v in verdict] for verdict in self._verdicts)
        lowest, exact = (values.tolist() for values in self.over_labels)
        n_labels = [len(labels) or None for labels in self.labels]
        judges = [None] * len(n_labels) if self.judges is None else self.judges.tolist()
        columns = zip(
            self._names, self.is_equal.tolist(), zip(*verdicts, strict=True), self.difference.tolist(),
            map(_finite, lowest), exact, self.p.tolist(), n_labels, judges, strict=True,
        )  # fmt: skip
        return [
            (*names, "=" if is_equal else ">", *verdict, *more) for names, is_equal, verdict, *more in columns
        ]

    def run_rows(self) -> Rows:
        """Return mean, range, rank interval and possible ranks of each run, best first."""
        n_runs = len(self.runs)
        wins = np.bincount(self.first[self.together == 1], minlength=n_runs)
        losses = np.bincount(self.second[self.together == 1], minlength=n_runs)
        ends = [self.ranges[0].lowest, -self.ranges[1].lowest]
        if self.measure.better == "lower":
            ends = [-ends[1], -ends[0]]
        if self.measure.summary == "geometric mean":
            ends = [np.exp(end) for end in ends]
        elif self.measure.summary == "sum":
            ends = [end * len(self.matrix.topics) for end in ends]
        value = stats.row_means(self.measure, self.matrix.values)
        exact = self.ranges[0].exact & self.ranges[1].exact
        return [
            (
                self.runs[r], str(self.measure), float(value[r]), *(_finite(float(end[r])) for end in ends),
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
        unproved = not_proved, int(self.over_labels.exact.sum())
        return (str(self.measure), len(self.first), *counts, *unproved, counts[2], judges)

    def range_rows(self) -> Rows:
        """Return the range of the difference of each pair over orders, over labels, and over both."""
        rows: Rows = []
        for source, (low, high) in zip(("ties", "unjudged", "both"), self.limits, strict=False):
            ends = (map(_finite, end.tolist()) for end in (low.lowest, -high.lowest))
            columns = zip(self._names, *ends, (low.exact & high.exact).tolist(), strict=True)
            rows += [(*names, source, *more) for names, *more in columns]
        return rows

    def label_rows(self) -> Rows:
        """Return the labels that reverse a pair, for all pairs with known labels."""
        if self.judged is None:
            return []
        documents, best = self.judged.qrels.documents, self.judged.pool.max_grade
        return [
            (*names, self.matrix.topics[topic], to_text(documents[document]), best)
            for names, labels in zip(self._names, self.labels, strict=True)
            for topic, document in labels
        ]


def score_by_judges(scores: Scores, judges: Sequence[Any]) -> list[Scores]:
    """Return the scores of the same runs, measures and topics under the judgments of further judges."""
    if not judges:
        return []
    runs = scores.require_collection("the order under other judges").runs
    missing = str(scores.settings.get("missing", "zero"))
    scored = [score(judge(*open_collection(each, runs)), scores.measures, missing=missing) for each in judges]
    topics = {key_text(topic, "topic") for topic in scores.topics}
    common = [[topic for topic in own.topics if key_text(topic, "topic") in topics] for own in scored]
    if not all(common):
        raise InputError("a judge has none of the topics", hint="give judgments of the same topics")
    return [own.with_topics(shared) for own, shared in zip(scored, common, strict=True)]


class _Joint:
    """Effect of labels and orders, separately or jointly, on the differences of runs under one measure."""

    def __init__(
        self, judged: Judged, hits: Sequence[TopicHits], matrix: stats.CompleteMatrix, merit: Floats
    ) -> None:
        where, dropped = (
            [judged.qrels.topic_index[str(topic)] for topic in topics]
            for topics in (matrix.topics, matrix.dropped)
        )
        present = np.asarray(judged.grid(judged.present).all(axis=0))
        self.judged, self.measure, self.merit = judged, matrix.measure, merit
        self.kept = [hits[topic] for topic in where]
        # Topics that every run has, but on which the measure is undefined for some run.
        self.undefined = [hits[topic] for topic in dropped if present[topic]]
        self.extremes = find_tie_extremes(judged, matrix.measure, np.array(where))
        if matrix.measure.summary == "geometric mean":
            logs = np.log(self.extremes.best), np.log(self.extremes.worst)
            self.extremes = replace(self.extremes, best=logs[0], worst=logs[1])

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


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class Extremes:
    """Merit of every run and topic in the best and in the worst order of tied documents."""

    best: Floats
    worst: Floats
    exact: bool
    any_ties: bool


def find_tie_extremes(judged: Judged, measure: Measure, topics: Ints) -> Extremes:
    """Return the merit of every run on some topics in the best and in the worst order of its tied documents."""
    merits = []
    exact = True
    for ties in ("best", "worst"):
        values, uncertainty = compute_values(replace(judged, options=EvaluationOptions(ties)), [measure])
        exact = exact and (uncertainty is None or uncertainty.exact is None or bool(uncertainty.exact.all()))
        merits.append(measure.merit(values[0][:, topics]))
    return Extremes(merits[0], merits[1], exact, bool((merits[0] != merits[1]).any()))


def tie_verdicts(extremes: Extremes, first: Indices, second: Indices, difference: Floats) -> Verdicts:
    """Return whether all orders of tied documents give each pair, better run first, the same order."""
    with np.errstate(invalid="ignore"):
        lowest = extremes.worst.mean(axis=1)[first] - extremes.best.mean(axis=1)[second]
        highest = extremes.best.mean(axis=1)[first] - extremes.worst.mean(axis=1)[second]
    kept = (lowest >= -SLACK) & ((np.abs(difference) > SLACK) | (highest <= SLACK))
    proved = np.where(kept, 1.0 if extremes.exact else np.nan, 0.0)
    return np.where(np.isfinite(lowest) & np.isfinite(highest), proved, np.nan)
