"""Verdicts on values do not depend on their magnitude: values times a power of two violate the same properties.

The tolerance is relative to the values (see :mod:`rankscope.lab.rounding`), and a power of two changes no digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankscope.lab.measurement import convexity, counting, distances, graded, intervals, walks
from rankscope.lab.measurement.values import Setting, merits_on_words
from rankscope.lab.rounding import extent, magnitude, slack, upper_limits
from rankscope.measures import parse

FACTORS = (2.0**-90, 2.0**-30, 2.0**70)
KINDS = ("constant", "zero", "random", "even", "nearly even", "sum", "nearly a sum", "steps", "falling")


def _values(kind: str, length: int) -> np.ndarray:
    """Return values of all binary rankings of a length, by code."""
    rng = np.random.default_rng(length)
    count = 1 << length
    random, weights = rng.random(count), np.sort(rng.random(length))[::-1]
    noise = 1 + rng.choice([-1e-8, -1e-11, 0, 1e-11, 1e-8], count)
    total = intervals.rankings(length) @ weights
    kinds: dict[str, np.ndarray] = {
        "constant": np.ones(count), "zero": np.zeros(count), "random": random, "even": np.arange(count) / 8,
        "nearly even": np.arange(count) / 8 * noise, "sum": total, "nearly a sum": total * noise,
        "steps": np.ceil(4 * total), "falling": total.max() - total,
    }  # fmt: skip
    return kinds[kind]


def _verdicts(values: np.ndarray, equal: bool) -> list[Any]:
    length = len(values).bit_length() - 1
    found: list[Any] = [distances.n_falling(values, equal), convexity.broken_additivity(values, equal)]
    found += [convexity.additive_weights(values, equal) is None, distances.is_evenly_spaced(values)]
    found += [distances.count_steps(values), counting.count_intervals(values, length, equal, jobs=1)]
    for heaviness in ("strong", "weak"):
        found += [distances.is_interval_scale(values, heaviness), distances.unequal_pair(values, heaviness)]
        found.append(distances.count_distances(values, heaviness))
    if not distances.is_evenly_spaced(values):
        found.append(distances.uneven_steps(values))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_verdicts_on_scales_are_the_same_for_multiples(kind: str, length: int) -> None:
    values = _values(kind, length)
    for equal in (False, True):
        expected = _verdicts(values, equal)
        for factor in FACTORS:
            assert _verdicts(factor * values, equal) == expected


@pytest.mark.parametrize("length", range(1, 7))
def test_verdicts_on_weights_are_the_same_for_multiples(length: int) -> None:
    rng = np.random.default_rng(length)
    near = 1 + rng.choice([-1e-8, -1e-11, 0, 1e-11, 1e-8], length)
    falling = 0.5 ** np.arange(length)
    for weights in (np.zeros(length), np.ones(length), rng.random(length), falling, falling * near, near):
        for equal in (False, True):
            shape, worst = convexity.convexity(weights, equal), walks.worst_pair(weights, equal)
            for factor in FACTORS:
                other, pair = (
                    convexity.convexity(factor * weights, equal),
                    walks.worst_pair(factor * weights, equal),
                )
                assert (other.holds, other.fails_at) == (shape.holds, shape.fails_at)
                assert np.array_equal(other.second_differences, factor * np.array(shape.second_differences))
                assert (pair.pair, pair.excess) == (worst.pair, factor * worst.excess)


@pytest.mark.parametrize("name", ["DCG", "AP", "CG", "ERR", "Success@1"])
@pytest.mark.parametrize("setting", [Setting(2, 2, 2), Setting(3, 1, 2), Setting(2, 2, 3)])
def test_verdicts_on_graded_rankings_are_the_same_for_multiples(name: str, setting: Setting) -> None:
    values = merits_on_words(parse(name), setting.length, setting.relevant, setting.grades)
    for equal in (False, True):
        expected = (
            graded.has_convex_gains(setting, values, equal),
            graded.violated_pair(setting, values, equal),
        )
        for factor in FACTORS:
            each = factor * values
            assert (
                graded.has_convex_gains(setting, each, equal),
                graded.violated_pair(setting, each, equal),
            ) == expected


def test_the_tolerance_is_a_multiple_of_the_values() -> None:
    values = np.array([0.0, 0.5, -2.0, 1e-13, 0.3, np.inf, -np.inf])
    for factor in FACTORS:
        assert magnitude(factor * values) == factor * magnitude(values)
        assert extent(factor * values[:5]) == (factor * 2.0, False)
        assert np.array_equal(upper_limits(factor * values, factor), factor * upper_limits(values, 1.0))
        assert np.array_equal(slack(factor * values[:5], factor), factor * slack(values[:5], 1.0))
