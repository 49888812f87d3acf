"""The pairs of a case analysis themselves: which ranking should score at least as much as which, and does it?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.axioms.comparison import (
    AnyRelation,
    LeftOut,
    Merits,
    kept_of,
    pairs_of,
    refuse_undefined,
    relations_of,
    world_of,
)
from rankscope.lab.rankings.enumeration import Evaluator, number_of_rankings
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import letters_of
from rankscope.measures import Measure
from rankscope.measures.grammar import parse
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

__all__ = ["MOST", "letters_of", "related"]

MOST = 100_000
"""Rankings beyond which nobody looks at single pairs."""

_STEPS = ("relevance monotonicity", "irrelevance monotonicity")


def related(
    measure: str | Measure | None = None,
    *,
    aspects: int | None = None,
    grades: int | None = None,
    depth: int = 2,
    relevant: int | None = None,
    nonrelevant: int | None = None,
    weights: Sequence[float] | None = None,
    several: bool = False,
    properties: Sequence[AnyRelation] | None = None,
    fixed_length: bool = False,
    possible: bool = True,
) -> TableResult:
    """Every pair of rankings that :func:`rankscope.lab.properties` compares under the same settings.

    Without a ``measure`` there are no scores and nothing is violated. ``properties`` are by default the single steps
    of the case analysis. Tables: ``relations`` {property, low, high, low_score, high_score, violated}: ``low`` should
    not score better than ``high``; ``rankings`` {ranking, length, possible, score}, ``-`` for the empty one.

    >>> pairs = related("ACT", depth=3, relevant=10, properties=["irrelevance monotonicity"])["relations"]
    >>> [(row["low"], row["high"]) for row in pairs.records() if row["violated"]][:2]
    [('aax', 'aa'), ('bax', 'ba')]
    """
    world = world_of(aspects, grades, depth, relevant, nonrelevant, weights, several)
    number = number_of_rankings(len(world), depth) if depth >= 1 else 0
    if not 1 <= number <= MOST:
        raise SettingsError(
            f"there are {number:,} rankings down to depth {depth}",
            hint=f"choose a depth with at most {MOST:,}",
        )
    steps = (*_STEPS, "swap" if world.graded else "redundancy")
    relations = relations_of(steps if properties is None else properties, world)
    tree = Tree(world, depth)
    chosen = parse(measure) if isinstance(measure, str) else measure
    scores = (
        np.full(number, np.nan) if chosen is None else np.asarray(Evaluator(chosen, world).evaluate(tree))
    )
    merits = None if chosen is None else Merits(chosen, scores)
    left_out = LeftOut(tree)
    words, length = tree.words(), tree.length.tolist()
    rows: list[tuple[Cell, ...]] = []
    for one in relations:
        for pairs in pairs_of(one, tree, depth if fixed_length else 0, left_out if possible else None):
            low, high = (np.ravel(nodes).tolist() for nodes in pairs.nodes())
            wrong = [False] * len(low)
            if merits is not None:
                refuse_undefined(merits.measure, tree, pairs, scores)
                wrong = merits.broken(one, pairs).ravel().tolist()
            rows += [
                (one.name, words[a], words[b], float(scores[a]), float(scores[b]), broken)
                for a, b, broken in zip(low, high, wrong, strict=True)
            ]
    name = "" if chosen is None else str(chosen)
    columns = ("property", "low", "high", "low_score", "high_score", "violated")
    rankings = list(zip(words, length, (~left_out.rankings).tolist(), scores.tolist(), strict=True))
    return TableResult.of(
        Table("relations", columns, rows, caption=name or "Related rankings"),
        Table("rankings", ("ranking", "length", "possible", "score"), rankings, caption=name or "Rankings"),
        settings={
            "measure": name or None, **kept_of(world, grades, several), "depth": depth,
            "weights": None if weights is None else [float(w) for w in weights],
            "properties": [one.name for one in relations], "fixed_length": fixed_length, "possible": possible,
        },
    )  # fmt: skip
