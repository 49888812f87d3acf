"""Ranks of runs across measures, cutoffs, pools and samples of topics, and their confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from rankscope.analysis import stats
from rankscope.analysis.pools import mean_scores, pools
from rankscope.choices import ACROSS, FOLLOWED_CUTOFFS, FOLLOWED_DEPTHS, FOLLOWED_RATIOS
from rankscope.errors import InputError, MeasureError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.rows import MeasuredRunRow, Row, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.scores import Scores


class RunCertainty(MeasuredRunRow):
    """A run: its mean, the range of the mean over labels, and its ranks."""

    value: float = column("mean over the topics")
    lowest: float | None = column("lowest mean that labels of unjudged documents allow", default=None)
    highest: float | None = column("highest mean that labels of unjudged documents allow", default=None)
    exact: bool = column("whether labels attain both bounds", default=None)
    first_rank: int | None = column(default=None)
    last_rank: int | None = column(default=None)
    first_possible: int | None = column("best rank that the certain pairs (together) permit", default=None)
    last_possible: int | None = column("worst rank that the certain pairs (together) permit", default=None)


class FollowedRank(Row):
    """Rank of a run by one order."""

    run: str = column()
    by: str = column("criterion of the ranking of runs: a measure, the pool, or the sample of topics")
    value: float = column("mean of the run")
    rank: float = column("rank of the run; equal means share the middle of their ranks")


class OrderChange(Row):
    """Difference of an order of the runs from the first one."""

    by: str = column("criterion of the ranking of runs: a measure, the pool, or the sample of topics")
    pairs: int = column("pairs of runs that neither this order nor the first ties")
    swapped: int = column("pairs in the opposite order to the first order")
    share: float | None = column("share of the pairs in the opposite order to the first order")
    tau: float = column("Kendall's tau-b of this order with the first")
    best: str = column("the best run by this order")


class _Order(NamedTuple):
    """An order of the runs: its name, their means, and the measure of these."""

    by: str
    means: Floats
    measure: Measure


def follow_ranks(
    scores: Scores,
    across: str,
    *,
    cutoffs: Sequence[int],
    pool_depth: Sequence[int],
    ratios: Sequence[float],
    samples: int,
    alpha: float,
    seed: int,
) -> dict[str, Any]:
    """Return tables and settings of the ranks by the measures of scores, or by variants of the first one."""
    from rankscope.analysis.certain_pairs import REPLICATES, rank_interval, without_options

    if scores.judged is not None:
        scores = without_options(scores, "certain")
    _validate(scores, across, samples)
    lead, values = scores.measures[0], scores.values[0]
    measures = scores.measures if across == "measures" else (lead,)
    means_by_measure = [stats.row_means(m, scores.matrix(m).values) for m in measures]
    orders = [_Order(str(m), stats.rounded(v), m) for m, v in zip(measures, means_by_measure, strict=True)]
    replicates = max(REPLICATES, samples)
    own_settings: dict[str, Any] = {}
    if across == "cutoffs":
        judged = scores.require_judged("certain --across cutoffs")
        deeper = means_by_cutoff(judged, [lead], str(scores.settings["missing"]), cutoffs).get(lead, {})
        orders += [_Order(str(other), means, other) for other, means in deeper.items() if other != lead]
        if len(orders) == 1:
            hint = "follow another measure, or --across pools"
            raise SettingsError(f"{lead} has no other cutoff", hint=hint)
        own_settings = {"cutoffs": list(cutoffs)}
    elif across == "pools":
        by_pool = means_by_pool(scores.with_measures([lead]), pool_depth, ratios, seed=seed)[str(lead)]
        orders = [_Order(pool, means, lead) for pool, means in by_pool.items()]
        own_settings = {"depths": list(pool_depth), "ratios": list(ratios), "seed": seed}
    elif across == "samples":
        terms, restore = lead.split_mean(values)
        drawn = stats.bootstrap_means(terms, replicates, seed)[:, :samples]
        orders = [orders[0]._replace(by="all topics")]
        orders += [_Order(f"sample {k}", stats.rounded(restore(m)), lead) for k, m in enumerate(drawn.T, 1)]
        own_settings = {"samples": samples, "seed": seed}
    inputs = {name: value for name, value in scores.settings.items() if name not in ("measures", "missing")}
    settings = {
        **inputs, "measures": [str(measure) for measure in measures], "across": across,
        "missing": scores.settings.get("missing"), "alpha": alpha, **own_settings,
    }  # fmt: skip
    interval = rank_interval(lead, values, alpha, seed, replicates)
    return {"settings": settings, **_tables(scores.runs, orders, interval)}


def _validate(scores: Scores, across: str, samples: int) -> None:
    check_name(across, ACROSS, f"ranks cannot be followed across {across!r}")
    if samples < 1:
        raise SettingsError(f"{samples} samples", hint="give at least 1")
    for measure in scores.measures if across == "measures" else scores.measures[:1]:
        if measure.better == "neither":
            problem = f"{measure} does not order runs: neither higher nor lower values are better"
            raise SettingsError(problem, hint="follow AP, for example")
    if len(scores.runs) < 2:
        raise InputError("an order needs at least two runs", hint="name more run files")


def means_by_cutoff(
    judged: Judged,
    measures: Sequence[Measure],
    missing: str = "zero",
    cutoffs: Sequence[int] = FOLLOWED_CUTOFFS,
) -> dict[Measure, dict[Measure, Floats]]:
    """Return for each measure the means of the runs at all valid cutoffs; N of effort measures is no cutoff."""
    deeper = {measure: _at_cutoffs(measure, cutoffs) for measure in measures if measure.family != "effort"}
    means: dict[Measure, Floats] = {}
    for other in dict.fromkeys(other for others in deeper.values() for other in others):
        with suppress(MeasureError):  # An interval scale may have too many rankings, for example.
            means[other] = mean_scores(judged, [other], missing)[0]
    return {m: {other: means[other] for other in others if other in means} for m, others in deeper.items()}


def _at_cutoffs(measure: Measure, cutoffs: Sequence[int]) -> list[Measure]:
    """Return the measure at all cutoffs that it accepts."""
    variants = []
    for cutoff in cutoffs if measure.cutoff_rule != "none" else ():
        with suppress(MeasureError):
            variants.append((measure @ cutoff).complete())
    return variants


def means_by_pool(
    scores: Scores,
    pool_depth: Sequence[int] = FOLLOWED_DEPTHS,
    ratios: Sequence[float] = FOLLOWED_RATIOS,
    *,
    seed: int = 1,
) -> dict[str, dict[str, Floats]]:
    """Return for each measure the means of the runs by all judgments and by smaller pools."""
    means: dict[str, dict[str, list[float]]] = {}
    for row in pools(scores, ratios=ratios, pool_depth=pool_depth, seed=seed).means:
        pool = row.pool if isinstance(row.pool, str) else f"{row.pool}%"
        pool = "all judgments" if pool == "full" else pool
        means.setdefault(row.measure, {}).setdefault(pool, []).append(row.value)
    return {m: {pool: np.array(values) for pool, values in by_pool.items()} for m, by_pool in means.items()}


def _tables(
    runs: Sequence[str], orders: Sequence[_Order], interval: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    """Return the tables of the ranks by all orders, of how each differs from the first, and of the runs by this."""
    merits = [stats.rounded(order.measure.merit(order.means)) for order in orders]
    # Runs with equal means share the middle of their ranks.
    middle = [np.mean(stats.ranks(merit), axis=0).tolist() for merit in merits]
    changes: list[OrderChange] = []
    for order, merit in zip(orders[1:], merits[1:], strict=True):
        is_defined = ~(np.isnan(merits[0]) | np.isnan(merit))
        tau = stats.kendall(merits[0][is_defined], merit[is_defined])
        n_pairs = tau.concordant + tau.discordant
        best = runs[int(order.measure.best_first(order.means)[0])]
        share = tau.discordant / n_pairs if n_pairs else None
        changes.append(OrderChange(order.by, n_pairs, tau.discordant, share, tau.tau_b, best))
    ranks = [
        FollowedRank(run, order.by, float(order.means[r]), rank[r])
        for order, rank in zip(orders, middle, strict=True)
        for r, run in enumerate(runs)
    ]
    means, name = orders[0].means.tolist(), str(orders[0].measure)
    best_first = np.argsort(middle[0], kind="stable").tolist()
    rows = [
        RunCertainty(runs[r], name, means[r], first_rank=interval[r][0], last_rank=interval[r][1])
        for r in best_first
    ]
    without = ("lowest", "highest", "exact", "first_possible", "last_possible")
    caption = f"Pairs of runs in the opposite order to that by {orders[0].by}"
    return {
        "ranks": FollowedRank.table("ranks", ranks),
        "runs": RunCertainty.table("runs", rows, without=without),
        "changes": OrderChange.table("changes", changes, caption=caption),
    }
