"""Which rankings are compared: the world they come from, the relations between them, and the pairs that count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.errors import MeasureError, SettingsError, suggest_names
from rankscope.judging.lists import Floats
from rankscope.lab.axioms.pairs import Pairs, Relation, Stretch
from rankscope.lab.axioms.relations import RELATIONS, relation
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.lab.rankings.written import Written
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, exceeded_by, extent
from rankscope.measures import Measure
from rankscope.native import paths as native

__all__ = [
    "AnyRelation",
    "Cases",
    "LeftOut",
    "Merits",
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
                known = suggest_names(one, RELATIONS) or f"there are {', '.join(RELATIONS)}"
                raise SettingsError(f"there is no property {one!r}", hint=known)
            one = RELATIONS[one]
        elif not isinstance(one, Relation):
            one = relation(one)
        if one.needs_aspects and world.graded:
            raise SettingsError(f"{one.name} needs aspects", hint="give aspects=2 instead of grades")
        found.append(one)
    return found


def pairs_of(one: Relation, tree: Tree, first: int = 0, left_out: LeftOut | None = None) -> Iterator[Pairs]:
    """The pairs of a relation among rankings of a length from ``first`` on, but for those with one left out."""
    for pairs in one.pairs(tree, first):
        yield pairs if left_out is None else left_out.without(pairs)


class Cases:
    """The pairs of a relation, as they are compared for one measure after the other."""

    def __init__(self, one: Relation, pairs: Iterable[Pairs]) -> None:
        self.relation = one
        self.pairs = list(pairs)
        self.sizes = [each.number for each in self.pairs]

    def longer_than(self, depth: int, tree: Tree) -> int:
        """How many of the pairs of near rankings have one of more than so many documents."""
        start = tree.shape.starts[depth + 1] if depth < tree.shape.depth else tree.shape.size
        return sum(
            size
            for each, size in zip(self.pairs, self.sizes, strict=True)
            if isinstance(each.low, Stretch)
            and isinstance(each.high, Stretch)
            and max(each.low.start, each.high.start) >= start
        )

    @cached_property
    def stretches(self) -> native.Stretches | None:
        """The pairs as stretches of nodes that can be compared natively; None if they are no such."""
        if not native.available() or self.relation.within is not None or self.relation.some:
            return None
        found = []
        for each in self.pairs:
            low, high = each.low, each.high
            if not (isinstance(low, Stretch) and isinstance(high, Stretch) and low.whole and high.whole):
                return None
            found.append((low.start, high.start, low.stop - low.start, each.mask))
        return native.Stretches(found)


class Merits:
    """The scores of rankings, higher ones better, and what a larger one exceeds, given the largest of all so far.

    ``broken`` is where pairs break a relation: the one place that decides what a violation is.
    """

    def __init__(self, measure: Measure, values: Floats, scale: float = 0.0) -> None:
        self.measure = measure
        self.values = measure.merit(values)
        largest, self.undefined = extent(self.values)
        self.scale = max(scale, largest)

    @cached_property
    def limits(self) -> Floats:
        """For each score the number that a larger one exceeds."""
        return exceeded_by(self.values, self.scale)

    def count(self, cases: Cases) -> list[int]:
        """For each of the pairs of a relation how many break it."""
        stretches = cases.stretches
        if stretches is None:
            return [int(np.count_nonzero(self.broken(cases.relation, each))) for each in cases.pairs]
        values = np.ascontiguousarray(self.values, np.float64)
        return native.compare(values, stretches, (RELATIVE, ABSOLUTE * self.scale), cases.relation.strict)

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


class LeftOut:
    """The rankings that have more documents of a kind than are judged: impossible ones."""

    def __init__(self, tree: Tree) -> None:
        self.rankings = np.zeros(tree.shape.size, np.bool_)
        for letter, judged in enumerate(tree.world.judged):
            if judged < tree.shape.depth:
                mine = tree.count_of([other == letter for other in range(len(tree.world))])
                self.rankings |= mine > judged
        self._first = int(self.rankings.argmax()) if self.rankings.any() else tree.shape.size

    def without(self, pairs: Pairs) -> Pairs:
        """The pairs of which both rankings are possible."""
        low, high = pairs.low, pairs.high
        if isinstance(low, Stretch) and isinstance(high, Stretch) and max(low.stop, high.stop) <= self._first:
            return pairs
        lower, higher = Pairs(low, high).of(self.rankings)
        mask = ~(lower | higher)
        return Pairs(low, high, mask if pairs.mask is None else mask & pairs.mask)
