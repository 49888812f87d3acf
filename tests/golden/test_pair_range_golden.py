"""The range of the difference of two runs over labels, orders of ties, and both is that of brute force."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

CASES = [
    case
    for case in json.loads((Path(__file__).parent / "science.json").read_text())["cases"]
    if case["function"] == "pair_range"
]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_ranges_of_differences_are_exact(case: dict[str, Any]) -> None:
    inputs = case["inputs"]
    actual = rs.certain(
        rs.evaluate(
            {"q": inputs["qrels"]}, {"a": {"q": inputs["a"]}, "b": {"q": inputs["b"]}}, inputs["measure"]
        )
    )
    for row in actual["ranges"].records():
        ends = [row["lowest"], row["highest"]]
        if row["a"] == "b":
            ends = [-ends[1], -ends[0]]
        expected = case["expected"][{"ties": "ties", "unjudged": "labels", "both": "together"}[row["source"]]]
        assert row["exact"] and ends == pytest.approx(expected, abs=1e-12), row
