"""Conclusions that several judges share, and those that depend on the judge, as sentences and as pairs of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.significance import adjust, all_pairs, run_test
from rankscope.analysis.two_leaderboards import COEFFICIENTS
from rankscope.arrays import Bools, Floats, Ints
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
        self.significant = np.stack([self._signs(v, alpha) for v in values])

    def _signs(self, values: Floats, alpha: float) -> Ints:
        """Return the sign of every significant difference of two runs (paired t, Holm), and 0 for others."""
        test = run_test("t", self.measure.merit(values), self.first, self.second, alpha=alpha)
        return np.where(adjust(test.p, "holm") < alpha, np.sign(test.difference), 0).astype(int)

    def pairs(self) -> Iterator[PairOfRuns]:
        """Yield every pair of runs, the judges who prefer either run, and those who do so significantly."""
        counts = [(signs == sign).sum(axis=0) for signs in (self.order, self.significant) for sign in (1, -1)]
        for i, row in enumerate(zip(*(count.tolist() for count in counts), strict=True)):
            yield (self.runs[self.first[i]], self.runs[self.second[i]], *row)

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Yield kinds and sentences: the leader, pairs of runs, and similar judges."""
        leaders = [self.runs[best] for best in self.merits.argmax(axis=1)]
        names = dict.fromkeys(leaders)
        if len(names) == 1:
            yield "leader", f"{leaders[0]} leads under all {len(self.judges)} judges"
        else:
            shown = (f"{run} under {self._listed(np.array(leaders) == run)}" for run in names)
            yield "leader", f"the leader depends on the judge: {', '.join(shown)}"
        if len(self.runs) < 2:
            return
        shared = (self.order == self.order[0]).all(axis=0)
        proved = (self.significant == self.significant[0]).all(axis=0) & (self.significant[0] != 0)
        opposed = (self.significant == 1).any(axis=0) & (self.significant == -1).any(axis=0)
        yield "shared", f"all judges order {shared.sum():,} of {shared.size:,} pairs of runs alike"
        numbers = f"{proved.sum():,} pairs are significant under all judges, {opposed.sum():,} in opposite directions"
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

    def _listed(self, mask: Bools) -> str:
        names = [judge for judge, is_chosen in zip(self.judges, mask, strict=True) if is_chosen]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    def _alike(self) -> list[Bools]:
        """Return groups of judges whose leaderboards are all equivalent to each other (complete linkage)."""
        from scipy.cluster.hierarchy import fcluster, linkage

        judges = all_pairs(len(self.judges))
        tau = [COEFFICIENTS["tau"](self.merits[a], self.merits[b]) for a, b in zip(*judges, strict=True)]
        labels = fcluster(linkage(1 - np.nan_to_num(tau), "complete"), 1 - _ALIKE + 1e-12, "distance")
        return [labels == label for label in dict.fromkeys(labels.tolist())]
