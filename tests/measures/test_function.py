"""Measures made of functions: out of a pickle comes the measure that is there, or one beside it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence

import pytest

import rankscope as rs
from rankscope.measures import REGISTRY


def first(grades: Sequence[int]) -> float:
    return float(grades[0]) if grades else 0.0


def last(grades: Sequence[int]) -> float:
    return float(grades[-1]) if grades else 0.0


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    REGISTRY.pop("OfAPickle", None)


def test_a_pickle_is_the_measure_that_is_there() -> None:
    mine = rs.measure("OfAPickle", first, better="lower")
    for one in (mine, mine @ 3):
        again = pickle.loads(pickle.dumps(one))
        assert type(again) is type(one)
        assert again == one
    assert REGISTRY["OfAPickle"] is mine


def test_a_pickle_of_another_function_stands_beside() -> None:
    packed = pickle.dumps(rs.measure("OfAPickle", first))
    there = rs.measure("OfAPickle", last)
    again = pickle.loads(packed)
    assert REGISTRY["OfAPickle"] is there
    assert type(again) is not type(there)
    qrels, runs = {"q": {"a": 2, "b": 1}}, {"r": {"q": ["a", "b"]}}
    assert [rs.evaluate(qrels, runs, one).values[0, 0, 0] for one in (again, there)] == [2.0, 1.0]


def test_a_pickle_is_defined_where_its_name_is_free() -> None:
    packed = pickle.dumps(rs.measure("OfAPickle", first, better="lower"))
    del REGISTRY["OfAPickle"]
    assert pickle.loads(packed) == REGISTRY["OfAPickle"]
    assert REGISTRY["OfAPickle"].better == "lower"
