"""The local module for Hugging Face ``evaluate``, with the real package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

MODULE = Path(__file__).parents[1] / "integrations" / "rankscope_metric"
LABELS, SCORES = [[2, 0, 1], [0, 1]], [[0.9, 0.5, 0.1], [0.3, 0.3]]


@pytest.fixture
def metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    evaluate = pytest.importorskip("evaluate")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    return evaluate.load(str(MODULE), cache_dir=str(tmp_path))


def test_values_are_those_of_evaluate_arrays(metric: Any) -> None:
    result = metric.compute(predictions=SCORES, references=LABELS, measures="nDCG@10 RR")
    flat = [[x for row in rows for x in row] for rows in (LABELS, SCORES)]
    expected = rs.evaluate_arrays(*flat, [3, 2], "nDCG@10 RR", ties="expected").means()["run"]
    assert result == expected
    assert result["RR"] == pytest.approx((1 + 0.75) / 2)  # rank 1 or 2 of the tied document


def test_batches_are_evaluated_together(metric: Any) -> None:
    for scores, labels in zip(SCORES, LABELS, strict=True):
        metric.add(prediction=scores, reference=labels)
    result = metric.compute(measures="RR", ties="worst")
    assert result == {"RR": pytest.approx((1 + 0.5) / 2)}


def test_rankings_of_other_lengths_are_an_error(metric: Any) -> None:
    with pytest.raises(ValueError, match="as many scores"):
        metric.compute(predictions=[[0.5]], references=[[1, 0]])
