"""Similarity of a list to the ideal one."""

from __future__ import annotations

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judge.lists import Floats, Lists
from rankscope.measures.measure import Measure, parameter, ratio

__all__ = ["Compat"]

_DEPTH = 1000


class Compat(Measure):
    """Compatibility: the rank-biased overlap of a list with the ideal list nearest to it.

    RBO = sum over depths d of p^(d-1) * overlap(d) / d, down to depth 1000, divided by sum of p^(d-1)
    Compat = RBO(list, ideal) / RBO(ideal, ideal);  documents of one grade stand in the ideal as the list orders them
    """

    cutoff_rule = "none"
    reference = "Clarke, Vtyurina and Smucker 2020"
    p: float = parameter(0.95, "probability of going on to the next rank", low=0, high=1)
    normalize: bool = parameter(True, "whether to divide by the overlap of the ideal list with itself")

    def validate(self) -> None:
        if not 0 < self.p < 1:
            raise MeasureError(
                f"Compat cannot have p={self.p!r}", hint="p lies between 0 and 1, both excluded"
            )

    def of(self, lists: Lists) -> Floats:
        hits = lists.relevant(1)
        # a document adds to the overlap at every depth from the later of its two ranks on
        depth = np.maximum(hits.rank, self._ideal_rank(lists))
        overlap = hits.sum(self._worth_from()[np.minimum(depth, _DEPTH + 1)])
        if not self.normalize:
            return overlap / self._geometric()
        base = np.minimum(lists.recall_base(1), _DEPTH)
        best = np.concatenate([[0.0], np.cumsum(self._worth_from()[1:])])
        return ratio(overlap, best[base])

    def _ideal_rank(self, lists: Lists) -> Floats:
        """Where each relevant document stands in the ideal list: after all better ones, then in list order."""
        hits = lists.relevant(1)
        better = np.zeros(len(hits))
        for grade in range(1, lists.pool.max_grade + 1):
            mine = hits.grade == grade
            above = lists.per_topic(lists.pool.recall_base(grade + 1))[hits.list]
            better = np.where(mine, above + hits.before(mine.astype(np.int64)) + 1, better)
        return better.astype(np.int64)

    def _worth_from(self) -> Floats:
        """``worth[d]`` = sum over depths from d to the last of p^(depth-1) / depth; 0 beyond."""
        depth = np.arange(1, _DEPTH + 1)
        terms = self.p ** (depth - 1.0) / depth
        return np.concatenate([[0.0], np.cumsum(terms[::-1])[::-1], [0.0]])

    def _geometric(self) -> float:
        return float((1 - self.p**_DEPTH) / (1 - self.p))
