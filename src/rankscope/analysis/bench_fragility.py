"""What a leaderboard over several tasks hangs on: the aggregate, single tasks, and the fewest tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from rankscope.analysis.bench_orders import Order
from rankscope.analysis.stats.aggregates import BASES, combine, compute_terms
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.matrices import rounded
from rankscope.arrays import Floats, Ints
from rankscope.read.task_scores import TaskScores

_MAX_CHOICES = 50_000
"""Numbers of tasks left out of each type that are searched for the smallest set; beyond, a bound is found greedily."""


def compare_aggregates(orders: Mapping[str, Order]) -> Iterator[tuple[str, str, float, int]]:
    """Yield tau and the number of discordant pairs of every pair of aggregates."""
    for a, b in combinations(orders, 2):
        result = kendall(orders[a].merits, orders[b].merits)
        yield a, b, result.tau_b, result.discordant


def measure_fragility(scores: TaskScores, orders: Mapping[str, Order]) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the table of fragility, aggregate by aggregate; none with missing scores."""
    if np.isnan(scores.values).any():
        return
    first = next(iter(orders.values()))
    known: dict[str, list[tuple[Any, ...]]] = {}
    for name, order in orders.items():
        if order is not first:
            yield name, "aggregate", "", 0, *_compare(scores, first.merits, order.merits), True
        basis = BASES[name]
        if basis not in known:
            known[basis] = list(_leave_out(scores, basis, order))
        yield from ((name, *row) for row in known[basis])


def _compare(scores: TaskScores, before: Floats, after: Floats) -> tuple[str, int, float]:
    """Return the new leader, the number of pairs whose order changes, and tau."""
    result = kendall(before, after)
    return scores.systems[int(np.argmax(after))], result.discordant, result.tau_b


def _leave_out(scores: TaskScores, basis: str, order: Order) -> Iterator[tuple[Any, ...]]:
    types = (
        np.unique(scores.types, return_inverse=True)[1]
        if basis == "types"
        else np.zeros(len(scores.tasks), int)
    )
    terms = compute_terms(scores.values, basis)

    def after(tasks: Sequence[int]) -> tuple[str, int, float]:
        kept = np.delete(np.arange(len(types)), tasks)
        return _compare(scores, order.merits, rounded(combine(terms[:, kept], _renumber(types[kept]))))

    for t, task in enumerate(scores.tasks):
        yield "task", task, 1, *after([t]), True
    smallest, exact = smallest_set(terms, types, order.best_first[0])
    if smallest:
        yield "leader", ";".join(scores.tasks[t] for t in smallest), len(smallest), *after(smallest), exact


def _renumber(types: Ints) -> Ints:
    return np.unique(types, return_inverse=True)[1]


def smallest_set(terms: Floats, types: Ints, leader: int) -> tuple[list[int], bool]:
    """Return the fewest tasks without which another system leads, and whether there is no smaller set.

    For a rival and a number of tasks to leave out of each type, it is best to leave out those where the leader is most
    ahead, so that only these numbers are searched. Without such a set the result is empty.

    >>> smallest_set(np.array([[0.9, 0.5, 0.5], [0.1, 0.6, 0.6]]), np.array([0, 0, 0]), 0)
    ([0], True)
    """
    ahead = terms[leader] - np.delete(terms, leader, axis=0)
    zero = 1e-12 * float(np.abs(terms).max(initial=0.0))
    members = [np.flatnonzero(types == kind) for kind in range(int(types.max()) + 1)]
    order = [np.argsort(-ahead[:, tasks], axis=1, kind="stable") for tasks in members]
    means = []  # of each rival the mean lead over the tasks that are left, by the number of tasks left out
    for tasks, ranking in zip(members, order, strict=True):
        ordered = np.take_along_axis(ahead[:, tasks], ranking, axis=1)
        left = np.arange(len(tasks), 0, -1)
        means.append(
            np.column_stack([np.cumsum(ordered[:, ::-1], axis=1)[:, ::-1] / left, np.zeros(len(ahead))])
        )
    sizes = [len(tasks) for tasks in members]
    is_exact = prod(size + 1 for size in sizes) <= _MAX_CHOICES
    for counts in _choices(sizes) if is_exact else _greedy_choices(means, sizes):
        n_left = sum(count < size for count, size in zip(counts, sizes, strict=True))
        if n_left:
            lead = (
                np.sum([mean[:, count] for mean, count in zip(means, counts, strict=True)], axis=0) / n_left
            )
            rival = int(np.argmin(lead))
            if lead[rival] < -zero:
                chosen = [
                    int(tasks[k])
                    for tasks, ranking, count in zip(members, order, counts, strict=True)
                    for k in ranking[rival, :count]
                ]
                return sorted(chosen), is_exact
    return [], is_exact


def _choices(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all numbers of tasks to leave out of each type, fewest tasks first."""
    return sorted(product(*(range(size + 1) for size in sizes)), key=sum)


def _greedy_choices(means: Sequence[Floats], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield growing numbers of tasks: each step leaves out one task of the type that lowers the smallest lead most."""
    counts = [0] * len(sizes)
    while sum(counts) < sum(sizes) - 1:
        best: tuple[float, int] = (np.inf, 0)
        for kind in (k for k, size in enumerate(sizes) if counts[k] < size):
            trial = [count + (k == kind) for k, count in enumerate(counts)]
            n_left = sum(count < size for count, size in zip(trial, sizes, strict=True))
            if n_left:
                lead = (
                    np.sum([mean[:, count] for mean, count in zip(means, trial, strict=True)], axis=0)
                    / n_left
                )
                best = min(best, (float(np.min(lead)), kind))
        counts[best[1]] += 1
        yield tuple(counts)
