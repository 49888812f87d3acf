"""Scores on several tasks from any source, and the orders of systems by aggregates with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankscope.analysis.stats.aggregates import BASES, Resampled, aggregate_value, combine, compute_terms
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.intervals import rank_intervals, ranks
from rankscope.analysis.stats.matrices import rounded
from rankscope.analysis.stats.significance import adjust, all_pairs, run_test
from rankscope.arrays import Bools, Floats, Ints
from rankscope.errors import InputError, SettingsError
from rankscope.measures import Measure
from rankscope.read.task_scores import TaskScores, read_task_scores, read_task_types
from rankscope.scores import Collection, ScoreMatrix, Scores

_DEFAULT = "nDCG@10"


class Procedure(NamedTuple):
    """What is sampled, and how pairs of systems are tested."""

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
    members = list(source.values()) if isinstance(source, Mapping) else []
    if isinstance(source, TaskScores):
        scores = source
    elif members and all(isinstance(member, Scores | ScoreMatrix | Collection) for member in members):
        scores = _join({str(task): _matrix(member, measure) for task, member in source.items()})
    elif measure is not None:
        hint = "leave the measure out: a table has one score for each system and task"
        raise SettingsError("a table of scores has no measures", hint=hint)
    else:
        scores = read_task_scores(source)
    return scores if types is None else replace(scores, types=read_task_types(types, scores.tasks))


def _matrix(member: Scores | ScoreMatrix | Collection, measure: str | Measure | None) -> ScoreMatrix:
    if isinstance(member, Collection):
        member = member.evaluate(_DEFAULT if measure is None else measure)
    matrix = (
        member
        if isinstance(member, ScoreMatrix)
        else member.matrix(member.measures[0] if measure is None else measure)
    )
    if matrix.measure.better != "higher" or matrix.measure.summary != "mean":
        problem = (
            f"{matrix.measure} cannot be compared over tasks: it is no mean of values where higher is better"
        )
        raise SettingsError(problem, hint=f"choose {_DEFAULT}, for example")
    return matrix


def _join(matrices: Mapping[str, ScoreMatrix]) -> TaskScores:
    """Join the runs of all tasks by name; a run that lacks a task has no score there."""
    systems = tuple(dict.fromkeys(run for matrix in matrices.values() for run in matrix.runs))
    if len({str(matrix.measure) for matrix in matrices.values()}) > 1:
        raise InputError("the tasks are scored by different measures", hint="name one measure")
    topics = []
    for matrix in matrices.values():
        defined = ~np.isnan(matrix.values).all(axis=0)
        joined = np.full((len(systems), int(defined.sum())), np.nan)
        joined[[systems.index(run) for run in matrix.runs]] = matrix.values[:, defined]
        topics.append(joined)
    values = np.stack([joined.mean(axis=1) for joined in topics], axis=1)
    return TaskScores(systems, tuple(matrices), values, (), tuple(topics))


def order_systems(
    scores: TaskScores, aggregates: Sequence[str], tests: Procedure, bounds: tuple[float, float] | None
) -> dict[str, Order]:
    """Return the order of the systems by each aggregate; aggregates of the same terms share one."""
    bases = list(dict.fromkeys(BASES[name] for name in aggregates))
    types = (
        np.unique(scores.types, return_inverse=True)[1]
        if scores.types
        else np.zeros(len(scores.tasks), np.int64)
    )
    orders: dict[str, Order] = {}
    drawn: Mapping[str, Floats] = {}
    if bounds is None:
        resampled = Resampled(scores.values, scores.topics, types, tests.sample, tests.replicates, tests.seed)
        drawn = resampled.summaries(bases)
    for basis in bases:
        groups = types if basis == "types" else np.zeros(len(types), np.int64)
        if bounds is None:
            orders[basis] = _order(scores, basis, groups, drawn[basis], tests)
        else:
            orders[basis] = _bounded_order(scores.values, basis, groups, bounds)
    return {name: orders[BASES[name]] for name in aggregates}


def _order(scores: TaskScores, basis: str, types: Ints, drawn: Floats, tests: Procedure) -> Order:
    terms = compute_terms(scores.values, basis)
    merits = rounded(combine(terms, types))
    if (
        basis == "types"
    ):  # Weights turn the mean of types into a mean over tasks, so that tests can be paired.
        sizes = np.bincount(types)
        terms = terms * (len(types) / (len(sizes) * sizes[types]))
    first, second = all_pairs(len(merits))
    if tests.sample == "topics":
        from scipy.special import ndtr

        # Each resample draws as many topics as a task has, which are too alike by the share 1/n of the smallest task.
        n = min(topics.shape[1] for topics in scores.topics)
        terms = np.repeat(merits[:, None], n, axis=1)
        spread = np.sqrt(n / (n - 1)) * (drawn[first] - drawn[second]).std(axis=1)
        difference = np.abs(merits[first] - merits[second])
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(difference > 0, 2 * ndtr(-difference / spread), 1.0)
        adjusted = adjust(p, "holm" if tests.correction == "max-t" else tests.correction)
    else:
        outcome = run_test(
            tests.test, terms, first, second, correction=tests.correction, alpha=tests.alpha, seed=tests.seed
        )
        p, adjusted = outcome.p, outcome.adjusted
    low, high = rank_intervals(terms, drawn, tests.alpha)
    separated = np.zeros((len(merits), len(merits)), np.bool_)
    separated[first, second] = separated[second, first] = adjusted < tests.alpha
    return Order(merits, low, high, separated, _tiers(merits, separated), p, adjusted)


def _tiers(merits: Floats, separated: Bools) -> list[int | None]:
    """Return the tier of each system; a tier ends before the first system that is separated from one of its members."""
    tiers: list[int | None] = [None] * len(merits)
    members: list[int] = []
    tier = 1
    for system in np.argsort(-merits, kind="stable").tolist():
        if separated[members, system].any():
            members, tier = [], tier + 1
        members.append(system)
        tiers[system] = tier
    return tiers


def _bounded_order(values: Floats, basis: str, types: Ints, bounds: tuple[float, float]) -> Order:
    """Return the order with the bounds of values and ranks, over all values of missing scores.

    Bounds of scores are attained for each pair of systems. Those of points are attained for each system; a rank by
    points may have narrower bounds, because missing scores of a third system cannot favour both.
    """
    low, high = (np.where(np.isnan(values), end, values) for end in bounds)
    if basis == "points":
        wins = [
            (mine[:, None] > others[None]).sum(axis=1) + (mine[:, None] == others[None]).sum(axis=1) / 2
            for mine, others in ((low, high), (high, low))
        ]
        # Each system meets itself: as a tie, or as a loss and a win if its score is missing.
        missing = np.isnan(values)
        low, high = wins[0] - np.where(missing, 0.0, 0.5), wins[1] - np.where(missing, 1.0, 0.5)
    lowest, highest = rounded(combine(low, types)), rounded(combine(high, types))
    first = 1 + (lowest[None, :] > highest[:, None]).sum(axis=1)
    last = 1 + (highest[None, :] > lowest[:, None]).sum(axis=1) - (highest > lowest)
    above = lowest[:, None] > highest[None, :]
    tiers: list[int | None] = [None] * len(values)
    return Order((lowest + highest) / 2, first, last, above | above.T, tiers, bounds=(lowest, highest))


def places(scores: TaskScores, aggregate: str, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the leaderboard of an aggregate, best system first."""
    tasks = len(scores.tasks)
    if order.bounds is None:
        values = aggregate_value(aggregate, order.merits, tasks)
        positions = ranks(order.merits)[0]
        ends = np.stack([values, values])
    else:
        ends = np.sort([aggregate_value(aggregate, end, tasks) for end in order.bounds], axis=0)
        values, positions = ends[0], order.first
    for s in order.best_first:
        is_known, is_fixed = ends[0, s] == ends[1, s], order.bounds is None or order.first[s] == order.last[s]
        limits = () if order.bounds is None else (float(ends[0, s]), float(ends[1, s]))
        yield (
            scores.systems[s], aggregate, float(values[s]) if is_known else None,
            int(positions[s]) if is_fixed else None, int(order.first[s]), int(order.last[s]), order.tiers[s], *limits,
        )  # fmt: skip


def describe_tasks(scores: TaskScores, order: Order) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the table of tasks."""
    for t, task in enumerate(scores.tasks):
        known = np.flatnonzero(~np.isnan(scores.values[:, t]))
        values = scores.values[known, t]
        if not len(values):
            yield task, scores.types[t] if scores.types else "", 0, None, np.nan, np.nan, "", np.nan
            continue
        yield (
            task, scores.types[t] if scores.types else "", len(values),
            scores.topics[t].shape[1] if scores.topics else None, float(values.mean()), float(values.std()),
            scores.systems[known[int(np.argmax(values))]], kendall(values, order.merits[known]).tau_b,
        )  # fmt: skip


def cliques(mean_ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Return the first and last positions of maximal groups of ascending mean ranks closer than a distance.

    >>> cliques([1.0, 1.5, 2.8, 2.85], 1.4)
    [(0, 1), (1, 3)]
    """
    groups: list[tuple[int, int]] = []
    for start, rank in enumerate(mean_ranks):
        end = max(k for k, other in enumerate(mean_ranks) if other - rank < distance)
        if end > start and (not groups or end > groups[-1][1]):
            groups.append((start, end))
    return groups
