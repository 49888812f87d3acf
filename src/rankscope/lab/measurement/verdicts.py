"""Which scale a measure is on: interval-like, or interval under strong or weak top-heaviness or by its own order.

The verdicts are decided by theorems from the 2^N values of the measure (see ``convexity`` and
``distances``); the counts of violated pairs are exact as far as that is feasible, and sampled, with a
confidence interval, beyond.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.choices import COUNTS
from rankscope.engines import on_engine
from rankscope.errors import SettingsError
from rankscope.lab.measurement import distances
from rankscope.lab.measurement import scales as findings
from rankscope.lab.measurement.convexity import (
    Convexity,
    additive_weights,
    broken_additivity,
    convexity,
    witness,
)
from rankscope.lab.measurement.counting import (
    FEASIBLE_WORDS,
    Tally,
    count_groups,
    count_intervals,
    work,
)
from rankscope.lab.measurement.graded_verdicts import GradedStudy
from rankscope.lab.measurement.intervals import interval_count
from rankscope.lab.measurement.long_rankings import long_findings
from rankscope.lab.measurement.own_order import count_steps, evenly_spaced, uneven_steps
from rankscope.lab.measurement.scales import Counterexample, Finding, Scales
from rankscope.lab.measurement.setting import Setting
from rankscope.lab.measurement.values import values_of
from rankscope.lab.measurement.walks import Pair, comparable_pairs, sample_few, sample_pairs, worst_pair
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, magnitude, slack
from rankscope.measures import Measure, parse_many

__all__ = ["COUNTS", "LONGEST", "scales"]

LONGEST = 20
"""The longest rankings that are all evaluated: 2^20 of them."""

_FEASIBLE_MEMORY = 4 << 30
_FEASIBLE_INTERVALS = 1 << 24
_PROVABLE = 30  # the dynamic program keeps all its layers, which grow as N^5

Floats = NDArray[np.float64]


@on_engine
def scales(
    measures: str | Measure | Iterable[str | Measure],
    length: int = 10,
    *,
    equal_relevant: bool | None = None,
    relevant: int | None = None,
    grades: int = 1,
    count: str = "auto",
    samples: int = 100_000,
    seed: int = 1,
    jobs: int | None = None,
    engine: Any = None,
) -> Scales:
    """Whether measures are on an interval-like or an interval scale, on all rankings of a length.

    ``equal_relevant`` restricts the interval-like check to intervals with equally many relevant documents at
    both ends (True), to all intervals (False), or makes both (None). ``relevant`` is the recall base, as many
    as the rankings are long unless set; there are no rankings with more relevant documents. With ``grades`` the
    documents have grades from 0 to that, ``relevant`` of each, and differences are taken for each grade.
    ``count`` says how violated pairs are counted: "exact" all of them, "sample" a sample of ``samples``
    comparable pairs, "auto" all while that takes seconds. An interruption (Ctrl-C) ends the work and leaves
    what is known, marked as partial.

    Reference: Ferrante, Ferro and Pontarollo 2017.

    >>> found = scales("RBP(p=0.8)", length=4)
    >>> print(found.verdicts[0])  # doctest: +NORMALIZE_WHITESPACE
    Means of RBP are not permissible under the interval-like scale over all intervals at length 4, because
    already at length 2 the step from (00) to (01) is no larger than the one from (01) to (10)
    (difference vectors (0,1) and (1,1)), but RBP rises by more: 0.1600 against 0.0400
    (9.29% of 7,695 comparable pairs of intervals are violated).
    """
    wanted = parse_many(measures)
    setting = Setting.checked(length, relevant, grades)
    _check(count, samples)
    wanted_scales = _scales(equal_relevant, length)
    settings = {
        "measures": [str(measure) for measure in wanted], "length": length, "equal_relevant": equal_relevant,
        "relevant": setting.relevant, "grades": grades, "count": count, "samples": samples, "seed": seed,
        "tolerance": f"a rise is larger if by more than {RELATIVE:g} of it + {ABSOLUTE:g} of the largest score",
    }  # fmt: skip
    found: list[Finding] = []
    try:
        for measure in wanted:
            if grades == 1 and length > LONGEST:
                found += long_findings(measure, setting, wanted_scales)
                continue
            study = (_Study if grades == 1 else GradedStudy)(measure, setting, count, samples, seed, jobs)
            for scale in wanted_scales:
                found.append(study.finding(scale))
                if found[-1].method == "partial":
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        return Scales(found, {**settings, "partial": True}, partial=True)
    return Scales(found, settings)


def _scales(equal_relevant: bool | None, length: int) -> list[str]:
    both = [findings.ALL, findings.EQUAL]
    interval_like = both if equal_relevant is None else both[1:] if equal_relevant else both[:1]
    wanted = [*interval_like, findings.STRONG, findings.WEAK, findings.OWN]
    return [scale for scale in wanted if length <= LONGEST or scale in findings.FROM_WEIGHTS]


def _check(count: str, samples: int) -> None:
    if count not in COUNTS:
        raise SettingsError(f"no way to count is called {count!r}", hint=f"choose one of {', '.join(COUNTS)}")
    if samples < 1:
        raise SettingsError(f"{samples} samples", hint="draw at least one pair")


@lru_cache(maxsize=4)
def _drawn(length: int, equal_relevant: bool, samples: int, seed: int, relevant: int | None = None) -> Pair:
    """The sample is the same for every measure."""
    rng = np.random.default_rng([seed, length, equal_relevant, *([] if relevant is None else [relevant])])
    if relevant is None:
        return sample_pairs(length, samples, rng, equal_relevant)
    return sample_few(length, samples, rng, equal_relevant, relevant)


class _Study:
    """One measure, evaluated on all rankings up to a length."""

    def __init__(
        self,
        measure: Measure,
        setting: Setting,
        count: str,
        samples: int,
        seed: int,
        jobs: int | None,
    ) -> None:
        self.name = str(measure)
        self.setting = setting
        self.length = setting.length
        self.relevant = setting.relevant if setting.limited else None
        self.count = count
        self.samples = samples
        self.seed = seed
        self.jobs = jobs
        # shorter rankings too: the shortest contradiction is the easiest to read
        self.values = {n: values_of(measure, n, setting.relevant) for n in range(1, self.length + 1)}

    def finding(self, scale: str) -> Finding:
        if scale == findings.STRONG:
            return self._interval(scale, "strong")
        if scale == findings.WEAK:
            return self._interval(scale, "weak")
        if scale == findings.OWN:
            return self._own_order()
        return self._interval_like(scale, scale == findings.EQUAL)

    def _interval_like(self, scale: str, equal_relevant: bool) -> Finding:
        weights = additive_weights(self.values[self.length], equal_relevant)
        holds = weights is not None and self._convexity(weights, equal_relevant).holds
        numbers = findings.without_empty(
            self._numbers(weights, holds, equal_relevant),
            int(np.count_nonzero(~np.isnan(self.values[self.length]))),
            interval_count(self.length, equal_relevant, self.relevant),
            lambda: distances.n_falling(self.values[self.length], equal_relevant, self.relevant),
        )
        if holds and not numbers.get("violations"):
            zeros = "" if equal_relevant else ", also when continued by zeros"
            because = f"it adds up weights that are convex{zeros}"
            return Finding(self.name, scale, self.setting, True, because=because, **numbers)
        shortest = ((n, self._violation(n, equal_relevant)) for n in range(1, self.length + 1))
        # curvatures too small to be distinguished from rounding, each by itself, can add up to a violation
        last = (
            [(self.length, self._violated(weights, equal_relevant))] if weights is not None and holds else []
        )
        return self._failed(scale, chain(shortest, last), numbers)

    def _violated(self, weights: Floats, equal_relevant: bool) -> Pair | None:
        """The pair that an additive measure violates most, if the topic has its rankings."""
        pair = worst_pair(weights, equal_relevant).pair
        return pair if not np.isnan(self.values[self.length][list(pair)]).any() else None

    def _convexity(self, weights: Floats, equal_relevant: bool) -> Convexity:
        return convexity(weights, equal_relevant, noise=ABSOLUTE * magnitude(self.values[len(weights)]))

    def _violation(self, length: int, equal_relevant: bool) -> Pair | None:
        """A violated pair at a length, or None if the theorems say that there is none."""
        weights = additive_weights(self.values[length], equal_relevant)
        if weights is None:
            return broken_additivity(self.values[length], equal_relevant)
        fails_at = self._convexity(weights, equal_relevant).fails_at
        return None if fails_at is None else witness(length, fails_at, equal_relevant)

    def _failed(
        self, scale: str, pairs: Iterable[tuple[int, Pair | None]], numbers: dict[str, Any]
    ) -> Finding:
        length, pair = next((n, pair) for n, pair in pairs if pair is not None)
        setting = self.setting.of_length(length)
        rises = [float(self.values[length][b] - self.values[length][a]) for a, b in (pair[:2], pair[2:])]
        example = Counterexample(setting, pair, *rises)
        already = "" if length == self.length else f"already at length {length} "
        return Finding(
            self.name, scale, self.setting, False, because=already + example.sentence(self.name, scale),
            fails_from=length, counterexample=example, **numbers,
        )  # fmt: skip

    def _numbers(self, weights: Floats | None, holds: bool, equal_relevant: bool) -> dict[str, Any]:
        """Violated and comparable pairs: all, or a sample of them."""
        need = work(self.length, equal_relevant, weights is not None, self.relevant)
        if self.count == "exact" and need.memory > _FEASIBLE_MEMORY:
            intervals = interval_count(self.length, equal_relevant, self.relevant)
            raise SettingsError(
                f"counting the pairs of {intervals:,} intervals of length {self.length} for {self.name} takes "
                f"{need.memory / 2**30:.1f} GiB and {need.words:,} machine words",
                hint="use a smaller length, or sample",
            )
        feasible = need.words <= FEASIBLE_WORDS and need.memory <= _FEASIBLE_MEMORY
        if self.count == "exact" or (self.count == "auto" and feasible):
            return findings.counted(self._tally(weights, equal_relevant))
        if self.relevant is not None:
            if holds:
                return {"method": "theorem", **findings.NOTHING_VIOLATED}
            return self._sampled(equal_relevant, None)
        comparable = comparable_pairs(self.length, equal_relevant)
        if holds and weights is not None and self.length <= _PROVABLE:
            excess = worst_pair(weights, equal_relevant).excess
            if excess <= slack(0.0, magnitude(self.values[self.length])) * 10:
                return {"method": "dynamic program", "comparable": comparable, **findings.NOTHING_VIOLATED}
        return self._sampled(equal_relevant, comparable)

    def _tally(self, weights: Floats | None, equal_relevant: bool) -> Tally:
        values = self.values[self.length]
        more: dict[str, Any] = {
            "label": f"{self.name}: pairs of intervals",
            "jobs": self.jobs,
            "relevant": self.relevant,
        }
        if weights is None:
            return count_intervals(values, self.length, equal_relevant, **more)
        return count_groups(weights, self.length, equal_relevant, scale=magnitude(values), **more)

    def _sampled(self, equal_relevant: bool, comparable: int | None) -> dict[str, Any]:
        values = self.values[self.length]
        pair = _drawn(self.length, equal_relevant, self.samples, self.seed, self.relevant)
        small, large = values[pair.s] - values[pair.r], values[pair.v] - values[pair.u]
        violated = int((small > large + slack(large, magnitude(values))).sum())
        low, high = findings.wilson(violated, self.samples)
        return {
            "method": "sampled", "comparable": comparable, "share": violated / self.samples, "low": low, "high": high,
        }  # fmt: skip

    def _interval(self, scale: str, heaviness: distances.Heaviness) -> Finding:
        numbers: dict[str, Any] = {"method": "theorem"}
        few = distances.chain_intervals(self.length, heaviness, self.relevant) <= _FEASIBLE_INTERVALS
        if few and self.count != "sample":
            numbers = findings.counted(distances.count_distances(self.values[self.length], heaviness))
        if distances.is_interval_scale(self.values[self.length], heaviness):
            because = "every step up the order raises it by the same amount"
            return Finding(
                self.name,
                scale,
                self.setting,
                True,
                because=because,
                **{**findings.NOTHING_VIOLATED, **numbers},
            )
        pairs = ((n, distances.unequal_pair(self.values[n], heaviness)) for n in range(1, self.length + 1))
        return self._failed(scale, pairs, numbers)

    def _own_order(self) -> Finding:
        values = self.values[self.length]
        few = distances.chain_intervals(self.length, "strong", self.relevant) <= _FEASIBLE_INTERVALS
        numbers: dict[str, Any] = {"method": "theorem"}
        if few and self.count != "sample":
            numbers = findings.counted(count_steps(values))
        if not evenly_spaced(values):
            # a shorter ranking has other values: it says nothing about these
            return self._failed(findings.OWN, [(self.length, Pair(*uneven_steps(values)))], numbers)
        numbers = {**findings.NOTHING_VIOLATED, **numbers}
        because = "its values are evenly spaced"
        return Finding(self.name, findings.OWN, self.setting, True, because=because, **numbers)
