"""Scales of measures over graded rankings, decided by counting all pairs if that is feasible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.errors import SettingsError
from rankscope.lab.measurement import graded
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.counting import FEASIBLE_WORDS, count_listed
from rankscope.lab.measurement.distances import count_listed_distances
from rankscope.lab.measurement.intervals import Codes
from rankscope.lab.measurement.scales import ScaleVerdict
from rankscope.lab.measurement.setting import Setting
from rankscope.lab.measurement.study import MAX_INTERVALS, ScaleStudy
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import magnitude, slack
from rankscope.measures import Measure


@lru_cache(maxsize=4)
def _listed(setting: Setting, equal_relevant: bool) -> graded.IntervalList:
    """Return the intervals of a setting, cached because they are the same for all measures."""
    return graded.graded_rankings(setting).intervals(equal_relevant)


class GradedStudy(ScaleStudy):
    """Analysis of one measure on all graded rankings up to a length."""

    def __init__(self, measure: Measure, setting: Setting, *options: Any) -> None:
        super().__init__(measure, setting, *options)
        self._known: dict[int, Floats] = {}
        self.values = self._values(setting.length)

    def _merits_at(self, length: int, codes: Sequence[int]) -> Floats:
        return self._values(length)[np.searchsorted(self._words(length).code, list(codes))]

    def _values(self, length: int) -> Floats:
        if length not in self._known:
            self._known[length] = graded.graded_merits(self.measure, self._words(length))
        return self._known[length]

    def _words(self, length: int) -> graded.GradedRankings:
        return graded.graded_rankings(self.setting.with_length(length))

    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        words = self._words(self.setting.length)
        listed = _listed(self.setting, equal_relevant)
        rise = self.values[listed.upper] - self.values[listed.lower]
        convex = graded.has_convex_gains(words, self.values, equal_relevant)
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
            counted = scale_results.tally_numbers(tally)
            numbers = scale_results.add_nonempty_share(counted, len(words), len(listed), lambda: falling)
            if tally.violations == 0:
                return self._holds(scale, because, numbers)
        elif convex:
            numbers = {"method": "theorem", **scale_results.NOTHING_VIOLATED, "share_nonempty": 0.0}
            return self._holds(scale, because, numbers)
        else:
            numbers = self._sampled(listed, rise)
        return self._failed(scale, numbers)

    def _sampled(self, listed: graded.IntervalList, rise: Floats) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, self.setting.length, self.setting.grades, len(listed)])
        small, large = graded.sample_interval_pairs(listed, self.samples, rng)
        return self._sampled_numbers(rise[small], rise[large], self.values)

    def _interval(self, scale: str) -> ScaleVerdict:
        words = self._words(self.setting.length)
        lower, upper, distance = self._distances(words, scale)
        rise = self.values[upper] - self.values[lower]
        tally = count_listed_distances(distance.astype(np.int32), rise, magnitude(self.values))
        numbers = scale_results.tally_numbers(tally)
        if tally.violations:
            return self._failed(scale, numbers)
        return self._holds(scale, "equal distances and equal rises go together", numbers)

    def _own_order(self) -> ScaleVerdict:
        is_counted = len(self.values) * (len(self.values) + 1) // 2 <= MAX_INTERVALS
        return self._check_spacing(self.values, self._words(self.setting.length).code, is_counted)

    def _distances(self, words: graded.GradedRankings, scale: str) -> tuple[Codes, Codes, Ints]:
        """Return the intervals of an interval scale: both ends, and their distances."""
        if scale == scale_results.WEAK:
            listed = _listed(words.setting, False)
            return listed.lower, listed.upper, words.steps[listed.upper] - words.steps[listed.lower]
        if len(words) * (len(words) + 1) // 2 > MAX_INTERVALS:
            problem = f"{len(words):,} rankings have too many pairs for the scale of strong top-heaviness"
            raise SettingsError(problem, hint="choose a smaller length")
        lower, upper = np.triu_indices(len(words))
        return lower, upper, words.code[upper] - words.code[lower]

    def _failed(self, scale: str, numbers: dict[str, Any]) -> ScaleVerdict:
        """Return a negative verdict with the shortest counterexample."""
        if numbers["share"] == 0:
            raise SettingsError(
                f"no pair in a sample contradicts that {self.name} is on {scale_results.SCALES[scale]} {self.setting}",
                hint="that proves nothing: choose a smaller length, so that every pair can be compared",
            )
        pairs = ((n, self._contradiction(n, scale)) for n in range(1, self.setting.length + 1))
        n, pair = next((n, pair) for n, pair in pairs if pair is not None)
        return self._fails(scale, n, pair, numbers)

    def _contradiction(self, length: int, scale: str) -> Pair | None:
        words, values = self._words(length), self._values(length)
        if scale in (scale_results.ALL, scale_results.EQUAL):
            return graded.violated_pair(words, values, scale == scale_results.EQUAL)
        lower, upper, distance = self._distances(words, scale)
        return graded.broken_distance(
            words, lower, upper, distance, values[upper] - values[lower], magnitude(values)
        )
