"""Measures of a user who decides at every document whether to go on: the C/W/L family (Moffat et al. 2017).

    D(i) = C(1) C(2) ... C(i-1)        the probability of reading rank i; C(i) is that of continuing after it
    M    = sum over ranks i of D(i) g(i) / sum over ranks i of D(i)        the expected gain per document read

The gain of a document lies between 0 and 1: g = (grade - min_rel) / (max_rel - min_rel), and never outside. As in
cwl_eval, a ranking continues with documents of gain 0 down to the cutoff, which is 1000 for measures without one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Floats, Ints
from rankscope.judging.lists import Hits, Lists
from rankscope.measures.arithmetic import log2
from rankscope.measures.base import Binary, parameter, ratio
from rankscope.measures.weighted import Gains, WeightedPrecision

ORDER = 2
"""Position of these measures in listings."""

_DEEPEST = 1000  # as far as cwl_eval reads
_WANTED = "how much the user wants to gain, in documents of the best grade"


class ScaledGains(Gains, abstract=True):
    """Base class of measures with gains between 0 and 1, linear between two grades."""

    min_rel: int = parameter(0, "grade that gains nothing", low=0)
    max_rel: int = parameter(0, "grade that gains 1; 0 takes the best one of the judgments", low=0)

    def validate(self) -> None:
        if self.max_rel and self.max_rel <= self.min_rel:
            raise self._error(f"cannot have max_rel={self.max_rel}", "max_rel is greater than min_rel")

    def steps(self, grade: AnyArray, max_grade: int) -> tuple[Ints, int]:
        """Return the steps of each grade above ``min_rel``, and those of ``max_rel``."""
        n_steps = max((self.max_rel or max_grade) - self.min_rel, 1)
        return np.clip(np.asarray(grade, np.int64) - self.min_rel, 0, n_steps), n_steps

    def gain(self, grade: AnyArray, max_grade: int) -> Floats:
        above, n_steps = self.steps(grade, max_grade)
        return above / n_steps


class _TargetedGain(ScaledGains, abstract=True):
    """Base class of measures whose user has a target gain T."""

    T: float = parameter(1.0, _WANTED, low=0, excluded=f"T is greater than 0: {_WANTED}")


def _patience(rank: AnyArray, target: float) -> Floats:
    """Return the probability of reaching a rank: the product of ((i+2T-1) / (i+2T))^2 over the ranks above."""
    return np.asarray((2 * target / (rank - 1 + 2 * target)) ** 2)


class SDCG(ScaledGains, WeightedPrecision):
    """Scaled discounted cumulated gain: DCG divided by that of a ranking of nothing but the best documents.

    SDCG@k = sum over ranks i <= k of g(i) / log2(1 + i), divided by the sum of 1 / log2(1 + i)
    g = (grade - min_rel) / (max_rel - min_rel); unlike nDCG it compares with k best documents, even if fewer exist

    User: Reads at most k documents with an interest that fades with the logarithm of the rank; gains a share of the
    gain of k documents of the best grade.
    """

    cutoff_rule = "required"
    reference = "Moffat, Thomas and Scholer 2013"

    @classmethod
    def respelled(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Accept ``dcg='log2'``, the only form in ir_measures."""
        if settings.get("dcg", "log2") != "log2":
            raise cls._error(f"cannot have dcg={settings['dcg']!r}", "dcg is log2")
        return {key: value for key, value in settings.items() if key != "dcg"}

    def weight(self, rank: AnyArray) -> Floats:
        ranks = np.arange(1, (self.cutoff or _DEEPEST) + 1)
        return np.asarray(1.0 / log2(rank + 1.0) / np.sum(1.0 / log2(ranks + 1.0)))

    def total_weight(self) -> float:
        return 1.0


class INSQ(_TargetedGain, WeightedPrecision):
    """INSQ: the expected gain per document of a user who continues the more readily, the higher the target gain.

    INSQ = sum over ranks i of w(i) g(i);  w(i) in proportion to 1 / (i + 2T - 1)^2
    so that C(i) = ((i + 2T - 1) / (i + 2T))^2

    User: Wants to gain T in total and continues with a probability that grows with T and with the rank, independent of
    the documents; gains are averaged over the documents read.
    """

    default_cutoff = _DEEPEST
    reference = "Moffat, Scholer and Thomas 2012"

    def weight(self, rank: AnyArray) -> Floats:
        return np.asarray(_patience(rank, self.T) / _patience(np.arange(1, self.cutoff + 1), self.T).sum())

    def total_weight(self) -> float:
        return 1.0


class INST(ScaledGains):
    """INST: INSQ with a user who subtracts the gain so far from the target.

    C(i) = ((i + 2T - G(i) - 1) / (i + 2T - G(i)))^2 with G(i) = gains down to rank i
    INST = sum over ranks i of D(i) g(i) / sum over ranks i of D(i);  D(i) = C(1) ... C(i-1)

    User: Wants to gain T in total and continues with a probability that grows with the remaining target and with the
    rank; gains are averaged over the documents read.
    """

    default_cutoff = _DEEPEST
    reference = "Moffat, Bailey, Scholer and Thomas 2015"
    T: float = parameter(1.0, _WANTED + "; at least 0.5", low=0.5)

    def evaluate(self, lists: Lists) -> Floats:
        # Between two hits G is constant and the product of C telescopes. With r the rank of a hit, G the gains
        # above it, and P the product over the hits above it of ((r+2T-1-G-g) / (r+2T-1-G))^2:
        #   D(r) = (2T)^2 P / (r+2T-1-G)^2, and the sum of D over the ranks is one of differences of zeta(2, x)
        from scipy.special import zeta

        hits = self.gaining(lists)
        gain = self.gain(hits.grade, lists.pool.max_grade)
        before = hits.before(gain)
        left = hits.rank + 2 * self.T - before
        factor = ((left - 1 - gain) / (left - 1)) ** 2
        above = hits.product_before(factor)
        below = above * factor
        gained = hits.sum(gain * above / (left - 1) ** 2)
        in_all, last = hits.sum(gain), 1.0 + hits.sum(below - above)
        read = zeta(2.0, 2 * self.T) + hits.sum(below * zeta(2.0, left - gain) - above * zeta(2.0, left))
        return np.asarray(gained / (read - last * zeta(2.0, self.cutoff + 2 * self.T - in_all)))


class BPM(_TargetedGain):
    """Bejeweled player model: the gain per document of a user who stops when satisfied or tired.

    BPM@k = gains down to rank s / s;  s = the rank where the gains reach T, or k if that comes first

    User: Reads until T has been gained, but at most k documents; gains are averaged over the documents read.
    """

    cutoff_rule = "required"
    reference = "Zhang, Liu, Li, Zhang, Xu and Ma 2017"

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.gaining(lists)
        # Gains are counted in whole steps, because thirds would not add up to 1.
        steps, n_steps = self.steps(hits.grade, lists.pool.max_grade)
        before = hits.before(steps)
        read = before < self.T * n_steps
        enough = read & (before + steps >= self.T * n_steps)
        stop = self.cutoff - hits.sum(np.where(enough, self.cutoff - hits.rank, 0))
        return np.asarray(hits.sum(np.where(read, steps, 0)) / n_steps / stop)


class _Nearly(ScaledGains, abstract=True):
    """Base class of measures whose user is satisfied by a document of gain g with probability g, or loses patience.

    With d(i) the patience left at rank i, D(i) = d(i) * product over j < i of (1 - g(j)).
    """

    reference = "Azzopardi, Mackenzie and Moffat 2021"

    def patience(self, rank: AnyArray) -> Floats:
        """Return the probability of reaching each rank if no document satisfies the user."""
        raise TypeError(f"{self.name} defines no patience")

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.gaining(lists)
        gain = self.gain(hits.grade, lists.pool.max_grade)
        stopped = gain * hits.product_before(1.0 - gain)  # by the hit itself, if patience lasts
        lasting = self.patience(np.arange(1, self.cutoff + 1))
        # Expected number of further documents if the user stops at a rank.
        behind = lasting.sum() - np.cumsum(lasting)
        unread = hits.sum(stopped * hits.at_rank(lambda rank: behind[np.minimum(rank, len(behind)) - 1]))
        return np.asarray(hits.sum(stopped * hits.at_rank(self.patience)) / (lasting.sum() - unread))


class NERR8(_Nearly):
    """Nearly expected reciprocal rank, equation 8: the gain per document of a user who stops when satisfied.

    C(i) = 1 - g(i) for i < k, 0 at k;  NERR8@k = sum of D(i) g(i) / sum of D(i), D(i) = C(1) ... C(i-1)

    User: Reads until satisfied, which a document does with the probability of its gain, but at most k documents; gains
    are averaged over the documents read.
    """

    cutoff_rule = "required"

    def patience(self, rank: AnyArray) -> Floats:
        return np.ones(len(rank))


class NERR9(_Nearly):
    """Nearly expected reciprocal rank, equation 9: the user of NERR8, who also loses interest with the rank.

    C(i) = i / (i + 1) * (1 - g(i)) for i < k, 0 at k;  NERR9@k = sum of D(i) g(i) / sum of D(i), D(i) = C(1) ... C(i-1)

    User: Reads until satisfied, with an interest that is one divided by the rank, and at most k documents; gains are
    averaged over the documents read.
    """

    cutoff_rule = "required"

    def patience(self, rank: AnyArray) -> Floats:
        return np.asarray(1.0 / rank)


class NERR10(_Nearly):
    """Nearly expected reciprocal rank, equation 10: the user of NERR8 with the patience of the RBP user.

    C(i) = p (1 - g(i));  NERR10 = sum of D(i) g(i) / sum of D(i), D(i) = C(1) ... C(i-1)

    User: Reads until satisfied, otherwise continues with probability p; gains are averaged over the documents read.
    """

    default_cutoff = _DEEPEST
    p: float = parameter(0.9, "probability of going on to the next rank when not satisfied", low=0, high=1)

    def patience(self, rank: AnyArray) -> Floats:
        return np.asarray(self.p ** (rank - 1.0))


class NERR11(_TargetedGain, _Nearly):
    """Nearly expected reciprocal rank, equation 11: the user of NERR8 with the patience of the INSQ user.

    C(i) = ((i + 2T - 1) / (i + 2T))^2 (1 - g(i));  NERR11 = sum of D(i) g(i) / sum of D(i), D(i) = C(1) ... C(i-1)

    User: Reads until satisfied, otherwise continues with a probability that grows with T and with the rank; gains are
    averaged over the documents read.
    """

    default_cutoff = _DEEPEST

    def patience(self, rank: AnyArray) -> Floats:
        return _patience(rank, self.T)


class Accuracy(Binary):
    """Accuracy: the probability that a relevant document ranks above a non-relevant one.

    Accuracy = share of the pairs (relevant, other) of retrieved documents in which the relevant one stands above;
    undefined for a ranking that has no such pair

    User: No user: compares pairs of documents, as in the evaluation of trained rankers.
    """

    reference = "MacAvaney, Macdonald and Ounis 2022"

    def evaluate(self, lists: Lists) -> Floats:
        hits: Hits = lists.relevant(self.rel, self.cutoff)
        pairs = hits.count * (lists.retrieved(self.cutoff) - hits.count)
        return np.where(pairs > 0, 1.0 - ratio(hits.sum(hits.rank - hits.ordinal), pairs), np.nan)
