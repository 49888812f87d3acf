"""Leaderboards of the same runs under two sets of judgments: their similarity, and the runs that gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rankscope.analysis import stats
from rankscope.analysis.correlation import coefficient
from rankscope.arrays import Floats, Ints
from rankscope.measures import Measure

_PERSISTENCE = 0.9  # Rank-biased overlap then rests mostly on the first ten ranks.


@dataclass(frozen=True, eq=False)
class Leaderboards:
    """Values of a measure under two judges (runs, topics), on the topics where both are defined for all runs."""

    measure: Measure
    runs: Sequence[str]
    first: Floats
    second: Floats

    def merits(self, values: Floats) -> Floats:
        """Return the means of the runs, with the sign that makes larger better."""
        terms, back = stats.averaged(self.measure, values)
        return stats.rounded(self.measure.merit(back(terms.mean(axis=1))))

    def similarity(self, *, top: int, alpha: float, replicates: int, seed: int) -> list[tuple[Any, ...]]:
        """Return (statistic, value, low, high): correlations with their intervals, and counts without."""
        a, b = self.merits(self.first), self.merits(self.second)
        samples = [
            stats.rounded(
                self.measure.merit(
                    stats.bootstrap_means(stats.averaged(self.measure, values)[0], replicates, seed)
                )
            )
            for values in (self.first, self.second)
        ]
        rows: list[tuple[Any, ...]] = []
        for name, function in COEFFICIENTS.items():
            value = function(a, b)
            sampled = np.array([function(x, y) for x, y in zip(samples[0].T, samples[1].T, strict=True)])
            low, high = stats.reflected_interval(value, sampled, stats.expanded(alpha, self.first.shape[1]))
            rows.append((name, value, max(low, _LOWEST[name]), min(high, 1.0)))
        before, after = (stats.ranks(merits)[0] for merits in (a, b))
        best = min(top, len(a))
        shared = len(set(np.argsort(-a, kind="stable")[:best]) & set(np.argsort(-b, kind="stable")[:best]))
        rows.append(("largest rank change", int(np.abs(before - after).max()), None, None))
        rows.append((f"top {best} in common", shared / best, None, None))
        return [*rows, *((name, count, None, None) for name, count in self.pairs(alpha).items())]

    def pairs(self, alpha: float) -> dict[str, int]:
        """Return the number of pairs of runs by the judges who find them significantly different (paired t, Holm).

        ``agree``: both, in favour of the same run; ``reverse``: both, in favour of different runs; ``only first`` and
        ``only second``: one of them; ``neither``.
        """
        x, y = (significant_signs(self.measure.merit(values), alpha) for values in (self.first, self.second))
        return {
            "agree": int(((x == y) & (x != 0)).sum()),
            "reverse": int((x * y < 0).sum()),
            "only first": int(((x != 0) & (y == 0)).sum()),
            "only second": int(((x == 0) & (y != 0)).sum()),
            "neither": int(((x == 0) & (y == 0)).sum()),
        }

    def gains(self, alpha: float) -> list[tuple[Any, ...]]:
        """Return (run, first, second, difference, gain, low, high, rank_first, rank_second), largest gain first.

        ``gain`` is how much more a run gains under the second judge than the mean run does, with Student's interval
        over topics: a judge who is merely more lenient favours no run.
        """
        more = self.second - self.first
        beyond = more - more.mean(axis=0)
        low, high = stats.t_intervals(beyond, alpha)
        gain = beyond.mean(axis=1)
        order = [stats.ranks(self.merits(values))[0] for values in (self.first, self.second)]
        columns = (
            self.runs, self.first.mean(axis=1).tolist(), self.second.mean(axis=1).tolist(), more.mean(axis=1).tolist(),
            gain.tolist(), low.tolist(), high.tolist(), order[0].tolist(), order[1].tolist(),
        )  # fmt: skip
        rows = list(zip(*columns, strict=True))
        return [rows[r] for r in np.argsort(-self.measure.merit(gain), kind="stable").tolist()]


def significant_signs(values: Floats, alpha: float) -> Ints:
    """Return the sign of the difference of every two runs if it is significant (paired t, Holm), and 0 otherwise."""
    test = stats.run_test("t", values, *stats.all_pairs(len(values)), alpha=alpha)
    return np.where(stats.adjust(test.p, "holm") < alpha, np.sign(test.difference), 0).astype(int)


def _coefficient(method: str, a: Floats, b: Floats) -> float:
    return coefficient(method, a, b, rbo_p=_PERSISTENCE, rbo_ties="b")[0]


_METHODS = {"tau": "kendall", "tau_ap": "ap", "rbo": "rbo"}
COEFFICIENTS = {name: partial(_coefficient, method) for name, method in _METHODS.items()}
_LOWEST = {"tau": -1.0, "tau_ap": -1.0, "rbo": 0.0}
