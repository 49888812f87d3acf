"""Gain cumulated without a discount, and the older measures of order that CRP is compared with.

Angelini et al. (2012) compare CRP with normalised recall, the sliding ratio, satisfaction-frustration-total and
cumulated gain. All of them depend on the order of documents; none measures the distance of a document from its rank in
the ideal ranking.
"""

from __future__ import annotations

import numpy as np

from rankscope.arrays import AnyArray, Floats
from rankscope.judging.lists import Hits, Lists
from rankscope.measures.base import Binary, parameter, ratio
from rankscope.measures.weighted import CumulatedGain, GradedGains, Normalised

ORDER = 6
"""Position of these measures in listings."""

_SLACK = 1e-12


class CG(CumulatedGain):
    """Cumulated gain: the gains of the first k documents added up, whatever their rank.

    CG@k = sum over ranks i <= k of gain(grade_i);  gains as for DCG

    User: Reads exactly k documents with the same attention; gains their grades, added up, and nothing costs.
    """

    range = (0.0, float("inf"))
    reference = "Jarvelin and Kekalainen 2002"

    def weight(self, rank: AnyArray) -> Floats:
        return np.ones(len(rank))


class nCG(Normalised, CG):
    """Normalised cumulated gain: CG divided by that of the ideal ranking of the topic.

    nCG@k = CG@k / CG@k(ideal): the ideal orders all judged documents by gain and is cut at the same rank;
    0 for a topic without relevant documents. Gains as for DCG.

    User: The user of CG, whose gain is compared with that of the ideal ranking of all judged documents.
    """


class NR(Binary):
    """Normalised recall: the share of pairs of a relevant and a non-relevant document that are in the right order.

    NR = 1 - (sum of the ranks of the RB relevant documents - RB (RB + 1) / 2) / (RB (N - RB))
       = sum over retrieved relevant documents of max(0, N - RB - non-relevant documents above it) / (RB (N - RB))
    Relevant documents that are not retrieved stand at the end of N = max(N, 2 RB) ranks; 0 for a topic without
    relevant documents

    User: Reads the whole ranking down to the last relevant document; every pair of a non-relevant document above a
    relevant one costs the same, wherever it stands.
    """

    reference = "Rocchio 1966, Salton and McGill 1983"
    cutoff_meaning = "N, the length at which lists are evaluated"
    default_cutoff = 1000

    def evaluate(self, lists: Lists) -> Floats:
        hits, base = lists.relevant(self.rel, self.cutoff), lists.recall_base(self.rel)
        others = np.maximum(self.cutoff, 2 * base) - base
        below = np.maximum(0, others[hits.list] - (hits.rank - hits.ordinal))
        return ratio(hits.sum(below), base * others)


class _OwnOrder(GradedGains, abstract=True):
    """Base class of measures that compare a ranking with other orders of its own documents."""

    def validate(self) -> None:
        super().validate()
        gain_by_grade = self._gain_of_grades()
        if min(gain_by_grade.values(), default=0) < 0:
            raise self._error(f"cannot have the negative gains {self.gains!r}", "gains must not be negative")
        if gain_by_grade.get(0, 0) != 0:
            raise self._error("needs gain 0 for non-relevant documents", "leave out grade 0, or give it 0")

    def _hits_with_gain(self, lists: Lists, cutoff: int | None) -> tuple[Hits, Floats]:
        """Return the hits with a positive gain down to a rank, and their gains."""
        hits = lists.relevant(1, cutoff)
        gain = self.gain(hits.grade, lists.pool.max_grade)
        return hits.where(gain > 0), gain[gain > 0]


class SR(_OwnOrder):
    """Sliding ratio: the gain of the first k documents, divided by that of the best order of the retrieved documents.

    SR@k = CG@k / CG@k of the retrieved documents in the order of their gains;  0 if nothing relevant is retrieved
    It depends on the documents below k: retrieved=n considers the first n documents of every ranking

    User: Reads exactly k documents; gains their grades, compared with those of the same ranking in its best order.
    """

    reference = "Pollock 1968, Korfhage 1997"
    cutoff_rule = "required"
    cutoff_meaning = "the rank at which the ratio is read"
    retrieved: int = parameter(0, "number of documents that count as retrieved; 0: all", low=0)

    def evaluate(self, lists: Lists) -> Floats:
        hits, gain = self._hits_with_gain(lists, self.retrieved or None)
        best = hits.sum(np.where(hits.ordinal <= self.cutoff, hits.descending(gain), 0.0))
        return ratio(hits.sum(np.where(hits.rank <= self.cutoff, gain, 0.0)), best)


class SFT(_OwnOrder):
    """Satisfaction-frustration-total: how early the relevant documents of a ranking come, and how late the others.

    satisfaction S = (s - worst) / (best - worst),  s = sum over relevant documents of gain (n + 1 - rank)
    frustration F the same for non-relevant documents with gain 1; part=frustration returns 1 - F, so that 1 is best
    total = weight S + (1 - weight) (1 - F)
    best and worst are over all orders of the n documents of the ranking (down to k);  S = 1 and F = 0 if all orders
    are equal, but S = 0 and F = 1 for a ranking without relevant documents. With equal gains 1 - F = S

    User: Reads the whole ranking; is satisfied by relevant documents that come early and frustrated by non-relevant
    ones that do, and weighs the two against each other.
    """

    reference = "Myaeng and Korfhage 1990, as described by Angelini et al. 2012; the normalisation is ours"
    part: str = parameter(
        "total",
        "quantity to measure: total, satisfaction, or (as 1 - F) frustration",
        choices=("total", "satisfaction", "frustration"),
    )
    weight: float = parameter(0.5, "weight of satisfaction in the total", low=0, high=1)

    def evaluate(self, lists: Lists) -> Floats:
        hits, gain = self._hits_with_gain(lists, self.cutoff)
        size = lists.retrieved(self.cutoff)
        satisfaction = _relative_order(hits, gain, size)
        calmness = _relative_order(hits, np.ones(len(gain)), size)
        if self.part != "total":
            return satisfaction if self.part == "satisfaction" else calmness
        return self.weight * satisfaction + (1 - self.weight) * calmness


def _relative_order(hits: Hits, gain: Floats, size: AnyArray) -> Floats:
    """Return the position of each ranking between the worst (0) and the best (1) order of its documents.

    The best has the largest gains on the first ranks, the worst has them on the last ones, the largest at the end.
    """
    sorted_gain, total = hits.descending(gain), (size + 1) * hits.sum(gain)
    value = total - hits.sum(gain * hits.rank)
    worst = hits.sum(sorted_gain * hits.ordinal)
    best = total - worst
    width = best - worst
    is_constant = width <= _SLACK * best
    relative = np.clip(ratio(value - worst, np.where(is_constant, 0.0, width)), 0, 1)
    return np.where(is_constant, hits.count > 0, relative)
