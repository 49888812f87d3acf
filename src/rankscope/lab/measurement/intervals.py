"""Rankings as points of a partial order, and intervals between them (Ferrante, Ferro and Pontarollo 2017).

A binary ranking of length N is represented by its *code*: the number whose binary digits are its grades, rank 1 first.
A measure on all rankings is therefore an array ``values[code]``, and the code is also the position of the ranking under
strong top-heaviness.

    r <= s      iff  every prefix sum of r is at most that of s
    steps       t = S - R, the prefix sums subtracted: swaps at each depth, replacements at the last one
    difference  Delta_sr = T, the prefix sums of t

An interval is a pair r <= s, including r = s. Its difference vector depends only on d = s - r, so the intervals form
at most 3^N groups of equal difference, each of 2^(zeros of d) intervals.

A topic with RB < N relevant documents has only the rankings with at most RB of them. Every ranking below such a ranking
also has at most RB, so the intervals of the topic are those whose upper end has at most RB relevant documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from rankscope.arrays import ArrayLike, Bools, Int32s, Ints, NDArray

Codes = NDArray[np.signedinteger[Any]]


def code(grades: Sequence[int]) -> int:
    """Return the code of a binary ranking: its grades read as binary digits, rank 1 the most significant.

    >>> code((1, 0, 0, 0)) > code((0, 1, 1, 1))
    True
    """
    number = 0
    for grade in grades:
        number = 2 * number + (1 if grade > 0 else 0)
    return number


def ranking(number: int, length: int) -> tuple[int, ...]:
    """Return the binary ranking with this code.

    >>> ranking(6, 4)
    (0, 1, 1, 0)
    """
    return tuple(int(number) >> (length - rank) & 1 for rank in range(1, length + 1))


def binary_word(number: int, length: int) -> str:
    """Return the binary ranking with this code as text.

    >>> binary_word(6, 4)
    '(0110)'
    """
    return f"({int(number):0{length}b})"


def rankings(length: int) -> NDArray[np.int8]:
    """Return all 2^N binary rankings of a length, one row per code.

    >>> rankings(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    codes = np.arange(1 << length, dtype=np.int64)
    return ((codes[:, None] >> np.arange(length - 1, -1, -1)) & 1).astype(np.int8)


def cumsum(grades: ArrayLike) -> Ints:
    """Return the prefix sums of a ranking: the number of relevant documents down to each rank.

    >>> cumsum([0, 1, 1, 0]).tolist()
    [0, 1, 2, 2]
    """
    return np.cumsum(np.asarray(grades, dtype=np.int64), axis=-1)


def steps(r: ArrayLike, s: ArrayLike) -> Ints:
    """Return the steps S - R from r to s: the number of swaps at each depth, and of replacements at the last.

    >>> steps([0, 1, 0, 0], [1, 0, 1, 0]).tolist()
    [1, 0, 1, 1]
    """
    return cumsum(s) - cumsum(r)


def delta(r: ArrayLike, s: ArrayLike) -> Ints:
    """Return the difference vector: Delta_sr[i] = sum over j <= i of (i - j + 1)(s_j - r_j).

    >>> delta([0, 0, 1], [0, 1, 0]).tolist()
    [0, 1, 1]
    """
    return np.cumsum(steps(r, s), axis=-1)


def is_below(r: ArrayLike, s: ArrayLike) -> bool:
    """Return whether r <= s: swaps towards the top and replacements lead from r to s.

    >>> is_below([0, 1, 0], [1, 0, 0]), is_below([1, 0, 0], [0, 1, 1])
    (True, False)
    """
    return bool((steps(r, s) >= 0).all())


def interval_count(length: int, equal_relevant: bool = False, relevant: int | None = None) -> int:
    """Return the number of intervals: C(2N+1, N), or Catalan(N+1) with equally many relevant documents at both ends.

    ``relevant``, here and below, is the recall base; None if it does not limit the rankings.

    >>> interval_count(4), interval_count(4, equal_relevant=True)
    (126, 42)
    >>> interval_count(5, relevant=3), interval_count(5, equal_relevant=True, relevant=3)
    (301, 116)
    """
    return _count_paths(length, equal_relevant, relevant, n_equal_ways=1)


def vector_count(length: int, equal_relevant: bool = False, relevant: int | None = None) -> int:
    """Return the number of difference vectors: of prefixes of Motzkin paths, or of Motzkin paths.

    >>> vector_count(10), vector_count(10, equal_relevant=True), vector_count(5, relevant=1)
    (17303, 2188, 16)
    """
    return _count_paths(length, equal_relevant, relevant, n_equal_ways=0)


def _count_paths(length: int, equal_relevant: bool, relevant: int | None, n_equal_ways: int) -> int:
    """Count paths over the ranks by dynamic programming.

    ``n_equal_ways`` is the number of ways in which both ends can have a relevant document at a rank: 1 counts
    intervals, 0 counts difference vectors.
    """
    max_relevant = length if relevant is None else relevant
    ways = {(0, 0): 1}  # (balance S - R, relevant documents of the upper end)
    for _ in range(length):
        after: Counter[tuple[int, int]] = Counter()
        for (balance, n_upper), count in ways.items():
            for step, added, times in ((0, 0, 1), (0, 1, n_equal_ways), (1, 1, 1), (-1, 0, 1)):
                if balance + step >= 0 and n_upper + added <= max_relevant:
                    after[balance + step, n_upper + added] += count * times
        ways = after
    return sum(count for (balance, _), count in ways.items() if not (equal_relevant and balance))


@dataclass(frozen=True)
class Groups:
    """Intervals of a length grouped by difference vector, in lexicographic order of d = s - r.

    ``delta[g]`` is the difference vector of group g and ``size[g]`` the number of intervals that share it.
    """

    change: NDArray[np.int8]
    delta: NDArray[np.int16]
    size: Ints

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True)
class Intervals:
    """Intervals of a length: the codes of both ends, and the group of equal difference."""

    lower: Codes
    upper: Codes
    group: Int32s

    def __len__(self) -> int:
        return len(self.lower)


def groups(length: int, equal_relevant: bool = False, relevant: int | None = None) -> Groups:
    """Return all difference vectors of a length, with their numbers of intervals.

    >>> len(groups(10)), len(groups(10, equal_relevant=True)), int(groups(4).size.sum())
    (17303, 2188, 126)
    """
    max_relevant = length if relevant is None else relevant
    change = np.zeros((1, 0), dtype=np.int8)
    balance, n_added = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for rank in range(1, length + 1):
        parents, step = np.repeat(np.arange(len(change)), 3), np.tile([-1, 0, 1], len(change))
        balance, n_added = balance[parents] + step, n_added[parents] + (step > 0)
        kept = _is_possible(balance, n_added, length - rank if equal_relevant else length, max_relevant)
        change = np.concatenate([change[parents[kept]], step[kept, None].astype(np.int8)], axis=1)
        balance, n_added = balance[kept], n_added[kept]
    vectors = np.cumsum(np.cumsum(change, axis=1, dtype=np.int16), axis=1, dtype=np.int16)
    return Groups(change, vectors, _sizes(change, n_added, max_relevant))


def _is_possible(balance: Ints, n_relevant: Ints, max_balance: int, max_relevant: int) -> Bools:
    """Return which prefixes can be continued: remaining ranks lower the balance S - R by at most 1 each."""
    return np.asarray((balance >= 0) & (balance <= max_balance) & (n_relevant <= max_relevant))


def _sizes(change: NDArray[np.int8], n_added: Ints, max_relevant: int) -> Ints:
    """Return the number of intervals of each group: the ways to choose the grades on which both ends agree."""
    length = change.shape[1]
    table = np.array([[comb(n, k) for k in range(length + 1)] for n in range(length + 1)], dtype=np.int64)
    sizes: Ints = np.cumsum(table, axis=1)[
        (change == 0).sum(axis=1), np.minimum(max_relevant - n_added, length)
    ]
    return sizes


def intervals(length: int, equal_relevant: bool = False, relevant: int | None = None) -> Intervals:
    """Return all intervals of a length, ordered by group as in :func:`groups`.

    >>> pairs = intervals(1)
    >>> [(int(r), int(s)) for r, s in zip(pairs.lower, pairs.upper)]
    [(0, 0), (1, 1), (0, 1)]
    """
    max_relevant = length if relevant is None else relevant
    lower, upper = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    balance, n_upper, kind = (np.zeros(1, dtype=np.int64) for _ in range(3))
    for rank in range(1, length + 1):
        parents = np.repeat(np.arange(len(lower)), 4)
        low, high = (
            np.tile(np.array(digits, dtype=np.int32), len(lower)) for digits in ((0, 1, 0, 1), (0, 1, 1, 0))
        )
        balance, n_upper = balance[parents] + high - low, n_upper[parents] + high
        kept = _is_possible(balance, n_upper, length - rank if equal_relevant else length, max_relevant)
        parents, low, high = parents[kept], low[kept], high[kept]
        balance, n_upper = balance[kept], n_upper[kept]
        lower, upper = 2 * lower[parents] + low, 2 * upper[parents] + high
        kind = 3 * kind[parents] + high - low + 1
    order = np.argsort(kind, kind="stable")
    group = np.cumsum(np.diff(kind[order], prepend=kind[order[0]]) != 0, dtype=np.int32)
    return Intervals(lower[order], upper[order], group)
