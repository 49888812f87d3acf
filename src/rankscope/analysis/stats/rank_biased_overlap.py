"""Rank-biased overlap: how alike two rankings are, the top counting most (Webber, Moffat and Zobel 2010).

Rankings may be cut off, of different lengths, hold different items, and have ties (Corsi and Urbano 2024).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
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
        """Distance of the bounds."""
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
    if not 0 < p < 1:
        raise SettingsError(f"the persistence p is {p!r}", hint="p lies between 0 and 1, both excluded")
    check_name(ties, TIES, f"ties of rank-biased overlap cannot be {ties!r}")
    short, long = sorted((_Placed(a), _Placed(b)), key=lambda placed: len(placed.items))
    return _prefixes(short, long, p, ties)


def ranking_by_score(scores: ArrayLike) -> list[frozenset[int]]:
    """Return the positions 0, 1, ... of some scores as a ranking, the highest first, equal ones tied.

    >>> [sorted(group) for group in ranking_by_score([0.5, 0.7, 0.5])]
    [[1], [0, 2]]
    """
    values = np.asarray(scores, np.float64)
    return [frozenset(np.flatnonzero(values == value).tolist()) for value in np.unique(values)[::-1]]


class _Placed:
    """A ranking written out: its items, and for each place the first and the last rank of its group."""

    def __init__(self, ranking: Ranking) -> None:
        groups = [entry if isinstance(entry, set | frozenset) else (entry,) for entry in ranking]
        sizes = np.array([len(group) for group in groups], np.int64)
        self.items: list[Hashable] = [item for group in groups for item in group]
        self.bottom: Ints = np.repeat(np.cumsum(sizes), sizes)
        self.top: Ints = self.bottom - np.repeat(sizes, sizes) + 1
        self.place = {item: place for place, item in enumerate(self.items)}
        if len(self.place) < len(self.items):
            raise InputError("an item occurs twice in a ranking", hint="rank every item once")

    def continued(self, depth: int) -> tuple[Ints, Ints]:
        """Return the groups of the ranks 1, ..., depth, assuming no ties among unseen items."""
        more = np.arange(len(self.items) + 1, depth + 1)
        return np.concatenate([self.top[:depth], more]), np.concatenate([self.bottom[:depth], more])


def _prefixes(short: _Placed, long: _Placed, p: float, ties: str) -> RankBiasedOverlap:
    s, n = len(short.items), len(long.items)
    if n == 0:
        return RankBiasedOverlap(nan, 0.0, 1.0)
    depth = np.arange(1, n + 1)
    overlap, size = _overlap(short, long, depth, ties), _size(short, long, depth, ties)
    weight = (1 - p) * p ** (depth - 1.0)
    unseen = np.maximum(depth - s, 0)
    possible, share = _new(short, long, depth, ties)
    common = float(overlap[-1])

    low = overlap / size
    # after the longer one ends: X(d) = common, and the sum of p^d/d over all d is -ln(1 - p)
    beyond_low = common * max(0.0, -log1p(-p) - float(np.sum(p**depth / depth))) * (1 - p) / p
    high = (overlap + possible) / size
    whole = n + s - round(common)  # from this depth on both can agree in full
    further = np.arange(n + 1, whole + 1)
    beyond_high = float(np.sum((2 - whole / further) * (1 - p) * p ** (further - 1.0))) + p**whole
    if s == 0:
        value = nan
    else:
        agreement = low[s - 1]
        extrapolated = (overlap + unseen * agreement * share) / size
        beyond = (common + (n - s) * agreement) / n * p**n
        value = _inside(float(np.sum(weight * extrapolated)) + beyond)
    return RankBiasedOverlap(
        value,
        _inside(float(np.sum(weight * low)) + beyond_low),
        _inside(float(np.sum(weight * high)) + beyond_high),
    )


def _inside(value: float) -> float:
    """Sums of weights miss 0 and 1 by rounding errors."""
    return float(min(1.0, max(0.0, value)))


def _overlap(short: _Placed, long: _Placed, depth: Ints, ties: str) -> Floats:
    """Return X(d), the overlap of the first d ranks."""
    pairs = [(place, long.place[item]) for item, place in short.place.items() if item in long.place]
    short_index, long_index = np.array(pairs, np.int64).reshape(-1, 2).T
    top, bottom, others_top, others_bottom = (
        short.top[short_index], short.bottom[short_index], long.top[long_index], long.bottom[long_index]
    )  # fmt: skip
    end = np.full(len(short_index), len(depth) + 1)
    if ties == "w":
        return _covering(depth, np.maximum(top, others_top), end)
    share, others_share = _share(short, depth), _share(long, depth)
    # one group of each ranking lasts across a depth: an item is wholly in, or in that group, on either side
    in_both = _covering(depth, np.maximum(bottom, others_bottom), end)
    in_long = _covering(depth, np.maximum(top, others_bottom), bottom)
    in_short = _covering(depth, np.maximum(others_top, bottom), others_bottom)
    in_none = _covering(depth, np.maximum(top, others_top), np.minimum(bottom, others_bottom))
    return in_both + share * in_long + others_share * in_short + share * others_share * in_none


def _share(ranking: _Placed, depth: Ints) -> Floats:
    """c(d) of the items in the group that holds rank d."""
    top, bottom = ranking.continued(len(depth))
    return np.asarray((depth - top + 1) / (bottom - top + 1))


def _size(short: _Placed, long: _Placed, depth: Ints, ties: str) -> Floats:
    """Return the divisor of the overlap."""
    if ties == "a":
        return depth.astype(np.float64)
    (top, bottom), (others_top, others_bottom) = short.continued(len(depth)), long.continued(len(depth))
    if ties == "w":
        return np.asarray((bottom + others_bottom) / 2)
    square = top - 1 + (depth - top + 1) ** 2 / (bottom - top + 1)
    others = others_top - 1 + (depth - others_top + 1) ** 2 / (others_bottom - others_top + 1)
    return np.asarray(np.sqrt(square * others))  # one root: without ties this is exactly d


def _new(short: _Placed, long: _Placed, depth: Ints, ties: str) -> tuple[Floats, Floats]:
    """Below the end of the shorter: the overlap that its unseen items can add, and the mean count of one of them.

    They can at best be the first items of the longer one that the shorter does not have.
    """
    only = np.array([place for item, place in long.place.items() if item not in short.place], np.int64)
    top, bottom = long.top[only], long.bottom[only]
    share = np.ones(len(depth)) if ties == "w" else _share(long, depth)
    wholly = _covering(depth, bottom, np.full(len(only), len(depth) + 1))
    partly = _covering(depth, top, bottom)
    unseen = np.maximum(depth - len(short.items), 0)
    possible = np.minimum(unseen, wholly) + share * np.clip(unseen - wholly, 0, partly)
    present = np.maximum(wholly + partly, 1)
    return possible, (wholly + share * partly) / present


def _covering(depth: Ints, first: Ints, end: Ints) -> Floats:
    """For each depth the number of stretches first <= d < end that hold it."""
    size = len(depth) + 2
    real = first < end
    begun = np.bincount(first[real], minlength=size) - np.bincount(end[real], minlength=size)
    return np.cumsum(begun)[1:-1].astype(np.float64)


def common_by_depth(a: Sequence[Hashable], b: Sequence[Hashable], depth: int) -> Ints:
    """Return how many items the first 1, 2, ..., depth of two rankings without ties have in common.

    >>> common_by_depth("abcdefg", "zcavwxy", 7).tolist()
    [0, 0, 2, 2, 2, 2, 2]
    """
    place = {item: rank for rank, item in enumerate(b)}
    later = [max(rank, place[item]) for rank, item in enumerate(a) if item in place]
    return np.cumsum(np.bincount([rank for rank in later if rank < depth], minlength=depth))
