"""The laboratory asks a measure which values are better: a cost has the properties of the gain that it mirrors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.judging.lists import Floats
from rankscope.lab import properties, related_rankings, scales
from rankscope.lab.certificates import certificates
from rankscope.measures import REGISTRY, Measure


def gain(grades: Sequence[int]) -> float:
    """Not monotone in anything: the grade at rank 2 counts against the list."""
    return sum(g / (rank + 1) for rank, g in enumerate(grades)) - (3 * grades[1] if len(grades) > 1 else 0)


@pytest.fixture
def mirrored() -> Iterator[Callable[[Callable[[Sequence[int]], float]], tuple[Measure, Measure]]]:
    """Measures of a function and of a cost that is lower where it is higher; forgotten afterwards."""
    names = ("MirroredGain", "MirroredCost")

    def define(function: Callable[[Sequence[int]], float]) -> tuple[Measure, Measure]:
        cost = rs.measure(names[1], lambda grades: 5 - function(grades), better="lower")
        return rs.measure(names[0], function), cost

    yield define
    for name in names:
        REGISTRY.pop(name, None)


@pytest.mark.parametrize("world", [{"grades": 2, "depth": 4}, {"aspects": 2, "depth": 4}])
def test_a_cost_has_the_properties_of_the_gain_that_it_mirrors(world: dict[str, int], mirrored: Any) -> None:
    pair = mirrored(gain)
    up, down = (properties(variant, **world, relevant=3) for variant in pair)  # type: ignore[arg-type]
    assert [(f.cases, f.violations) for f in up.verdicts] == [(f.cases, f.violations) for f in down.verdicts]
    assert any(f.violations for f in up.verdicts)
    for a, b in zip(up.verdicts, down.verdicts, strict=True):
        assert [(e.low, e.high) for e in a.shortest] == [(e.low, e.high) for e in b.shortest]
        for example in b.shortest:
            assert example.low_score < example.high_score
    pairs = [related_rankings(variant, **world)["relations"].records() for variant in pair]  # type: ignore[arg-type]
    assert [row["violated"] for row in pairs[0]] == [row["violated"] for row in pairs[1]]


def test_sentences_turn_with_the_direction(mirrored: Any) -> None:
    result = properties(mirrored(gain)[1], grades=1, depth=2, relevant=2)
    rows = {row["property"]: row["sentence"] for row in result["verdicts"].records()}
    assert "(appending a relevant document does not raise the score)" in rows["relevance monotonicity"]
    assert (
        "MirroredCost(0) = 5.0000 < MirroredCost(01) = 7.5000: appending a relevant document raised the score"
        in rows["relevance monotonicity"]
    )


@pytest.mark.parametrize("graded", [{}, {"grades": 2}])
def test_a_cost_has_the_scale_of_the_gain_that_it_mirrors(graded: dict[str, int], mirrored: Any) -> None:
    def weighted(grades: Sequence[int]) -> float:
        return sum(g * 0.8**rank for rank, g in enumerate(grades))

    gains, costs = (scales(variant, 3, **graded) for variant in mirrored(weighted))
    for a, b in zip(gains.verdicts, costs.verdicts, strict=True):
        assert (a.scale, a.holds, a.violations, a.comparable) == (
            b.scale,
            b.holds,
            b.violations,
            b.comparable,
        )
    assert {f.holds for f in gains.verdicts} == {True, False}


def test_the_balance_point_as_runs_that_are_evaluated() -> None:
    """Counts equal those from evaluating every ranking as a run: later balance is worse."""
    words = [
        word
        for length in range(1, 7)
        for word in map("".join, product("01", repeat=length))
        if word.count("1") <= 2
    ]
    qrels = {"q": {f"r{i}": 1 for i in range(2)} | {f"n{i}": 0 for i in range(6)}}
    runs = {
        word: {"q": [f"{'nr'[int(letter)]}{word[:i].count(letter)}" for i, letter in enumerate(word)]}
        for word in words
    }
    scores = rs.evaluate(qrels, runs, "BalancePoint@6")
    value = dict(zip(scores.runs, scores.matrix("BalancePoint@6").values[:, 0].tolist(), strict=True))
    appended = sum(value[word + "1"] > value[word] for word in words if word + "1" in value)
    swapped = sum(
        value[word[:i] + "1" + word[i + 1 : j] + "0" + word[j + 1 :]] > value[word]
        for word in words
        for i in range(len(word))
        for j in range(i + 1, len(word))
        if word[i] == "0" and word[j] == "1"
    )
    result = properties("BalancePoint@6", grades=1, depth=6, relevant=2)
    assert result.violations("BalancePoint@6", "relevance monotonicity") == appended == 0
    assert result.violations("BalancePoint@6", "swap") == swapped == 28
    assert certificates("BalancePoint").holds("BalancePoint", "relevance monotonicity")


def test_the_values_that_are_shown_are_those_of_the_measure() -> None:
    rows = related_rankings("BalancePoint@6", grades=1, depth=2, relevant=2)["rankings"].records()
    result: Floats = np.array([row["score"] for row in rows])
    assert (result >= 2).all()
