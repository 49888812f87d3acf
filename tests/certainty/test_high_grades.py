"""Grades so high that an unjudged document could have a billion labels are refused, and take no memory."""

from __future__ import annotations

import pytest

import rankscope as rs
from rankscope.errors import InputError


@pytest.mark.parametrize("measure", ["nDCG", "AP", "DCG", "Twist"])
def test_a_billion_labels_are_refused(measure: str) -> None:
    qrels = {"q": {"a": 2_000_000_000, "b": 0}}
    with pytest.raises(InputError, match="grade 2000000000"):
        rs.evaluate(qrels, {"r": {"q": ["x", "a"]}}, [measure], unjudged="bounds")


def test_a_thousand_are_not() -> None:
    scores = rs.evaluate({"q": {"a": 1000}}, {"r": {"q": ["x", "a"]}}, ["P@2"], unjudged="bounds")
    lowest, highest = scores.bounds("P@2")
    assert (lowest.values.tolist(), highest.values.tolist()) == ([[0.5]], [[1.0]])
