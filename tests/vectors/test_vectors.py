"""Vectors compute what numpy computes, to the last bit, and say so where they cannot."""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.measures.arithmetic import least, log2, most, ratio
from rankscope.vectors import BeyondVectors, Vector

pytestmark = pytest.mark.needs("native")

numbers = (st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-5, 5)).map(lambda x: x + 0.0)  # no -0
pairs = st.lists(st.tuples(numbers, numbers), max_size=40)
grouped = st.lists(st.tuples(st.integers(0, 5), numbers), max_size=40).map(sorted)


def same_bits(vector: Vector, expected: Any) -> bool:
    return array("d", vector.tolist()).tobytes() == np.asarray(expected, np.float64).tobytes()


@pytest.mark.parametrize(
    "operation",
    [operator.add, operator.sub, operator.mul, operator.le, operator.ge, operator.lt, operator.gt, ratio],
    ids=lambda one: one.__name__,
)
@given(values=pairs, one=numbers)
def test_number_by_number(operation: Callable[[Any, Any], Any], values: Any, one: float) -> None:
    a, b = (np.array([pair[side] for pair in values]) for side in (0, 1))
    x, y = Vector.of(a), Vector.of(b)
    assert same_bits(operation(x, y), operation(a, b))
    assert same_bits(operation(x, one), operation(a, one))
    if operation is not ratio:
        assert same_bits(operation(one, x), operation(one, a))


@given(values=pairs)
def test_division_and_the_smaller_and_the_larger(values: Any) -> None:
    a, b = (np.array([pair[side] for pair in values]) for side in (0, 1))
    b[abs(b) < 1e-9] = 1.0
    assert same_bits(Vector.of(a) / Vector.of(b), a / b)
    assert same_bits(2.5 / Vector.of(b), 2.5 / b)
    assert same_bits(least(Vector.of(a), Vector.of(b)), least(a, b))
    assert same_bits(most(Vector.of(a), 0), most(a, 0))


@given(st.lists(st.floats(1, 1e7), max_size=20))
def test_logarithms_are_those_of_the_c_library(values: list[float]) -> None:
    expected = [math.log2(value) for value in values]
    assert log2(Vector.of(values)).tolist() == log2(np.array(values)).tolist() == expected


def test_logarithms_have_any_shape() -> None:
    assert log2(np.array([[1.0, 2.0], [4.0, 8.0]])).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert float(log2(16)) == 4.0


@given(grouped)
def test_list_by_list(rows: list[tuple[int, float]]) -> None:
    owner, values = [row[0] for row in rows], [row[1] for row in rows]
    lists = Vector.of(owner)
    sums = np.bincount(np.array(owner, np.int64), weights=values, minlength=6)
    assert same_bits(lists.sums(Vector.of(values), 6), sums)
    assert lists.sums(1.0, 6).tolist() == [owner.count(one) for one in range(6)]
    assert lists.ordinals().tolist() == [owner[: i + 1].count(one) for i, one in enumerate(owner)]
    firsts = [next((v for o, v in rows if o == one), -7.0) for one in range(6)]
    assert lists.firsts(Vector.of(values), -7.0, 6).tolist() == firsts
    places = [int(place) for place in lists.falling(Vector.of(values))]
    positive = [i for i, value in enumerate(values) if value > 0]
    assert places == sorted(positive, key=lambda i: (owner[i], -values[i], i))


@given(st.lists(st.floats(-1e9, 1e9), max_size=2500))
def test_the_total_is_added_as_numpy_adds(values: list[float]) -> None:
    assert Vector.of(values).total() == float(np.sum(np.array(values, np.float64)))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 127, 128, 129, 136, 1000, 4097, 100_000])
def test_totals_of_any_length(size: int) -> None:
    values = np.random.default_rng(size).random(size) * 10.0 ** np.arange(size).astype(float).clip(0, 3)
    assert Vector.of(values).total() == float(np.sum(values))


def test_places() -> None:
    vector = Vector.of([5, 6, 7])
    assert vector[Vector.of([2, 0, 2])].tolist() == [7.0, 5.0, 7.0]
    assert Vector.of([0, 3, 0, -1]).nonzero().tolist() == [1.0, 3.0]
    copy = vector.copy()
    copy.put(Vector.of([1]), Vector.of([9]))
    assert (vector.tolist(), copy.tolist()) == ([5.0, 6.0, 7.0], [5.0, 9.0, 7.0])
    for places in ([3], [-1], [math.nan]):
        with pytest.raises(IndexError, match="not in the vector"):
            vector[Vector.of(places)]
        with pytest.raises(IndexError, match="not in the vector"):
            copy.put(Vector.of(places), Vector.of([1]))
    assert repr(Vector.joined([vector, Vector(0), Vector.of([1])])) == "Vector.of([5.0, 6.0, 7.0, 1.0])"
    with pytest.raises(ValueError, match="different lengths"):
        vector + Vector.of([1])


def test_what_is_true_chooses_numbers() -> None:
    vector = Vector.of([0, 2, 1])
    assert vector[vector > 0].tolist() == [2.0, 1.0]
    assert vector[vector > 5].tolist() == []
    assert vector[(vector > 0).astype(float)].tolist() == [0.0, 2.0, 2.0]  # a number is a place
    assert ((vector > 0) * vector).tolist() == [0.0, 2.0, 1.0]
    for operation in (operator.add, operator.sub, operator.mul):
        with pytest.raises(BeyondVectors):
            operation(vector > 0, vector < 2)
    with pytest.raises(ValueError, match="different lengths"):
        vector[Vector.of([1]) > 0]


def test_memory_of_others() -> None:
    values, index, ends = array("i", [4, -1, 6]), array("i", [2, 2, 0]), array("q", [1, 1, 3])
    where = [one.buffer_info()[0] for one in (values, index, ends)]
    assert Vector.of_int32(where[0], 3).tolist() == [4.0, -1.0, 6.0]
    assert Vector.taken_int32(where[0], where[1], 3).tolist() == [6.0, 6.0, 4.0]
    assert Vector.owners(where[2], 3, 3).tolist() == [0.0, 2.0, 2.0]
    assert len(Vector.of_int32(None, 0)) == len(Vector.owners(None, 0, 0)) == 0


@pytest.mark.parametrize(
    "asked",
    [
        lambda v: v.max(),
        lambda v: v[0],
        lambda v: v == 1,
        lambda v: 2.0**v,
        lambda v: -v,
        lambda v: bool(v),
        lambda v: v + "text",
        lambda v: v.astype(np.int64),
        lambda v: np.asarray(v),
        lambda v: np.minimum(v, 2.0),
        lambda v: np.concatenate([v, v]),
        lambda v: np.float64(2.0) * v,
        lambda v: np.arange(2) + v,
    ],
)
def test_the_rest_is_beyond_vectors(asked: Callable[[Vector], Any]) -> None:
    with pytest.raises(BeyondVectors):
        asked(Vector.of([1.0, 2.0]))


def test_vectors_have_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(Vector(0))
