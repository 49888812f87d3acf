"""Rankings, their order, and the intervals between them."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.lab.measurement.intervals import (
    binary_word,
    code,
    cumsum,
    delta,
    groups,
    interval_count,
    intervals,
    is_below,
    ranking,
    rankings,
    steps,
)

pairs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
    )
)


@pytest.mark.parametrize("length", range(1, 8))
def test_a_code_is_the_binary_number_of_its_ranking(length: int) -> None:
    listed = list(product((0, 1), repeat=length))
    assert [tuple(row) for row in rankings(length).tolist()] == listed
    assert [code(grades) for grades in listed] == list(range(2**length))
    assert [ranking(number, length) for number in range(2**length)] == listed
    assert [binary_word(code(grades), length) for grades in listed] == [
        "(" + "".join(map(str, g)) + ")" for g in listed
    ]


@given(pairs)
def test_the_difference_vector_is_the_double_prefix_sum(pair: tuple[list[int], list[int]]) -> None:
    r, s = pair
    expected = [
        sum((i - j + 1) * (s[j - 1] - r[j - 1]) for j in range(1, i + 1)) for i in range(1, len(r) + 1)
    ]
    assert delta(r, s).tolist() == expected
    assert np.cumsum(steps(r, s)).tolist() == expected
    assert (cumsum(s) - cumsum(r)).tolist() == steps(r, s).tolist()


@given(pairs)
def test_below_means_at_least_as_many_relevant_documents_at_every_depth(
    pair: tuple[list[int], list[int]],
) -> None:
    r, s = pair
    assert is_below(r, s) == all(sum(r[:k]) <= sum(s[:k]) for k in range(1, len(r) + 1))


def _swaps_and_replacements(r: tuple[int, ...]) -> list[tuple[int, ...]]:
    """One swap towards the top, or one more relevant document at the last rank."""
    above = [
        (*r[:i], 1, 0, *r[i + 2 :]) for i in range(len(r) - 1) if r[i : i + 2] == (0, 1)
    ]  # fmt: skip
    return above + ([(*r[:-1], 1)] if r[-1] == 0 else [])


@pytest.mark.parametrize("length", range(1, 7))
def test_the_order_is_the_one_that_swaps_and_replacements_generate(length: int) -> None:
    for r in product((0, 1), repeat=length):
        reached, new = {r: 0}, [r]
        while new:
            step = []
            for x in new:
                for y in _swaps_and_replacements(x):
                    if y not in reached:
                        reached[y] = reached[x] + 1
                        step.append(y)
            new = step
        for s in product((0, 1), repeat=length):
            assert (s in reached) == is_below(r, s)
            if s in reached:  # the natural distance: the length of a chain from r to s
                assert reached[s] == delta(r, s)[-1]


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("length", range(1, 8))
def test_all_intervals_are_listed_once_with_their_difference(length: int, equal: bool) -> None:
    result, kinds = intervals(length, equal), groups(length, equal)
    grades = rankings(length)
    listed = {(int(r), int(s)) for r, s in zip(result.lower, result.upper, strict=True)}
    expected = {
        (a, b)
        for a in range(2**length)
        for b in range(2**length)
        if is_below(grades[a], grades[b]) and (not equal or grades[a].sum() == grades[b].sum())
    }
    assert listed == expected
    assert len(result) == len(listed) == interval_count(length, equal) == int(kinds.size.sum())
    vectors = [delta(grades[a], grades[b]).tolist() for a, b in zip(result.lower, result.upper, strict=True)]
    assert kinds.delta[result.group].tolist() == vectors
    assert len(np.unique(kinds.delta, axis=0)) == len(kinds) <= 3**length
    assert np.bincount(result.group).tolist() == kinds.size.tolist()


@pytest.mark.parametrize("length", range(1, 13))
def test_the_number_of_intervals(length: int) -> None:
    assert interval_count(length) == comb(2 * length + 1, length) == int(groups(length).size.sum())
    catalan = comb(2 * length + 2, length + 1) // (length + 2)
    assert interval_count(length, equal_relevant=True) == catalan == int(groups(length, True).size.sum())
