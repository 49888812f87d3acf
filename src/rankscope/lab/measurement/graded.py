"""Scales over graded rankings (grades 0 to G), decided by a comparison of all pairs of intervals.

Swaps towards the top and replacements by better documents lead from r to s iff, for every grade g and rank k, the first
k documents of s contain at least as many of grade g or better as those of r (Ferrante, Ferro and Maistro 2015). A
graded ranking is therefore one binary ranking [r_j >= g] for each grade, and an interval has a difference vector for
each; it is no larger than another one iff none of its vectors is. No distances between grades are assumed.

    strong top-heaviness   all rankings in one chain, distance = difference of the codes (numbers of base G + 1)
    weak top-heaviness     the partial order, distance = sum over the grades of Delta[N]

As for binary rankings, M(s) - M(r) is a sum of Delta times second differences, here of the weights by which a grade
exceeds the grade below: a measure that sums gains by grade and rank is interval-like if all these weights are convex.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from rankscope.arrays import Floats, Ints
from rankscope.errors import SettingsError
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.convexity import convexity, group_ranges
from rankscope.lab.measurement.counting import FEASIBLE_WORDS, count_listed
from rankscope.lab.measurement.distances import Heaviness, count_between, positions
from rankscope.lab.measurement.intervals import Codes, Intervals, intervals, rankings
from rankscope.lab.measurement.scales import MAX_INTERVALS, EnumeratedStudy, ScaleVerdict
from rankscope.lab.measurement.values import Setting
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, magnitude, slack

MAX_RANKINGS = 7000
"""Maximum number of rankings whose pairs are all compared, such as 3^8, 4^6 or 5^5."""


@lru_cache(maxsize=4)
def listed_intervals(setting: Setting, equal_relevant: bool = False) -> Intervals:
    """Return the intervals of a setting, cached because they are the same for all measures."""
    base = setting.grades + 1
    if base**setting.length > MAX_RANKINGS:
        longest = next(n for n in range(setting.length, 0, -1) if base**n <= MAX_RANKINGS)
        raise SettingsError(
            f"{base}^{setting.length} rankings of length {setting.length} over the grades 0 to {setting.grades}",
            hint=f"all pairs of rankings are compared: choose a length up to {longest}",
        )
    return intervals(setting.length, equal_relevant, setting.relevant, setting.grades)


def has_convex_gains(setting: Setting, values: Floats, equal_relevant: bool) -> bool:
    """Return whether the measure is a sum of gains by rank and grade that are convex in the rank, hence interval-like.

    With ``equal_relevant`` an additional term that depends only on the number of documents of each grade is allowed.
    """
    base, scale = setting.grades + 1, magnitude(values)
    places = base ** np.arange(setting.length - 1, -1, -1)
    gains = values[np.arange(base) * places[:, None]] - values[0]  # of a single document at each rank
    words = rankings(setting.length, setting.grades)
    rest = values - values[0] - gains[np.arange(setting.length), words].sum(axis=1)
    is_defined = ~np.isnan(values)
    rest, words = rest[is_defined], words[is_defined]
    if equal_relevant:
        _, kind = np.unique(np.sort(words, axis=1), axis=0, return_inverse=True)
        rest = group_ranges(rest, kind.ravel())
    if float(np.abs(rest).max()) > RELATIVE * scale:
        return False
    weights = np.diff(gains, axis=1).T
    return all(convexity(row, equal_relevant, noise=ABSOLUTE * scale).holds for row in weights)


def _total_grades(setting: Setting, lower: Codes, upper: Codes) -> Ints:
    """Return the sums of the grades of both ends; counterexamples with small sums are preferred."""
    total = rankings(setting.length, setting.grades).sum(axis=1, dtype=np.int64)
    return np.asarray(total[lower] + total[upper])


def violated_pair(setting: Setting, values: Floats, equal_relevant: bool) -> Pair | None:
    """Return two intervals that contradict the interval-like scale, with small grades; None if no such pair exists."""
    listed, scale = listed_intervals(setting, equal_relevant), magnitude(values)
    rise = values[listed.upper] - values[listed.lower]
    plain = _total_grades(setting, listed.lower, listed.upper)
    highest, lowest = (_extreme(listed, factor * rise, plain) for factor in (-1.0, 1.0))
    unequal = np.flatnonzero(rise[highest] - rise[lowest] > slack(rise[lowest], scale))
    if len(unequal):  # equal difference vectors and unequal rises
        group = int(unequal[np.argmin(plain[highest[unequal]] + plain[lowest[unequal]])])
        return _pair(listed.lower, listed.upper, highest[group], lowest[group])
    representative = _extreme(listed, np.zeros(len(rise)), plain)  # Rises are equal within each group.
    height, delta = rise[representative], listed.kinds.delta
    limits = height + slack(height, scale)
    for large in np.argsort(plain[representative], kind="stable").tolist():
        small = np.flatnonzero(height > limits[large])
        small = small[(delta[small] <= delta[large]).all(axis=1)]
        if len(small):
            smaller = small[np.argmin(plain[representative[small]])]
            return _pair(listed.lower, listed.upper, representative[smaller], representative[large])
    return None


def _extreme(listed: Intervals, values: Floats, plain: Ints) -> Ints:
    """Return the interval of each group with the smallest value; ties are resolved by the smallest ``plain``."""
    order = np.lexsort((plain, values, listed.group))
    return np.asarray(order[np.cumsum(listed.kinds.size) - listed.kinds.size])


def _pair(lower: Codes, upper: Codes, first: int, second: int) -> Pair:
    return Pair(int(lower[first]), int(upper[first]), int(lower[second]), int(upper[second]))


def broken_distance(
    setting: Setting, values: Floats, lower: Codes, upper: Codes, position: Ints
) -> Pair | None:
    """Return two intervals with equal distances and unequal rises, or the reverse; None if no such pair exists."""
    plain, scale = _total_grades(setting, lower, upper), magnitude(values)
    distance, rise = position[upper] - position[lower], values[upper] - values[lower]
    order = np.lexsort((plain, distance))
    start = np.flatnonzero(np.diff(distance[order], prepend=-1))
    reference = np.repeat(order[start], np.diff([*start, len(order)]))
    unequal = np.flatnonzero(np.abs(rise[order] - rise[reference]) > slack(rise[reference], scale))
    if len(unequal):  # in ascending order of distance and grades, as ``order`` is
        return _pair(lower, upper, reference[unequal[0]], order[unequal[0]])
    order = np.lexsort((plain, rise))
    near = np.diff(rise[order]) <= slack(rise[order][:-1], scale)
    apart = np.flatnonzero(near & (np.diff(distance[order]) != 0))
    return _pair(lower, upper, order[apart[0]], order[apart[0] + 1]) if len(apart) else None


def sample_interval_pairs(listed: Intervals, samples: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw comparable pairs of intervals uniformly; return the indices of the smaller and of the larger ones."""
    delta = listed.kinds.delta
    kept: list[tuple[Ints, Ints]] = []
    while sum(len(chunk) for chunk, _ in kept) < samples:
        first, second = rng.integers(0, len(listed), (2, 2 * samples))
        fits = (delta[listed.group[first]] <= delta[listed.group[second]]).all(axis=1)
        kept.append((first[fits], second[fits]))
    small, large = (np.concatenate(part)[:samples] for part in zip(*kept, strict=True))
    return small, large


class GradedStudy(EnumeratedStudy):
    """Analysis of one measure on all graded rankings up to a length."""

    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        listed = listed_intervals(self.setting, equal_relevant)
        rise = self.values[listed.upper] - self.values[listed.lower]
        convex = has_convex_gains(self.setting, self.values, equal_relevant)
        because = "no pair of intervals contradicts it"
        if convex:
            zeros = "" if equal_relevant else ", also when continued by zeros"
            because = f"it adds up gains of the ranks and grades that are convex{zeros}"
        work = len(listed.kinds) * (len(listed) // 64 + 1)
        if self.count == "exact" or (self.count == "auto" and work <= FEASIBLE_WORDS):
            label = f"{self.name}: pairs of intervals"
            tally = count_listed(listed, self.values, label=label, jobs=self.jobs)
            if not tally.complete:
                raise KeyboardInterrupt
            falling = int((rise + slack(rise, magnitude(self.values)) < 0).sum())
            counted = scale_results.tally_numbers(tally)
            numbers = scale_results.add_nonempty_share(counted, self.n_rankings, len(listed), lambda: falling)
            if tally.violations == 0:
                return self._holds(scale, because, numbers)
        elif convex:
            numbers = {"method": "theorem", **scale_results.NOTHING_VIOLATED, "share_nonempty": 0.0}
            return self._holds(scale, because, numbers)
        else:
            numbers = self._sampled(listed, rise)
        return self._failed(scale, numbers)

    def _sampled(self, listed: Intervals, rise: Floats) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, self.setting.length, self.setting.grades, len(listed)])
        small, large = sample_interval_pairs(listed, self.samples, rng)
        return self._sampled_numbers(rise[small], rise[large], self.values)

    def _interval(self, scale: str) -> ScaleVerdict:
        tally = count_between(self.values, *self._distances(self.setting.length, scale))
        numbers = scale_results.tally_numbers(tally)
        if tally.violations:
            return self._failed(scale, numbers)
        return self._holds(scale, "equal distances and equal rises go together", numbers)

    def _distances(self, length: int, scale: str) -> tuple[Codes, Codes, Ints]:
        """Return the intervals of an interval scale: both ends, and the positions of all rankings."""
        lower: Codes
        upper: Codes
        if scale == scale_results.WEAK:
            listed = listed_intervals(self.setting.with_length(length))
            lower, upper = listed.lower, listed.upper
        else:
            codes = np.flatnonzero(~np.isnan(self.merits(length)))
            if len(codes) * (len(codes) + 1) // 2 > MAX_INTERVALS:
                problem = f"{len(codes):,} rankings have too many pairs for the scale of strong top-heaviness"
                raise SettingsError(problem, hint="choose a smaller length")
            lower, upper = (codes[end] for end in np.triu_indices(len(codes)))
        heaviness: Heaviness = "weak" if scale == scale_results.WEAK else "strong"
        return lower, upper, positions(length, heaviness, self.setting.grades)

    def _failed(self, scale: str, numbers: dict[str, Any]) -> ScaleVerdict:
        """Return a negative verdict with the shortest counterexample."""
        if numbers["share"] == 0:
            raise SettingsError(
                f"no pair in a sample contradicts that {self.name} is on {scale_results.SCALES[scale]} {self.setting}",
                hint="that proves nothing: choose a smaller length, so that every pair can be compared",
            )
        pairs = ((n, self._contradiction(n, scale)) for n in range(1, self.setting.length + 1))
        return self._shortest_failure(scale, pairs, numbers)

    def _contradiction(self, length: int, scale: str) -> Pair | None:
        setting, values = self.setting.with_length(length), self.merits(length)
        if scale in (scale_results.ALL, scale_results.EQUAL):
            return violated_pair(setting, values, scale == scale_results.EQUAL)
        return broken_distance(setting, values, *self._distances(length, scale))
