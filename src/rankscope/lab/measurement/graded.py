"""Graded rankings: the same scales over the grades 0 to G, decided by looking at every pair of intervals.

Swaps towards the top and replacements by better documents lead from r to s iff, for every grade g and rank k, the first
k documents of s hold at least as many of grade g or better (Ferrante, Ferro and Maistro 2015). So a graded ranking is
one binary ranking [r_j >= g] for each grade, and an interval has a difference vector for each; it is no larger than
another one iff none of these is. Nothing is assumed about how far grades are apart.

    strong top-heaviness   all rankings in one chain, distance = difference of the codes (numbers of base G + 1)
    weak top-heaviness     the partial order, distance = sum over the grades of Delta[N]

As for binary rankings, M(s) - M(r) is a sum of Delta times second differences, here of the weights by which a grade
exceeds the one below: a measure that adds up gains by grade and rank is interval-like if all these are convex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import SettingsError
from rankscope.lab.measurement.convexity import convexity
from rankscope.lab.measurement.intervals import Groups
from rankscope.lab.measurement.setting import Setting
from rankscope.lab.measurement.values import refuse_undefined
from rankscope.lab.measurement.walks import Pair
from rankscope.lab.rankings.enumeration import values_on_words
from rankscope.lab.rankings.worlds import graded_world
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, magnitude, slack
from rankscope.measures import Measure

__all__ = [
    "Listed",
    "Words",
    "broken_distance",
    "convex_gains",
    "graded_values",
    "sampled_pairs",
    "violated_pair",
    "words_of",
]

MOST = 7000
"""Rankings whose pairs are all looked at: 3^8, 4^6, 5^5."""

_ROWS = 1 << 21  # pairs of rankings compared at a time

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Listed:
    """Intervals, group after group of equal difference vectors: the places of both ends among the rankings."""

    lower: Ints
    upper: Ints
    group: NDArray[np.int32]
    kinds: Groups

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def starts(self) -> Ints:
        """Where each group begins."""
        return np.cumsum(self.kinds.size) - self.kinds.size


@dataclass(frozen=True, eq=False)
class Words:
    """The rankings of a setting in the order of their codes, a row of grades for each."""

    setting: Setting
    grade: NDArray[np.int8]
    code: Ints

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def prefix(self) -> NDArray[np.int16]:
        """Documents of each grade or better down to each rank: a column for each rank and grade, rank by rank."""
        levels = np.arange(1, self.setting.grades + 1)
        held = np.cumsum(self.grade[:, :, None] >= levels, axis=1, dtype=np.int16)
        return held.reshape(len(self), -1)

    @cached_property
    def steps(self) -> Ints:
        """Where each ranking stands under weak top-heaviness."""
        weights = np.arange(self.setting.length, 0, -1, dtype=np.int64)
        return np.asarray(self.grade.astype(np.int64) @ weights, dtype=np.int64)

    @cached_property
    def total(self) -> Ints:
        """The grades of each ranking added up: what is small is plain to read."""
        return np.asarray(self.grade.sum(axis=1, dtype=np.int64))

    def intervals(self, equal_relevant: bool = False) -> Listed:
        """All pairs r <= s; with ``equal_relevant`` those whose ends have equally many documents of each grade."""
        lower, upper = (np.concatenate(parts) for parts in zip(*self._below(equal_relevant), strict=True))
        # at each rank both ends agree, or their two grades say what changes
        base = self.setting.grades + 1
        kind = np.zeros(len(lower), dtype=np.int64)
        for rank in range(self.setting.length):
            low, high = self.grade[lower, rank].astype(np.int64), self.grade[upper, rank].astype(np.int64)
            kind = kind * (base * base) + np.where(low == high, 0, low * base + high)
        _, first, kind_of, size = np.unique(kind, return_index=True, return_inverse=True, return_counts=True)
        change = self.prefix[upper[first]] - self.prefix[lower[first]]
        shape = (len(first), self.setting.length, self.setting.grades)
        delta = np.cumsum(change.reshape(shape), axis=1, dtype=np.int16).reshape(len(first), -1)
        # counting goes down the tree of difference vectors, so they must be in lexicographic order
        ordered = np.lexsort(delta.T[::-1])
        place = np.empty_like(ordered)
        place[ordered] = np.arange(len(ordered))
        group: NDArray[np.int32] = place[kind_of.ravel()].astype(np.int32)
        order = np.argsort(group, kind="stable")
        none = np.zeros((len(first), 0), dtype=np.int8)
        kinds = Groups(
            self.setting.length, equal_relevant, none, delta[ordered], size[ordered].astype(np.int64)
        )
        return Listed(lower[order], upper[order], group[order], kinds)

    def _below(self, equal_relevant: bool) -> Iterator[tuple[Ints, Ints]]:
        step = max(1, _ROWS // len(self))
        last = slice(-self.setting.grades, None)
        for first in range(0, len(self), step):
            some = self.prefix[first : first + step]
            below = np.ones((len(some), len(self)), dtype=np.bool_)
            for column in range(self.prefix.shape[1]):
                below &= some[:, column, None] <= self.prefix[None, :, column]
            if equal_relevant:
                below &= (some[:, None, last] == self.prefix[None, :, last]).all(axis=2)
            low, high = np.nonzero(below)
            yield low + first, high


@lru_cache(maxsize=16)
def words_of(setting: Setting) -> Words:
    """The rankings of a setting.

    >>> ["".join(map(str, row)) for row in words_of(Setting(2, 1, grades=2)).grade.tolist()]
    ['00', '01', '02', '10', '12', '20', '21']
    """
    base = setting.grades + 1
    if base**setting.length > MOST:
        longest = next(n for n in range(setting.length, 0, -1) if base**n <= MOST)
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
    there = ((grade[:, :, None] == levels).sum(axis=1) <= setting.relevant).all(axis=1)
    return Words(setting, grade[there], code[there])


def graded_values(measure: Measure, words: Words) -> Floats:
    """The measure on each of the rankings, which must be a finite number."""
    setting = words.setting
    world = graded_world(setting.grades, relevant=setting.relevant, nonrelevant=setting.length)
    values = measure.merit(values_on_words(measure, world, setting.length)[words.code])
    refuse_undefined(measure, values, lambda place: setting.written(int(words.code[place])))
    return values


def convex_gains(words: Words, values: Floats, equal_relevant: bool) -> bool:
    """Whether the measure adds up gains by rank and grade that are convex from rank to rank: then it is interval-like.

    With ``equal_relevant`` a part that depends only on the number of documents of each grade is allowed besides.
    """
    setting, scale = words.setting, magnitude(values)
    base = setting.grades + 1
    ranks = base ** np.arange(setting.length - 1, -1, -1)
    alone = np.arange(base)[None, :] * ranks[:, None]  # the codes of rankings with one document above grade 0
    gains = values[np.searchsorted(words.code, alone)] - values[0]
    rest = values - values[0] - gains[np.arange(setting.length), words.grade].sum(axis=1)
    if equal_relevant:
        _, kind = np.unique(words.prefix[:, -setting.grades :], axis=0, return_inverse=True)
        kind = kind.ravel()
        highest, lowest = np.full(kind.max() + 1, -np.inf), np.full(kind.max() + 1, np.inf)
        np.maximum.at(highest, kind, rest)
        np.minimum.at(lowest, kind, rest)
        rest = highest - lowest
    if float(np.abs(rest).max()) > RELATIVE * scale:
        return False
    weights = np.diff(gains, axis=1).T
    return all(convexity(one, equal_relevant, noise=ABSOLUTE * scale).holds for one in weights)


def violated_pair(words: Words, values: Floats, equal_relevant: bool) -> Pair | None:
    """Two intervals that contradict the interval-like scale, as plain as possible; None if there are none."""
    listed, scale = words.intervals(equal_relevant), magnitude(values)
    rise = values[listed.upper] - values[listed.lower]
    plain = words.total[listed.lower] + words.total[listed.upper]
    most, least = (_extreme(listed, factor * rise, plain) for factor in (-1.0, 1.0))
    unequal = np.flatnonzero(rise[most] - rise[least] > slack(rise[least], scale))
    if len(unequal):  # equal difference vectors, unequal rises
        one = int(unequal[np.argmin(plain[most[unequal]] + plain[least[unequal]])])
        return _pair(words, listed, int(most[one]), int(least[one]))
    shown = _extreme(listed, np.zeros(len(rise)), plain)  # all rise equally: one stands for its group
    height, delta = rise[shown], listed.kinds.delta
    limits = height + slack(height, scale)
    for large in np.argsort(plain[shown], kind="stable").tolist():
        small = np.flatnonzero(height > limits[large])
        small = small[(delta[small] <= delta[large]).all(axis=1)]
        if len(small):
            chosen = int(small[np.argmin(plain[shown[small]])])
            return _pair(words, listed, int(shown[chosen]), int(shown[large]))
    return None


def _extreme(listed: Listed, values: Floats, plain: Ints) -> Ints:
    """The interval of each group with the smallest value, the plainest of several."""
    order = np.lexsort((plain, values, listed.group))
    return order[listed.starts]


def _pair(words: Words, listed: Listed, first: int, second: int) -> Pair:
    ends = listed.lower[first], listed.upper[first], listed.lower[second], listed.upper[second]
    return Pair(*(int(words.code[end]) for end in ends))


def broken_distance(
    words: Words, lower: Ints, upper: Ints, distance: Ints, rise: Floats, scale: float
) -> Pair | None:
    """Two intervals with equal distances and unequal rises, or the reverse; None if there are none."""
    plain = words.total[lower] + words.total[upper]

    def pair(first: int, second: int) -> Pair:
        ends = lower[first], upper[first], lower[second], upper[second]
        return Pair(*(int(words.code[end]) for end in ends))

    order = np.lexsort((plain, distance))
    start = np.flatnonzero(np.diff(distance[order], prepend=-1))
    reference = np.repeat(order[start], np.diff([*start, len(order)]))
    unequal = np.flatnonzero(np.abs(rise[order] - rise[reference]) > slack(rise[reference], scale))
    if len(unequal):
        one = int(unequal[np.lexsort((plain[order[unequal]], distance[order[unequal]]))[0]])
        return pair(int(reference[one]), int(order[one]))
    order = np.lexsort((plain, rise))
    near = np.diff(rise[order]) <= slack(rise[order][:-1], scale)
    apart = np.flatnonzero(near & (np.diff(distance[order]) != 0))
    return pair(int(order[apart[0]]), int(order[apart[0] + 1])) if len(apart) else None


def sampled_pairs(listed: Listed, samples: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Comparable pairs of intervals, drawn uniformly: places of the smaller and of the larger ones."""
    delta = listed.kinds.delta
    kept: list[tuple[Ints, Ints]] = []
    while sum(len(one) for one, _ in kept) < samples:
        first, second = rng.integers(0, len(listed), (2, 2 * samples))
        fits = (delta[listed.group[first]] <= delta[listed.group[second]]).all(axis=1)
        kept.append((first[fits], second[fits]))
    small, large = (np.concatenate(part)[:samples] for part in zip(*kept, strict=True))
    return small, large
