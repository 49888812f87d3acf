"""Which runs differ? Tests of runs against a baseline or against each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.analysis.power import check_comparable
from rankscope.analysis.stats.matrices import CompleteMatrix, complete, left_out, rounded
from rankscope.analysis.stats.significance import REPLICATES, adjust, all_pairs, effect_sizes, run_test
from rankscope.engines import on_engine
from rankscope.errors import InputError, nearest
from rankscope.measures.given import given
from rankscope.result import Result, TableResult
from rankscope.scores import Scores
from rankscope.tables import Cell, Table

__all__ = ["compare", "letters"]

Indices = NDArray[np.intp]

_LETTERED = 60  # more runs than this get no letters: nobody can read them
_MOST_GROUPS = 100  # of runs that do not differ; beyond, letters would say nothing and take forever
_COLUMNS = (
    "a", "b", "measure", "difference", "p", "adjusted", "significant", "effect_size", "low", "high",
    "wins", "losses", "ties",
)  # fmt: skip


@on_engine
def compare(
    scores: Scores,
    baseline: str | None = None,
    *,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    replicates: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    engine: Any = None,
) -> TableResult:
    """Every run against a baseline, or every pair of runs, for every measure.

    Each row of ``pairs`` has the mean difference a - b with its confidence interval (1 - alpha), the p-value, the
    p-value adjusted within the measure (Holm, Bonferroni, Benjamini-Hochberg; Tukey HSD is adjusted already), Cohen's d
    of the paired differences, and on how many topics a wins (has the better value), loses, ties. ``runs`` has the means
    with marks: stars against a baseline (* .05, ** .01, *** .001), otherwise letters: runs that share one do not
    differ significantly.

    >>> import rankscope as rs
    >>> qrels = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {f"q{i}": {"a": 3, "b": 2} for i in range(9)}
    >>> poor = {f"q{i}": {"b": 3, "c": 2, **({"a": 1} if i % 2 else {})} for i in range(9)}
    >>> result = compare(rs.evaluate(qrels, {"good": good, "poor": poor}, ["AP"]), baseline="poor")
    >>> result["pairs"].records()[0]["significant"], result["runs"].column("mark")
    (True, ['***', ''])
    """
    matrices = [complete(scores, measure) for measure in scores.measures]
    check_comparable(scores, matrices)
    first, second = _pairs(scores.runs, baseline)
    if test == "tukey":
        correction = "none"
    pairs: list[tuple[Cell, ...]] = []
    runs: list[tuple[Cell, ...]] = []
    for matrix in matrices:
        done = run_test(
            test, matrix.values, first, second, alpha=alpha, replicates=replicates, seed=seed, jobs=jobs
        )
        adjusted = adjust(done.p, correction)
        significant = adjusted < alpha
        columns = (
            [scores.runs[r] for r in first], [scores.runs[r] for r in second], [str(matrix.measure)] * len(first),
            done.difference.tolist(), done.p.tolist(), adjusted.tolist(), significant.tolist(),
            effect_sizes(matrix.values, first, second).tolist(), done.low.tolist(), done.high.tolist(),
            *_outcomes(matrix, first, second),
        )  # fmt: skip
        pairs += list(zip(*columns, strict=True))
        marks = _marks(matrix, baseline, scores.runs, (first, second), adjusted, significant)
        means = [matrix.measure.mean(row) for row in matrix.values]
        for run, mean, mark in zip(scores.runs, means, marks, strict=True):
            runs.append((run, str(matrix.measure), mean, mark))
    settings: dict[str, Any] = {
        **scores.settings,
        "baseline": baseline,
        "test": test,
        "correction": correction,
        "alpha": alpha,
        "replicates": (replicates or REPLICATES[test]) if test in REPLICATES else None,
        "seed": seed,
        **left_out(matrices),
    }
    tables = (Table("pairs", _COLUMNS, pairs), Table("runs", ("run", "measure", "mean", "mark"), runs))
    result = TableResult.of(*tables, settings=settings)
    return replace(result, display=(marked_means(result), result["pairs"]))


def marked_means(result: Result) -> Table:
    """The means of :func:`compare` as papers print them: runs down, measures across, marks at the numbers.

    The best run by the first measure that knows what is better comes first.
    """
    rows = result["runs"].records()
    measures = {str(row["measure"]): given(str(row["measure"])) for row in rows}
    means = {(row["run"], row["measure"]): (row["mean"], str(row["mark"])) for row in rows}
    runs = list(dict.fromkeys(row["run"] for row in rows))
    knowing = [name for name, measure in measures.items() if measure.better != "neither"]
    first = (knowing or list(measures))[0]
    column = [float("nan") if (mean := means[run, first][0]) is None else float(mean) for run in runs]
    runs = [runs[r] for r in measures[first].best_first(column)]
    marks = {(r, name): means[run, name][1] for r, run in enumerate(runs) for name in measures}
    body = [(run, *(means[run, name][0] for name in measures)) for run in runs]
    best = {name: measure.sign for name, measure in measures.items()}
    return Table("runs", ("run", *measures), body, marks=marks, best=best)


def letters(means: Sequence[float], different: Iterable[tuple[int, int]]) -> list[str]:
    """A compact letter display (Piepho 2004): two runs share a letter exactly if they are not ``different``.

    The letters begin at the highest mean. Empty when more than 100 letters would be needed.

    >>> letters([0.3, 0.2, 0.1], [(0, 2)])
    ['a', 'ab', 'b']
    """
    groups = [(1 << len(means)) - 1]
    for i, j in different:
        both = (1 << i) | (1 << j)
        split = [group for group in groups if group & both == both]
        groups = [group for group in groups if group & both != both]
        for group in (g & ~(1 << k) for g in split for k in (i, j)):
            if not any(group & other == group for other in groups):
                groups = [other for other in groups if other & group != other] + [group]
        if len(groups) > _MOST_GROUPS:
            return ["" for _ in means]
    best_first = sorted(range(len(means)), key=lambda run: (-means[run], run))
    groups.sort(key=lambda group: [not group >> run & 1 for run in best_first])
    return [
        "".join(_letter(g) for g, group in enumerate(groups) if group >> run & 1) for run in range(len(means))
    ]


def _letter(index: int) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[index] if index < 26 else f"{alphabet[index % 26]}{index // 26}"


def _pairs(runs: Sequence[str], baseline: str | None) -> tuple[Indices, Indices]:
    if baseline is None:
        return all_pairs(len(runs))
    if baseline not in runs:
        hint = nearest(baseline, runs) or f"the runs are called {', '.join(runs[:3])} ..."
        raise InputError(f"no run is called {baseline!r}", hint=hint)
    against = runs.index(baseline)
    others = np.array([r for r in range(len(runs)) if r != against], dtype=np.intp)
    return others, np.full(len(others), against, dtype=np.intp)


def _outcomes(
    matrix: CompleteMatrix, first: Indices, second: Indices
) -> tuple[list[int], list[int], list[int]]:
    """On how many topics the first run wins, loses and ties; it wins with the better value, or with the higher one."""
    values = rounded(matrix.measure.merit(matrix.values))
    wins = np.array([int((values[a] > values[b]).sum()) for a, b in zip(first, second, strict=True)])
    losses = np.array([int((values[a] < values[b]).sum()) for a, b in zip(first, second, strict=True)])
    return wins.tolist(), losses.tolist(), (values.shape[1] - wins - losses).tolist()


def _marks(
    matrix: CompleteMatrix,
    baseline: str | None,
    runs: Sequence[str],
    pairs: tuple[Indices, Indices],
    adjusted: NDArray[np.float64],
    significant: NDArray[np.bool_],
) -> list[str]:
    first, second = pairs
    if baseline is not None:
        stars = ["" for _ in runs]
        for run, p in zip(first.tolist(), adjusted.tolist(), strict=True):
            stars[run] = "*" * sum(p < level for level in (0.05, 0.01, 0.001))
        return stars
    if len(runs) > _LETTERED:
        return ["" for _ in runs]
    different = zip(first[significant].tolist(), second[significant].tolist(), strict=True)
    means = np.array([matrix.measure.mean(row) for row in matrix.values])
    return letters(matrix.measure.merit(means).tolist(), different)
