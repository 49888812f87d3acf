"""Is this leaderboard right? Systems over several tasks: aggregates, rank intervals, tiers and fragility."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.choices import (
    AGGREGATES,
    BENCH_SAMPLES,
    MISSING_CELLS,
    TASK_TESTS,
    Aggregate,
    BenchSample,
    Correction,
    MissingCells,
    TaskTest,
)
from rankscope.declaration import Level, MeasureName, Option, Seed, analysis
from rankscope.errors import InputError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, lazy_table, table
from rankscope.rows import Row, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope.analysis.bench_orders import Order
    from rankscope.columns import Rows
    from rankscope.read.task_scores import TaskScores

SAMPLES = {
    "tasks": "tasks are a sample",
    "nested": "tasks are a sample, and topics of each task are a sample",
    "topics": "tasks are fixed, and topics of each task are a sample",
}
"""Meaning of each choice of ``sample``, for titles."""
Types = Annotated["Mapping[str, str] | str | Path | None", Option("FILE")]


class Place(Row):
    """Value and rank of a system by an aggregate."""

    system: str = column("name of the system")
    aggregate: str = column("summary of the scores over tasks")
    value: float | None = column("value of the aggregate; empty if it depends on a missing score")
    rank: int | None = column("rank of the system, from 1; empty if it depends on a missing score")
    first_rank: int = column("first rank of the interval of the rank")
    last_rank: int = column("last rank of the interval of the rank")
    tier: int | None = column("tier, from 1: neighbours of which no two are separated")
    lowest: float | None = column("lowest value over all values of missing scores", default=None)
    highest: float | None = column("highest value over all values of missing scores", default=None)


class SystemPair(Row):
    """Test of a pair of systems by an aggregate."""

    a: str = column("the first system")
    b: str = column("the second system")
    aggregate: str = column("summary of the scores over tasks")
    difference: float | None = column("value of a minus value of b; empty if a score is missing")
    p: float | None = column("p-value of the test over tasks; empty if a score is missing", p_value=True)
    adjusted: float | None = column("the p-value, corrected for the number of pairs", p_value=True)
    separated: bool = column("whether the order of the two is established")


class Fragile(Row):
    """Effect of another aggregate, or of fewer tasks, on the leaderboard of an aggregate."""

    aggregate: str = column("summary of the scores over tasks")
    change: str = column(
        "aggregate: compared with the first one; task: one left out; leader: fewest left out to change it"
    )
    without: str = column("tasks that are left out, separated by semicolons")
    tasks: int = column("number of tasks that are left out")
    leader: str = column("best system after the change")
    changed: int = column("pairs of systems whose order changes")
    tau: float = column("Kendall's tau-b between the leaderboards before and after")
    exact: bool = column(
        "whether fewer tasks cannot change the leader; no: only an upper bound of their number"
    )


class AggregatePair(Row):
    """Agreement of two aggregates."""

    a: str = column("the first aggregate")
    b: str = column("the second aggregate")
    tau: float = column("Kendall's tau-b of the two orders of the systems")
    changed: int = column("pairs of systems that the two order differently")


class Separation(Row):
    """Number of systems that an aggregate separates."""

    aggregate: str = column("summary of the scores over tasks")
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
    deviation: float = column("standard deviation of the scores of the systems")
    leader: str = column("best system on the task")
    tau: float = column("Kendall's tau-b between the task and the first aggregate")


class FriedmanTest(Row):
    """Friedman's test of all systems, and Nemenyi's critical distance."""

    systems: int = column("number of systems")
    tasks: int = column("number of tasks")
    statistic: float = column("Friedman's chi-squared, corrected for ties")
    p: float = column(p_value=True)
    critical_distance: float = column(
        "difference of mean ranks from which on Nemenyi's test separates two systems"
    )


class Bench(TypedResult):
    """Leaderboards of systems over several tasks."""

    shown = ("board", "fragility")
    board: RowTable[Place] = table("every system by every aggregate, best first")
    fragility: RowTable[Fragile] = table(
        "changes by aggregate, by task, and the fewest tasks that change the leader"
    )
    separation: RowTable[Separation] = table("pairs and neighbours whose order is established", main=False)
    agreement: RowTable[AggregatePair] = table("every pair of aggregates", main=False)
    tasks: RowTable[TaskRow] = table("every task", main=False)
    scores: TaskScores = field(repr=False)
    """Scores of the compared systems on the compared tasks."""
    orders: Mapping[str, Order] = field(repr=False)
    """Order of the systems by each aggregate."""

    @lazy_table("every pair of systems by every aggregate", main=False)
    def pairs(self) -> RowTable[SystemPair]:
        """Table of the tests of all pairs."""
        from rankscope.columns import ConcatenatedRows

        return SystemPair.table("pairs", ConcatenatedRows([self._pairs(name) for name in self.orders]))

    def _pairs(self, aggregate: str) -> Rows:
        """Return the pairs of an aggregate as columns: 200 systems have 20,000."""
        from rankscope.columns import CategoricalColumn, Columns

        order, names = self.orders[aggregate], self.scores.systems
        first, second = np.triu_indices(len(names), 1)
        value_of = {row.system: row.value for row in self.board if row.aggregate == aggregate}
        values = np.array([value_of[name] for name in names], np.float64)  # None becomes NaN.
        difference = values[first] - values[second]
        unknown = np.full(len(first), np.nan)
        numbers = [
            column if not np.isnan(column).any() else [None if np.isnan(x) else float(x) for x in column]
            for column in (
                difference,
                unknown if order.p is None else order.p,
                unknown if order.adjusted is None else order.adjusted,
            )
        ]
        label = CategoricalColumn((aggregate,), np.zeros(len(first), np.int8))
        pair = CategoricalColumn(names, first), CategoricalColumn(names, second)
        return Columns([*pair, label, *numbers, order.separated[first, second]])

    @lazy_table("Friedman's test", main=False)
    def friedman(self) -> RowTable[FriedmanTest]:
        """Friedman's test; no rows for two systems or with missing scores."""
        from rankscope.analysis.stats.aggregates import friedman

        systems, tasks = self.scores.values.shape
        if systems < 3 or np.isnan(self.scores.values).any():
            return FriedmanTest.table("friedman", [])
        rows = [FriedmanTest(systems, tasks, *friedman(self.scores.values, self.settings["alpha"]))]
        return FriedmanTest.table("friedman", rows, caption="Friedman's test of all systems over tasks")

    def mean_ranks(self) -> list[tuple[str, float]]:
        """Return the systems with their mean ranks on the tasks, best first."""
        from rankscope.analysis.stats.aggregates import compute_terms

        ranks = len(self.scores.systems) - compute_terms(self.scores.values, "points").mean(axis=1)
        return sorted(zip(self.scores.systems, ranks.tolist(), strict=True), key=lambda pair: pair[1])

    @property
    def aggregates(self) -> list[str]:
        """Names of the aggregates, the main one first."""
        return list(self.orders)

    @property
    def display(self) -> Sequence[Table]:
        """Leaderboard with a column per aggregate, and the changes that matter."""
        changes = [
            row for row in self.fragility if row.change != "task" or row.leader != self.leader(row.aggregate)
        ]
        caption = (
            "Changes by aggregate, by tasks that change the leader if left out, and by the fewest such tasks"
        )
        return [self.wide(), replace(self.fragility.subset("fragility", changes), caption=caption)]

    def drawable_figures(self) -> list[str]:
        """Return the names of the figures that these scores permit."""
        return [
            name for name in self.figures if name == "tiers" or (len(self.friedman) and len(self.fragility))
        ]

    def leader(self, aggregate: str) -> str:
        """Return the best system by an aggregate."""
        return next(row.system for row in self.board if row.aggregate == aggregate)

    def wide(self) -> Table:
        """Return the leaderboard with a row per system and a column per aggregate."""
        by_name = {(row.system, row.aggregate): row for row in self.board}
        main, *_ = self.aggregates
        rows = [
            (
                row.system, f"{row.first_rank}–{row.last_rank}", row.tier,
                *(by_name[row.system, name].value for name in self.aggregates),
            )
            for row in self.board
            if row.aggregate == main
        ]  # fmt: skip
        settings, counts = self.settings, self.separation[0]
        systems, tasks = self.scores.values.shape
        has_bounds = settings["missing_cells"] == "bounds"
        how = "bounds over all values of missing scores" if has_bounds else SAMPLES[settings["sample"]]
        limits = "bounds" if has_bounds else f"{100 * (1 - settings['alpha']):g} % interval"
        legend = [
            f"rank: {limits} by {main}",
            f"{counts.adjacent_separated} of {counts.adjacent} neighbours by {main} are separated",
        ]
        if not has_bounds:
            legend.append(f"tier: neighbours of which no two are separated ({settings['procedure']})")
        best = {name: -1 if name == "mean-rank" else 1 for name in self.aggregates}
        return Table(
            "board", ("system", "rank", "tier", *self.aggregates), rows, 4, best,
            caption=f"{systems} systems on {tasks} tasks; {how}", legend="; ".join(legend),
        )  # fmt: skip


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
    types: Types = None,
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

    The interval of a rank holds the rank over all tasks (or topics) of the same kind with confidence 1 - alpha. Two
    systems are separated if a test paired over tasks is significant; if only topics are sampled, the test is the normal
    one with the standard error of the bootstrap. A tier ends before the first system that is separated from one of its
    members. Fragility shows whether the leader and the order of pairs depend on the aggregate, on single
    tasks, and on how few tasks.

    Parameters
    ----------
    source
        Scores: a table with a row per system and a column per task, a table with the columns system, task, score and
        optionally topic and type (file or frame), a folder of MTEB results, or a mapping of tasks to :class:`Scores` or
        :class:`Collection`.
    aggregate
        Summaries of the scores over tasks, the main one first (default: all that the scores permit).
    types
        Type of each task: a mapping, or a CSV file with the columns task and type (default: the column type of a long
        table).
    missing_cells
        Systems without a score on some task: keep only systems with all tasks, keep only tasks with all systems, or
        give values and ranks the bounds over all scores that could be missing.
    score_range
        Lowest and highest possible score, for the bounds.
    sample
        What varies: the tasks; the tasks, and the topics of each; or the topics of fixed tasks.
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
        Tables ``board``, ``pairs``, ``fragility``, ``separation``, ``agreement``, ``tasks`` and ``friedman``.

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
    from rankscope.analysis.bench_fragility import compare_aggregates, measure_fragility
    from rankscope.analysis.stats.intervals import check_level
    from rankscope.analysis.stats.significance import correction_for, procedure

    check_level(alpha, replicates)
    check_name(missing_cells, MISSING_CELLS, f"missing cells cannot be handled by {missing_cells!r}")
    check_name(sample, BENCH_SAMPLES, f"{sample!r} cannot be sampled")
    check_name(test, TASK_TESTS, f"no test over tasks is called {test!r}")
    scores = bench_orders.open_task_scores(source, measure, types)
    scores, left_out = _handle_missing(scores, missing_cells)
    _check(scores, sample)
    has_bounds = missing_cells == "bounds"
    names, refused = _choose_aggregates(scores, aggregate, has_bounds)
    bounds = _check_range(scores, score_range) if has_bounds else None
    corrected = correction_for(test, correction)
    tests = bench_orders.Procedure(sample, test, corrected, alpha, replicates, seed)
    orders = bench_orders.order_systems(scores, names, tests, bounds)
    settings: dict[str, Any] = {
        "systems": len(scores.systems), "tasks": len(scores.tasks), "aggregates": names, **refused,
        "missing_cells": missing_cells, **left_out, **({"score_range": list(bounds)} if bounds else {}),
        "sample": "none" if bounds else sample, "test": test, "correction": corrected, "alpha": alpha,
        "replicates": replicates, "seed": seed, "procedure": procedure(test, corrected, alpha),
    }  # fmt: skip
    without = () if has_bounds else ("lowest", "highest")
    board = [Place(*cells) for name in names for cells in bench_orders.places(scores, name, orders[name])]
    return Bench(
        board=Place.table("board", board, without=without),
        fragility=Fragile.table("fragility", [Fragile(*cells) for cells in measure_fragility(scores, orders)]),
        separation=Separation.table("separation", [_separation(name, orders[name]) for name in names]),
        agreement=AggregatePair.table("agreement", [AggregatePair(*row) for row in compare_aggregates(orders)]),
        tasks=TaskRow.table("tasks", [TaskRow(*row) for row in bench_orders.describe_tasks(scores, orders[names[0]])]),
        scores=scores, orders=orders, settings=settings,
    )  # fmt: skip


def _handle_missing(scores: TaskScores, missing_cells: str) -> tuple[TaskScores, dict[str, Any]]:
    """Return the scores without the systems, or without the tasks, that lack a score, and their names."""
    is_missing = np.isnan(scores.values)
    if missing_cells == "bounds" or not is_missing.any():
        return scores, {}
    all_systems, all_tasks = range(len(scores.systems)), range(len(scores.tasks))
    if missing_cells == "systems":
        kept = np.flatnonzero(~is_missing.any(axis=1)).tolist()
        dropped = [scores.systems[s] for s in all_systems if s not in set(kept)]
        selected = scores.select(kept, all_tasks)
    else:
        kept = np.flatnonzero(~is_missing.any(axis=0)).tolist()
        dropped = [scores.tasks[t] for t in all_tasks if t not in set(kept)]
        selected = scores.select(all_systems, kept)
    total = len(kept) + len(dropped)
    lacking = "lack a score on some task" if missing_cells == "systems" else "lack the score of some system"
    warnings.warn(f"{len(dropped)} of {total} {missing_cells} {lacking} and are left out", stacklevel=3)
    return selected, {f"left_out_{missing_cells}": dropped}


def _check(scores: TaskScores, sample: str) -> None:
    for noun, names in (("systems", scores.systems), ("tasks", scores.tasks)):
        if len(names) < 2:
            hint = "give more scores, or another way to handle missing ones (missing_cells)"
            raise InputError(f"a leaderboard needs two {noun} at least, not {len(names)}", hint=hint)
    if sample != "tasks":
        single = [
            t
            for t, topics in zip(scores.tasks, scores.topics, strict=bool(scores.topics))
            if topics.shape[1] < 2
        ]
        if not scores.topics or single:
            problem = f"task {single[0]!r} has a single topic" if single else "there are no scores of topics"
            raise InputError(f"{problem}, and sample={sample!r} needs several", hint="sample tasks")


def _choose_aggregates(
    scores: TaskScores, requested: str | Sequence[str] | None, has_bounds: bool
) -> tuple[list[str], dict[str, Any]]:
    """Return the aggregates; those that the scores do not permit raise an error, or are left out by default."""
    from rankscope.analysis.stats.aggregates import check_connected, combine, compute_terms

    chosen = [requested] if isinstance(requested, str) else list(dict.fromkeys(requested or AGGREGATES))
    refused: dict[str, str] = {}
    for name in chosen:
        check_name(name, AGGREGATES, f"no aggregate is called {name!r}")
        error: InputError | None = None
        if name == "mean-of-types" and not scores.types:
            error = InputError(
                "mean-of-types needs types of tasks", hint="give types, a file with the columns task,type"
            )
        elif has_bounds and name in ("bradley-terry", "z-score"):
            error = InputError(
                f"{name} has no bounds over missing scores", hint="use mean, win-rate or borda"
            )
        elif name == "bradley-terry":
            try:
                none = np.zeros(len(scores.tasks), np.int64)
                check_connected(combine(compute_terms(scores.values, "points"), none), scores.systems)
            except InputError as problem:
                error = problem
                warnings.warn(
                    f"{problem}; bradley-terry is left out", stacklevel=3
                ) if requested is None else None
        if error is not None and requested is not None:
            raise error
        if error is not None:
            refused[name] = str(error)
    return [name for name in chosen if name not in refused], {
        "left_out_aggregates": refused
    } if refused else {}


def _check_range(scores: TaskScores, score_range: Sequence[float]) -> tuple[float, float]:
    if len(score_range) != 2 or not score_range[0] < score_range[1]:
        raise SettingsError(
            f"the range of scores is {list(score_range)}", hint="give the lowest and the highest score"
        )
    low, high = map(float, score_range)
    outside = np.argwhere((scores.values < low) | (scores.values > high))
    if len(outside):
        system, task = scores.systems[outside[0][0]], scores.tasks[outside[0][1]]
        problem = f"the score of {system!r} on {task!r} is outside the range from {low:g} to {high:g}"
        raise InputError(problem, hint="give the range of the scores (score_range)")
    return low, high


def _separation(aggregate: str, order: Order) -> Separation:
    n, best = len(order.merits), order.best_first
    adjacent = sum(bool(order.separated[a, b]) for a, b in pairwise(best))
    tiers = [tier for tier in order.tiers if tier is not None]
    n_separated = int(order.separated.sum()) // 2
    return Separation(aggregate, n * (n - 1) // 2, n_separated, n - 1, adjacent, max(tiers, default=None))
