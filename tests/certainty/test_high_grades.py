"""Grades so high that an unjudged document could have a billion labels are rejected, and take no memory."""

from __future__ import annotations

import tracemalloc

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


@pytest.mark.parametrize("measure", ["nDCG", "DCG", "P@2", "RBP(graded=True)"])
def test_the_mean_over_orders_takes_no_memory_for_absent_grades(measure: str) -> None:
    """An array of the gains of all grades would take 16 GB."""
    qrels = {"q": {"a": 2_000_000_000, "b": 0}}
    run = {"r": {"q": {"a": 1.0, "b": 1.0}}}
    orders = [rs.evaluate(qrels, {"r": {"q": list(order)}}, [measure]) for order in ("ab", "ba")]
    expected = sum(scores.mean(measure)[0] for scores in orders) / 2
    tracemalloc.start()
    mean = rs.evaluate(qrels, run, [measure], ties="expected").mean(measure)[0]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert mean == pytest.approx(expected)
    assert peak < 50_000_000
