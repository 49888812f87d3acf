"""Permitted values of parameters, and exact values at their limits: grades, cutoffs, fractional and zero gains."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.judging import judge
from rankscope.measures import REGISTRY
from rankscope.measures.effort_curves import find_archetypes
from rankscope.measures.function import FunctionMeasure
from rankscope.read import Qrels, Run, Runs

WITH_REL = sorted(
    {
        item.name
        for item in REGISTRY.values()
        if "rel" in item.parameters and not isinstance(item, FunctionMeasure)
        if item.name != "NumRet"  # it counts all documents, or those of a grade
    }
)


@pytest.mark.parametrize("name", WITH_REL)
def test_a_relevant_document_has_grade_1_at_least(name: str) -> None:
    cutoff = "@5" if REGISTRY[name].cutoff_rule == "required" and name != "IPrec" else ""
    cutoff = "@0.5" if name == "IPrec" else cutoff
    assert rs.measure(f"{name}(rel=1){cutoff}").settings["rel"] == 1
    with pytest.raises(MeasureError, match="rel"):
        rs.measure(f"{name}(rel=0){cutoff}")


def test_the_deepest_cutoff() -> None:
    assert (rs.AP @ 10_000_000).cutoff == 10_000_000
    with pytest.raises(MeasureError, match="from 1 to 10,000,000"):
        rs.AP @ 10_000_001


QRELS = {"q": {"a": 2, "b": 1, "c": 1, "n": 0}}
RUNS = {"r": {"q": ["b", "a", "n", "c"]}}


@pytest.mark.parametrize("name", ["SR", "SFT"])
def test_gains_may_be_fractions_and_nothing(name: str) -> None:
    """A grade without a gain is as if it were not relevant."""
    cut = "@3" if REGISTRY[name].cutoff_rule == "required" else ""
    half = rs.evaluate(
        QRELS, RUNS, [f"{name}(gains='1=0.5,2=1'){cut}", f"{name}(gains='1=1,2=2'){cut}"]
    ).values[:, 0, 0]
    assert (half >= 0).all()
    nothing = rs.evaluate(QRELS, RUNS, f"{name}(gains='1=0,2=1'){cut}").values[0, 0, 0]
    only = {"q": {document: grade if grade == 2 else 0 for document, grade in QRELS["q"].items()}}
    assert nothing == pytest.approx(rs.evaluate(only, RUNS, f"{name}(gains='1=0,2=1'){cut}").values[0, 0, 0])
    with pytest.raises(MeasureError, match="negative gains"):
        rs.measure(f"{name}(gains='1=-1,2=1'){cut}")


@pytest.mark.parametrize("name", ["SR@3", "SFT"])
def test_documents_that_are_not_relevant_gain_nothing(name: str) -> None:
    bare, _, cutoff = name.partition("@")
    at = f"@{cutoff}" if cutoff else ""
    assert rs.measure(f"{bare}(gains='1=3,2=9'){at}").settings["gains"] == "1=3,2=9"
    with pytest.raises(MeasureError, match="needs gain 0 for non-relevant documents"):
        rs.measure(f"{bare}(gains='0=1,1=2'){at}")


@pytest.mark.parametrize(
    "gains, rise",
    [
        ("linear", True),
        ("exp2", True),
        ("0,5,10", True),
        ("0,5,5", True),
        ("0,5,4", False),
        ("0,-1,2", False),
        ("1=1", True),
        ("2=3", True),
        ("0=0,1=2,2=2", True),
        ("1=3", False),  # grade 2 gains 2
        ("1=9,2=3", False),
        ("0=1,1=2", False),
        ("0=-1", False),
    ],
)
def test_gains_that_rise_from_nothing(gains: str, rise: bool) -> None:
    """A grade without a named gain gains its own value, also above the named grades."""
    assert rs.measure(f"DCG(gains='{gains}')").gains_rise is rise  # type: ignore[attr-defined]


def test_gains_are_of_grades_from_0_on() -> None:
    assert str(rs.nDCG(gains={0: 0, 1: 3})) == "nDCG(gains='0=0,1=3')"
    for wrong in ({-1: 3}, {0.5: 1}, {}, {"a": 1}):
        with pytest.raises(MeasureError, match="cannot have gains"):
            rs.nDCG(gains=wrong)


def test_topics_without_relevant_documents_have_the_smallest_gain_of_their_own_grades() -> None:
    """Of the grades up to 0, whatever others another topic has: a gain of -5 for grade 1 is not among them."""
    qrels = {"o": {"x": 2, "y": 1}, "q": {"a": 0, "b": 0}}
    runs = {"r": {"o": ["x", "y"], "q": ["a", "u", "b"]}}
    values = rs.evaluate(qrels, runs, ["TopicRBP(p=0.5,gains='0,-5,10')"]).values
    assert values.ravel().tolist() == pytest.approx([0.5 * (15 / 15 + 0.5 * 0), 0])


def test_the_residual_of_a_list_with_one_unjudged_document() -> None:
    value = rs.evaluate({"q": {"a": 1}}, {"r": {"q": ["a", "u"]}}, "RBPResidual").values.item()
    assert value == pytest.approx(0.1 * 0.9 + 0.9**2)


def test_the_first_judged_document_of_all_gains_what_it_has() -> None:
    qrels = {"q": {"a": {"1": 1}, "b": {"2": 1}, "c": {"1": 0}}}
    runs = {"ideal": {"q": ["a", "b"]}, "late": {"q": ["c", "a"]}}
    values = rs.evaluate(qrels, runs, ["D_nDCG@2", "DS_nDCG@2"]).values[:, :, 0]
    discounted = 1 / np.log2(3)
    assert values[0].tolist() == pytest.approx([1, discounted / (1 + discounted)])
    assert values[1].tolist() == pytest.approx([1, 0.5 * 0.5 + 0.5 * discounted / (1 + discounted)])


def test_archetypes_count_documents_of_grade_1() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "n": 0}})
    lists = {"ideal": ["a"], "worst": ["n"]}
    for name, ranking in lists.items():
        assert find_archetypes(judge(qrels, Run.from_dict({"q": ranking})).lists).tolist() == [name]


SHARES = sorted(
    (item.name, key)
    for item in {actual.name: actual for actual in REGISTRY.values() if actual.family != "user"}.values()
    for key in item.parameters
    if key in ("p", "alpha", "beta", "gamma", "weight", "click", "other_click") and item.name != "SetF"
)


@pytest.mark.parametrize("name, key", SHARES)
def test_probabilities_and_shares_lie_between_0_and_1(name: str, key: str) -> None:
    assert REGISTRY[name](**{key: 0.25}).settings[key] == 0.25
    for wrong in (-0.5, 1.5):
        with pytest.raises(MeasureError, match=key):
            REGISTRY[name](**{key: wrong})


def test_global_gains_are_the_grades_of_any_measure_inside() -> None:
    """Of two aspects that count equally, a document of both gains 2 and one of a single aspect 1."""
    qrels = {"q": {"a": {"1": 1, "2": 1}, "b": {"1": 1}, "c": {"1": 0}}}
    runs = {"ideal": {"q": ["a", "b"]}, "late": {"q": ["b", "c", "a"]}}
    values = rs.evaluate(qrels, runs, ["D(measure='DCG@3')", "D(measure='AP')"]).values[:, :, 0]
    assert values[0].tolist() == pytest.approx([2 + 1 / np.log2(3), 1 + 2 / np.log2(4)])
    assert values[1].tolist() == pytest.approx([1, (1 + 2 / 3) / 2])


@pytest.mark.parametrize(
    "ranking, name",
    [
        ("xyab", "full scale"),
        ("xyba", "typical A"),
        ("xaby", "excellent B"),
        ("xayb", "typical A"),
        ("ba", "ideal"),
    ],
)
def test_archetypes_of_four_documents(ranking: str, name: str) -> None:
    """Full scale is the ideal ranking reversed, at the very end."""
    lists = judge(Qrels.from_dict({"q": {"a": 1, "b": 2}}), Run.from_dict({"q": list(ranking)})).lists
    assert find_archetypes(lists, cutoff=4).tolist() == [name]


def defined_archetype(grades: tuple[int, ...], counts: dict[int, int]) -> str:
    """Return the archetype of a list by its definition, rank by rank; missing ``grades`` are 0."""
    base = sum(counts.values())
    last = {grade: sum(n for g, n in counts.items() if g >= grade) for grade in counts}
    first = {grade: last[grade] - counts[grade] + 1 for grade in counts}
    curve, total = [], 0
    for rank, grade in enumerate((*grades, *(0,) * (2 * base - len(grades))), 1):
        low, high = (first[grade], last[grade]) if grade else (base + 1, 2 * base)
        total += min(0, rank - low) + max(0, rank - high)
        curve.append(total)
    if not any(curve):
        return "ideal"
    if not any(grades):
        return "worst"
    m = next((rank for rank in range(1, len(curve)) if curve[rank - 1] < 0 <= curve[rank]), None)
    if m is None:
        return "typical B"
    if m > base:
        return "typical A"
    if any(curve[rank - 1] < 0 for rank in range(m + 2, base + 1)):
        return "ups-and-downs"
    return "excellent A" if sum(grade > 0 for grade in grades[:base]) == base else "excellent B"


@pytest.mark.parametrize("counts, length", [({2: 2, 1: 4}, 7), ({3: 1, 2: 2, 1: 1}, 5)])
def test_archetypes_of_all_short_graded_lists_are_those_of_the_definition(
    counts: dict[int, int], length: int
) -> None:
    """In the second world 2 3 1 2 is below the axis again at one rank only, between two hits that are not."""
    names = {grade: [f"{grade}{i}" for i in range(n)] for grade, n in counts.items()}
    qrels = Qrels.from_dict({"q": {name: grade for grade, some in names.items() for name in some}})
    words = product((0, *counts), repeat=length)
    lists = [word for word in words if all(word.count(grade) <= n for grade, n in counts.items())]
    runs = []
    for number, word in enumerate(lists):
        free = {grade: iter(some) for grade, some in names.items()}
        ranking = [next(free[grade]) if grade else f"x{rank}" for rank, grade in enumerate(word)]
        runs.append(Run.from_dict({"q": ranking}, f"r{number}"))
    actual = find_archetypes(judge(qrels, Runs(runs)).lists, cutoff=2 * sum(counts.values())).tolist()
    assert actual == [defined_archetype(word, counts) for word in lists]
    assert {"ups-and-downs", "excellent A", "typical B"} <= set(actual)


def test_an_effort_beyond_all_gain_is_refused_in_a_short_line() -> None:
    assert rs.measure("RBU(e=1000000)").settings["e"] == 1e6
    with pytest.raises(MeasureError, match=r"RBU cannot have e=\S{1,30}; e is"):
        rs.measure("RBU(e=1e308)")


def test_given_measures_may_have_names_that_are_no_text() -> None:
    from rankscope.measures.grammar import external_measure as given_measure

    assert given_measure("\udce9").name == "\udce9"
