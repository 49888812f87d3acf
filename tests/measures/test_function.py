"""A pickled function measure becomes the registered measure, or a separate one if the function differs."""

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
    defined = rs.measure("OfAPickle", first, better="lower")
    for item in (defined, defined @ 3):
        repeated = pickle.loads(pickle.dumps(item))
        assert type(repeated) is type(item)
        assert repeated == item
    assert REGISTRY["OfAPickle"] is defined


def test_unpickling_does_not_replace_a_registered_measure() -> None:
    packed = pickle.dumps(rs.measure("OfAPickle", first))
    registered = rs.measure("OfAPickle", last)
    repeated = pickle.loads(packed)
    assert REGISTRY["OfAPickle"] is registered
    assert type(repeated) is not type(registered)
    qrels, runs = {"q": {"a": 2, "b": 1}}, {"r": {"q": ["a", "b"]}}
    assert [rs.evaluate(qrels, runs, item).values[0, 0, 0] for item in (repeated, registered)] == [2.0, 1.0]


def test_a_pickle_is_defined_where_its_name_is_free() -> None:
    packed = pickle.dumps(rs.measure("OfAPickle", first, better="lower"))
    del REGISTRY["OfAPickle"]
    assert pickle.loads(packed) == REGISTRY["OfAPickle"]
    assert REGISTRY["OfAPickle"].better == "lower"
