"""Dicts: ``rankscope.pytrec_eval`` in the place of pytrec_eval, by the number and the length of the lists.

``python -m benchmarks.dicts`` prints the table; CPU times are the best of some, the two taking turns.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

__all__ = ["table"]

MEASURES = {"map", "ndcg_cut.10", "recall.100", "P.10", "recip_rank"}


class Size(NamedTuple):
    """Numbers of topics, of judged documents per topic, and of documents per ranking."""

    topics: int
    judged: int
    documents: int


SIZES = (
    Size(200, 100, 1000),
    Size(50, 300, 1000),
    Size(7000, 1, 100),
    Size(7000, 1, 1000),
    Size(2000, 50, 10),
    Size(2000, 5, 10),
    Size(1, 5, 10),
)


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

    import rankscope.pytrec_eval as ours

    lines = [
        "From dicts to per-topic values of five measures, CPU time: an evaluator is made and evaluates one run, and",
        "the same evaluator evaluates a run again.",
        "",
        "| topics | judged documents | documents in a list | pytrec_eval, ms | rankscope.pytrec_eval, ms | ratio "
        "| again: pytrec_eval, ms | rankscope.pytrec_eval, ms | ratio |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for size in SIZES:
        if quick:
            size = size._replace(topics=max(1, size.topics // 20))
        qrels, run = collection(size)
        documents = size.topics * size.documents
        repeats = 2 if quick else max(7, min(200, 1_000_000 // documents))
        made, again = [float("inf")] * 2, [float("inf")] * 2
        for _ in range(repeats):
            for i, library in enumerate((original, ours)):
                first, second = _seconds(library, qrels, run)
                made[i], again[i] = min(made[i], first), min(again[i], second)
        shown = " | ".join(
            f"{theirs * 1e3:.3f} | {mine * 1e3:.3f} | {theirs / mine:.2f}" for theirs, mine in (made, again)
        )
        lines.append(f"| {size.topics:,} | {size.judged:,} | {size.documents:,} | {shown} |")
    return "\n".join(
        [
            *lines,
            "",
            "A ratio above 1 says that rankscope.pytrec_eval is that many times as fast. Short lists are its weak side:"
            " a call costs the",
            "same for one query as for a hundred, so that queries are better evaluated together than one by one.",
            "",
        ]
    )


def _seconds(library: Any, qrels: dict[str, Any], run: dict[str, Any]) -> tuple[float, float]:
    """Return the CPU seconds of a new evaluator that is used once, and of an existing one."""
    start = time.process_time()
    library.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    made = time.process_time() - start
    evaluator = library.RelevanceEvaluator(qrels, MEASURES)
    evaluator.evaluate(run)
    start = time.process_time()
    evaluator.evaluate(run)
    return made, time.process_time() - start


if __name__ == "__main__":
    print(table())
