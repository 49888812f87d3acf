"""Ranks of runs across measures, cutoffs, pools and samples of topics, and their confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from rankscope.analysis.pools import mean_scores, pools
from rankscope.analysis.stats.coefficients import kendall
from rankscope.analysis.stats.intervals import bootstrap_means, rank_intervals, ranks
from rankscope.analysis.stats.matrices import averaged, rounded, row_means
from rankscope.arrays import Floats, Ints
from rankscope.choices import ACROSS, FOLLOWED_CUTOFFS, FOLLOWED_DEPTHS, FOLLOWED_RATIOS
from rankscope.errors import InputError, MeasureError, SettingsError, check_name
from rankscope.judging import Judged
from rankscope.measures import Measure
from rankscope.scores import Scores
from rankscope.tables import Cell

Rows = list[tuple[Cell, ...]]

_REPLICATES = 1000


def rank_interval(
    measure: Measure, values: Floats, alpha: float, seed: int, replicates: int = _REPLICATES
) -> tuple[Ints, Ints]:
    """Return the ends of the 1 - alpha confidence intervals of the ranks over topics; ``values``: runs x topics."""
    terms, _ = averaged(measure, values)
    return rank_intervals(
        measure.merit(terms), measure.merit(bootstrap_means(terms, replicates, seed)), alpha
    )


class _Order(NamedTuple):
    """An order of the runs: its name, their means, and the measure of these."""

    by: str
    means: Floats
    measure: Measure


class Followed(NamedTuple):
    """Ranks by several orders."""

    ranks: Rows
    """Run, order, mean, rank."""
    changes: Rows
    """Order, pairs, swapped pairs, their share, tau and best run, of all orders but the first."""
    runs: Rows
    """Cells of :class:`~rankscope.analysis.certain.RunCertainty` by the first order, best run first."""
    settings: dict[str, Any]


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
) -> Followed:
    """Return the ranks by the measures of scores, or by variants of the first one."""
    _validate(scores, across, samples)
    lead, values = scores.measures[0], scores.values[0]
    replicates = max(_REPLICATES, samples)
    first = _order(scores, lead)
    settings: dict[str, Any] = {}
    if across == "measures":
        orders = [_order(scores, measure) for measure in scores.measures]
    elif across == "cutoffs":
        judged = scores.require_judged("certain --across cutoffs")
        deeper = means_by_cutoff(judged, [lead], str(scores.settings["missing"]), cutoffs).get(lead, {})
        others = [_Order(str(other), means, other) for other, means in deeper.items() if other != lead]
        orders = [first, *others]
        if not others:
            hint = "follow another measure, or --across pools"
            raise SettingsError(f"{lead} has no other cutoff", hint=hint)
        settings = {"cutoffs": list(cutoffs)}
    elif across == "pools":
        by_pool = means_by_pool(scores.with_measures([lead]), pool_depth, ratios, seed=seed)[str(lead)]
        orders = [_Order(pool, means, lead) for pool, means in by_pool.items()]
        settings = {"depths": list(pool_depth), "ratios": list(ratios), "seed": seed}
    else:
        terms, restore = averaged(lead, values)
        drawn = bootstrap_means(terms, replicates, seed)[:, :samples]
        orders = [first._replace(by="all topics")]
        orders += [_Order(f"sample {k}", rounded(restore(means)), lead) for k, means in enumerate(drawn.T, 1)]
        settings = {"samples": samples, "seed": seed}
    return _compare(scores.runs, orders, rank_interval(lead, values, alpha, seed, replicates), settings)


def _order(scores: Scores, measure: Measure) -> _Order:
    return _Order(str(measure), rounded(row_means(measure, scores.matrix(measure).values)), measure)


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
    return {
        measure: {other: means[other] for other in others if other in means}
        for measure, others in deeper.items()
    }


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
    return {
        measure: {pool: np.array(values) for pool, values in by_pool.items()}
        for measure, by_pool in means.items()
    }


def _compare(
    runs: Sequence[str], orders: Sequence[_Order], interval: tuple[Ints, Ints], settings: dict[str, Any]
) -> Followed:
    """Return the ranks by all orders, and how each differs from the first."""
    merits = [rounded(order.measure.merit(order.means)) for order in orders]
    # Runs with equal means share the middle of their ranks.
    middle = [np.mean(ranks(merit), axis=0).tolist() for merit in merits]
    changes: Rows = []
    for order, merit in zip(orders[1:], merits[1:], strict=True):
        is_defined = ~(np.isnan(merits[0]) | np.isnan(merit))
        tau = kendall(merits[0][is_defined], merit[is_defined])
        n_pairs = tau.concordant + tau.discordant
        best = runs[int(order.measure.best_first(order.means)[0])]
        share = tau.discordant / n_pairs if n_pairs else None
        changes.append((order.by, n_pairs, tau.discordant, share, tau.tau_b, best))
    means = orders[0].means.tolist()
    first, last = (end.tolist() for end in interval)
    followed: Rows = []
    for order, rank in zip(orders, middle, strict=True):
        followed += [(run, order.by, float(order.means[r]), rank[r]) for r, run in enumerate(runs)]
    best_first, none = np.argsort(middle[0], kind="stable").tolist(), (None,) * 3
    name = str(orders[0].measure)
    ranges: Rows = [(runs[r], name, means[r], *none, first[r], last[r], None, None) for r in best_first]
    return Followed(followed, changes, ranges, settings)
