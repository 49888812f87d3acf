"""The pairs of rankings that a case analysis compares, with their scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankscope.errors import SettingsError
from rankscope.lab.axioms import comparison
from rankscope.lab.rankings.enumeration import Evaluator, count_rankings
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import split_word as split_word
from rankscope.measures import Measure
from rankscope.measures.grammar import parse
from rankscope.result import TableResult
from rankscope.tables import Cell, Table

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
    properties: Sequence[comparison.AnyRelation] | None = None,
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
    world = comparison.make_world(aspects, grades, depth, relevant, nonrelevant, weights, multi_aspect)
    number = count_rankings(len(world), depth) if depth >= 1 else 0
    if not 1 <= number <= MAX_RANKINGS:
        hint = f"choose a depth with at most {MAX_RANKINGS:,}"
        raise SettingsError(f"there are {number:,} rankings down to depth {depth}", hint=hint)
    steps = (*_STEPS, "swap" if world.graded else "redundancy")
    relations = comparison.resolve_relations(steps if properties is None else properties, world)
    tree = Tree(world, depth)
    parsed = parse(measure) if isinstance(measure, str) else measure
    scores = (
        np.full(number, np.nan) if parsed is None else np.asarray(Evaluator(parsed, world).evaluate(tree))
    )
    merits = None if parsed is None else comparison.Merits(parsed, scores)
    impossible = comparison.ImpossibleRankings(tree)
    words, length = tree.words(), tree.length.tolist()
    rows: list[tuple[Cell, ...]] = []
    limits = depth if fixed_length else 0, None if include_impossible else impossible
    for relation in relations:
        for pairs in comparison.iter_pairs(relation, tree, *limits):
            low, high = (np.ravel(nodes).tolist() for nodes in pairs.nodes())
            wrong = [False] * len(low)
            if merits is not None:
                comparison.reject_undefined(merits.measure, tree, pairs, scores)
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
            **comparison.case_settings(world, grades, multi_aspect, depth, relations, fixed_length, include_impossible),
        },
    )  # fmt: skip
