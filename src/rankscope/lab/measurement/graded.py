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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from rankscope.arrays import Floats, Int32s, Ints, NDArray
from rankscope.errors import SettingsError
from rankscope.lab.measurement import scales as scale_results
from rankscope.lab.measurement.convexity import convexity, group_ranges
from rankscope.lab.measurement.counting import FEASIBLE_WORDS, count_listed
from rankscope.lab.measurement.distances import count_listed_distances
from rankscope.lab.measurement.intervals import Codes, Groups, Intervals
from rankscope.lab.measurement.scales import MAX_INTERVALS, ScaleStudy, ScaleVerdict
from rankscope.lab.measurement.values import Setting, reject_undefined
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rankings.enumeration import values_on_words
from rankscope.lab.rankings.worlds import graded_world
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, magnitude, slack
from rankscope.measures import Measure

MAX_RANKINGS = 7000
"""Maximum number of rankings whose pairs are all compared, such as 3^8, 4^6 or 5^5."""

_ROWS = 1 << 21  # pairs of rankings that are compared at a time


@dataclass(frozen=True, eq=False)
class IntervalList(Intervals):
    """Intervals, ordered by groups of equal difference vectors: the indices of both ends among the rankings."""

    kinds: Groups


@dataclass(frozen=True, eq=False)
class GradedRankings:
    """Rankings of a setting in the order of their codes: ``grade`` (rankings, ranks)."""

    setting: Setting
    grade: NDArray[np.int8]
    code: Ints

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def prefix(self) -> NDArray[np.int16]:
        """Number of documents of each grade or better down to each rank (rankings, ranks x grades)."""
        levels = np.arange(1, self.setting.grades + 1)
        counts = np.cumsum(self.grade[:, :, None] >= levels, axis=1, dtype=np.int16)
        return counts.reshape(len(self), -1)

    @cached_property
    def steps(self) -> Ints:
        """Position of each ranking under weak top-heaviness."""
        weights = np.arange(self.setting.length, 0, -1, dtype=np.int64)
        return np.asarray(self.grade.astype(np.int64) @ weights, dtype=np.int64)

    @cached_property
    def total(self) -> Ints:
        """Sum of the grades of each ranking; counterexamples with small sums are preferred."""
        return np.asarray(self.grade.sum(axis=1, dtype=np.int64))

    def intervals(self, equal_relevant: bool = False) -> IntervalList:
        """Return all intervals r <= s, or those whose ends have equal numbers of documents of each grade."""
        lower, upper = (np.concatenate(parts) for parts in zip(*self._below(equal_relevant), strict=True))
        # The kind of an interval is, at each rank, "equal" or the two different grades.
        base = self.setting.grades + 1
        kind = np.zeros(len(lower), dtype=np.int64)
        for rank in range(self.setting.length):
            low, high = self.grade[lower, rank].astype(np.int64), self.grade[upper, rank].astype(np.int64)
            kind = kind * (base * base) + np.where(low == high, 0, low * base + high)
        _, first, kind_of, size = np.unique(kind, return_index=True, return_inverse=True, return_counts=True)
        change = self.prefix[upper[first]] - self.prefix[lower[first]]
        shape = (len(first), self.setting.length, self.setting.grades)
        delta = np.cumsum(change.reshape(shape), axis=1, dtype=np.int16).reshape(len(first), -1)
        # The count traverses the tree of difference vectors, so they must be in lexicographic order.
        ordered = np.lexsort(delta.T[::-1])
        position = np.empty_like(ordered)
        position[ordered] = np.arange(len(ordered))
        group: Int32s = position[kind_of.ravel()].astype(np.int32)
        order = np.argsort(group, kind="stable")
        none = np.zeros((len(first), 0), dtype=np.int8)
        kinds = Groups(none, delta[ordered], size[ordered].astype(np.int64))
        return IntervalList(lower[order], upper[order], group[order], kinds)

    def _below(self, equal_relevant: bool) -> Iterator[tuple[Ints, Ints]]:
        step = max(1, _ROWS // len(self))
        last = slice(-self.setting.grades, None)
        for first in range(0, len(self), step):
            block = self.prefix[first : first + step]
            below = np.ones((len(block), len(self)), dtype=np.bool_)
            for column in range(self.prefix.shape[1]):
                below &= block[:, column, None] <= self.prefix[None, :, column]
            if equal_relevant:
                below &= (block[:, None, last] == self.prefix[None, :, last]).all(axis=2)
            low, high = np.nonzero(below)
            yield low + first, high


@lru_cache(maxsize=16)
def graded_rankings(setting: Setting) -> GradedRankings:
    """Return the rankings of a setting.

    >>> ["".join(map(str, row)) for row in graded_rankings(Setting(2, 1, grades=2)).grade.tolist()]
    ['00', '01', '02', '10', '12', '20', '21']
    """
    base = setting.grades + 1
    if base**setting.length > MAX_RANKINGS:
        longest = next(n for n in range(setting.length, 0, -1) if base**n <= MAX_RANKINGS)
        raise SettingsError(
            f"{base}^{setting.length} rankings of length {setting.length} over the grades 0 to {setting.grades}",
            hint=f"all pairs of rankings are compared: choose a length up to {longest}",
        )
    code = np.arange(base**setting.length, dtype=np.int64)
    grade = np.empty((len(code), setting.length), dtype=np.int8)
    rest = code
    for rank in range(setting.length - 1, -1, -1):
        rest, grade[:, rank] = np.divmod(rest, base)
    levels = np.arange(1, base)
    is_possible = ((grade[:, :, None] == levels).sum(axis=1) <= setting.relevant).all(axis=1)
    return GradedRankings(setting, grade[is_possible], code[is_possible])


def graded_merits(measure: Measure, words: GradedRankings) -> Floats:
    """Return the merits of a measure on all rankings; raise an error if one is not finite."""
    setting = words.setting
    world = graded_world(setting.grades, relevant=setting.relevant, nonrelevant=setting.length)
    values = measure.merit(values_on_words(measure, world, setting.length)[words.code])
    reject_undefined(measure, values, lambda index: setting.word(int(words.code[index])))
    return values


def has_convex_gains(words: GradedRankings, values: Floats, equal_relevant: bool) -> bool:
    """Return whether the measure is a sum of gains by rank and grade that are convex in the rank, hence interval-like.

    With ``equal_relevant`` an additional term that depends only on the number of documents of each grade is allowed.
    """
    setting, scale = words.setting, magnitude(values)
    base = setting.grades + 1
    ranks = base ** np.arange(setting.length - 1, -1, -1)
    alone = np.arange(base)[None, :] * ranks[:, None]  # codes of rankings with one document above grade 0
    gains = values[np.searchsorted(words.code, alone)] - values[0]
    rest = values - values[0] - gains[np.arange(setting.length), words.grade].sum(axis=1)
    if equal_relevant:
        _, kind = np.unique(words.prefix[:, -setting.grades :], axis=0, return_inverse=True)
        rest = group_ranges(rest, kind.ravel())
    if float(np.abs(rest).max()) > RELATIVE * scale:
        return False
    weights = np.diff(gains, axis=1).T
    return all(convexity(row, equal_relevant, noise=ABSOLUTE * scale).holds for row in weights)


def violated_pair(words: GradedRankings, values: Floats, equal_relevant: bool) -> Pair | None:
    """Return two intervals that contradict the interval-like scale, with small grades; None if no such pair exists."""
    listed, scale = words.intervals(equal_relevant), magnitude(values)
    rise = values[listed.upper] - values[listed.lower]
    plain = words.total[listed.lower] + words.total[listed.upper]
    highest, lowest = (_extreme(listed, factor * rise, plain) for factor in (-1.0, 1.0))
    unequal = np.flatnonzero(rise[highest] - rise[lowest] > slack(rise[lowest], scale))
    if len(unequal):  # equal difference vectors and unequal rises
        group = int(unequal[np.argmin(plain[highest[unequal]] + plain[lowest[unequal]])])
        return _pair(words, listed.lower, listed.upper, highest[group], lowest[group])
    representative = _extreme(listed, np.zeros(len(rise)), plain)  # Rises are equal within each group.
    height, delta = rise[representative], listed.kinds.delta
    limits = height + slack(height, scale)
    for large in np.argsort(plain[representative], kind="stable").tolist():
        small = np.flatnonzero(height > limits[large])
        small = small[(delta[small] <= delta[large]).all(axis=1)]
        if len(small):
            smaller = small[np.argmin(plain[representative[small]])]
            return _pair(words, listed.lower, listed.upper, representative[smaller], representative[large])
    return None


def _extreme(listed: IntervalList, values: Floats, plain: Ints) -> Ints:
    """Return the interval of each group with the smallest value; ties are resolved by the smallest ``plain``."""
    order = np.lexsort((plain, values, listed.group))
    return np.asarray(order[np.cumsum(listed.kinds.size) - listed.kinds.size])


def _pair(words: GradedRankings, lower: Codes, upper: Codes, first: int, second: int) -> Pair:
    ends = lower[first], upper[first], lower[second], upper[second]
    return Pair(*(int(words.code[end]) for end in ends))


def broken_distance(
    words: GradedRankings, lower: Codes, upper: Codes, distance: Ints, rise: Floats, scale: float
) -> Pair | None:
    """Return two intervals with equal distances and unequal rises, or the reverse; None if no such pair exists."""
    plain = words.total[lower] + words.total[upper]
    order = np.lexsort((plain, distance))
    start = np.flatnonzero(np.diff(distance[order], prepend=-1))
    reference = np.repeat(order[start], np.diff([*start, len(order)]))
    unequal = np.flatnonzero(np.abs(rise[order] - rise[reference]) > slack(rise[reference], scale))
    if len(unequal):  # in ascending order of distance and grades, as ``order`` is
        return _pair(words, lower, upper, reference[unequal[0]], order[unequal[0]])
    order = np.lexsort((plain, rise))
    near = np.diff(rise[order]) <= slack(rise[order][:-1], scale)
    apart = np.flatnonzero(near & (np.diff(distance[order]) != 0))
    return _pair(words, lower, upper, order[apart[0]], order[apart[0] + 1]) if len(apart) else None


def sample_interval_pairs(listed: IntervalList, samples: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw comparable pairs of intervals uniformly; return the indices of the smaller and of the larger ones."""
    delta = listed.kinds.delta
    kept: list[tuple[Ints, Ints]] = []
    while sum(len(chunk) for chunk, _ in kept) < samples:
        first, second = rng.integers(0, len(listed), (2, 2 * samples))
        fits = (delta[listed.group[first]] <= delta[listed.group[second]]).all(axis=1)
        kept.append((first[fits], second[fits]))
    small, large = (np.concatenate(part)[:samples] for part in zip(*kept, strict=True))
    return small, large


@lru_cache(maxsize=4)
def _listed(setting: Setting, equal_relevant: bool) -> IntervalList:
    """Return the intervals of a setting, cached because they are the same for all measures."""
    return graded_rankings(setting).intervals(equal_relevant)


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
            self._known[length] = graded_merits(self.measure, self._words(length))
        return self._known[length]

    def _words(self, length: int) -> GradedRankings:
        return graded_rankings(self.setting.with_length(length))

    def _interval_like(self, scale: str, equal_relevant: bool) -> ScaleVerdict:
        words = self._words(self.setting.length)
        listed = _listed(self.setting, equal_relevant)
        rise = self.values[listed.upper] - self.values[listed.lower]
        convex = has_convex_gains(words, self.values, equal_relevant)
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

    def _sampled(self, listed: IntervalList, rise: Floats) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, self.setting.length, self.setting.grades, len(listed)])
        small, large = sample_interval_pairs(listed, self.samples, rng)
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

    def _distances(self, words: GradedRankings, scale: str) -> tuple[Codes, Codes, Ints]:
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
        return self._shortest_failure(scale, pairs, numbers)

    def _contradiction(self, length: int, scale: str) -> Pair | None:
        words, values = self._words(length), self._values(length)
        if scale in (scale_results.ALL, scale_results.EQUAL):
            return violated_pair(words, values, scale == scale_results.EQUAL)
        lower, upper, distance = self._distances(words, scale)
        return broken_distance(
            words, lower, upper, distance, values[upper] - values[lower], magnitude(values)
        )
