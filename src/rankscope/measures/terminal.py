"""The terminal document: the gain of a ranking from the rank at which it ends."""

from __future__ import annotations

import numpy as np

from rankscope.judging.lists import Floats, Ints, Lists
from rankscope.measures.base import parameter, ratio
from rankscope.measures.classic import AP, RR
from rankscope.measures.composed import Composed
from rankscope.measures.grammar import parse_open
from rankscope.measures.weighted import DCG, RBP, P, WeightedPrecision, nDCG

ORDER = 12
"""Position of these measures in listings."""

_KINDS = (P, RBP, DCG, nDCG, AP, RR)


class Terminal(Composed):
    """A measure of rankings that end with a terminal document, which marks the end of the answer.

    After the n documents of a ranking the terminal one stands at rank n + 1 and gains t = relevant documents found / R,
    or 1 for a topic without relevant documents. The other documents gain 1 or 0.
    P, RBP, DCG: + t weight(n + 1)
    nDCG: the same, divided by that of R relevant documents and a terminal one of gain 1
    AP = (sum over relevant documents of hits(rank) / rank + t (hits + t) / (n + 1)) / (R + 1)
    RR: t / (n + 1) where no relevant document was found
    A ranking of k documents or more has no terminal one at cutoff k.

    User: The user of the inner measure, who notices the end of the ranking and gains the share of relevant documents
    found so far.
    """

    reference = "after Liu, Moffat, Baldwin and Zhang 2016"
    range = (0.0, float("inf"))
    inner_rule = "the inner measure is P, RBP, DCG, nDCG, AP or RR, with gains 1 and 0"
    measure: str = parameter("RBP", "P, RBP, DCG, nDCG, AP or RR, such as 'RBP(p=0.5)'")

    def validate(self) -> None:
        super().validate()
        inside = parse_open(self.measure)
        if type(inside) not in _KINDS or any(inside.settings.get(key) for key in ("graded", "judged_only")):
            raise self._error(f"cannot have measure={self.measure!r}", self.inner_rule)

    def evaluate(self, lists: Lists) -> Floats:
        inside = self.inner()
        rel = int(inside.settings.get("rel", 1))
        hits, base, length = lists.relevant(rel, inside.cutoff), lists.recall_base(rel), lists.retrieved()
        n_relevant = lists.relevant(rel).count
        gain = np.where(base > 0, ratio(n_relevant, base), 1.0)
        if inside.cutoff is not None:
            gain = np.where(length < inside.cutoff, gain, 0.0)
        if isinstance(inside, AP):
            own = hits.sum(hits.ordinal / hits.rank)
            return ratio(own + gain * (n_relevant + gain) / (length + 1.0), base + 1)
        if isinstance(inside, RR):
            first = inside.evaluate(lists)
            return np.where(first > 0, first, gain / (length + 1.0))
        assert isinstance(inside, WeightedPrecision)
        total = hits.sum(hits.at_rank(inside.weight)) + gain * inside.weight(length + 1)
        return ratio(total, _ideal(inside, base)) if isinstance(inside, nDCG) else np.asarray(total)


def _ideal(measure: WeightedPrecision, base: Ints) -> Floats:
    """Return the total of R relevant documents and the terminal one, for each list."""
    weight = measure.weight(np.arange(1, int(np.max(base, initial=0)) + 2))
    if measure.cutoff is not None:
        weight[measure.cutoff :] = 0.0
    return np.asarray(np.cumsum(weight)[base])
