"""Effort of all runs on all topics: archetypes, the 2012 indicators, and the effort/gain plane.

In the plane (:mod:`rankscope.analysis.plane`) effort and gain agree on the diagonal; *high-high* are the four cells of
lists that look good by gain and cost high or huge effort.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.analysis.curve import Curve, curve_of
from rankscope.analysis.equal_gain import equal_gain
from rankscope.analysis.plane import EFFORTS, GAINS, Planes, chosen_word
from rankscope.analysis.quadrant_tests import quadrant_significance
from rankscope.analysis.stats.matrices import best_judged, chosen_by, top_settings
from rankscope.choices import DEFAULT_GAINS
from rankscope.judging import Judged, judge
from rankscope.measures import REGISTRY, Measure, needs_aspects, parse_many
from rankscope.measures.archetypes import ARCHETYPES, find_archetypes
from rankscope.measures.effort_curves import CROSSINGS, get_curves
from rankscope.read import open_collection
from rankscope.read.groups import run_groups
from rankscope.result import Result, TableResult
from rankscope.scores import MISSING
from rankscope.tables import Cell, Table, Tables

__all__ = ["EFFORTS", "GAINS", "Effort", "effort", "effort_of", "summary_of"]

INDICATORS = ("Rho2012", "b_ratio", "CRP_min", "CRP_N")


@dataclass(frozen=True, eq=False, repr=False)
class Effort(Planes, Result):
    """Archetypes, indicators and effort/gain planes of every list."""

    def _about(self) -> str:
        return f"{len(self.judged.runs)} runs x {len(self.judged.topics)} topics"

    @cached_property
    def archetypes(self) -> Table:
        """The archetype of every list."""
        rows = [(*self.labels(i), str(self.archetype[i])) for i in self.counted]
        return Table("archetypes", ("run", "topic", "archetype"), rows, caption="Archetypes")

    @cached_property
    def summary(self) -> Table:
        """How many lists are of each archetype."""
        return summary_of(self.archetype)

    @cached_property
    def quadrants(self) -> Table:
        """All 16 cells of the effort/gain plane of each gain measure."""
        rows: list[tuple[Cell, ...]] = []
        for measure in self.gains:
            plane = self.plane(measure)
            total = max(1, int(plane.sum()))
            for g, gain in enumerate(GAINS):
                for e, cost in enumerate(EFFORTS):
                    rows.append((str(measure), gain, cost, int(plane[g, e]), float(plane[g, e] / total)))
        columns = ("measure", "gain", "effort", "count", "share")
        return Table("quadrants", columns, rows, caption="Effort/gain quadrants")

    @cached_property
    def agreement(self) -> Table:
        """The shares on the diagonal (effort and gain agree) and in the high-high cells (gain at a high price).

        ``coincide`` says which quartiles of the gain are equal, if any: the rows between them are empty.
        """
        rows: list[tuple[Cell, ...]] = []
        for measure in self.gains:
            plane = self.plane(measure)
            total = max(1, int(plane.sum()))
            high = int(plane[2:, :2].sum())
            same = int(np.trace(plane))
            borders = self.quartiles(measure)
            shown = borders or [float("nan")] * 3
            rows.append(
                (str(measure), same, same / total, high, high / total, *shown, _coinciding(borders) or None)
            )
        columns = (
            "measure", "diagonal", "diagonal_share", "high_high", "high_high_share",
            "lower_quartile", "median", "upper_quartile", "coincide",
        )  # fmt: skip
        return Table(
            "agreement", columns, rows, caption="Where effort and gain agree, and gain at a high price"
        )

    def planes(self) -> list[Table]:
        """One table per gain measure as people read it: huge gain on top, huge effort at the left, in percent."""
        found = []
        for measure in self.gains:
            plane = self.plane(measure)
            shares = 100 * plane / max(1, int(plane.sum()))
            rows: list[tuple[Cell, ...]] = [(f"{GAINS[g]} gain", *shares[g].tolist()) for g in (3, 2, 1, 0)]
            columns = ("", *(f"{cost} effort" for cost in EFFORTS))
            caption = f"Effort/gain by {measure}, percent of {int(plane.sum())} lists"
            if alike := _coinciding(self.quartiles(measure)):
                caption += f" ({alike}: no list lies between)"
            found.append(Table(f"plane {measure}", columns, rows, digits=1, caption=caption))
        return found

    def points(self, measure: str | Measure, gain: str = "huge", effort: str = "huge") -> Table:
        """The lists in one cell of the plane of a gain measure, the best gain first.

        The default asks for the lists that look great and cost a huge effort.
        """
        number = self.number(measure)
        row, column = chosen_word(gain, GAINS, "gain"), chosen_word(effort, EFFORTS, "effort")
        where, rows, columns = self.cells(number)
        inside = where[(rows == row) & (columns == column)]
        merit = self.gains[number].merit(self.gain[number][inside])
        inside = inside[np.lexsort((inside, self.twist[inside], -merit))]
        name = str(self.gains[number])
        values = zip(self.gain[number][inside].tolist(), self.twist[inside].tolist(), strict=True)
        found: list[tuple[Cell, ...]] = [
            (*self.labels(i), *value, str(self.archetype[i])) for i, value in zip(inside, values, strict=True)
        ]
        caption = f"{len(found)} lists with {gain} gain by {name} and {effort} effort"
        return Table("points", ("run", "topic", name, "Twist", "archetype"), found, caption=caption)

    @cached_property
    def equal_gain(self) -> Table:
        """Lists of huge and about equal gain, one of each effort (Ferro and others 2016, Figure 11)."""
        return equal_gain(self)

    def significance(self, *, alpha: float = 0.05, least: int = 5) -> TableResult:
        """Whether gain and effort differ together: see :mod:`rankscope.analysis.quadrant_tests`."""
        return quadrant_significance(self, alpha=alpha, least=least)

    def curve(self, run: str, topic: str, measure: str | Measure | None = None) -> Curve:
        """The curve of one list at the N of the analysis, with the gains and discount of a gain measure for DCG."""
        chosen = self.gains[-1 if measure is None else self.number(measure)]
        return curve_of(self.judged, run, topic, cutoff=self.settings["cutoff"], dcg=chosen)

    @cached_property
    def indicators(self) -> Table:
        """For every list its recall base, N, Twist and its parts, and the 2012 indicators raw and clamped."""
        cutoff, crossing = self.settings["cutoff"], self.settings["crossing"]
        lists = self.judged.lists
        curves = get_curves(lists, 1, cutoff)
        columns: dict[str, npt.NDArray[Any]] = {
            "recall_base": curves.base,
            "N": curves.length,
            "Twist": self.twist,
        }
        columns["Rho"] = (REGISTRY["Rho"](crossing=crossing) @ cutoff).evaluate(lists)
        columns["Sigma"] = (REGISTRY["Sigma"] @ cutoff).evaluate(lists)
        columns |= {"turn_around": curves.turn_around, "b_r": curves.regained, "b_w": curves.full_regained}
        columns |= {"loss_at_R": curves.loss.astype(np.int64), "crp_at_N": curves.end.astype(np.int64)}
        columns["rho_w"] = curves.base / np.maximum(1, curves.full_regained)
        for name in INDICATORS:
            columns[name] = (REGISTRY[name] @ cutoff).evaluate(lists)
            columns[f"{name}_clamped"] = (REGISTRY[name](clamped=True) @ cutoff).evaluate(lists)
        values = zip(*(column[self.counted].tolist() for column in columns.values()), strict=True)
        rows: list[tuple[Cell, ...]] = [
            (*self.labels(i), *row) for i, row in zip(self.counted, values, strict=True)
        ]
        return Table("indicators", ("run", "topic", *columns), rows, caption="Effort indicators")

    @property
    def tables(self) -> Mapping[str, Table]:
        """``summary``, ``quadrants``, ``agreement``, ``equal_gain``, ``archetypes`` and ``indicators``."""
        names = ("summary", "quadrants", "agreement", "equal_gain", "archetypes", "indicators")
        return Tables({name: partial(getattr, self, name) for name in names})

    @property
    def main(self) -> Sequence[str]:
        """The tables about all lists; the others have a row for each."""
        return ("summary", "quadrants", "agreement")

    @property
    def display(self) -> Sequence[Table]:
        """The archetypes, and the effort/gain plane of each gain measure."""
        return (self.summary, *self.planes(), self.agreement)


def _coinciding(quartiles: list[float]) -> str:
    """Which quartiles are the same number, in words; empty if none."""
    if not quartiles:
        return ""
    lower, median, upper = quartiles
    if lower == upper:
        return f"all quartiles = {lower:.4g}"
    if lower == median:
        return f"lower quartile = median = {lower:.4g}"
    return f"median = upper quartile = {upper:.4g}" if median == upper else ""


def summary_of(archetypes: npt.NDArray[np.str_]) -> Table:
    """How many lists are of each archetype, and their share.

    >>> print(summary_of(np.array(["typical A", "typical B", "typical A", ""])).text())  # doctest: +ELLIPSIS
    archetype      count   share
    ────────────────────────────
    ideal              0  0.0000
    ...
    typical A          2  0.6667
    typical B          1  0.3333
    ...
    """
    total = int((archetypes != "").sum())
    counts = {name: int((archetypes == name).sum()) for name in ARCHETYPES}
    rows = [(name, count, count / total if total else float("nan")) for name, count in counts.items()]
    caption = f"Archetypes of {total} lists"
    return Table("summary", ("archetype", "count", "share"), rows, caption=caption)


def effort(
    qrels: Any,
    runs: Any,
    gains: str | Measure | Iterable[str | Measure] = DEFAULT_GAINS,
    *,
    crossing: str = "sign-change",
    cutoff: int = 1000,
    top: float | None = None,
    by: str | Measure = "AP",
    order: str | None = None,
    missing: str = "zero",
    groups: Mapping[str, str] | str | Path | None = None,
    jobs: int | None = None,
) -> Effort:
    """Archetypes, indicators and effort/gain planes of runs.

    ``qrels`` and ``runs`` are whatever :func:`rankscope.evaluate` takes. ``cutoff`` is N of Twist; topics without
    relevant documents are left out. ``top`` keeps the best round(top n) runs by the mean of ``by``. ``groups`` of
    runs, as in :func:`rankscope.report`, are what planes can be coloured and split by. References: Ferro and others
    2016, Angelini and others 2012.

    >>> found = effort({"q1": {"d1": 1}}, {"a": {"q1": ["d1"]}, "b": {"q1": ["x", "y", "d1"]}}, "AP")
    >>> found.archetypes.column("archetype")
    ['ideal', 'typical A']
    """
    wanted = parse_many(gains)
    collection = open_collection(
        qrels, runs, order=order, needs_aspects=needs_aspects([*wanted, *chosen_by(top, by)])
    )
    judged = judge(*collection, jobs=jobs)
    return effort_of(
        judged, wanted, crossing=crossing, cutoff=cutoff, top=top, by=by, missing=missing, groups=groups,
        settings=collection.settings,
    )  # fmt: skip


def effort_of(
    judged: Judged,
    gains: Iterable[Measure],
    *,
    crossing: str = "sign-change",
    cutoff: int = 1000,
    top: float | None = None,
    by: str | Measure = "AP",
    missing: str = "zero",
    groups: Mapping[str, str] | str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Effort:
    """The same for runs that are already judged."""
    chosen_word(crossing, CROSSINGS, "crossing")
    chosen_word(missing, MISSING, "missing")
    gains = tuple(gains)
    judged = best_judged(judged, top, by, missing)
    twist = REGISTRY["Twist"](crossing=crossing) @ cutoff
    lists = judged.lists
    archetype = find_archetypes(lists, crossing=crossing, cutoff=twist.cutoff)
    values = twist.evaluate(lists)
    if missing == "skip":
        archetype = np.where(judged.present, archetype, "")
    return Effort(
        judged=judged,
        gains=gains,
        archetype=archetype,
        twist=np.where(archetype == "", np.nan, values),
        gain=tuple(np.where(archetype == "", np.nan, measure.evaluate(lists)) for measure in gains),
        settings={
            "gains": [str(measure) for measure in gains], "crossing": crossing, "cutoff": twist.cutoff,
            "missing": missing, **(settings or {}), **top_settings(top, by),
            **({} if groups is None else {"groups": run_groups(judged.runs, groups)}),
        },
    )  # fmt: skip
