"""Measures on an interval scale, against an enumeration written out in plain Python."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.measures.interval import MAX_RANKINGS, number_of_rankings


def average_precision(word, counts):
    total = sum(counts.values())
    ranks = [rank for rank, grade in enumerate(word, 1) if grade > 0]
    return sum(Fraction(k, rank) for k, rank in enumerate(ranks, 1)) / total if total else Fraction(0)


def dcg(word, counts):
    return round(sum(grade / log2(1 + rank) for rank, grade in enumerate(word, 1)), 13)


def err(word, counts, best=3):
    total, left = Fraction(0), Fraction(1)
    for rank, grade in enumerate(word, 1):
        chance = Fraction(2**grade - 1, 2**best)
        total += left * chance / rank
        left *= 1 - chance
    return total


def words(length, counts):
    for word in product([0, *counts], repeat=length):
        if all(word.count(grade) <= counts[grade] for grade in counts):
            yield word


def place(function, word, counts):
    values = sorted({function(other, counts) for other in words(len(word), counts)})
    return values.index(function(word, counts)) / max(1, len(values) - 1)


@st.composite
def topics(draw):
    """Judged documents by grade, and a list of some of them with others between."""
    counts = {grade: draw(st.integers(1, 5)) for grade in draw(st.sets(st.integers(1, 3)))}
    length = draw(st.integers(1, 4))
    word = draw(st.lists(st.sampled_from([0, *counts]), min_size=length, max_size=length))
    kept = [g if word[:i].count(g) < counts.get(g, 99) else 0 for i, g in enumerate(word)]
    return counts, tuple(kept)


def collection(counts, word):
    """Return the topic together with another topic that has the best grade."""
    qrels = {"q": {f"d{g}.{k}": g for g, c in counts.items() for k in range(c)}, "other": {"best": 3}}
    ranking = [f"d{g}.{word[:i].count(g)}" if g else f"x{i}" for i, g in enumerate(word)]
    qrels["q"] |= {"x0": 0, "x1": -1}
    return qrels, {"q": ranking, "other": ["best"]}


@given(topics())
def test_the_value_is_the_position_among_all_values(topic):
    counts, word = topic
    qrels, run = collection(counts, word)
    inside = {"AP": average_precision, "DCG": dcg, "ERR": err, "nDCG": dcg}
    measures = [f"Interval(measure='{name}')@{len(word)}" for name in inside]
    scores = rs.evaluate(qrels, run, measures)
    for measure, function in zip(measures, inside.values(), strict=True):
        assert scores.matrix(measure).values[0, scores.topics.index("q")] == pytest.approx(
            place(function, word, counts)
        )


@pytest.mark.parametrize("counts", [[], [1], [9], [2, 1], [1, 1, 1], [3, 0, 2]])
@pytest.mark.parametrize("length", [1, 3, 5])
def test_rankings_are_counted(length, counts):
    named = dict(enumerate(counts, 1))
    assert number_of_rankings(length, tuple(counts)) == len(list(words(length, named)))


def test_lists_are_cut_and_filled_up():
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {"long": {"q": ["x", "a", "b", "c"]}, "short": {"q": ["x", "a"]}, "filled": {"q": ["x", "a", "y"]}}
    scores = rs.evaluate(qrels, runs, ["Interval@2", "Interval@3"])
    assert len(set(scores.matrix("Interval@2").values.ravel().tolist())) == 1
    at_three = dict(zip(scores.runs, scores.matrix("Interval@3").values.ravel().tolist(), strict=True))
    assert at_three["short"] == at_three["filled"] < at_three["long"]


def test_the_order_of_lists_is_that_of_the_measure():
    collection = rs.simulate(systems=6, topics=5, grades=3, depth=30, seed=2)
    names = ["AP@5", "nDCG@5", "RBP(p=0.5)@5", "ERR@5", "Twist@5"]
    scores = rs.evaluate(
        collection.qrels, collection.runs, [*names, *(f"Interval(measure='{n}')@5" for n in names)]
    )
    for plain, mapped in zip(scores.measures[: len(names)], scores.measures[len(names) :], strict=True):
        before, after = scores.matrix(plain).values, scores.matrix(mapped).values
        for t in range(len(scores.topics)):
            assert (np.diff(after[np.argsort(before[:, t], kind="stable"), t]) >= 0).all()


def test_texts():
    item = rs.measure("Interval( measure = 'RBP(p=0.80)' ) @10")
    assert str(item) == "Interval(measure='RBP')@10"
    assert rs.measure("Interval@10") == rs.measure("Interval(measure='AP')@10") == rs.Interval @ 10
    assert str(rs.measure("Interval(measure='P')@5").inner()) == "P@5"
    assert str(rs.measure("Interval(measure='P@3')@5").inner()) == "P@3"
    with pytest.raises(MeasureError, match="needs a cutoff"):
        rs.measure("Interval(measure='AP')")
    with pytest.raises(MeasureError, match="did you mean nDCG"):
        rs.measure("Interval(measure='nDGC')@5")
    for refused in ("alpha_nDCG", "NumRet", "Interval@3"):
        with pytest.raises(MeasureError, match="Interval cannot have"):
            rs.measure(f'Interval(measure="{refused}")@5')


def test_too_many_rankings_are_refused_with_their_number():
    qrels, run = {"q": {f"d{k}": 1 for k in range(30)}}, {"q": ["d1"]}
    assert rs.evaluate(qrels, run, "Interval@20").values.item() > 0
    with pytest.raises(
        MeasureError, match=r"would enumerate 2,097,152 rankings .* 30 of grade 1; the limit is 1,048,576"
    ):
        rs.evaluate(qrels, run, "Interval@21")
    assert MAX_RANKINGS == 2**20
    # few relevant documents allow long lists
    assert rs.evaluate({"q": {"d1": 1}}, run, "Interval@1000").values.item() == 1


@pytest.mark.parametrize("inside", ["Bpref", "infAP", "Judged@5"])
def test_measures_that_depend_on_unjudged_documents_are_rejected(inside):
    qrels, run = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}, {"q": ["c", "x", "a", "d", "b"]}
    with pytest.raises(MeasureError, match="unjudged"):
        rs.evaluate(qrels, run, f"Interval(measure='{inside}')@5")


def test_functions_of_users_have_scales_and_are_not_mixed_up():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
    rs.measure("Scaled", lambda grades: sum(grades))
    assert rs.evaluate(qrels, run, "Interval(measure='Scaled')@3").values.item() == 1
    rs.measure("Scaled", lambda grades: grades[0] + 2 * grades[1])
    assert rs.evaluate(qrels, run, "Interval(measure='Scaled')@3").values.item() == pytest.approx(1 / 3)


def test_topics_without_relevant_documents():
    qrels, run = {"q": {"a": 0}, "r": {"a": 1}}, {"q": ["a"], "r": ["a"]}
    assert rs.evaluate(qrels, run, "Interval@3").values.tolist() == [[[0, 1]]]
    assert np.isnan(rs.evaluate(qrels, run, "Interval(measure='Twist')@3").values[0, 0, 0])


def test_the_laboratory_evaluates_only_possible_rankings():
    actual = rs.lab.properties(["Interval@3", "Interval(measure='nDCG')@3"], grades=2, depth=4, relevant=2)
    for measure in ("Interval@3", "Interval(measure='nDCG')@3"):
        assert actual.violations(measure, "swap") == actual.violations(measure, "replacement") == 0
