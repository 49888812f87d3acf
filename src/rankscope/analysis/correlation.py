"""Do measures rank the runs alike? Correlation between measures over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import nan
from typing import TYPE_CHECKING, Annotated, Any

from rankscope.analysis import stats
from rankscope.choices import COEFFICIENTS, DEFAULT_MEASURES, VALUE_OPTIONS, Coefficient, RboTies
from rankscope.declaration import MeasureName, Option, PerTopic, Top, analysis
from rankscope.errors import InputError, check_name
from rankscope.lazy import numpy as np
from rankscope.result import TypedResult, table
from rankscope.rows import Row, RowTable, column
from rankscope.tables import Table

if TYPE_CHECKING:
    from rankscope.arrays import Floats
    from rankscope.scores import Scores


_KEPT = 1 << 27
"""Pairs of runs that are remembered, over all measures: a byte or two for each."""

_TITLES = {
    "kendall": "Kendall's tau-b",
    "ap": "AP correlation",
    "rbo": "Rank-biased overlap",
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's rho",
}
_DETAILS = {
    "kendall": ("tau_a", "discordant", "ties_a", "ties_b"),
    "ap": ("reference_a", "reference_b"),
    "rbo": ("rbo_low", "rbo_high"),
}
"""Further columns of a method."""


class _Measures(Row):
    a: str = column("the first measure")
    b: str = column("the second measure")


class _Correlation(_Measures):
    method: str = column("the coefficient: kendall, ap, rbo, ...")
    value: float = column("value of the coefficient")
    p: float = column(p_value=True)
    runs: int = column("number of runs")


class Correlation(_Correlation):
    """Two measures compared over all runs."""

    tau_a: float | None = column(
        "Kendall's tau-a: like tau-b, but tied pairs count", spare=True, default=None
    )
    discordant: int | None = column(spare=True, default=None)
    ties_a: int | None = column("pairs of runs that are equal by a", spare=True, default=None)
    ties_b: int | None = column("pairs of runs that are equal by b", spare=True, default=None)
    reference_a: float | None = column(
        "AP correlation with the order of a as reference", spare=True, default=None
    )
    reference_b: float | None = column(
        "AP correlation with the order of b as reference", spare=True, default=None
    )
    rbo_low: float | None = column("lower bound of RBO over all continuations", spare=True, default=None)
    rbo_high: float | None = column("upper bound of RBO over all continuations", spare=True, default=None)


class _Topic(Row):
    topic: str = column()


class TopicCorrelation(_Correlation, _Topic):
    """Two measures compared on one topic."""


class Swap(_Measures):
    """Two runs that two measures order differently."""

    better_by_a: str = column("the run that is better by measure a")
    better_by_b: str = column("the run that is better by measure b")
    difference_a: float = column("difference of the two runs by measure a")
    difference_b: float = column("difference of the two runs by measure b")


class Correlations(TypedResult):
    """Correlation of every two measures over the runs."""

    correlations: RowTable[Correlation] = table("every two measures")
    topics: RowTable[TopicCorrelation] | None = table("every topic", default=None)
    swaps: RowTable[Swap] | None = table("pairs of runs that two measures order differently", default=None)

    def matrix(self, method: str = "kendall") -> Table:
        """Return the correlations of one method as papers print them: measures down and across, upper triangle."""
        rows = [row for row in self.correlations if row.method == method]
        names = list(dict.fromkeys(name for row in rows for name in (row.a, row.b)))
        values = {(row.a, row.b): row.value for row in rows}
        body = [(a, *(values.get((a, b)) for b in names[1:])) for a in names[:-1]]
        runs = rows[0].runs if rows else 0
        caption = f"{_TITLES[method]} between measures over {runs} runs"
        return Table(f"{method} matrix", ("measure", *names[1:]), body, caption=caption)

    @property
    def display(self) -> Sequence[Table]:
        """A matrix for each method, then the tables."""
        methods = dict.fromkeys(row.method for row in self.correlations)
        return (*map(self.matrix, methods), *self.tables.values())


@analysis(
    figures={"matrix": "correlation.plot_correlation"},
    uses=(*VALUE_OPTIONS, "weights"),
    measures=DEFAULT_MEASURES,
)
def correlate(
    scores: Scores,
    method: Coefficient | Sequence[Coefficient] = ("kendall", "ap"),
    *,
    per_topic: PerTopic = False,
    swaps: bool = False,
    rbo_p: Annotated[float, Option("P")] = 0.9,
    rbo_ties: RboTies = "b",
    top: Top = None,
    by: MeasureName = "AP",
) -> Correlations:
    """Correlate measures over the means of the runs: do they rank the runs alike?

    Kendall's tau-b is reported with tau-a, discordant pairs and ties. ap is the AP correlation, averaged over both
    directions. rbo is the rank-biased overlap of the two rankings of the runs, with bounds; the top ranks have the
    largest weight. Measures where lower values are better change their sign, so that 1 always means the same ranking.

    Parameters
    ----------
    scores
        Values of the measures to correlate.
    method
        Coefficient; repeatable.
    per_topic
        Also correlate on every topic.
    swaps
        List the pairs of runs that two measures order differently.
    rbo_p
        Persistence of rank-biased overlap: the closer to 1, the deeper it looks.
    rbo_ties
        Treatment of ties in rank-biased overlap: a: tied runs have an unknown order; b: as a, normalised so that a
        ranking agrees with itself; w: tied runs are equal.
    top
        Share of the runs to keep, the best ones, such as 0.75 (default: all).
    by
        Measure that selects the runs of ``top``.

    Returns
    -------
    Correlations
        Table ``correlations``; ``topics`` with per_topic; ``swaps`` (pairs of runs ordered differently) with swaps.

    References
    ----------
    Yilmaz, Aslam and Robertson 2008; Webber, Moffat and Zobel 2010; Corsi and Urbano 2024; Ferro et al. 2016.

    Commands
    --------
    rankscope correlate qrels.txt runs/
    rankscope correlate qrels.txt runs/ -m "AP nDCG@10 Twist" --top 0.75 -f latex
    rankscope correlate qrels.txt runs/ --method rbo --rbo-p 0.8        agreement at the top
    rankscope correlate qrels.txt runs/ --pool-depth 10 --orders trec_eval,file --against "RR P@10 Rprec AP"
    rankscope correlate qrels.txt runs/ -m "AP RBP(p=0.5)" --swaps      which pairs of runs change order

    Examples
    --------
    >>> import rankscope as rs
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"r1": {"q": {"a": 3, "b": 2}}, "r2": {"q": {"a": 3, "x": 2}}, "r3": {"q": {"x": 3, "y": 2, "b": 1}}}
    >>> result = rs.correlate(rs.evaluate(qrels, runs, ["AP", "RR", "P@2"]), "kendall")
    >>> [round(row.value, 4) for row in result.correlations]
    [0.8165, 1.0, 0.8165]
    """
    methods = checked_methods(method)
    options: dict[str, Any] = {"rbo_p": rbo_p, "rbo_ties": rbo_ties}
    if len(scores.measures) < 2:
        raise InputError("correlation needs at least two measures", hint="add another, such as -m AP -m nDCG")
    settings: dict[str, Any] = {
        **scores.settings, "method": list(methods), "top": top, "by": str(by) if top is not None else None
    }  # fmt: skip
    if "rbo" in methods:
        settings |= options
    scores = stats.best_runs(scores, top, by)
    if len(scores.runs) < 2:
        raise InputError("correlation needs at least two runs", hint="name more runs, or scores of several")
    matrices = [stats.complete(scores, measure) for measure in scores.measures]
    merits = [stats.run_merits(matrix) for matrix in matrices]
    topics = _topics(matrices, methods, options) if per_topic else None
    return Correlations(
        correlations=_correlations(matrices, merits, methods, options),
        topics=topics,
        swaps=Swap.table("swaps", _swaps(scores.runs, matrices, merits)) if swaps else None,
        settings={**settings, **stats.left_out(matrices)},
    )


def checked_methods(method: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of methods, or raise an error if there is no such method."""
    methods = (method,) if isinstance(method, str) else tuple(method)
    for name in methods:
        check_name(name, COEFFICIENTS, f"no correlation is called {name!r}", listed="choose among")
    return methods


def _correlations(
    matrices: Sequence[stats.CompleteMatrix],
    merits: Sequence[Floats],
    methods: Sequence[str],
    options: Mapping[str, Any],
) -> RowTable[Correlation]:

    rows: list[Correlation] = []
    few = sum(len(merit) ** 2 for merit in merits) <= _KEPT
    standings: Sequence[Floats | stats.Standing] = [*map(stats.Standing, merits)] if few else merits
    names = [str(matrix.measure) for matrix in matrices]
    for (a, x), (b, y) in combinations(zip(names, standings, strict=True), 2):
        for method in methods:
            value, p, more = coefficient(method, x, y, **options)
            rows.append(Correlation(a, b, method, value, p, len(x), **more))
    without = [name for method, names in _DETAILS.items() if method not in methods for name in names]
    caption = "Correlation of every two measures"
    return Correlation.table("correlations", rows, without=without, caption=caption)


def coefficient(
    method: str, x: Floats | stats.Standing, y: Floats | stats.Standing, *, rbo_p: float, rbo_ties: str
) -> tuple[float, float, dict[str, Any]]:
    """Return the value of any of the methods, its p-value, and the details of the method."""
    x, y = (values if isinstance(values, stats.Standing) else stats.Standing(values) for values in (x, y))
    if method == "kendall":
        tau = stats.kendall(x, y)
        more = zip(_DETAILS[method], (tau.tau_a, tau.discordant, tau.ties_x, tau.ties_y), strict=True)
        return tau.tau_b, tau.p, dict(more)
    if method == "ap":
        given_a, given_b = stats.ap_correlation(x, y), stats.ap_correlation(y, x)
        return (given_a + given_b) / 2, nan, {"reference_a": given_a, "reference_b": given_b}
    if method == "rbo":
        rankings = stats.ranking_by_score(x.scores), stats.ranking_by_score(y.scores)
        rbo = stats.rank_biased_overlap.rank_biased_overlap(*rankings, rbo_p, ties=rbo_ties)
        return rbo.value, nan, {"rbo_low": rbo.low, "rbo_high": rbo.high}
    result = stats.spearman(x, y) if method == "spearman" else stats.pearson(x, y)
    return result.value, result.p, {}


def _topics(
    matrices: Sequence[stats.CompleteMatrix], methods: Sequence[str], options: Mapping[str, Any]
) -> RowTable[TopicCorrelation]:

    rows: list[TopicCorrelation] = []
    for a, b in combinations(matrices, 2):
        second = {topic: t for t, topic in enumerate(b.topics)}
        for t, topic in enumerate(a.topics):
            if topic in second:
                x = a.measure.merit(stats.rounded(a.values[:, t]))
                y = b.measure.merit(stats.rounded(b.values[:, second[topic]]))
                for method in methods:
                    value, p, _ = coefficient(method, x, y, **options)
                    label = topic, str(a.measure), str(b.measure), method
                    rows.append(TopicCorrelation(*label, value, p, len(x)))
    return TopicCorrelation.table("topics", rows, caption="Correlation on every topic")


def _swaps(
    runs: Sequence[str], matrices: Sequence[stats.CompleteMatrix], merits: Sequence[Floats]
) -> list[Swap]:
    """Yield every pair of runs that two measures order differently, the better by ``a`` first."""
    rows = []
    first, second = np.triu_indices(len(runs), 1)
    for i, j in combinations(range(len(matrices)), 2):
        x, y = merits[i], merits[j]
        a, b = matrices[i].measure, matrices[j].measure
        swapped = np.flatnonzero((x[first] - x[second]) * (y[first] - y[second]) < 0)
        for r, s in zip(first[swapped].tolist(), second[swapped].tolist(), strict=True):
            up, down = (r, s) if x[r] > x[s] else (s, r)
            differences = float(a.merit(x[up] - x[down])), float(b.merit(y[up] - y[down]))
            rows.append(Swap(str(a), str(b), runs[up], runs[down], *differences))
    return rows
