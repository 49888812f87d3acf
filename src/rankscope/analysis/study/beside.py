"""What a study draws beside its own tables: comparison with the best run, findings, ranks, coverage, orderings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankscope.analysis.compare import compare
from rankscope.analysis.coverage import coverage
from rankscope.analysis.findings import findings
from rankscope.analysis.orderings import orderings
from rankscope.analysis.ranks import ranks
from rankscope.errors import InputError
from rankscope.measures import Measure, needs_aspects
from rankscope.result import Result
from rankscope.scores import evaluate

__all__ = ["beside", "closest"]


def beside(
    qrels: Any, runs: Any, measures: str | Sequence[Measure], *, jobs: int | None = None, **handling: Any
) -> tuple[dict[str, Result], dict[str, str]]:
    """Results of one collection by name, and for those that are not possible why.

    ``scores``; ``comparison``: every run against the best by the first measure, topic by topic; ``findings``;
    ``ranks``: the ranks of the runs across the measures; ``coverage``: where some measure needs aspects;
    ``orderings``: the same files in the order of their lines and of trec_eval. ``handling`` are the options of
    :func:`rankscope.evaluate`.

    >>> runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["b", "a"], "q2": ["b"]}}
    >>> found, left_out = beside({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "AP")
    >>> list(found), closest(found["comparison"])
    (['scores', 'findings', 'comparison', 'ranks', 'orderings'], ('poor', 'good'))
    """
    scores = evaluate(qrels, runs, measures, jobs=jobs, **handling)
    found: dict[str, Result] = {"scores": scores, "findings": findings(scores)}
    left_out: dict[str, str] = {}
    if len(scores.runs) > 1 and len(scores.topics) > 1:
        first = scores.measures[0]
        best = scores.runs[int(first.best_first(scores.mean(first))[0])]
        found["comparison"] = compare(scores.matrix(first), best, per_topic=True)
    else:
        left_out["comparison"] = "two runs and two topics are needed"
    order, missing = handling.get("order"), handling.get("missing", "zero")
    ordering = [m for m in scores.measures if m.better != "neither"]
    if len(scores.runs) > 1 and ordering:
        seed = handling.get("seed", 1)
        found["ranks"] = ranks(qrels, runs, ordering, seed=seed, order=order, missing=missing, jobs=jobs)
    else:
        left_out["ranks"] = "two runs and a measure of which some value is better are needed"
    if needs_aspects(scores.measures):
        found["coverage"] = coverage(qrels, runs, order=order, missing=missing, jobs=jobs)
    try:
        found["orderings"] = orderings(evaluate(qrels, runs, measures, missing=missing, jobs=jobs))
    except InputError as error:
        left_out["orderings"] = str(error)
    return found, left_out


def closest(comparison: Result) -> tuple[str, str]:
    """The pair of runs with the smallest difference: the best run and the one behind it."""
    rows = comparison["pairs"].records()
    nearest = min(rows, key=lambda row: abs(float(str(row["difference"] or 0.0))))
    return str(nearest["a"]), str(nearest["b"])
