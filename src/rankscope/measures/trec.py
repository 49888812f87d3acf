"""Measures that only trec_eval has, for its complete output.

Some are old, some were experiments; ``rankscope trec_eval`` prints them under trec_eval's own names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging.lists import Floats, Hits, Ints, Lists
from rankscope.judging.pool import Pool
from rankscope.measures.base import Binary, Measure, parameter, ratio
from rankscope.measures.classic import AP, Bpref, IPrec
from rankscope.measures.condensed import Condensable
from rankscope.measures.weighted import DCG, GradedGains

ORDER = 13
"""Position of these measures in listings."""

_MAX_GRADES = 100_000
_INFINITE = float("inf")


class _TrecMeasure(Measure, abstract=True):
    family = "trec_eval"
    reference = "trec_eval"


class RprecMult(Binary, _TrecMeasure):
    """R-precision at a multiple: precision at the rank that is a multiple of the number of relevant documents.

    RprecMult@m = hits(n) / n with n = m R + 0.9 truncated to a whole number

    User: Knows how many relevant documents there are and reads a multiple of them; gains the share that is relevant,
    and the reading costs nothing.
    """

    cutoff_rule = "required"
    cutoff_meaning = "multiple of the number of relevant documents"

    def cutoff_value(self, cutoff: float) -> float:
        if not 0 < cutoff < 2**31:
            raise self._error(f"cannot have the multiple {cutoff:g}", "write RprecMult@0.5, for example")
        return float(cutoff)

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.relevant(self.rel)
        depth = np.floor(self.cutoff * lists.recall_base(self.rel) + 0.9)
        return ratio(hits.sum(hits.rank <= depth[hits.list]), depth)


class RelP(Binary, _TrecMeasure):
    """Relative precision: precision in the first k, divided by the best that is possible there.

    RelP@k = hits(k) / min(k, R)

    User: Reads exactly k documents; gains the share that is relevant, compared with the best that k documents of this
    topic could give.
    """

    cutoff_rule = "required"

    def evaluate(self, lists: Lists) -> Floats:
        best = np.minimum(lists.recall_base(self.rel), self.cutoff)
        return ratio(lists.relevant(self.rel, self.cutoff).count, best)


class SetRelP(Binary, Condensable, _TrecMeasure):
    """Relative set precision: set precision, divided by the best that a set of this size can have.

    SetRelP = relevant retrieved / min(retrieved, R)

    User: Takes the whole answer without any order; gains its precision, compared with the best that a set of this size
    could have.
    """

    def evaluate(self, lists: Lists) -> Floats:
        best = np.minimum(lists.recall_base(self.rel), self.visible_lists(lists).retrieved(self.cutoff))
        return ratio(self.visible_lists(lists).relevant(self.rel, self.cutoff).count, best)


class SetAP(Binary, Condensable, _TrecMeasure):
    """Set average precision: set precision times set recall.

    SetAP = (relevant retrieved)^2 / (retrieved * R)

    User: Takes the whole answer without any order; gains its precision times its recall, so that it must be both pure
    and complete.
    """

    def evaluate(self, lists: Lists) -> Floats:
        n_relevant = self.visible_lists(lists).relevant(self.rel, self.cutoff).count
        n_retrieved = self.visible_lists(lists).retrieved(self.cutoff)
        return ratio(n_relevant * n_relevant, n_retrieved * lists.recall_base(self.rel))


class Utility(Binary, _TrecMeasure):
    """Utility: the value of a set in which every retrieved or missing document has a price.

    Utility = a * relevant retrieved + b * other retrieved + c * relevant missed + d * other documents not retrieved

    User: Takes the whole answer without any order; gains or pays a price for every relevant and non-relevant document
    in it, and for each that is missing.
    """

    range = (-_INFINITE, _INFINITE)
    cutoff_rule = "none"
    a: float = parameter(1.0, "worth of a relevant document retrieved")
    b: float = parameter(-1.0, "worth of another document retrieved")
    c: float = parameter(0.0, "worth of a relevant document missed")
    d: float = parameter(0.0, "worth of another document not retrieved")
    documents: int = parameter(0, "documents in the collection, for d", low=0)

    def evaluate(self, lists: Lists) -> Floats:
        n_relevant = lists.relevant(self.rel).count
        retrieved, base = lists.retrieved(), lists.recall_base(self.rel)
        outside = self.documents + n_relevant - retrieved - base
        in_list = self.a * n_relevant + self.b * (retrieved - n_relevant)
        return np.asarray(in_list + self.c * (base - n_relevant) + self.d * outside)


class AvgIPrec(Binary, _TrecMeasure):
    """Average interpolated precision: the mean of interpolated precision over levels of recall.

    AvgIPrec = mean over the levels r of IPrec@r;  the eleven levels 0, 0.1, ..., 1 unless set

    User: Reads until some share of all relevant documents is found, each of the levels being equally likely; gains the
    best precision from there on.
    """

    cutoff_rule = "none"
    levels: str = parameter("0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1", "levels of recall")
    rounding: str = parameter("nearest", "as for IPrec", choices=("nearest", "up"))

    def validate(self) -> None:
        self._points()

    def _points(self) -> list[IPrec]:
        try:
            levels = [float(level) for level in self.levels.split(",")]
        except ValueError:
            hint = "write levels='0.25,0.5,0.75', for example"
            raise self._error(f"cannot have levels={self.levels!r}", hint) from None
        return [IPrec(level, rel=self.rel, rounding=self.rounding) for level in levels]

    def evaluate(self, lists: Lists) -> Floats:
        points = self._points()
        total = np.zeros(len(lists))
        for point in reversed(points):
            total = total + point.evaluate(lists)
        return total / len(points)


class GMBpref(_TrecMeasure, Bpref):
    """Geometric mean binary preference: Bpref whose mean over topics stresses the worst ones.

    per topic max(Bpref, 0.00001); over topics the geometric mean

    User: The user of Bpref, whose gains are multiplied over topics rather than added, so that a topic on which nothing
    relevant is found lowers all others.
    """

    summary = "geometric mean"

    def evaluate(self, lists: Lists) -> Floats:
        return np.maximum(super().evaluate(lists), 0.00001)


class YAAP(_TrecMeasure, AP):
    """Yet another average precision: the log-odds of average precision, which averages better over topics.

    YAAP = log((1 + s) / (1 + R - s)) with s = sum over relevant documents of hits(rank) / rank

    User: The user of AP, whose gains are stretched at both ends before they are averaged over topics.
    """

    cutoff_rule = "none"
    range = (-_INFINITE, _INFINITE)
    reference = "Robertson 2012"

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.visible_lists(lists).relevant(self.rel)
        total = hits.sum(hits.ordinal / hits.rank)
        missing = np.maximum(lists.recall_base(self.rel) - total, 0.0)
        return np.asarray(np.log((1.0 + total) / (1.0 + missing)))


class Unjudged(_TrecMeasure):
    """Unjudged: the share of unjudged documents in the first k.

    Unjudged@k = documents without a judgment, or with a negative grade, in the first k / k

    User: None; the value describes the judgments, not the ranking.
    """

    cutoff_rule = "required"
    better = "neither"

    def evaluate(self, lists: Lists) -> Floats:
        return np.asarray((lists.retrieved(self.cutoff) - _judged(lists, self.cutoff).count) / self.cutoff)


class NumNonrelRet(Binary, _TrecMeasure):
    """Number of documents retrieved that were judged and are not relevant.

    retrieved documents of grade 0 up to below rel

    User: Reads everything that was retrieved; the cost is the number of documents judged not relevant.
    """

    summary = "sum"
    better = "neither"
    range = (0.0, _INFINITE)
    cutoff_rule = "none"

    def evaluate(self, lists: Lists) -> Floats:
        return np.asarray(_judged(lists, None).count - lists.relevant(self.rel).count, np.float64)


def _judged(lists: Lists, cutoff: int | None) -> Hits:
    """Return the judged hits; a negative grade marks a document as pooled but not judged."""
    hits = lists.hits(cutoff)
    return hits.where(hits.grade >= 0)


class BinG(Binary, _TrecMeasure):
    """Binary G: a relevant document counts less, the more others stand above it.

    BinG = 1/R * sum over relevant documents of 1 / log2(2 + number of other documents above)

    User: Wants many relevant documents, the first of them most; a relevant document gains less the more were found and
    the deeper it stands.
    """

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.relevant(self.rel, self.cutoff)
        return ratio(hits.sum(1.0 / np.log2(2.0 + hits.rank - hits.ordinal)), lists.recall_base(self.rel))


class _Prefixes:
    """Prefix sums of worth over the ideal ranking of each topic."""

    def __init__(self, hits: Hits, values: Any) -> None:
        self.count = hits.count
        self._start: Ints = np.cumsum(self.count) - self.count
        # A leading zero for each topic is the sum at depth 0.
        self._start += np.arange(len(self.count))
        self._totals = np.zeros(len(hits) + len(self.count))
        self._totals[self._start[hits.list] + hits.ordinal] = hits.before(values) + values

    def sum_to(self, topic: Any, depth: Any) -> Floats:
        """Return the worth of the first ``depth`` documents of the ideal ranking of each topic."""
        return np.asarray(self._totals[self._start[topic] + np.minimum(depth, self.count[topic])])


class G(_TrecMeasure, GradedGains):
    """G: gains weighted by how much better the ideal ranking had done so far.

    G = sum over documents of gain / log2(2 + C(i) - g(i)), divided by all gains of the topic
    g(i) = gains down to rank i;  C(i) = gains of the ideal ranking down to rank i, a rank counting at least 1

    User: Reads on while the ideal ranking would have given more; gains are discounted by the distance of the ranking
    behind the ideal one.
    """

    cutoff_rule = "none"

    def evaluate(self, lists: Lists) -> Floats:
        best = self.ideal(lists.pool)
        possible = self.gain(best.grade, lists.pool.max_grade)
        cost = _Prefixes(best, np.maximum(possible, 1.0))
        hits = self.gaining(lists)
        gain = self.gain(hits.grade, lists.pool.max_grade)
        topic = lists.topic[hits.list]
        passed = cost.sum_to(topic, hits.rank) + np.maximum(hits.rank - cost.count[topic], 0)
        lag = np.maximum(passed - (hits.before(gain) + gain), 0.0)
        return ratio(hits.sum(gain / np.log2(2.0 + lag)), lists.per_topic(best.sum(possible)))


class IdealDCG(_TrecMeasure, DCG):
    """Ideal DCG: the discounted cumulated gain of the ideal ranking.

    IdealDCG = DCG of all judged documents ordered by gain. Parameters as for DCG.

    User: The user of DCG, who reads the ideal ranking; the value is the maximum gain on the topic.
    """

    reference = "Jarvelin and Kekalainen 2002"
    better = "neither"  # It is the same for every list.

    def evaluate(self, lists: Lists) -> Floats:
        return np.array(lists.per_topic(self.evaluate_ideal(lists.pool)), np.float64)

    def residual(self, lists: Lists) -> Floats:
        hint = "use DCG@k or RBP"
        raise MeasureError("IdealDCG has no residual: it does not depend on the list", hint=hint)


class _NormalisedAtSeveralRanks(_TrecMeasure, DCG, abstract=True):
    """Means of nDCG at several ranks of one ranking."""

    range = (0.0, 1.0)
    cutoff_rule = "none"

    def worth(self, hits: Hits, pool: Pool) -> Floats:
        """Return the contribution of each hit to DCG."""
        return self.gain(hits.grade, pool.max_grade) * self.weight(hits.rank)

    def residual(self, lists: Lists) -> Floats:
        raise self._error("has no residual: its normalisation depends on the judgments", "use DCG@k")


class nDCG_rel(_NormalisedAtSeveralRanks):
    """nDCG at relevant documents: the mean of nDCG over the ranks where relevant documents stand.

    mean over all documents with a gain of DCG@i / DCG(ideal)@i at their ranks i;  one that is not retrieved
    counts with the DCG of the whole ranking / DCG of the whole ideal. Parameters as for DCG.

    User: The user of nDCG, who stops at each relevant document with the same probability; the gains at these ranks are
    averaged.
    """

    def evaluate(self, lists: Lists) -> Floats:
        best = self.ideal(lists.pool)
        ideal = _Prefixes(best, self.worth(best, lists.pool))
        hits = self.gaining(lists)
        worth = self.worth(hits, lists.pool)
        gaining = self.gain(hits.grade, lists.pool.max_grade) > 0
        ratio_at_rank = ratio(hits.before(worth) + worth, ideal.sum_to(lists.topic[hits.list], hits.rank))
        missed = lists.per_topic(best.count) - hits.sum(gaining)
        end = ratio(hits.sum(worth), lists.per_topic(best.sum(self.worth(best, lists.pool))))
        return ratio(
            hits.sum(np.where(gaining, ratio_at_rank, 0.0)) + missed * end, lists.per_topic(best.count)
        )


class RnDCG(Binary, _NormalisedAtSeveralRanks):
    """nDCG at the R levels: the mean of nDCG over the ranks where the ideal ranking steps down to a smaller gain.

    mean of nDCG@n over n = number of documents with the best gain, with one of the two best gains, ...
    and of nDCG of the whole ranking, if it goes on for more than one rank after the last of these.
    0 for a topic without a document of grade rel. Parameters as for DCG.

    User: The user of nDCG who stops where the ideal ranking steps down to a smaller gain; the gains at these ranks are
    averaged.
    """

    @property
    def sees_grades(self) -> bool:
        return True

    def evaluate(self, lists: Lists) -> Floats:
        best = self.ideal(lists.pool)
        ideal = _Prefixes(best, self.worth(best, lists.pool))
        hits = self.gaining(lists)
        worth = self.worth(hits, lists.pool)
        total, points = np.zeros(len(lists)), np.zeros(len(lists))
        for depth in self._steps(best, lists.pool):
            depths = lists.per_topic(depth)
            counts = depths > 0
            reached = hits.sum(np.where(hits.rank <= depths[hits.list], worth, 0.0))
            total = total + np.where(counts, ratio(reached, ideal.sum_to(lists.topic, depths)), 0.0)
            points = points + counts
        goes_on = lists.retrieved() > lists.per_topic(best.count) + 1
        end = ratio(hits.sum(worth), ideal.sum_to(lists.topic, lists.per_topic(best.count)))
        total, points = total + np.where(goes_on, end, 0.0), points + goes_on
        return np.where(lists.recall_base(self.rel) > 0, ratio(total, points), 0.0)

    def _steps(self, best: Hits, pool: Pool) -> list[Ints]:
        """Return, for each distinct gain in descending order, the number of documents of each topic with at least it.

        The number is 0 for topics without a document of exactly this gain.
        """
        gain = self.gain(best.grade, pool.max_grade)
        steps = []
        for level in sorted(set(gain.tolist()), reverse=True):
            up_to = np.bincount(best.list[gain >= level], minlength=len(pool))
            has_level = np.bincount(best.list[gain == level], minlength=len(pool)) > 0
            steps.append(np.where(has_level, up_to, 0))
        return steps


class TopicRBP(_TrecMeasure):
    """Rank-biased precision as in trec_eval 10: gains divided by the best one of the topic.

    TopicRBP = (1 - p) * sum over ranks i of r_i p^(i-1);  r_i = (gain_i - low) / (best - low)
    best = largest gain of the grades up to the topic's best one, low = 0 or the smallest gain if it is negative;
    gains that all lie between 0 and 1 are unchanged. gains as for DCG, but unjudged documents gain 0.

    User: The user of RBP, whose gains are divided by the best one that the topic has.
    """

    reference = "Moffat and Zobel 2008"
    cutoff_rule = "none"
    p: float = parameter(0.9, "probability of going on to the next rank", low=0, high=1)
    gains: str = parameter("linear", "as for DCG")

    def validate(self) -> None:
        DCG(gains=self.gains)

    def evaluate(self, lists: Lists) -> Floats:
        low, best = self._bounds(lists.pool)
        hits = lists.hits()
        hits = hits.where(hits.grade >= 0)
        topic = lists.topic[hits.list]
        gain = DCG(gains=self.gains).gain(hits.grade, lists.pool.max_grade)
        outside = ((low < 0) | (best > 1))[topic]
        gain = np.where(outside, ratio(gain - low[topic], (best - low)[topic]), gain)
        return (1.0 - self.p) * hits.sum(gain * self.p ** (hits.rank - 1.0))

    def _bounds(self, pool: Pool) -> tuple[Floats, Floats]:
        """Return the smallest and largest gain over the grades 0 up to the best one of each topic."""
        best_grade = np.full(len(pool), -1)
        np.maximum.at(best_grade, pool.topic, pool.grade)
        if pool.max_grade > _MAX_GRADES:
            hint = f"it enumerates all grades; the limit is {_MAX_GRADES:,}"
            raise self._error(f"meets grade {pool.max_grade}", hint)
        by_grade = DCG(gains=self.gains).gain(np.arange(pool.max_grade + 1), pool.max_grade)
        # Explicit gains apply to every topic, even without documents of their grades.
        named = [float(pair.split("=")[1]) for pair in self.gains.split(",") if "=" in pair]
        lowest, highest = min([0.0, *named]), max([0.0, *named])
        low = np.concatenate([[lowest], np.minimum.accumulate(np.minimum(by_grade, lowest))])
        best = np.concatenate([[highest], np.maximum.accumulate(np.maximum(by_grade, highest))])
        return low[best_grade + 1], best[best_grade + 1]


class RBPResidual(_TrecMeasure):
    """Residual of rank-biased precision: how much it could rise if all unjudged documents were relevant.

    RBPResidual = (1 - p) * sum over unjudged ranks i of p^(i-1) + p^n for a ranking of n;  0 if all of it is judged

    User: The user of RBP: the gain that unjudged documents could add.
    """

    reference = "Moffat and Zobel 2008"
    cutoff_rule = "none"
    better = "neither"  # It measures missing judgments, not quality.
    p: float = parameter(0.9, "probability of going on to the next rank", low=0, high=1)

    def evaluate(self, lists: Lists) -> Floats:
        hits = _judged(lists, None)
        judged_weight = hits.sum((1.0 - self.p) * self.p ** (hits.rank - 1.0))
        return np.where(hits.count < lists.retrieved(), 1.0 - judged_weight, 0.0)
