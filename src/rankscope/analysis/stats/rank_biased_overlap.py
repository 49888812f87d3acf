"""Rank-biased overlap: how alike two rankings are, the top counting most (Webber, Moffat and Zobel 2010).

Rankings may be cut off, of different lengths, hold different items, and have ties (Corsi and Urbano 2024).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import repeat
from math import log1p, nan

import numpy as np

from rankscope.arrays import ArrayLike, Floats, Ints
from rankscope.choices import RBO_TIES as TIES
from rankscope.errors import InputError, SettingsError, check_name

Ranking = Iterable[Hashable]


@dataclass(frozen=True)
class RankBiasedOverlap:
    """Extrapolated overlap, and its bounds over all continuations of the two rankings."""

    value: float
    low: float
    high: float

    @property
    def residual(self) -> float:
        """Difference of the bounds."""
        return self.high - self.low


def rank_biased_overlap(a: Ranking, b: Ranking, p: float = 0.9, *, ties: str = "b") -> RankBiasedOverlap:
    """Return the rank-biased overlap of two rankings; items in one set are tied.

        RBO = (1 - p) * sum over depths d of p^(d-1) A(d)

    where A(d), the agreement, is the overlap X(d) of the first d items of both, divided by d. With ties, an item of
    a group at the ranks t..u counts c(d) = min(1, (d - t + 1)/(u - t + 1)) from rank t on, X(d) is the sum of the
    products of both counts, and

        a:  A = X / d                                          the mean over all orders of tied items
        b:  A = X / (sqrt(sum of c_a^2) sqrt(sum of c_b^2))    so that a ranking agrees with itself
        w:  A = 2 X / (items of a + items of b down to d)      tied items share the best rank: c = 1 from t on

    ``low`` assumes that the unseen items have nothing in common, ``high`` that all are common, and ``value`` that the
    agreement stays constant. The bounds hold for every continuation without ties (``a``: also with ties). An empty
    ranking has bounds, but no value.

    >>> seen = rank_biased_overlap("abcde", "bacfg", 0.9)
    >>> round(seen.value, 4), round(seen.low, 4), round(seen.high, 4)
    (0.6193, 0.4225, 0.8457)
    >>> round(rank_biased_overlap(["a", {"b", "c"}], ["a", "c", "b"], 0.9, ties="a").value, 4)
    0.9775
    """
    check_settings(p, ties)
    (items, bounds_a), (others, bounds_b) = _write_out(a), _write_out(b)
    rank_of = {item: rank for rank, item in enumerate(others)}
    common = np.array([(i, rank_of[item]) for i, item in enumerate(items) if item in rank_of], np.int64)
    width = max(len(items), len(others))
    groups, others_groups = (Groups.from_groups(*bounds, width) for bounds in (bounds_a, bounds_b))
    values = overlaps(groups, others_groups, common.reshape(-1, 2).T, p, ties)
    return RankBiasedOverlap(*(float(value[0]) for value in values))


def check_settings(p: float, ties: str) -> None:
    """Raise an error if the persistence or the treatment of ties is invalid."""
    if not 0 < p < 1:
        raise SettingsError(f"the persistence p is {p!r}", hint="p lies between 0 and 1, both excluded")
    check_name(ties, TIES, f"ties of rank-biased overlap cannot be {ties!r}")


def ranking_by_score(scores: ArrayLike) -> list[frozenset[int]]:
    """Return the positions 0, 1, ... of some scores as a ranking, the highest first, equal ones tied.

    >>> [sorted(group) for group in ranking_by_score([0.5, 0.7, 0.5])]
    [[1], [0, 2]]
    """
    values = np.asarray(scores, np.float64)
    return [frozenset(np.flatnonzero(values == value).tolist()) for value in np.unique(values)[::-1]]


@dataclass(frozen=True, eq=False)
class Groups:
    """Rankings: the first and the last rank of the group at each rank, of shape (rankings, ranks), and their lengths.

    Ranks beyond the length of a ranking are groups of one, assuming no ties among unseen items.
    """

    top: Ints
    bottom: Ints
    length: Ints

    @classmethod
    def from_groups(cls, top: Ints, bottom: Ints, width: int) -> Groups:
        """Return one ranking, given the groups at its ranks, continued to a width."""
        more = np.arange(len(top) + 1, width + 1)
        top, bottom = (np.concatenate([side, more])[None] for side in (top, bottom))
        return cls(top, bottom, np.array([width - len(more)]))

    @property
    def depth(self) -> Ints:
        """Ranks from 1 on."""
        return np.arange(1, self.top.shape[1] + 1)

    @cached_property
    def share(self) -> Floats:
        """c(d) of the items in the group that holds rank d."""
        return np.asarray((self.depth - self.top + 1) / (self.bottom - self.top + 1))

    @cached_property
    def square(self) -> Floats:
        """Sum of c(d)^2 of all items down to rank d."""
        return np.asarray(self.top - 1 + (self.depth - self.top + 1) ** 2 / (self.bottom - self.top + 1))


def _write_out(ranking: Ranking) -> tuple[list[Hashable], tuple[Ints, Ints]]:
    """Return the items of a ranking by rank, and first and last ranks of their groups."""
    groups = [entry if isinstance(entry, set | frozenset) else (entry,) for entry in ranking]
    items: list[Hashable] = [item for group in groups for item in group]
    if len(set(items)) < len(items):
        raise InputError("an item occurs twice in a ranking", hint="rank every item once")
    sizes = np.array([len(group) for group in groups], np.int64)
    bottom = np.repeat(np.cumsum(sizes), sizes)
    return items, (bottom - np.repeat(sizes, sizes) + 1, bottom)


@dataclass(frozen=True, eq=False)
class _Prefixes:
    """Pairs of rankings, and their common items: row, and indices in the flattened arrays of the shorter and longer."""

    short: Groups
    long: Groups
    row: Ints
    in_short: Ints
    in_long: Ints

    def covering(self, first: Ints, end: Ints | None = None, row: Ints | None = None) -> Floats:
        """Return for each depth of each row the number of stretches first <= d < end that hold it."""
        rows, width = len(self.long.top), self.long.top.shape[1] + 1
        offset = (self.row if row is None else row) * width
        if end is None:
            begun = np.bincount(offset + first, minlength=rows * width)
        else:
            real = np.flatnonzero(first < end)
            starts, ends = (offset.take(real) + side.take(real) for side in (first, end))
            begun = np.bincount(starts, minlength=rows * width) - np.bincount(ends, minlength=rows * width)
        # A cumulative sum of integers as floats takes ten times as long.
        return np.cumsum(begun.reshape(rows, width), axis=1)[:, 1:].astype(np.float64)

    def overlap(self, ties: str) -> Floats:
        """Return X(d), the overlap of the first d ranks."""
        top, bottom, others_top, others_bottom = (
            side.take(index) for groups, index in ((self.short, self.in_short), (self.long, self.in_long))
            for side in (groups.top, groups.bottom)
        )  # fmt: skip
        if ties == "w":
            return self.covering(np.maximum(top, others_top))
        share, others_share = self.short.share, self.long.share
        # one group of each ranking lasts across a depth: an item is wholly in, or in that group, on either side
        in_both = self.covering(np.maximum(bottom, others_bottom))
        in_long = self.covering(np.maximum(top, others_bottom), bottom)
        in_short = self.covering(np.maximum(others_top, bottom), others_bottom)
        in_none = self.covering(np.maximum(top, others_top), np.minimum(bottom, others_bottom))
        return in_both + share * in_long + others_share * in_short + share * others_share * in_none

    def size(self, ties: str) -> Floats:
        """Return the divisor of the overlap."""
        if ties == "a":
            return np.broadcast_to(self.long.depth.astype(np.float64), self.long.top.shape)
        if ties == "w":
            return np.asarray((self.short.bottom + self.long.bottom) / 2)
        return np.asarray(np.sqrt(self.short.square * self.long.square))  # one root: without ties exactly d

    def new(self, ties: str, unseen: Ints) -> tuple[Floats, Floats]:
        """Return the overlap that unseen items of the shorter ranking can add below its end, and their mean count.

        At best, they are the first items of the longer ranking that the shorter one lacks.
        """
        is_new = self.long.depth <= self.long.length[:, None]
        is_new.flat[self.in_long] = False
        index = np.flatnonzero(is_new)
        row, top, bottom = index // is_new.shape[1], self.long.top.take(index), self.long.bottom.take(index)
        share = np.ones(is_new.shape) if ties == "w" else self.long.share
        wholly = self.covering(bottom, row=row)
        partly = self.covering(top, bottom, row)
        possible = np.minimum(unseen, wholly) + share * np.clip(unseen - wholly, 0, partly)
        present = np.maximum(wholly + partly, 1)
        return possible, (wholly + share * partly) / present


def overlaps(a: Groups, b: Groups, common: Ints, p: float, ties: str) -> tuple[Floats, Floats, Floats]:
    """Return value, low and high of :func:`rank_biased_overlap` for each row of two arrays of rankings of one width.

    ``common`` has the indices of each common item in both arrays, which are flattened; shape (2, items).
    """
    in_a, in_b = common
    rows, width = a.top.shape
    if width == 0:
        return np.full(rows, nan), np.zeros(rows), np.ones(rows)
    row = in_a // width
    is_longer = a.length > b.length
    short, long = a, b
    if is_longer.any():
        short, long = (
            Groups(np.where(swap[:, None], b.top, a.top), np.where(swap[:, None], b.bottom, a.bottom),
                   np.where(swap, b.length, a.length))
            for swap in (is_longer, ~is_longer)
        )  # fmt: skip
        in_a, in_b = np.where(is_longer[row], in_b, in_a), np.where(is_longer[row], in_a, in_b)
    s, n = short.length, long.length
    pairs = _Prefixes(short, long, row, in_a, in_b)
    depth = long.depth
    overlap, size = pairs.overlap(ties), pairs.size(ties)
    weight = (1 - p) * p ** (depth - 1.0) * (depth <= n[:, None])
    n_common = overlap[:, -1]

    low = overlap / size
    # after the longer one ends: X(d) = n_common, and the sum of p^d/d over all d is -ln(1 - p)
    partial = np.concatenate([[0.0], np.cumsum(p**depth / depth)])[n]
    beyond_low = n_common * np.maximum(0.0, -log1p(-p) - partial) * (1 - p) / p
    # from the depth n + s - n_common on both can agree in full
    whole = n + s - np.rint(n_common).astype(np.int64)
    beyond_high = np.fromiter(map(_beyond_high, n.tolist(), whole.tolist(), repeat(p)), np.float64, rows)
    agreement = np.where(s > 0, low[np.arange(rows), np.maximum(s, 1) - 1], nan)
    value = lowest = highest = _sum_in_order(weight * low)
    if (s < n).any():
        unseen = np.maximum(depth - s[:, None], 0)
        possible, share = pairs.new(ties, unseen)
        value = _sum_in_order(weight * ((overlap + unseen * agreement[:, None] * share) / size))
        highest = _sum_in_order(weight * ((overlap + possible) / size))
    value = value + (n_common + (n - s) * agreement) / np.maximum(n, 1) * p**n
    # Sums of weights miss 0 and 1 by rounding errors.
    low, high = lowest + beyond_low, highest + beyond_high
    return np.clip(value, 0.0, 1.0), np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _sum_in_order(terms: Floats) -> Floats:
    """Return the sums of rows, added one by one: zeros beyond the end of a ranking change no bit, unlike in np.sum."""
    return np.asarray(np.cumsum(terms, axis=1)[:, -1])


@lru_cache(maxsize=1 << 14)
def _beyond_high(n: int, whole: int, p: float) -> float:
    """Return the contribution of ranks below n if all unseen items are common and, from some depth, all items agree."""
    further = np.arange(n + 1, whole + 1)
    return float(np.sum((2 - whole / further) * (1 - p) * p ** (further - 1.0))) + p**whole
