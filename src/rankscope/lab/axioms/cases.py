"""Case analysis: what a measure guarantees, found out on every ranking there is (Albahem et al. 2018).

All rankings up to a length are evaluated, and every pair that a property relates is compared. A violation is certain;
no violation is as certain as the depth allows. Properties that name their rankings need no others: they can be long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.engines import on_engine
from rankscope.errors import SettingsError
from rankscope.judging.lists import Floats
from rankscope.lab.axioms.comparison import (
    AnyRelation,
    Merits,
    impossible,
    kept_of,
    pairs_of,
    refuse_undefined,
    relations_of,
    world_of,
)
from rankscope.lab.axioms.induction import induced_pairs
from rankscope.lab.axioms.pairs import Pairs, Relation, Stretch
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.axioms.verdicts import Counterexample, Finding, PropertiesResult, rounded_gap
from rankscope.lab.rankings.enumeration import (
    Evaluator,
    blocks,
    check_depth,
    evaluated,
    number_of_rankings,
    places,
)
from rankscope.lab.rankings.tree import Shape, Tree
from rankscope.lab.rankings.worlds import World
from rankscope.lab.rankings.written import Written
from rankscope.lab.rounding import ABSOLUTE, RELATIVE
from rankscope.measures import Measure, parse_many
from rankscope.progress import progress

__all__ = ["Counterexample", "Finding", "PropertiesResult", "properties"]

CELLS = 1 << 26
"""Scores held at a time by properties that relate rankings far apart (512 MB)."""

PAIRS = 1 << 25
"""Induced pairs found at a time (some GB)."""

_OF_ASPECTS = ("relevance monotonicity", "irrelevance monotonicity", "redundancy", "induced")
_OF_GRADES = ("relevance monotonicity", "irrelevance monotonicity", "swap", "replacement")


@on_engine
def properties(
    measures: str | Measure | Sequence[str | Measure],
    *,
    aspects: int | None = None,
    grades: int | None = None,
    depth: int = 10,
    relevant: int | None = None,
    nonrelevant: int | None = None,
    weights: Sequence[float] | None = None,
    several: bool = False,
    properties: Sequence[AnyRelation] | None = None,
    fixed_length: bool = False,
    possible: bool = True,
    examples: int = 1,
    jobs: int | None = None,
    engine: Any = None,
) -> PropertiesResult:
    """Compare the scores of all pairs of rankings that a property relates.

    Rankings are words over ``aspects`` letters and x (a document is relevant to one aspect or to none), or over the
    grades 0 to ``grades``; by default two aspects. With both, a document has a grade for its aspect (a, then A);
    ``several`` adds documents that are relevant to several aspects, such as (ab). ``relevant`` documents of each kind
    are judged (default: ``depth``), ``nonrelevant`` others. ``fixed_length`` compares only rankings of exactly
    ``depth`` documents. ``possible`` leaves out rankings with more documents of a kind than are judged.

    >>> result = properties("ACT AP_IA", aspects=2, depth=4, relevant=10)
    >>> print(result.tables["counterexamples"].rows[0][-1])
    ACT(abx) = 0.0833 > ACT(ab) = 0.0750: appending a non-relevant document raised the score
    """
    if depth < 1:
        raise SettingsError(f"depth {depth}", hint="the longest ranking has 1 document or more")
    chosen = parse_many(measures)
    world = world_of(aspects, grades, depth, relevant, nonrelevant, weights, several)
    every = _OF_GRADES if world.graded else _OF_ASPECTS
    relations = relations_of(every if properties is None else properties, world)
    if any(one.words is None for one in relations):
        check_depth(world, depth)
    analysis = _Analysis(chosen, world, depth, relations, examples, fixed_length, possible, jobs)
    settings = {
        "measures": [str(measure) for measure in chosen],
        **kept_of(world, grades, several),
        "depth": depth,
        "weights": None if weights is None else [float(w) for w in weights],
        "properties": [one.name for one in relations],
        "fixed_length": fixed_length,
        "possible": possible,
        "tolerance": f"a score is larger if by more than {RELATIVE:g} of it + {ABSOLUTE:g} of the largest score",
        "rankings": analysis.rankings,
        "complete": analysis.run(),
    }
    return PropertiesResult(tuple(analysis.findings), settings)


class _Analysis:
    """The work: blocks of rankings, evaluated once for all measures, compared for all properties."""

    def __init__(
        self,
        measures: Sequence[Measure],
        world: World,
        depth: int,
        relations: Sequence[Relation],
        examples: int,
        fixed_length: bool,
        possible: bool,
        jobs: int | None,
    ) -> None:
        self.world, self.depth, self.examples, self.jobs = world, depth, examples, jobs
        self.first = depth if fixed_length else 0
        self.possible = possible and min(world.judged) < depth
        self.findings = [Finding(measure, one) for measure in measures for one in relations]
        self.evaluators = [Evaluator(measure, world) for measure in measures]
        self.scale = [0.0 for _ in measures]  # the largest score of each measure so far
        self.named = [one for one in relations if one.words is not None]
        self.local = [one for one in relations if one.local]
        self.wide = [one for one in relations if not one.local and one.words is None]
        self.written = [written for one in self.named for written in self._written(one)]
        if not self.local and not self.wide:  # nothing to enumerate
            self.rankings = sum(len(lists) for _, lists in self.written)
            self.scores = None
            return
        self.rankings = rankings = number_of_rankings(len(world), depth)
        if self.wide and rankings * len(measures) > CELLS:
            names = " and ".join(one.name for one in self.wide)
            raise SettingsError(
                f"{names} at depth {depth}: {rankings * len(measures):,} scores at a time, {CELLS:,} fit",
                hint="choose a smaller depth or fewer measures, or leave these properties out",
            )
        if any(one is RELATIONS["induced"] for one in self.wide):
            self._refuse_too_many_pairs(rankings)
        self.scores = np.empty((len(measures), rankings)) if self.wide else None

    def _refuse_too_many_pairs(self, rankings: int) -> None:
        """The induced pairs of a ranking grow little with the depth, so that short rankings tell how many there are."""
        short = min(self.depth, 5)
        pairs = sum(len(low) for low, _ in induced_pairs(Tree(self.world, short)))
        expected = pairs * rankings // number_of_rankings(len(self.world), short)
        if expected > PAIRS:
            raise SettingsError(
                f"induced at depth {self.depth}: about {expected:,} pairs, {PAIRS:,} fit",
                hint="choose a smaller depth, or leave the induced pairs out",
            )

    def run(self) -> bool:
        """Go through all blocks; False when interrupted."""
        try:
            for one, lists in self.written:
                self._compare_written(one, lists)
            if not self.local and not self.wide:
                return True
            pieces = blocks(self.world, self.depth)
            work = evaluated(pieces, self.evaluators, self.world, self.jobs)
            for tree, first, values in progress(work, len(pieces), "rankings"):
                self._keep(tree, first, values)
                self._compare(self.local, tree, max(first, self.first), values)
            if self.scores is not None:
                whole = Tree(self.world, self.depth)
                self._compare(self.wide, whole, self.first, list(self.scores))
                self._explain(whole)
        except KeyboardInterrupt:
            return False
        return True

    def _explain(self, tree: Tree) -> None:
        """Let relations that can say more about a counterexample do so."""
        for finding in self.findings:
            tell = finding.relation.tell
            if tell is not None:
                finding.shortest = [replace(e, why=tell(tree, e.low, e.high)) for e in finding.shortest]

    def _keep(self, tree: Tree, first: int, values: list[Floats]) -> None:
        """Put the scores of a block where they belong among those of all rankings."""
        if self.scores is None:
            return
        whole = Shape(len(self.world), (), self.depth)
        for level in range(first, tree.shape.depth + 1):
            for row, found in zip(self.scores, values, strict=True):
                row[places(whole, tree.shape.prefix[:level], level)] = tree.level(found, level)[0]

    def _written(self, one: Relation) -> Iterator[tuple[Relation, Written]]:
        """The rankings that a relation names, case by case: first all lower ones, then the higher ones."""
        for case in one.words(self.world, self.depth) if one.words is not None else ():
            kept = [pair for pair in case if len(pair[0]) >= self.first]
            if kept:
                yield one, Written(self.world, [word for side in zip(*kept, strict=True) for word in side])

    def _compare_written(self, one: Relation, lists: Written) -> None:
        pairs = Pairs(*np.arange(len(lists)).reshape(2, -1))
        self._judge(one, lists, [pairs], self._merits([each.written(lists) for each in self.evaluators]))

    def _compare(self, relations: Sequence[Relation], tree: Tree, first: int, values: list[Floats]) -> None:
        left_out = impossible(tree) if self.possible else None
        merits = self._merits(values)
        for one in relations:
            self._judge(one, tree, pairs_of(one, tree, first, left_out), merits)

    def _merits(self, values: list[Floats]) -> list[Merits]:
        found = [
            Merits(each.measure, mine, scale)
            for each, mine, scale in zip(self.evaluators, values, self.scale, strict=True)
        ]
        self.scale = [merits.scale for merits in found]
        return found

    def _judge(
        self, one: Relation, lists: Tree | Written, all_pairs: Iterable[Pairs], merits: Sequence[Merits]
    ) -> None:
        mine = [finding for finding in self.findings if finding.relation is one]
        for pairs in all_pairs:
            for finding, found in zip(mine, merits, strict=True):
                if found.undefined:
                    refuse_undefined(finding.measure, lists, pairs, found.values)
                self._count(finding, lists, pairs, found)

    def _count(self, finding: Finding, lists: Tree | Written, pairs: Pairs, merits: Merits) -> None:
        wrong = merits.broken(finding.relation, pairs)
        number = int(np.count_nonzero(wrong))
        some = finding.relation.some
        finding.cases += min(1, wrong.size) if some else wrong.size
        finding.violations += min(1, number) if some else number
        if number and self.examples:
            self._remember(finding, lists, pairs, np.flatnonzero(wrong), merits)

    def _remember(
        self,
        finding: Finding,
        lists: Tree | Written,
        pairs: Pairs,
        wrong: npt.NDArray[np.intp],
        merits: Merits,
    ) -> None:
        """Keep the shortest counterexamples, and of equally long ones the first in alphabetical order."""
        if len(finding.shortest) >= self.examples and finding.shortest[-1].length < _shortest_in(
            lists, pairs
        ):
            return
        low, high = pairs.of(merits.values)
        lower, higher = (nodes.ravel()[wrong] for nodes in pairs.nodes())
        lengths = np.maximum(lists.length[lower], lists.length[higher])
        if len(finding.shortest) >= self.examples:
            near = np.flatnonzero(lengths <= finding.shortest[-1].length)
            lower, higher, wrong, lengths = lower[near], higher[near], wrong[near], lengths[near]
            if not len(near):
                return
        with np.errstate(invalid="ignore"):  # scores may be infinite
            gaps = np.nan_to_num(rounded_gap((low - high).ravel()[wrong]))
        order = np.lexsort((-gaps, lengths))
        last = order[min(self.examples, len(order)) - 1]
        # ties with the last one wanted are decided by the alphabet
        alike = (lengths == lengths[last]) & (gaps == gaps[last])
        tied = merits.tied(pairs).ravel()
        for k in {*order[: self.examples].tolist(), *np.flatnonzero(alike)[:1000].tolist()}:
            here = np.array([low.ravel()[wrong[k]], high.ravel()[wrong[k]]])
            scores = finding.measure.merit(here)
            example = Counterexample(
                int(lengths[k]),
                lists.word(int(lower[k])),
                lists.word(int(higher[k])),
                float(scores[0]),
                float(scores[1]),
                finding.relation.broken,
                bool(tied[wrong[k]]),
            )
            finding.shortest.append(example)
        finding.shortest = sorted(finding.shortest, key=lambda example: example.telling)[: self.examples]


def _shortest_in(lists: Tree | Written, pairs: Pairs) -> int:
    """The least length that a counterexample among these pairs can have."""
    if isinstance(pairs.low, Stretch) and isinstance(pairs.high, Stretch):
        return int(lists.length[max(pairs.low.start, pairs.high.start)])
    return 0
