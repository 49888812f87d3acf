"""Values of rankings with tied documents: in the order by document id, expected over all orders, best, or worst.

The properties that a measure declares select the method: its closed form gives the exact mean, and if it respects
swaps, sorting every group gives the extremes. Other measures are evaluated order by order: over all orders if they are
few, else over a sample. Documents of equal grade are interchangeable, so an order is a permutation of a multiset of
grades. All permutations of a group are equally likely, and groups are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from rankscope.arrays import AnyArray, Bools, Floats, Ints
from rankscope.judging.lists import Lists
from rankscope.judging.tied import TiedLists
from rankscope.measures.base import Measure, declared_form, respects_swaps
from rankscope.read import UNJUDGED

MAX_ORDERS = 20_000
"""Maximum number of permutations of a list for which all are evaluated."""

SAMPLES = 1000
"""Number of random orders of a list with more permutations."""

_HITS = 1 << 20
"""Number of hits to evaluate at a time."""


@dataclass(frozen=True)
class OrderValues:
    """Statistics of a measure over the orders of each list."""

    mean: Floats
    error: Floats
    """Standard error of the mean of sampled orders; 0 if all orders were evaluated."""
    lowest: Floats
    highest: Floats
    every: Bools
    """Whether all orders were evaluated."""


def evaluate_orders(
    measures: Sequence[Measure],
    lists: TiedLists,
    numbers: Ints,
    *,
    seed: int = 1,
    max_orders: int = MAX_ORDERS,
    samples: int = SAMPLES,
) -> list[OrderValues]:
    """Evaluate measures over the orders of each list; ``numbers`` identify the lists for the random generator."""
    size = (len(measures), len(lists))
    mean, error, lowest, highest = (np.zeros(size) for _ in range(4))
    is_enumerated = np.zeros(len(lists), np.bool_)
    for part, n_orders, sampled, orders in _batches(lists, numbers, seed, max_orders, samples):
        starts = np.concatenate([[0], np.cumsum(n_orders)[:-1]])
        is_enumerated[part] = ~sampled
        for m, measure in enumerate(measures):
            values = measure.evaluate(orders)
            mean[m, part] = np.add.reduceat(values, starts) / n_orders
            lowest[m, part], highest[m, part] = (f.reduceat(values, starts) for f in (np.minimum, np.maximum))
            if sampled.any():
                centre = np.repeat(mean[m, part], n_orders)
                # One infinite value makes the mean infinite, without an error.
                deviation = np.where(np.isinf(centre), 0.0, values - np.where(np.isinf(centre), 0.0, centre))
                spread = np.add.reduceat(deviation**2, starts)
                variance = spread / np.maximum(n_orders - 1, 1)
                error[m, part] = np.where(sampled, np.sqrt(variance / n_orders), 0.0)
            alike = lowest[m, part] == highest[m, part]
            # The mean of equal values is exactly that value.
            mean[m, part] = np.where(alike, lowest[m, part], mean[m, part])
    return [OrderValues(*row, is_enumerated) for row in zip(mean, error, lowest, highest, strict=True)]


def _batches(
    lists: TiedLists, numbers: Ints, seed: int, max_orders: int, samples: int
) -> Iterator[tuple[slice, Ints, Bools, Lists]]:
    """Generate batches: the lists, their numbers of orders to evaluate, if these are a sample, and the orders."""
    labels, hidden = lists.labels(), lists.grade() == UNJUDGED
    first, hits, sampled = 0, 0, []
    pending: list[tuple[AnyArray, AnyArray]] = []
    for index in range(len(lists)):
        part = slice(int(lists.offsets[index]), int(lists.offsets[index + 1]))
        groups = _find_groups(lists, part, labels[part], hidden[part])
        sampled.append(_count_permutations(groups, max_orders) > max_orders)
        if sampled[-1]:
            ranks = _draw_ranks(groups, np.random.default_rng([seed, int(numbers[index])]), samples)
        else:
            ranks = _enumerate_ranks(groups)
        table = np.broadcast_to(lists.rank[part], (len(ranks), part.stop - part.start)).copy()
        if groups:
            table[:, np.concatenate([members for members, *_ in groups])] = ranks
        pending.append((table, lists.judgment[part]))
        hits += table.size
        if hits >= _HITS or index == len(lists) - 1:
            n_orders = np.array([len(table) for table, _ in pending])
            yield slice(first, index + 1), n_orders, np.array(sampled), _join_lists(lists, first, pending)
            first, hits, sampled, pending = index + 1, 0, [], []


Group = tuple[Ints, int, int, Ints]
"""Indices of its hits in the list, its first rank, its size, and the number of documents of each kind."""


def _find_groups(lists: TiedLists, part: slice, kind: Ints, hidden: Bools) -> list[Group]:
    """Return the groups of a list with documents of different kinds; hits are sorted by kind."""
    first, size = lists.ties.first[part], lists.ties.size[part]
    groups: list[Group] = []
    for start in np.unique(first[size > 1]).tolist():
        members = np.flatnonzero((first == start) & ~hidden)
        group_size = int(size[first == start][0])
        members = members[np.argsort(kind[members], kind="stable")]
        counts = np.unique(kind[members], return_counts=True)[1]
        rest = group_size - len(members)
        if len(members) and len(counts) + (rest > 0) > 1:
            groups.append((members, int(start), group_size, np.append(counts, rest) if rest else counts))
    return groups


def _count_permutations(groups: Sequence[Group], max_count: int) -> int:
    """Return the number of permutations, or some number above ``max_count``."""
    number = 1
    for *_, counts in groups:
        left = 0
        for count in counts.tolist():
            left += count
            number *= comb(left, count)
            if number > max_count:
                return number
    return number


def _enumerate_ranks(groups: Sequence[Group]) -> AnyArray:
    """Return the ranks of the hits of all groups, one row per permutation."""
    rows = np.zeros((1, 0), np.int64)
    for members, first, _, counts in groups:
        # Members are sorted by kind, and within a kind from the top.
        ranks = np.argsort(multiset_permutations(counts), axis=1, kind="stable")[:, : len(members)] + first
        rows = np.concatenate([np.repeat(rows, len(ranks), axis=0), np.tile(ranks, (len(rows), 1))], axis=1)
    return rows


def _draw_ranks(groups: Sequence[Group], rng: np.random.Generator, samples: int) -> AnyArray:
    """Return the ranks of the hits of all groups, one row per random order."""
    parts = [
        np.argsort(rng.random((samples, size)), axis=1)[:, : len(members)] + first
        for members, first, size, _ in groups
    ]
    return np.concatenate(parts, axis=1)


def multiset_permutations(counts: AnyArray) -> Ints:
    """Return all distinct permutations of a multiset, ``counts[k]`` copies of each k, one per row.

    >>> multiset_permutations(np.array([1, 2])).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    words, left = np.zeros((1, 0), np.int64), np.array([counts])
    for _ in range(int(np.sum(counts))):
        row, letter = np.nonzero(left)
        words = np.concatenate([words[row], letter[:, np.newaxis]], axis=1)
        left = left[row]
        left[np.arange(len(row)), letter] -= 1
    return words


def _join_lists(lists: TiedLists, first: int, pending: Sequence[tuple[AnyArray, Any]]) -> Lists:
    """Return every row of every table as a list, with hits by rank."""
    row = np.repeat(np.arange(first, first + len(pending)), [len(table) for table, _ in pending])
    width = np.concatenate([np.full(len(table), table.shape[1]) for table, _ in pending])
    ranks, judgments = [], []
    for table, judgment in pending:
        order = np.argsort(table, axis=1, kind="stable")
        ranks.append(np.take_along_axis(table, order, axis=1).ravel())
        judgments.append(judgment[order].ravel())
    offsets = np.concatenate([[0], np.cumsum(width)])
    return lists.with_hits(row, offsets, np.concatenate(ranks), np.concatenate(judgments))


@dataclass(frozen=True)
class TiedValues:
    """Values of one measure, one per list."""

    value: Floats
    error: Floats
    """Standard error of sampled orders; 0 otherwise."""
    exact: Bools
    """Whether the value covers all orders; otherwise it is the mean, or the extreme, of a sample."""


def tied_values(
    measures: Sequence[Measure],
    lists: TiedLists,
    ties: str,
    *,
    numbers: Ints | None = None,
    seed: int = 1,
    max_orders: int = MAX_ORDERS,
    samples: int = SAMPLES,
) -> list[TiedValues]:
    """Evaluate measures for lists with ties; ``numbers`` identify the lists for the random generator.

    Up to ``max_orders`` permutations of a list are enumerated; otherwise ``samples`` random orders are drawn.
    """
    names = np.arange(len(lists)) if numbers is None else numbers
    results: dict[int, TiedValues] = {}
    for index, measure in enumerate(measures):
        value = _without_orders(measure, lists, ties)
        if value is not None:
            results[index] = TiedValues(value, np.zeros(len(lists)), np.ones(len(lists), np.bool_))
    rest = [index for index in range(len(measures)) if index not in results]
    if rest:
        others = [measures[index] for index in rest]
        summaries = evaluate_orders(others, lists, names, seed=seed, max_orders=max_orders, samples=samples)
        for index, measure, summary in zip(rest, others, summaries, strict=True):
            results[index] = _summarise_orders(measure, lists, summary, ties)
    return [results[index] for index in range(len(measures))]


def needs_orders(measure: Measure, ties: str) -> bool:
    """Return whether a value under ties takes the orders of tied documents one by one."""
    if ties == "expected":
        return declared_form(measure) is None
    return ties != "break" and not respects_swaps(measure)


def _without_orders(measure: Measure, lists: TiedLists, ties: str) -> Floats | None:
    """Return values by the declared properties of the measure, or None if they do not suffice."""
    if needs_orders(measure, ties):
        return None
    if ties == "break":
        return measure.evaluate(lists)
    form = declared_form(measure)
    if ties == "expected" and form is not None:
        return form.expected(measure, lists, measure.evaluate(lists))
    return measure.evaluate(lists.sorted_groups(_wants_highest(measure, ties)))


def _wants_highest(measure: Measure, ties: str) -> bool:
    return (ties == "best") == (measure.better != "lower")


def _summarise_orders(measure: Measure, lists: TiedLists, order_values: OrderValues, ties: str) -> TiedValues:
    if ties == "expected":
        return TiedValues(order_values.mean, order_values.error, order_values.every)
    highest = _wants_highest(measure, ties)
    value = order_values.highest if highest else order_values.lowest
    if not order_values.every.all():  # A sample rarely contains the extremes, but sorted orders often do.
        for best_first in (True, False):
            other = measure.evaluate(lists.sorted_groups(best_first))
            value = np.fmax(value, other) if highest else np.fmin(value, other)
    return TiedValues(value, np.zeros(len(value)), order_values.every)
