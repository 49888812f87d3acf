"""Is this leaderboard right? Systems over several tasks: aggregates, rank intervals, tiers and fragility."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import combinations, compress, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rankscope import choices
from rankscope.analysis import stats
from rankscope.choices import Aggregate, BenchSample, Correction, MissingCells, TaskTest
from rankscope.declaration import Level, MeasureName, Option, Seed, analysis, list_names
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, lazy_table, table
from rankscope.rows import PairRow, Row, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.analysis.bench_orders import Order
    from rankscope.read.task_scores import TaskScores

SAMPLES = {
    "tasks": "tasks are a sample",
    "nested": "tasks are a sample, and topics of each task are a sample",
    "topics": "tasks are fixed, and topics of each task are a sample",
    "": "bounds over all values of missing scores",
}
"""Meaning of each choice of ``sample``, for titles."""


class Place(Row):
    """Value and rank of a system by an aggregate."""

    system: str = column("name of the system")
    aggregate: str = column()
    value: float | None = column("value of the aggregate; empty if it depends on a missing score")
    rank: int | None = column("rank of the system, from 1; empty if it depends on a missing score")
    first_rank: int = column("first rank of the interval of the rank")
    last_rank: int = column("last rank of the interval of the rank")
    tier: int | None = column("tier, from 1: neighbours of which no two are separated")
    lowest: float | None = column("lowest value over all values of missing scores", default=None)
    highest: float | None = column("highest value over all values of missing scores", default=None)


class SystemPair(PairRow):
    """Test of a pair of systems by an aggregate."""

    aggregate: str = column()
    difference: float | None = column("value of a minus value of b; empty if a score is missing")
    p: float | None = column("p-value of the test over tasks; empty if a score is missing", p_value=True)
    adjusted: float | None = column("the p-value, corrected for the number of pairs", p_value=True)
    separated: bool = column("whether the order of the two is established")


class Fragile(Row):
    """Effect of another aggregate, or of fewer tasks, on the leaderboard of an aggregate."""

    aggregate: str = column()
    change: str = column("aggregate: another one; task: one left out; leader: fewest left out to change it")
    without: str = column("tasks that are left out, separated by semicolons, or the other aggregate")
    tasks: int = column("number of tasks that are left out")
    leader: str = column("best system after the change")
    changed: int = column("pairs of systems whose order changes")
    tau: float = column("Kendall's tau-b between the leaderboards before and after")


class Separation(Row):
    """Number of systems that an aggregate separates."""

    aggregate: str = column()
    pairs: int = column("number of pairs of systems")
    separated: int = column("pairs whose order is established")
    adjacent: int = column("pairs of neighbours in the leaderboard")
    adjacent_separated: int = column("pairs of neighbours whose order is established")
    tiers: int | None = column("number of tiers")


class TaskRow(Row):
    """A task and its agreement with the leaderboard."""

    task: str = column("name of the task")
    type: str = column("type of the task; empty if unknown")
    systems: int = column("number of systems with a score")
    topics: int | None = column("number of topics, if their scores are known")
    mean: float = column("mean score of the systems")
    tau: float = column("Kendall's tau-b between the task and the first aggregate")


class FriedmanTest(Row):
    """Friedman's test of all systems, and Nemenyi's critical distance."""

    systems: int = column("number of systems")
    tasks: int = column("number of tasks")
    statistic: float = column("Friedman's chi-squared, corrected for ties")
    p: float = column(p_value=True)
    critical_distance: float = column("smallest difference of mean ranks that Nemenyi's test separates")


class Bench(TypedResult):
    """Leaderboards of systems over several tasks."""

    board: RowTable[Place] = table("every system by every aggregate, best first")
    fragility: RowTable[Fragile] = table("effects of the aggregate, of single tasks, and of the fewest tasks")
    separation: RowTable[Separation] = table("pairs and neighbours whose order is established", main=False)
    tasks: RowTable[TaskRow] = table("every task", main=False)
    scores: TaskScores = field(repr=False)
    """Scores of the compared systems on the compared tasks."""
    orders: Mapping[str, Order] = field(repr=False)
    """Order of the systems by each aggregate, the main one first."""

    @lazy_table("every pair of systems by every aggregate", main=False)
    def pairs(self) -> RowTable[SystemPair]:
        """Table of the tests of all pairs."""
        first, second = stats.all_pairs(len(self.scores.systems))
        rows = []
        for aggregate, order in self.orders.items():
            values = np.where(order.ends[0] == order.ends[1], order.ends[0], np.nan)
            columns = values[first] - values[second], order.p, order.adjusted, order.separated[first, second]
            cells = ([None if cell != cell else cell for cell in column.tolist()] for column in columns)
            pairs: Any = zip(combinations(self.scores.systems, 2), *cells, strict=True)
            rows += [SystemPair(a, b, aggregate, *more) for (a, b), *more in pairs]
        return SystemPair.table("pairs", rows)

    @lazy_table("Friedman's test", main=False)
    def friedman(self) -> RowTable[FriedmanTest]:
        """Friedman's test; no rows for two systems or with missing scores."""
        systems, tasks = self.scores.values.shape
        is_possible = systems > 2 and not np.isnan(self.scores.values).any()
        tests = [stats.friedman(self.scores.values, self.settings["alpha"])] if is_possible else []
        return FriedmanTest.table("friedman", [FriedmanTest(systems, tasks, *test) for test in tests])

    def mean_ranks(self) -> list[tuple[str, float]]:
        """Return the systems with their mean ranks on the tasks, best first."""
        ranks = len(self.scores.systems) - stats.compute_terms(self.scores.values, "points").mean(axis=1)
        return sorted(zip(self.scores.systems, ranks.tolist(), strict=True), key=lambda pair: pair[1])

    @property
    def level(self) -> str:
        """Kind of the intervals of ranks, for legends."""
        return f"{100 * (1 - self.settings['alpha']):g} % interval" if self.settings["sample"] else "bounds"

    @property
    def display(self) -> Sequence[Table]:
        """Leaderboard with a column per aggregate, and the changes that matter."""
        main = next(iter(self.orders))
        rows = [row for row in self.fragility if (row.change, row.leader) != ("task", self.leader(main))]
        rows = [row for row in rows if row.change == "leader" or row.aggregate == main]
        title = f"Other aggregates against {main}, tasks that change its leader, and the fewest tasks that do"
        return [self.wide(), self.fragility.subset("fragility", rows, title)]

    def leader(self, aggregate: str) -> str:
        """Return the best system by an aggregate."""
        return next(row.system for row in self.board if row.aggregate == aggregate)

    def wide(self) -> Table:
        """Return the leaderboard with a row per system and a column per aggregate."""
        values = {(row.system, row.aggregate): row.value for row in self.board}
        main, settings, counts = next(iter(self.orders)), self.settings, self.separation[0]
        places = [row for row in self.board if row.aggregate == main]
        labels = [(row.system, f"{row.first_rank}–{row.last_rank}", row.tier) for row in places]
        rows = [(*label, *(values[label[0], name] for name in self.orders)) for label in labels]
        caption = f"{settings['systems']} systems on {settings['tasks']} tasks; {SAMPLES[settings['sample']]}"
        legend = f"rank: {self.level} by {main}; {counts.adjacent_separated} of {counts.adjacent} neighbours separated"
        if settings["sample"]:
            legend += f"; tier: neighbours of which no two are separated ({settings['procedure']})"
        best = {name: -1 if name == "mean-rank" else 1 for name in self.orders}
        columns = ("system", "rank", "tier", *self.orders)
        return Table("board", columns, rows, 4, best, caption=caption, legend=legend)


@analysis(
    figures={
        "tiers": "bench.plot_tiers",
        "critical-distance": "bench.plot_critical_distance",
        "task-influence": "bench.plot_task_influence",
    },
    measures=("nDCG@10",),
)
def bench(
    source: Any,
    *,
    aggregate: Annotated[Aggregate | Sequence[Aggregate] | None, Option("NAME")] = None,
    types: Annotated[Mapping[str, str] | str | Path | None, Option("FILE")] = None,
    missing_cells: MissingCells = "systems",
    score_range: Annotated[Sequence[float], Option("LOW,HIGH")] = (0.0, 1.0),
    sample: BenchSample = "tasks",
    test: TaskTest = "t",
    correction: Correction = "holm",
    alpha: Level = 0.05,
    replicates: Annotated[int, Option("B")] = 1000,
    seed: Seed = 1,
    measure: MeasureName | None = None,
) -> Bench:
    """Rank systems over several tasks, and show what the ranking depends on.

    Aggregates: ``mean``; ``mean-of-types`` (mean within each type of task, then over types); ``borda`` (number of
    systems minus rank, summed over tasks); ``win-rate`` (share of the other systems beaten on a task, a tie counting
    one half, averaged over tasks); ``bradley-terry`` (maximum-likelihood strengths, a tie counting half a win);
    ``mean-rank``; ``z-score`` (mean of the standardised scores). On a complete table borda, win-rate, bradley-terry and
    mean-rank order the systems alike.

    The interval of a rank contains the rank over the population of tasks (or topics) with confidence 1 - alpha. Two
    systems are separated if a test paired over tasks is significant; if only topics are sampled, this is a z test with
    the standard error of the bootstrap. A tier ends before the first system that is separated from one of its members.
    Fragility shows whether the leader and the order of pairs depend on the aggregate, on single tasks, or on small sets
    of tasks.

    Parameters
    ----------
    source
        Scores: a table with a row per system and a column per task, a table with the columns system, task, score and
        optionally topic and type (file or frame), a folder of MTEB results, or a mapping of tasks to :class:`Scores` or
        :class:`Collection`.
    aggregate
        Aggregate of the scores over tasks, the main one first; repeatable (default: all that the scores permit).
    types
        Type of each task: a mapping, or a CSV file with the columns task and type (default: the column type of a long
        table).
    missing_cells
        Systems without a score on some task: keep only systems with all tasks, keep only tasks with all systems, or
        give values and ranks the bounds over all scores that could be missing.
    score_range
        Lowest and highest possible score, for the bounds.
    sample
        Units to resample: tasks; tasks and the topics of each; or the topics of fixed tasks.
    test
        Test of two systems, paired over tasks.
    correction
        Correction for the number of pairs.
    alpha
        Significance level; intervals have confidence 1 - alpha.
    replicates
        Bootstrap samples.
    seed
        Seed of the random numbers.
    measure
        Measure of scores or collections (default: the first measure of scores, nDCG@10 of collections).

    Returns
    -------
    Bench
        Tables ``board``, ``fragility``, ``separation``, ``tasks``, ``pairs`` and ``friedman``.

    References
    ----------
    Bradley and Terry 1952; Demsar 2006.

    Commands
    --------
    rankscope bench scores.csv
    rankscope bench scores.csv --types types.csv --aggregate mean --aggregate borda --plot board.pdf
    rankscope bench results/ --missing-cells bounds -o board.json
    rankscope bench --collections tasks.toml -m nDCG@10 --sample nested -o board.html

    Examples
    --------
    >>> import rankscope as rs
    >>> table = {"model": ["a", "b", "c"], "t1": [0.5, 0.4, 0.1], "t2": [0.7, 0.8, 0.2], "t3": [0.9, 0.5, 0.3]}
    >>> result = rs.bench(table, aggregate=["mean", "borda"])
    >>> [(row.system, round(row.value, 3), row.rank) for row in result.board if row.aggregate == "borda"]
    [('a', 5.0, 1), ('b', 4.0, 2), ('c', 0.0, 3)]
    >>> [row.without for row in result.fragility if row.change == "leader"]
    ['t1;t3', 't1;t3']
    """
    from rankscope.analysis import bench_orders

    stats.check_level(alpha, replicates)
    check_name(missing_cells, choices.MISSING_CELLS, f"missing cells cannot be handled by {missing_cells!r}")
    check_name(sample, choices.BENCH_SAMPLES, f"{sample!r} cannot be sampled")
    check_name(test, choices.TASK_TESTS, f"no test over tasks is called {test!r}")
    scores, left_out = _handle_missing(bench_orders.open_task_scores(source, measure, types), missing_cells)
    _check(scores, sample)
    bounds = _check_range(scores, score_range) if missing_cells == "bounds" else None
    names, refused = _choose_aggregates(scores, aggregate, bounds is not None)
    method = "normal" if sample == "topics" else test
    test_settings: dict[str, Any] = {"test": method, "correction": stats.correction_for(method, correction)}
    test_settings |= {"alpha": alpha, "replicates": replicates, "seed": seed}
    orders = bench_orders.order_systems(scores, names, bounds, sample=sample, **test_settings)
    board = [row for name in names for row in bench_orders.places(scores, name, orders[name])]
    return Bench(
        board=Place.table("board", board, without=() if bounds else ("lowest", "highest")),
        fragility=Fragile.table("fragility", [*bench_orders.measure_fragility(scores, orders)]),
        separation=Separation.table("separation", [_separation(name, orders[name]) for name in names]),
        tasks=TaskRow.table("tasks", [*bench_orders.describe_tasks(scores, orders[names[0]])]),
        scores=scores, orders=orders,
        settings={
            "systems": len(scores.systems), "tasks": len(scores.tasks), "aggregates": names, **refused,
            "missing_cells": missing_cells, **left_out, "score_range": bounds and list(bounds),
            "sample": "" if bounds else sample, **test_settings,
            "procedure": stats.procedure(method, test_settings["correction"], alpha),
        },
    )  # fmt: skip


def _handle_missing(scores: TaskScores, missing_cells: str) -> tuple[TaskScores, dict[str, Any]]:
    """Return the scores without the systems, or without the tasks, that lack a score, and their names."""
    is_missing = np.isnan(scores.values)
    if missing_cells == "bounds" or not is_missing.any():
        return scores, {}
    names = getattr(scores, missing_cells)
    is_kept: dict[str, Any] = {"systems": ~is_missing.any(axis=1), "tasks": ~is_missing.any(axis=0)}
    left_out = [*compress(names, ~is_kept[missing_cells])]
    lacking = "lack a score on some task" if missing_cells == "systems" else "lack the score of some system"
    warnings.warn(f"{len(left_out)} of {len(names)} {missing_cells} {lacking} and are left out", stacklevel=3)
    selected = scores.select(*(mask | (unit != missing_cells) for unit, mask in is_kept.items()))
    return selected, {f"left_out_{missing_cells}": left_out}


def _check(scores: TaskScores, sample: str) -> None:
    for noun, names in (("systems", scores.systems), ("tasks", scores.tasks)):
        if len(names) < 2:
            hint = "give more scores, or another way to handle missing ones (missing_cells)"
            raise InputError(f"a leaderboard needs two {noun} at least, not {len(names)}", hint=hint)
    sizes = [topics.shape[1] for topics in scores.topics]
    if sample != "tasks" and min(sizes) < 2:
        problem = "some task has a single topic" if max(sizes) > 1 else "there are no scores of topics"
        raise InputError(f"{problem}, and sample={sample!r} needs several", hint="sample tasks")


def _choose_aggregates(
    scores: TaskScores, requested: str | Sequence[str] | None, has_bounds: bool
) -> tuple[list[str], dict[str, Any]]:
    """Return the aggregates; those that the scores do not permit raise an error, or are left out by default."""
    selected = list_names(requested) or list(choices.AGGREGATES)
    for name in selected:
        check_name(name, choices.AGGREGATES, f"no aggregate is called {name!r}")
    errors = {name: error for name in selected if (error := _find_obstacle(scores, name, has_bounds))}
    for name, error in errors.items():
        if requested is not None:
            raise error
        if name == "bradley-terry" and not has_bounds:
            warnings.warn(f"{error}; bradley-terry is left out", stacklevel=3)
    left_out = {"left_out_aggregates": {name: str(error) for name, error in errors.items()}}
    return [name for name in selected if name not in errors], left_out if errors else {}


def _find_obstacle(scores: TaskScores, name: str, has_bounds: bool) -> InputError | None:
    """Return the error that explains why the scores do not permit an aggregate, or None."""
    if name == "mean-of-types" and not scores.types:
        return InputError("mean-of-types needs types of tasks", hint="give a file with the columns task,type")
    if has_bounds and name in ("bradley-terry", "z-score"):
        return InputError(f"{name} has no bounds over missing scores", hint="use mean, win-rate or borda")
    points = stats.compute_terms(scores.values, "points").mean(axis=1)
    return stats.find_infinite(points, scores.systems) if name == "bradley-terry" else None


def _check_range(scores: TaskScores, score_range: Sequence[float]) -> tuple[float, float]:
    if len(score_range) != 2 or not score_range[0] < score_range[1]:
        hint = "give the lowest and the highest score"
        raise SettingsError(f"the range of scores is {list(score_range)}", hint=hint)
    low, high = map(float, score_range)
    for s, t in np.argwhere((scores.values < low) | (scores.values > high))[:1]:
        location = f"{scores.systems[s]!r} on {scores.tasks[t]!r}"
        problem = f"the score of {location} is outside the range from {low:g} to {high:g}"
        raise InputError(problem, hint="give the range of the scores (score_range)")
    return low, high


def _separation(aggregate: str, order: Order) -> Separation:
    n = len(order.merits)
    adjacent = sum(bool(order.separated[a, b]) for a, b in pairwise(order.best_first))
    counts = n * (n - 1) // 2, int(order.separated.sum()) // 2, n - 1, adjacent
    return Separation(aggregate, *counts, order.tiers[order.best_first[-1]])
