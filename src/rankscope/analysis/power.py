"""How well does a measure tell runs apart? Discriminative power (Sakai 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.stats.matrices import CompleteMatrix, best_runs, complete, left_out, top_settings
from rankscope.analysis.stats.significance import REPLICATES, PairTests, all_pairs, run_test, test_name
from rankscope.columns import CategoricalColumn, Cell, Columns, ConcatenatedRows, Rows
from rankscope.engines import on_engine
from rankscope.errors import InputError, SettingsError
from rankscope.measures import Measure, parse_many
from rankscope.result import Result, TableResult
from rankscope.scores import ScoreMatrix, Scores, as_scores
from rankscope.tables import Table

__all__ = ["check_comparable", "discriminative_power", "significant_pairs"]

_TITLES = {"wilcoxon": "Wilcoxon", "t": "t test", "tukey": "Tukey HSD"}


@on_engine
def discriminative_power(
    scores: Scores | ScoreMatrix,
    test: str | Sequence[str] = "bootstrap",
    *,
    alpha: float | Sequence[float] = 0.05,
    replicates: int | None = None,
    seed: int = 1,
    top: float | None = None,
    by: str | Measure = "AP",
    measures: Sequence[str | Measure] | None = None,
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """The share of all pairs of runs that a measure separates significantly, with each pair's significance level.

    For ``bootstrap`` (Sakai 2006, 1000 replicates) the same resampled topics serve every pair and every measure;
    ``tukey`` is the randomised Tukey HSD (Carterette 2012, 5000 replicates); ``randomisation`` the paired one (all
    signs for up to 20 topics, beyond 10,000 random ones); also ``t`` and ``wilcoxon``.
    A pair is significant if ASL < alpha; ``delta`` is a difference of means that is enough for any pair: the largest
    of those that single pairs would have needed. Several tests and several alphas give one row each. ``top`` keeps
    the best round(top n) runs by the mean of ``by`` (0.75 and AP in Ferro et al.); ``measures`` are those to look at,
    if not all.

    Tables: ``power`` {measure, test, alpha, pairs, significant, power, delta, topics}, ``asl`` {measure, test, a,
    b, asl, difference}, ``curve`` {measure, test, asl, pairs}: how many pairs have at most this ASL.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = discriminative_power(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP"]), test="t")
    >>> result["power"].records()[0]["power"]
    1.0
    """
    scores = as_scores(scores)
    tests = (test,) if isinstance(test, str) else tuple(test)
    alphas = (alpha,) if isinstance(alpha, int | float) else tuple(alpha)
    if not tests or not alphas:
        what = "level" if tests else "test"
        raise SettingsError(f"no {what} is named", hint=f"name a {what}, such as {0.05 if tests else 't'}")
    wanted = scores.measures if measures is None else tuple(parse_many(measures))
    scores = best_runs(scores, top, by)
    matrices = [complete(scores, measure) for measure in wanted]
    check_comparable(scores, matrices)
    first, second = all_pairs(len(scores.runs))
    power: list[tuple[Cell, ...]] = []
    asl: list[Rows] = []
    curve: list[Rows] = []
    names = (CategoricalColumn(scores.runs, first), CategoricalColumn(scores.runs, second))
    for matrix in matrices:
        for name in tests:
            label = (str(matrix.measure), name)
            for level in alphas:
                done = run_test(
                    name, matrix.values, first, second, alpha=level, replicates=replicates, seed=seed, jobs=jobs
                )  # fmt: skip
                done = replace(done, p=_asl(done.p, name, replicates))
                power.append((*label, level, *_separated(done, level), len(matrix.topics)))
            asl.append(Columns([*_labels(label, len(first)), *names, done.p, done.difference]))
            levels, pairs = _curve(done)
            curve.append(Columns([*_labels(label, len(levels)), levels, pairs]))
    tables = (
        Table(
            "power",
            ("measure", "test", "alpha", "pairs", "significant", "power", "delta", "topics"),
            power,
            {"alpha": 3},
            caption=f"Discriminative power over {len(scores.runs)} runs: {', '.join(map(test_name, tests))}",
            legend="power: share of the pairs of runs that differ significantly; delta: difference that is needed",
        ),
        Table(
            "asl",
            ("measure", "test", "a", "b", "asl", "difference"),
            ConcatenatedRows(asl),
            p_values=("asl",),
            ranked_by=("asl", "difference"),
            caption="Achieved significance level of every pair of runs",
        ),
        Table("curve", ("measure", "test", "asl", "pairs"), ConcatenatedRows(curve)),
    )
    settings: dict[str, Any] = {
        **scores.settings,
        "test": list(tests),
        "alpha": list(alphas),
        "replicates": {t: replicates or n for t, n in REPLICATES.items() if t in tests},
        "seed": seed,
        "measures": [str(measure) for measure in wanted],
        **top_settings(top, by),
        **left_out(matrices),
    }
    result = TableResult.of(*tables, settings=settings)
    several = len(tests) * len(alphas) > 1
    return replace(result, display=(significant_pairs(result), result["power"])) if several else result


def significant_pairs(result: Result) -> Table:
    """The significant pairs of :func:`discriminative_power` as papers print them: measures down, tests across.

    >>> import rankscope as rs
    >>> lists = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> runs = {"good": lists, "poor": {topic: {"b": 1} for topic in lists}}
    >>> scores = rs.evaluate({topic: {"a": 1} for topic in lists}, runs, ["AP", "P@1"])
    >>> found = discriminative_power(scores, ["wilcoxon", "t"], alpha=[0.05, 0.01])
    >>> print(significant_pairs(found).text())
    measure  Wilcoxon 95%  Wilcoxon 99%  t test 95%  t test 99%
    ───────────────────────────────────────────────────────────
    AP                  1             1           1           1
    P@1                 1             1           1           1
    """
    rows = result["power"].records()
    counts = {(r["measure"], r["test"], r["alpha"]): r["significant"] for r in rows}
    kinds = list(dict.fromkeys((str(r["test"]), float(r["alpha"] or 0)) for r in rows))
    columns = [f"{_TITLES.get(test, test)} {100 - 100 * alpha:g}%" for test, alpha in kinds]
    measures = dict.fromkeys(r["measure"] for r in rows)
    body = [(measure, *(counts[measure, *kind] for kind in kinds)) for measure in measures]
    pairs = rows[0]["pairs"] if rows else 0
    caption = f"Pairs of runs that differ significantly, of {pairs:,}"
    return Table("significant_pairs", ("measure", *columns), body, caption=caption)


def check_comparable(scores: Scores, matrices: Sequence[CompleteMatrix]) -> None:
    """Refuse what no paired test can work with: a single run, or a single topic."""
    if len(scores.runs) < 2:
        raise InputError("comparing needs at least two runs", hint="name more runs, or scores of several")
    for matrix in matrices:
        if len(matrix.topics) < 2:
            raise InputError(
                f"{matrix.measure} is defined on one topic only, a paired test needs at least two",
                hint="evaluate on more topics, or leave the measure out",
            )


def _asl(p: NDArray[np.float64], test: str, replicates: int | None) -> NDArray[np.float64]:
    """Sakai's ASL is the share b/B of the replicates; a p-value, (b + 1)/(B + 1), counts the observed data, too."""
    if test != "bootstrap":
        return p
    many = replicates or REPLICATES[test]
    return np.rint(p * (many + 1) - 1) / many


def _separated(done: PairTests, alpha: float) -> tuple[int, int, float, float]:
    significant = int(np.count_nonzero(done.p < alpha))
    return len(done.p), significant, significant / len(done.p), float(done.delta.max())


def _labels(label: tuple[str, str], rows: int) -> list[CategoricalColumn]:
    """The same words in every row, which need no memory."""
    return [CategoricalColumn((word,), np.broadcast_to(np.int8(0), rows)) for word in label]


def _curve(done: PairTests) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """How many pairs have at most this significance level, at every level that occurs."""
    levels, counts = np.unique(done.p, return_counts=True)
    return levels, np.cumsum(counts)
