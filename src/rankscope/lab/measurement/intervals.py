"""Rankings as points of a partial order, and intervals between them (Ferrante, Ferro and Pontarollo 2017).

A binary ranking of length N is its *code*: the number whose binary digits are its grades, rank 1 first. So
a measure on all rankings is one array ``values[code]``, and the code is also the ranking's place under
strong top-heaviness.

    r <= s      iff  every prefix sum of r is at most that of s
    steps       t = S - R, the prefix sums subtracted: swaps at each depth, replacements at the last one
    difference  Delta_sr = T, the prefix sums of t

An interval is a pair r <= s, r = s included. Its difference vector is decided by d = s - r, so the
intervals fall into few groups of equal difference: at most 3^N, each of 2^(zeros of d) intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Groups",
    "Intervals",
    "code",
    "cumsum",
    "delta",
    "groups",
    "interval_count",
    "intervals",
    "is_below",
    "ranking",
    "rankings",
    "steps",
    "written",
]

Ints = NDArray[np.int64]


def code(grades: Sequence[int]) -> int:
    """The number of a binary ranking: its grades read as binary digits, rank 1 the most significant.

    >>> code((1, 0, 0, 0)) > code((0, 1, 1, 1))
    True
    """
    number = 0
    for grade in grades:
        number = 2 * number + (1 if grade > 0 else 0)
    return number


def ranking(number: int, length: int) -> tuple[int, ...]:
    """The binary ranking with this code.

    >>> ranking(6, 4)
    (0, 1, 1, 0)
    """
    return tuple(int(number) >> (length - rank) & 1 for rank in range(1, length + 1))


def written(number: int, length: int) -> str:
    """The ranking as people write it.

    >>> written(6, 4)
    '(0110)'
    """
    return f"({int(number):0{length}b})"


def rankings(length: int) -> NDArray[np.int8]:
    """All 2^N binary rankings of a length, one row per code.

    >>> rankings(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    codes = np.arange(1 << length, dtype=np.int64)
    return ((codes[:, None] >> np.arange(length - 1, -1, -1)) & 1).astype(np.int8)


def cumsum(grades: ArrayLike) -> Ints:
    """The prefix sums of a ranking: relevant documents down to every rank.

    >>> cumsum([0, 1, 1, 0]).tolist()
    [0, 1, 2, 2]
    """
    return np.cumsum(np.asarray(grades, dtype=np.int64), axis=-1)


def steps(r: ArrayLike, s: ArrayLike) -> Ints:
    """Swaps at every depth, and replacements at the last one, that lead from r up to s: S - R.

    >>> steps([0, 1, 0, 0], [1, 0, 1, 0]).tolist()
    [1, 0, 1, 1]
    """
    return cumsum(s) - cumsum(r)


def delta(r: ArrayLike, s: ArrayLike) -> Ints:
    """The difference vector: Delta_sr[i] = sum over j <= i of (i - j + 1)(s_j - r_j).

    >>> delta([0, 0, 1], [0, 1, 0]).tolist()
    [0, 1, 1]
    """
    return np.cumsum(steps(r, s), axis=-1)


def is_below(r: ArrayLike, s: ArrayLike) -> bool:
    """Whether r <= s: swaps towards the top and replacements lead from r to s.

    >>> is_below([0, 1, 0], [1, 0, 0]), is_below([1, 0, 0], [0, 1, 1])
    (True, False)
    """
    return bool((steps(r, s) >= 0).all())


def interval_count(length: int, equal_relevant: bool = False) -> int:
    """How many intervals there are: C(2N+1, N), or Catalan(N+1) with equally many relevant at both ends.

    >>> interval_count(4), interval_count(4, equal_relevant=True)
    (126, 42)
    """
    if equal_relevant:
        return comb(2 * length + 2, length + 1) // (length + 2)
    return comb(2 * length + 1, length)


@dataclass(frozen=True)
class Groups:
    """The intervals of a length grouped by difference vector, in lexicographic order of d = s - r.

    ``delta[g]`` is the difference vector of group g and ``size[g]`` how many intervals share it.
    """

    length: int
    equal_relevant: bool
    change: NDArray[np.int8]
    delta: NDArray[np.int16]
    size: Ints

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class Intervals:
    """All intervals of a length: the codes of both ends and the group of equal difference they belong to."""

    lower: NDArray[np.int32]
    upper: NDArray[np.int32]
    group: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.lower)


def _extend(balance: Ints, remaining: int, equal_relevant: bool) -> tuple[NDArray[Any], Ints]:
    """The children of every prefix: (index of the parent, d) for each d that the balance S - R allows."""
    parents = np.repeat(np.arange(len(balance)), 3)
    change = np.tile(np.array([-1, 0, 1], dtype=np.int64), len(balance))
    after = balance[parents] + change
    allowed = after >= 0
    if equal_relevant:  # what is ahead must be able to bring the balance back to nothing
        allowed &= after <= remaining
    return parents[allowed], change[allowed]


def groups(length: int, equal_relevant: bool = False) -> Groups:
    """All difference vectors of a length, with the number of intervals that have each.

    >>> len(groups(10)), len(groups(10, equal_relevant=True)), int(groups(4).size.sum())
    (17303, 2188, 126)
    """
    change = np.zeros((1, 0), dtype=np.int8)
    balance = np.zeros(1, dtype=np.int64)
    for rank in range(1, length + 1):
        parents, step = _extend(balance, length - rank, equal_relevant)
        change = np.concatenate([change[parents], step[:, None].astype(np.int8)], axis=1)
        balance = balance[parents] + step
    vectors = np.cumsum(np.cumsum(change, axis=1, dtype=np.int16), axis=1, dtype=np.int16)
    size = np.int64(1) << (change == 0).sum(axis=1)
    return Groups(length, equal_relevant, change, vectors, size)


def intervals(length: int, equal_relevant: bool = False) -> Intervals:
    """All intervals of a length, group after group in the order of :func:`groups`.

    >>> found = intervals(1)
    >>> [(int(r), int(s)) for r, s in zip(found.lower, found.upper)]
    [(0, 0), (1, 1), (0, 1)]
    """
    kinds = groups(length, equal_relevant)
    start = np.cumsum(kinds.size) - kinds.size
    group = np.repeat(np.arange(len(kinds), dtype=np.int32), kinds.size)
    free = np.arange(len(group), dtype=np.int32) - start[group].astype(np.int32)
    lower = np.zeros(len(group), dtype=np.int32)
    upper = np.zeros(len(group), dtype=np.int32)
    # the digits of the running number fill the places where both ends agree
    for place in range(length):
        change = kinds.change[group, length - 1 - place]
        agree = change == 0
        digit = np.where(agree, free & 1, 0).astype(np.int32)
        lower |= (digit | (change < 0)) << place
        upper |= (digit | (change > 0)) << place
        free = np.where(agree, free >> 1, free)
    return Intervals(lower, upper, group)
