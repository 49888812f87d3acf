"""Measures on an interval scale against exact places in the order of all values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

CASES: list[dict[str, Any]] = [
    case
    for case in json.loads((Path(__file__).parent / "certainty.json").read_text())["cases"]
    if case["function"] == "interval_mapping"
]


def test_all_cases_are_there() -> None:
    assert len(CASES) == 36


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_interval_mapping(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    relevant = [f"r{k}" for k in range(inputs["recall_base"])]
    left = iter(relevant)
    ranking = [next(left) if grade else f"x{rank}" for rank, grade in enumerate(inputs["run"])]
    text = f"Interval(measure='{inputs['measure']}')@{inputs['length']}"
    actual = rs.evaluate({"q": dict.fromkeys(relevant, 1)}, {"q": ranking}, text).values.item()
    assert actual == pytest.approx(case["expected"]["value"]["float"], abs=1e-12)
