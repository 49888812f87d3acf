"""Any measure on an interval scale: the position of its value among all values that it can take.

A measure orders rankings. Means and t tests also assume that equal differences, such as .1 to .2 and .8 to .9, have the
same meaning. Ferrante, Ferro and Fuhr (2021) therefore replace every value by its position among the values of all
possible rankings. Whether this is appropriate is disputed (Moffat 2022; Ferrante, Ferro and Fuhr 2022).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Int32s, Ints, NDArray
from rankscope.errors import MeasureError
from rankscope.judging import UNJUDGED
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.measures.base import Measure, parameter
from rankscope.measures.classic import AP  # noqa: F401 (the default must be known)
from rankscope.measures.composed import Composed
from rankscope.measures.grammar import parse_open

ORDER = 10
"""Position of these measures in listings."""

MAX_RANKINGS = 1 << 20
"""Largest number of rankings of a topic that are enumerated."""

_SAME = 1e-12
"""Relative difference below which two values are equal up to rounding."""

_BLOCK = 1 << 15
"""Number of rankings evaluated at a time."""

Words = NDArray[np.int8]
Counts = tuple[tuple[int, int], ...]
"""(grade, number of documents), for the grades that a measure distinguishes."""


class Interval(Composed):
    """A measure on an interval scale: the position of its value among the values of all rankings of N documents.

    All rankings of N documents that the topic allows (at most the judged number of each grade) have the values
    v_0 < v_1 < ... < v_K, where values within 1e-12 count as equal;  Interval = k / K if the ranking has the value v_k
    The ranking is cut or padded to N. A topic with other counts has another scale: means over topics with different
    recall bases compare steps of different scales. 0 for a topic without relevant documents.
    At most 2^20 rankings: N up to 20 if grades do not matter.

    User: The user of the inner measure, whose gain is replaced by the number of worse outcomes that the topic allows,
    so that steps of the scale are equal.
    """

    cutoff_rule = "required"
    cutoff_meaning = "N, the length of the rankings"
    reference = "Ferrante, Ferro and Fuhr 2021"
    measure: str = parameter("AP", "the measure whose values are ordered, such as 'RBP(p=0.5)'")

    def validate(self) -> None:
        super().validate()
        inside = parse_open(self.measure)
        if inside.summary == "sum" or isinstance(inside, Composed):
            raise self._error(f"cannot have measure={self.measure!r}", "it needs no scale")
        object.__setattr__(self, "settings", {**self.settings, "measure": str(inside)})

    def complete(self) -> Interval:
        return Measure.complete(self)

    def inner(self) -> Measure:
        """Return the inner measure; if it requires a cutoff and has no own one, its cutoff is N."""
        inside = parse_open(self.measure)
        bare = inside.cutoff_rule == "required" and inside.cutoff is None
        return (inside @ self.cutoff if bare else inside).complete()

    def evaluate(self, lists: Lists) -> Floats:
        inside, cut = self.inner(), lists.with_length(self.cutoff)
        values = inside.evaluate(cut)
        self._reject_if_judgments_matter(inside, cut, values)
        result = np.full(len(cut), np.nan)
        by_counts: dict[Counts, list[int]] = {}
        for topic in np.unique(cut.topic).tolist():
            by_counts.setdefault(_counts(inside, cut.pool, topic), []).append(topic)
        for counts, topics in by_counts.items():
            rows = np.flatnonzero(np.isin(cut.topic, topics) & _possible(cut, counts))
            scale = self._inner_scale(inside, counts, cut.pool.max_grade if inside.sees_grades else 1)
            result[rows] = self._placed(values[rows], scale)
        return result

    def rankings(self, pool: Pool) -> dict[Counts, int]:
        """Return the number of rankings of every kind of topic; a kind is its number of documents of each grade."""
        inside = self.inner()
        kinds = {_counts(inside, pool, topic) for topic in range(len(pool))}
        return {kind: number_of_rankings(self.cutoff, _sizes(kind)) for kind in sorted(kinds)}

    def scale(self, counts: Counts, best: int) -> Floats:
        """Return the sorted values of the inner measure on a topic; ``best`` is the best grade of all topics.

        >>> Interval(measure="P", cutoff=3).scale(((1, 2),), 1).round(3).tolist()
        [0.0, 0.333, 0.667]
        """
        return self._inner_scale(self.inner(), counts, best)

    def _inner_scale(self, inside: Measure, counts: Counts, best: int) -> Floats:
        rankings = number_of_rankings(self.cutoff, _sizes(counts))
        if rankings > MAX_RANKINGS:
            described = ", ".join(f"{count} of grade {grade}" for grade, count in counts)
            problem = f"{self} would enumerate {rankings:,} rankings of a topic with {described}"
            hint = f"the limit is {MAX_RANKINGS:,}: choose a smaller cutoff than {self.cutoff}"
            raise MeasureError(problem, hint=hint)
        kind: Any = type(inside)
        cached_scale = _smallest if rankings <= _FEWEST else _small if rankings <= _FEW else _large
        return cached_scale(kind, inside, self.cutoff, counts, best)

    def _placed(self, values: Floats, scale: Floats) -> Floats:
        """Return k / K for every value."""
        defined = np.flatnonzero(~np.isnan(values))
        result = np.full(len(values), np.nan)
        if not len(defined):
            return result
        defined_values = values[defined]
        right = np.clip(np.searchsorted(scale, defined_values), 1, max(1, len(scale) - 1))
        near = np.array([right - 1, np.minimum(right, len(scale) - 1)])
        with np.errstate(invalid="ignore"):  # infinite values
            distance = np.where(scale[near] == defined_values, 0.0, np.abs(scale[near] - defined_values))
        index = near[np.argmin(distance, axis=0), np.arange(len(defined_values))]
        if (distance.min(axis=0) > 1e-9 * np.maximum(1, np.abs(defined_values))).any():
            problem = f"{self.measure} has a value that no ranking of {self.cutoff} documents has"
            hint = "Interval is for measures that depend only on the grades at the ranks"
            raise MeasureError(problem, hint=hint)
        result[defined] = index / max(1, len(scale) - 1)
        return result

    def _reject_if_judgments_matter(self, inside: Measure, lists: Lists, values: Floats) -> None:
        """Reject measures that distinguish non-relevant from unjudged documents: a scale does not."""
        relevant = np.where(lists.pool.grade > 0, lists.pool.grade, np.int32(UNJUDGED)).astype(np.int32)
        bare = lists.with_pool_subset(
            Pool(lists.pool.offsets, relevant, lists.pool.aspects, undecided=lists.pool.undecided)
        )
        if not np.array_equal(inside.evaluate(bare), values, equal_nan=True):
            problem = f"{self.measure} distinguishes non-relevant from unjudged documents"
            raise MeasureError(problem, hint="Interval is for measures that do not")


@lru_cache(maxsize=4096)
def number_of_rankings(length: int, counts: tuple[int, ...]) -> int:
    """Return the number of rankings of a length with at most ``counts`` documents of each relevant grade.

    >>> number_of_rankings(3, (3,)), number_of_rankings(3, (1,)), number_of_rankings(2, (1, 1))
    (8, 4, 7)
    """
    ways = [1] * (length + 1)
    for count in counts:
        ways = [sum(comb(n, k) * ways[n - k] for k in range(min(count, n) + 1)) for n in range(length + 1)]
    return ways[length]


def _counts(measure: Measure, pool: Pool, topic: int) -> Counts:
    """Return the number of documents of a topic for each grade that the measure distinguishes."""
    counts = pool.counts(topic)
    if measure.sees_grades:
        return tuple((grade, count) for grade, count in counts.items() if grade > 0)
    lowest = int(measure.settings.get("rel", 1))
    relevant = sum(count for grade, count in counts.items() if grade >= lowest)
    return ((lowest, relevant),) if relevant else ()


def _sizes(counts: Counts) -> tuple[int, ...]:
    return tuple(count for _, count in counts)


def _possible(lists: Lists, counts: Counts) -> Bools:
    """Return a mask of rankings with at most as many documents of each grade as are judged."""
    is_possible = np.ones(len(lists), np.bool_)
    above: AnyArray = np.zeros(len(lists), np.int64)
    for grade, count in reversed(counts):
        n_relevant = lists.relevant(grade).count
        is_possible &= n_relevant - above <= count
        above = n_relevant
    return is_possible


def _scale(kind: type[Measure], measure: Measure, length: int, counts: Counts, best: int) -> Floats:
    """Return the sorted values of all rankings; ``kind`` distinguishes redefined functions in the cache key."""
    grades = np.repeat([grade for grade, _ in counts], _sizes(counts))
    # A second topic holds a document of the best grade of the collection, by which some measures divide.
    pool = Pool(np.array([0, len(grades), len(grades) + 1]), np.append(grades, best).astype(np.int32))
    limited = tuple(min(count, length) for count in _sizes(counts))
    first = tuple(np.cumsum([0, *_sizes(counts)]).tolist()[:-1])
    few = number_of_rankings(length, limited) <= _FEWEST
    topic, lengths = np.zeros(_BLOCK, np.int64), np.full(_BLOCK, length)
    parts = []
    for offsets, ranks, judgments in (_cached_hits if few else _iterate_hits)(length, limited, first):
        n_rankings = len(offsets) - 1
        lists = Lists(pool, topic[:n_rankings], lengths[:n_rankings], offsets, ranks, judgments)
        parts.append(np.unique(measure.evaluate(lists)))
    values = np.unique(np.concatenate(parts))
    values = values[~np.isnan(values)]
    with np.errstate(invalid="ignore"):
        apart = np.diff(values) > _SAME * np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    return values[np.concatenate([[True], apart])] if len(values) else values


_FEWEST, _FEW = 1 << 11, 1 << 16
_smallest = lru_cache(maxsize=4096)(_scale)  # a few hundred MB at most, all three together
_small, _large = lru_cache(maxsize=256)(_scale), lru_cache(maxsize=16)(_scale)


def enumerate_rankings(length: int, counts: Sequence[int]) -> Words:
    """Return all rankings as rows: 0 for a non-relevant document, i for one of the i-th grade.

    They are sorted by the last rank, then by the one above it, and so on.
    """
    words = np.zeros((1, 0), np.int8)
    for rank in range(length):
        begun = [words]
        for letter, count in enumerate(counts, 1):
            all_may = count > rank
            begun.append(words if all_may else words[np.count_nonzero(words == letter, axis=1) < count])
        longer = np.empty((sum(map(len, begun)), rank + 1), np.int8)
        start = 0
        for letter, part in enumerate(begun):
            end = start + len(part)
            longer[start:end, :rank], longer[start:end, rank] = part, letter
            start = end
        words = longer
    return words


Hits = tuple[Ints, Int32s, Int32s]


def _iterate_hits(length: int, counts: tuple[int, ...], first: tuple[int, ...]) -> Iterator[Hits]:
    """Yield all rankings as (offsets, ranks, judgments) of lists, one block at a time.

    The n-th document of a grade in a ranking is the n-th judged one of that grade; ``first`` is the first of each
    grade.
    """
    words = enumerate_rankings(length, counts)
    ranks = np.tile(np.arange(1, length + 1, dtype=np.int32), min(_BLOCK, len(words)))
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        hits = np.flatnonzero(block != 0)  # many times faster than picking them by a mask
        count = np.count_nonzero(block, axis=1)
        offsets = np.concatenate([[0], np.cumsum(count)])
        if len(counts) == 1:
            judgments = np.arange(len(hits), dtype=np.int32)
            judgments -= np.repeat(offsets[:-1].astype(np.int32), count)
        else:
            judgment = np.zeros(block.shape, np.int32)
            for letter, before in enumerate(first, 1):
                is_letter = block == letter
                judgment += (np.cumsum(is_letter, axis=1, dtype=np.int32) + np.int32(before - 1)) * is_letter
            judgments = judgment.ravel().take(hits)
        yield offsets, ranks.take(hits), judgments


@lru_cache(maxsize=256)
def _cached_hits(length: int, counts: tuple[int, ...], first: tuple[int, ...]) -> list[Hits]:
    """Return the same for small numbers of rankings, which many measures share."""
    return list(_iterate_hits(length, counts, first))
