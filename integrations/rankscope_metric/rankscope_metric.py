"""Measures of Rankscope for Hugging Face ``evaluate``: ``evaluate.load("integrations/rankscope_metric")``."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

import rankscope as rs

_INPUTS = """
Args:
    predictions: scores of the documents of every ranking.
    references: grades of the same documents; negative ones are left out.
    measures: names of measures, separated by spaces.
    ties: order of tied documents: "expected" (the mean over all orders), "best", "worst" or "break" (by position).

Returns:
    The mean of every measure over the rankings, by name.
"""


class RankscopeMetric(evaluate.Metric):
    """Means of measures of Rankscope over rankings with scores and grades."""

    def _info(self) -> evaluate.MetricInfo:
        row = datasets.Sequence(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description="Measures of rankings: nDCG@10, AP, RR, RBP, ERR and all others of Rankscope.",
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": row, "references": row}),
        )

    def _compute(
        self, predictions: Any, references: Any, measures: str = "nDCG@10", ties: str = "expected"
    ) -> dict[str, float]:
        sizes = [len(grades) for grades in references]
        if sizes != [len(scores) for scores in predictions]:
            raise ValueError("every ranking needs as many scores (predictions) as grades (references)")
        labels, scores = ([x for row in rows for x in row] for rows in (references, predictions))
        groups = [number for number, size in enumerate(sizes) for _ in range(size)]
        return dict(rs.evaluate_arrays(labels, scores, groups, measures, ties=ties).means()["run"])
