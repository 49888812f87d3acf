"""Declared forms agree with enumerations of all orders and all labellings of lists with short cutoffs.

A quick version of tests/certainty/test_every_order.py: few lists, chosen so that cutoffs fall into groups of tied
documents and onto unjudged ones.
"""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest

import rankscope as rs
from rankscope.measures import parse
from rankscope.measures.base import declared_form

MEASURES = (
    "AP", "AP@1", "AP@2", "AP@3", "AP(rel=2)@3", "RR", "RR@2", "ERR", "ERR@1", "ERR@2", "ERR@3", "DCG@2", "DCG@3",
    "DCG(gains=exp2)@2", "nDCG@1", "nDCG@2", "nDCG@3", "nDCG", "nDCG(gains=exp2)@3", "RBP@2", "RBP(graded=True)@3",
    "P@2", "P@3", "R@2", "R(rel=2)@3", "Rprec", "Rprec(rel=2)", "Bpref", "Bpref(rel=2)", "Bpref(variant=original)",
    "Bpref(variant=plus10)", "GMBpref", "Success@2", "SetP", "SetF",
)  # fmt: skip

Groups = tuple[tuple[int | None, ...], ...]
LISTS: tuple[tuple[Groups, tuple[int, ...]], ...] = (
    (((1, 0), (2, None, 1)), (1,)),
    (((0, 2, 0), (1,)), (2, 0)),
    (((2,), (1, 1, 0)), ()),
    (((None, 0, 1, 2),), (1, 1)),
)
OPEN: tuple[tuple[Groups, tuple[int, ...]], ...] = (
    (((None,), (1,), (None,), (2,)), (2, 1)),
    (((1,), (None,), (None,)), (2,)),
    (((0,), (2,), (None,), (None,)), ()),
    (((None,), (None,), (0,)), (0,)),
    (((0,), (None,), (1,), (0,), (None,), (2,)), (1, -1, 0)),
    (((1,), (0,), (None,), (2,), (None,), (None,)), (-1,)),
)
BEST = 2


def list_documents(groups: Groups) -> list[list[str]]:
    """Return the documents of each group; ids descend, so that ties are broken in this order."""
    free = iter("zyxwvuts")
    return [[next(free) for _ in group] for group in groups]


def judgments(groups: Groups, elsewhere: tuple[int, ...], label: dict[str, int]) -> dict[str, dict[str, int]]:
    """Return judgments of the list, of documents outside it, and of a second topic with the best grade."""
    documents = [name for names in list_documents(groups) for name in names]
    grades = [grade for group in groups for grade in group]
    judged = {name: grade for name, grade in zip(documents, grades, strict=True) if grade is not None}
    judged |= {f"e{i}": grade for i, grade in enumerate(elsewhere)} | label
    return {"q": judged, "other": {"best": BEST}}


def values(qrels: dict[str, dict[str, int]], lists: list[list[str]]) -> dict[str, list[float]]:
    """Return the value of every measure for lists in exactly this order."""
    runs = {f"r{i:04}": {"q": one, "other": ["nothing"]} for i, one in enumerate(lists)}
    scores = rs.evaluate(qrels, runs, MEASURES)
    return {
        name: scores.matrix(name).values[:, scores.topics.index("q")].tolist() for name in scores.measures
    }


@pytest.mark.parametrize("groups, elsewhere", LISTS)
def test_ties_are_the_mean_the_best_and_the_worst_of_every_order(
    groups: Groups, elsewhere: tuple[int, ...]
) -> None:
    documents = list_documents(groups)
    orders = [
        [name for part in parts for name in part] for parts in product(*(permutations(d) for d in documents))
    ]
    all_values = values(judgments(groups, elsewhere, {}), orders)
    run = {
        "q": {name: -float(g) for g, names in enumerate(documents) for name in names},
        "other": {"nothing": 1.0},
    }
    for ties, of in (("expected", lambda v: sum(v) / len(v)), ("best", max), ("worst", min)):
        scores = rs.evaluate(judgments(groups, elsewhere, {}), {"r": run}, MEASURES, ties=ties)
        for name in scores.measures:
            actual = scores.matrix(name).values[0, scores.topics.index("q")]
            assert actual == pytest.approx(of(all_values[name]), abs=1e-12), (name, ties)


@pytest.mark.parametrize("groups, elsewhere", OPEN)
def test_bounds_are_the_ends_of_every_labelling(groups: Groups, elsewhere: tuple[int, ...]) -> None:
    documents = [name for names in list_documents(groups) for name in names]
    open_ = [
        name
        for name, grade in zip(documents, (g for group in groups for g in group), strict=True)
        if grade is None
    ]
    labels = [dict(zip(open_, some, strict=True)) for some in product(range(BEST + 1), repeat=len(open_))]
    all_values = [values(judgments(groups, elsewhere, label), [documents]) for label in labels]
    run = {"q": documents, "other": ["nothing"]}
    scores = rs.evaluate(judgments(groups, elsewhere, {}), {"r": run}, MEASURES, unjudged="bounds")
    for name in scores.measures:
        low, high = (bound.values[0, scores.topics.index("q")] for bound in scores.bounds(name))
        possible = [one[name][0] for one in all_values]
        assert (low, high) == pytest.approx((min(possible), max(possible)), abs=1e-12), name


def test_bounds_of_ndcg_with_many_unjudged_documents_and_grades() -> None:
    """Neither no new documents nor all of them give the best fraction: 0/1 choices by level, written out."""
    documents = list("zyxwvu")
    grades = [0, None, 1, None, None, 0]
    judged = {d: g for d, g in zip(documents, grades, strict=True) if g is not None} | {"e0": 2, "e1": 1}
    open_ = [d for d, g in zip(documents, grades, strict=True) if g is None]
    labels = [dict(zip(open_, some, strict=True)) for some in product(range(4), repeat=3)]
    other = {"best": 3}
    texts = ["nDCG", "nDCG@2", "nDCG@4", "nDCG(gains=exp2)", "nDCG(gains='0,1,1,5')@5"]
    possible: dict[str, list[float]] = {}
    for label in labels:
        scores = rs.evaluate({"q": judged | label, "o": other}, {"r": {"q": documents, "o": ["x"]}}, texts)
        for name in scores.measures:
            possible.setdefault(str(name), []).append(
                float(scores.matrix(name).values[0, scores.topics.index("q")])
            )
    scores = rs.evaluate(
        {"q": judged, "o": other}, {"r": {"q": documents, "o": ["x"]}}, texts, unjudged="bounds"
    )
    for name in scores.measures:
        low, high = (float(bound.values[0, scores.topics.index("q")]) for bound in scores.bounds(name))
        assert (low, high) == pytest.approx(
            (min(possible[str(name)]), max(possible[str(name)])), abs=1e-12
        ), name


@pytest.mark.parametrize("name", ["nDCG", "nDCG@3", "nDCG(gains=exp2)@4"])
@pytest.mark.parametrize("counts", [[0, 0, 0], [3, 0, 2], [1, 2, 0], [4, 1, 3]])
def test_the_ideal_grows_with_unknown_relevant_documents(name: str, counts: list[int]) -> None:
    """For no such document, one, two and three of the best grade: the sum of the best order of all."""
    measure = parse(name)
    actual = declared_form(measure).ideal(measure, np.array(counts), 3)  # type: ignore[union-attr]
    for n_more, value in enumerate(actual.tolist()):
        grades = [2] * n_more + [grade for grade in (2, 1) for _ in range(counts[grade])]
        gains = [2**grade - 1 if "exp2" in name else grade for grade in grades[: measure.cutoff]]
        assert value == pytest.approx(sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1)))
    assert len(actual) == 4


def test_nothing_is_open_in_lists_without_documents() -> None:
    """But all is below them."""
    lists = rs.judge(rs.Qrels.from_dict({"q": {"a": 1}}), rs.Run.from_dict({"q": []})).lists
    measure = parse("RBP")
    assert [end.tolist() for end in measure.open_range(lists, beyond=False)] == [[[0.0]], [[0.0]]]  # type: ignore[attr-defined]
    assert [end.tolist() for end in measure.open_range(lists, [1, 5])] == [[[0.0, 0.0]], [[1.0, 1.0]]]  # type: ignore[attr-defined]
