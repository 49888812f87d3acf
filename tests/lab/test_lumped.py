"""Lumped hits and the blocks of the case analysis do not change its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import MeasureError
from rankscope.judging.lists import Floats, Lists
from rankscope.lab import properties
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.axioms.verdicts import PropertiesResult
from rankscope.lab.rankings import enumeration
from rankscope.lab.rankings.enumeration import Evaluator
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.tree_hits import NotLumpedError
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.measures import REGISTRY, Measure
from rankscope.measures.function import FunctionMeasure

LOCAL = [relation.name for relation in RELATIONS.values() if relation.local]
PLAIN = ["relevance monotonicity", "irrelevance monotonicity", "redundancy", "monotonicity"]
SEVERAL = aspect_world(2, relevant=2, nonrelevant=2, grades=2, multi_aspect=True)
WORLDS = {
    "two aspects": aspect_world(2, relevant=3, nonrelevant=4),
    "three aspects": aspect_world(3, relevant=4, nonrelevant=4),
    "two of three weigh the same": aspect_world(3, relevant=2, nonrelevant=5, weights=[0.4, 0.2, 0.4]),
    "documents of both": SEVERAL,
    "three grades": graded_world(2, relevant=2, nonrelevant=3),
}


def every_measure() -> list[Measure]:
    cut = {"IPrec": 0.5}
    return [
        item @ cut.get(item.name, 3) if item.cutoff_rule == "required" else item
        for item in dict.fromkeys(REGISTRY.values())
        if not isinstance(item, FunctionMeasure)
    ]


def test_counts_are_those_of_the_words() -> None:
    tree = Tree(WORLDS["two aspects"], 5, (0, 2))
    words = tree.words()
    assert tree.count_letters([True, False, True]).tolist() == [
        sum(word.count(c) for c in "ax") for word in words
    ]


@pytest.mark.parametrize("cutoff", [None, 2])
def test_an_entry_at_the_length_of_each_list(cutoff: int | None) -> None:
    tree, table = Tree(WORLDS["two aspects"], 4, (0, 2)), np.array([5.0, 3.0, 8.0, 1.0, 9.0])
    for lists in (tree, tree.by_aspect.lists):
        values = np.arange(1.0, len(lists) + 1)
        result = lists.times_at_length(values.copy(), table, cutoff)
        np.testing.assert_array_equal(result, values * table[lists.retrieved(cutoff)])
        flat = tree.flat().times_at_length(values[: len(tree)].copy(), table, cutoff)
        np.testing.assert_array_equal(result[: len(tree)], flat)


@pytest.mark.product
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("item", every_measure(), ids=str)
def test_lumped_hits_give_the_same_bits_as_lists(item: Measure, world: World) -> None:
    evaluator = Evaluator(item, world)
    if not evaluator.can_lump:
        return
    for prefix in [(), (1,), (1, 1, 0)]:
        tree = Tree(world, 4, prefix)
        # The tree adds the terms of all aspects by rank, lists add them aspect by aspect.
        rounding = 2e-15 if item.needs_aspects else 0.0
        np.testing.assert_allclose(
            item.evaluate(tree), item.evaluate(tree.flat()), rtol=rounding, atol=rounding
        )


def test_most_measures_are_lumped() -> None:
    names = {item.name for item in every_measure() if Evaluator(item, WORLDS["two aspects"]).can_lump}
    assert {"ACT", "AP_IA", "alpha_nDCG", "NRBP", "StRec", "AP", "nDCG", "RBP", "ERR", "P"} <= names
    assert "Bpref" not in names  # asks where a hit stands


@pytest.mark.parametrize(
    "formula",
    [
        lambda lists: lists.relevant().sum(lists.length[lists.relevant().list]),
        lambda lists: lists.relevant().sum(lists.relevant().descending(lists.relevant().rank)),
        lambda lists: lists.relevant().sum(lists.relevant().before(1 / lists.relevant().rank)),
        lambda lists: lists.relevant().sum(lists.relevant().where(lists.relevant().rank > 1).ordinal),
        lambda lists: np.array([sum(grades) for grades in lists.grades()]),
        lambda lists: lists.relevant(2).sum(lists.ordinal_among(2, 1)),
        lambda lists: lists.with_pool_subset(lists.pool).relevant().sum(),
        lambda lists: lists.with_length(2).relevant().sum(),
    ],
)
def test_formulas_that_distinguish_lumped_hits_raise(formula: Callable[[Lists], Floats]) -> None:
    with pytest.raises(NotLumpedError):
        formula(Tree(WORLDS["two aspects"], 4))


class _Formula(Measure, abstract=True):
    """Any function of lists."""

    name = "Formula"

    def __init__(self, formula: Callable[[Lists], Any] | None = None, better: str = "higher") -> None:
        super().__init__()
        object.__setattr__(self, "formula_of_lists", formula)
        object.__setattr__(self, "better", better)

    def evaluate(self, lists: Lists) -> Floats:
        return np.asarray(self.formula_of_lists(lists), np.float64)  # type: ignore[attr-defined]


def outcome(result: PropertiesResult) -> list[tuple[Any, ...]]:
    return [(f.relation.name, f.cases, f.violations, f.shortest) for f in result.verdicts]


@pytest.mark.parametrize("names", [PLAIN, LOCAL], ids=["plain", "all"])
@pytest.mark.parametrize("examples", [0, 1, 4])
@pytest.mark.parametrize(
    "given", [{"aspects": 2, "relevant": 3}, {"aspects": 3}, {"aspects": 2, "weights": [1, 3]}], ids=str
)
def test_blocks_change_no_count_and_no_example(
    given: dict[str, Any], examples: int, names: list[str], monkeypatch: pytest.MonkeyPatch, sampled: Any
) -> None:
    measures = sampled(
        ["ACT", "AP_IA", "alpha_nDCG@2", "StRec@3", "NRBP", "P@1", "Bpref", "nDCG@3", "SetP", "NumRel"], 4
    )
    for fixed in (False, True):
        kept = {
            "depth": 4 if given["aspects"] == 3 else 5,
            "properties": names,
            "examples": examples,
            "fixed_length": fixed,
            **given,
        }
        at_once = outcome(properties(measures, **kept))
        with monkeypatch.context() as patch:
            patch.setattr(enumeration, "BLOCK", 20)
            assert outcome(properties(measures, **kept)) == at_once


@given(
    weights=st.lists(st.sampled_from([0.0, 0.25, 1.0, -1.0]), min_size=3, max_size=3),
    fade=st.sampled_from([1.0, 0.5, -0.5]),
    cutoff=st.sampled_from([None, 1, 3]),
    first=st.sampled_from([0.0, 0.5]),
    better=st.sampled_from(["higher", "lower"]),
)
def test_any_formula_is_counted_in_blocks_as_at_once(
    weights: list[float], fade: float, cutoff: int | None, first: float, better: str
) -> None:
    """Formulas that treat aspects differently by their documents, by their trees, or not at all."""

    def formula(lists: Lists) -> Any:
        hits, apart = lists.hits(cutoff), lists.by_aspect.lists.relevant(1, cutoff)
        kinds = np.repeat(weights, lists.pool.offsets[-1] // 3)
        value = hits.sum(hits.take(kinds) * fade ** (hits.rank + 0.0))
        value = value + lists.by_aspect.sum_hits(apart, fade ** (apart.ordinal + 0.0), np.ones((2, 1)))
        return value + first * apart.count[: len(lists)] if first else value

    custom = _Formula(formula, better)
    at_once = outcome(properties(custom, aspects=2, depth=4, properties=PLAIN))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "BLOCK", 20)
        assert outcome(properties(custom, aspects=2, depth=4, properties=PLAIN)) == at_once


def test_a_measure_may_be_undefined_where_no_pair_is() -> None:
    """A ranking that nothing above relates may have longer ones that are related."""

    def formula(lists: Lists) -> Any:
        result = lists.relevant(1, 2)
        return np.where(result.sum(result.rank == 2) > 0, np.nan, 1.0)

    with pytest.raises(MeasureError, match="undefined"):
        properties(_Formula(formula), aspects=2, depth=4, properties=["irrelevance monotonicity"])
    assert properties(_Formula(formula), aspects=2, depth=1, properties=["boundedness"]).complete


def test_examples_are_in_alphabetical_order_among_many() -> None:
    """More than a thousand pairs are equally wrong."""
    late = _Formula(lambda lists: -1.0 * (lists.retrieved(9) == 9))
    (result,) = properties(
        late, aspects=2, depth=9, properties=["relevance monotonicity"], examples=2
    ).verdicts
    assert [(e.low, e.high) for e in result.shortest] == [("a" * 8, "a" * 9), ("a" * 8, "a" * 8 + "b")]
    tree = Tree(SEVERAL, 3, (4,))
    keys = tree.alphabetical_keys(np.arange(1, len(tree)))
    assert [tree.words()[i + 1] for i in np.argsort(keys)] == sorted(tree.words()[1:])
