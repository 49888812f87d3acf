"""Leaderboards of the same runs under several judges: their similarity, runs that gain, and sentences about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np

from rankscope.analysis import stats
from rankscope.analysis.correlation import coefficient
from rankscope.arrays import Bools, Floats, Ints
from rankscope.cells import join_names
from rankscope.scores import Scores

_ALIKE = 0.9
"""Kendall's tau from which leaderboards are usually called equivalent (Voorhees 2001)."""
_MAX_NAMED = 3  # pairs of runs that are described
_PERSISTENCE = 0.9  # Rank-biased overlap then rests mostly on the first ten ranks.

PairOfRuns = tuple[str, str, int, int, int, int]


class Leaderboards:
    """Leaderboards of the same runs by one measure under several judges, on the topics that are defined for all."""

    def __init__(self, judges: Sequence[str], scored: Sequence[Scores], measure: int, alpha: float) -> None:
        values = np.stack([scores.values[measure] for scores in scored])
        self.values = values[:, :, np.isfinite(values).all(axis=(0, 1))]
        self.judges, self.runs, self.measure = judges, scored[0].runs, scored[0].measures[measure]
        self.alpha = alpha
        self.merits = stats.rounded(self.measure.merit(np.stack([*map(self.measure.means, self.values)])))
        self.first, self.second = stats.all_pairs(len(self.runs))
        self.order = np.sign(self.merits[:, self.first] - self.merits[:, self.second]).astype(int)

    @cached_property
    def significant(self) -> Ints:
        """Order of every pair of runs under each judge if it is significant (paired t, Holm), and 0 otherwise."""
        signs = []
        for values in self.values:
            test = stats.run_test("t", self.measure.merit(values), self.first, self.second, alpha=self.alpha)
            is_significant = stats.adjust(test.p, "holm") < self.alpha
            signs.append(np.where(is_significant, np.sign(test.difference), 0).astype(int))
        return np.stack(signs)

    def similarity(self, *, top: int, replicates: int, seed: int) -> list[tuple[Any, ...]]:
        """Return (statistic, value, low, high) of two judges: correlations with their intervals, and counts without.

        The counts are those of pairs of runs by the judges who find them significantly different: ``agree``: both, in
        favour of the same run; ``reverse``: both, in favour of different runs; ``only first`` and ``only second``: one
        of them; ``neither``.
        """
        (a, b), (x, y) = self.merits, self.significant
        terms = (self.measure.split_mean(values)[0] for values in self.values)
        drawn = (self.measure.merit(stats.bootstrap_means(each, replicates, seed)) for each in terms)
        samples = [stats.rounded(merits).T for merits in drawn]
        rows: list[tuple[Any, ...]] = []
        for name, function in COEFFICIENTS.items():
            value = function(a, b)
            sampled = np.array([function(*pair) for pair in zip(*samples, strict=True)])
            tail = stats.expanded(self.alpha, self.values.shape[2])
            low, high = stats.reflected_interval(value, sampled, tail)
            rows.append((name, value, max(low, _LOWEST[name]), min(high, 1.0)))
        before, after = (stats.ranks(merits)[0] for merits in (a, b))
        best = min(top, len(a))
        shared = len(set(np.argsort(-a, kind="stable")[:best]) & set(np.argsort(-b, kind="stable")[:best]))
        counts = {
            "largest rank change": int(np.abs(before - after).max()),
            f"top {best} in common": shared / best,
            "agree": int(((x == y) & (x != 0)).sum()),
            "reverse": int((x * y < 0).sum()),
            "only first": int(((x != 0) & (y == 0)).sum()),
            "only second": int(((x == 0) & (y != 0)).sum()),
            "neither": int(((x == 0) & (y == 0)).sum()),
        }
        return [*rows, *((name, count, None, None) for name, count in counts.items())]

    def gains(self) -> list[tuple[Any, ...]]:
        """Return (run, first, second, difference, gain, low, high, rank_first, rank_second), largest gain first.

        ``gain`` is how much more a run gains under the second judge than the mean run does, with Student's interval
        over topics: a judge who is merely more lenient favours no run.
        """
        more = self.values[1] - self.values[0]
        beyond = more - more.mean(axis=0)
        gain = beyond.mean(axis=1)
        ranks = (stats.ranks(merits)[0] for merits in self.merits)
        means = *self.values.mean(axis=2), more.mean(axis=1)
        columns = *means, gain, *stats.t_intervals(beyond, self.alpha), *ranks
        rows = list(zip(self.runs, *(column.tolist() for column in columns), strict=True))
        return [rows[r] for r in np.argsort(-self.measure.merit(gain), kind="stable").tolist()]

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
        if n_more := len(disputed[_MAX_NAMED:]):
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
        """Text for all judges."""
        return "both judges" if len(self.judges) == 2 else f"all {len(self.judges)} judges"

    def _listed(self, mask: Bools) -> str:
        return join_names([*compress(self.judges, mask)], limit=len(self.judges))

    def _alike(self) -> list[Bools]:
        """Return groups of judges whose leaderboards are all equivalent to each other (complete linkage)."""
        from scipy.cluster.hierarchy import fcluster, linkage

        judges = stats.all_pairs(len(self.judges))
        tau = [COEFFICIENTS["tau"](self.merits[a], self.merits[b]) for a, b in zip(*judges, strict=True)]
        labels = fcluster(linkage(1 - np.nan_to_num(tau), "complete"), 1 - _ALIKE + 1e-12, "distance")
        return [labels == label for label in dict.fromkeys(labels.tolist())]


def _coefficient(method: str, a: Floats, b: Floats) -> float:
    return coefficient(method, a, b, rbo_p=_PERSISTENCE, rbo_ties="b")[0]


_METHODS = {"tau": "kendall", "tau_ap": "ap", "rbo": "rbo"}
COEFFICIENTS = {name: partial(_coefficient, method) for name, method in _METHODS.items()}
_LOWEST = {"tau": -1.0, "tau_ap": -1.0, "rbo": 0.0}
