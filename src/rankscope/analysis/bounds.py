"""Lower and upper bounds of weighted-precision measures by depth: how much could unjudged documents still change?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isinf, nan, sqrt
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.choices import PERSISTENCE
from rankscope.columns import CategoricalColumn, Columns, ConcatenatedRows, Rows, constant_column
from rankscope.declaration import MeasureName, Option, RunName, Seed, analysis
from rankscope.errors import InputError, MeasureError, SettingsError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import MeasuredRunRow, RankingRow, Row, RowTable, column

if TYPE_CHECKING:
    from rankscope.arrays import Floats
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.measures.weighted import WeightedPrecision
    from rankscope.scores import Collection
    from rankscope.tables import Table

_DEPTHS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
_P = "persistence of RBP; empty for other measures"


class ListBound(RankingRow):
    """Bounds of one ranking."""

    p: float | None = column(_P)
    depth: int = column("number of ranks seen")
    lower: float = column("score if nothing relevant follows, and nothing unjudged is relevant")
    upper: float = column("score if everything that follows, and everything unjudged, is relevant")
    measure: str = column()
    pool: str = column()


class RunBound(MeasuredRunRow):
    """Bounds of the mean of a run."""

    p: float | None = column(_P)
    pool: str = column()
    depth: int = column()
    lower: float = column("mean over the topics of the lower bound")
    upper: float = column("mean over the topics of the upper bound")


class MeanBound(Row):
    """Bounds of the mean over runs, with their 95 % confidence bands."""

    measure: str = column()
    p: float | None = column(_P)
    pool: str = column()
    depth: int = column()
    lower: float = column("mean over the runs of the lower bound")
    lower_low: float = column("lower end of the 95 % confidence band of the mean lower bound", spare=True)
    lower_high: float = column("upper end of the 95 % confidence band of the mean lower bound", spare=True)
    upper: float = column("mean over the runs of the upper bound")
    upper_low: float = column("lower end of the 95 % confidence band of the mean upper bound", spare=True)
    upper_high: float = column("upper end of the 95 % confidence band of the mean upper bound", spare=True)


class Bounds(TypedResult):
    """Lower and upper bounds by depth."""

    bounds: RowTable[ListBound] = table("every ranking")
    runs: RowTable[RunBound] = table("the mean of every run", main=False)
    means: RowTable[MeanBound] = table("means over runs, with confidence bands", main=False)

    @property
    def display(self) -> Sequence[Table]:
        """Means over runs, or the selected runs."""
        return (self.means if self.settings["show"] is None else self.runs,)

    @classmethod
    def from_judged(
        cls,
        judged: Judged,
        measures: Sequence[Measure],
        *,
        depths: Sequence[int] | None = None,
        show: str | Sequence[str] | None = None,
        pool_depth: int | None = None,
        ratios: float | Sequence[float] | None = None,
        seed: int = 1,
        missing: str = "zero",
        settings: Mapping[str, Any] | None = None,
    ) -> Bounds:
        """Return the bounds of rankings that are already judged; parameters as for :func:`bounds`."""
        from rankscope.judging.shares import VACUOUS, has_nonrelevant

        depths = _validate_depths(judged, depths)
        runs = _run_indices(judged, show)
        weighted = [_validate_measure(measure) for measure in measures]
        sampled = () if ratios is None else (ratios,) if isinstance(ratios, int | float) else tuple(ratios)
        max_grade = judged.pool.max_grade
        is_kept = judged.grid(judged.present)[runs] if missing == "skip" else np.ones(1, np.bool_)
        names = [judged.runs[r] for r in runs]
        parts: list[Rows] = []  # Columns: there may be a million rankings.
        run_rows: list[RunBound] = []
        mean_rows: list[MeanBound] = []
        for pool, reduced in _pools(judged, pool_depth, sampled, seed):
            for measure in weighted:
                # The residual is the largest gain times the weight of all ranks without a judged document; the
                # lower bound gives these ranks the smallest gain, which is 0 unless gains are negative.
                ends = measure.open_range(reduced.lists, depths, max_grade=max_grade)
                shape = (len(judged.runs), len(judged.topics), len(depths))
                bounds_of_lists = np.array([end.reshape(shape)[runs] for end in ends])
                name, p = str(measure), measure.settings.get("p")
                is_present = np.broadcast_to(is_kept, bounds_of_lists.shape[1:3])
                with np.errstate(invalid="ignore"):  # a run may have no topic at all
                    total = bounds_of_lists.sum(axis=2, where=is_present[None, :, :, None])
                    means = total / is_present.sum(axis=1)[None, :, None]
                r, t = np.nonzero(is_present)
                ranking = (names, r), (judged.topics, t)
                p_column, *constants = (constant_column(x, len(r) * len(depths)) for x in (p, name, pool))
                parts.append(
                    Columns([
                        *(CategoricalColumn(words, np.repeat(codes, len(depths))) for words, codes in ranking),
                        p_column, np.tile(depths, len(r)), *bounds_of_lists[:, r, t].reshape(2, -1), *constants,
                    ])
                )  # fmt: skip
                run_rows += [
                    RunBound(judged.runs[run], name, p, pool, depth, *ends)
                    for r, run in enumerate(runs)
                    for depth, ends in zip(depths, means[:, r].T.tolist(), strict=True)
                ]
                limits = [gain * measure.total_weight() for gain in measure.extreme_gains(max_grade)]
                bands = np.concatenate([_confidence_band(end, limits) for end in means])
                mean_rows += [
                    MeanBound(name, p, pool, depth, *cells)
                    for depth, cells in zip(depths, bands.T.tolist(), strict=True)
                ]
        vacuous = "" if has_nonrelevant(judged) else f"upper bounds are {VACUOUS}"
        rankings = ConcatenatedRows(parts or [Columns([[] for _ in ListBound.specs])])
        captions = ("Bounds of the means of runs by depth", f"Bounds by depth, means over {len(runs)} runs")
        return cls(
            bounds=ListBound.table("bounds", rankings),
            runs=RunBound.table("runs", run_rows, caption=captions[0], legend=vacuous),
            means=MeanBound.table("means", mean_rows, caption=captions[1], legend=vacuous),
            settings={
                **(settings or {}), "measures": [str(measure) for measure in measures], "depths": list(depths),
                "show": None if show is None else names, "pool_depth": pool_depth,
                "ratio": sampled[0] if len(sampled) == 1 else list(sampled) or None,
                "seed": seed if ratios is not None else None, **({"missing": missing} if missing != "zero" else {}),
                **({"bounds": VACUOUS} if vacuous else {}),
            },
        )  # fmt: skip


@analysis(figures={"curves": "bounds.plot_bounds"}, uses=("order", "missing"))
def bounds(
    collection: Collection,
    p: Annotated[float | Sequence[float], Option("P,...")] = PERSISTENCE,
    *,
    depths: Annotated[Sequence[int] | None, Option("D,...")] = None,
    measures: Annotated[MeasureName | Sequence[MeasureName], Option("M", ("-m", "--measure"))] = (),
    show: RunName | Sequence[RunName] | None = None,
    pool_depth: Annotated[int | None, Option("K")] = None,
    ratios: Annotated[float | Sequence[float] | None, Option("P,...")] = None,
    seed: Seed = 1,
) -> Bounds:
    """Bound RBP by the depth to which rankings are evaluated: how much could unjudged documents still change?

    With the first d ranks known, the lower bound takes every unjudged document as non-relevant; the upper bound takes
    all of them, and everything below rank d, as relevant:

        lower = (1-p) sum over relevant i <= d of p^(i-1)
        upper = lower + residual,   residual = (1-p) sum over unjudged i <= d of p^(i-1) + p^d

    Ranks beyond the end of a ranking count as unknown.

    Parameters
    ----------
    collection
        Judgments and runs.
    p
        Persistence of RBP.
    depths
        Ranks down to which rankings are known (default: 1,2,3,5,10,20,... to the longest ranking).
    measures
        Further weighted-precision measures: P@k, DCG@k, graded RBP; several in quotes or separated by commas.
    show
        Run whose bounds are shown, while all runs form the pool; repeatable (up to four have a line each).
    pool_depth
        Depth of a pool under which the bounds are repeated.
    ratios
        Percent of the judgments in samples under which the bounds are repeated.
    seed
        Seed of the random samples.

    Returns
    -------
    Bounds
        Tables ``bounds``, ``runs`` and ``means``.

    References
    ----------
    Moffat and Zobel 2008.

    Commands
    --------
    rankscope bounds qrels.txt bm25.run
    rankscope bounds qrels.txt runs/ --p 0.5,0.8,0.95 --depths 1,10,100 --ratios 10
    rankscope bounds qrels.txt runs/ --show bm25 --show dense --pool-depth 10 --plot bounds.pdf
    rankscope bounds qrels.txt runs/ --p 0.8 -m "P@10 DCG@20" -f json -o bounds.json

    Examples
    --------
    >>> import rankscope as rs
    >>> collection = rs.Collection({"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "x": 2, "b": 1}})
    >>> [(row.lower, row.upper) for row in rs.bounds(collection, p=0.5, depths=[1, 2, 3]).bounds]
    [(0.5, 1.0), (0.5, 1.0), (0.5, 0.875)]
    """
    from rankscope.measures import REGISTRY, parse_many

    persistence = (p,) if isinstance(p, int | float) else tuple(p)
    all_measures = [*(REGISTRY["RBP"](p=float(value)) for value in persistence), *parse_many(measures)]
    prepared = collection.for_measures(all_measures)
    return Bounds.from_judged(
        prepared.judged, all_measures, depths=depths, show=show, pool_depth=pool_depth, ratios=ratios, seed=seed,
        missing=collection.missing, settings={**prepared.settings, "p": list(persistence)},
    )  # fmt: skip


def _pools(
    judged: Judged, pool_depth: int | None, ratios: Sequence[float], seed: int
) -> list[tuple[str, Judged]]:
    """Return the rankings under all judgments and under each smaller pool, by the name of the pool."""
    pools = [("full", judged)]
    if pool_depth is not None:
        pools.append((f"depth {pool_depth}", judged.with_grades(stats.depth_pool(judged, pool_depth))))
    if ratios:
        sampler = stats.Sampler(judged.pool, "binary", stats.streams(seed, 1)[0])
        pools += [(f"{ratio:g}%", judged.with_grades(sampler.sample(ratio))) for ratio in ratios]
    return pools


def _validate_depths(judged: Judged, depths: Sequence[int] | None) -> tuple[int, ...]:
    if depths is None:
        longest = int(judged.length.max(initial=1))
        return (*(depth for depth in _DEPTHS if depth < longest), longest)
    if not depths or any(depth < 1 for depth in depths):
        raise SettingsError(f"depths {list(depths)}", hint="give ranks from 1 on, such as 1,10,100")
    return tuple(sorted(set(depths)))


def _run_indices(judged: Judged, show: str | Sequence[str] | None) -> list[int]:
    """Return the indices of the runs to show."""
    names = judged.runs if show is None else (show,) if isinstance(show, str) else tuple(show)
    for name in names:
        hint = f"there are {len(judged.runs)} runs"
        check_name(name, judged.runs, f"no run is called {name!r}", hint=hint, error=InputError)
    if not names:
        raise SettingsError("no run is shown", hint="name one, or leave show out")
    return [judged.runs.index(name) for name in dict.fromkeys(names)]


def _validate_measure(measure: Measure) -> WeightedPrecision:
    from rankscope.measures.weighted import Normalised, WeightedPrecision

    if not isinstance(measure, WeightedPrecision) or isinstance(measure, Normalised):
        hint = "use RBP, P@k or DCG@k"
        raise MeasureError(f"{measure} has no bounds: it is not a sum of gains with fixed weights", hint=hint)
    if measure.settings.get("judged_only"):
        hint = f"write {measure(judged_only=False)}"
        raise MeasureError(f"{measure} has no bounds: it does not see unjudged documents", hint=hint)
    if isinf(measure.total_weight()):
        hint = f"write {measure}@100, for example"
        raise MeasureError(f"{measure} has no upper bound without a cutoff", hint=hint)
    return measure


def _confidence_band(values: Floats, limits: Sequence[float]) -> Floats:
    """Return mean, lower and upper end of its 95 % interval by Student's t, 3 x depths; NaN for one run.

    The interval is clipped to the range of the measure: no mean of RBP exceeds 1.
    """
    n_runs = len(values)
    mean = values.mean(axis=0)
    if n_runs < 2:
        return np.array([mean, np.full_like(mean, nan), np.full_like(mean, nan)])
    from scipy.special import stdtrit

    width = float(stdtrit(n_runs - 1, 0.975)) * values.std(axis=0, ddof=1) / sqrt(n_runs)
    return np.array([mean, np.maximum(mean - width, limits[0]), np.minimum(mean + width, limits[1])])
