"""Diversity measures against published and derived values."""

from __future__ import annotations

from typing import Any

import pytest

from rankscope.lab.axioms.cases import properties
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import aspect_world
from rankscope.measures import measure

NAMES = {
    "s_recall_5": "StRec@5",
    "p_ia_5": "P_IA@5",
    "ap_ia": "AP_IA",
    "err_ia": "ERR_IA",
    "nrbp_05_05": "NRBP",
    "alpha_dcg_10": "alpha_DCG@10",
    "alpha_ndcg_10": "alpha_nDCG@10",
    "ct": "CT",
    "act": "ACT",
    "nct_depth10": "nCT@10",
    "ct_eq7": "CT(preset='equation7')",
    "act_eq7": "ACT(preset='equation7')",
}


def score(name: str, word: str, aspects: int = 2, relevant: int = 8) -> float:
    """Return the value of a measure for a ranking such as abx; lists and prefix tree must agree."""
    tree = Tree(aspect_world(aspects, relevant=relevant, nonrelevant=8), max(1, len(word)))
    index = tree.words().index(word)
    item = measure(name)
    on_lists = float(item.evaluate(tree.flat())[index])
    assert float(item.evaluate(tree)[index]) == pytest.approx(on_lists, abs=1e-14)
    return on_lists


def number(expected: Any) -> float:
    return float(expected["float"] if isinstance(expected, dict) else expected)


def test_every_diversity_case(golden: list[dict[str, Any]]) -> None:
    cases = [case for case in golden if case["function"] == "diversity_all"]
    assert len(cases) == 15
    for case in cases:
        assert set(case["expected"]) == set(NAMES)
        for key, expected in case["expected"].items():
            actual = score(NAMES[key], case["inputs"]["S"])
            assert actual == pytest.approx(number(expected), abs=1e-12), (case["name"], key)


def test_average_cube_test(golden: list[dict[str, Any]]) -> None:
    cases = [case for case in golden if case["function"] == "act"]
    assert {case["inputs"]["S"] for case in cases} == {"ab", "abx"}
    for case in cases:
        assert score("ACT", case["inputs"]["S"]) == pytest.approx(number(case["expected"]), abs=1e-15)


def test_intent_aware_average_precision(golden: list[dict[str, Any]]) -> None:
    cases = [case for case in golden if case["function"] == "ap_ia"]
    assert len(cases) == 2
    for case in cases:
        (relevant,) = set(case["inputs"]["R"].values())
        actual = score("AP_IA", case["inputs"]["S"], relevant=relevant)
        assert actual == pytest.approx(number(case["expected"]), abs=1e-15)


def test_subtopic_recall(golden: list[dict[str, Any]]) -> None:
    (case,) = [case for case in golden if case["function"] == "s_recall"]
    assert score(f"StRec@{case['inputs']['k']}", case["inputs"]["S"]) == number(case["expected"])


def test_the_equation_with_the_time_that_the_text_names() -> None:
    """With one iteration for all documents the equation has the published number of violations."""
    text = "ACT(preset='equation7',time='iterations')"
    assert score(text, "ab") == pytest.approx(0.75, abs=1e-15)
    assert score(text, "abx") == pytest.approx(2.5 / 3, abs=1e-15)
    assert score("ACT(preset='equation7')", "abx") == pytest.approx(
        score("ACT(preset='equation7',time='documents')", "abx")
    )
    actual = properties([text, "ACT"], aspects=2, depth=10, properties=["irrelevance monotonicity"])
    assert [f.violations for f in actual.verdicts] == [29_496, 29_496]
