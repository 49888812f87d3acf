"""Published and derived values about intervals and scales."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rankscope.lab.measurement.convexity import additive_weights, convexity, rbp_threshold
from rankscope.lab.measurement.counting import count_groups, count_intervals
from rankscope.lab.measurement.intervals import code, cumsum, delta, is_below, rankings, steps
from rankscope.lab.measurement.values import merits_at, merits_on_words
from rankscope.lab.measurement.verdicts import scales
from rankscope.measures import measure

Golden = list[dict[str, Any]]


def _cases(golden: Golden, function: str, expected: int) -> Golden:
    actual = [case for case in golden if case["function"] == function]
    assert len(actual) == expected
    return actual


def _number(value: Any) -> Fraction | float:
    return Fraction(value["frac"]) if isinstance(value, dict) else float(value)


def _rises(name: str, relevant: int, *pairs: tuple[list[int], list[int]]) -> list[float]:
    length = len(pairs[0][0])
    values = merits_at(measure(name), [code(end) for pair in pairs for end in pair], length, relevant)
    return (values[1::2] - values[::2]).tolist()


def test_prefix_sums_and_steps(golden: Golden) -> None:
    for case in _cases(golden, "cumsum", 1):
        assert cumsum(case["inputs"]["v"]).tolist() == case["expected"]
    for case in _cases(golden, "steps", 1):
        assert steps(case["inputs"]["r"], case["inputs"]["s"]).tolist() == case["expected"]


def test_difference_vectors(golden: Golden) -> None:
    for case in _cases(golden, "delta", 6):
        r, s = case["inputs"]["r"], case["inputs"]["s"]
        assert is_below(r, s)
        assert delta(r, s).tolist() == case["expected"], case["name"]


def test_interval_like_with_weights(golden: Golden) -> None:
    for case in _cases(golden, "interval_like", 12):
        inputs, expected = case["inputs"], case["expected"]
        weights = np.array([float(_number(w)) for w in inputs["weights"]])
        equal = inputs["equal_relevant"]
        tally = count_groups(weights, inputs["N"], equal)
        assert tally == (expected["comparable_pairs"], expected["violations"], True), case["name"]
        assert tally == count_intervals(rankings(inputs["N"]) @ weights, inputs["N"], equal), case["name"]
        assert convexity(weights, equal).holds == expected["holds"], case["name"]


def test_interval_like_by_name(golden: Golden) -> None:
    for case in _cases(golden, "interval_like_named", 4):
        inputs, expected = case["inputs"], case["expected"]
        actual = scales(inputs["measure"], inputs["N"], equal_relevant=inputs["equal_relevant"]).verdicts[0]
        assert (actual.holds, actual.violations, actual.comparable, actual.method) == (
            expected["holds"], expected["violations"], expected["comparable_pairs"], "exact",
        ), case["name"]  # fmt: skip
        assert (
            additive_weights(
                merits_on_words(measure(inputs["measure"]), inputs["N"]), inputs["equal_relevant"]
            )
            is None
        )


def test_err_contradicts_the_order_of_intervals(golden: Golden) -> None:
    for case in _cases(golden, "err_differences", 1):
        r, s, u, v = (case["inputs"][end] for end in "rsuv")
        small, large = _rises("ERR", 10, (r, s), (u, v))
        assert small == pytest.approx(float(_number(case["expected"]["s_minus_r"])), abs=1e-12)
        assert large == pytest.approx(float(_number(case["expected"]["v_minus_u"])), abs=1e-12)
        assert (delta(r, s) <= delta(u, v)).all()
        assert (small > large) == case["expected"]["violates"]


def test_ap_contradicts_the_order_of_intervals(golden: Golden) -> None:
    for case in _cases(golden, "ap_times_RB_differences", 1):
        r, s, u = (case["inputs"][end] for end in "rsu")
        large, small = (10 * rise for rise in _rises("AP", 10, (r, s), (s, u)))
        assert large == pytest.approx(float(_number(case["expected"]["s_minus_r"])), abs=1e-12)
        assert small == pytest.approx(float(_number(case["expected"]["u_minus_s"])), abs=1e-12)
        assert (delta(s, u) <= delta(r, s)).all()
        assert (small > large) == case["expected"]["violates"]


def test_the_threshold_of_rbp(golden: Golden) -> None:
    for case in _cases(golden, "rbp_threshold", 1):
        r, s, u = (case["inputs"][end] for end in "rsu")
        threshold = rbp_threshold(r, s, s, u)
        assert threshold == pytest.approx(case["expected"], abs=1e-12)
        assert (delta(r, s) <= delta(s, u)).all()
        for p, violated in ((threshold - 1e-4, False), (threshold + 1e-4, True)):
            small, large = _rises(f"RBP(p={p!r})", 10, (r, s), (s, u))
            assert (small > large) == violated


def test_dcg_with_the_jk_discount_is_not_interval_like(golden: Golden) -> None:
    for case in _cases(golden, "interval_like_violation", 1):
        inputs, expected = case["inputs"], case["expected"]
        assert inputs["measure"] == "DCG jk base 2"
        r, s, u, v = (inputs[end] for end in "rsuv")
        small, large = _rises("DCG(discount=jk)", 3, (r, s), (u, v))
        assert delta(r, s).tolist() == expected["delta_sr"]
        assert delta(u, v).tolist() == expected["delta_vu"]
        assert small == pytest.approx(expected["s_minus_r"], abs=1e-12)
        assert large == pytest.approx(expected["v_minus_u"], abs=1e-12)
        actual = scales("DCG(discount=jk)", 3, equal_relevant=True).verdicts[0]
        assert actual.counterexample is not None
        assert list(actual.counterexample.pair) == [code(inputs[end]) for end in "rsuv"]
        assert not actual.holds and expected["violates"]
