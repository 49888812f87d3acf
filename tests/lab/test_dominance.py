"""Dominance of cumulated counts: golden cases, what swaps and replacements reach, and what measures say."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import MeasureError, SettingsError
from rankscope.lab.certificate_model import FEW, GRADES
from rankscope.lab.cumulated_counts import orders
from rankscope.measures import REGISTRY, Measure

BOTH = {(True, True): "both", (True, False): "a", (False, True): "b", (False, False): None}


def test_golden_cases(certainty):
    cases = [case for case in certainty if case["function"] == "dominance"]
    assert len(cases) >= 48
    for case in cases:
        result = rs.lab.dominance(case["inputs"]["a"], case["inputs"]["b"])
        for order in ("first_order", "second_order"):
            expected = case["expected"][order]
            assert getattr(result, order) == BOTH[expected["a_over_b"], expected["b_over_a"]], case["name"]


def reached(ranking: tuple[int, ...], top: int) -> set[tuple[int, ...]]:
    """Return all rankings that swaps (a better document moves up) and replacements (a grade rises) reach."""
    result, queue = {ranking}, [ranking]
    while queue:
        grades = queue.pop()
        for i in range(len(grades)):
            neighbours = [(*grades[:i], grades[i] + 1, *grades[i + 1 :])] if grades[i] < top else []
            neighbours += [
                (*grades[:i], grades[j], *grades[i + 1 : j], grades[i], *grades[j + 1 :])
                for j in range(i + 1, len(grades))
                if grades[j] > grades[i]
            ]
            queue += [two for two in neighbours if two not in result]
            result.update(neighbours)
    return result


@pytest.mark.parametrize(("length", "top"), [(6, 1), (4, 2), (3, 3)])
def test_first_order_is_exactly_what_swaps_and_replacements_reach(length, top):
    rankings = list(product(range(top + 1), repeat=length))
    grades = np.array(rankings)
    counts = np.stack([np.cumsum(grades >= g, axis=1) for g in range(1, top + 1)], axis=1)
    for number, ranking in enumerate(rankings):
        better = orders(counts - counts[number]).first[0]
        assert {rankings[i] for i in np.flatnonzero(better)} == reached(ranking, top)


def test_second_order_needs_the_end_where_weights_are_cut_or_go_on():
    result = rs.lab.dominance([1, 0, 0], [0, 1, 1])
    assert (result.second_order, result.convex) == ("a", None)
    runs = {"a": {"q": ["a", "x", "y"]}, "b": {"q": ["x", "b", "c"]}}
    scores = rs.evaluate({"q": {"a": 1, "b": 1, "c": 1}}, runs, ["RBP(p=0.9)", "DCG"])
    assert all(b > a for a, b in (scores.mean(m) for m in scores.measures))


lists = st.lists(st.sampled_from([0, 0, 0, 1, 1, 2]), min_size=1, max_size=12)


@given(lists, lists, st.lists(st.floats(0, 1), min_size=14, max_size=14), st.floats(0.1, 3))
def test_convex_weights_agree_with_the_orders(a, b, bends, gain):
    """Test any non-increasing convex weights, built from their bends and continued after the end of the rankings."""
    depth = max(len(a), len(b))
    slope = np.cumsum(bends[::-1])[::-1]
    weights = np.cumsum(slope[::-1])[::-1][:depth]
    to_zero = np.array([sum(bends[j] * (j + 1 - k) for j in range(k, depth)) for k in range(depth)])
    result = rs.lab.dominance(a, b)
    gains = np.array([0, 1, 1 + gain])

    def value(grades, weight):
        return float((gains[np.array(grades)] * weight[: len(grades)]).sum())

    for order, weight in (
        (result.convex, weights),
        (result.second_order, to_zero),
        (result.first_order, weights),
    ):
        difference = value(a, weight) - value(b, weight)
        assert order not in ("a", "both") or difference >= -1e-9
        assert order not in ("b", "both") or difference <= 1e-9


@cache
def respectful() -> list[Measure]:
    """Return the measures that respect swap and replacement in the settings of the certificates."""
    result = []
    for name in sorted({measure.name for measure in REGISTRY.values()}):
        measure = REGISTRY[name]
        if measure.needs_aspects or measure.better == "neither":
            continue
        try:
            measure = (
                measure if measure.cutoff is not None or measure.cutoff_rule != "required" else measure @ 3
            )
            tables = [
                rs.lab.properties([measure], properties=["swap", "replacement"], **s) for s in (GRADES, FEW)
            ]
        except MeasureError:
            continue
        if not any(row["violations"] for grades in tables for row in grades["properties"].records()):
            result.append(measure)
    return result


def lists_of_one_length(draw):
    length = draw(st.integers(1, 10))
    return [draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=length, max_size=length)) for _ in range(2)]


@given(st.composite(lists_of_one_length)())
def test_measures_that_respect_swap_and_replacement_agree_with_the_first_order(pair):
    a, b = pair
    order = rs.lab.dominance(a, b).first_order
    if order not in ("a", "b"):
        return
    pool = {f"{grade}-{i}": grade for grade in range(3) for i in range(len(a))}
    runs = {name: {"q": [f"{g}-{i}" for i, g in enumerate(grades)]} for name, grades in (("a", a), ("b", b))}
    scores = rs.evaluate({"q": pool}, runs, respectful())
    for measure in scores.measures:
        first, second = measure.merit(scores.mean(measure))
        better, worse = (first, second) if order == "a" else (second, first)
        # The bound keeps the tolerance finite: BalancePoint can be infinite.
        assert not better < worse - 1e-9 * max(1, min(abs(worse), 1e300)), measure


def test_many_measures_respect_swap_and_replacement():
    assert {"AP", "RR", "nDCG", "RBP", "ERR", "Rprec", "P@3"} <= {str(measure) for measure in respectful()}


@pytest.mark.parametrize("wrong", [["a"], [0.5], [[1], [0]]])
def test_invalid_grades_are_rejected(wrong):
    with pytest.raises(SettingsError, match="no list of grades"):
        rs.lab.dominance(wrong, [1])
