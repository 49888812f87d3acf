"""Measures for topics with several aspects: whether every aspect is covered, early and without redundancy.

All evaluate lists aspect by aspect (:mod:`rankscope.judging.aspects`). Aspects to which no document is
relevant do not count; m is the number of the others. Judgments without aspects are a topic with one aspect.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankscope.arrays import AnyArray, Floats
from rankscope.judging.lists import Lists
from rankscope.measures.arithmetic import log2
from rankscope.measures.base import Measure, parameter, ratio, threshold, weights_down_to
from rankscope.measures.classic import ERR
from rankscope.measures.composed import Composed
from rankscope.measures.condensed import Condensable
from rankscope.measures.ideal import Redundancy, Satisfaction, ideal_lists

_REL = "lowest grade that counts as relevant to an aspect"
_ALPHA = "redundancy intolerance: each document of an aspect has 1 - alpha times the worth of the one before"
_PRESET = "definition: as printed in the papers; ndeval: as TREC's ndeval prints it"

ORDER = 4
"""Position of these measures in listings."""


class Diversity(Measure, abstract=True):
    """A measure over aspects."""

    family = "diversity"
    needs_aspects = True


class StRec(Diversity):
    """Subtopic recall: the share of aspects that the first k documents cover.

    StRec@k = aspects with a relevant document in the first k / m

    User: Wants every aspect of the topic touched once and reads exactly k documents; gains an aspect with its first
    relevant document, and nothing with further ones.
    """

    aliases = ("StRecall", "strec")
    reference = "Zhai, Cohen and Lafferty 2003"
    rel: int = threshold(_REL)

    def evaluate(self, lists: Lists) -> Floats:
        is_covered = lists.by_aspect.lists.relevant(self.rel, self.cutoff).count > 0
        counted = lists.pool.aspects_counted(self.rel)
        return lists.by_aspect.sum_pairs(is_covered, ratio(counted, counted.sum(axis=0)))


class IA(Composed, Diversity):
    """Intent-aware measure: the mean over aspects of any measure, each aspect evaluated as a topic of its own.

    M_IA = sum over aspects a of p_a M_a;  p_a = 1/m unless the judgments carry weights
    write IA(measure='nDCG')@10; the cutoff applies to the inner measure

    User: A crowd of users who each want one aspect, in proportion to its weight; each gains the value of the inner
    measure for that aspect, and the gains are averaged.
    """

    aliases = ()
    reference = "Agrawal, Gollapudi, Halverson and Ieong 2009"
    range = (-float("inf"), float("inf"))
    inner_rule = "the inner measure already uses aspects"
    measure: str = parameter("AP", "measure evaluated for each aspect, such as 'RBP(p=0.5)'")

    def evaluate(self, lists: Lists) -> Floats:
        values = self.inner().evaluate(lists.by_aspect.lists)
        return lists.by_aspect.sum_pairs(values, lists.pool.aspect_weights())


class AP_IA(Condensable, Diversity):
    """Intent-aware average precision: the mean over aspects of average precision.

    AP_IA = sum over aspects a of p_a AP_a;  AP_a divides by all documents relevant to a

    User: A crowd of users of AP who each want one aspect; the gains are averaged over the crowd, so that a second
    document of one aspect may be worth more than the first of another.
    """

    aliases = ("MAP_IA",)
    reference = "Agrawal, Gollapudi, Halverson and Ieong 2009"
    rel: int = threshold(_REL)

    def evaluate(self, lists: Lists) -> Floats:
        lists = self.visible_lists(lists)
        hits = lists.by_aspect.lists.relevant(self.rel, self.cutoff)
        weights = lists.pool.aspect_weights(self.rel)
        base = lists.pool.by_aspect.recall_base(self.rel).reshape(weights.shape)
        return lists.by_aspect.sum_hits(hits, hits.ordinal / hits.rank, ratio(weights, base))


class P_IA(Condensable, Diversity):
    """Intent-aware precision: the mean over aspects of precision in the first k.

    P_IA@k = sum over aspects a of p_a hits_a(k) / k

    User: A crowd of users who each want one aspect and read exactly k documents; gains the mean share that is relevant
    to them.
    """

    cutoff_rule = "required"
    reference = "Agrawal, Gollapudi, Halverson and Ieong 2009"
    rel: int = threshold(_REL)

    def evaluate(self, lists: Lists) -> Floats:
        lists = self.visible_lists(lists)
        hits = lists.by_aspect.lists.relevant(self.rel, self.cutoff)
        weights = lists.pool.aspect_weights(self.rel)
        return np.asarray(lists.by_aspect.sum_pairs(hits.count, weights) / self.cutoff)


class _Redundancy(Condensable, Diversity, abstract=True):
    """Measures of the form sum over ranks i of w(i) * sum over aspects of (1 - alpha)^(earlier documents of it)."""

    rel: int = threshold(_REL)
    alpha: float = parameter(0.5, _ALPHA, low=0, high=1)

    def weight(self, rank: AnyArray) -> Floats:
        """Return the weight of each rank."""
        raise TypeError(f"{self.name} defines no weights")

    def total(self, lists: Lists) -> Floats:
        """Return the sum over ranks, not normalised."""
        hits = lists.by_aspect.lists.relevant(self.rel, self.cutoff)
        remaining = hits.at_ordinal(lambda ordinal: (1.0 - self.alpha) ** (ordinal - 1.0))
        counted = lists.pool.aspects_counted(self.rel).astype(np.float64)
        return lists.by_aspect.sum_hits(hits, hits.at_rank(self.weight) * remaining, counted)

    def rank_weights(self, depth: int) -> Floats | None:
        return None if self.judged_only else weights_down_to(depth, self.weight, self.cutoff)

    def ideal(self, lists: Lists) -> Lists:
        """Return the greedy ideal ranking of every topic."""
        return ideal_lists(lists.pool, Redundancy(self.rel, self.alpha), depth=self.cutoff)

    def perfect(self, cutoff: int) -> float:
        """Return the total of documents relevant to every aspect, divided by the number of aspects."""
        # ndeval does not normalise at rank 1.
        ranks = np.arange(1, cutoff + 1)
        return float((self.weight(ranks) * (1 - self.alpha) ** (ranks - 1.0)).sum()) if cutoff > 1 else 0.0


_NDEVAL_DEPTH = 20


class alpha_DCG(_Redundancy):
    """Novelty-biased discounted cumulated gain: gain shrinks for aspects already covered.

    alpha_DCG = sum over ranks i of 1 / log2(1 + i) * sum over aspects a of rel(i, a) (1 - alpha)^n
    n = documents relevant to a above rank i;  preset ndeval divides it by that of documents relevant to all
    m aspects (not at k = 1) and takes k = 20 unless set

    User: Reads on with an interest that fades with the logarithm of the rank and wants all aspects; each further
    document of an aspect gains 1 - alpha of what the one before gained.
    """

    aliases = ("alpha_dcg", "α_DCG")
    range = (0.0, float("inf"))
    reference = "Clarke et al. 2008"
    preset: str = parameter("definition", _PRESET, choices=("definition", "ndeval"))

    def weight(self, rank: AnyArray) -> Floats:
        return 1.0 / log2(rank + 1.0)  # type: ignore[no-any-return]

    def evaluate(self, lists: Lists) -> Floats:
        return _apply_preset(self, self.visible_lists(lists))


def _apply_preset(measure: Any, lists: Lists) -> Floats:
    """Return the total of a measure; with the preset ndeval divided by ndeval's upper bound."""
    if measure.preset == "definition":
        return np.asarray(measure.total(lists))
    cut = measure if measure.cutoff is not None else measure @ _NDEVAL_DEPTH
    perfect = measure.perfect(cut.cutoff)
    aspects = lists.per_topic(lists.pool.aspects_counted(measure.rel).sum(axis=0))
    return ratio(cut.total(lists), aspects * perfect) if perfect else np.asarray(cut.total(lists))


class alpha_nDCG(_Redundancy):
    """Normalised alpha_DCG: alpha_DCG divided by that of the ideal ranking.

    alpha_nDCG@k = alpha_DCG@k / alpha_DCG@k(ideal);  the ideal takes at every rank the document that gains most
    (ties: larger document id); greedy is not always best, so that a ranking can score slightly above 1

    User: The user of alpha_DCG, whose gain is compared with that of a greedily built ideal ranking.
    """

    aliases = ("alpha_ndcg", "aNDCG", "α_nDCG")
    range = (0.0, float("inf"))
    reference = "Clarke et al. 2008"
    weight = alpha_DCG.weight

    def evaluate(self, lists: Lists) -> Floats:
        return ratio(self.total(self.visible_lists(lists)), lists.per_topic(self.total(self.ideal(lists))))


class NRBP(_Redundancy):
    """Novelty- and rank-biased precision: alpha_DCG's gains, read by the patient user of RBP.

    NRBP = (1 - (1 - alpha) beta) / m * sum over ranks i of beta^(i-1) * sum over aspects a of rel(i, a) (1 - alpha)^n

    User: Goes on to the next rank with probability beta and wants all aspects; each further document of an aspect gains
    1 - alpha of what the one before gained.
    """

    reference = "Clarke, Kolla and Vechtomova 2009"
    beta: float = parameter(0.5, "patience: the probability of going on to the next rank", low=0, high=1)

    def weight(self, rank: AnyArray) -> Floats:
        return self.beta ** (rank - 1.0)

    def evaluate(self, lists: Lists) -> Floats:
        aspects = lists.per_topic(lists.pool.aspects_counted(self.rel).sum(axis=0))
        total = self.total(self.visible_lists(lists))
        total *= 1 - (1 - self.alpha) * self.beta  # in place: in the laboratory there are millions of lists
        return ratio(total, aspects)


class nNRBP(NRBP):
    """Normalised NRBP: NRBP divided by that of the ideal ranking.

    nNRBP = NRBP / NRBP(ideal);  the ideal as for alpha_nDCG

    User: The user of NRBP, whose gain is compared with that of a greedily built ideal ranking.
    """

    range = (0.0, float("inf"))
    reference = "Clarke, Craswell, Soboroff and Ashkan 2011"

    def evaluate(self, lists: Lists) -> Floats:
        return ratio(self.total(self.visible_lists(lists)), lists.per_topic(self.total(self.ideal(lists))))


class ERR_IA(Condensable, Diversity):
    """Intent-aware expected reciprocal rank: the mean over aspects of ERR.

    ERR_IA = sum over aspects a of p_a ERR_a;  max_grade is the best grade of the collection unless set
    preset ndeval: grades above 1 become 1, each document leaves 1 - alpha, the sum is divided by that of documents
    relevant to all m aspects (not at k = 1), and k = 20 unless set

    User: A crowd of users of ERR who each want one aspect and stop when it is satisfied; the reciprocal ranks where
    they stop are averaged.
    """

    reference = "Chapelle, Metzler, Zhang and Grinspan 2009"
    rel: int = threshold("preset ndeval only: " + _REL)
    max_grade: int = parameter(0, "best grade possible; 0 takes it from the judgments", low=0)
    alpha: float = parameter(0.5, "preset ndeval only: " + _ALPHA, low=0, high=1)
    preset: str = parameter("definition", _PRESET, choices=("definition", "ndeval"))

    @property
    def sees_grades(self) -> bool:
        return self.preset == "definition"

    def evaluate(self, lists: Lists) -> Floats:
        lists = self.visible_lists(lists)
        if self.preset == "ndeval":
            return _apply_preset(_ReciprocalRanks(self.cutoff, rel=self.rel, alpha=self.alpha), lists)
        values = ERR(self.cutoff, max_grade=self.max_grade).evaluate(lists.by_aspect.lists)
        return lists.by_aspect.sum_pairs(values, lists.pool.aspect_weights())


class _ReciprocalRanks(_Redundancy, abstract=True):
    """ndeval's cascade for ERR-IA: the gains of alpha_DCG, divided by the rank."""

    name = "ERR_IA"
    preset: ClassVar[str] = "ndeval"

    def weight(self, rank: AnyArray) -> Floats:
        return 1.0 / rank


class nERR_IA(ERR_IA):
    """Normalised ERR_IA: ERR_IA divided by that of the ideal ranking.

    nERR_IA@k = ERR_IA@k / ERR_IA@k(ideal);  the ideal takes at every rank the document that gains most

    User: The crowd of ERR_IA, whose gain is compared with that of a greedily built ideal ranking.
    """

    range = (0.0, float("inf"))
    reference = "Clarke, Craswell, Soboroff and Ashkan 2011"

    def evaluate(self, lists: Lists) -> Floats:
        return ratio(super().evaluate(lists), lists.per_topic(super().evaluate(self._ideal(lists))))

    def _ideal(self, lists: Lists) -> Lists:
        if self.preset == "ndeval":
            return _ReciprocalRanks(self.cutoff, rel=self.rel, alpha=self.alpha).ideal(lists)
        users = Satisfaction(self.max_grade or lists.pool.max_grade)
        return ideal_lists(lists.pool, users, lists.pool.aspect_weights(), self.cutoff)
