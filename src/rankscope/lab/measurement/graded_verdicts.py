"""Which scale a measure is on over graded rankings: by counting every pair, as far as that is feasible."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import SettingsError
from rankscope.lab.measurement import scales as findings
from rankscope.lab.measurement.counting import FEASIBLE_WORDS, Tally, count_listed
from rankscope.lab.measurement.distances import count_listed_distances
from rankscope.lab.measurement.graded import (
    Listed,
    Words,
    broken_distance,
    convex_gains,
    graded_values,
    sampled_pairs,
    violated_pair,
    words_of,
)
from rankscope.lab.measurement.own_order import count_steps, evenly_spaced, uneven_steps
from rankscope.lab.measurement.scales import Counterexample, Finding
from rankscope.lab.measurement.setting import Setting
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import magnitude, slack
from rankscope.measures import Measure

__all__ = ["GradedStudy"]

_MOST_INTERVALS = 1 << 24

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@lru_cache(maxsize=4)
def _listed(setting: Setting, equal_relevant: bool) -> Listed:
    """The intervals are the same for every measure."""
    return words_of(setting).intervals(equal_relevant)


class GradedStudy:
    """One measure on all graded rankings up to a length."""

    def __init__(
        self, measure: Measure, setting: Setting, count: str, samples: int, seed: int, jobs: int | None
    ) -> None:
        self.measure = measure
        self.name = str(measure)
        self.setting = setting
        self.count = count
        self.samples = samples
        self.seed = seed
        self.jobs = jobs
        self._known: dict[int, Floats] = {}
        self.values = self._values(setting.length)

    def _values(self, length: int) -> Floats:
        if length not in self._known:
            self._known[length] = graded_values(self.measure, self._words(length))
        return self._known[length]

    def _words(self, length: int) -> Words:
        return words_of(self.setting.of_length(length))

    def finding(self, scale: str) -> Finding:
        """What was found about one scale."""
        if scale in (findings.STRONG, findings.WEAK):
            return self._interval(scale)
        if scale == findings.OWN:
            return self._own_order()
        return self._interval_like(scale, scale == findings.EQUAL)

    def _interval_like(self, scale: str, equal_relevant: bool) -> Finding:
        words = self._words(self.setting.length)
        listed = _listed(self.setting, equal_relevant)
        rise = self.values[listed.upper] - self.values[listed.lower]
        convex = convex_gains(words, self.values, equal_relevant)
        because = "no pair of intervals contradicts it"
        if convex:
            zeros = "" if equal_relevant else ", also when continued by zeros"
            because = f"it adds up gains of the ranks and grades that are convex{zeros}"
        work = len(listed.kinds) * (len(listed) // 64 + 1)
        if self.count == "exact" or (self.count == "auto" and work <= FEASIBLE_WORDS):
            label = f"{self.name}: pairs of intervals"
            tally = count_listed(
                listed.kinds, listed.group, rise, magnitude(self.values), label=label, jobs=self.jobs
            )
            if not tally.complete:
                raise KeyboardInterrupt
            falling = int((rise + slack(rise, magnitude(self.values)) < 0).sum())
            numbers = findings.without_empty(
                findings.counted(tally), len(words), len(listed), lambda: falling
            )
            if tally.violations == 0:
                return Finding(self.name, scale, self.setting, True, because=because, **numbers)
        elif convex:
            numbers = {"method": "theorem", **findings.NOTHING_VIOLATED, "share_nonempty": 0.0}
            return Finding(self.name, scale, self.setting, True, because=because, **numbers)
        else:
            numbers = self._sampled(listed, rise)
        return self._failed(scale, numbers)

    def _sampled(self, listed: Listed, rise: Floats) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, self.setting.length, self.setting.grades, len(listed)])
        small, large = sampled_pairs(listed, self.samples, rng)
        violated = int((rise[small] > rise[large] + slack(rise[large], magnitude(self.values))).sum())
        low, high = findings.wilson(violated, self.samples)
        return {"method": "sampled", "share": violated / self.samples, "low": low, "high": high}

    def _interval(self, scale: str) -> Finding:
        words = self._words(self.setting.length)
        lower, upper, distance = self._distances(words, scale)
        tally = Tally(0, 0, True)
        if len(lower):
            rise = self.values[upper] - self.values[lower]
            tally = count_listed_distances(distance.astype(np.int32), rise, magnitude(self.values))
        if tally.violations:
            return self._failed(scale, findings.counted(tally))
        because = "equal distances and equal rises go together"
        return Finding(self.name, scale, self.setting, True, because=because, **findings.counted(tally))

    def _own_order(self) -> Finding:
        numbers: dict[str, Any] = {"method": "theorem"}
        if len(self.values) * (len(self.values) + 1) // 2 <= _MOST_INTERVALS:
            numbers = findings.counted(count_steps(self.values))
        if evenly_spaced(self.values):
            numbers = {**findings.NOTHING_VIOLATED, **numbers}
            because = "its values are evenly spaced"
            return Finding(self.name, findings.OWN, self.setting, True, because=because, **numbers)
        r, s, u, v = uneven_steps(self.values)
        code = self._words(self.setting.length).code
        pair = Pair(*(int(code[k]) for k in (r, s, u, v)))
        return self._contradicted(findings.OWN, self.setting.length, pair, numbers)

    def _distances(self, words: Words, scale: str) -> tuple[Ints, Ints, Ints]:
        """The intervals of an interval scale: both ends, and how far they are apart."""
        if scale == findings.WEAK:
            listed = _listed(words.setting, False)
            lower, upper, place = listed.lower, listed.upper, words.steps
        else:
            if len(words) * (len(words) + 1) // 2 > _MOST_INTERVALS:
                raise SettingsError(
                    f"{len(words):,} rankings have too many pairs for the scale of strong top-heaviness",
                    hint="choose a smaller length",
                )
            lower, upper = np.triu_indices(len(words))
            place = words.code
        return lower, upper, place[upper] - place[lower]

    def _failed(self, scale: str, numbers: dict[str, Any]) -> Finding:
        """The finding with the shortest contradiction."""
        if numbers["share"] == 0:
            raise SettingsError(
                f"no pair in a sample contradicts that {self.name} is on {findings.SCALES[scale]} {self.setting}",
                hint="that proves nothing: choose a smaller length, so that every pair can be compared",
            )
        n, pair = next(
            (n, found)
            for n in range(1, self.setting.length + 1)
            if (found := self._contradiction(n, scale)) is not None
        )
        return self._contradicted(scale, n, pair, numbers)

    def _contradicted(self, scale: str, n: int, pair: Pair, numbers: dict[str, Any]) -> Finding:
        setting, values = self.setting.of_length(n), self._values(n)
        at = values[np.searchsorted(self._words(n).code, list(pair))]
        example = Counterexample(setting, pair, float(at[1] - at[0]), float(at[3] - at[2]))
        already = "" if n == self.setting.length else f"already at length {n} "
        return Finding(
            self.name, scale, self.setting, False, because=already + example.sentence(self.name, scale),
            fails_from=n, counterexample=example, **numbers,
        )  # fmt: skip

    def _contradiction(self, length: int, scale: str) -> Pair | None:
        words, values = self._words(length), self._values(length)
        if scale in (findings.ALL, findings.EQUAL):
            return violated_pair(words, values, scale == findings.EQUAL)
        lower, upper, distance = self._distances(words, scale)
        return broken_distance(
            words, lower, upper, distance, values[upper] - values[lower], magnitude(values)
        )
