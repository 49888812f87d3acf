"""Dicts and arrays: ``rankscope.pytrec_eval`` and ``rs.evaluate`` next to pytrec_eval, and arrays next to scikit-learn.

``python -m benchmarks.dicts`` prints the tables; CPU times are medians, the libraries taking turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import numpy as np

__all__ = ["table"]

MEASURES = {"map", "ndcg_cut.10", "recall.100", "P.10", "recip_rank"}
OURS = ("AP", "nDCG@10", "R@100", "P@10", "RR")
ARRAYS_GOAL = 20
"""Lowest ratio of the time of ``ndcg_score``, row by row, to that of ``evaluate_arrays``."""
PREPARED_GOAL = 10
"""Highest ratio of the time of a single query with a prepared evaluator to pytrec_eval's."""


class Size(NamedTuple):
    """Numbers of topics, of judged documents per topic, and of documents per ranking."""

    topics: int
    judged: int
    documents: int


SIZES = {
    Size(100, 10, 10): 1.0,
    Size(2000, 10, 10): 2.0,
    Size(2000, 20, 100): 4.0,
    Size(1000, 50, 1000): 7.0,
    Size(7000, 1, 100): None,
    Size(1, 5, 10): None,
}
"""Sizes, and the goal: how many times as fast as pytrec_eval."""


def collection(size: Size, seed: int = 1) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return random judgments and a run."""
    rng = np.random.default_rng(seed)
    pooled = max(4 * size.documents, 4 * size.judged)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for topic in map(str, range(size.topics)):
        judged = rng.choice(pooled, size.judged, replace=False).tolist()
        grades = rng.integers(0, 3, size.judged).tolist()
        qrels[topic] = {f"d{document}": grade for document, grade in zip(judged, grades, strict=True)}
        listed = rng.choice(pooled, size.documents, replace=False).tolist()
        scores = rng.random(size.documents).tolist()
        run[topic] = {f"d{document}": score for document, score in zip(listed, scores, strict=True)}
    return qrels, run


def table(quick: bool = False) -> str:
    """Return the section as Markdown; ``quick`` has fewer topics and repetitions."""
    import pytrec_eval as original

    import rankscope as rs
    import rankscope.pytrec_eval as drop_in

    lines = [
        "From dicts to per-topic values of five measures: `RelevanceEvaluator(qrels, measures).evaluate(run)` of",
        "pytrec_eval and of `rankscope.pytrec_eval`, and `rs.evaluate(qrels, run, measures)`. Median CPU time.",
        "",
        "| topics | judged documents | documents in a ranking | pytrec_eval, ms | drop-in, ms | ratio "
        "| rs.evaluate, ms | ratio | goal |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    prepared = []
    for size, goal in SIZES.items():
        if quick:
            size = size._replace(topics=max(1, size.topics // 20))
        qrels, run = collection(size)
        ways: dict[str, Callable[[], Any]] = {
            "theirs": lambda: original.RelevanceEvaluator(qrels, MEASURES).evaluate(run),  # noqa: B023 -- called here
            "drop-in": lambda: drop_in.RelevanceEvaluator(qrels, MEASURES).evaluate(run),  # noqa: B023
            "evaluate": lambda: rs.evaluate(qrels, run, OURS),  # noqa: B023
        }
        repeats = 3 if quick else max(9, min(500, 2_000_000 // (size.topics * size.documents)))
        theirs, *times = _medians(ways, repeats)
        shown = " | ".join(f"{seconds * 1e3:.3f} | {theirs / seconds:.2f}" for seconds in times)
        slowest = theirs / max(times)
        verdict = "" if goal is None else f"{goal:g}: {'met' if slowest >= goal else 'missed'}"
        counts = f"{size.topics:,} | {size.judged:,} | {size.documents:,}"
        lines.append(f"| {counts} | {theirs * 1e3:.3f} | {shown} | {verdict} |")
        again = [library.RelevanceEvaluator(qrels, MEASURES) for library in (original, drop_in)]
        evaluator = rs.Evaluator(qrels, OURS)
        calls = {
            "theirs": lambda: again[0].evaluate(run),  # noqa: B023
            "drop-in": lambda: again[1].evaluate(run),  # noqa: B023
            "Evaluator": lambda: evaluator(run),  # noqa: B023
        }
        times = _medians(calls, repeats)
        is_single = size.topics == 1 and goal is None
        reached = max(times[1:]) <= PREPARED_GOAL * times[0]
        verdict = f"{PREPARED_GOAL} x: {'met' if reached else 'missed'}" if is_single else ""
        shown = " | ".join(f"{seconds * 1e3:.3f}" for seconds in times)
        prepared.append(f"| {counts} | {shown} | {verdict} |")
    return "\n".join(
        [
            *lines,
            "",
            "A ratio above 1 says that Rankscope is that many times as fast. The same with an evaluator that is",
            "prepared before: `RelevanceEvaluator.evaluate` of both, and `rs.Evaluator`, which returns `Scores`.",
            "",
            "| topics | judged documents | documents in a ranking | pytrec_eval, ms | drop-in, ms "
            "| rs.Evaluator, ms | goal |",
            "|---:|---:|---:|---:|---:|---:|---|",
            *prepared,
            "",
            _arrays(quick),
            "",
        ]
    )


def _arrays(quick: bool) -> str:
    """Return the sentence about arrays: ``evaluate_arrays`` against ``ndcg_score`` of scikit-learn for each row."""
    from sklearn.metrics import ndcg_score

    import rankscope as rs

    rows, documents, timed = (500, 100, 50) if quick else (10_000, 100, 500)
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 3, (rows, documents)), rng.random((rows, documents))
    ways: dict[str, Callable[[], Any]] = {
        "scikit-learn": lambda: [ndcg_score(labels[i : i + 1], scores[i : i + 1]) for i in range(timed)],
        "arrays": lambda: rs.evaluate_arrays(labels, scores, measures="nDCG", ties="expected"),
    }
    theirs, ours = _medians(ways, 3 if quick else 9)
    ratio = theirs / timed * rows / ours
    return (
        f"nDCG of {rows:,} x {documents} labels and scores in arrays, ties as in scikit-learn: `rs.evaluate_arrays` "
        f"{ours * 1e3:.0f} ms, `ndcg_score` row by row {theirs / timed * rows * 1e3:.0f} ms (from {timed} rows): "
        f"{ratio:.0f} times as fast (goal {ARRAYS_GOAL}: {'met' if ratio >= ARRAYS_GOAL else 'missed'})."
    )


def _medians(ways: dict[str, Callable[[], Any]], repeats: int) -> list[float]:
    """Return the median CPU seconds of each way; the ways take turns, and the first call of each does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, way in ways.items():
            start = time.process_time()
            way()
            if turn:
                times[name].append(time.process_time() - start)
    return [median(seconds) for seconds in times.values()]


if __name__ == "__main__":
    print(table())
