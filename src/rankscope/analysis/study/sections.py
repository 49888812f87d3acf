"""The experiments on one collection, each as tables: what a study asks, and of which runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.analysis.bounds import Bounds
from rankscope.analysis.correlation import correlate
from rankscope.analysis.effort import Effort
from rankscope.analysis.features import features_of
from rankscope.analysis.pools import pools
from rankscope.analysis.power import power
from rankscope.analysis.scale_effect import LENGTH, scale_effect_of
from rankscope.analysis.stats.matrices import best_judged
from rankscope.analysis.study.parts import Parts
from rankscope.choices import EXPERIMENTS
from rankscope.engines import using
from rankscope.judging import Judged
from rankscope.measures import REGISTRY, Measure
from rankscope.progress import progress
from rankscope.scores import Scores, score
from rankscope.tables import Cell, Table

__all__ = ["EXPERIMENTS", "Experiments"]

_PAIRS = ("correlations", "pools", "power", "scales")
"""Experiments that compare runs, and so need two of them."""


class Experiments:
    """All experiments on one collection.

    ``settings`` are those of the study: ``top_of`` says which experiments look at the best ``top`` of the runs only,
    as Ferro and others (2016) do for correlation, pools and power, but not for archetypes and effort/gain plots.
    """

    def __init__(
        self,
        judge: Callable[[], Judged],
        measures: Sequence[Measure],
        settings: Mapping[str, Any],
        name: str,
        jobs: int | None = None,
    ) -> None:
        self._judge = judge
        self.measures = tuple(measures)
        self.settings = settings
        self.name = name
        self.jobs = jobs

    @cached_property
    def judged(self) -> Judged:
        """The lists, read when the first experiment looks at them: none may, if all were made before."""
        return self._judge()

    def tables(self, parts: Parts) -> dict[str, Table]:
        """Every table by its name, and ``left_out`` if some experiment is not possible; parts made before are taken."""
        sections: dict[str, Callable[[], dict[str, Table]]] = {
            "collection": self._collection,
            "correlations": self._correlations,
            "effort": self._effort,
            "pools": self._pools,
            "power": self._power,
            "scales": self._scales,
            "bounds": self._bounds,
        }
        tables: dict[str, Table] = {}
        left_out: list[tuple[Cell, ...]] = []
        for experiment in progress(list(sections), len(sections), f"study of {self.name}"):
            found = parts.of(self.name, experiment, lambda name=experiment: self._made(name, sections[name]))  # type: ignore[misc]
            if isinstance(found, str):
                left_out.append((experiment, found))
            else:
                tables |= found
        if left_out:
            tables["left_out"] = Table("left_out", ("experiment", "reason"), left_out)
        return tables

    def _made(self, experiment: str, section: Callable[[], dict[str, Table]]) -> dict[str, Table] | str:
        """The tables of an experiment, or why it is not possible."""
        if reason := self._impossible(experiment):
            return reason
        return {name: replace(table, name=name) for name, table in section().items()}

    def _impossible(self, experiment: str) -> str:
        if experiment not in _PAIRS:
            return ""
        looked_at = self._best if experiment == "correlations" else self._of(experiment)
        if len(looked_at.runs) < 2:
            return f"{len(looked_at.runs)} of {len(self.judged.runs)} runs cannot be compared"
        return "" if len(self.judged.topics) > 1 else "one topic is too few"

    @cached_property
    def _best(self) -> Judged:
        return best_judged(self.judged, self.settings["top"], "AP", self.settings["missing"])

    def _of(self, experiment: str) -> Judged:
        """The runs that an experiment looks at."""
        return self._best if experiment in self.settings["top_of"] else self.judged

    def _scores(self, judged: Judged) -> Scores:
        return score(judged, self.measures, missing=self.settings["missing"])

    def _collection(self) -> dict[str, Table]:
        return {
            "collection": features_of(self.judged, self.name)["features"],
            "means": self._scores(self.judged).wide(),
        }

    def _correlations(self) -> dict[str, Table]:
        scores = self._scores(self.judged)
        everything = correlate(scores)
        # the best runs are what papers look at: both tables, whatever the other experiments do
        best = correlate(scores, top=self.settings["top"])
        focus = self.settings["focus"]
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
        found = Effort.from_judged(
            self._of("effort"), gains, crossing=twist.settings["crossing"], cutoff=twist.cutoff,
            missing=self.settings["missing"],
        )  # fmt: skip
        return {
            "archetypes": found.summary,
            "archetype_shares": _archetype_shares(found, self.name),
            "quadrants": found.quadrants,
            "agreement": found.agreement,
            "effort_points": _points(found),
        }

    def _pools(self) -> dict[str, Table]:
        settings, judged = self.settings, self._of("pools")
        scores = self._scores(judged)
        with using(None, self.jobs):
            sampled = pools(
                scores, ratios=settings["ratios"], sampling=settings["sampling"], repeats=settings["repeats"],
                seed=settings["seed"],
            )  # fmt: skip
            shallow = pools(scores, ratios=(), pool_depth=settings["depth"])
        return {
            "robustness": sampled["robustness"],
            "robustness_curve": _by_ratio(sampled["curve"]),
            "depth_pools": shallow["robustness"],
            "depth_pool_means": shallow["means"],
        }

    def _power(self) -> dict[str, Table]:
        settings, scores = self.settings, self._scores(self._of("power"))
        with using(None, self.jobs):
            bootstrap = power(
                scores, alpha=settings["alpha"], replicates=settings["replicates"], seed=settings["seed"]
            )
            classic = power(scores, ("wilcoxon", "t"), alpha=(0.05, 0.01))
        return {
            "power": bootstrap["power"],
            "asl": bootstrap["asl"],
            "significant_pairs": classic.significant_pairs,
        }

    def _scales(self) -> dict[str, Table]:
        settings = self.settings
        options = {"alpha": settings["alpha"], "missing": settings["missing"], "jobs": self.jobs}
        length = settings.get("intervals", LENGTH)
        found = scale_effect_of(self._of("scales"), self.measures, length=length, **options)
        return {"scale_effect": found["scale_effect"]}

    def _bounds(self) -> dict[str, Table]:
        settings = self.settings
        rbp = [REGISTRY["RBP"](p=p) for p in settings["p"]]
        ratio = min(settings["ratios"], default=10)
        means = Bounds.from_judged(
            self._of("bounds"), rbp, pool_depth=settings["depth"], ratios=ratio, seed=settings["seed"]
        ).means
        return {
            "bounds": replace(means, rows=[row for row in means if row.pool == "full"]),
            "bounds_pools": replace(means, rows=[row for row in means if row.pool != "full"]),
        }


def _by_ratio(curve: Table) -> Table:
    """Measures down, ratios across, Kendall's tau inside: the numbers of the figure."""
    tau = {(r["measure"], r["pool"]): r["tau"] for r in curve.records()}
    measures, pools = (list(dict.fromkeys(curve.column(name))) for name in ("measure", "pool"))
    rows = [(measure, *(tau[measure, pool] for pool in pools)) for measure in measures]
    return Table("robustness_curve", ("measure", *(f"{pool}%" for pool in pools)), rows)


def _archetype_shares(found: Effort, name: str) -> Table:
    """One row, as in Table 2 of Ferro and others (2016): ups-and-downs among the excellent lists, in percent."""
    share = {str(row["archetype"]): float(str(row["share"])) for row in found.summary.records()}
    total = sum(int(str(count)) for count in found.summary.column("count"))
    excellent = share["excellent A"] + share["excellent B"] + share["ups-and-downs"]
    values = [
        share["ideal"],
        share["worst"],
        share["typical A"],
        share["typical B"],
        excellent,
        share["full scale"],
    ]
    columns = ("collection", "total", "ideal", "worst", "typical A", "typical B", "excellent", "full scale")
    row: tuple[Cell, ...] = (name, total, *(100 * value for value in values))
    return Table("archetype_shares", columns, [row], digits=2, caption="Archetypes, percent of lists")


def _points(found: Effort) -> Table:
    """Twist and gain of every list: the points of the effort/gain planes."""
    names = tuple(str(measure) for measure in found.gains)
    arrays = np.array([found.twist, *found.gain])[:, found.counted]
    rows: list[tuple[Cell, ...]] = [
        (*found.labels(index), *values)
        for index, values in zip(found.counted, arrays.T.tolist(), strict=True)
    ]
    return Table("effort_points", ("run", "topic", "Twist", *names), rows)
