"""The case analysis against the counts of Albahem et al. (2018) and values derived from their definitions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rankscope.cli.main import main
from rankscope.lab import properties
from rankscope.lab.rankings.enumeration import count_rankings

RELATION = {
    "relevance_pair_count": "relevance monotonicity",
    "irrelevance_pair_count": "irrelevance monotonicity",
    "redundancy_pair_count": "redundancy",
    "induced_pair_count": "induced",
}
MEASURES = "ACT AP_IA RR P@5 P@10 nDCG@5 nDCG@10 AP StRec@10 P_IA@10 ERR_IA alpha_nDCG@10 NRBP CT"  # those of the paper


def test_total_cases(golden: list[dict[str, Any]]) -> None:
    (case,) = [case for case in golden if case["function"] == "total_cases"]
    assert count_rankings(case["inputs"]["m"] + 1, case["inputs"]["h"]) == case["expected"]


def test_pair_counts(golden: list[dict[str, Any]]) -> None:
    cases = [case for case in golden if case["function"] in RELATION]
    assert len(cases) == 8
    for case in cases:
        name = RELATION[case["function"]]
        assert case["inputs"].get("include_empty", False) == (name == "induced")
        result = properties(
            "RR", aspects=len(case["inputs"]["aspects"]), depth=case["inputs"]["h"], properties=[name]
        )
        assert result.verdicts[0].cases == case["expected"], case["name"]


def test_violations(golden: list[dict[str, Any]]) -> None:
    cases = [case for case in golden if case["function"].endswith("_violations")]
    assert len(cases) == 4
    for case in cases:
        inputs = case["inputs"]
        act = case["function"].startswith("act")
        result = properties(
            "ACT" if act else "AP_IA",
            aspects=len(inputs["aspects"]),
            depth=inputs["h"],
            relevant=inputs.get("R", 10),
        )
        name = "irrelevance monotonicity" if act else "redundancy"
        assert result.violations("ACT" if act else "AP_IA", name) == case["expected"], case["name"]


def test_the_command_reports_the_whole_table_of_the_paper(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments = ["--aspects", "2", "--depth", "10", "--relevant", "10", "-m", MEASURES, "-f", "json"]
    assert main(["properties", *arguments]) == 0
    printed = json.loads(capsysbinary.readouterr().out)
    assert printed["settings"]["rankings"] == 88_573
    assert printed["settings"]["complete"] is True
    cases = {
        "relevance monotonicity": 59_046,
        "irrelevance monotonicity": 29_523,
        "redundancy": 2_026,
        "induced": 855_921,
    }
    expected = {("ACT", "irrelevance monotonicity"): 29_496, ("AP_IA", "redundancy"): 2_026}
    rows = printed["tables"]["properties"]
    assert len(rows) == 14 * 4
    for row in rows:
        assert row["cases"] == cases[row["property"]]
        if row["property"] == "induced":
            # what breaks a property breaks what follows from it, and nothing else does
            assert (row["violations"] > 0) == (row["measure"] in ("ACT", "AP_IA"))
        else:
            assert row["violations"] == expected.get((row["measure"], row["property"]), 0)
    sentences = [row["explanation"] for row in printed["tables"]["counterexamples"]]
    assert (
        "ACT(abx) = 0.0833 > ACT(ab) = 0.0750: appending a non-relevant document raised the score"
        in sentences
    )
