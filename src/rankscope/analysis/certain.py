"""Is the order of the runs certain? What ties, unjudged documents and the sample of topics leave of a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.matrices import CompleteMatrix, complete, left_out, row_means
from rankscope.analysis.stats.significance import all_pairs, correction_for, procedure, run_test
from rankscope.certainty.documents import knowing, knows
from rankscope.certainty.pairs import SLACK, Differences, TopicHits, hits_by_topic, lowest_differences
from rankscope.certainty.values import values_of
from rankscope.certainty.witnesses import Label, reversing_labels
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.judging import EvaluationOptions, Judged
from rankscope.measures import Measure
from rankscope.read.ids import to_text
from rankscope.result import TableResult
from rankscope.scores import Collection, Scores, score
from rankscope.tables import Cell, Table

__all__ = [
    "Extremes",
    "certain",
    "evaluate_with_unjudged",
    "in_order_of_ids",
    "knowing_documents",
    "tie_extremes",
    "tie_verdicts",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Verdicts = NDArray[np.float64]
"""1: certain, 0: not certain, NaN: neither proved nor refuted."""

_WITH_LABELS = 1000
"""Pairs up to which the labels that reverse each are listed without being asked for."""

_PAIRS = (
    "a", "b", "measure", "order", "ties", "unjudged", "topics", "together", "difference", "lowest", "exact", "p",
    "labels",
)  # fmt: skip


def certain(
    scores: Scores,
    baseline: str | None = None,
    *,
    alpha: float = 0.05,
    test: str = "t",
    correction: str | None = None,
    labels: bool | None = None,
    seed: int = 1,
) -> TableResult:
    """Which pairs of runs have an order that nothing can reverse?

    The order of two runs by the mean of a measure is certain under ``ties`` if it is the same for all orders of
    documents with equal scores, under ``unjudged`` if it is the same for all labels of the unjudged documents, where a
    document has one label in both lists. ``topics`` is no proof: it says whether the difference is significant over
    the sample of topics (``test`` at level ``alpha`` with ``correction``, as in :func:`rankscope.compare`).
    ``together``: no labels and orders at once reverse the order, and the difference is significant. Each is true,
    false, or nothing where it is neither proved nor refuted.

    Labels are those of all unjudged documents that some run holds, because a relevant document changes the recall base
    and the ideal list for every run. ``lowest`` is the lowest difference over all labels; ``exact`` says whether it is
    reached, as for sums of gain times weight (P, RBP, DCG), nDCG, R, Rprec, RR and Success, and for every measure on
    topics with few unjudged documents, or is only a proved bound. Geometric means differ by logarithms.

    Tables: ``pairs``, ``a`` being the better run; ``runs``: the mean, its range over all labels, and the ranks that
    are possible; ``certainty``: how many pairs are certain, or significant. For up to 1,000 pairs, or if asked for,
    ``labels`` {a, b, measure, topic, doc, grade} has few labels that reverse a pair, found by evaluating the runs with
    them, the column ``labels`` of the pairs says how many, and ``ranges`` {a, b, measure, source, lowest, highest,
    exact} has the range of each difference over orders (``ties``), labels (``unjudged``) and both.

    >>> import rankscope as rs
    >>> runs = {"a": {"q": {"d1": 2.0, "x": 1.0}}, "b": {"q": {"d2": 2.0, "y": 1.0}}}
    >>> found = certain(rs.evaluate({"q": {"d1": 1, "d2": 0}}, runs, "P@2"))
    >>> [(row["a"], row["order"], row["b"], row["unjudged"], row["lowest"]) for row in found["pairs"].records()]
    [('a', '>', 'b', True, 0.0)]
    """
    correction = correction_for(test, correction)
    judged = knowing_documents(scores)
    scores = in_order_of_ids(scores, judged)
    matrices = [complete(scores, measure) for measure in scores.measures]
    n_pairs = len(matrices) * len(_chosen(scores.runs, baseline)[0])
    listed = labels if labels is not None else n_pairs <= _WITH_LABELS
    hits = hits_by_topic(judged)
    blocks = [
        _Pairs.of(
            scores, judged, hits, matrix, baseline, alpha=alpha, test=test, correction=correction, seed=seed,
            listed=listed,
        )
        for matrix in matrices
    ]  # fmt: skip
    pairs = [row for block in blocks for row in block.rows(scores.runs)]
    tables = [
        Table("pairs", _PAIRS, pairs),
        Table(
            "runs",
            ("run", "measure", "value", "lowest", "highest", "exact", "first_rank", "last_rank"),
            [row for block in blocks for row in block.run_rows(scores.runs)],
            caption="What each run may score, and the ranks that it may have",
        ),
        Table(
            "certainty",
            (
                "measure",
                "pairs",
                "ties",
                "unjudged",
                "significant",
                "together",
                "not_proved",
                "exact",
                "topics",
            ),
            # The schemas promise the former name of "significant", too.
            [(*row, row[4]) for row in (block.summary() for block in blocks)],
            caption="Pairs of runs whose order ties, or labels of unjudged documents, cannot reverse",
            legend=f"significant: {procedure(test, correction, alpha)} over topics, a test and no proof; together: all"
            " three; not_proved: neither proved nor refuted for labels",
        ),
    ]
    if listed:
        rows = [row for block in blocks for row in block.label_rows(scores.runs, judged)]
        tables.append(Table("labels", ("a", "b", "measure", "topic", "doc", "grade"), rows))
        rows = [row for block in blocks for row in block.range_rows(scores.runs)]
        tables.append(Table("ranges", ("a", "b", "measure", "source", "lowest", "highest", "exact"), rows))
    settings = {
        **scores.settings, "baseline": baseline, "alpha": alpha, "test": test, "correction": correction,
        "seed": seed, **left_out(matrices),
    }  # fmt: skip
    return TableResult.of(*tables, settings=settings, display=(tables[2].without(["topics"]), tables[1]))


def in_order_of_ids(scores: Scores, judged: Judged) -> Scores:
    """The scores of the order by document id: what ties leave open is asked for by itself."""
    said = {
        key: value for key, value in scores.settings.items() if key not in ("ties", "unjudged", "ties_seed")
    }
    missing = str(said.get("missing", "zero"))
    return score(
        replace(judged, options=EvaluationOptions()), scores.measures, missing=missing, settings=said
    )


def evaluate_with_unjudged(collection: Collection, measures: Sequence[Measure]) -> Scores:
    """Return scores for :func:`certain` and :func:`~rankscope.next`, for which files are read only once."""
    judged = knowing(collection.qrels, collection.runs, measures, jobs=collection.jobs)
    scores = score(
        replace(judged, options=EvaluationOptions()),
        measures,
        missing=collection.missing,
        settings=collection.settings,
    )
    return replace(scores, judged=judged, collection=collection)


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
    found = scores.collection
    return knowing(found.qrels, found.runs, scores.measures, allow_disjoint=True)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """What is certain about the pairs of runs under one measure; the first run of a pair is the better one."""

    measure: Measure
    matrix: CompleteMatrix
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    difference: Floats
    ties: Verdicts
    unjudged: Verdicts
    topics: Verdicts
    together: Verdicts
    lowest: Floats
    exact: NDArray[np.bool_]
    p: Floats
    labels: list[list[Label]]
    ranges: tuple[Differences, Differences]
    """The range of each run: the lowest merits, and the highest ones with the other sign."""
    limits: list[tuple[Differences, Differences]]
    """The same of each pair, over orders, over labels, and over both; empty if not asked for."""
    every: bool
    """Whether these are all pairs."""

    @classmethod
    def of(
        cls,
        scores: Scores,
        judged: Judged,
        hits: Sequence[TopicHits],
        matrix: CompleteMatrix,
        baseline: str | None,
        *,
        alpha: float,
        test: str,
        correction: str,
        seed: int,
        listed: bool,
    ) -> _Pairs:
        measure, runs = matrix.measure, scores.runs
        merits = _terms(measure)
        merit = merits(matrix.values)
        means = merit.mean(axis=1)
        first, second = _ordered(means, *_chosen(runs, baseline))
        done = run_test(test, matrix.values, first, second, correction=correction, alpha=alpha, seed=seed)
        apart = (done.adjusted < alpha).astype(np.float64)
        difference = means[first] - means[second]
        equal = np.abs(difference) <= SLACK
        joint = _Joint.of(judged, hits, matrix, merit)
        ties = tie_verdicts(joint.extremes, first, second, difference)
        ties[(ties == 1) & joint.has_undefined_ties] = np.nan
        # The other side is asked for where it may win from equal means, and for all pairs if their ranges are listed.
        pairs = np.arange(len(first))
        back = pairs if listed else np.flatnonzero(equal)
        none, every = np.full(len(runs), len(runs)), np.arange(len(runs))
        found, other, low, high = joint.lowest(
            (first, second), (second[back], first[back]), (every, none), (none, every), ties=False
        )
        unjudged = _verdicts(found, other, equal, equal[back])
        labels: list[list[Label]] = [[] for _ in first]
        if listed:
            some = np.flatnonzero((unjudged != 1) & (found.lowest < -SLACK))
            made = reversing_labels(judged, measure, joint.kept, merit, merits, first[some], second[some])
            for pair, mine in zip(some.tolist(), made, strict=True):
                labels[pair] = mine
                if mine:
                    unjudged[pair] = 0.0
        together = np.where((ties == 0) | (unjudged == 0) | (apart == 0), 0.0, np.nan)
        some = pairs if listed else np.flatnonzero(np.isnan(together))
        back = some[equal[some] | listed]
        both, turned = joint.lowest((first[some], second[some]), (second[back], first[back]), ties=True)
        decided = _verdicts(both, turned, equal[some], equal[back])
        together[some] = np.where(np.isnan(together[some]), decided, together[some])
        limits = [
            (joint.orders(first, second), joint.orders(second, first)), (found, other), (both, turned),
        ] if listed else []  # fmt: skip
        return cls(
            measure, matrix, first, second, difference, ties, unjudged, apart, together, found.lowest, found.exact,
            done.p, labels, (low, high), limits, baseline is None,
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
                self.difference.tolist(), list(map(_finite, self.lowest.tolist())), self.exact.tolist(),
                self.p.tolist(), [len(mine) or None for mine in self.labels],
                strict=True,
            )
        )  # fmt: skip

    def run_rows(self, runs: Sequence[str]) -> list[tuple[Cell, ...]]:
        """The mean of each run with its range, and the ranks it can have as far as the pairs say."""
        many = len(runs)
        wins = np.bincount(self.first[self.together == 1], minlength=many)
        losses = np.bincount(self.second[self.together == 1], minlength=many)
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
                bool(exact[r]), int(losses[r]) + 1 if self.every else None,
                many - int(wins[r]) if self.every else None,
            )
            for r in self.measure.best_first(value)
        ]  # fmt: skip

    def summary(self) -> tuple[Cell, ...]:
        """How many pairs are certain, and of how many the range over all labels is exact."""
        counts = [int((column == 1).sum()) for column in self._verdicts]
        not_proved = int(np.isnan(self.unjudged).sum())
        return (str(self.measure), len(self.first), *counts, not_proved, int(self.exact.sum()))

    def range_rows(self, runs: Sequence[str]) -> list[tuple[Cell, ...]]:
        """The range of the difference of each pair over orders, over labels, and over both."""
        rows: list[tuple[Cell, ...]] = []
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

    def label_rows(self, runs: Sequence[str], judged: Judged) -> list[tuple[Cell, ...]]:
        """The labels that reverse each pair that labels are known to reverse."""
        best = judged.pool.max_grade
        return [
            (
                runs[a], runs[b], str(self.measure), self.matrix.topics[topic],
                to_text(judged.qrels.documents[document]), best,
            )
            for a, b, mine in zip(self.first.tolist(), self.second.tolist(), self.labels, strict=True)
            for topic, document in mine
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Joint:
    """What labels and orders can do to the differences of runs under one measure."""

    judged: Judged
    measure: Measure
    kept: list[TopicHits]
    """The topics that means are taken over."""
    undefined: list[TopicHits]
    """The topics on which the measure is undefined for some run, although every run has them."""
    merit: Floats
    extremes: Extremes

    @classmethod
    def of(cls, judged: Judged, hits: Sequence[TopicHits], matrix: CompleteMatrix, merit: Floats) -> _Joint:
        where = np.array([judged.qrels.topic_index[topic] for topic in matrix.topics])
        present = np.asarray(judged.grid(judged.present).all(axis=0))
        extremes = tie_extremes(judged, matrix.measure, where)
        if matrix.measure.summary == "geometric mean":
            extremes = replace(extremes, best=np.log(extremes.best), worst=np.log(extremes.worst))
        gone = (judged.qrels.topic_index[topic] for topic in matrix.dropped)
        return cls(
            judged, matrix.measure, [hits[t] for t in where.tolist()], [hits[t] for t in gone if present[t]], merit,
            extremes,
        )  # fmt: skip

    @property
    def has_undefined_ties(self) -> bool:
        """Whether other orders may define what is undefined now."""
        return any(bool((one.last > one.first).any()) for one in self.undefined)

    def orders(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Differences:
        """The lowest differences of pairs over orders of tied documents alone."""
        low, high = self.extremes.worst.mean(axis=1), self.extremes.best.mean(axis=1)
        exact = self.extremes.exact and not self.has_undefined_ties
        difference = low[first] - high[second]
        return Differences(difference, np.isfinite(difference) & exact)

    def lowest(self, *sides: tuple[Ints, Ints], ties: bool) -> list[Differences]:
        """The lowest differences of several sets of pairs, the number of runs standing for none."""
        first, second = (np.concatenate(column) for column in zip(*sides, strict=True))
        none = np.zeros((len(self.merit), len(self.undefined)))
        ends = (self.extremes.worst, self.extremes.best) if ties else (self.merit, self.merit)
        found = lowest_differences(
            self.judged, self.measure, [*self.kept, *self.undefined],
            (np.hstack([ends[0], none]), np.hstack([ends[1], none])), first, second, ties=ties,
            is_undefined=np.arange(len(self.kept) + len(self.undefined)) >= len(self.kept),
        )  # fmt: skip
        if ties and not self.extremes.exact:  # the ends of a sample of orders prove nothing
            found = Differences(np.full(len(first), -np.inf), np.zeros(len(first), np.bool_))
        cuts = np.cumsum([len(side[0]) for side in sides])[:-1]
        columns = (np.split(column, cuts) for column in found)
        return [Differences(*part) for part in zip(*columns, strict=True)]


def _verdicts(
    found: Differences, other: Differences, equal: NDArray[np.bool_], other_equal: NDArray[np.bool_]
) -> Verdicts:
    """Whether no labels or orders reverse each pair; for equal means, neither in favour of the other run."""
    result = _proved(found)
    sides = np.stack([result[equal], _proved(other)[other_equal]])
    result[equal] = np.where((sides == 0).any(axis=0), 0.0, sides.mean(axis=0))
    return result


def _proved(found: Differences) -> Verdicts:
    return np.where(found.lowest >= -SLACK, 1.0, np.where(found.exact, 0.0, np.nan))


def _terms(measure: Measure) -> Callable[[Floats], Floats]:
    """What makes merits of values whose plain mean orders the runs."""
    if measure.summary == "geometric mean":
        return lambda values: measure.merit(np.log(values))
    return measure.merit


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _verdict(value: float) -> bool | None:
    return None if np.isnan(value) else bool(value)


def _chosen(runs: Sequence[str], baseline: str | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if len(runs) < 2:
        raise InputError("one run has no order", hint="name at least two")
    if baseline is None:
        return all_pairs(len(runs))
    if baseline not in runs:
        hint = suggest_names(baseline, runs) or f"the runs are called {', '.join(runs[:3])} ..."
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
        values, known = values_of(replace(judged, options=EvaluationOptions(ties)), [measure])
        exact = exact and (known is None or known.exact is None or bool(known.exact.all()))
        found.append(measure.merit(values[0][:, where]))
    return Extremes(found[0], found[1], exact, bool((found[0] != found[1]).any()))


def tie_verdicts(
    extremes: Extremes, first: NDArray[np.intp], second: NDArray[np.intp], difference: Floats
) -> Verdicts:
    """Of each pair, the better run first, whether its order is the same in all orders of tied documents."""
    with np.errstate(invalid="ignore"):
        least = extremes.worst.mean(axis=1)[first] - extremes.best.mean(axis=1)[second]
        most = extremes.best.mean(axis=1)[first] - extremes.worst.mean(axis=1)[second]
    kept = (least >= -SLACK) & ((np.abs(difference) > SLACK) | (most <= SLACK))
    proved = np.where(kept, 1.0 if extremes.exact else np.nan, 0.0)
    return np.where(np.isfinite(least) & np.isfinite(most), proved, np.nan)
