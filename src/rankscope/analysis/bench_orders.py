"""Scores on several tasks, orders of systems with their uncertainty, and their sensitivity to tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankscope.analysis.stats.aggregates import BASES, aggregate_value, combine, compute_terms, resample
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.intervals import rank_intervals, ranks
from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.significance import adjust, all_pairs, run_test, tiers
from rankscope.arrays import Bools, Floats, Ints
from rankscope.errors import InputError, SettingsError
from rankscope.measures import Measure
from rankscope.read.task_scores import TaskScores, read_task_scores, read_task_types
from rankscope.scores import Collection, ScoreMatrix, Scores

_DEFAULT = "nDCG@10"


class Procedure(NamedTuple):
    """Sampled units, and the test of pairs of systems."""

    sample: str
    test: str
    correction: str
    alpha: float
    replicates: int
    seed: int


@dataclass(frozen=True, eq=False)
class Order:
    """Systems ordered by the means of their terms, best highest."""

    merits: Floats
    first: Ints
    last: Ints
    separated: Bools
    """Array of shape (systems, systems)."""
    tiers: Sequence[int | None]
    p: Floats | None = None
    adjusted: Floats | None = None
    bounds: tuple[Floats, Floats] | None = None

    @property
    def best_first(self) -> list[int]:
        """Indices of the systems."""
        return [int(s) for s in np.argsort(-self.merits, kind="stable")]


def open_task_scores(
    source: Any, measure: str | Measure | None, types: Mapping[str, str] | str | Path | None
) -> TaskScores:
    """Return the scores of a table, of a folder, or of scores or collections by task, with types."""
    kinds = (Scores, ScoreMatrix, Collection)
    if source and isinstance(source, Mapping) and all(isinstance(one, kinds) for one in source.values()):
        scores = _join({str(task): _matrix(member, measure) for task, member in source.items()})
    elif measure is not None:
        hint = "leave the measure out: a table has one score for each system and task"
        raise SettingsError("a table of scores has no measures", hint=hint)
    else:
        scores = source if isinstance(source, TaskScores) else read_task_scores(source)
    return scores if types is None else replace(scores, types=read_task_types(types, scores.tasks))


def _matrix(member: Scores | ScoreMatrix | Collection, measure: str | Measure | None) -> ScoreMatrix:
    if isinstance(member, Collection):
        member = member.evaluate(measure or _DEFAULT)
    if isinstance(member, Scores):
        member = member.matrix(measure or member.measures[0])
    if member.measure.better != "higher" or member.measure.summary != "mean":
        problem = "cannot be compared over tasks: it is no mean of values where higher is better"
        raise SettingsError(f"{member.measure} {problem}", hint=f"choose {_DEFAULT}, for example")
    return member


def _join(matrices: Mapping[str, ScoreMatrix]) -> TaskScores:
    """Join the runs of all tasks by name; a run that lacks a task has no score there."""
    if len({str(matrix.measure) for matrix in matrices.values()}) > 1:
        raise InputError("the tasks are scored by different measures", hint="name one measure")
    systems = tuple(dict.fromkeys(run for matrix in matrices.values() for run in matrix.runs))
    topics = []
    for matrix in matrices.values():
        defined = ~np.isnan(matrix.values).all(axis=0)
        topics.append(np.full((len(systems), int(defined.sum())), np.nan))
        topics[-1][[systems.index(run) for run in matrix.runs]] = matrix.values[:, defined]
    values = np.stack([joined.mean(axis=1) for joined in topics], axis=1)
    return TaskScores(systems, tuple(matrices), values, (), tuple(topics))


def _types(scores: TaskScores, basis: str) -> Ints:
    """Return the numbers of the types of the tasks, which are one type unless the basis uses types."""
    return np.unique(scores.types if basis == "types" else [""] * len(scores.tasks), return_inverse=True)[1]


def order_systems(
    scores: TaskScores, names: Sequence[str], tests: Procedure, bounds: tuple[float, float] | None
) -> dict[str, Order]:
    """Return the order of the systems by each aggregate; aggregates of the same terms share one."""
    bases = {basis: _types(scores, basis) for basis in dict.fromkeys(BASES[name] for name in names)}
    if bounds is None:
        drawn = resample(bases, scores.values, scores.topics, tests.sample, tests.replicates, tests.seed)
        orders = {basis: _order(scores, basis, types, drawn[basis], tests) for basis, types in bases.items()}
    else:
        orders = {b: _bounded_order(scores.values, b, types, bounds) for b, types in bases.items()}
    return {name: orders[BASES[name]] for name in names}


def _order(scores: TaskScores, basis: str, types: Ints, drawn: Floats, tests: Procedure) -> Order:
    terms = compute_terms(scores.values, basis)
    merits = rounded(combine(terms, types))
    # Weights turn a mean of types into a mean over tasks, so that tests can be paired over tasks.
    sizes = np.bincount(types)
    terms = terms * (len(types) / (len(sizes) * sizes[types]))
    first, second = all_pairs(len(merits))
    if tests.sample == "topics":
        from scipy.special import ndtr

        # Resamples of n topics vary by the share 1/n too little; the smallest task decides.
        n = min(topics.shape[1] for topics in scores.topics)
        terms = np.repeat(merits[:, None], n, axis=1)
        error = np.sqrt(n / (n - 1)) * (drawn[first] - drawn[second]).std(axis=1)
        difference = np.abs(merits[first] - merits[second])
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(difference > 0, 2 * ndtr(-difference / error), 1.0)
        adjusted = adjust(p, tests.correction)
    else:
        how = {"correction": tests.correction, "alpha": tests.alpha, "seed": tests.seed}
        outcome = run_test(tests.test, terms, first, second, **how)  # type: ignore[arg-type]
        p, adjusted = outcome.p, outcome.adjusted
    separated = np.zeros((len(merits), len(merits)), np.bool_)
    separated[first, second] = separated[second, first] = adjusted < tests.alpha
    ends = rank_intervals(terms, drawn, tests.alpha)
    return Order(merits, *ends, separated, tiers(merits, separated), p, adjusted)


def _bounded_order(values: Floats, basis: str, types: Ints, bounds: tuple[float, float]) -> Order:
    """Return the order with the bounds of values and ranks, over all values of missing scores.

    Bounds of scores are attained for each pair of systems. Those of points are attained for each system; a rank by
    points may have narrower bounds, because missing scores of a third system cannot favour both.
    """
    low, high = (np.where(np.isnan(values), end, values) for end in bounds)
    if basis == "points":
        # Each system meets itself: as a tie, or as a loss and a win if its score is missing.
        itself = np.where(np.isnan(values), [[[0.0]], [[1.0]]], 0.5)
        low, high = (
            np.add(mine[:, None] > others[None], (mine[:, None] == others[None]) / 2).sum(axis=1) - own
            for mine, others, own in ((low, high, itself[0]), (high, low, itself[1]))
        )
    lowest, highest = rounded(combine(low, types)), rounded(combine(high, types))
    above = lowest[:, None] > highest[None, :]
    last = 1 + (highest[None, :] > lowest[:, None]).sum(axis=1) - (highest > lowest)
    no_tiers: list[int | None] = [None] * len(values)
    merits = (lowest + highest) / 2
    return Order(merits, 1 + above.sum(axis=0), last, above | above.T, no_tiers, bounds=(lowest, highest))


def places(scores: TaskScores, aggregate: str, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the leaderboard of an aggregate, best system first."""
    tasks = len(scores.tasks)
    ends = np.sort(
        [aggregate_value(aggregate, end, tasks) for end in order.bounds or (order.merits,)], axis=0
    )
    positions = ranks(order.merits)[0] if order.bounds is None else order.first
    for s in order.best_first:
        value = float(ends[0, s]) if ends[0, s] == ends[-1, s] else None
        rank = int(positions[s]) if order.bounds is None or order.first[s] == order.last[s] else None
        limits = () if order.bounds is None else ends[:, s].tolist()
        interval = int(order.first[s]), int(order.last[s])
        yield scores.systems[s], aggregate, value, rank, *interval, order.tiers[s], *limits


def describe_tasks(scores: TaskScores, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the table of tasks."""
    for t, task in enumerate(scores.tasks):
        scored = np.flatnonzero(~np.isnan(scores.values[:, t]))
        values = scores.values[scored, t]
        mean = float(values.mean()) if len(scored) else np.nan
        topics = scores.topics[t].shape[1] if scores.topics else None
        tau = kendall(values, order.merits[scored]).tau_b
        yield task, scores.types[t] if scores.types else "", len(scored), topics, mean, tau


def cliques(mean_ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Return the first and last index of each maximal group of ascending mean ranks within a distance.

    >>> cliques([1.0, 1.5, 2.8, 2.85], 1.4)
    [(0, 1), (1, 3)]
    """
    groups: list[tuple[int, int]] = []
    for start, rank in enumerate(mean_ranks):
        end = max(k for k, other in enumerate(mean_ranks) if other - rank < distance)
        if end > start and (not groups or end > groups[-1][1]):
            groups.append((start, end))
    return groups


def measure_fragility(scores: TaskScores, orders: Mapping[str, Order]) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the table of fragility; with missing scores, only those that compare aggregates."""
    for a, b in combinations(orders, 2):
        yield a, "aggregate", b, 0, *_compare(scores, orders[a].merits, orders[b].merits), True
    rows_by_basis: dict[str, list[tuple[Any, ...]]] = {}
    for name, order in orders.items() if not np.isnan(scores.values).any() else ():
        basis = BASES[name]
        rows_by_basis[basis] = rows_by_basis.get(basis) or list(_leave_out(scores, basis, order))
        yield from ((name, *row) for row in rows_by_basis[basis])


def _compare(scores: TaskScores, before: Floats, after: Floats) -> tuple[str, int, float]:
    """Return the new leader, the number of pairs whose order changes, and tau."""
    result = kendall(before, after)
    return scores.systems[int(np.argmax(after))], result.discordant, result.tau_b


def _leave_out(scores: TaskScores, basis: str, order: Order) -> Iterator[tuple[Any, ...]]:
    types, terms = _types(scores, basis), compute_terms(scores.values, basis)
    smallest = smallest_set(terms, types, order.best_first[0])
    choices = [*(("task", [t]) for t in range(len(types))), *([("leader", smallest)] if smallest else [])]
    for change, tasks in choices:
        remaining = np.delete(np.arange(len(types)), tasks)
        remaining_types = np.unique(types[remaining], return_inverse=True)[1]
        after = _compare(scores, order.merits, rounded(combine(terms[:, remaining], remaining_types)))
        yield change, ";".join(scores.tasks[t] for t in tasks), len(tasks), *after, True


def smallest_set(terms: Floats, types: Ints, leader: int) -> list[int]:
    """Return the fewest tasks without which another system leads; empty if there is no such set.

    For a rival and a number of tasks to leave out of each type, it is best to leave out those where the leader is most
    ahead. The numbers that minimise the sum of the mean leads on the types are found type after type, for all numbers
    of tasks (dynamic programming).

    >>> smallest_set(np.array([[0.9, 0.5, 0.5], [0.1, 0.6, 0.6]]), np.array([0, 0, 0]), 0)
    [0]
    """
    ahead = terms[leader] - np.delete(terms, leader, axis=0)
    zero = 1e-12 * float(np.abs(terms).max(initial=0.0))
    minima = np.zeros((len(ahead), 1))
    steps = []
    for kind in range(int(types.max()) + 1):
        tasks = np.flatnonzero(types == kind)
        order = tasks[np.argsort(-ahead[:, tasks], axis=1, kind="stable")]
        totals = np.cumsum(np.take_along_axis(ahead, order, 1)[:, ::-1], 1)[:, ::-1]
        # The mean lead by the number of tasks left out: a type without tasks does not count.
        means = np.pad(totals / np.arange(len(tasks), 0, -1), ((0, 0), (0, 1)))
        sums = np.full((len(tasks) + 1, len(ahead), minima.shape[1] + len(tasks)), np.inf)
        for count in range(len(tasks) + 1):
            sums[count, :, count : count + minima.shape[1]] = minima + means[:, [count]]
        steps.append((order, sums.argmin(axis=0)))
        minima = sums.min(axis=0)
    n_left_out = int((minima[:, :-1] < -zero).any(axis=0).argmax())  # 0 if the leader stays
    rival = minima[:, n_left_out].argmin()
    smallest: list[int] = []
    for order, counts in reversed(steps):
        count = int(counts[rival, n_left_out])
        smallest += order[rival, :count].tolist()
        n_left_out -= count
    return sorted(smallest)
