"""Rankings as points of a partial order, and intervals between them (Ferrante, Ferro and Pontarollo 2017).

A binary ranking of length N is represented by its *code*: the number whose binary digits are its grades, rank 1 first.
A measure on all rankings is therefore an array ``values[code]``, and the code is also the position of the ranking under
strong top-heaviness.

    r <= s      iff  every prefix sum of r is at most that of s
    steps       t = S - R, the prefix sums subtracted: swaps at each depth, replacements at the last one
    difference  Delta_sr = T, the prefix sums of t

An interval is a pair r <= s, including r = s. Its difference vector depends only on d = s - r, so the intervals form
at most 3^N groups of equal difference, each of 2^(zeros of d) intervals.

A graded ranking is one binary ranking [r_j >= g] for each grade g above 0, so an interval has a difference vector for
each (Ferrante, Ferro and Maistro 2015). The digits of its code in base G + 1 are its grades.

A topic with RB < N relevant documents has only the rankings with at most RB of them. Every ranking below such a ranking
also has at most RB, so the intervals of the topic are those whose upper end has at most RB relevant documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any

import numpy as np

from rankscope.arrays import ArrayLike, Int32s, Ints, NDArray

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


def rankings(length: int, grades: int = 1) -> NDArray[np.int8]:
    """Return all rankings of a length over the grades 0 to ``grades``, one row per code.

    >>> rankings(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    codes = np.arange((grades + 1) ** length, dtype=np.int64)
    result = np.empty((len(codes), length), np.int8)
    for rank in range(length - 1, -1, -1):
        codes, result[:, rank] = np.divmod(codes, grades + 1)
    return result


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
    """Intervals of a length, ordered by group of equal difference: the codes of both ends, and the group."""

    lower: Codes
    upper: Codes
    group: Int32s
    kinds: Groups

    def __len__(self) -> int:
        return len(self.lower)


def groups(length: int, equal_relevant: bool = False, relevant: int | None = None) -> Groups:
    """Return all difference vectors of a length, with their numbers of intervals.

    >>> len(groups(10)), len(groups(10, equal_relevant=True)), int(groups(4).size.sum())
    (17303, 2188, 126)
    """
    max_relevant = length if relevant is None else relevant
    step, places = np.array([[-1, 0, 1]], np.int8), np.arange(length - 1, -1, -1)
    (kind,) = _sequences(step, np.maximum(step, 0), step + 1, 3, length, equal_relevant, max_relevant)
    change = (kind[:, np.newaxis] // 3**places % 3 - 1).astype(np.int8)
    vectors = np.cumsum(np.cumsum(change, axis=1, dtype=np.int16), axis=1, dtype=np.int16)
    return Groups(change, vectors, _sizes(change, (change > 0).sum(axis=1), max_relevant))


def _sequences(
    change: NDArray[np.int8],
    added: NDArray[np.int8],
    digits: Codes,
    bases: Any,
    length: int,
    equal_relevant: bool,
    max_relevant: int,
) -> Ints:
    """Return codes of the possible sequences of moves, one at each rank, in lexicographic order (codes, sequences).

    The arrays have a column for each move: its changes of the balances S - R, one for each grade, the relevant
    documents that it adds, and its digits in the codes. No balance may be negative; with ``equal_relevant`` all are 0
    at the end, and the remaining ranks lower them by at most 1 each.
    """
    n_moves = digits.shape[1]
    codes = np.zeros((len(digits), 1), np.int64)
    balance, n_added = (np.zeros((len(rows), 1), np.int8) for rows in (change, added))
    for rank in range(1, length + 1):
        parents, move = (
            np.repeat(np.arange(codes.shape[1]), n_moves),
            np.tile(np.arange(n_moves), codes.shape[1]),
        )
        balance = balance.take(parents, axis=1) + change.take(move, axis=1)
        n_added = n_added.take(parents, axis=1) + added.take(move, axis=1)
        max_balance = length - rank if equal_relevant else length
        possible = (balance >= 0) & (balance <= max_balance)
        kept = np.flatnonzero(possible.all(axis=0) & (n_added <= max_relevant).all(axis=0))
        balance, n_added, parents, move = balance[:, kept], n_added[:, kept], parents[kept], move[kept]
        codes = codes.take(parents, axis=1) * bases + digits.take(move, axis=1)
    return codes


def _sizes(change: NDArray[np.int8], n_added: Ints, max_relevant: int) -> Ints:
    """Return the number of intervals of each group: the ways to choose the grades on which both ends agree."""
    length = change.shape[1]
    table = np.array([[comb(n, k) for k in range(length + 1)] for n in range(length + 1)], dtype=np.int64)
    sizes: Ints = np.cumsum(table, axis=1)[
        (change == 0).sum(axis=1), np.minimum(max_relevant - n_added, length)
    ]
    return sizes


def intervals(
    length: int, equal_relevant: bool = False, relevant: int | None = None, grades: int = 1
) -> Intervals:
    """Return all intervals of a length, ordered by group as in :func:`groups`.

    There are at most ``relevant`` documents of each grade above 0. With ``equal_relevant`` both ends have equal numbers
    of documents of each grade.

    >>> pairs = intervals(1)
    >>> [(int(r), int(s)) for r, s in zip(pairs.lower, pairs.upper)]
    [(0, 0), (1, 1), (0, 1)]
    """
    max_relevant = length if relevant is None else relevant
    levels, base = np.arange(1, grades + 1)[:, np.newaxis, np.newaxis], grades + 1
    ends = np.array(
        list(product(range(base), repeat=2))
    ).T  # grades of both ends at a rank, a column for each move
    reached = (ends >= levels).astype(np.int8)
    change = reached[:, 1] - reached[:, 0]
    added = (ends == levels).reshape(-1, ends.shape[1]).astype(np.int8)
    kinds, kind_of = np.unique(change, axis=1, return_inverse=True)
    digits, n_kinds = np.vstack([ends, kind_of.ravel()]), kinds.shape[1]
    bases = np.array([[base], [base], [n_kinds]])
    codes = _sequences(change, added, digits, bases, length, equal_relevant, max_relevant)
    lower, upper, kind = codes[:, np.argsort(codes[2], kind="stable")]
    first = np.flatnonzero(np.diff(kind, prepend=-1))
    size = np.diff(first, append=len(kind))
    moves = kind[first, np.newaxis] // n_kinds ** np.arange(length - 1, -1, -1) % n_kinds
    vectors = np.cumsum(np.cumsum(kinds.T[moves], axis=1, dtype=np.int16), axis=1, dtype=np.int16)
    groups = Groups(np.zeros((len(first), 0), np.int8), vectors.reshape(len(first), -1), size)
    group: Int32s = np.repeat(np.arange(len(first), dtype=np.int32), size)
    return Intervals(lower.astype(np.int32), upper.astype(np.int32), group, groups)
