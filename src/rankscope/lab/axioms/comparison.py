"""Which rankings are compared: the world they come from, the relations between them, and the pairs that count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.errors import MeasureError, SettingsError, nearest
from rankscope.judging.lists import Floats
from rankscope.lab.axioms.pairs import Pairs, Relation
from rankscope.lab.axioms.relations import RELATIONS, relation
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.lab.rankings.written import Written
from rankscope.lab.rounding import exceeded_by, magnitude
from rankscope.measures import Measure

__all__ = [
    "AnyRelation",
    "Merits",
    "impossible",
    "kept_of",
    "pairs_of",
    "refuse_undefined",
    "relations_of",
    "world_of",
]

AnyRelation = str | Relation | Callable[[str], Iterable[tuple[str, str]]]


def world_of(
    aspects: int | None,
    grades: int | None,
    depth: int,
    relevant: int | None = None,
    nonrelevant: int | None = None,
    weights: Sequence[float] | None = None,
    several: bool = False,
) -> World:
    """The world of a case analysis: two aspects unless aspects or grades are given, as many judged as the depth.

    With both, documents have a grade for an aspect; ``several`` adds documents that are relevant to several aspects.
    """
    relevant = depth if relevant is None else relevant
    nonrelevant = depth if nonrelevant is None else nonrelevant
    if grades is not None and aspects is None:
        if several or weights is not None:
            raise SettingsError(
                "no aspects", hint="documents of several aspects, and weights, need aspects=2"
            )
        return graded_world(grades, relevant=relevant, nonrelevant=nonrelevant)
    return aspect_world(
        2 if aspects is None else aspects, relevant=relevant, nonrelevant=nonrelevant, weights=weights,
        grades=1 if grades is None else grades, several=several,
    )  # fmt: skip


def kept_of(world: World, grades: int | None, several: bool) -> dict[str, Any]:
    """What the settings of a result say about its world."""
    of_aspects = {} if world.graded else {"aspects": world.aspects, "several": several}
    relevant = world.judged[1 if world.graded else 0]
    return {
        **of_aspects,
        **({} if grades is None else {"grades": grades}),
        "letters": list(world.labels),
        "relevant": relevant,
        "nonrelevant": world.judged[0 if world.graded else -1],
    }


def relations_of(wanted: Iterable[AnyRelation], world: World) -> list[Relation]:
    """The relations that are named or given, if the world has what they need."""
    found = []
    for one in wanted:
        if isinstance(one, str):
            if one not in RELATIONS:
                known = nearest(one, RELATIONS) or f"there are {', '.join(RELATIONS)}"
                raise SettingsError(f"there is no property {one!r}", hint=known)
            one = RELATIONS[one]
        elif not isinstance(one, Relation):
            one = relation(one)
        if one.needs_aspects and world.graded:
            raise SettingsError(f"{one.name} needs aspects", hint="give aspects=2 instead of grades")
        found.append(one)
    return found


def pairs_of(
    one: Relation, tree: Tree, first: int = 0, left_out: npt.NDArray[np.bool_] | None = None
) -> Iterator[Pairs]:
    """The pairs of a relation among rankings of a length from ``first`` on, but for those with one left out."""
    for pairs in one.pairs(tree, first):
        yield pairs if left_out is None else _without(pairs, left_out)


class Merits:
    """The scores of rankings, higher ones better, and what a larger one exceeds, given the largest of all so far.

    ``broken`` is where pairs break a relation: the one place that decides what a violation is.
    """

    def __init__(self, measure: Measure, values: Floats, scale: float = 0.0) -> None:
        self.measure = measure
        self.values = measure.merit(values)
        self.scale = max(scale, magnitude(self.values))
        self.limits = exceeded_by(self.values, self.scale)
        self.undefined = bool(np.isnan(self.values).any())

    def broken(self, one: Relation, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """For each pair whether it breaks the relation; of one for some pair all or none."""
        if one.within is not None:
            outside = self._outside(*one.within)
            return np.asarray(pairs.of(outside)[0])
        if one.strict:
            limit, high = pairs.of(self.limits, self.values)
            wrong = high <= limit
        else:
            low, limit = pairs.of(self.values, self.limits)
            wrong = low > limit
        return np.full_like(wrong, wrong.all()) if one.some else wrong

    def tied(self, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """For each pair whether the lower ranking scores no more than the higher, but for rounding."""
        low, limit = pairs.of(self.values, self.limits)
        return np.asarray(low <= limit)

    def _outside(self, lowest: float, highest: float) -> npt.NDArray[np.bool_]:
        scores = self.measure.merit(self.values)
        ends = exceeded_by(np.array([-lowest, highest]), self.scale)
        return np.asarray((-scores > ends[0]) | (scores > ends[1]))


def refuse_undefined(measure: Measure, tree: Tree | Written, pairs: Pairs, values: Floats) -> None:
    """A comparison with what is no number is no verdict."""
    for nodes in pairs.nodes():
        undefined = np.flatnonzero(np.isnan(values[nodes]))
        if len(undefined):
            word = tree.word(int(nodes.ravel()[undefined[0]]))
            raise MeasureError(
                f"{measure} is undefined (NaN) on the ranking {word}",
                hint="only a measure that is a number on every ranking can be tested; change its parameters or the "
                "numbers of judged documents",
            )


def impossible(tree: Tree) -> npt.NDArray[np.bool_]:
    """Whether a ranking has more documents of a kind than are judged."""
    found = np.zeros(tree.shape.size, np.bool_)
    hits = tree.hits()
    for letter, judged in enumerate(tree.world.judged):
        mine = hits.take(np.repeat(np.arange(len(tree.world)), tree.world.judged)) == letter
        found |= hits.sum(mine) > judged
    return found


def _without(pairs: Pairs, left_out: npt.NDArray[np.bool_]) -> Pairs:
    low, high = Pairs(pairs.low, pairs.high).of(left_out)
    mask = ~(low | high)
    return Pairs(pairs.low, pairs.high, mask if pairs.mask is None else mask & pairs.mask)
