"""How much could the unjudged documents still change? Lower and upper bounds of weighted-precision measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.randomness import streams
from rankscope.analysis.stats.sampling import Sampler, depth_pool
from rankscope.choices import PERSISTENCE
from rankscope.errors import InputError, MeasureError, SettingsError, suggest_names
from rankscope.judging import Judged, judge
from rankscope.judging.shares import VACUOUS, has_nonrelevant
from rankscope.measures import REGISTRY, Measure, needs_aspects, parse_many
from rankscope.measures.weighted import Normalised, WeightedPrecision
from rankscope.read import open_collection
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

__all__ = ["DEPTHS", "bounds", "bounds_of", "list_bounds"]

Floats = NDArray[np.float64]
DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)


def bounds(
    qrels: Any,
    runs: Any,
    p: float | Sequence[float] = PERSISTENCE,
    *,
    depths: Sequence[int] | None = None,
    measures: str | Measure | Iterable[str | Measure] = (),
    show: str | Sequence[str] | None = None,
    pool_depth: int | None = None,
    ratio: float | Sequence[float] | None = None,
    seed: int = 1,
    order: str | None = None,
    jobs: int | None = None,
) -> TableResult:
    """Lower and upper bound of RBP for every list, by the depth to which it is evaluated (Moffat and Zobel 2008).

    With the first d ranks known, the lower bound takes every unjudged document as non-relevant, the upper bound takes
    all of them and everything below rank d as relevant:

        lower = (1-p) sum over relevant i <= d of p^(i-1)
        upper = lower + residual,   residual = (1-p) sum over unjudged i <= d of p^(i-1) + p^d

    A list that ends before d is unknown from there on. ``measures`` adds other weighted-precision measures (P@k, DCG@k,
    graded RBP). ``show`` names the runs that are looked at, while all runs make the pool. ``pool_depth`` and ``ratio``
    repeat everything under a pool of that depth and under a sample of that many percent of the judgments.

    Tables: ``bounds`` {run, topic, p, depth, lower, upper, measure, pool}; ``runs`` {run, measure, p, pool, depth,
    lower, upper}: over all topics; ``means`` {measure, p, pool, depth, lower, lower_low, lower_high, upper, upper_low,
    upper_high}: over all runs with the 95 % confidence band of the mean, as far as the measure can reach.

    >>> result = bounds({"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "x": 2, "b": 1}}, p=0.5, depths=[1, 2, 3])
    >>> [(row["lower"], row["upper"]) for row in result["bounds"].records()]
    [(0.5, 1.0), (0.5, 1.0), (0.5, 0.875)]
    """
    persistence = (p,) if isinstance(p, int | float) else tuple(p)
    wanted = [REGISTRY["RBP"](p=float(one)) for one in persistence] + parse_many(measures)
    collection = open_collection(qrels, runs, order=order, needs_aspects=needs_aspects(wanted))
    judged = judge(*collection, jobs=jobs)
    result = bounds_of(
        judged, wanted, depths=depths, show=show, pool_depth=pool_depth, ratio=ratio, seed=seed
    )
    return result.with_settings(**collection.settings, p=list(persistence))


def bounds_of(
    judged: Judged,
    measures: Sequence[Measure],
    *,
    depths: Sequence[int] | None = None,
    show: str | Sequence[str] | None = None,
    pool_depth: int | None = None,
    ratio: float | Sequence[float] | None = None,
    seed: int = 1,
) -> TableResult:
    """:func:`bounds` for lists that are already judged."""
    at = _checked_depths(judged, depths)
    shown = _checked_runs(judged, show)
    weighted = [_checked_measure(measure) for measure in measures]
    pools = [("full", judged)]
    if pool_depth is not None:
        pools.append((f"depth {pool_depth}", judged.rejudged(depth_pool(judged, pool_depth))))
    ratios = [] if ratio is None else [ratio] if isinstance(ratio, int | float) else list(ratio)
    if ratios:
        sampler = Sampler(judged.pool, "binary", streams(seed, 1)[0])
        pools += [(f"{one:g}%", judged.rejudged(sampler.sample(one))) for one in ratios]
    max_grade = judged.pool.max_grade
    rows: list[tuple[Cell, ...]] = []
    by_run: list[tuple[Cell, ...]] = []
    means: list[tuple[Cell, ...]] = []
    for label, pool in pools:
        for measure in weighted:
            both = list_bounds(pool, measure, at, max_grade).of_runs(shown)
            rows += _rows(pool, shown, measure, label, at, both)
            by_run += _run_rows(pool, shown, measure, label, at, both)
            means += _mean_rows(measure, label, at, both, max_grade)
    vacuous = "" if has_nonrelevant(judged) else f"upper bounds are {VACUOUS}"
    where = ("measure", "p", "pool", "depth")
    limits = ("lower", "lower_low", "lower_high", "upper", "upper_low", "upper_high")
    tables = (
        Table("bounds", ("run", "topic", "p", "depth", "lower", "upper", "measure", "pool"), rows),
        Table(
            "runs",
            ("run", *where, "lower", "upper"),
            by_run,
            caption="Bounds of the means of runs by depth",
            legend=vacuous,
        ),
        Table(
            "means",
            (*where, *limits),
            means,
            caption=f"Bounds by depth, means over {len(shown)} runs",
            spare=("lower_low", "lower_high", "upper_low", "upper_high"),
            legend=vacuous,
        ),
    )
    settings = {
        "measures": [str(measure) for measure in measures],
        "depths": list(at),
        "show": None if show is None else [judged.runs[r] for r in shown],
        "pool_depth": pool_depth,
        "ratio": ratios[0] if len(ratios) == 1 else ratios or None,
        "seed": seed if ratio is not None else None,
        **({"bounds": VACUOUS} if vacuous else {}),
    }
    return TableResult.of(*tables, settings=settings, display=tables[2:] if show is None else tables[1:2])


@dataclass(frozen=True, eq=False)
class ListBounds:
    """Bounds of every list at every depth, runs x topics x depths."""

    lower: Floats
    upper: Floats

    def of_runs(self, runs: Sequence[int]) -> ListBounds:
        """The bounds of some of the runs."""
        return ListBounds(self.lower[list(runs)], self.upper[list(runs)])


def list_bounds(
    judged: Judged, measure: WeightedPrecision, depths: Sequence[int], max_grade: int | None = None
) -> ListBounds:
    """The bounds of one measure; ``max_grade`` is the best grade a document can have (that of the judgments).

    The residual of M = sum of gain x weight is the largest gain times all weight that lies on no judged document; the
    lower bound gives these documents the smallest one, which is 0 unless gains are negative.
    """
    shape = (len(judged.runs), len(judged.topics), len(depths))
    lower, upper = measure.open_range(judged.lists, depths, max_grade=max_grade)
    return ListBounds(lower.reshape(shape), upper.reshape(shape))


def _checked_depths(judged: Judged, depths: Sequence[int] | None) -> tuple[int, ...]:
    if depths is None:
        longest = int(judged.length.max(initial=1))
        return (*(depth for depth in DEPTHS if depth < longest), longest)
    if not depths or any(depth < 1 for depth in depths):
        raise SettingsError(f"depths {list(depths)}", hint="give ranks from 1 on, such as 1,10,100")
    return tuple(sorted(set(depths)))


def _checked_runs(judged: Judged, show: str | Sequence[str] | None) -> tuple[int, ...]:
    """The places of the runs that are looked at."""
    names = judged.runs if show is None else (show,) if isinstance(show, str) else tuple(show)
    for name in names:
        if name not in judged.runs:
            hint = suggest_names(name, judged.runs) or f"there are {len(judged.runs)} runs"
            raise InputError(f"no run is called {name!r}", hint=hint)
    if not names:
        raise SettingsError("no run is shown", hint="name one, or leave show out")
    return tuple(judged.runs.index(name) for name in dict.fromkeys(names))


def _checked_measure(measure: Measure) -> WeightedPrecision:
    if not isinstance(measure, WeightedPrecision) or isinstance(measure, Normalised):
        raise MeasureError(
            f"{measure} has no bounds: it is not a sum of gains with fixed weights",
            hint="use RBP, P@k or DCG@k",
        )
    if measure.settings.get("judged_only"):
        raise MeasureError(
            f"{measure} has no bounds: it does not see unjudged documents",
            hint=f"write {measure(judged_only=False)}",
        )
    if isinf(measure.total_weight()):
        raise MeasureError(
            f"{measure} has no upper bound without a cutoff", hint=f"write {measure}@100, for example"
        )
    return measure


def _p(measure: Measure) -> float | None:
    return float(measure.settings["p"]) if "p" in measure.settings else None


def _rows(
    judged: Judged,
    shown: Sequence[int],
    measure: Measure,
    label: str,
    depths: Sequence[int],
    both: ListBounds,
) -> list[tuple[Cell, ...]]:
    name, p = str(measure), _p(measure)
    lower, upper = both.lower.tolist(), both.upper.tolist()
    return [
        (judged.runs[run], topic, p, depth, lower[r][t][d], upper[r][t][d], name, label)
        for r, run in enumerate(shown)
        for t, topic in enumerate(judged.topics)
        for d, depth in enumerate(depths)
    ]


def _run_rows(
    judged: Judged,
    shown: Sequence[int],
    measure: Measure,
    label: str,
    depths: Sequence[int],
    both: ListBounds,
) -> list[tuple[Cell, ...]]:
    lower, upper = both.lower.mean(axis=1).tolist(), both.upper.mean(axis=1).tolist()
    return [
        (judged.runs[run], str(measure), _p(measure), label, depth, lower[r][d], upper[r][d])
        for r, run in enumerate(shown)
        for d, depth in enumerate(depths)
    ]


def _mean_rows(
    measure: WeightedPrecision, label: str, depths: Sequence[int], both: ListBounds, max_grade: int
) -> list[tuple[Cell, ...]]:
    reach = [gain * measure.total_weight() for gain in measure.extreme_gains(max_grade)]
    bands = [_band(bound.mean(axis=1), reach) for bound in (both.lower, both.upper)]
    return [
        (str(measure), _p(measure), label, depth, *(float(part[d]) for band in bands for part in band))
        for d, depth in enumerate(depths)
    ]


def _band(values: Floats, reach: Sequence[float]) -> tuple[Floats, Floats, Floats]:
    """Mean over the first axis with its 95 % confidence interval by Student's t (undefined for one run).

    The interval ends where the measure does: no mean of RBP lies above 1.
    """
    n = len(values)
    mean = values.mean(axis=0)
    if n < 2:
        return mean, np.full_like(mean, nan), np.full_like(mean, nan)
    from scipy.special import stdtrit

    width = float(stdtrit(n - 1, 0.975)) * values.std(axis=0, ddof=1) / sqrt(n)
    least, most = reach
    return mean, np.maximum(mean - width, least), np.minimum(mean + width, most)
