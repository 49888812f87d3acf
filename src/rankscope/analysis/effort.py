"""Effort of all runs on all topics: archetypes, the 2012 indicators, and the effort/gain plane.

In the plane (:mod:`rankscope.analysis.plane`) effort and gain agree on the diagonal; *high-high* are the four cells of
rankings with high or huge gain at high or huge effort.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis.plane import EqualGain, Planes, equal_gain, find_choice
from rankscope.choices import DEFAULT_GAINS, EFFORTS, GAINS, Crossing
from rankscope.declaration import Groups, MeasureName, Option, Top, analysis
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, lazy_table
from rankscope.rows import RankingRow, Row, RowTable, column
from rankscope.tables import Cell, Table

if TYPE_CHECKING:
    from rankscope.analysis.curve import Curve
    from rankscope.analysis.quadrant_tests import QuadrantSignificance
    from rankscope.arrays import AnyArray, NDArray
    from rankscope.judging import Judged
    from rankscope.measures import Measure
    from rankscope.scores import Collection


INDICATORS = ("Rho2012", "b_ratio", "CRP_min", "CRP_N")


class ArchetypeCount(Row):
    """Number of rankings of an archetype."""

    archetype: str = column()
    count: int = column("number of rankings")  # type: ignore[assignment]
    share: float = column()


class Quadrant(Row):
    """A cell of the effort/gain plane of a gain measure."""

    measure: str = column()
    gain: str = column()
    effort: str = column()
    count: int = column("number of rankings")  # type: ignore[assignment]
    share: float = column()


class Agreement(Row):
    """Rankings on the diagonal of a plane, and in its high-high cells."""

    measure: str = column()
    diagonal: int = column("rankings whose effort and gain agree: huge gain with low effort, and so on")
    diagonal_share: float = column("share of these rankings")
    high_high: int = column("rankings with more gain than the median that cost high or huge effort")
    high_high_share: float = column("share of these rankings")
    lower_quartile: float = column("lower quartile of the gain over all rankings")
    median: float = column("median of the gain over all rankings")
    upper_quartile: float = column("upper quartile of the gain over all rankings")
    coincide: str | None = column(
        "which quartiles of the gain are the same number, if any: the rows of the plane between them are empty"
    )


class Archetype(RankingRow):
    """Archetype of a ranking."""

    archetype: str = column()


class Indicators(RankingRow):
    """Twist, its parts, and the 2012 indicators of a ranking."""

    recall_base: int = column("number of relevant documents of the topic")
    N: int = column("length at which the ranking was evaluated")
    Twist: float = column("the measure Twist of the ranking, see Measures")
    Rho: float = column("the measure Rho of the ranking, see Measures")
    Sigma: float = column("the measure Sigma of the ranking, see Measures")
    turn_around: int = column("first rank at which CRP is lowest")
    b_r: float = column("rank where CRP is back at 0 or above after the turn-around; infinite if it never is")
    b_w: int = column("the same rank for the full-scale ranking, the ideal ranking reversed")
    loss_at_R: int = column("CRP at the recall base: the loss value of Angelini et al. 2012")  # noqa: N815
    crp_at_N: int = column("CRP at rank N")  # noqa: N815
    rho_w: float = column("recall base divided by b_w: Rho2012 of the full-scale ranking")
    Rho2012: float = column("the measure Rho2012 of the ranking, see Measures")
    Rho2012_clamped: float = column("Rho2012, kept between 0 and 1")
    b_ratio: float = column("the measure b_ratio of the ranking, see Measures")
    b_ratio_clamped: float = column("b_ratio, kept between 0 and 1")
    CRP_min: float = column("the measure CRP_min of the ranking, see Measures")
    CRP_min_clamped: float = column("CRP_min, kept between 0 and 1")
    CRP_N: float = column("the measure CRP_N of the ranking, see Measures")
    CRP_N_clamped: float = column("CRP_N, kept between 0 and 1")


class Effort(Planes, TypedResult):
    """Archetypes, indicators and effort/gain planes of every ranking."""

    @classmethod
    def from_judged(
        cls,
        judged: Judged,
        gains: Sequence[Measure],
        *,
        crossing: str = "sign-change",
        cutoff: int = 1000,
        missing: str = "zero",
        settings: Mapping[str, Any] | None = None,
    ) -> Effort:
        """Return the effort of judged rankings; parameters as of :func:`effort`."""
        from rankscope.choices import CROSSINGS
        from rankscope.measures import REGISTRY
        from rankscope.measures.effort_curves import find_archetypes

        find_choice(crossing, CROSSINGS, "crossing")
        twist = REGISTRY["Twist"](crossing=crossing) @ cutoff
        lists = judged.lists
        archetype = find_archetypes(lists, crossing=crossing, cutoff=twist.cutoff)
        if missing == "skip":
            archetype = np.where(judged.present, archetype, "")
        return cls(
            judged=judged,
            gains=tuple(gains),
            archetype=archetype,
            twist=np.where(archetype == "", np.nan, twist.evaluate(lists)),
            gain=tuple(np.where(archetype == "", np.nan, measure.evaluate(lists)) for measure in gains),
            settings={
                "gains": [str(measure) for measure in gains], "crossing": crossing, "cutoff": twist.cutoff,
                "missing": missing, **(settings or {}),
            },
        )  # fmt: skip

    def _about(self) -> str:
        return f"{len(self.judged.runs)} runs x {len(self.judged.topics)} topics"

    @lazy_table("number of rankings of each archetype")
    def summary(self) -> RowTable[ArchetypeCount]:
        """Number of rankings of each archetype."""
        return count_archetypes(self.archetype)

    @lazy_table("all 16 cells of the effort/gain plane of each gain measure")
    def quadrants(self) -> RowTable[Quadrant]:
        """Cells of the effort/gain plane, 16 for each gain measure."""
        rows: list[Quadrant] = []
        for measure in self.gains:
            counts = self.plane(measure).ravel().tolist()
            for (gain, cost), count in zip(product(GAINS, EFFORTS), counts, strict=True):
                rows.append(Quadrant(str(measure), gain, cost, count, count / max(1, sum(counts))))
        return Quadrant.table("quadrants", rows, caption="Effort/gain quadrants")

    @lazy_table(
        "shares on the diagonal (effort and gain agree) and in the high-high cells (high gain at high effort)"
    )
    def agreement(self) -> RowTable[Agreement]:
        """Shares on the diagonal (effort and gain agree) and in the high-high cells (high gain at high effort)."""
        rows: list[Agreement] = []
        for measure in self.gains:
            plane = self.plane(measure)
            total = max(1, int(plane.sum()))
            high, same = int(plane[2:, :2].sum()), int(np.trace(plane))
            borders = self.quartiles(measure)
            shares = same, same / total, high, high / total
            lower, middle, upper = borders or [float("nan")] * 3
            rows.append(Agreement(str(measure), *shares, lower, middle, upper, _coinciding(borders) or None))
        caption = "Agreement of effort and gain, and gain above the median at high effort"
        return Agreement.table("agreement", rows, caption=caption)

    @lazy_table("rankings of huge and about equal gain, one of each effort", main=False)
    def equal_gain(self) -> RowTable[EqualGain]:
        """Rankings of huge and about equal gain, one of each effort (Ferro et al. 2016, Figure 11)."""
        return equal_gain(self)

    @lazy_table("archetype of every ranking", flag="-q --per-topic")
    def archetypes(self) -> RowTable[Archetype]:
        """Archetype of every ranking."""
        rows = [Archetype(*self.labels(i), str(self.archetype[i])) for i in self.counted]
        return Archetype.table("archetypes", rows, caption="Archetypes")

    @lazy_table("indicators of every ranking", flag="-q --per-topic")
    def indicators(self) -> RowTable[Indicators]:
        """Recall base, N, Twist and its parts, and the 2012 indicators raw and clamped, of every ranking."""
        from rankscope.measures import REGISTRY
        from rankscope.measures.effort_curves import get_curves

        cutoff, crossing = self.settings["cutoff"], self.settings["crossing"]
        lists = self.judged.lists
        curves = get_curves(lists, 1, cutoff)
        rho, sigma = REGISTRY["Rho"](crossing=crossing) @ cutoff, REGISTRY["Sigma"] @ cutoff
        columns: list[AnyArray] = [curves.base, curves.length, self.twist]
        columns += [rho.evaluate(lists), sigma.evaluate(lists)]
        columns += [curves.turn_around, curves.regained, curves.full_regained]
        columns += [curves.loss.astype(np.int64), curves.end.astype(np.int64)]
        columns.append(curves.base / np.maximum(1, curves.full_regained))
        for name in INDICATORS:
            columns.append((REGISTRY[name] @ cutoff).evaluate(lists))
            columns.append((REGISTRY[name](clamped=True) @ cutoff).evaluate(lists))
        values = zip(*(column[self.counted].tolist() for column in columns), strict=True)
        rows = [Indicators(*self.labels(i), *row) for i, row in zip(self.counted, values, strict=True)]
        return Indicators.table("indicators", rows, caption="Effort indicators")

    def planes(self) -> list[Table]:
        """Return a table per gain measure, in percent: huge gain on top, huge effort at the left."""
        tables = []
        for measure in self.gains:
            plane = self.plane(measure)
            shares = 100 * plane / max(1, int(plane.sum()))
            rows: list[tuple[Cell, ...]] = [(f"{GAINS[g]} gain", *shares[g].tolist()) for g in (3, 2, 1, 0)]
            columns = ("", *(f"{cost} effort" for cost in EFFORTS))
            caption = f"Effort/gain by {measure}, percent of {int(plane.sum())} rankings"
            if alike := _coinciding(self.quartiles(measure)):
                caption += f" ({alike}: no ranking lies between)"
            tables.append(Table(f"plane {measure}", columns, rows, digits=1, caption=caption))
        return tables

    def points(self, measure: str | Measure, gain: str = "huge", effort: str = "huge") -> Table:
        """Return the rankings in a cell of the plane of a gain measure, best gain first.

        The default cell has the rankings of huge gain at huge effort.
        """
        number = self.number(measure)
        row, column = find_choice(gain, GAINS, "gain"), find_choice(effort, EFFORTS, "effort")
        where, rows, columns = self.cells(number)
        inside = where[(rows == row) & (columns == column)]
        merit = self.gains[number].merit(self.gain[number][inside])
        inside = inside[np.lexsort((inside, self.twist[inside], -merit))]
        name = str(self.gains[number])
        values = zip(self.gain[number][inside].tolist(), self.twist[inside].tolist(), strict=True)
        points: list[tuple[Cell, ...]] = [
            (*self.labels(i), *value, str(self.archetype[i])) for i, value in zip(inside, values, strict=True)
        ]
        caption = f"{len(points)} rankings with {gain} gain by {name} and {effort} effort"
        return Table("points", ("run", "topic", name, "Twist", "archetype"), points, caption=caption)

    def significance(self, *, alpha: float = 0.05, min_topics: int = 5) -> QuadrantSignificance:
        """Test whether gain and effort differ together: see :mod:`rankscope.analysis.quadrant_tests`."""
        from rankscope.analysis.quadrant_tests import quadrant_significance

        return quadrant_significance(self, alpha=alpha, min_topics=min_topics)

    def curve(self, run: str, topic: str, measure: str | Measure | None = None) -> Curve:
        """Return the curve of a ranking at the N of the analysis, with gains and discount of a gain measure for DCG."""
        from rankscope.analysis.curve import curve_from_judged

        gain = self.gains[-1 if measure is None else self.number(measure)]
        return curve_from_judged(self.judged, run, topic, cutoff=self.settings["cutoff"], dcg=gain)

    @property
    def display(self) -> Sequence[Table]:
        """Archetypes, and the effort/gain plane of each gain measure."""
        return (self.summary, *self.planes(), self.agreement)


def _coinciding(quartiles: list[float]) -> str:
    """Return in words which quartiles are equal; empty if none are."""
    if not quartiles:
        return ""
    lower, median, upper = quartiles
    if lower == upper:
        return f"all quartiles = {lower:.4g}"
    if lower == median:
        return f"lower quartile = median = {lower:.4g}"
    return f"median = upper quartile = {upper:.4g}" if median == upper else ""


def count_archetypes(archetypes: NDArray[np.str_]) -> RowTable[ArchetypeCount]:
    """Count the rankings of each archetype.

    >>> import numpy as np
    >>> print(count_archetypes(np.array(["typical A", "typical B", "typical A", ""])).text())  # doctest: +ELLIPSIS
    archetype      count   share
    ────────────────────────────
    ideal              0  0.0000
    ...
    typical A          2  0.6667
    typical B          1  0.3333
    ...
    """
    from rankscope.measures.effort_curves import ARCHETYPES

    total = int((archetypes != "").sum())
    counts = [(name, int((archetypes == name).sum())) for name in ARCHETYPES]
    rows = [ArchetypeCount(name, n, n / total if total else float("nan")) for name, n in counts]
    return ArchetypeCount.table("summary", rows, caption=f"Archetypes of {total} rankings")


@analysis(
    figures={
        "plane": "effort.plot_effort_gain",
        "planes": "effort.plot_effort_gains",
        "equal-gain": "equal_gain.plot_equal_gain",
        "archetypes": "archetypes.plot_archetypes",
        "shares": "archetypes.plot_shares",
        "indicators": "indicators.plot_indicators",
    },
    uses=("order", "missing"),
)
def effort(
    collection: Collection,
    gains: Annotated[MeasureName | Sequence[MeasureName], Option("M", ("-m", "--measure"))] = DEFAULT_GAINS,
    *,
    crossing: Crossing = "sign-change",
    cutoff: Annotated[int, Option("N")] = 1000,
    top: Top = None,
    by: MeasureName = "AP",
    groups: Groups = None,
) -> Effort:
    """Compare the effort of rankings with their gain: archetypes, effort/gain planes, and the 2012 indicators.

    The plane sets Twist (huge effort below 1/4, high below 1/2, medium below 3/4, low from there on) against the
    quartiles of a gain measure. A gain equal to a quartile belongs to the row below it, and the tables say when
    quartiles coincide. Topics without relevant documents are left out.

    Parameters
    ----------
    collection
        Judgments and runs.
    gains
        Gain measures such as nDCG@10; several in quotes or separated by commas.
    crossing
        Definition of a crossing of the axis by CRP.
    cutoff
        Cutoff N of Twist.
    top
        Share of the runs to keep, the best ones, such as 0.75 (default: all).
    by
        Measure that selects the runs of ``top``.
    groups
        Groups of runs to colour and split planes by: a file with lines of `run group`, or a regular expression whose
        first capture group (or whole match) in the name of a run is its group; in Python also a mapping.

    Returns
    -------
    Effort
        Tables ``summary``, ``quadrants``, ``agreement``, ``equal_gain``, ``archetypes`` and ``indicators``.

    References
    ----------
    Ferro et al. 2016, Angelini et al. 2012.

    Commands
    --------
    rankscope effort qrels.txt runs/
    rankscope effort qrels.txt runs/ -m "AP nDCG@10" --crossing matters
    rankscope effort qrels.txt runs/ --cell "AP huge huge"      highest quartile of AP, at huge effort
    rankscope effort qrels.txt runs/ --top 0.75                  without the worst quarter by AP
    rankscope effort qrels.txt runs/ -q -f csv -o effort.csv
    rankscope effort qrels.txt runs/ -m "AP nDCG" --plot planes.pdf                  planes of both measures
    rankscope effort qrels.txt runs/ -m AP --colour archetype --plot plane.pdf       --facet: one plane per class
    rankscope effort qrels.txt runs/ -m nDCG --figure equal-gain --plot equal.pdf    equal gain, from huge to low effort
    rankscope effort qrels.txt runs/ -m nDCG --figure equal-gain --highlight bm25:351 --plot two.pdf
    rankscope effort qrels.txt runs/ -m AP --significance        do gain and effort differ together?
    rankscope effort --enumerate --relevant 4 --length 10        all rankings of small topics; no data needed

    Examples
    --------
    >>> import rankscope as rs
    >>> runs = {"a": {"q1": ["d1"]}, "b": {"q1": ["x", "y", "d1"]}}
    >>> [row.archetype for row in rs.effort(rs.Collection({"q1": {"d1": 1}}, runs), "AP").archetypes]
    ['ideal', 'typical A']
    """
    from rankscope.analysis.stats.matrices import best_judged, chosen_by, top_settings
    from rankscope.measures import parse_many
    from rankscope.read.groups import run_groups

    measures = parse_many(gains)
    collection = collection.for_measures([*measures, *chosen_by(top, by)])
    judged = best_judged(collection.judged, top, by, collection.missing)
    grouped = {} if groups is None else {"groups": run_groups(judged.runs, groups)}
    settings = {**collection.settings, **top_settings(top, by), **grouped}
    return Effort.from_judged(
        judged, measures, crossing=crossing, cutoff=cutoff, missing=collection.missing, settings=settings
    )
