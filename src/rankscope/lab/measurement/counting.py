"""Exact counts of violated pairs of intervals, by bit sets of 64 intervals per machine word.

A pair of intervals is comparable if Delta_sr <= Delta_vu at every rank, and violated if M(s) - M(r) > M(v) - M(u)
nevertheless. The bits of a bit set are the intervals, sorted by M(s) - M(r); for every rank and every value t a bit set
contains the intervals with Delta[rank] <= t. In a traversal of the tree of all difference vectors Delta_vu, one AND per
node yields the intervals that are no larger; the number of those with too large a score difference is the number of
bits before a position. C(2N+1, N)^2 pairs thus cost C(2N+1, N) / 64 machine words for each of fewer than 3^N difference
vectors. An additive measure rises equally on all intervals of a group, so its bits are groups. A C library does the
counting if it could be built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankscope.arrays import Floats, Int32s, Ints, NDArray
from rankscope.engines import stream_pieces
from rankscope.lab.measurement.intervals import (
    Groups,
    Intervals,
    groups,
    interval_count,
    intervals,
    vector_count,
)
from rankscope.lab.rounding import magnitude, slack
from rankscope.native import counting as native
from rankscope.progress import progress

FEASIBLE_WORDS = 1_200_000_000
"""Number of machine words that one core combines in about ten seconds."""

_WORD = 64
_SLICE_WORDS = 1 << 13  # words of one bit set that are processed at a time
_BLOCK_WORDS = 1 << 18  # words of all bit sets that are processed together: they fit into the cache of a core
_PIECE_WORDS = 1 << 24  # words that a thread processes, in a moment, before it can be interrupted

Words = NDArray[np.uint64]


class Tally(NamedTuple):
    """Numbers of comparable and of violated ordered pairs of intervals.

    ``complete`` is False if the count was interrupted; the numbers are then those of the pairs compared so far.
    """

    comparable: int
    violations: int
    complete: bool


class Work(NamedTuple):
    """Cost of a count: machine words to combine, and bytes of memory."""

    words: int
    memory: int


def estimate_work(length: int, equal_relevant: bool, additive: bool, relevant: int | None = None) -> Work:
    """Return the cost of a count, before it begins.

    >>> estimate_work(10, False, additive=True).words < estimate_work(10, False, additive=False).words
    True
    """
    vectors = vector_count(length, equal_relevant, relevant)
    items = vectors if additive else interval_count(length, equal_relevant, relevant)
    words = items // _WORD + 1
    marks = sum(rank * (rank + 1) // 2 + 1 for rank in range(1, length + 1))
    queries = 2 * (length + 1) * vectors if additive else items
    memory = 8 * min(words, _SLICE_WORDS) * marks + 80 * items + 32 * queries + 4 * length * vectors
    return Work(vectors * words, memory)


def count_groups(
    weights: Floats,
    length: int,
    equal_relevant: bool,
    *,
    relevant: int | None = None,
    scale: float | None = None,
    label: str = "",
    jobs: int | None = None,
) -> Tally:
    """Count the pairs that the additive measure M(r) = sum of w_j r_j violates.

    >>> count_groups(np.array([0.2, 0.16, 0.128, 0.1024]), 4, False)
    Tally(comparable=7695, violations=715, complete=True)
    """
    kinds = groups(length, equal_relevant, relevant)
    difference = kinds.change.astype(np.float64) @ np.asarray(weights, dtype=np.float64)
    scale = float(np.abs(weights).sum()) if scale is None else scale
    sizes, level = np.unique(kinds.size, return_inverse=True)
    items = _Items.from_differences(difference, level.ravel(), sizes, kinds.delta)
    limits = difference + slack(difference, scale)
    # One query per class of group sizes: from the first bit of the class to the first small enough difference.
    begins, ends = items.begins[:-1], items.positions(limits)
    starts = np.repeat(begins[None, :], len(kinds), axis=0)
    worth = kinds.size[:, None] * sizes[None, :]
    queries = _Queries(
        offsets=2 * len(sizes) * np.arange(len(kinds) + 1),
        position=np.stack([ends, starts], axis=2).ravel(),
        worth=np.stack([worth, -worth], axis=2).ravel(),
    )
    return _count(kinds, items, queries, label, jobs)


def count_intervals(
    values: Floats,
    length: int,
    equal_relevant: bool,
    *,
    relevant: int | None = None,
    label: str = "",
    jobs: int | None = None,
) -> Tally:
    """Count the pairs that a measure violates, given its ``values[code]`` on all rankings.

    >>> from rankscope.lab.measurement.intervals import rankings
    >>> count_intervals(rankings(4) @ np.array([0.2, 0.16, 0.128, 0.1024]), 4, False)
    Tally(comparable=7695, violations=715, complete=True)
    """
    return count_listed(intervals(length, equal_relevant, relevant), values, label=label, jobs=jobs)


def count_listed(pairs: Intervals, values: Floats, *, label: str = "", jobs: int | None = None) -> Tally:
    """Count the pairs of these intervals that a measure violates, given its ``values[code]`` on all rankings."""
    kinds, difference = pairs.kinds, values[pairs.upper] - values[pairs.lower]
    unit_weight = np.ones(1, dtype=np.int64)
    items = _Items.from_differences(
        difference, np.zeros(len(difference), dtype=np.int64), unit_weight, kinds.delta, pairs.group
    )
    limits = difference + slack(difference, magnitude(values))
    queries = _Queries(
        offsets=np.concatenate([[0], np.cumsum(kinds.size)]),
        position=items.positions(limits)[:, 0],
        worth=np.ones(len(difference), dtype=np.int64),
    )
    return _count(kinds, items, queries, label, jobs)


@dataclass(frozen=True)
class _Items:
    """Items of a bit set: intervals or groups of intervals, sorted by class and descending difference.

    An item of class z represents ``weight[z]`` intervals; class z occupies the bits from ``begins[z]`` to
    ``begins[z + 1]``.
    """

    falling: Floats
    begins: Ints
    weight: Ints
    delta: NDArray[np.int16]
    source: Ints

    @classmethod
    def from_differences(
        cls,
        difference: Floats,
        level: Ints,
        weight: Ints,
        delta: NDArray[np.int16],
        group: Int32s | None = None,
    ) -> _Items:
        order = np.lexsort((-difference, level))
        begins = np.concatenate([[0], np.cumsum(np.bincount(level, minlength=len(weight)))])
        source = order if group is None else group[order]
        return cls(difference[order], begins, weight, delta, source.astype(np.int64))

    def __len__(self) -> int:
        return len(self.falling)

    def positions(self, limits: Floats) -> Ints:
        """Return, for every limit and class, the bit behind the last difference above the limit."""
        classes = len(self.begins) - 1
        result = np.empty((len(limits), classes), dtype=np.int64)
        for z in range(classes):
            rising = self.falling[self.begins[z] : self.begins[z + 1]][::-1]
            result[:, z] = self.begins[z + 1] - np.searchsorted(rising, limits, side="right")
        return result

    def bit_sets(self, rank: int, first: int, last: int) -> Words:
        """Return one bit set for each t = 0, 1, ...: the items first..last with Delta[rank] <= t."""
        column = self.delta[self.source[first:last], rank]
        tallest = int(self.delta[:, rank].max(initial=0))
        words = (last - first) // _WORD + 1  # At least one spare bit, so that every position has a word.
        bits = np.zeros((tallest + 1, words * 8), dtype=np.uint8)
        for t in range(tallest + 1):
            packed = np.packbits(column <= t, bitorder="little")
            bits[t, : len(packed)] = packed
        return bits.view("<u8")


@dataclass(frozen=True)
class _Queries:
    """Queries of each group: the sum of ``worth`` times the number of bits set before ``position``."""

    offsets: Ints
    position: Ints
    worth: Ints


def _popcount(words: Words) -> NDArray[np.uint8]:
    """Return the number of bits set in each word."""
    if hasattr(np, "bitwise_count"):
        ones: NDArray[np.uint8] = np.bitwise_count(words)
        return ones
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8))
    return np.asarray(bits.reshape(*words.shape, _WORD).sum(axis=-1), dtype=np.uint8)


def _bits_before(bits: Words, before: Int32s, row: Ints, position: Ints) -> Ints:
    """Return the number of bits set before a position of a row; ``before`` has the numbers before each word."""
    word, rest = position >> 6, (position & 63).astype(np.uint64)
    part = bits[row, word] & ((np.uint64(1) << rest) - np.uint64(1))
    return np.asarray(before[row, word] + _popcount(part), np.int64)


def _count(kinds: Groups, items: _Items, queries: _Queries, label: str, jobs: int | None) -> Tally:
    """Sum the counts over all difference vectors; an interruption ends the count.

    Items are processed in slices, so that their bit sets stay in the cache and memory is bounded; difference vectors
    are processed in pieces, which threads share.
    """
    wide = _SLICE_WORDS * _WORD
    slices = [(start, min(len(items), start + wide)) for start in range(0, len(items), wide)]
    step = max(1, _PIECE_WORDS // min(_SLICE_WORDS, len(items) // _WORD + 1))
    pieces = [(first, min(len(kinds), first + step)) for first in range(0, len(kinds), step)]
    parts = (_Slice(kinds, items, queries, start, end) for start, end in slices)
    counts = (count for part in parts for count in stream_pieces(part.count, pieces, jobs=jobs))
    comparable = violations = 0
    try:
        for more_comparable, more_violations in progress(counts, len(slices) * len(pieces), label):
            comparable, violations = comparable + more_comparable, violations + more_violations
    except KeyboardInterrupt:
        return Tally(comparable, violations, False)
    return Tally(comparable, violations, True)


class _Slice:
    """Slice of the items, to be compared with difference vectors."""

    def __init__(self, kinds: Groups, items: _Items, queries: _Queries, start: int, end: int) -> None:
        self.kinds = kinds
        self.queries = queries
        self.marks = [items.bit_sets(rank, start, end) for rank in range(kinds.delta.shape[1])]
        self.weight = items.weight
        self.position = np.clip(queries.position, start, end) - start
        self.begins = np.clip(items.begins, start, end) - start

    def count(self, vectors: tuple[int, int]) -> tuple[int, int]:
        """Count the comparable and violated pairs of these items with the difference vectors first..last."""
        first, last = vectors
        if native.available():
            return self._count_natively(first, last)
        comparable = violations = 0
        for begin, bits in _blocks(self.kinds.delta[first:last], self.marks):
            before = np.zeros((len(bits), bits.shape[1] + 1), dtype=np.int32)
            np.cumsum(_popcount(bits), axis=1, dtype=np.int32, out=before[:, 1:])
            rows, start = np.arange(len(bits)), first + begin
            upto = _bits_before(bits, before, rows[:, None], self.begins)
            comparable += int(
                self.kinds.size[start : start + len(bits)] @ (np.diff(upto, axis=1) @ self.weight)
            )
            offsets = self.queries.offsets[start : start + len(bits) + 1]
            own = slice(offsets[0], offsets[-1])
            counts = _bits_before(bits, before, np.repeat(rows, np.diff(offsets)), self.position[own])
            violations += int(self.queries.worth[own] @ counts)
        return comparable, violations

    def _count_natively(self, first: int, last: int) -> tuple[int, int]:
        offsets = self.queries.offsets[first : last + 1]
        begin, end = int(offsets[0]), int(offsets[-1])
        queries = offsets - begin, self.position[begin:end], self.queries.worth[begin:end]
        kinds = self.kinds
        return native.count(
            self.marks, kinds.delta[first:last], kinds.size[first:last], queries, (self.begins, self.weight)
        )


def _blocks(vectors: NDArray[np.int16], marks: list[Words]) -> Iterator[tuple[int, Words]]:
    """Yield blocks of consecutive difference vectors: the first index, and the bit sets of the items no larger."""
    shared = np.concatenate([[0], np.argmax(vectors[1:] != vectors[:-1], axis=1)])  # with the previous vector
    size = max(1, _BLOCK_WORDS // marks[0].shape[1])
    path: list[Words] = []  # bit sets of the prefixes of the previous vector
    for first in range(0, len(vectors), size):
        block = vectors[first : first + size]
        bits = np.empty((len(block), marks[0].shape[1]), dtype=marks[0].dtype)
        for row, vector, kept in zip(
            bits, block.tolist(), shared[first : first + size].tolist(), strict=True
        ):
            del path[kept:]
            for rank in range(kept, len(vector)):
                mark = marks[rank][vector[rank]]
                path.append(path[-1] & mark if path else mark)
            row[:] = path[-1]
        yield first, bits
