"""Dominance of cumulated counts: which of two rankings is better by every measure of a family.

C_g(k) is the number of documents of grade g or better among the first k, and D_g(k) the difference of two rankings.

- *First order*: D_g(k) >= 0 for every g and k. This holds exactly if swaps (a document moves above a worse one) and
  replacements (a document is replaced by a better one) lead from one ranking to the other, so every measure that
  respects both agrees. Every additive measure with non-increasing weights w does: by summation by parts, its difference
  is the sum over g and k of D_g(k) (w(k) - w(k+1)) times the gain of g over the grade below.
- *Second order*: D_g(1) + ... + D_g(k) >= 0 for every g and k up to the end of the rankings. By a second summation by
  parts, every additive measure agrees whose weights, followed by a zero, are non-increasing and convex.
- *Convex*: second order, and D_g >= 0 at the end. Weights that are cut off, or that continue after the end, are not
  convex there: (1, 0, 0) is better than (0, 1, 1) at second order, yet RBP(p=0.9) and DCG prefer the latter. With the
  condition at the end all convex weights agree, cut off or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Bools, Ints
from rankscope.errors import SettingsError


class Orders(NamedTuple):
    """Masks of dominance for many pairs: ``first[0]`` where a dominates, ``first[1]`` where b does (both: equal)."""

    first: tuple[Bools, Bools]
    second: tuple[Bools, Bools]
    convex: tuple[Bools, Bools]


def orders(difference: AnyArray) -> Orders:
    """Return the dominance orders of differences of cumulated counts, a minus b, of shape (..., grades, ranks).

    >>> first, second, convex = orders(np.array([[1, 0, -1]]))  # one grade, three ranks
    >>> bool(first[0]), bool(second[0]), bool(convex[0])
    (False, True, False)
    """
    first = _signs(difference)
    second = first[0].copy(), first[1].copy()  # The first order implies the second.
    undecided = ~(first[0] | first[1])
    sums = _signs(np.cumsum(difference[undecided], axis=-1, dtype=np.int64))
    end = _signs(difference[..., -1:])
    for mask, sums_mask in zip(second, sums, strict=True):
        mask[undecided] = sums_mask
    return Orders(first, second, (second[0] & end[0], second[1] & end[1]))


def _signs(curves: AnyArray) -> tuple[Bools, Bools]:
    """Return two masks: curves that are nowhere negative, and curves that are nowhere positive."""
    axes = (-2, -1)
    lowest, highest = curves.min(axis=axes, initial=0), curves.max(axis=axes, initial=0)
    return np.asarray(lowest >= 0), np.asarray(highest <= 0)


def cumulate_counts(grades: AnyArray, levels: Sequence[int], depth: int) -> Ints:
    """Return the number of documents of each level or better among the first k = 1..depth (levels, depth).

    >>> cumulate_counts(np.array([2, 0, 1]), (1, 2), 4).tolist()
    [[1, 1, 2, 2], [1, 1, 1, 1]]
    """
    padded = np.zeros(depth, np.int64)
    padded[: len(grades)] = grades[:depth]
    reached = padded >= np.asarray(levels, np.int64)[:, np.newaxis]
    return np.cumsum(reached, axis=1, dtype=np.int64)


@dataclass(frozen=True)
class Dominance:
    """Comparison of two rankings by cumulated counts; each order is ``"a"``, ``"b"``, ``"both"`` (equal) or None."""

    first_order: str | None
    second_order: str | None
    convex: str | None
    """Winner by all additive measures with convex non-increasing weights, cut off or continued after the end."""
    crossings: tuple[tuple[int, int], ...]
    """Pairs (grade, rank) at which the lead in documents of this grade or better changes."""


def dominance(a: Sequence[int | None], b: Sequence[int | None]) -> Dominance:
    """Compare two rankings of one topic by their cumulated counts of relevant documents.

    Parameters
    ----------
    a, b
        Grades of the rankings, from rank 1; None is an unjudged document, which counts as not relevant.

    Returns
    -------
    Dominance
        Winner of each order, and the ranks at which the lead changes.

    Examples
    --------
    >>> dominance([1, 0, 1], [0, 1, 1])
    Dominance(first_order='a', second_order='a', convex='a', crossings=())
    >>> dominance([1, 0, 0], [0, 1, 1])
    Dominance(first_order=None, second_order='a', convex=None, crossings=((1, 3),))
    >>> dominance([0, 2], [2, 0]).first_order, dominance([1], [1]).first_order
    ('b', 'both')
    """
    lists = [_grades(grades) for grades in (a, b)]
    levels = sorted({int(g) for grades in lists for g in grades if g > 0})
    depth = max(map(len, lists))
    counts = [cumulate_counts(grades, levels, depth) for grades in lists]
    difference = counts[0] - counts[1]
    by_order = orders(difference)
    crossings = tuple(
        (level, rank) for level, row in zip(levels, difference, strict=True) for rank in _crossing_ranks(row)
    )
    first, second, convex = (_winner(bool(a_wins), bool(b_wins)) for a_wins, b_wins in by_order)
    return Dominance(first, second, convex, crossings)


def _grades(values: Sequence[int | None]) -> Ints:
    try:
        grades = np.array([0 if g is None else g for g in values], np.float64)
    except (TypeError, ValueError):
        grades = np.array(np.nan)
    if grades.ndim != 1 or not np.array_equal(grades, np.rint(grades)):
        hint = "give whole numbers, such as [1, 0, 2]"
        raise SettingsError(f"no list of grades: {values!r}"[:120], hint=hint)
    return grades.astype(np.int64)


def _winner(a: bool, b: bool) -> str | None:
    return "both" if a and b else "a" if a else "b" if b else None


def _crossing_ranks(row: AnyArray) -> list[int]:
    """Return the ranks at which the sign of a curve differs from the last non-zero sign."""
    where = np.flatnonzero(row)
    signs = np.sign(row[where])
    return [int(rank) + 1 for rank in where[1:][signs[1:] != signs[:-1]]]
