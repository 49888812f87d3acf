"""CG, nCG, NR, SR and SFT against their definitions, written out for every list."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.lab.rankings.enumeration import Evaluator, values_on_binary
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import graded_world
from rankscope.measures import measure

GAINS = "0,5,10,15"


def value(name: str, grades: Sequence[int], missing: Sequence[int] = ()) -> float:
    """Return the value of a list of grades (None: unjudged); the topic has the ``missing`` documents too."""
    documents = [f"d{i}" for i in range(len(grades))]
    judged = {d: g for d, g in zip(documents, grades, strict=True) if g is not None}
    judged |= {f"m{i}": g for i, g in enumerate(missing)} or {"m": 0}
    return float(rs.evaluate({"t": judged}, {"t": documents}, [name]).values[0, 0, 0])


lists = st.lists(st.sampled_from([None, 0, 0, 1, 2, 3]), min_size=1, max_size=7)
absent = st.lists(st.integers(1, 3), max_size=3)


def clean(grades: Sequence[int | None]) -> list[int]:
    return [grade or 0 for grade in grades]


@given(lists, absent, st.integers(1, 9))
def test_cumulated_gain(grades: list[int], missing: list[int], k: int) -> None:
    total = sum(5 * grade for grade in clean(grades)[:k])
    ideal = sum(5 * grade for grade in sorted([*clean(grades), *missing], reverse=True)[:k])
    assert value(f"CG(gains='{GAINS}')@{k}", grades, missing) == total
    assert value(f"nCG(gains='{GAINS}')@{k}", grades, missing) == pytest.approx(total / ideal if ideal else 0)


def normalised_recall(grades: Sequence[int], missing: int, n: int) -> Fraction:
    """By the ranks of all relevant documents; those not retrieved take the last free ranks."""
    base = sum(grade > 0 for grade in grades) + missing
    if not base:
        return Fraction(0)
    n = max(n, 2 * base)
    ranks = [rank for rank, grade in enumerate(grades, 1) if grade > 0]
    free = [rank for rank in range(n, 0, -1) if rank not in ranks]
    ranks += free[: base - len(ranks)]
    return 1 - Fraction(sum(ranks) - base * (base + 1) // 2, base * (n - base))


@given(lists, absent, st.integers(1, 12))
def test_normalised_recall(grades: list[int], missing: list[int], n: int) -> None:
    cut = clean(grades)[:n]
    lost = len(missing) + sum(grade > 0 for grade in clean(grades)[n:])
    expected = normalised_recall(cut, lost, n)
    assert 0 <= expected <= 1
    assert value(f"NR@{n}", grades, missing) == pytest.approx(float(expected), abs=1e-12)


@given(lists, absent)
def test_normalised_recall_is_the_share_of_pairs_in_the_right_order(
    grades: list[int], missing: list[int]
) -> None:
    relevant = [grade > 0 for grade in clean(grades)]
    base, n = sum(relevant) + len(missing), 20
    whole = [*relevant, *[False] * (n - len(relevant) - len(missing)), *[True] * len(missing)]
    pairs = [(a, b) for a, b in itertools.combinations(whole, 2) if a != b]
    expected = sum(a for a, _ in pairs) / len(pairs) if base else 0.0
    assert value("NR@20", grades, missing) == pytest.approx(expected, abs=1e-12)


@given(lists, absent, st.integers(1, 8), st.integers(0, 6))
def test_sliding_ratio(grades: list[int], missing: list[int], k: int, retrieved: int) -> None:
    visible = clean(grades)[: retrieved or None]
    total, maximum = sum(visible[:k]), sum(sorted(visible, reverse=True)[:k])
    name = f"SR(retrieved={retrieved})@{k}"
    assert value(name, grades, missing) == pytest.approx(total / maximum if maximum else 0.0)


def test_sliding_ratio_of_a_longer_list_changes_from_rank_one_on() -> None:
    assert value("SR@1", [1, 0, 1]) == 1 and value("SR@1", [1, 0, 1, 3]) == pytest.approx(1 / 3)
    assert value("nCG@1", [1, 0, 1], [3]) == value("nCG@1", [1, 0, 1, 3])


def area(gains: Sequence[float]) -> float:
    """Return the area under the curve of cumulated gains, which defines satisfaction."""
    return sum(itertools.accumulate(gains))


@given(lists, st.integers(1, 7))
def test_satisfaction_and_frustration_over_all_orders(grades: list[int], k: int) -> None:
    visible = clean(grades)[:k]
    expected = {}
    for part, gains in (("satisfaction", visible), ("frustration", [float(g == 0) for g in visible])):
        areas = {area(order) for order in set(itertools.permutations(gains))}
        low, high = min(areas), max(areas)
        share = (area(gains) - low) / (high - low) if high > low else None
        if share is None:
            share = 1.0 if any(visible) == (part == "satisfaction") else 0.0
        expected[part] = share if part == "satisfaction" else 1 - share
        assert value(f"SFT(part='{part}')@{k}", grades) == pytest.approx(expected[part], abs=1e-12)
    total = 0.3 * expected["satisfaction"] + 0.7 * expected["frustration"]
    assert value(f"SFT(weight=0.3)@{k}", grades) == pytest.approx(total, abs=1e-12)


@given(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=12))
def test_without_grades_satisfaction_is_what_frustration_leaves(grades: list[int]) -> None:
    assert value("SFT(part='satisfaction')", grades) == value("SFT(part='frustration')", grades)


def test_binary_satisfaction_is_normalised_recall_of_the_retrieved_documents() -> None:
    """Both are then the share of pairs in the right order; NR also counts what was not retrieved."""
    for grades in itertools.product([0, 1], repeat=6):
        if 0 < sum(grades) <= 3:  # N = 6 is no less than twice the recall base
            assert value("SFT", list(grades)) == pytest.approx(value("NR@6", list(grades)))


@pytest.mark.parametrize("name", ["SR(gains='1=-1,2=3')@5", "SFT(gains='0=2,1=3')", "SR(gains='0=-1')@5"])
def test_shares_need_gains_from_zero_on(name: str) -> None:
    with pytest.raises(MeasureError, match=r"gain"):
        measure(name)


@pytest.mark.parametrize("name", ["SR@2", "SFT", "SFT@3", "NR@8", "CG@3", "nCG@3"])
def test_the_laboratory_has_the_values_of_lists(name: str) -> None:
    """A measure that sorts hits does not follow the prefix tree, also where short rankings would not show it."""
    world = graded_world(2, relevant=3, nonrelevant=6)
    tree = Tree(world, 5)
    item = measure(name)
    np.testing.assert_allclose(Evaluator(item, world).evaluate(tree), item.evaluate(tree.flat()), atol=1e-12)


def test_binary_values_of_the_laboratory() -> None:
    actual = values_on_binary(measure("SR@1"), 3)
    assert actual.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
