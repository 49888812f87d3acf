"""The weighted-precision family: a fixed weight per rank, a gain per document, and their products summed.

    M = sum over documents of gain(grade) * weight(rank)

P@k, RBP and DCG differ only in these two vectors; their residual, the possible gain from unjudged documents (Moffat and
Zobel 2008), follows from the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.errors import MeasureError
from rankscope.measures.arithmetic import log2
from rankscope.measures.base import OPEN, Binary, Measure, parameter, ratio, threshold, weights_down_to
from rankscope.measures.condensed import Condensable
from rankscope.measures.forms import Additive, Form, ShareOfIdeal, Weighted

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, Floats
    from rankscope.judging.kernels import Kernel
    from rankscope.judging.lists import Hits, Lists
    from rankscope.judging.pool import Pool

ORDER = 1
"""Position of these measures in listings."""

_LARGEST_POWER = 1000  # beyond it a weighted sum of 2^grade would overflow a double


_FORMS = {"log2": "linear", "exp-log2": "exp2"}
"""Gains of the DCG variants of ir_measures."""


def _format_gains(name: str, gains: dict[Any, Any]) -> str:
    """Format gains by grade.

    >>> _format_gains("nDCG", {1: 3, 2: 9.5})
    '1=3,2=9.5'
    """
    try:
        if gains and all(grade == int(grade) and grade >= 0 for grade in gains):
            return ",".join(f"{int(grade)}={float(gain):.17g}" for grade, gain in sorted(gains.items()))
    except (TypeError, ValueError):
        pass
    hint = "a dict has numbers for grades from 0 on, such as {1: 3, 2: 9}"
    raise MeasureError(f"{name} cannot have gains={gains!r}", hint=hint)


class Gains(Measure, abstract=True):
    """Base class of measures with gains by grade; an unjudged document counts as non-relevant."""

    def gain(self, grade: AnyArray, max_grade: int) -> Floats:
        """Return the gain of each grade, in a collection with best grade ``max_grade``."""
        raise TypeError(f"{self.name} defines no gains")

    def idle_gain(self, max_grade: int) -> float:
        """Return the gain of a non-relevant document, 0 for most measures."""
        return float(self.gain(np.zeros(1, np.int64), max_grade)[0])

    def extreme_gains(self, max_grade: int) -> tuple[float, float]:
        """Return the smallest and the largest possible gain."""
        gains = self.gain(np.array([0, max_grade]), max_grade)
        return float(gains.min()), float(gains.max())

    @property
    def gains_rise(self) -> bool:
        """Whether gains never decrease with the grade, and none is below that of an unjudged document."""
        return True

    def gaining(self, lists: Lists) -> Hits:
        """Return the documents with a possible gain, down to the cutoff.

        These are the relevant ones if non-relevant documents gain 0, otherwise all retrieved ones. Ranks beyond the
        end of a ranking gain nothing.
        """
        if self.idle_gain(lists.pool.max_grade) == 0:
            return lists.relevant(1, self.cutoff)
        return lists.documents(self.cutoff)


class WeightedPrecision(Gains, abstract=True):
    """Base class of measures that sum gain times weight."""

    def weight(self, rank: AnyArray) -> Floats:
        """Return the weight of each rank."""
        raise TypeError(f"{self.name} defines no weights")

    def rank_weights(self, depth: int) -> Floats | None:
        return weights_down_to(depth, self.weight, self.cutoff)

    def closed_form(self) -> Form | None:
        return Weighted(self.gain, self.weight) if self.gains_rise else Additive()

    @property
    def respects_swaps(self) -> bool:
        return self.gains_rise

    @property
    def rewards_grades(self) -> bool:
        return self.gains_rise

    def total_weight(self) -> float:
        """Return the sum of the weights of all ranks; infinite if it diverges."""
        return (
            float("inf") if self.cutoff is None else float(self.weight(np.arange(1, self.cutoff + 1)).sum())
        )

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.gaining(lists)
        return hits.sum(self.gain(hits.grade, lists.pool.max_grade) * hits.at_rank(self.weight))

    def kernel(self, pool: Pool) -> Kernel | None:
        return pool.cache((WeightedPrecision.kernel, self), lambda: self._weighted_kernel(pool.max_grade))

    def _weighted_kernel(self, max_grade: int) -> Kernel | None:
        from rankscope.judging.kernels import MAX_GRADE, Kernel

        try:
            gains = self.gain(np.arange(min(max_grade, MAX_GRADE) + 1), max_grade)
        except MeasureError:  # Some grade has no gain: the formula fails if a hit has it.
            return None
        is_possible = max_grade <= MAX_GRADE and gains[0] == 0  # otherwise unjudged documents gain too
        return Kernel("weighted", 1, self.cutoff, 1.0, gains, self.weight) if is_possible else None

    def open_range(
        self,
        lists: Lists,
        depths: Sequence[int] | None = None,
        *,
        beyond: bool = True,
        max_grade: int | None = None,
    ) -> tuple[Floats, Floats]:
        """Return the lowest and highest value over all labels of unjudged documents, arrays of shape (lists, depths).

        Each ranking is known down to every depth (None: down to its end, one column). With ``beyond`` every rank below
        is open as well, retrieved or not, as in the residual of RBP (Moffat and Zobel 2008); else only the unjudged
        documents that the ranking has, those with a negative grade among them. ``max_grade`` is the best grade.

            sum over judged documents of gain * weight  +  (smallest or largest gain) * weight of all that is open
        """
        best = lists.pool.max_grade if max_grade is None else max_grade
        hits = lists.hits(self.cutoff) if beyond else lists.relevant(0, self.cutoff)
        at = np.asarray([int(lists.length.max(initial=1))] if depths is None else depths)
        weight = hits.at_rank(self.weight)
        # A hit counts from the first depth that reaches its rank.
        cell = hits.list * (len(at) + 1) + np.searchsorted(at, hits.rank)

        def reached(values: Floats) -> Floats:
            sums = np.bincount(cell, weights=values, minlength=len(lists) * (len(at) + 1))
            return np.asarray(np.cumsum(sums.reshape(len(lists), -1)[:, :-1], axis=1))

        if beyond:
            whole: Any = self.total_weight()
        else:
            ranks = np.arange(1, int(lists.length.max(initial=0)) + 1)
            table = np.concatenate([[0.0], np.cumsum(self.weight(ranks))]) if len(ranks) else np.zeros(1)
            whole = table[np.minimum(lists.retrieved(self.cutoff)[:, np.newaxis], at)]
        judged_value = reached(weight * self.gain(hits.grade, best))
        open_weight = np.maximum(whole - reached(weight), 0.0)
        min_gain, max_gain = self.extreme_gains(best)
        # A gain of 0 contributes 0 even if the sum of weights is infinite.
        lowest, highest = (
            judged_value + gain * open_weight if gain else judged_value for gain in (min_gain, max_gain)
        )
        return lowest, highest

    def residual(self, lists: Lists) -> Floats:
        """Return the largest possible increase if every unjudged document, retrieved or not, had the largest gain."""
        return np.asarray(self.open_range(lists)[1][:, 0] - self.evaluate(lists))


class P(Binary, Condensable, WeightedPrecision):
    """Precision: the share of relevant documents in the first k.

    P@k = hits(k) / k, where a ranking shorter than k is still divided by k

    User: Reads exactly k documents, all with the same attention; gains the share of them that is relevant, so that a
    non-relevant document costs as much as an empty rank.
    """

    aliases = ("Precision",)
    cutoff_rule = "required"
    reference = "Cleverdon, Mills and Keen 1966"
    respects_swaps = True
    rewards_grades = True

    def weight(self, rank: AnyArray) -> Floats:
        return np.full(len(rank), 1.0 / self.cutoff)

    def gain(self, grade: AnyArray, max_grade: int) -> Floats:
        return (grade >= self.rel).astype(np.float64)

    def evaluate(self, lists: Lists) -> Floats:
        # Count, then divide once: k additions of 1/k do not give exactly 1.
        return ratio(self.visible_lists(lists).relevant(self.rel, self.cutoff).count, self.cutoff)

    def kernel(self, pool: Pool) -> Kernel | None:
        return self.plain_kernel("count", float(self.cutoff))

    def closed_form(self) -> Form:
        return Weighted(self.gain, self.weight)


class RBP(WeightedPrecision):
    """Rank-biased precision: the expected gain of a user who goes on to the next rank with probability p.

    RBP = (1 - p) * sum over ranks i of r_i p^(i-1);  r_i = 1 if the grade is at least rel
    graded: r_i = grade / max_grade, with max_grade the best grade of the collection unless set; gains such as 0.37
    count as grades, and without rel every positive gain counts

    User: Reads from the top and goes on to the next rank with probability p, whatever was found; gains each relevant
    document met, per document looked at.
    """

    reference = "Moffat and Zobel 2008"
    p: float = parameter(0.8, "probability of going on to the next rank", low=0, high=1, excluded=OPEN)
    rel: int = threshold()
    graded: bool = parameter(False, "whether a document gains its grade divided by the best one")
    max_grade: int = parameter(0, "best grade when graded; 0 takes it from the judgments", low=0)

    @property
    def sees_grades(self) -> bool:
        return bool(self.graded)

    uses_gains = sees_grades

    def weight(self, rank: AnyArray) -> Floats:
        return np.asarray((1 - self.p) * self.p ** (rank - 1.0), np.float64)

    def gain(self, grade: AnyArray, max_grade: int) -> Floats:
        relevant = grade >= self.rel
        if not self.graded:
            return relevant.astype(np.float64)
        share = self.to_gain(np.maximum(grade, 0)) / (self.max_grade or self.to_gain(max_grade))
        return np.where(relevant, np.minimum(share, 1.0), 0.0)

    def total_weight(self) -> float:
        return 1.0 if self.cutoff is None else float(1 - self.p**self.cutoff)


class GradedGains(Gains, abstract=True):
    """Base class of measures with configurable gains by grade."""

    gains: str = parameter(
        "linear",
        "gain of each grade: linear, exp2, a list for grades 0, 1, 2, ..., or pairs such as '1=3,2=9'",
    )
    unjudged: str = parameter(
        "nonrelevant",
        "whether a document without a judgment or with a negative grade gains as a non-relevant one, or 0 as in "
        "trec_eval",
        choices=("nonrelevant", "zero"),
    )

    @property
    def uses_gains(self) -> bool:
        return not self.needs_aspects

    @classmethod
    def respelled(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Translate ``dcg='exp-log2'`` and dicts of gains, as ir_measures writes them."""
        settings = dict(settings)
        if "dcg" in settings:
            form = settings.pop("dcg")
            if form not in _FORMS:
                raise cls._error(f"cannot have dcg={form!r}", f"dcg is {' or '.join(_FORMS)}")
            if settings.setdefault("gains", _FORMS[form]) != _FORMS[form] and form != "log2":
                raise cls._error("has both dcg and gains", "dcg already defines the gains")
        if isinstance(settings.get("gains"), dict):
            settings["gains"] = _format_gains(cls.name, settings["gains"])
        return settings

    def validate(self) -> None:
        table = self._gain_of_grades()
        if table and table.get(0) != 0 and "=" not in self.gains:
            hint = "begin the gains with 0, as in '0,5,10,15'"
            raise self._error("needs gain 0 for non-relevant documents", hint)

    def _gain_of_grades(self) -> dict[int, float]:
        """Return the gains that are listed by grade; empty for ``linear`` and ``exp2``."""
        if self.gains in ("linear", "exp2"):
            return {}
        parts = self.gains.split(",")
        try:
            if "=" in self.gains:
                table = {int(grade): float(gain) for grade, gain in (part.split("=") for part in parts)}
            else:
                table = dict(enumerate(map(float, parts)))
            if (len(table) > 1 or "=" in self.gains) and np.isfinite(list(table.values())).all():
                return table
        except ValueError:
            pass
        hint = "gains are linear, exp2, a list such as '0,5,10,15' for grades 0, 1, 2, 3, or pairs such as '1=3,2=9'"
        raise self._error(f"cannot have gains={self.gains!r}", hint)

    @property
    def gains_rise(self) -> bool:
        gain_by_grade = self._gain_of_grades()
        if not gain_by_grade:
            return True
        grades = np.arange(max(gain_by_grade) + 1 if "=" not in self.gains else max(gain_by_grade) + 2)
        gains = self.gain(grades, int(grades[-1]))
        return bool(gains[0] == 0 and (np.diff(gains) >= 0).all() and min(gain_by_grade) >= 0)

    def gain(self, grade: AnyArray, max_grade: int) -> Floats:
        """Return the gain of each grade; a negative grade gains as grade 0, or nothing with ``unjudged=zero``."""
        positive = self.to_gain(np.maximum(grade, 0))
        if self.gains == "linear":
            return np.asarray(positive, np.float64)
        best = int(positive.max(initial=0))
        if self.gains == "exp2":
            if best > _LARGEST_POWER:
                hint = "2^grade is too large; use gains=linear"
                raise MeasureError(f"{self} meets grade {best}", hint=hint)
            return np.asarray(2.0**positive - 1.0)
        table = self._gain_of_grades()
        if "=" not in self.gains and self.gain_table is not None:
            hint = f"gains={self.gains!r} has those of grades, which are whole numbers; use gains=linear"
            raise self._error(f"has no gain for {self.gain_table[1]:g}", hint)
        if "=" not in self.gains and best >= len(table):
            hint = f"gains={self.gains!r} ends at {len(table) - 1}"
            raise self._error(f"has no gain for grade {best}", hint)
        # A grade without a pair gains its own value, as in trec_eval.
        grades, index = np.unique(positive, return_inverse=True)
        values = np.array([table.get(g, float(g)) for g in grades.tolist()])
        gains = values[index].reshape(np.shape(grade))
        return gains if self.unjudged == "nonrelevant" else np.where(grade < 0, 0.0, gains)

    def extreme_gains(self, max_grade: int) -> tuple[float, float]:
        """Return the smallest and the largest possible gain."""
        gain_by_grade = self._gain_of_grades()
        # A grade without a pair gains its own value: the largest such grade may be just below one with a pair.
        grades = {0, max_grade, *gain_by_grade, *(grade - 1 for grade in gain_by_grade)}
        possible = np.array(sorted(grade for grade in grades if 0 <= grade <= max_grade))
        gains = self.gain(possible, max_grade)
        return float(gains.min()), float(gains.max())

    def ideal(self, pool: Pool) -> Hits:
        """Return the ideal ranking of each topic: its documents with a positive gain, largest first."""
        self._reject_endless(pool.max_grade)
        key = (GradedGains.ideal, self.gains, self.unjudged)
        return pool.cache(key, lambda: pool.best_first(self.gain(pool.grade, pool.max_grade)))

    def _reject_endless(self, max_grade: int) -> None:
        if self.unjudged == "nonrelevant" and self.idle_gain(max_grade) > 0:
            problem = "has no ideal ranking: non-relevant documents have a positive gain, so it is infinite"
            hint = "give grade 0 no gain or a negative one, or write unjudged=zero, as trec_eval has it"
            raise self._error(problem, hint)


class CumulatedGain(GradedGains, WeightedPrecision, abstract=True):
    """Base class of weighted sums of gains, with the value of the ideal ranking."""

    def evaluate_ideal(self, pool: Pool) -> Floats:
        """Return the value of the ideal ranking of each topic, down to the cutoff."""

        def worth() -> Floats:
            kernel = WeightedPrecision.kernel(self, pool)
            sums = None if kernel is None else kernel.sum_ideals(pool)
            if sums is not None:
                return sums
            hits = self.ideal(pool)
            if self.cutoff is not None:
                hits = hits.where(hits.rank <= self.cutoff)
            return hits.sum(self.gain(hits.grade, pool.max_grade) * hits.at_rank(self.weight))

        return pool.cache((CumulatedGain.evaluate_ideal, self), worth)


class Normalised(CumulatedGain, abstract=True):
    """Cumulated gain divided by that of the ideal ranking; 0 for a topic without relevant documents."""

    range = (0.0, 1.0)

    def evaluate(self, lists: Lists) -> Floats:
        return ratio(super().evaluate(lists), lists.per_topic(self.evaluate_ideal(lists.pool)))

    def kernel(self, pool: Pool) -> Kernel | None:
        sums = super().kernel(pool)
        return None if sums is None else sums._replace(divisor=self.evaluate_ideal(pool))

    def closed_form(self) -> Form | None:
        if not self.gains_rise:
            return Additive()
        return ShareOfIdeal(self.gain, self.weight, self.evaluate_ideal)

    @property
    def respects_swaps(self) -> bool:
        return self.gains_rise

    def residual(self, lists: Lists) -> Floats:
        raise self._error("has no residual: its normalisation depends on the judgments", "use DCG@k or RBP")


class DCG(CumulatedGain):
    """Discounted cumulated gain: gains added up, each divided by a discount that grows with the rank.

    DCG = sum over ranks i of gain(grade_i) / discount(i)
    discount log2: log2(1 + i), as trec_eval;  jk: max(1, log_base i), as Jarvelin and Kekalainen
    gains linear: the grade;  exp2: 2^grade - 1;  a list such as '0,5,10,15' for grades 0, 1, 2, 3;
    or pairs such as '1=3,2=9', where every other grade gains itself, as trec_eval
    With pairs a non-relevant document may gain less than nothing ('0=-1,1=1'), and so does each unjudged one that was
    retrieved; in trec_eval those gain 0 (unjudged=zero).

    User: Reads on with an interest that fades with the logarithm of the rank, without ever stopping; gains are added
    up, and rank alone costs.
    """

    range = (0.0, float("inf"))
    reference = "Jarvelin and Kekalainen 2002"
    discount: str = parameter("log2", "how a rank is discounted", choices=("log2", "jk"))
    base: float = parameter(
        2.0, "base of the logarithm of the jk discount", low=1, excluded="base is greater than 1"
    )

    def weight(self, rank: AnyArray) -> Floats:
        if self.discount == "log2":
            return 1.0 / log2(rank + 1.0)  # type: ignore[no-any-return]
        return np.asarray(1.0 / np.maximum(1.0, np.log(np.asarray(rank, np.float64)) / np.log(self.base)))


class nDCG(Condensable, Normalised, DCG):
    """Normalised discounted cumulated gain: DCG divided by that of the ideal ranking.

    nDCG = DCG / DCG(ideal): the ideal orders all judged documents by gain and is cut at the same rank;
    0 for a topic without relevant documents. Parameters as for DCG.

    User: The user of DCG, whose gain is compared with that of the ideal order of all judged documents.
    """

    aliases = ("NDCG",)

    closed_form = Normalised.closed_form
    respects_swaps = Normalised.respects_swaps

    def evaluate(self, lists: Lists) -> Floats:
        return super().evaluate(self.visible_lists(lists))

    def kernel(self, pool: Pool) -> Kernel | None:
        return None if self.judged_only else super().kernel(pool)
