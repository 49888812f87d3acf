"""Ties and unjudged documents: the expected values by brute force."""

from __future__ import annotations

from typing import Any

import pytest

import rankscope as rs

Cases = list[dict[str, Any]]


def collection(
    inputs: dict[str, Any], groups: list[list[int | None]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments and a run of one topic; a second topic has the best grade."""
    run, judged = {}, {}
    left = {int(grade): count for grade, count in inputs["counts"].items()} | {0: inputs["nonrelevant"]}
    for position, group in enumerate(groups):
        for grade in group:
            name = f"d{len(run)}"
            run[name] = -float(position)
            if grade is not None:
                judged[name] = grade
                left[grade] -= 1
    judged |= {f"e{grade}-{i}": grade for grade, count in left.items() for i in range(count)}
    return {"q": judged, "z": {"best": inputs["max_grade"]}}, {"r": {"q": run, "z": {"best": 1.0}}}


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_ties(certainty: Cases, ties: str) -> None:
    cases = [case for case in certainty if case["function"] == "ties"]
    assert len(cases) == 72
    for case in cases:
        qrels, run = collection(case["inputs"], case["inputs"]["groups"])
        scores = rs.evaluate(qrels, run, list(case["expected"]), ties=ties)
        assert scores.uncertainty is not None and scores.uncertainty.exact.all()
        for name, expected in case["expected"].items():
            assert scores.matrix(name).values[0, 0] == pytest.approx(expected[ties], abs=1e-9), (
                case["name"],
                name,
            )


def test_unjudged(certainty: Cases) -> None:
    cases = [case for case in certainty if case["function"] == "holes"]
    assert len(cases) == 48
    for case in cases:
        qrels, run = collection(case["inputs"], [[grade] for grade in case["inputs"]["run"]])
        expected = case["expected"]
        measures = list(expected["bounds"])
        ranged = rs.evaluate(qrels, run, measures, unjudged="bounds")
        condensed = rs.evaluate(qrels, run, measures, unjudged="condense")
        for name in measures:
            low, high = ranged.bounds(name)
            where = (case["name"], name)
            assert low.values[0, 0] == pytest.approx(expected["bounds"][name]["lowest"], abs=1e-9), where
            assert high.values[0, 0] == pytest.approx(expected["bounds"][name]["highest"], abs=1e-9), where
            assert condensed.matrix(name).values[0, 0] == pytest.approx(
                expected["condensed"][name], abs=1e-9
            ), where
