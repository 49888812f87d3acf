"""What do measures say with fewer judgments? Shallow pools, sampled pools, pools without one participant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.coefficients import ap_correlation, kendall
from rankscope.analysis.stats.matrices import best_judged, chosen_by, rounded, row_means, top_settings
from rankscope.analysis.stats.randomness import streams
from rankscope.analysis.stats.sampling import Sampler, depth_pool, groups_of, without_group
from rankscope.choices import DEFAULT_MEASURES, RATIOS
from rankscope.engines import on_engine, run_pieces
from rankscope.errors import InputError, SettingsError
from rankscope.judging import UNJUDGED, Judged, judge
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import open_collection
from rankscope.read.groups import run_groups
from rankscope.result import TableResult
from rankscope.scores import score
from rankscope.tables import Cell, Table

__all__ = ["RATIOS", "leave_out", "leave_out_of", "pool_robustness", "robustness_of"]

Floats = NDArray[np.float64]


@on_engine
def pool_robustness(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ratios: Sequence[float] | None = None,
    depth: int | Sequence[int] | None = None,
    sampling: str = "grade",
    repeats: int = 1,
    seed: int = 1,
    top: float | None = None,
    by: str | Measure = "AP",
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """How the ranking of the runs changes when judgments are taken away.

    ``ratios`` keeps that many percent of the judgments (:class:`~rankscope.analysis.stats.sampling.Sampler`;
    90, 70, 50, 30, 10 unless ``depth`` is given), ``repeats`` times with different random samples; ``depth`` keeps
    the judgments of documents in the first ranks of some run. Recall bases are those of the reduced pool. ``top`` keeps
    the best round(top n) runs by the mean of ``by`` under all judgments (0.75 and AP in Ferro et al.); the others take
    no part, also not in the pool of a depth.

    Tables: ``robustness`` {measure, pool, repeat, tau, tau_ap, change, judgments}: Kendall's tau-b and AP-correlation
    of the runs' means with those of the full pool, and the mean absolute change of the means; ``curve`` {measure, pool,
    repeats, tau, tau_sd, change}: their mean and spread over the repeats; ``means`` {run, measure, pool, repeat, value,
    change}.

    >>> qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 1}}
    >>> runs = {"r1": {"q": {"a": 3, "c": 2}}, "r2": {"q": {"c": 3, "a": 2, "b": 1}}}
    >>> pool_robustness(qrels, runs, ["AP"], depth=1)["robustness"].records()[0]["pool"]
    'depth 1'
    """
    wanted = parse_many(measures)
    collection = open_collection(
        qrels, runs, order=order, needs_aspects=needs_aspects([*wanted, *chosen_by(top, by)])
    )
    judged = best_judged(judge(*collection, jobs=jobs), top, by, missing)
    depths = () if depth is None else (depth,) if isinstance(depth, int) else tuple(depth)
    ratios = (RATIOS if not depths else ()) if ratios is None else tuple(ratios)
    result = robustness_of(
        judged, wanted, ratios=ratios, depths=depths, sampling=sampling, repeats=repeats,
        seed=seed, missing=missing, jobs=jobs,
    )  # fmt: skip
    return result.with_settings(**collection.settings, **top_settings(top, by))


def robustness_of(
    judged: Judged,
    measures: Sequence[Measure],
    *,
    ratios: Sequence[float] = RATIOS,
    depths: Sequence[int] = (),
    sampling: str = "grade",
    repeats: int = 1,
    seed: int = 1,
    missing: str = "zero",
    jobs: int | None = None,
) -> TableResult:
    """:func:`pool_robustness` for lists that are already judged; nothing is read again."""
    if len(judged.runs) < 2:
        raise InputError("the robustness of a ranking needs at least two runs", hint="name more run files")
    if repeats < 1:
        raise SettingsError(f"{repeats} repeats", hint="give at least 1")
    pools: list[_Smaller] = [_Smaller(f"depth {depth}", 1, depth=depth) for depth in depths]
    if ratios:
        samplers = [Sampler(judged.pool, sampling, stream) for stream in streams(seed, repeats)]
        pools += [
            _Smaller(_label(ratio), repeat + 1, sampler=sampler, ratio=ratio)
            for ratio in ratios
            for repeat, sampler in enumerate(samplers)
        ]
    work = _Evaluation(judged, tuple(measures), missing)
    full, _ = work(None)
    smaller = run_pieces(work, pools, jobs=jobs, label="pools")
    robustness, curve, means = _tables(judged, measures, full, pools, smaller)
    settings = {
        "measures": [str(m) for m in measures],
        "missing": missing,
        "ratios": list(ratios),
        "depths": list(depths),
        "sampling": sampling if ratios else None,
        "repeats": repeats if ratios else None,
        "seed": seed if ratios else None,
    }
    return TableResult.of(robustness, curve, means, settings=settings, display=[curve])


@dataclass(frozen=True)
class _Smaller:
    """One pool smaller than the full one: a depth, or a ratio of a sampler's order."""

    label: str | int | float
    repeat: int
    depth: int = 0
    sampler: Sampler | None = None
    ratio: float = 100

    def grades(self, judged: Judged) -> NDArray[np.int32]:
        return depth_pool(judged, self.depth) if self.sampler is None else self.sampler.sample(self.ratio)


@dataclass(frozen=True)
class _Evaluation:
    """Means of all runs (measures x runs) under a smaller pool, and how many judgments it has."""

    judged: Judged
    measures: tuple[Measure, ...]
    missing: str

    def __call__(self, pool: _Smaller | None) -> tuple[Floats, int]:
        judged = self.judged
        if pool is not None:
            judged = judged.rejudged(pool.grades(judged))
        means = mean_scores(judged, self.measures, self.missing)
        return means, int((judged.qrels.grade != UNJUDGED).sum())


def mean_scores(judged: Judged, measures: Sequence[Measure], missing: str = "zero") -> Floats:
    """The mean of each measure for each run, measures x runs, over the topics where it is defined."""
    scores = score(judged, measures, missing=missing)
    return np.array(
        [rounded(row_means(m, values)) for m, values in zip(measures, scores.values, strict=True)]
    )


def _label(ratio: float) -> int | float:
    return int(ratio) if float(ratio).is_integer() else ratio


def _tables(
    judged: Judged,
    measures: Sequence[Measure],
    full: Floats,
    pools: Sequence[_Smaller],
    smaller: Sequence[tuple[Floats, int]],
) -> tuple[Table, Table, Table]:
    robustness: list[tuple[Cell, ...]] = []
    curve: list[tuple[Cell, ...]] = []
    means: list[tuple[Cell, ...]] = []
    labels = list(dict.fromkeys(pool.label for pool in pools))
    for m, measure in enumerate(measures):
        name = str(measure)
        means += [
            (run, name, "full", 1, v, 0.0) for run, v in zip(judged.runs, full[m].tolist(), strict=True)
        ]
        taus: dict[Cell, list[tuple[float, float]]] = {label: [] for label in labels}
        for pool, (reduced, judgments) in zip(pools, smaller, strict=True):
            tau, tau_ap = _agreement(measure.merit(full[m]), measure.merit(reduced[m]))
            with np.errstate(invalid="ignore"):  # from infinite to infinite is no change that has a size
                change = reduced[m] - full[m]
            moved = float(np.abs(change).mean())
            robustness.append((name, pool.label, pool.repeat, tau, tau_ap, moved, judgments))
            taus[pool.label].append((tau, moved))
            rows = zip(judged.runs, reduced[m].tolist(), change.tolist(), strict=True)
            means += [(run, name, pool.label, pool.repeat, value, moved_by) for run, value, moved_by in rows]
        for label, pairs in taus.items():
            tau_mean, moved_mean = np.mean(pairs, axis=0).tolist()
            spread = float(np.std([tau for tau, _ in pairs], ddof=1)) if len(pairs) > 1 else None
            curve.append((name, label, len(pairs), tau_mean, spread, moved_mean))
    return (
        Table(
            "robustness", ("measure", "pool", "repeat", "tau", "tau_ap", "change", "judgments"), robustness
        ),
        Table(
            "curve",
            ("measure", "pool", "repeats", "tau", "tau_sd", "change"),
            curve,
            caption=f"Rankings of {len(judged.runs)} runs by smaller pools against all judgments (Kendall's tau-b)",
            legend="pool: percent of the judgments, or depth; change: mean change of the runs' means",
        ),
        Table("means", ("run", "measure", "pool", "repeat", "value", "change"), means),
    )


def _agreement(full: Floats, reduced: Floats) -> tuple[float, float]:
    defined = ~(np.isnan(full) | np.isnan(reduced))
    full, reduced = full[defined], reduced[defined]
    return kendall(full, reduced).tau_b, ap_correlation(full, reduced)


@on_engine
def leave_out(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    depth: int,
    groups: Mapping[str, str] | str | Path | None = None,
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """Would a run have fared worse without its own contribution to the pool (Zobel 1998)?

    For every run (or group of runs: ``groups`` as in :func:`rankscope.report`) the judgments that nobody else's first
    ``depth`` ranks contain are taken back and its runs evaluated again. Tables: ``leave_out`` {group, run, measure,
    unique, value, without, change, rank, rank_without}, ``bias`` {measure, groups, mean_change, max_change,
    max_rank_change}.

    >>> qrels = {"q": {"d1": 1, "d2": 1}}
    >>> found = leave_out(qrels, {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "x"]}}, "AP", depth=2)
    >>> [(row["run"], row["unique"], row["value"], row["without"]) for row in found["leave_out"].records()]
    [('a', 1, 1.0, 1.0), ('b', 0, 0.5, 0.5)]
    """
    wanted = parse_many(measures)
    collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(wanted))
    judged = judge(*collection, jobs=jobs)
    result = leave_out_of(judged, wanted, depth=depth, groups=groups, missing=missing, jobs=jobs)
    return result.with_settings(**collection.settings)


def leave_out_of(
    judged: Judged,
    measures: Sequence[Measure],
    *,
    depth: int,
    groups: Mapping[str, str] | str | Path | None = None,
    missing: str = "zero",
    jobs: int | None = None,
) -> TableResult:
    """:func:`leave_out` for lists that are already judged."""
    if len(judged.runs) < 2:
        raise InputError("leaving one run out needs at least two runs", hint="name more run files")
    teams = run_groups(judged.runs, groups) if groups else None
    members = groups_of(judged.runs, teams)
    full = mean_scores(judged, measures, missing)

    done = run_pieces(
        _Without(judged, tuple(measures), depth, missing),
        list(members.values()),
        jobs=jobs,
        label="leave out",
    )
    rows: list[tuple[Cell, ...]] = []
    bias: list[tuple[Cell, ...]] = []
    for m, measure in enumerate(measures):
        changes: list[tuple[float, int]] = []
        for (name, group), (means, unique) in zip(members.items(), done, strict=True):
            for r in np.flatnonzero(group).tolist():
                value, without = float(full[m, r]), float(means[m, r])
                ranks = _rank(measure.merit(full[m]), r), _rank(measure.merit(means[m]), r)
                rows.append(
                    (name, judged.runs[r], str(measure), unique, value, without, without - value, *ranks)
                )
                changes.append((abs(without - value), abs(ranks[1] - ranks[0])))
        moved = [change for change, _ in changes if not isnan(change)] or [nan]
        worst = max(change for _, change in changes)
        bias.append((str(measure), len(members), float(np.mean(moved)), max(moved), worst))
    columns = ("group", "run", "measure", "unique", "value", "without", "change", "rank", "rank_without")
    tables = (
        Table("leave_out", columns, rows, caption="Runs without what they alone put into the pool"),
        Table(
            "bias",
            ("measure", "groups", "mean_change", "max_change", "max_rank_change"),
            bias,
            caption="What leaving out changes, by measure",
        ),
    )
    settings = {
        "measures": [str(m) for m in measures],
        "missing": missing,
        "depth": depth,
        "groups": teams,
    }
    main = ("leave_out", "bias")
    return TableResult.of(*tables, settings=settings, main=main, display=tables[::-1])


@dataclass(frozen=True)
class _Without:
    """Means of all runs without what one group alone contributed to the pool, and how many judgments that is."""

    judged: Judged
    measures: tuple[Measure, ...]
    depth: int
    missing: str

    def __call__(self, group: NDArray[np.bool_]) -> tuple[Floats, int]:
        grades = without_group(self.judged, self.depth, group)
        unique = int((grades != self.judged.qrels.grade).sum())
        return mean_scores(self.judged.rejudged(grades), self.measures, self.missing), unique


def _rank(merits: Floats, run: int) -> int:
    return 1 + int((merits > merits[run]).sum())
