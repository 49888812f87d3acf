"""Case analysis: what a measure guarantees, found out on every ranking there is (Albahem et al. 2018).

All rankings up to a length are evaluated, and every pair that a property relates is compared. A violation is certain;
no violation is as certain as the depth allows. Properties that name their rankings need no others: they can be long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankscope.engines import on_engine
from rankscope.errors import SettingsError
from rankscope.judging.lists import Floats
from rankscope.lab.axioms.comparison import (
    AnyRelation,
    Cases,
    LeftOut,
    Merits,
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
    orbits,
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

Piece = tuple[int, tuple[int, ...], int]

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


class _Part(NamedTuple):
    """An enumeration down to a depth for some measures; to ``alike`` ones the names of aspects make no difference."""

    depth: int
    alike: bool
    measures: tuple[int, ...]

    def pieces(self, world: World) -> list[tuple[Piece, int]]:
        """The blocks to look at, each with the number of those for which it stands."""
        every = blocks(world, self.depth)
        return orbits(world, every) if self.alike else [(piece, 1) for piece in every]


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
        self.parts: list[_Part] = []
        self.whole: set[int] = set()  # measures that are evaluated all the way down, by their numbers
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
        self.parts = self._parts()

    def _parts(self) -> list[_Part]:
        """What to enumerate for which measures, as far as they look: to their depth, one of all names of aspects."""
        known = not self.wide and all(one.near for one in self.local)
        # below what it looks at, a measure gives two rankings the same score: no news but for a relation that asks more
        plain = known and not any(one.strict or one.some or one.within for one in self.local)
        found: dict[tuple[int, bool], list[int]] = {}
        for number, evaluator in enumerate(self.evaluators):
            depth, alike = self.depth, False
            if known:
                watch = evaluator.watched(self.world, self.depth)
                depth = max(1, watch.reach) if plain and number not in self.whole else depth
                alike = watch.alike and self.examples <= 1
            found.setdefault((depth, alike), []).append(number)
        if not any(depth == self.depth for depth, _ in found):
            found[self.depth, True] = []
        return [_Part(*key, tuple(found[key])) for key in sorted(found)]

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
            while (undefined := self._enumerate()) is not None:
                self._start_again(undefined)
            if self.scores is not None:
                whole = Tree(self.world, self.depth)
                merits = self._merits(list(self.scores), range(len(self.evaluators)))
                self._compare(self.wide, whole, self.first, merits)
                self._explain(whole)
        except KeyboardInterrupt:
            return False
        return True

    def _enumerate(self) -> int | None:
        """Compare near rankings; the number of a measure that is undefined on some, if they must go on further down."""
        work = [(part, *piece) for part in self.parts for piece in part.pieces(self.world)]
        for part, many, tree, first, values in progress(self._evaluated(work), len(work), "rankings"):
            self._keep(tree, first, values)
            merits = self._merits(values, part.measures)
            undefined = [number for number, found in merits.items() if found.undefined]
            if undefined and part.depth < self.depth:
                return undefined[0]
            last = part is self.parts[-1]
            beyond = [each for each in self.parts if last and each.depth < self.depth]
            self._compare(self.local, tree, max(first, self.first), merits, many, beyond)
        return None

    def _start_again(self, number: int) -> None:
        """Count near rankings once more, and for this measure all of them."""
        self.whole.add(number)
        self.parts = self._parts()
        for finding in self.findings:
            if finding.relation in self.local:
                finding.cases = finding.violations = 0
                finding.shortest = []

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

    def _evaluated(
        self, work: Sequence[tuple[_Part, Piece, int]]
    ) -> Iterator[tuple[_Part, int, Tree, int, list[Floats]]]:
        """The work part by part: how many blocks one stands for, its rankings, their first own length, their scores."""
        for part in self.parts:
            mine = [(piece, many) for where, piece, many in work if where is part]
            evaluators = [self.evaluators[number] for number in part.measures]
            found = evaluated([piece for piece, _ in mine], evaluators, self.world, self.jobs)
            for (_, many), (tree, first, values) in zip(mine, found, strict=True):
                yield part, many, tree, first, values

    def _compare_written(self, one: Relation, lists: Written) -> None:
        pairs = Pairs(*np.arange(len(lists)).reshape(2, -1))
        values = [each.written(lists) for each in self.evaluators]
        self._judge(Cases(one, [pairs]), lists, self._merits(values, range(len(values))))

    def _compare(
        self,
        relations: Sequence[Relation],
        tree: Tree,
        first: int,
        merits: dict[int, Merits],
        many: int = 1,
        beyond: Sequence[_Part] = (),
    ) -> None:
        left_out = LeftOut(tree) if self.possible else None
        for one in relations:
            pairs = pairs_of(one, tree, first, left_out)
            # those of far rankings are too many to hold all of them
            for cases in [Cases(one, pairs)] if one.local else (Cases(one, [each]) for each in pairs):
                self._judge(cases, tree, merits, many)
                for part in beyond:
                    # below what a measure looks at it gives both rankings of a pair the score of what is above
                    more = many * cases.longer_than(part.depth, tree)
                    for number in part.measures:
                        self._finding(number, one).cases += more

    def _finding(self, number: int, one: Relation) -> Finding:
        """What is found out about a measure, by its number, and a property."""
        mine = len(self.findings) // len(self.evaluators)
        return next(f for f in self.findings[number * mine : (number + 1) * mine] if f.relation is one)

    def _merits(self, values: list[Floats], measures: Sequence[int]) -> dict[int, Merits]:
        """The scores of measures, by their numbers."""
        found = {
            number: Merits(self.evaluators[number].measure, mine, self.scale[number])
            for number, mine in zip(measures, values, strict=True)
        }
        for number, merits in found.items():
            self.scale[number] = merits.scale
        return found

    def _judge(self, cases: Cases, lists: Tree | Written, merits: dict[int, Merits], many: int = 1) -> None:
        """Count what the measures make of the pairs of a relation, each of which stands for so many."""
        one = cases.relation
        for number, found in merits.items():
            finding = self._finding(number, one)
            if found.undefined:
                for pairs in cases.pairs:
                    refuse_undefined(finding.measure, lists, pairs, found.values)
            for pairs, size, broken in zip(cases.pairs, cases.sizes, found.count(cases), strict=True):
                finding.cases += many * (min(1, size) if one.some else size)
                finding.violations += many * (min(1, broken) if one.some else broken)
                if broken and self.examples:
                    self._remember(finding, lists, pairs, found)

    def _remember(
        self,
        finding: Finding,
        lists: Tree | Written,
        pairs: Pairs,
        merits: Merits,
    ) -> None:
        """Keep the shortest counterexamples, and of equally long ones the first in alphabetical order."""
        if len(finding.shortest) >= self.examples and finding.shortest[-1].length < _shortest_in(
            lists, pairs
        ):
            return
        wrong = np.flatnonzero(merits.broken(finding.relation, pairs))
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
        near = np.flatnonzero(alike)
        if isinstance(lists, Tree):
            keys = lists.alphabetical(higher[near]), lists.alphabetical(lower[near])
            near = near[np.lexsort(keys)[: self.examples]]
        for k in {*order[: self.examples].tolist(), *near.tolist()}:
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
