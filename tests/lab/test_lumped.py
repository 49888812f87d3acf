"""Shortcuts of the case analysis (lumped hits, ranks below a cutoff, renamed aspects) do not change its results."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.judging.lists import Floats, Lists
from rankscope.lab import properties
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.axioms.verdicts import PropertiesResult
from rankscope.lab.rankings import enumeration
from rankscope.lab.rankings.enumeration import Evaluator, block_orbits, blocks
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.tree_hits import NotLumpedError, Watch
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.measures import REGISTRY, Measure
from rankscope.measures.function import FunctionMeasure

NEAR = [relation.name for relation in RELATIONS.values() if relation.near]
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


def record_reads(formula: Callable[[Lists], Any], world: World, depth: int = 5) -> Watch:
    return Evaluator(_Formula(formula), world).watch_formula(world, depth)


def test_the_depth_that_a_formula_reads_is_recorded() -> None:
    world = WORLDS["two aspects"]
    assert record_reads(lambda lists: lists.relevant(1, 2).sum(), world).reach == 2
    assert record_reads(lambda lists: lists.retrieved(3) * 1.0, world).reach == 3
    assert (
        record_reads(lambda lists: lists.times_at_length(np.ones(len(lists)), np.arange(9.0), 2), world).reach
        == 2
    )
    assert (
        record_reads(lambda lists: lists.times_at_length(np.ones(len(lists)), np.arange(9.0)), world).reach
        == 5
    )
    assert (
        record_reads(lambda lists: lists.by_aspect.lists.relevant(1, 4).count.reshape(2, -1)[0], world).reach
        == 4
    )
    assert record_reads(lambda lists: lists.relevant(1, 2).sum() + lists.length, world).reach == 5
    assert record_reads(lambda lists: lists.recall_base() * 1.0, world).reach == 0
    flat = record_reads(lambda lists: lists.with_length(2).relevant().sum(), world)
    assert (flat.reach, flat.symmetric) == (5, False)  # cannot be watched


def test_formulas_that_depend_on_names_are_not_symmetric() -> None:
    world = WORLDS["two aspects"]
    ones = np.ones((2, 1))

    def total(values: Callable[[Any], Any], weights: Any = ones) -> Callable[[Lists], Any]:
        def formula(lists: Lists) -> Any:
            hits = lists.by_aspect.lists.relevant()
            return lists.by_aspect.sum_hits(hits, values(hits), weights)

        return formula

    assert record_reads(total(lambda hits: hits.ordinal / hits.rank), world).symmetric
    assert record_reads(lambda lists: lists.relevant().first(1 / lists.relevant().rank), world).symmetric
    assert not record_reads(total(lambda hits: hits.judgment * 1.0), world).symmetric
    assert not record_reads(total(lambda hits: np.arange(len(hits)) * 1.0), world).symmetric
    assert not record_reads(total(lambda hits: 1 / hits.rank, np.array([[0.7], [0.3]])), world).symmetric
    assert not record_reads(
        lambda lists: lists.relevant().sum(lists.relevant().judgment == 0), world
    ).symmetric
    assert record_reads(lambda lists: lists.recall_base() * 1.0 + lists.topic, world).symmetric
    first = lambda lists: lists.by_aspect.lists.relevant().count[: len(lists)]  # noqa: E731
    assert not record_reads(first, world).symmetric
    assert not record_reads(lambda lists: lists.by_aspect.lists.topic[: len(lists)], world).symmetric
    assert not record_reads(lambda lists: lists.by_aspect.lists.recall_base()[: len(lists)], world).symmetric
    # a document of two aspects is added twice, and the order can be told by the last digit
    assert not record_reads(total(lambda hits: 1 / hits.rank), SEVERAL).symmetric
    assert record_reads(
        lambda lists: lists.by_aspect.lists.topic[: len(lists)], WORLDS["three grades"]
    ).symmetric


@pytest.mark.product
@pytest.mark.parametrize("world", list(WORLDS.values())[:4], ids=list(WORLDS)[:4])
@pytest.mark.parametrize("item", every_measure(), ids=str)
def test_symmetric_measures_have_equal_values_under_renaming(item: Measure, world: World) -> None:
    """Measures that are proved symmetric have equal values under every renaming of two aspects."""
    evaluator = Evaluator(item, world)
    if not evaluator.watch_formula(world, 4).symmetric:
        return
    tree = Tree(world, 4)
    values = evaluator.evaluate(tree)
    for _, letters in world.renamings:
        for level in range(5):
            renamed = np.array(letters)[tree.letter_matrix(level)]
            codes = renamed @ len(world) ** np.arange(level)
            level_values = tree.level(values, level)[0]
            np.testing.assert_array_equal(level_values[codes.astype(np.int64)], level_values)


@pytest.mark.parametrize("item", every_measure(), ids=str)
def test_below_its_reach_a_measure_gives_the_score_of_what_is_above(item: Measure) -> None:
    world = WORLDS["two aspects"]
    evaluator = Evaluator(item, world)
    reach = evaluator.watch_formula(world, 5).reach
    tree = Tree(world, 5)
    values = evaluator.evaluate(tree)
    for level in range(reach + 1, 6):
        above = tree.level(values, level - 1)[0]
        np.testing.assert_array_equal(tree.level(values, level)[0], np.tile(above, len(world)))


def test_renamings_are_those_that_change_nothing() -> None:
    assert len(WORLDS["three aspects"].renamings) == 3
    assert WORLDS["two of three weigh the same"].renamings == [([2, 1, 0], [2, 1, 0, 3])]
    assert WORLDS["three grades"].renamings == []
    ((_, letters),) = SEVERAL.renamings
    assert [SEVERAL.labels[letter] for letter in letters] == [
        "b",
        "B",
        "a",
        "A",
        "(ab)",
        "(Ab)",
        "(aB)",
        "(AB)",
        "x",
    ]
    uneven = World(("a", "b", "x"), ((1, 0), (0, 1), (0, 0)), (2, 3, 4))
    assert uneven.renamings == []


@pytest.mark.parametrize("name", ["two aspects", "three aspects", "documents of both", "three grades"])
def test_orbits_stand_for_every_block_once(name: str) -> None:
    world = WORLDS[name]
    all_blocks = blocks(world, 4, size=len(world) + 2)
    representatives = block_orbits(world, all_blocks)
    assert sum(size for _, size in representatives) == len(all_blocks)
    assert [piece for piece, _ in representatives] == [
        piece for piece in all_blocks if piece in dict(representatives)
    ]
    for (_, prefix, _), _ in representatives:
        words = {world.word(prefix)}
        for order in permutations("abc"):
            name_of = str.maketrans(dict(zip("abc", order, strict=True)))
            if name == "three aspects":
                words.add(world.word(prefix).translate(name_of))
        assert world.word(prefix) == min(words)


def outcome(result: PropertiesResult) -> list[tuple[Any, ...]]:
    return [(f.relation.name, f.cases, f.violations, f.shortest) for f in result.verdicts]


def in_full(patch: pytest.MonkeyPatch) -> None:
    """Disable watching, so that every ranking is evaluated."""
    patch.setattr(Evaluator, "watch_formula", lambda self, world, depth: Watch(depth, symmetric=False))


@pytest.mark.parametrize("names", [PLAIN, NEAR], ids=["plain", "all"])
@pytest.mark.parametrize("examples", [0, 1, 4])
@pytest.mark.parametrize(
    "given", [{"aspects": 2, "relevant": 3}, {"aspects": 3}, {"aspects": 2, "weights": [1, 3]}], ids=str
)
def test_skipped_inputs_change_no_count_and_no_example(
    given: dict[str, Any], examples: int, names: list[str], monkeypatch: pytest.MonkeyPatch, sampled: Any
) -> None:
    monkeypatch.setattr(enumeration, "BLOCK", 20)
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
        quick = outcome(properties(measures, **kept))
        with monkeypatch.context() as patch:
            in_full(patch)
            assert outcome(properties(measures, **kept)) == quick


def test_fewer_rankings_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "BLOCK", 20)
    evaluations: list[tuple[str, int]] = []
    plain = Evaluator.evaluate

    def count_and_evaluate(self: Evaluator, tree: Tree) -> Floats:
        evaluations.append((str(self.measure), tree.shape.size))
        return plain(self, tree)

    monkeypatch.setattr(Evaluator, "evaluate", count_and_evaluate)
    properties("AP_IA StRec StRec@2", aspects=2, depth=6, properties=PLAIN)
    sizes = {name: sum(size for key, size in evaluations if key == name) for name, _ in evaluations}
    assert sizes["StRec@2"] == 1 + 3 + 9
    assert sizes["AP_IA"] < 0.6 * sizes["StRec"]


@given(
    weights=st.lists(st.sampled_from([0.0, 0.25, 1.0, -1.0]), min_size=3, max_size=3),
    fade=st.sampled_from([1.0, 0.5, -0.5]),
    cutoff=st.sampled_from([None, 1, 3]),
    first=st.sampled_from([0.0, 0.5]),
    better=st.sampled_from(["higher", "lower"]),
)
def test_any_formula_is_counted_as_in_full(
    weights: list[float], fade: float, cutoff: int | None, first: float, better: str
) -> None:
    """Formulas that treat aspects differently by their documents, by their trees, or not at all."""

    def formula(lists: Lists) -> Any:
        hits, apart = lists.hits(cutoff), lists.by_aspect.lists.relevant(1, cutoff)
        kinds = np.repeat(weights, lists.pool.offsets[-1] // 3)
        value = hits.sum(hits.take(kinds) * fade ** (hits.rank + 0.0))
        value = value + lists.by_aspect.sum_hits(apart, fade ** (apart.ordinal + 0.0), np.ones((2, 1)))
        return value + first * apart.count[: len(lists)] if first else value

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "BLOCK", 20)
        custom = _Formula(formula, better)
        quick = outcome(properties(custom, aspects=2, depth=4, properties=PLAIN))
        in_full(patch)
        assert outcome(properties(custom, aspects=2, depth=4, properties=PLAIN)) == quick


def test_undefined_below_the_reach_is_refused_as_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ranking that nothing above relates may have longer ones that are related."""

    def formula(lists: Lists) -> Any:
        result = lists.relevant(1, 2)
        return np.where(result.sum(result.rank == 2) > 0, np.nan, 1.0)

    messages = []
    for patched in (False, True):
        if patched:
            in_full(monkeypatch)
        with pytest.raises(Exception, match="undefined") as error:
            properties(_Formula(formula), aspects=2, depth=4, properties=["irrelevance monotonicity"])
        messages.append(str(error.value))
    assert messages[0] == messages[1]
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
