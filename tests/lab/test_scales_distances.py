"""Interval scales under strong and weak top-heaviness."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.lab.measurement.distances import (
    Heaviness,
    chain_intervals,
    count_distances,
    is_interval_scale,
    positions,
    unequal_pair,
)
from rankscope.lab.measurement.intervals import delta, is_below, rankings
from rankscope.lab.measurement.values import merits_on_words
from rankscope.measures import measure

BOTH: list[Heaviness] = ["strong", "weak"]
Floats = np.ndarray[Any, np.dtype[np.float64]]


def _intervals(length: int, heaviness: Heaviness) -> list[tuple[int, int, int]]:
    """(r, s, distance) straight from the definitions."""
    all_rankings = rankings(length)
    if heaviness == "strong":
        return [(a, b, b - a) for a in range(2**length) for b in range(a, 2**length)]
    return [
        (a, b, int(delta(all_rankings[a], all_rankings[b])[-1]))
        for a, b in product(range(2**length), repeat=2)
        if is_below(all_rankings[a], all_rankings[b])
    ]


def _brute_force(values: Floats, heaviness: Heaviness) -> tuple[int, int]:
    """Pairs with equal distance or equal rise, and pairs with only one of both; exact for whole numbers."""
    result = _intervals(len(values).bit_length() - 1, heaviness)
    either = violations = 0
    for (a, b, first), (c, d, second) in product(result, repeat=2):
        distance, rise = first == second, values[b] - values[a] == values[d] - values[c]
        either += distance or rise
        violations += distance != rise
    return either, violations


@pytest.mark.parametrize("heaviness", BOTH)
@pytest.mark.parametrize("length", range(1, 6))
def test_the_distance_of_an_interval_is_the_difference_of_positions(
    length: int, heaviness: Heaviness
) -> None:
    where = positions(length, heaviness)
    result = _intervals(length, heaviness)
    assert all(where[b] - where[a] == distance for a, b, distance in result)
    assert chain_intervals(length, heaviness) == len(result)


@pytest.mark.parametrize("heaviness", BOTH)
@given(length=st.integers(1, 3), data=st.data())
@settings(max_examples=settings().max_examples // 2)
def test_counts_equal_brute_force(heaviness: Heaviness, length: int, data: st.DataObject) -> None:
    line = positions(length, heaviness) * data.draw(st.integers(-2, 2)) + data.draw(st.integers(-3, 3))
    noise = data.draw(st.sampled_from([0, 0, 2]))
    bumps = data.draw(st.lists(st.integers(-noise, noise), min_size=2**length, max_size=2**length))
    values = (line + np.array(bumps)).astype(float)
    either, violations = _brute_force(values, heaviness)
    assert count_distances(values, heaviness) == (either, violations, True)
    assert is_interval_scale(values, heaviness) == (violations == 0)
    pair = unequal_pair(values, heaviness)
    assert (pair is None) == (violations == 0)
    if pair is not None:
        where = positions(length, heaviness)
        r, s, u, v = pair
        assert (where[s] - where[r] == where[v] - where[u]) != (
            values[s] - values[r] == values[v] - values[u]
        )


USUAL = [
    *(
        "AP",
        "RR",
        "ERR",
        "DCG",
        "DCG(discount=jk)",
        "DCG(discount=jk,base=10)",
        "nDCG",
        "P@2",
        "P@3",
        "Rprec",
        "Bpref",
    ),
    *(f"RBP(p={p})" for p in (0.1, 0.3, 0.5, 0.8, 0.95)),
]


@pytest.mark.parametrize("length", [3, 4])
@pytest.mark.parametrize("name", USUAL)
def test_only_rbp_with_one_half_is_an_interval_scale_and_only_under_strong_top_heaviness(
    name: str, length: int
) -> None:
    values = merits_on_words(measure(name), length)
    assert is_interval_scale(values, "strong") == (name == "RBP(p=0.5)")
    assert not is_interval_scale(values, "weak")
    assert (count_distances(values, "strong").violations == 0) == (name == "RBP(p=0.5)")
    assert count_distances(values, "weak").violations > 0


@pytest.mark.parametrize("length", [1, 2, 5, 12, 20])
def test_interval_scales_by_construction_are_recognised(length: int) -> None:
    assert is_interval_scale(merits_on_words(measure("RBP(p=0.5)"), length), "strong")
    assert is_interval_scale(0.1 + 0.3 * positions(length, "weak"), "weak")
    assert not is_interval_scale(np.ones(2**length), "strong")


@pytest.mark.parametrize("length", range(2, 9))
@pytest.mark.parametrize("name", ["CRP", "SigmaMinus"])
def test_negative_effort_is_the_natural_distance_when_the_recall_base_is_the_length(
    name: str, length: int
) -> None:
    values = merits_on_words(measure(name), length)
    assert is_interval_scale(values, "weak") and count_distances(values, "weak").violations == 0
    assert not is_interval_scale(merits_on_words(measure(name), length, relevant=length + 1), "weak")
