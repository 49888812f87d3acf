"""Classic measures over sets, ranks and recall levels.

For a topic without relevant documents all of them are 0, as in trec_eval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankscope.errors import MeasureError
from rankscope.measures.base import Binary, Measure, parameter, ratio
from rankscope.measures.cascade import Cascade
from rankscope.measures.condensed import Condensable
from rankscope.measures.forms import Additive, Counted, Form, Precisions, Preferences, Unordered

if TYPE_CHECKING:
    from rankscope.arrays import AnyArray, Floats, Ints
    from rankscope.judging.kernels import Kernel
    from rankscope.judging.lists import Lists
    from rankscope.judging.pool import Pool

ORDER = 0
"""Position of these measures in listings."""


class AP(Binary, Condensable):
    """Average precision: the mean over all relevant documents of the precision at their ranks.

    AP = 1/R * sum over relevant documents of hits(rank) / rank;  a relevant document that is not retrieved adds 0

    User: Reads from the top and stops at a relevant document, each equally likely to be the last one wanted; gains the
    precision down to there, so that every non-relevant document above costs a share of it.
    """

    aliases = ("MAP",)
    reference = "Buckley and Voorhees 2005"
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.visible_lists(lists).relevant(self.rel, self.cutoff)
        return ratio(hits.sum(hits.ordinal / hits.rank), lists.recall_base(self.rel))

    def kernel(self, pool: Pool) -> Kernel | None:
        return self.plain_kernel("precision", pool.recall_base(self.rel))

    def closed_form(self) -> Form:
        return Precisions(self.rel, lambda rank: 1.0 / rank)


class GMAP(AP):
    """Geometric mean average precision: AP whose mean over topics stresses the worst ones.

    per topic max(AP, 0.00001); over topics the geometric mean

    User: The user of AP, whose gains are multiplied over topics rather than added, so that a topic on which nothing
    relevant is found lowers all others.
    """

    summary = "geometric mean"
    reference = "Robertson 2006"
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        return np.maximum(super().evaluate(lists), 0.00001)


class RR(Binary, Condensable):
    """Reciprocal rank: one divided by the rank of the first relevant document.

    RR = 1 / rank of the first relevant document;  0 without one

    User: Wants one relevant document, reads down to the first and stops there; gains everything with it, divided by the
    number of documents read.
    """

    aliases = ("MRR",)
    reference = "Kantor and Voorhees 2000"
    respects_swaps = True
    rewards_grades = True

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.visible_lists(lists).relevant(self.rel, self.cutoff)
        return hits.first(1.0 / hits.rank)

    def kernel(self, pool: Pool) -> Kernel | None:
        return self.plain_kernel("first")

    def closed_form(self) -> Form:
        return Cascade(lambda grade, best: (grade >= self.rel).astype(np.float64), lambda rank: 1.0 / rank)


class R(Binary, Condensable):
    """Recall: the share of all relevant documents found in the first k.

    R@k = hits(k) / R

    User: Reads exactly k documents whatever they are; gains the share of all relevant documents among them, and the
    reading costs nothing.
    """

    aliases = ("Recall",)
    cutoff_rule = "required"
    reference = "Cleverdon, Mills and Keen 1966"
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.visible_lists(lists).relevant(self.rel, self.cutoff)
        return ratio(hits.count, lists.recall_base(self.rel))

    def kernel(self, pool: Pool) -> Kernel | None:
        return self.plain_kernel("count", pool.recall_base(self.rel))

    def closed_form(self) -> Form:
        return Counted(self.rel, lambda base: np.full_like(base, self.cutoff))


class Rprec(Binary, Condensable):
    """R-precision: precision at the rank that equals the number of relevant documents.

    Rprec = hits(R) / R

    User: Knows how many relevant documents there are and reads as many documents; gains the share of them that are
    relevant, and the reading costs nothing.
    """

    aliases = ("RPrec",)
    cutoff_rule = "none"
    reference = "Buckley and Voorhees 2005"
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.visible_lists(lists).relevant(self.rel)
        base = lists.recall_base(self.rel)
        return ratio(hits.sum(hits.rank <= base[hits.list]), base)

    def kernel(self, pool: Pool) -> Kernel | None:
        return self.plain_kernel("base", pool.recall_base(self.rel))

    def closed_form(self) -> Form:
        return Counted(self.rel, lambda base: base)


class Bpref(Binary):
    """Binary preference: how rarely judged non-relevant documents rank above relevant ones.

    Bpref = 1/R * sum over retrieved relevant documents of (1 - min(n, D) / D)
    n = judged non-relevant documents above it;  the term is 1 when n = 0
    variant trec_eval: 1 - min(n, R) / min(R, N), with N = all judged non-relevant documents, the usual variant
    variant original: D = R, as first published;  variant plus10: D = R + 10, for few relevant documents

    User: Reads down to any relevant document; gains it in full less a share for every document judged not relevant
    above it, and passes unjudged ones without noticing.
    """

    aliases = ("BPref", "bpref")
    needs_nonrelevant = True
    cutoff_rule = "none"
    reference = "Buckley and Voorhees 2004"
    variant: str = parameter("trec_eval", "divisor of n", choices=("trec_eval", "original", "plus10"))
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        # trec_eval excludes negative grades, which mark documents as pooled but not judged.
        relevant = lists.relevant(self.rel)
        above = lists.ordinal_among(self.rel, 0) - relevant.ordinal
        terms = self._preferences().term(lists, relevant.list, above)
        return ratio(relevant.sum(terms), lists.recall_base(self.rel))

    def kernel(self, pool: Pool) -> Kernel | None:
        from rankscope.judging.kernels import Kernel

        base = pool.recall_base(self.rel)
        limits = self._limits(base, pool.recall_base(0) - base)
        return Kernel("preference", self.rel, None, base, limits=limits)

    def _limits(self, base: Ints, nonrelevant: Ints) -> tuple[Ints, Ints]:
        """Return the cap of n and its divisor."""
        cap = base + 10 if self.variant == "plus10" else base
        return cap, np.minimum(base, nonrelevant) if self.variant == "trec_eval" else cap

    def _preferences(self) -> Preferences:
        return Preferences(self.rel, 0, self._limits)

    def closed_form(self) -> Form:
        return self._preferences()


class SetP(Binary, Condensable):
    """Set precision: the share of relevant documents among all that were retrieved.

    SetP = relevant retrieved / retrieved

    User: Takes the whole answer without any order; gains the share of it that is relevant, so that every other document
    costs.
    """

    aliases = ("SetPrecision",)
    reference = "Cleverdon, Mills and Keen 1966"
    respects_swaps = True
    rewards_grades = True

    def evaluate(self, lists: Lists) -> Floats:
        visible = self.visible_lists(lists)
        return ratio(visible.relevant(self.rel, self.cutoff).count, visible.retrieved(self.cutoff))

    def closed_form(self) -> Form:
        return Additive()


class SetR(Binary):
    """Set recall: the share of all relevant documents that were retrieved.

    SetR = relevant retrieved / R

    User: Takes the whole answer without any order; gains the share of all relevant documents that is in it, however
    long it is.
    """

    aliases = ("SetRecall",)
    reference = "Cleverdon, Mills and Keen 1966"
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        return ratio(lists.relevant(self.rel, self.cutoff).count, lists.recall_base(self.rel))

    def closed_form(self) -> Form:
        return Additive()


class SetF(Binary, Condensable):
    """Set F: the weighted harmonic mean of set precision P and set recall R.

    SetF = (1 + beta) P R / (beta P + R), as in trec_eval and ir_measures;  van Rijsbergen writes beta^2 for beta

    User: Takes the whole answer without any order and wants it both complete and pure; gains the harmonic mean of the
    two, weighted by beta.
    """

    reference = "van Rijsbergen 1979"
    beta: float = parameter(1.0, "weight of recall against precision", low=0)
    respects_swaps = True

    def evaluate(self, lists: Lists) -> Floats:
        n_relevant = self.visible_lists(lists).relevant(self.rel, self.cutoff).count
        precision = ratio(n_relevant, self.visible_lists(lists).retrieved(self.cutoff))
        recall = ratio(n_relevant, lists.recall_base(self.rel))
        return ratio((1 + self.beta) * precision * recall, self.beta * precision + recall)

    def closed_form(self) -> Form | None:
        return Unordered() if self.cutoff is None else None


class IPrec(Binary, Condensable):
    """Interpolated precision: the best precision at or after a level of recall.

    IPrec@r = largest hits(i) / i over the ranks i with hits(i) >= n;  0 if that recall is never reached
    n = r R rounded to the nearest whole number, as in trec_eval 10;  rounding=up: r R + 0.9 truncated, as in
    trec_eval up to 9 and pytrec_eval

    User: Reads until a share of all relevant documents is found, or further if that pays; gains the best precision from
    there on.
    """

    aliases = ("iprec",)
    cutoff_rule = "required"
    cutoff_meaning = "level of recall between 0 and 1"
    reference = "Buckley and Voorhees 2005"
    rounding: str = parameter(
        "nearest", "rounding of r R to a number of documents", choices=("nearest", "up")
    )
    respects_swaps = True

    def cutoff_value(self, cutoff: float) -> float:
        if not 0 <= cutoff <= 1:
            raise self._error(f"cannot have the recall {cutoff:g}", "write IPrec@0.1, for example")
        return float(cutoff)

    def evaluate(self, lists: Lists) -> Floats:
        hits = self.visible_lists(lists).relevant(self.rel)
        needed = _documents(self.cutoff * lists.recall_base(self.rel), self.rounding)
        return hits.max(np.where(hits.ordinal >= needed[hits.list], hits.ordinal / hits.rank, 0.0))


def _documents(share: Floats, rounding: str) -> Floats:
    """Round a share of the relevant documents to a whole number of documents."""
    if rounding == "up":
        return np.floor(share + 0.9)
    whole = np.floor(share)
    return whole + (share - whole >= 0.5)


class infAP(Binary):
    """Inferred average precision: AP estimated from judgments that are a random sample of the pool.

    the mean over relevant documents of 1/i + (i-1)/i * (pooled above / (i-1)) * (rel above + e) / (judged above + 2e)
    A negative grade means pooled but not judged; e = 0.00001.

    User: The user of AP, whose gains at unjudged documents are estimated from a random sample of the judgments.
    """

    cutoff_rule = "none"
    reference = "Yilmaz and Aslam 2006"

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.hits()
        relevant = hits.grade >= self.rel
        relevant_above = hits.before(relevant.astype(np.int64))
        unjudged_above = hits.before((hits.grade < 0).astype(np.int64))
        judged_above = hits.ordinal - 1 - unjudged_above
        above = hits.rank - 1.0
        pooled = ratio(hits.ordinal - 1, above)
        expected = (0.00001 + relevant_above) / (0.00002 + judged_above)
        precision = 1.0 / hits.rank + above / hits.rank * pooled * expected
        return ratio(hits.sum(np.where(relevant, precision, 0.0)), lists.recall_base(self.rel))


def satisfaction(grade: AnyArray, best: float) -> Floats:
    """Return (2^grade - 1) / 2^best, without overflow for large grades.

    >>> satisfaction(np.array([0, 1, 2]), 2).tolist()
    [0.0, 0.25, 0.75]
    """
    power = np.asarray(grade) - best
    if power.dtype.kind == "f":  # gains that are not whole numbers
        return np.asarray(np.exp2(power) - np.exp2(-best))
    return np.asarray(np.ldexp(1.0, power) - np.ldexp(1.0, -best))


class ERR(Measure):
    """Expected reciprocal rank: the reciprocal of the rank where a user who stops when satisfied stops.

    ERR = sum over ranks i of 1/i * S_i * product over j < i of (1 - S_j);  S = (2^grade - 1) / 2^max_grade
    max_grade is the best grade of the collection unless set (gdeval: ERR(max_grade=4)@20);  gains such as 0.37 count
    as grades

    User: Reads from the top and stops when satisfied, which a document does with a probability that grows with its
    grade; gains one divided by the rank reached, so that everything above is cost.
    """

    reference = "Chapelle, Metzler, Zhang and Grinspan 2009"
    max_grade: int = parameter(0, "best grade possible; 0 takes it from the judgments", low=0)
    respects_swaps = True
    rewards_grades = True
    uses_gains = True

    def _satisfaction(self, grade: AnyArray, max_grade: int) -> Floats:
        return satisfaction(self.to_gain(grade), self.max_grade or self.to_gain(max_grade))

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.relevant(1, self.cutoff)
        best = self.max_grade or self.to_gain(lists.pool.max_grade)
        if len(hits) and (highest := self.to_gain(hits.grade.max())) > best:
            hint = "max_grade is the best grade there is"
            raise MeasureError(f"{self} meets grade {highest:g}", hint=hint)
        satisfied = self._satisfaction(hits.grade, lists.pool.max_grade)
        return hits.sum(satisfied * hits.product_before(1.0 - satisfied) / hits.rank)

    def closed_form(self) -> Form:
        return Cascade(self._satisfaction, lambda rank: 1.0 / rank)


class Judged(Measure):
    """Judged: the share of the first k documents that have a judgment.

    Judged@k = judged documents in the first k / documents in the first k; a short ranking is not penalised

    User: None; the value describes the judgments, not the ranking.
    """

    cutoff_rule = "required"
    better = "neither"  # It describes the judgments, not the list.
    reference = "Buckley and Voorhees 2004"
    uses_gains = True  # Any judgment counts.

    def evaluate(self, lists: Lists) -> Floats:
        return ratio(lists.hits(self.cutoff).count, lists.retrieved(self.cutoff))

    def closed_form(self) -> Form:
        return Additive()


class Success(Binary, Condensable):
    """Success: whether there is a relevant document in the first k.

    Success@k = 1 if hits(k) > 0 else 0

    User: Wants one relevant document and reads at most k; gains everything if there is one, at whatever rank, and
    nothing otherwise.
    """

    cutoff_rule = "required"
    reference = "Craswell, Hawking and Robertson 2001"
    respects_swaps = True
    rewards_grades = True

    def evaluate(self, lists: Lists) -> Floats:
        return (self.visible_lists(lists).relevant(self.rel, self.cutoff).count > 0).astype(float)

    def kernel(self, pool: Pool) -> Kernel | None:
        return self.plain_kernel("any")

    def closed_form(self) -> Form:
        return Cascade(lambda grade, best: (grade >= self.rel).astype(np.float64), np.ones_like)
