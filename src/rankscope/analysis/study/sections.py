"""The experiments of a study on one collection, as tables."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from rankscope.analysis.bounds import Bounds
from rankscope.analysis.correlation import correlate
from rankscope.analysis.effort import Effort
from rankscope.analysis.pools import pools
from rankscope.analysis.power import power
from rankscope.analysis.scale_effect import scale_effect
from rankscope.analysis.stats.matrices import best_judged
from rankscope.analysis.study.checkpoints import Checkpoints
from rankscope.analysis.study.settings import StudySettings
from rankscope.choices import INTERVAL_LENGTH
from rankscope.errors import InputError
from rankscope.judging import Judged
from rankscope.judging.description import describe
from rankscope.measures import REGISTRY
from rankscope.progress import progress
from rankscope.scores import Collection, Scores, score
from rankscope.tables import Cell, Table

_SECTIONS = ("collection", "correlations", "effort", "pools", "power", "scales", "bounds")
"""Experiments in their order; each is a method."""

_PAIRS = ("correlations", "pools", "power", "scales")
"""Experiments that compare runs, and so need two of them."""


class Experiments:
    """Experiments on one collection.

    ``settings.limited_experiments`` use only the best runs, as Ferro et al. (2016) do for pools and power, but not for
    archetypes and effort/gain plots. A collection may have a single run only if it is one of ``several``.
    """

    def __init__(self, collection: Collection, settings: StudySettings, name: str, several: bool) -> None:
        # Ranges belong to the table of means only: experiments need one value per topic.
        ranged = collection.unjudged == "bounds"
        self.collection = collection.with_options(unjudged="nonrelevant") if ranged else collection
        self.settings, self.name, self.several = settings, name, several
        self.measures, self.missing = settings.selected_measures, collection.missing

    @cached_property
    def judged(self) -> Judged:
        """Judged rankings; read on first use, so that a study of which all parts are kept reads nothing."""
        judged = self.collection.judged
        n_runs, n_topics = len(judged.runs), len(judged.topics)
        if not self.several and (n_runs < 2 or n_topics < 2):
            problem = f"a study needs at least two runs and two topics, here are {n_runs} and {n_topics}"
            raise InputError(problem, hint="add run files")
        return judged

    def tables(self, checkpoints: Checkpoints) -> dict[str, Table]:
        """Return all tables by name, with ``left_out`` if an experiment is impossible; reuse finished experiments."""
        tables: dict[str, Table] = {}
        left_out: list[tuple[Cell, ...]] = []
        for experiment in progress(_SECTIONS, len(_SECTIONS), f"study of {self.name}"):
            outcome = checkpoints.load_or_run(self.name, experiment, partial(self._run, experiment))
            if isinstance(outcome, str):
                left_out.append((experiment, outcome))
            else:
                tables |= outcome
        if left_out:
            tables["left_out"] = Table("left_out", ("experiment", "reason"), left_out)
        return tables

    def _run(self, experiment: str) -> dict[str, Table] | str:
        """Return the tables of an experiment, or the reason why it is impossible."""
        if experiment in _PAIRS:
            judged = self._best if experiment == "correlations" else self._judged_for(experiment)
            if len(judged.runs) < 2:
                return f"{len(judged.runs)} of {len(self.judged.runs)} runs cannot be compared"
            if len(judged.topics) < 2:
                return "one topic is too few"
        section: Callable[[], dict[str, Table]] = getattr(self, f"_{experiment}")
        return {name: replace(table, name=name) for name, table in section().items()}

    @cached_property
    def _best(self) -> Judged:
        return best_judged(self.judged, self.settings.top, "AP", self.missing)

    def _judged_for(self, experiment: str) -> Judged:
        """Return the rankings of the runs that an experiment uses."""
        return self._best if experiment in self.settings.limited_experiments else self.judged

    def _scores(self, judged: Judged) -> Scores:
        return score(judged, self.measures, missing=self.missing)

    def _collection(self) -> dict[str, Table]:
        features = describe(self.judged, self.name).features
        return {"collection": features, "means": self._scores(self.judged).wide()}

    def _correlations(self) -> dict[str, Table]:
        scores = self._scores(self.judged)
        everything = correlate(scores)
        # Papers report the correlation over the best runs, so both tables are there whatever top_of says.
        best = correlate(scores, top=self.settings.top)
        focus = str(self.settings.focus_measure)
        others = [str(m) for m in self.measures if str(m) != focus]
        tau = {frozenset((row.a, row.b)): row.value for row in best.correlations if row.method == "kendall"}

        def against(measure: str, columns: Sequence[str], title: str) -> Table:
            row: tuple[Cell, ...] = (
                f"{measure} ({self.name})",
                *(tau[frozenset((measure, other))] for other in columns),
            )
            return Table(title, ("measure", *columns), [row])

        return {
            "correlations": everything["correlations"],
            "correlations_top": best["correlations"],
            "correlation_matrix": best.matrix(),
            "gain_correlations": against(others[0], others[1:], "gain_correlations"),
            "focus_correlations": against(focus, others, "focus_correlations"),
        }

    def _effort(self) -> dict[str, Table]:
        gains = [m for m in self.measures if m.family != "effort"]
        twist = next((m for m in self.measures if m.name == "Twist"), REGISTRY["Twist"])
        effort = Effort.from_judged(
            self._judged_for("effort"), gains, crossing=twist.settings["crossing"], cutoff=twist.cutoff,
            missing=self.missing,
        )  # fmt: skip
        return {
            "archetypes": effort.summary,
            "archetype_shares": _archetype_shares(effort, self.name),
            "quadrants": effort.quadrants,
            "agreement": effort.agreement,
            "effort_points": _points(effort),
        }

    def _pools(self) -> dict[str, Table]:
        settings, scores = self.settings, self._scores(self._judged_for("pools"))
        sampled = pools(
            scores, ratios=settings.ratios, sampling=settings.sampling, repeats=settings.repeats, seed=settings.seed
        )  # fmt: skip
        shallow = pools(scores, ratios=(), pool_depth=settings.pool_depth)
        return {
            "robustness": sampled["robustness"],
            "robustness_curve": _pivot_by_ratio(sampled["curve"]),
            "depth_pools": shallow["robustness"],
            "depth_pool_means": shallow["means"],
        }

    def _power(self) -> dict[str, Table]:
        settings, scores = self.settings, self._scores(self._judged_for("power"))
        bootstrap = power(scores, alpha=settings.alpha, replicates=settings.replicates, seed=settings.seed)
        classic = power(scores, ("wilcoxon", "t"), alpha=(0.05, 0.01))
        return {
            "power": bootstrap["power"],
            "asl": bootstrap["asl"],
            "significant_pairs": classic.significant_pairs,
        }

    def _scales(self) -> dict[str, Table]:
        length = INTERVAL_LENGTH if self.settings.intervals is None else self.settings.intervals
        scores = score(self._judged_for("scales"), self.measures, missing=self.missing)
        return {"scale_effect": scale_effect(scores, length=length, alpha=self.settings.alpha).scale_effect}

    def _bounds(self) -> dict[str, Table]:
        settings = self.settings
        rbp = [REGISTRY["RBP"](p=p) for p in settings.p]
        ratio = min(settings.ratios, default=10)
        means = Bounds.from_judged(
            self._judged_for("bounds"), rbp, pool_depth=settings.pool_depth, ratios=ratio, seed=settings.seed
        ).means
        return {
            "bounds": replace(means, rows=[row for row in means if row.pool == "full"]),
            "bounds_pools": replace(means, rows=[row for row in means if row.pool != "full"]),
        }


def _pivot_by_ratio(curve: Table) -> Table:
    """Return Kendall's tau with a row per measure and a column per ratio."""
    tau = {(r["measure"], r["pool"]): r["tau"] for r in curve.records()}
    measures, pools = (list(dict.fromkeys(curve.column(name))) for name in ("measure", "pool"))
    rows = [(measure, *(tau[measure, pool] for pool in pools)) for measure in measures]
    return Table("robustness_curve", ("measure", *(f"{pool}%" for pool in pools)), rows)


def _archetype_shares(effort: Effort, name: str) -> Table:
    """Return one row as in Table 2 of Ferro et al. (2016), in percent; ups-and-downs count as excellent."""
    share = {str(row["archetype"]): float(str(row["share"])) for row in effort.summary.records()}
    total = sum(int(str(count)) for count in effort.summary.column("count"))
    share["excellent"] = share["excellent A"] + share["excellent B"] + share["ups-and-downs"]
    kinds = ("ideal", "worst", "typical A", "typical B", "excellent", "full scale")
    row: tuple[Cell, ...] = (name, total, *(100 * share[kind] for kind in kinds))
    caption = "Archetypes, percent of lists"
    return Table("archetype_shares", ("collection", "total", *kinds), [row], digits=2, caption=caption)


def _points(effort: Effort) -> Table:
    """Return Twist and gain of every ranking: the points of the effort/gain planes."""
    names = tuple(str(measure) for measure in effort.gains)
    arrays = np.array([effort.twist, *effort.gain])[:, effort.counted]
    rows: list[tuple[Cell, ...]] = [
        (*effort.labels(index), *values)
        for index, values in zip(effort.counted, arrays.T.tolist(), strict=True)
    ]
    return Table("effort_points", ("run", "topic", "Twist", *names), rows)
