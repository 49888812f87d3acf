"""All lists of a topic: none missing, none twice, none impossible."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import SettingsError
from rankscope.lab.rankings.explicit import (
    iter_recall_bases,
    lists_from_rows,
    multiset_permutations,
)
from rankscope.measures import measure
from rankscope.measures.interval import number_of_rankings


@given(st.lists(st.integers(0, 3), min_size=1, max_size=3), st.integers(0, 5))
def test_every_list_once(counts: list[int], length: int) -> None:
    result = [tuple(row) for row in multiset_permutations(counts, length).tolist()]
    expected = [
        word
        for word in itertools.product(range(len(counts) + 1), repeat=length)
        if all(word.count(grade) <= count for grade, count in enumerate(counts, 1))
    ]
    assert result == expected
    assert len(result) == number_of_rankings(length, tuple(counts))


@pytest.mark.parametrize("name", ["AP", "nDCG", "Twist@4", "Bpref", "CRP@4"])
def test_their_values_are_those_of_runs(name: str) -> None:
    import rankscope as rs

    counts = (2, 1)
    rows = multiset_permutations(counts, 4)
    result = measure(name).evaluate(lists_from_rows(rows, counts))
    judged = {"r1": 1, "r2": 1, "s1": 2}
    for row, value in zip(rows.tolist(), result.tolist(), strict=True):
        left = {1: ["r1", "r2"], 2: ["s1"]}
        documents = [left[grade].pop(0) if grade else f"n{rank}" for rank, grade in enumerate(row)]
        assert rs.evaluate({"t": judged}, {"t": documents}, [name]).values[0, 0, 0] == value


def test_topics_of_a_recall_base() -> None:
    assert list(iter_recall_bases(1, 3)) == [(1,)]
    for base, grades in itertools.product(range(1, 7), range(1, 4)):
        result = list(iter_recall_bases(base, grades))
        assert len(set(result)) == len(result)
        assert all(sum(counts) == base and min(counts) > 0 and len(counts) <= grades for counts in result)
        candidates = itertools.product(range(1, base + 1), repeat=min(grades, base))
        assert sum(len(counts) == min(grades, base) for counts in result) == sum(
            sum(counts) == base for counts in candidates
        )


def test_too_many_are_refused() -> None:
    with pytest.raises(SettingsError, match="lists of 40 ranks"):
        multiset_permutations((10, 10), 40)


def test_nothing_relevant() -> None:
    assert np.array_equal(multiset_permutations((0,), 3), [[0, 0, 0]])
