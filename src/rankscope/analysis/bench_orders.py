"""Scores on several tasks, orders of systems with their uncertainty, and their sensitivity to tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr

from rankscope.analysis import stats
from rankscope.analysis.stats.aggregates import BASES, aggregate_value, combine, compute_terms, weigh
from rankscope.analysis.stats.randomness import generator
from rankscope.arrays import Bools, Floats, Ints
from rankscope.errors import InputError, SettingsError
from rankscope.measures import Measure
from rankscope.progress import blocks
from rankscope.read.task_scores import TaskScores, read_task_scores, read_task_types
from rankscope.scores import Collection, ScoreMatrix, Scores

_DEFAULT = "nDCG@10"
_SCORES_AT_ONCE = 2**22  # 32 MB, several times
Bounds = tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Order:
    """Systems ordered by the means of their terms, best highest, and their values of an aggregate."""

    merits: Floats
    ends: Floats
    """Lowest and highest value over all values of missing scores, shape (2, systems)."""
    ranks: Sequence[int | None]
    first: Ints
    last: Ints
    separated: Bools
    """Array of shape (systems, systems)."""
    tiers: Sequence[int | None]
    p: Floats
    adjusted: Floats

    @property
    def best_first(self) -> list[int]:
        """Indices of the systems."""
        return [int(s) for s in np.argsort(-self.merits, kind="stable")]


def open_task_scores(source: Any, measure: str | Measure | None, types: Any) -> TaskScores:
    """Return the scores of a table, of a folder, or of scores or collections by task, with types."""
    kinds, members = (Scores, ScoreMatrix, Collection), source.values() if isinstance(source, Mapping) else ()
    if members and all(isinstance(member, kinds) for member in members):
        matrices = {str(task): _matrix(member, measure) for task, member in source.items()}
        if len({str(matrix.measure) for matrix in matrices.values()}) > 1:
            raise InputError("the tasks are scored by different measures", hint="name one measure")
        scores = TaskScores.join(matrices)
    elif measure is not None:
        hint = "leave the measure out: a table has one score for each system and task"
        raise SettingsError("a table of scores has no measures", hint=hint)
    else:
        scores = read_task_scores(source)
    return scores if types is None else replace(scores, types=read_task_types(types, scores.tasks))


def _matrix(member: Scores | ScoreMatrix | Collection, measure: str | Measure | None) -> ScoreMatrix:
    """Return the values of a measure on the topics on which some run has one."""
    if isinstance(member, Collection):
        member = member.evaluate(measure or _DEFAULT)
    if isinstance(member, Scores):
        member = member.matrix(measure or member.measures[0])
    if member.measure.better != "higher" or member.measure.summary != "mean":
        problem = "cannot be compared over tasks: it is no mean of values where higher is better"
        raise SettingsError(f"{member.measure} {problem}", hint=f"choose {_DEFAULT}, for example")
    return replace(member, values=member.values[:, ~np.isnan(member.values).all(axis=0)])


def _number_types(scores: TaskScores, basis: str) -> Ints:
    """Return the numbers of the types of the tasks, which are one type unless the basis uses types."""
    return np.unique(scores.types if basis == "types" else [""] * len(scores.tasks), return_inverse=True)[1]


def order_systems(
    scores: TaskScores, names: Sequence[str], bounds: Bounds, *, sample: str, replicates: int, **test: Any
) -> dict[str, Order]:
    """Return the order of the systems by each aggregate, with bounds if they are given.

    ``test`` has the ``test`` of pairs (``normal``: with the standard error of the resamples), its ``correction``,
    ``alpha`` and ``seed``. Aggregates of the same terms share an order.
    """
    orders = {}
    for basis in dict.fromkeys(BASES[name] for name in names):
        types = _number_types(scores, basis)
        if bounds is None:
            drawn = _resample(scores, basis, types, sample, replicates, test["seed"])
            orders[basis] = _order(scores, weigh(compute_terms(scores.values, basis), types), drawn, **test)
        else:
            orders[basis] = _bounded_order(scores.values, basis, types, bounds)
    ends = {n: [aggregate_value(n, end, len(scores.tasks)) for end in orders[BASES[n]].ends] for n in names}
    return {name: replace(orders[BASES[name]], ends=np.sort(ends[name], axis=0)) for name in names}


def _resample(scores: TaskScores, basis: str, types: Ints, sample: str, replicates: int, seed: int) -> Floats:
    """Return the means of the terms in each resample, systems x replicates; all bases have the same resamples."""
    tasks, rng = len(scores.tasks), generator(seed)
    drawn: list[Floats] = []
    for block in blocks(replicates, max(1, _SCORES_AT_ONCE // scores.values.size)):
        sampled = rng.integers(0, tasks, (block.stop - block.start, tasks))
        if sample == "topics":
            sampled[:] = np.arange(tasks)
        values = scores.values[:, sampled]
        for task, own in enumerate(scores.topics if sample != "tasks" else ()):
            is_task = sampled == task
            values[:, is_task] = stats.bootstrap_means(own, int(is_task.sum()), int(rng.integers(2**62)))
        drawn.append(combine(compute_terms(values.swapaxes(0, 1), basis), types[sampled]))
    return np.concatenate(drawn).T


def _order(scores: TaskScores, terms: Floats, drawn: Floats, **test: Any) -> Order:
    """Return the order by the means of terms; ``drawn`` are the means in the resamples."""
    summary = terms.mean(axis=1)
    merits = stats.rounded(summary, float(np.abs(terms).max(initial=0.0)))
    first, second = stats.all_pairs(len(merits))
    if test["test"] == "normal":
        # Resamples of n topics vary by the share 1/n too little; the smallest task decides.
        n = min(topics.shape[1] for topics in scores.topics)
        terms = np.repeat(merits[:, None], n, axis=1)
        error = np.sqrt(n / (n - 1)) * (drawn[first] - drawn[second]).std(axis=1)
        p = 2 * ndtr(-np.abs(merits[first] - merits[second]) / np.maximum(error, 1e-300))
        adjusted = stats.adjust(p, test["correction"])
    else:
        outcome = stats.run_test(values=terms, first=first, second=second, **test)
        p, adjusted = outcome.p, outcome.adjusted
    separated = np.zeros((len(merits), len(merits)), np.bool_)
    separated[first, second] = separated[second, first] = adjusted < test["alpha"]
    ranks, intervals = stats.ranks(merits)[0].tolist(), stats.rank_intervals(terms, drawn, test["alpha"])
    # Terms such as z-scores may cancel out.
    ends = np.stack([np.where(np.abs(summary) < 1e-12 * np.abs(terms).max(axis=1), 0.0, summary)] * 2)
    return Order(merits, ends, ranks, *intervals, separated, stats.tiers(merits, separated), p, adjusted)


def _bounded_order(values: Floats, basis: str, types: Ints, bounds: tuple[float, float]) -> Order:
    """Return the order with the bounds of values and ranks, over all values of missing scores.

    Bounds of scores are attained for each pair of systems. Those of points are attained for each system; a rank by
    points may have narrower bounds, because missing scores of a third system cannot favour both.
    """
    low, high = (np.where(np.isnan(values), end, values) for end in bounds)
    if basis == "points":
        # Wins minus losses at best, and without the comparison of each system with itself.
        best, itself, others = np.sign(high[:, None] - low), np.sign(high - low), len(values) - 1
        low, high = (others - best.sum(axis=0) + itself) / 2, (others + best.sum(axis=1) - itself) / 2
    ends = np.stack([combine(low, types), combine(high, types)])
    lowest, highest = merits = stats.rounded(ends)
    above = lowest[:, None] > highest[None, :]
    first = 1 + above.sum(axis=0)
    last = 1 + (highest[None, :] > lowest[:, None]).sum(axis=1) - (highest > lowest)
    ranks = [rank if rank == end else None for rank, end in zip(first.tolist(), last.tolist(), strict=True)]
    unknown = np.full(len(values) * (len(values) - 1) // 2, np.nan)
    no_tiers = [None] * len(values)
    return Order(merits.mean(axis=0), ends, ranks, first, last, above | above.T, no_tiers, unknown, unknown)


def places(scores: TaskScores, aggregate: str, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the leaderboard of an aggregate, best system first."""
    for s in order.best_first:
        low, high = order.ends[:, s].tolist()
        cells = order.ranks[s], int(order.first[s]), int(order.last[s]), order.tiers[s], low, high
        yield scores.systems[s], aggregate, low if low == high else None, *cells


def describe_tasks(scores: TaskScores, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the table of tasks."""
    sizes = [topics.shape[1] for topics in scores.topics]
    for t, task in enumerate(scores.tasks):
        scored = np.flatnonzero(~np.isnan(scores.values[:, t]))
        values = scores.values[scored, t]
        mean = float(values.mean()) if len(scored) else np.nan
        kind, topics = scores.types[t] if scores.types else "", sizes[t] if max(sizes) > 1 else None
        yield task, kind, len(scored), topics, mean, stats.kendall(values, order.merits[scored]).tau_b


def cliques(mean_ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Return the first and last index of each maximal group of ascending mean ranks within a distance.

    >>> cliques([1.0, 1.5, 2.8, 2.85], 1.4)
    [(0, 1), (1, 3)]
    """
    ends = [max(k for k, other in enumerate(mean_ranks) if other - rank < distance) for rank in mean_ranks]
    return [(start, end) for start, end in enumerate(ends) if end > start and end not in ends[:start]]


def measure_fragility(scores: TaskScores, orders: Mapping[str, Order]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the table of fragility; with missing scores, only those that compare aggregates."""
    for a, b in combinations(orders, 2):
        yield a, "aggregate", b, 0, *_compare(scores, orders[a].merits, orders[b].merits)
    for name, order in orders.items() if not np.isnan(scores.values).any() else ():
        terms, types = compute_terms(scores.values, BASES[name]), _number_types(scores, BASES[name])
        largest = float(np.abs(terms).max(initial=0.0))
        smallest = smallest_set(terms, types, order.best_first[0])
        for tasks in (*([t] for t in range(len(types))), *([smallest] if smallest else [])):
            merits = stats.rounded(combine(np.delete(terms, tasks, axis=1), np.delete(types, tasks)), largest)
            after = _compare(scores, order.merits, merits)
            change = "leader" if tasks is smallest else "task"
            yield name, change, ";".join(scores.tasks[t] for t in tasks), len(tasks), *after


def _compare(scores: TaskScores, before: Floats, after: Floats) -> tuple[str, int, float]:
    """Return the new leader, the number of pairs whose order changes, and tau."""
    result = stats.kendall(before, after)
    return scores.systems[int(np.argmax(after))], result.discordant, result.tau_b


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
        count = counts[rival, n_left_out - len(smallest)]
        smallest += order[rival, :count].tolist()
    return sorted(smallest)
