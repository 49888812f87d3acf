"""Conclusions that several judges share, and those that depend on the judge, as sentences and as pairs of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

import numpy as np

from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.significance import all_pairs
from rankscope.analysis.two_leaderboards import COEFFICIENTS, significant_signs
from rankscope.arrays import Bools
from rankscope.cells import join_names
from rankscope.scores import Scores

_ALIKE = 0.9
"""Kendall's tau from which leaderboards are usually called equivalent (Voorhees 2001)."""
_MAX_NAMED = 3  # pairs of runs that are described

PairOfRuns = tuple[str, str, int, int, int, int]


class Panel:
    """Leaderboards of the same runs by one measure under several judges, on the topics that are defined for all."""

    def __init__(self, judges: Sequence[str], scored: Sequence[Scores], measure: int, alpha: float) -> None:
        values = np.stack([scores.values[measure] for scores in scored])
        values = values[:, :, np.isfinite(values).all(axis=(0, 1))]
        self.judges, self.runs, self.measure = judges, scored[0].runs, scored[0].measures[measure]
        self.merits = rounded(np.stack([self.measure.merit(self.measure.means(v)) for v in values]))
        self.first, self.second = all_pairs(len(self.runs))
        self.order = np.sign(self.merits[:, self.first] - self.merits[:, self.second]).astype(int)
        self.significant = np.stack([significant_signs(self.measure.merit(v), alpha) for v in values])

    def pairs(self) -> Iterator[PairOfRuns]:
        """Yield every pair of runs, the judges who prefer either run, and those who do so significantly."""
        counts = [(signs == sign).sum(axis=0) for signs in (self.order, self.significant) for sign in (1, -1)]
        for i, row in enumerate(zip(*(count.tolist() for count in counts), strict=True)):
            yield (self.runs[self.first[i]], self.runs[self.second[i]], *row)

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield kinds and sentences: the leader, pairs of runs, and similar judges."""
        is_best = self.merits == self.merits.max(axis=1, keepdims=True)
        masks, group = np.unique(is_best, axis=0, return_inverse=True)
        leaders = [join_names([*compress(self.runs, mask)]) for mask in masks]
        if len(leaders) == 1:
            verb = "leads" if masks.sum() == 1 else "lead with equal means"
            yield "leader", f"{leaders[0]} {verb} under {self.every}"
        else:
            order = dict.fromkeys(group.tolist())
            shown = (f"{leaders[number]} under {self._listed(group == number)}" for number in order)
            yield "leader", f"the leader depends on the judge: {', '.join(shown)}"
        if len(self.runs) < 2:
            return
        shared = (self.order == self.order[0]).all(axis=0)
        proved = (self.significant == self.significant[0]).all(axis=0) & (self.significant[0] != 0)
        opposed = (self.significant == 1).any(axis=0) & (self.significant == -1).any(axis=0)
        yield "shared", f"{self.every} order {shared.sum():,} of {shared.size:,} pairs of runs alike"
        numbers = f"{proved.sum():,} pairs are significant under {self.every}, {opposed.sum():,} in opposite directions"
        yield "significant", numbers
        gap = np.abs(self.merits[:, self.first] - self.merits[:, self.second]).max(axis=0)
        disputed = sorted(np.flatnonzero(~shared).tolist(), key=lambda pair: -gap[pair])
        for pair in disputed[:_MAX_NAMED]:
            yield "depends", self._describe(pair)
        if len(disputed) > _MAX_NAMED:
            n_more = len(disputed) - _MAX_NAMED
            yield "depends", f"{n_more:,} more pair{'s depend' if n_more > 1 else ' depends'} on the judge"
        if len(self.judges) > 2 and len(self.runs) > 2:
            groups = [self._listed(group) for group in self._alike()]
            alike = "; ".join(group for group in groups if " and " in group) or "none"
            yield "alike", f"judges with equivalent leaderboards (tau at least {_ALIKE}): {alike}"

    def _describe(self, pair: int) -> str:
        a, b = self.runs[self.first[pair]], self.runs[self.second[pair]]
        order = self.order[:, pair]
        sides = [(a, "above", b, order > 0), (b, "above", a, order < 0), (a, "level with", b, order == 0)]
        return ", ".join(f"{x} {word} {y} under {self._listed(m)}" for x, word, y, m in sides if m.any())

    @property
    def every(self) -> str:
        """All judges, in words."""
        return "both judges" if len(self.judges) == 2 else f"all {len(self.judges)} judges"

    def _listed(self, mask: Bools) -> str:
        return join_names([*compress(self.judges, mask)], limit=len(self.judges))

    def _alike(self) -> list[Bools]:
        """Return groups of judges whose leaderboards are all equivalent to each other (complete linkage)."""
        from scipy.cluster.hierarchy import fcluster, linkage

        judges = all_pairs(len(self.judges))
        tau = [COEFFICIENTS["tau"](self.merits[a], self.merits[b]) for a, b in zip(*judges, strict=True)]
        labels = fcluster(linkage(1 - np.nan_to_num(tau), "complete"), 1 - _ALIKE + 1e-12, "distance")
        return [labels == label for label in dict.fromkeys(labels.tolist())]
