"""Are measures robust to fewer judgments? Shallow pools, sampled pools, pools without one participant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.choices import DEFAULT_MEASURES, RATIOS, UNJUDGED, Sampling
from rankscope.declaration import Groups, MeasureName, Option, Seed, Top, analysis
from rankscope.errors import InputError, SettingsError
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredRunRow, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats, Grades
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.scores import Scores

    _SmallerPool = tuple[str | int | float, int, Callable[[Judged], Grades]]
    """Name of a pool, number of the sample, and the function that selects its judgments."""


_POOL = "the smaller pool: percent of the judgments, or a depth"


class Robustness(Row):
    """Correlation of the rankings of the runs by a smaller pool and by all judgments."""

    measure: str = column()
    pool: int | float | str = column(_POOL)
    repeat: int = column("number of the random sample, from 1")
    tau: float = column("Kendall's tau-b of the two orders of the runs: all judgments, and the smaller pool")
    tau_ap: float = column()
    change: float = column("mean absolute change of the runs' means against all judgments")
    judgments: int = column("number of judgments in the smaller pool")


class RobustnessMean(Row):
    """Mean and spread over the repeats of a pool."""

    measure: str = column()
    pool: int | float | str = column(_POOL)
    repeats: int = column("number of samples")
    tau: float = column("Kendall's tau-b with the order of the runs by all judgments, mean over the repeats")
    tau_sd: float | None = column("standard deviation of tau over the repeats")
    change: float = column("mean absolute change of the runs' means against all judgments")


class PoolMean(MeasuredRunRow):
    """Mean of a run by a pool."""

    pool: int | float | str = column()
    repeat: int = column("number of the random sample, from 1")
    value: float = column("mean of the run with the smaller pool")
    change: float = column("change against the full pool")


class Pools(TypedResult):
    """Robustness of measures to smaller pools."""

    robustness: RowTable[Robustness] = table("every smaller pool")
    curve: RowTable[RobustnessMean] = table("mean over the repeats of each pool", main=False)
    means: RowTable[PoolMean] = table("the mean of every run", flag="--per-run")

    shown = ("curve",)


@analysis(
    figures={"curves": "pools.plot_robustness", "means": "pools.plot_pool_means"},
    measures=DEFAULT_MEASURES,
    needs_rankings=True,
)
def pools(
    scores: Scores,
    *,
    ratios: Annotated[Sequence[float] | None, Option("P,...")] = None,
    repeats: Annotated[int, Option("N")] = 1,
    sampling: Sampling = "grade",
    pool_depth: Annotated[int | Sequence[int] | None, Option("K,...", flags=("--depth",))] = None,
    top: Top = None,
    by: MeasureName = "AP",
    seed: Seed = 1,
) -> Pools:
    """Test how robust measures are to smaller pools: does the ranking of the runs survive?

    Judgments are removed, by stratified random samples (``ratios``) or by pools of a depth (``pool_depth``), and the
    runs are evaluated again, with the recall bases of the smaller pool. The ranking of the runs by each measure is
    compared with the ranking by all judgments: Kendall's tau-b and AP correlation of the means, and their mean absolute
    change.

    Parameters
    ----------
    scores
        Measures and runs to examine; the scores need their rankings.
    ratios
        Percent of the judgments kept (default: 90,70,50,30,10 unless ``pool_depth`` is set).
    repeats
        Samples per ratio.
    sampling
        Strata of samples: each grade, relevant and not (binary), or none (uniform).
    pool_depth
        Depths of pools: only documents down to this rank of a run keep their judgments.
    top
        Share of the best runs to keep, such as 0.75; the others do not contribute to pools either (default: all).
    by
        Measure that selects the runs of ``top``.
    seed
        Seed of the random samples.

    Returns
    -------
    Pools
        Tables ``robustness``, ``curve`` and ``means``.

    References
    ----------
    Ferro et al. 2016.

    Commands
    --------
    rankscope pools qrels.txt runs/ --ratios 90,70,50,30,10 --repeats 10 --seed 1
    rankscope pools qrels.txt runs/ --pool-depth 10 -m "P@10 AP RBP(p=0.95)"
    rankscope pools qrels.txt runs/ --top 0.75                 without the worst quarter by AP, as papers do

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 1}}
    >>> runs = {"r1": {"q": {"a": 3, "c": 2}}, "r2": {"q": {"c": 3, "a": 2, "b": 1}}}
    >>> result = rs.pools(rs.evaluate(qrels, runs, "AP"), pool_depth=1)
    >>> result.robustness[0].pool, result.robustness[0].judgments
    ('depth 1', 2)
    """
    from rankscope.engines import run_pieces

    best = stats.best_runs(scores, top, by)
    judged, missing = best.require_judged("pools"), str(scores.settings["missing"])
    if len(judged.runs) < 2:
        raise InputError("the robustness of a ranking needs at least two runs", hint="name more run files")
    if repeats < 1:
        raise SettingsError(f"{repeats} repeats", hint="give at least 1")
    depths = () if pool_depth is None else (pool_depth,) if isinstance(pool_depth, int) else tuple(pool_depth)
    ratios = (() if depths else RATIOS) if ratios is None else tuple(ratios)
    smaller: list[_SmallerPool] = [
        (f"depth {depth}", 1, partial(stats.depth_pool, depth=depth)) for depth in depths
    ]
    if ratios:
        samplers = [stats.Sampler(judged.pool, sampling, stream) for stream in stats.streams(seed, repeats)]
        smaller += [
            (_label(ratio), repeat, partial(_sample, sampler=sampler, ratio=ratio))
            for ratio in ratios
            for repeat, sampler in enumerate(samplers, 1)
        ]
    work = partial(_evaluate, judged, best.measures, missing)
    evaluated = run_pieces(work, [select for *_, select in smaller], label="pools")
    full = mean_scores(judged, best.measures, missing)
    robustness, curve, means = _compare(best, full, smaller, evaluated)
    caption = f"Rankings of {len(judged.runs)} runs by smaller pools against all judgments (Kendall's tau-b)"
    legend = "pool: percent of the judgments, or depth; change: mean change of the runs' means"
    sampled = {"sampling": sampling, "repeats": repeats, "seed": seed}
    return Pools(
        robustness=Robustness.table("robustness", robustness),
        curve=RobustnessMean.table("curve", curve, caption=caption, legend=legend),
        means=PoolMean.table("means", means),
        settings={
            **scores.settings,
            **stats.top_settings(top, by),
            "ratios": list(ratios),
            "depths": list(depths),
            **(sampled if ratios else dict.fromkeys(sampled)),
        },
    )


def _sample(judged: Judged, sampler: stats.Sampler, ratio: float) -> Grades:
    return sampler.sample(ratio)


def _evaluate(
    judged: Judged, measures: Sequence[Measure], missing: str, select: Callable[[Judged], Grades]
) -> tuple[Floats, int]:
    """Return the means of all runs (measures x runs) under a smaller pool, and how many judgments it has."""
    grades = select(judged)
    means = mean_scores(judged.with_grades(grades), measures, missing)
    return means, int((grades != UNJUDGED).sum())


def mean_scores(judged: Judged, measures: Sequence[Measure], missing: str = "zero") -> Floats:
    """Return the mean of each measure for each run, measures x runs, over the topics where it is defined."""
    from rankscope.scores import score

    scores = score(judged, measures, missing=missing)
    return np.array(
        [stats.rounded(stats.row_means(m, values)) for m, values in zip(measures, scores.values, strict=True)]
    )


def _label(ratio: float) -> int | float:
    return int(ratio) if float(ratio).is_integer() else ratio


def _compare(
    scores: Scores, full: Floats, pools: Sequence[_SmallerPool], smaller: Sequence[tuple[Floats, int]]
) -> tuple[list[Robustness], list[RobustnessMean], list[PoolMean]]:
    robustness: list[Robustness] = []
    curve: list[RobustnessMean] = []
    means: list[PoolMean] = []
    runs = scores.runs
    for m, measure in enumerate(scores.measures):
        name = str(measure)
        values = zip(runs, full[m].tolist(), strict=True)
        means += [PoolMean(run, name, "full", 1, value, 0.0) for run, value in values]
        taus: dict[Any, list[tuple[float, float]]] = {label: [] for label, *_ in pools}
        for (label, repeat, _), (reduced, judgments) in zip(pools, smaller, strict=True):
            tau, tau_ap = _agreement(measure.merit(full[m]), measure.merit(reduced[m]))
            with np.errstate(invalid="ignore"):  # from infinite to infinite is no change that has a size
                change = reduced[m] - full[m]
            moved = float(np.abs(change).mean())
            robustness.append(Robustness(name, label, repeat, tau, tau_ap, moved, judgments))
            taus[label].append((tau, moved))
            rows = zip(runs, reduced[m].tolist(), change.tolist(), strict=True)
            means += [PoolMean(run, name, label, repeat, *values) for run, *values in rows]
        for label, pairs in taus.items():
            tau_mean, moved_mean = np.mean(pairs, axis=0).tolist()
            spread = float(np.std([tau for tau, _ in pairs], ddof=1)) if len(pairs) > 1 else None
            curve.append(RobustnessMean(name, label, len(pairs), tau_mean, spread, moved_mean))
    return robustness, curve, means


def _agreement(full: Floats, reduced: Floats) -> tuple[float, float]:

    defined = ~(np.isnan(full) | np.isnan(reduced))
    full, reduced = full[defined], reduced[defined]
    return stats.kendall(full, reduced).tau_b, stats.ap_correlation(full, reduced)


class LeaveOutEffect(Row):
    """Scores of a run with and without the documents that only its group contributed to the pool."""

    group: str = column("group of the run; without groups, its name")
    run: str = column()
    measure: str = column()
    unique: int = column("number of judgments that only this group contributed")
    value: float = column("mean of the run by all judgments")
    without: float = column("mean of the run without these judgments")
    change: float = column("without minus value")
    rank: int = column("rank of the run by all judgments")
    rank_without: int = column("rank of the run without these judgments")


class Bias(Row):
    """Changes over all runs if groups are left out."""

    measure: str = column()
    groups: int = column("number of groups")
    mean_change: float = column("mean absolute change of a run's mean")
    max_change: float = column("largest absolute change of a run's mean")
    max_rank_change: int = column("largest change of a run's rank")


class LeaveOut(TypedResult):
    """Bias of the pool towards the runs that contributed to it."""

    leave_out: RowTable[LeaveOutEffect] = table("every run")
    bias: RowTable[Bias] = table("every measure")

    shown = ("bias", "leave_out")


@analysis(measures=DEFAULT_MEASURES, needs_rankings=True)
def leave_out(
    scores: Scores,
    pool_depth: Annotated[int, Option("K")],
    *,
    groups: Groups = None,
    top: Top = None,
    by: MeasureName = "AP",
) -> LeaveOut:
    """Test whether runs would fare worse without their own contribution to the pool (Zobel 1998).

    For every run, or group of runs, the judgments that no other run has in its first ranks are removed, and its runs
    are evaluated again.

    Parameters
    ----------
    scores
        Measures and runs to examine; the scores need their rankings.
    pool_depth
        Depth of the pool: the number of ranks of each run that were judged.
    groups
        Groups of runs: a file with lines of `run group`, or a regular expression whose first capture group (or whole
        match) in the name of a run is its group; in Python also a mapping (default: each run by itself).
    top
        Share of the runs to keep, the best ones, such as 0.75 (default: all).
    by
        Measure that selects the runs of ``top``.

    Returns
    -------
    LeaveOut
        Tables ``leave_out`` (every run with and without its own contribution) and ``bias``.

    References
    ----------
    Zobel 1998.

    Commands
    --------
    rankscope leave-out qrels.txt runs/ --pool-depth 10
    rankscope leave-out qrels.txt runs/ --pool-depth 10 --groups teams.txt

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"d1": 1, "d2": 1}}
    >>> scores = rs.evaluate(qrels, {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "x"]}}, "AP")
    >>> [(row.run, row.unique, row.value, row.without) for row in rs.leave_out(scores, 2).leave_out]
    [('a', 1, 1.0, 1.0), ('b', 0, 0.5, 0.5)]
    """
    from rankscope.engines import run_pieces
    from rankscope.read.groups import run_groups

    judged = stats.best_runs(scores, top, by).require_judged("leave_out")
    measures, missing = scores.measures, str(scores.settings["missing"])
    if len(judged.runs) < 2:
        raise InputError("leaving one run out needs at least two runs", hint="name more run files")
    teams = run_groups(judged.runs, groups) if groups else None
    members = stats.group_masks(judged.runs, teams)
    full = mean_scores(judged, measures, missing)
    n_judgments = int((judged.qrels.grade != UNJUDGED).sum())
    pieces = [partial(stats.without_group, depth=pool_depth, group=group) for group in members.values()]
    results = run_pieces(partial(_evaluate, judged, measures, missing), pieces, label="leave out")
    rows: list[LeaveOutEffect] = []
    bias: list[Bias] = []
    for m, measure in enumerate(measures):
        changes: list[tuple[float, int]] = []
        for (name, group), (means, n_kept) in zip(members.items(), results, strict=True):
            for r in np.flatnonzero(group).tolist():
                value, without = float(full[m, r]), float(means[m, r])
                ranks = _rank(measure.merit(full[m]), r), _rank(measure.merit(means[m]), r)
                label = name, judged.runs[r], str(measure), n_judgments - n_kept
                rows.append(LeaveOutEffect(*label, value, without, without - value, *ranks))
                changes.append((abs(without - value), abs(ranks[1] - ranks[0])))
        moved = [change for change, _ in changes if not isnan(change)] or [nan]
        worst = max(change for _, change in changes)
        bias.append(Bias(str(measure), len(members), float(np.mean(moved)), max(moved), worst))
    return LeaveOut(
        leave_out=LeaveOutEffect.table("leave_out", rows, caption="Runs without their own part of the pool"),
        bias=Bias.table("bias", bias, caption="Effect of leaving runs out, by measure"),
        settings={**scores.settings, **stats.top_settings(top, by), "depth": pool_depth, "groups": teams},
    )


def _rank(merits: Floats, run: int) -> int:
    return 1 + int((merits > merits[run]).sum())
