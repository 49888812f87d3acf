"""How firm are the ranks of the runs? Their order by other measures, cutoffs, pools, and samples of the topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.pools import mean_scores, pools
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.intervals import bootstrap_means, rank_intervals
from rankscope.analysis.stats.intervals import ranks as first_and_last
from rankscope.analysis.stats.matrices import averaged, rounded
from rankscope.choices import ACROSS, FOLLOWED_CUTOFFS, FOLLOWED_DEPTHS, FOLLOWED_MEASURES, FOLLOWED_RATIOS
from rankscope.engines import on_engine, using
from rankscope.errors import InputError, MeasureError, SettingsError, suggest_names
from rankscope.judging import Judged, judge
from rankscope.measures import Measure, needs_aspects, parse_many
from rankscope.read import open_collection
from rankscope.result import TableResult
from rankscope.scores import score
from rankscope.tables import Cell, Table

__all__ = ["by_cutoffs", "by_pools", "ranks", "ranks_of"]

Floats = NDArray[np.float64]

_REPLICATES = 1000


@on_engine
def ranks(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    across: str = "measures",
    cutoffs: Sequence[int] = FOLLOWED_CUTOFFS,
    depth: Sequence[int] = FOLLOWED_DEPTHS,
    ratios: Sequence[float] = FOLLOWED_RATIOS,
    samples: int = 8,
    seed: int = 1,
    order: str | None = None,
    missing: str = "zero",
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """The ranks of the runs by a measure, and what else could have been asked does to them.

    ``across`` is what they are followed across: the ``measures``, of which the first leads; or, of a single measure,
    other ``cutoffs``; smaller pools (``depth`` and ``ratios`` as in :func:`pools`); or ``samples`` of as many
    topics, drawn with replacement.

    Tables: ``ranks`` {run, by, value, rank}: the mean and the rank (equal means share the middle of their ranks);
    ``changes`` {by, pairs, swapped, share, tau, best}: of the pairs of runs that both orders tell apart, those that
    stand the other way round than by the first, Kendall's tau-b, and the best run; ``ranges`` {run, measure,
    first_rank, last_rank}: 95% ranges of the ranks over topics, as :func:`leaderboard` has them.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> found = {"x": {"q1": ["a", "n", "m"], "q2": ["a"]}, "y": {"q1": ["n", "a", "b"], "q2": ["n", "a"]}}
    >>> ranks(qrels, found, ["RR", "R@5"])["ranks"].rows
    [('x', 'RR', 1.0, 1.0), ('y', 'RR', 0.5, 2.0), ('x', 'R@5', 0.75, 2.0), ('y', 'R@5', 1.0, 1.0)]
    """
    wanted = parse_many(default_measures(across) if measures is None else measures)
    collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(wanted))
    result = ranks_of(
        judge(*collection, jobs=jobs), wanted, across=across, cutoffs=cutoffs, depths=depth, ratios=ratios,
        samples=samples, seed=seed, missing=missing, jobs=jobs,
    )  # fmt: skip
    return result.with_settings(**collection.settings)


def default_measures(across: str) -> tuple[str, ...]:
    """The measures that are followed unless others are named: several, or the first of them."""
    return FOLLOWED_MEASURES if across == "measures" else FOLLOWED_MEASURES[:1]


@dataclass(frozen=True, eq=False)
class _Column:
    """One order of the runs: what it is by, their means, and the measure that says which of them is better."""

    by: str
    means: Floats
    measure: Measure


def ranks_of(
    judged: Judged,
    measures: Sequence[Measure],
    *,
    across: str = "measures",
    cutoffs: Sequence[int] = FOLLOWED_CUTOFFS,
    depths: Sequence[int] = FOLLOWED_DEPTHS,
    ratios: Sequence[float] = FOLLOWED_RATIOS,
    samples: int = 8,
    seed: int = 1,
    missing: str = "zero",
    jobs: int | None = None,
) -> TableResult:
    """:func:`ranks` for lists that are already judged; nothing is read again."""
    _check(judged, measures, across, samples)
    lead = measures[0]
    terms, back = averaged(lead, score(judged, [lead], missing=missing).values[0])
    drawn = bootstrap_means(terms, max(_REPLICATES, samples), seed)
    more: Mapping[str, Any] = {}
    if across == "measures":
        found = dict(zip(map(str, measures), mean_scores(judged, measures, missing), strict=True))
        columns = [_Column(str(m), found[str(m)], m) for m in measures]
    elif across == "cutoffs":
        deeper = by_cutoffs(judged, [lead], missing, cutoffs).get(lead, {})
        if not any(one != lead for one in deeper):
            raise SettingsError(
                f"{lead} has no other cutoff", hint="follow another measure, or --across pools"
            )
        own = mean_scores(judged, [lead], missing)[0]
        columns = [_Column(str(lead), own, lead)]
        columns += [_Column(str(m), means, m) for m, means in deeper.items() if m != lead]
        more = {"cutoffs": list(cutoffs)}
    elif across == "pools":
        pools = by_pools(judged, [lead], missing, depths, ratios, seed=seed, jobs=jobs)[str(lead)]
        columns = [_Column(pool, means, lead) for pool, means in pools.items()]
        more = {"depths": list(depths), "ratios": list(ratios), "seed": seed}
    else:
        own = mean_scores(judged, [lead], missing)[0]
        columns = [_Column("all topics", own, lead)]
        columns += [_Column(f"sample {k + 1}", rounded(back(drawn[:, k])), lead) for k in range(samples)]
        more = {"samples": samples, "seed": seed}
    ends = rank_intervals(lead.merit(terms), lead.merit(drawn))
    settings = {"measures": [str(m) for m in measures], "across": across, "missing": missing, **more}
    return _result(judged.runs, columns, ends, settings)


def _check(judged: Judged, measures: Sequence[Measure], across: str, samples: int) -> None:
    if across not in ACROSS:
        raise SettingsError(
            f"ranks cannot be followed across {across!r}",
            hint=suggest_names(across, ACROSS) or f"choose one of {', '.join(ACROSS)}",
        )
    if not measures:
        raise SettingsError("no measure is named", hint="name one, such as AP")
    if across != "measures" and len(measures) > 1:
        raise SettingsError(
            f"{len(measures)} measures", hint=f"across {across} one measure is followed: give one"
        )
    if across == "samples" and samples < 1:
        raise SettingsError(f"{samples} samples", hint="give at least 1")
    for measure in measures:
        if measure.better == "neither":
            raise SettingsError(f"{measure} says of no run that it is better", hint="follow AP, for example")
    if len(judged.runs) < 2:
        raise InputError("an order needs at least two runs", hint="name more run files")


def by_cutoffs(
    judged: Judged,
    measures: Sequence[Measure],
    missing: str = "zero",
    cutoffs: Sequence[int] = FOLLOWED_CUTOFFS,
) -> dict[Measure, dict[Measure, Floats]]:
    """Of each measure the means of the runs at all of the cutoffs that it can have; N of effort is none."""
    deeper = {m: _at_cutoffs(m, cutoffs) for m in measures if m.family != "effort"}
    means: dict[Measure, Floats] = {}
    for one in dict.fromkeys(one for found in deeper.values() for one in found):
        with suppress(MeasureError):  # too many rankings for an interval scale, for example
            means[one] = mean_scores(judged, [one], missing)[0]
    return {m: {one: means[one] for one in found if one in means} for m, found in deeper.items()}


def _at_cutoffs(measure: Measure, cutoffs: Sequence[int]) -> list[Measure]:
    """The measure at all cutoffs that it can have."""
    if measure.cutoff_rule == "none":
        return []
    found = []
    for cutoff in cutoffs:
        try:
            found.append((measure @ cutoff).complete())
        except MeasureError:
            continue
    return found


def by_pools(
    judged: Judged,
    measures: Sequence[Measure],
    missing: str = "zero",
    depths: Sequence[int] = FOLLOWED_DEPTHS,
    ratios: Sequence[float] = FOLLOWED_RATIOS,
    *,
    seed: int = 1,
    jobs: int | None = None,
) -> dict[str, dict[str, Floats]]:
    """Of each measure the means of the runs by all judgments and by smaller pools (:func:`pools`)."""
    scores = score(judged, measures, missing=missing)
    with using(None, jobs):
        done = pools(scores, ratios=ratios, pool_depth=depths, seed=seed)
    rows: dict[str, dict[str, list[float]]] = {}
    for row in done.means:
        label = row.pool if isinstance(row.pool, str) else f"{row.pool}%"
        label = "all judgments" if label == "full" else label
        rows.setdefault(row.measure, {}).setdefault(label, []).append(row.value)
    return {m: {pool: np.array(values) for pool, values in found.items()} for m, found in rows.items()}


def _result(
    runs: Sequence[str], columns: Sequence[_Column], ends: tuple[Any, Any], settings: Mapping[str, Any]
) -> TableResult:
    merits = [rounded(column.measure.merit(column.means)) for column in columns]
    places = [np.mean([end[:, 0] for end in first_and_last(merit[:, None])], axis=0) for merit in merits]
    rows: list[tuple[Cell, ...]] = [
        (run, column.by, float(column.means[r]), float(place[r]))
        for column, place in zip(columns, places, strict=True)
        for r, run in enumerate(runs)
    ]
    order = np.argsort(places[0], kind="stable").tolist()
    lead = str(columns[0].measure)
    ranges: list[tuple[Cell, ...]] = [(runs[r], lead, int(ends[0][r]), int(ends[1][r])) for r in order]
    changes = [
        _change(column, merits[0], merit, runs) for column, merit in zip(columns, merits, strict=True)
    ][1:]
    shown: list[tuple[Cell, ...]] = [
        (runs[r], _range(ends[0][r], ends[1][r]), *(_rank(place[r]) for place in places)) for r in order
    ]
    tables = (
        Table("ranks", ("run", "by", "value", "rank"), rows),
        Table(
            "changes",
            ("by", "pairs", "swapped", "share", "tau", "best"),
            changes,
            caption=f"Pairs of runs that stand the other way round than by {columns[0].by}",
        ),
        Table("ranges", ("run", "measure", "first_rank", "last_rank"), ranges),
    )
    wide = Table(
        "ranks",
        ("run", "range", *(column.by for column in columns)),
        shown,
        caption=f"Ranks of {len(runs)} runs; range: their 95% ranges by {lead} over topics",
    )
    return TableResult.of(*tables, settings=settings, main=["ranks"], display=[tables[1], wide])


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _rank(place: float) -> Cell:
    return int(place) if float(place).is_integer() else float(place)


def _change(column: _Column, before: Floats, after: Floats, runs: Sequence[str]) -> tuple[Cell, ...]:
    known = ~(np.isnan(before) | np.isnan(after))
    tau = kendall(before[known], after[known])
    pairs = tau.concordant + tau.discordant
    best = runs[int(column.measure.best_first(column.means)[0])]
    return (column.by, pairs, tau.discordant, tau.discordant / pairs if pairs else None, tau.tau_b, best)
