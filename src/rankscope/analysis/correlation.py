"""Do measures rank the runs alike? Correlation between measures over runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.coefficients import (
    Kendall,
    Standing,
    ap_correlation,
    kendall,
    pearson,
    spearman,
)
from rankscope.analysis.stats.matrices import (
    CompleteMatrix,
    best_runs,
    complete,
    left_out,
    rounded,
    run_merits,
)
from rankscope.analysis.stats.rank_biased_overlap import rank_biased_overlap, ranking_by_score
from rankscope.choices import COEFFICIENTS as METHODS
from rankscope.errors import InputError, SettingsError, suggest_names
from rankscope.measures import Measure, parse_many
from rankscope.result import Result, TableResult
from rankscope.scores import ScoreMatrix, Scores, as_scores
from rankscope.tables import Cell, Table

__all__ = ["METHODS", "Coefficients", "checked_methods", "correlation", "correlation_matrix"]

Floats = NDArray[np.float64]

_KEPT = 1 << 27
"""Pairs of runs that are remembered, over all measures: a byte or two for each."""


def correlation(
    scores: Scores | ScoreMatrix,
    method: str | Sequence[str] = "kendall",
    *,
    top: float | None = None,
    by: str | Measure = "AP",
    measures: Sequence[str | Measure] | None = None,
    per_topic: bool = False,
    swaps: bool = False,
    rbo_p: float = 0.9,
    rbo_ties: str = "b",
) -> TableResult:
    """Correlation of every pair of measures over the means of the runs.

    What is correlated is how good the runs are: measures of which lower values are better count with the other sign.

    ``kendall`` is tau-b (with tau-a, ties and discordant pairs beside it), ``ap`` the AP-correlation, the mean of both
    directions; also ``spearman``, ``pearson`` and ``rbo``, the rank-biased overlap of the two rankings of runs with
    persistence ``rbo_p`` and ties after ``rbo_ties`` (see :func:`~.rank_biased_overlap`), with bounds.

    ``top`` keeps the best round(top n) runs by the mean of ``by`` (0.75 and AP in Ferro et al.). ``measures`` are
    those to correlate, if not all; ``per_topic`` adds the correlations on single topics; ``swaps`` lists the pairs of
    runs that two measures order differently.

    >>> import rankscope as rs
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> runs = {"r1": {"q": {"a": 3, "b": 2}}, "r2": {"q": {"a": 3, "x": 2}}, "r3": {"q": {"x": 3, "y": 2, "b": 1}}}
    >>> result = correlation(rs.evaluate(qrels, runs, ["AP", "RR", "P@2"]))
    >>> [round(value, 4) for value in result["correlations"].column("value")]
    [0.8165, 1.0, 0.8165]
    """
    scores = as_scores(scores)
    methods = checked_methods(method)
    coefficient = Coefficients(rbo_p, rbo_ties)
    wanted = scores.measures if measures is None else tuple(parse_many(measures))
    if len(wanted) < 2:
        raise InputError("correlation needs at least two measures", hint="add another, such as -m AP -m nDCG")
    settings: dict[str, Any] = {
        **scores.settings, "method": list(methods), "top": top, "by": str(by) if top is not None else None
    }  # fmt: skip
    if "rbo" in methods:
        settings |= {"rbo_p": rbo_p, "rbo_ties": rbo_ties}
    scores = best_runs(scores, top, by)
    if len(scores.runs) < 2:
        raise InputError("correlation needs at least two runs", hint="name more runs, or scores of several")
    matrices = [complete(scores, measure) for measure in wanted]
    merits = [run_merits(matrix) for matrix in matrices]
    tables = {"correlations": _correlations(matrices, merits, methods, coefficient)}
    if per_topic:
        tables["topics"] = Table(
            "topics",
            ("topic", "a", "b", "method", "value", "p", "runs"),
            list(_topic_rows(matrices, methods, coefficient)),
            p_values=("p",),
            caption="Correlation on every topic",
        )
    if swaps:
        tables["swaps"] = _swaps(scores.runs, matrices, merits)
    result = TableResult(tables, {**settings, **left_out(matrices)}, main=tuple(tables))
    matrix = [correlation_matrix(result, method) for method in methods]
    return replace(result, display=(*matrix, *tables.values()))


def correlation_matrix(result: Result, method: str = "kendall") -> Table:
    """The correlations of one method as papers print them: measures down and across, upper triangle."""
    rows = [r for r in result["correlations"].records() if r["method"] == method]
    names = list(dict.fromkeys(str(r[side]) for r in rows for side in ("a", "b")))
    values = {(r["a"], r["b"]): r["value"] for r in rows}
    body = [(a, *(values.get((a, b)) for b in names[1:])) for a in names[:-1]]
    runs = rows[0]["runs"] if rows else 0
    caption = f"{_TITLES[method]} between measures over {runs} runs"
    return Table(f"{method} matrix", ("measure", *names[1:]), body, caption=caption)


def checked_methods(method: str | Sequence[str]) -> tuple[str, ...]:
    """The names of methods, if there are such."""
    methods = (method,) if isinstance(method, str) else tuple(method)
    for name in methods:
        if name not in METHODS:
            hint = suggest_names(name, METHODS) or f"choose among {', '.join(METHODS)}"
            raise SettingsError(f"no correlation is called {name!r}", hint=hint)
    return methods


def _correlations(
    matrices: Sequence[CompleteMatrix],
    merits: Sequence[Floats],
    methods: Sequence[str],
    coefficient: Coefficients,
) -> Table:
    extra = [name for method, names in _DETAILS.items() if method in methods for name in names]
    rows: list[tuple[Cell, ...]] = []
    few = sum(len(merit) ** 2 for merit in merits) <= _KEPT
    standings: Sequence[Floats | Standing] = [Standing(merit) for merit in merits] if few else merits
    names = [str(matrix.measure) for matrix in matrices]
    for (a, x), (b, y) in combinations(zip(names, standings, strict=True), 2):
        for method in methods:
            value, p, more = coefficient(method, x, y)
            rows.append((a, b, method, value, p, len(x), *(more.get(name) for name in extra)))
    columns = ("a", "b", "method", "value", "p", "runs", *extra)
    caption = "Correlation of every two measures"
    return Table("correlations", columns, rows, p_values=("p",), spare=extra, caption=caption)


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
"""What some methods say beside their value."""


@dataclass(frozen=True)
class Coefficients:
    """Any of the methods, with the settings that some have."""

    rbo_p: float
    rbo_ties: str

    def __call__(
        self, method: str, x: Floats | Standing, y: Floats | Standing
    ) -> tuple[float, float, dict[str, Cell]]:
        x, y = (one if isinstance(one, Standing) else Standing(one) for one in (x, y))
        if method == "kendall":
            tau = kendall(x, y)
            return tau.tau_b, tau.p, _kendall_details(tau)
        if method == "ap":
            given_a, given_b = ap_correlation(x, y), ap_correlation(y, x)
            return (given_a + given_b) / 2, nan, {"reference_a": given_a, "reference_b": given_b}
        if method == "rbo":
            rankings = ranking_by_score(x.scores), ranking_by_score(y.scores)
            rbo = rank_biased_overlap(*rankings, self.rbo_p, ties=self.rbo_ties)
            return rbo.value, nan, {"rbo_low": rbo.low, "rbo_high": rbo.high}
        result = spearman(x, y) if method == "spearman" else pearson(x, y)
        return result.value, result.p, {}


def _kendall_details(tau: Kendall) -> dict[str, Cell]:
    return {"tau_a": tau.tau_a, "discordant": tau.discordant, "ties_a": tau.ties_x, "ties_b": tau.ties_y}


def _topic_rows(
    matrices: Sequence[CompleteMatrix], methods: Sequence[str], coefficient: Coefficients
) -> Iterator[tuple[Cell, ...]]:
    for a, b in combinations(matrices, 2):
        second = {topic: t for t, topic in enumerate(b.topics)}
        for t, topic in enumerate(a.topics):
            if topic in second:
                x = a.measure.merit(rounded(a.values[:, t]))
                y = b.measure.merit(rounded(b.values[:, second[topic]]))
                for method in methods:
                    value, p, _ = coefficient(method, x, y)
                    yield topic, str(a.measure), str(b.measure), method, value, p, len(x)


def _swaps(runs: Sequence[str], matrices: Sequence[CompleteMatrix], merits: Sequence[Floats]) -> Table:
    """Every pair of runs that two measures order differently, the better by ``a`` first."""
    rows: list[tuple[Cell, ...]] = []
    first, second = np.triu_indices(len(runs), 1)
    for i, j in combinations(range(len(matrices)), 2):
        x, y = merits[i], merits[j]
        a, b = matrices[i].measure, matrices[j].measure
        swapped = np.flatnonzero((x[first] - x[second]) * (y[first] - y[second]) < 0)
        for r, s in zip(first[swapped].tolist(), second[swapped].tolist(), strict=True):
            up, down = (r, s) if x[r] > x[s] else (s, r)
            rows.append(
                (str(a), str(b), runs[up], runs[down],
                 float(a.merit(x[up] - x[down])), float(b.merit(y[up] - y[down])))
            )  # fmt: skip
    return Table("swaps", ("a", "b", "better_by_a", "better_by_b", "difference_a", "difference_b"), rows)
