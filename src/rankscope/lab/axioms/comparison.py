"""The pairs of rankings that a case analysis compares, their scores, and whether a pair violates a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.arrays import Bools, Floats
from rankscope.errors import MeasureError, SettingsError, check_name
from rankscope.lab.axioms.pairs import Pairs, Relation, Stretch
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.axioms.relations import relation as as_relation
from rankscope.lab.rankings.enumeration import Evaluator, count_rankings
from rankscope.lab.rankings.explicit import ExplicitRankings
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.lab.rankings.worlds import split_word as split_word
from rankscope.lab.rounding import extent, upper_limits
from rankscope.measures import Measure
from rankscope.measures.grammar import parse
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

AnyRelation = str | Relation | Callable[[str], Iterable[tuple[str, str]]]


def make_world(
    aspects: int | None,
    grades: int | None,
    depth: int,
    relevant: int | None = None,
    nonrelevant: int | None = None,
    weights: Sequence[float] | None = None,
    multi_aspect: bool = False,
) -> World:
    """Return the world of a case analysis; by default two aspects, and as many judged documents per kind as ``depth``.

    With both aspects and grades, documents have grades for aspects; ``multi_aspect`` adds documents that are relevant
    to several aspects.
    """
    relevant = depth if relevant is None else relevant
    nonrelevant = depth if nonrelevant is None else nonrelevant
    if grades is not None and aspects is None:
        if multi_aspect or weights is not None:
            hint = "documents of several aspects, and weights, need aspects=2"
            raise SettingsError("no aspects", hint=hint)
        return graded_world(grades, relevant=relevant, nonrelevant=nonrelevant)
    return aspect_world(
        2 if aspects is None else aspects, relevant=relevant, nonrelevant=nonrelevant, weights=weights,
        grades=1 if grades is None else grades, multi_aspect=multi_aspect,
    )  # fmt: skip


def case_settings(
    world: World,
    grades: int | None,
    multi_aspect: bool,
    depth: int,
    relations: Sequence[Relation],
    fixed_length: bool,
    include_impossible: bool,
) -> dict[str, Any]:
    """Return the settings of a result that describe its world."""
    aspect_settings = {} if world.graded else {"aspects": world.aspects, "multi_aspect": multi_aspect}
    relevant = world.judged[1 if world.graded else 0]
    return {
        **aspect_settings, **({} if grades is None else {"grades": grades}), "letters": list(world.labels),
        "relevant": relevant, "nonrelevant": world.judged[0 if world.graded else -1], "depth": depth,
        "weights": None if world.weights is None else list(world.weights),
        "properties": [relation.name for relation in relations], "fixed_length": fixed_length,
        "include_impossible": include_impossible,
    }  # fmt: skip


def resolve_relations(requested: Iterable[AnyRelation], world: World) -> list[Relation]:
    """Return relations from names, functions or relations; raise an error if they need aspects that the world lacks."""
    result = []
    for item in requested:
        if isinstance(item, str):
            hint = f"there are {', '.join(RELATIONS)}"
            check_name(item, RELATIONS, f"there is no property {item!r}", hint=hint)
            item = RELATIONS[item]
        elif not isinstance(item, Relation):
            item = as_relation(item)
        if item.needs_aspects and world.graded:
            raise SettingsError(f"{item.name} needs aspects", hint="give aspects=2 instead of grades")
        result.append(item)
    return result


def iter_pairs(
    relation: Relation, tree: Tree, first: int = 0, impossible: ImpossibleRankings | None = None
) -> Iterator[Pairs]:
    """Yield the pairs of a relation among rankings of at least ``first`` documents, without impossible rankings."""
    for pairs in relation.pairs(tree, first):
        yield pairs if impossible is None else impossible.without(pairs)


class Merits:
    """Scores of rankings, signed so that higher is better, with tolerances for rounding.

    ``scale`` is the largest score so far, which determines the tolerance. :meth:`broken` alone decides
    whether a pair violates a relation.
    """

    def __init__(self, measure: Measure, values: Floats, scale: float = 0.0) -> None:
        self.measure = measure
        self.values = measure.merit(values)
        largest, self.undefined = extent(self.values)
        self.scale = max(scale, largest)

    @cached_property
    def limits(self) -> Floats:
        """Limit for each score that another score must exceed to be larger."""
        return upper_limits(self.values, self.scale)

    def broken(self, relation: Relation, pairs: Pairs) -> Bools:
        """Return the mask of pairs that violate the relation; for a relation with ``some`` it is all or none."""
        if relation.within is not None:
            outside = self._outside(*relation.within)
            return np.asarray(pairs.select(outside)[0])
        if relation.strict:
            limit, high = pairs.select(self.limits, self.values)
            wrong = high <= limit
        else:
            low, limit = pairs.select(self.values, self.limits)
            wrong = low > limit
        return np.full_like(wrong, wrong.all()) if relation.some else wrong

    def tied(self, pairs: Pairs) -> Bools:
        """Return the mask of pairs whose lower ranking scores at most as much as the higher one, up to rounding."""
        low, limit = pairs.select(self.values, self.limits)
        return np.asarray(low <= limit)

    def _outside(self, lowest: float, highest: float) -> Bools:
        scores = self.measure.merit(self.values)
        ends = upper_limits(np.array([-lowest, highest]), self.scale)
        return np.asarray((-scores > ends[0]) | (scores > ends[1]))


def reject_undefined(measure: Measure, tree: Tree | ExplicitRankings, pairs: Pairs, values: Floats) -> None:
    """Raise an error if a score is NaN, since comparisons with NaN are no verdict."""
    for nodes in pairs.nodes():
        undefined = np.flatnonzero(np.isnan(values[nodes]))
        if len(undefined):
            word = tree.word(int(nodes.ravel()[undefined[0]]))
            raise MeasureError(
                f"{measure} is undefined (NaN) on the ranking {word}",
                hint="only a measure that is a number on every ranking can be tested; change its parameters or the "
                "numbers of judged documents",
            )


class ImpossibleRankings:
    """Mask of rankings that have more documents of a kind than are judged."""

    def __init__(self, tree: Tree) -> None:
        self.rankings = np.zeros(tree.shape.size, np.bool_)
        for letter, judged in enumerate(tree.world.judged):
            if judged < tree.shape.depth:
                count = tree.count_letters([other == letter for other in range(len(tree.world))])
                self.rankings |= count > judged
        self._first = int(self.rankings.argmax()) if self.rankings.any() else tree.shape.size

    def without(self, pairs: Pairs) -> Pairs:
        """Return the pairs whose rankings are both possible."""
        low, high = pairs.low, pairs.high
        if isinstance(low, Stretch) and isinstance(high, Stretch) and max(low.stop, high.stop) <= self._first:
            return pairs
        lower, higher = Pairs(low, high).select(self.rankings)
        mask = ~(lower | higher)
        return Pairs(low, high, mask if pairs.mask is None else mask & pairs.mask)


MAX_RANKINGS = 100_000
"""Limit on the number of rankings whose pairs are listed."""

_STEPS = ("relevance monotonicity", "irrelevance monotonicity")


class RelatedRankings(TableResult):
    """Rankings, and the pairs of them that properties relate."""

    figures = {"relations": "relations.plot_related"}


def related_rankings(
    measure: str | Measure | None = None,
    *,
    aspects: int | None = None,
    grades: int | None = None,
    depth: int = 2,
    relevant: int | None = None,
    nonrelevant: int | None = None,
    weights: Sequence[float] | None = None,
    multi_aspect: bool = False,
    properties: Sequence[AnyRelation] | None = None,
    fixed_length: bool = False,
    include_impossible: bool = False,
) -> RelatedRankings:
    """Return every pair of rankings that :func:`rankscope.lab.properties` compares under the same settings.

    Parameters
    ----------
    measure
        Measure or its name. If None, there are no scores and no violations.
    aspects, grades, relevant, nonrelevant, weights, multi_aspect, fixed_length, include_impossible
        See :func:`rankscope.lab.properties`.
    depth
        Maximum number of documents in a ranking.
    properties
        Properties whose pairs are listed; by default monotonicity, and redundancy (aspects) or swap (grades).

    Returns
    -------
    RelatedRankings
        ``relations`` {property, low, high, low_score, high_score, violated}, where ``low`` should not score better than
        ``high``, and ``rankings`` {ranking, length, possible, score}, where ``-`` is the empty ranking.

    Examples
    --------
    >>> pairs = related_rankings("ACT", depth=3, relevant=10, properties=["irrelevance monotonicity"])["relations"]
    >>> [(row["low"], row["high"]) for row in pairs.records() if row["violated"]][:2]
    [('aax', 'aa'), ('bax', 'ba')]
    """
    world = make_world(aspects, grades, depth, relevant, nonrelevant, weights, multi_aspect)
    number = count_rankings(len(world), depth) if depth >= 1 else 0
    if not 1 <= number <= MAX_RANKINGS:
        hint = f"choose a depth with at most {MAX_RANKINGS:,}"
        raise SettingsError(f"there are {number:,} rankings down to depth {depth}", hint=hint)
    steps = (*_STEPS, "swap" if world.graded else "redundancy")
    relations = resolve_relations(steps if properties is None else properties, world)
    tree = Tree(world, depth)
    parsed = parse(measure) if isinstance(measure, str) else measure
    scores = (
        np.full(number, np.nan) if parsed is None else np.asarray(Evaluator(parsed, world).evaluate(tree))
    )
    merits = None if parsed is None else Merits(parsed, scores)
    impossible = ImpossibleRankings(tree)
    words, length = tree.words(), tree.length.tolist()
    rows: list[tuple[Cell, ...]] = []
    limits = depth if fixed_length else 0, None if include_impossible else impossible
    for relation in relations:
        for pairs in iter_pairs(relation, tree, *limits):
            low, high = (np.ravel(nodes).tolist() for nodes in pairs.nodes())
            wrong = [False] * len(low)
            if merits is not None:
                reject_undefined(merits.measure, tree, pairs, scores)
                wrong = merits.broken(relation, pairs).ravel().tolist()
            rows += [
                (relation.name, words[a], words[b], float(scores[a]), float(scores[b]), broken)
                for a, b, broken in zip(low, high, wrong, strict=True)
            ]
    name = "" if parsed is None else str(parsed)
    columns = ("property", "low", "high", "low_score", "high_score", "violated")
    rankings = list(zip(words, length, (~impossible.rankings).tolist(), scores.tolist(), strict=True))
    return RelatedRankings.from_tables(
        Table("relations", columns, rows, caption=name or "Related rankings"),
        Table("rankings", ("ranking", "length", "possible", "score"), rankings, caption=name or "Rankings"),
        settings={
            "measure": name or None,
            **case_settings(world, grades, multi_aspect, depth, relations, fixed_length, include_impossible),
        },
    )  # fmt: skip
