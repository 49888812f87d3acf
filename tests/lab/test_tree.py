"""The prefix tree gives every measure the same values as lists written out one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankscope.errors import SettingsError
from rankscope.judging.lists import Lists
from rankscope.lab.rankings import enumeration as rankings
from rankscope.lab.rankings.enumeration import Evaluator, blocks, count_rankings, values_on_binary
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.measures import REGISTRY, Measure, measure
from rankscope.measures.base import parameter
from rankscope.measures.function import FunctionMeasure

WORLDS = {
    "two aspects": aspect_world(2, relevant=3, nonrelevant=4),
    "three weighted aspects": aspect_world(3, relevant=2, nonrelevant=5, weights=[0.5, 0.3, 0.2]),
    "item aspect counts": aspect_world(2, relevant=2, nonrelevant=2, weights=[1.0, 0.0]),
    "three grades": graded_world(2, relevant=2, nonrelevant=3),
    "binary": graded_world(1, relevant=4, nonrelevant=4),
}


def every_measure() -> list[Measure]:
    cut = {"IPrec": 0.5}
    return [
        item @ cut.get(item.name, 3) if item.cutoff_rule == "required" else item
        for item in dict.fromkeys(REGISTRY.values())
        if not isinstance(item, FunctionMeasure)
    ]


@pytest.mark.product
@pytest.mark.parametrize("prefix", [(), (0, 1), (1, 1, 0)])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("item", every_measure(), ids=str)
def test_every_measure_on_the_tree_equals_lists_written_out(
    item: Measure, world: World, prefix: tuple[int, ...]
) -> None:
    tree = Tree(world, 5, prefix)
    np.testing.assert_allclose(
        Evaluator(item, world).evaluate(tree), item.evaluate(tree.flat()), rtol=1e-12, atol=1e-14
    )


def test_flat_lists_are_the_words_of_the_tree() -> None:
    tree = Tree(WORLDS["two aspects"], 4, (1, 2))
    words = tree.words()
    assert words[:4] == ["-", "b", "bx", "bxa"]
    assert sorted(words[3:]) == sorted(
        ["bx" + "".join(more) for n in (1, 2) for more in product("abx", repeat=n)]
    )
    as_grades = [[0 if letter == "x" else 1 for letter in word.replace("-", "")] for word in words]
    assert tree.flat().grades() == as_grades


def test_aspects_have_their_own_grades() -> None:
    tree = Tree(WORLDS["two aspects"], 2)
    result = tree.by_aspect.lists.relevant().count.reshape(2, -1)
    assert result.tolist() == [[word.count(letter) for word in tree.words()] for letter in "ab"]
    flat = tree.flat().by_aspect.lists.relevant().count.reshape(2, -1)
    assert flat.tolist() == result.tolist()


def test_blocks_hold_every_ranking_once() -> None:
    world = WORLDS["two aspects"]
    words: list[str] = []
    for depth, prefix, first in blocks(world, 6, size=50):
        tree = Tree(world, depth, prefix)
        words += tree.words()[tree.shape.starts[first] :]
    assert len(words) == len(set(words)) == count_rankings(3, 6) == 1093


def test_too_deep_is_refused_with_the_numbers() -> None:
    with pytest.raises(SettingsError, match=r"depth 30 has 308,836,698,141,973 rankings .* from 1 to 21"):
        blocks(WORLDS["two aspects"], 30)


class _Needy(Measure, abstract=True):
    """A formula that asks for the length of the list of each hit, so it cannot follow the tree."""

    name = "Needy"
    rel: int = parameter(1, "lowest relevant grade")

    def evaluate(self, lists: Lists) -> np.ndarray:
        hits = lists.relevant(self.rel)
        return hits.sum(lists.length[hits.list] - hits.rank)


def test_a_formula_that_does_not_follow_the_tree_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    world = WORLDS["two aspects"]
    monkeypatch.setattr(rankings, "_FLAT_BLOCK", 30)
    evaluator = Evaluator(_Needy(), world)
    assert not evaluator.can_lump
    for prefix in [(), (1,), (2, 0, 1)]:
        tree = Tree(world, 6, prefix)
        np.testing.assert_array_equal(evaluator.evaluate(tree), _Needy().evaluate(tree.flat()))


@pytest.mark.parametrize("size", [8, 1 << 17])
def test_binary_rankings_are_ordered_by_their_number(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "BLOCK", size)
    values = values_on_binary(measure("RBP(p=0.5)"), 6)
    # RBP with p = 1/2 reads the ranking as a binary fraction
    np.testing.assert_allclose(values, np.arange(64) / 64)


def test_recall_base_of_binary_rankings() -> None:
    assert values_on_binary(measure("AP"), 3, relevant=2)[0b110] == pytest.approx(1.0)
    assert values_on_binary(measure("AP"), 3)[0b110] == pytest.approx(2 / 3)
