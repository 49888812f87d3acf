"""Similarity of a ranking to the ideal one."""

from __future__ import annotations

import numpy as np

from rankscope.judging.lists import Floats, Ints, Lists
from rankscope.measures.base import OPEN, Measure, parameter, ratio

ORDER = 11
"""Position of these measures in listings."""


class Compat(Measure):
    """Compatibility: the rank-biased overlap of a ranking with the ideal ranking nearest to it.

    RBO = sum over ranks d = 1 .. D of p^(d-1) * overlap(d) / d, divided by the sum of p^(d-1)
    Compat = RBO(ranking, ideal) / RBO(ideal, ideal);  documents of one grade keep their order in the ideal one
    D is the length of the longer of the two, as in ir_measures; the program of the authors has depth=1000

    User: Compares the ranking with the ideal one nearest to it, going one rank deeper with probability p; gains the
    overlap of both so far.
    """

    cutoff_rule = "none"
    reference = "Clarke, Vtyurina and Smucker 2020"
    p: float = parameter(0.95, "probability of going on to the next rank", low=0, high=1, excluded=OPEN)
    normalize: bool = parameter(True, "whether to divide by the overlap of the ideal ranking with itself")
    depth: int = parameter(0, "ranks compared; 0 for the length of the longer list", low=0, high=1_000_000)

    def evaluate(self, lists: Lists) -> Floats:
        hits = lists.relevant(1)
        base = lists.recall_base(1)
        deepest = np.full(len(lists), self.depth) if self.depth else np.maximum(lists.retrieved(), base)
        worth = self._worth(int(deepest.max(initial=0)))
        # a document adds to the overlap at every rank from the later of its two ranks on
        later = np.maximum(hits.rank, self._ideal_rank(lists))
        if self.depth:
            inside = later <= self.depth
            hits, later, base = hits.where(inside), later[inside], np.minimum(base, self.depth)
        later = np.minimum(later, len(worth))
        overlap = hits.count * worth[deepest] - hits.sum(worth[later - 1])
        if not self.normalize:
            return ratio(overlap, (1 - self.p**deepest) / (1 - self.p))
        of_first = np.concatenate([[0.0], np.cumsum(worth)])
        return ratio(overlap, base * worth[deepest] - of_first[base])

    def _ideal_rank(self, lists: Lists) -> Ints:
        """Return the rank of each relevant document in the ideal ranking: after all better ones, then in list order."""
        hits = lists.relevant(1)
        rank = np.zeros(len(hits), np.int64)
        for grade in np.unique(hits.grade).tolist():
            is_grade = hits.grade == grade
            above = lists.per_topic(lists.pool.recall_base(grade + 1))[hits.list]
            rank = np.where(is_grade, above + hits.before(is_grade.astype(np.int64)) + 1, rank)
        return rank

    def _worth(self, deepest: int) -> Floats:
        """Return ``worth[d]``, the contribution down to rank d of a document at the top of both rankings."""
        rank = np.arange(1, deepest + 1)
        return np.concatenate([[0.0], np.cumsum(self.p ** (rank - 1.0) / rank)])
