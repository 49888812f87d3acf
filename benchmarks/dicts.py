"""Dicts: ``rankscope.pytrec_eval`` in the place of pytrec_eval, by the number and the length of the lists.

``python -m benchmarks.dicts`` prints the table; times are the best of some, the two taking turns.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

__all__ = ["table"]

MEASURES = {"map", "ndcg_cut.10", "recall.100", "P.10", "recip_rank"}


class Size(NamedTuple):
    """How many topics, judged documents of each, and documents in each list."""

    topics: int
    judged: int
    documents: int


SIZES = (
    Size(200, 100, 1000),
    Size(50, 300, 1000),
    Size(7000, 1, 100),
    Size(7000, 1, 1000),
    Size(2000, 50, 10),
)


def collection(size: Size, seed: int = 1) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Random judgments and a run."""
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
    """The section as Markdown; ``quick`` has fewer topics and repetitions."""
    import pytrec_eval as original

    import rankscope.pytrec_eval as ours

    lines = [
        "From dicts to per-topic values of five measures: an evaluator is made and evaluates one run.",
        "",
        "| topics | judged documents | documents in a list | pytrec_eval, s | rankscope.pytrec_eval, s | ratio |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for size in SIZES:
        if quick:
            size = size._replace(topics=max(1, size.topics // 20))
        qrels, run = collection(size)
        best = [float("inf")] * 2
        for _ in range(2 if quick else 7):
            for i, library in enumerate((original, ours)):
                best[i] = min(best[i], _seconds(library, qrels, run))
        shown = f"{best[0]:.4f} | {best[1]:.4f} | {best[0] / best[1]:.1f}"
        lines.append(f"| {size.topics:,} | {size.judged:,} | {size.documents:,} | {shown} |")
    return "\n".join(
        [*lines, "", "A ratio above 1 says that rankscope.pytrec_eval is that many times as fast.", ""]
    )


def _seconds(library: Any, qrels: dict[str, Any], run: dict[str, Any]) -> float:
    start = time.perf_counter()
    library.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    return time.perf_counter() - start


if __name__ == "__main__":
    print(table())
