"""Formulas on vectors: every measure that can be evaluated so has the bits that it has on arrays."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.judging.lists import Lists
from rankscope.judging.plain_lists import PlainLists, PlainPool
from rankscope.judging.pool import Pool
from rankscope.measures import REGISTRY, Measure, parse_many
from rankscope.vectors import BeyondVectors, Vector

pytestmark = pytest.mark.needs("native")

USUAL = (
    "AP AP(rel=2)@5 nDCG nDCG@3 DCG DCG@2 P@10 P(rel=2)@1 RR RR@3 R@5 Rprec Bpref Bpref(form='original')"
    " Bpref(form='plus10') SetP SetP@3 SetR SetF Success@1 Success@5 Judged@5 NumRet NumRet(rel=1) NumRel NumRelRet"
    " NumRelRet(rel=2)@4"
)

Collection = tuple[list[list[int]], list[tuple[int, int, dict[int, int]]]]

collections: st.SearchStrategy[Collection] = st.lists(
    st.lists(st.integers(-1, 4), min_size=1, max_size=12), min_size=1, max_size=4
).flatmap(
    lambda grades: st.tuples(
        st.just(grades),
        st.lists(
            st.integers(0, len(grades) - 1).flatmap(
                lambda topic: st.tuples(
                    st.just(topic),
                    st.integers(0, 1800),
                    st.dictionaries(
                        st.integers(1, 15) | st.integers(1500, 1800),
                        st.integers(0, len(grades[topic]) - 1),
                        max_size=8,
                    ),
                )
            ),
            max_size=5,
        ),
    )
)
"""The grades of each topic, and lists: topic, length, documents by rank."""


def both(collection: Collection) -> tuple[Lists, PlainLists]:
    """The same lists as arrays and as vectors."""
    grades, rows = collection
    offsets = [0]
    for one in grades:
        offsets.append(offsets[-1] + len(one))
    flat = [grade for one in grades for grade in one]
    owner: list[int] = []
    rank: list[int] = []
    judgment: list[int] = []
    ends = [0]
    for number, (topic, _, documents) in enumerate(rows):
        for place in sorted(documents):
            owner.append(number)
            rank.append(place)
            judgment.append(offsets[topic] + documents[place])
        ends.append(len(rank))
    length = [max([longest, *documents]) for _, longest, documents in rows]
    topics = [topic for topic, _, _ in rows]
    arrays = Lists(
        Pool(np.array(offsets), np.array(flat, np.int32)),
        np.array(topics, np.int64),
        np.array(length, np.int32),
        np.array(ends),
        np.array(rank, np.int32),
        np.array(judgment, np.int32),
    )
    pool = PlainPool(array("q", offsets), array("i", flat))
    graded = Vector.of(flat[one] for one in judgment)
    vectors = PlainLists(
        pool, Vector.of(topics), Vector.of(length), Vector.of(owner), Vector.of(rank), graded
    )
    return arrays, vectors


def value(measure: Measure, lists: Any) -> Any:
    found = measure.of(lists)
    assert isinstance(found, Vector)
    return array("d", found.tolist()).tobytes()


@given(collections)
def test_the_usual_measures_have_the_same_bits(collection: Collection) -> None:
    arrays, vectors = both(collection)
    for measure in parse_many(USUAL):
        assert value(measure, vectors) == measure.of(arrays).astype(np.float64).tobytes(), str(measure)


@given(collections)
def test_every_measure_has_the_same_bits_or_says_that_it_needs_arrays(collection: Collection) -> None:
    arrays, vectors = both(collection)
    for measure in set(REGISTRY.values()):
        if measure.cutoff_rule == "required":
            measure = measure @ (0.5 if measure.name == "IPrec" else 5)
        try:
            found = measure.of(vectors)  # type: ignore[arg-type]
        except BeyondVectors:
            continue
        if isinstance(found, Vector):
            expected = measure.of(arrays).astype(np.float64)
            assert array("d", found.tolist()).tobytes() == expected.tobytes(), str(measure)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300))
def test_means_have_the_same_bits(values: list[float]) -> None:
    for measure in parse_many("AP NumRet"):
        assert measure.mean(Vector.of(values)) == measure.mean(np.array(values))


def test_a_geometric_mean_is_beyond_vectors() -> None:
    with pytest.raises(BeyondVectors):
        REGISTRY["GMAP"].mean(Vector.of([0.5]))


def test_what_lists_lack_is_beyond_vectors() -> None:
    lists = PlainLists.empty(PlainPool(array("q", [0, 1]), array("i", [1])))
    for thing in (lists, lists.hits(), lists.pool):
        with pytest.raises(BeyondVectors, match="by_aspect"):
            _ = thing.by_aspect
    assert len(lists) == 1 and len(lists.hits(10)) == 0
