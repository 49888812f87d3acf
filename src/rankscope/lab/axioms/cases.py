"""Case analysis: what a measure guarantees, found out on every ranking there is (Albahem et al. 2018).

All rankings up to a length are evaluated, and every pair that a property relates is compared. A violation is certain;
no violation is as certain as the depth allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rankscope.errors import MeasureError, SettingsError, nearest
from rankscope.judging.lists import Floats
from rankscope.lab.axioms.induction import induced_pairs
from rankscope.lab.axioms.relations import RELATIONS, Pairs, Relation, Stretch, relation
from rankscope.lab.rankings.enumeration import (
    Evaluator,
    blocks,
    check_depth,
    evaluated,
    number_of_rankings,
    places,
)
from rankscope.lab.rankings.tree import Shape, Tree
from rankscope.lab.rankings.worlds import World, aspect_world, graded_world
from rankscope.lab.rounding import ABSOLUTE, RELATIVE, apart, exceeded_by, magnitude
from rankscope.measures import Measure, parse_many
from rankscope.progress import progress
from rankscope.tables import Table

__all__ = ["Counterexample", "Finding", "PropertiesResult", "properties"]

CELLS = 1 << 26
"""Scores held at a time by properties that relate rankings far apart (512 MB)."""

PAIRS = 1 << 25
"""Induced pairs found at a time (some GB)."""

_OF_ASPECTS = ("relevance monotonicity", "irrelevance monotonicity", "redundancy", "induced")
_OF_GRADES = ("relevance monotonicity", "irrelevance monotonicity", "swap", "replacement")

AnyRelation = str | Relation | Callable[[str], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class Counterexample:
    """Two rankings in the wrong order: ``low`` should not score more than ``high``, but does."""

    length: int
    low: str
    high: str
    low_score: float
    high_score: float
    why: str

    @property
    def telling(self) -> tuple[int, float, str, str]:
        """What to sort by: short ones first, then those that are most wrong, then the alphabet."""
        return (self.length, -float(_rounded(self.low_score - self.high_score)), self.low, self.high)

    def sentence(self, measure: Measure) -> str:
        """What happened, in words."""
        low, high = apart(self.low_score, self.high_score)
        return f"{measure}({self.low}) = {low} > {measure}({self.high}) = {high}: {self.why}"


@dataclass
class Finding:
    """One measure against one property."""

    measure: Measure
    relation: Relation
    cases: int = 0
    violations: int = 0
    shortest: list[Counterexample] = field(default_factory=list)


@dataclass(frozen=True)
class PropertiesResult:
    """The outcome of a case analysis: ``tables['properties']`` and ``tables['counterexamples']``."""

    findings: tuple[Finding, ...]
    settings: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every ranking was looked at; False after an interruption."""
        return bool(self.settings["complete"])

    @property
    def tables(self) -> dict[str, Table]:
        """What was found, as tables."""
        counts = [(str(f.measure), f.relation.name, f.cases, f.violations) for f in self.findings]
        examples = [
            (
                str(f.measure),
                f.relation.name,
                e.low,
                e.high,
                e.low_score,
                e.high_score,
                e.sentence(f.measure),
            )
            for f in self.findings
            for e in f.shortest
        ]
        partial = "" if self.complete else " (interrupted: only the rankings seen so far)"
        columns = ("measure", "property", "low", "high", "low_score", "high_score", "explanation")
        return {
            "properties": Table(
                "properties",
                ("measure", "property", "cases", "violations"),
                counts,
                caption=f"{self.settings['rankings']:,} rankings{partial}",
            ),
            "counterexamples": Table(
                "counterexamples", columns, examples, caption="shortest counterexamples"
            ),
        }

    def violations(self, measure: str | Measure, property: str) -> int:
        """How often a measure violates a property."""
        for finding in self.findings:
            if str(finding.measure) == str(measure) and finding.relation.name == property:
                return finding.violations
        raise SettingsError(f"{measure} was not tested for {property!r}", hint="see the table of properties")

    def plot(self, measure: str | Measure | None = None, **options: Any) -> Any:
        """The tree of short rankings with the violations of a measure: the first that has any, unless set."""
        from rankscope.plots.relations import plot_relations, readable_depth

        violated = [f for f in self.findings if f.shortest and measure in (None, str(f.measure), f.measure)]
        chosen = measure or (violated or list(self.findings))[0].measure
        shown = {
            key: self.settings.get(key) for key in ("aspects", "grades", "relevant", "nonrelevant", "weights")
        }
        letters = int(shown["aspects"] or shown["grades"] or 2) + 1
        longest = max([2, *(f.shortest[0].length for f in violated if f.measure == violated[0].measure)])
        shown["depth"] = min(longest, int(self.settings["depth"]), readable_depth(letters))
        shown["properties"] = [
            name for name in self.settings["properties"] if name in RELATIONS and name != "induced"
        ]
        return plot_relations(chosen, **{**shown, **options})

    def __repr__(self) -> str:
        return self.tables["properties"].text()


def properties(
    measures: str | Measure | Sequence[str | Measure],
    *,
    aspects: int | None = None,
    grades: int | None = None,
    depth: int = 10,
    relevant: int | None = None,
    nonrelevant: int | None = None,
    weights: Sequence[float] | None = None,
    properties: Sequence[AnyRelation] | None = None,
    fixed_length: bool = False,
    possible: bool = True,
    examples: int = 1,
    jobs: int | None = None,
) -> PropertiesResult:
    """Compare the scores of all pairs of rankings that a property relates.

    Rankings are words over ``aspects`` letters and x (a document is relevant to one aspect or to none), or over the
    grades 0 to ``grades``; by default two aspects. ``relevant`` documents are judged for each aspect or grade (default:
    ``depth``), ``nonrelevant`` others. ``fixed_length`` compares only rankings of exactly ``depth`` documents.
    ``possible`` leaves out rankings with more documents of a kind than are judged.

    >>> result = properties("ACT AP_IA", aspects=2, depth=4, relevant=10)
    >>> print(result.tables["counterexamples"].rows[0][-1])
    ACT(abx) = 0.0833 > ACT(ab) = 0.0750: appending a non-relevant document raised the score
    """
    if depth < 1:
        raise SettingsError(f"depth {depth}", hint="the longest ranking has 1 document or more")
    chosen = parse_many(measures)
    world = _world(aspects, grades, depth, relevant, nonrelevant, weights)
    check_depth(world, depth)
    relations = _relations(properties, world)
    analysis = _Analysis(chosen, world, depth, relations, examples, fixed_length, possible, jobs)
    settings = {
        "measures": [str(measure) for measure in chosen],
        **({"aspects": world.aspects} if grades is None else {"grades": grades}),
        "depth": depth,
        "relevant": world.judged[0 if grades is None else 1],
        "nonrelevant": world.judged[-1 if grades is None else 0],
        "weights": None if weights is None else [float(w) for w in weights],
        "properties": [one.name for one in relations],
        "fixed_length": fixed_length,
        "possible": possible,
        "tolerance": f"a score is larger if by more than {RELATIVE:g} of it + {ABSOLUTE:g} of the largest score",
        "rankings": number_of_rankings(len(world), depth),
        "complete": analysis.run(),
    }
    return PropertiesResult(tuple(analysis.findings), settings)


def _world(
    aspects: int | None,
    grades: int | None,
    depth: int,
    relevant: int | None,
    nonrelevant: int | None,
    weights: Sequence[float] | None,
) -> World:
    if aspects is not None and grades is not None:
        raise SettingsError(
            "both aspects and grades", hint="rankings have either aspects or grades; give one of them"
        )
    relevant = depth if relevant is None else relevant
    nonrelevant = depth if nonrelevant is None else nonrelevant
    if grades is None:
        return aspect_world(
            2 if aspects is None else aspects, relevant=relevant, nonrelevant=nonrelevant, weights=weights
        )
    return graded_world(grades, relevant=relevant, nonrelevant=nonrelevant)


def _relations(wanted: Sequence[AnyRelation] | None, world: World) -> list[Relation]:
    graded = max(world.aspect) < 0
    if wanted is None:
        wanted = _OF_GRADES if graded else _OF_ASPECTS
    found = []
    for one in wanted:
        if isinstance(one, str):
            if one not in RELATIONS:
                known = nearest(one, RELATIONS) or f"there are {', '.join(RELATIONS)}"
                raise SettingsError(f"there is no property {one!r}", hint=known)
            one = RELATIONS[one]
        elif not isinstance(one, Relation):
            one = relation(one)
        if one.needs_aspects and graded:
            raise SettingsError(f"{one.name} needs aspects", hint="give aspects=2 instead of grades")
        found.append(one)
    return found


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
        self.local = [one for one in relations if one.local]
        self.wide = [one for one in relations if not one.local]
        rankings = number_of_rankings(len(world), depth)
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
        pieces = blocks(self.world, self.depth)
        try:
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

    def _compare(self, relations: Sequence[Relation], tree: Tree, first: int, values: list[Floats]) -> None:
        impossible = _impossible(tree) if self.possible else None
        self.scale = [max(scale, magnitude(found)) for scale, found in zip(self.scale, values, strict=True)]
        limits = [exceeded_by(found, scale) for found, scale in zip(values, self.scale, strict=True)]
        undefined = [np.isnan(found).any() for found in values]
        for one in relations:
            mine = [f for f in self.findings if f.relation is one]
            for pairs in one.pairs(tree, first):
                if impossible is not None:
                    pairs = _without(pairs, impossible)
                for finding, found, limit, some in zip(mine, values, limits, undefined, strict=True):
                    if some:
                        _refuse_undefined(finding.measure, tree, pairs, found)
                    self._count(finding, tree, pairs, found, limit)

    def _count(self, finding: Finding, tree: Tree, pairs: Pairs, values: Floats, limits: Floats) -> None:
        low, limit = pairs.of(values, limits)
        wrong = low > limit
        finding.cases += low.size
        number = int(np.count_nonzero(wrong))
        finding.violations += number
        if number and self.examples:
            self._remember(finding, tree, pairs, np.flatnonzero(wrong), *pairs.of(values))

    def _remember(
        self,
        finding: Finding,
        tree: Tree,
        pairs: Pairs,
        wrong: npt.NDArray[np.intp],
        low: npt.NDArray[Any],
        high: npt.NDArray[Any],
    ) -> None:
        """Keep the shortest counterexamples, and of equally long ones the first in alphabetical order."""
        if len(finding.shortest) >= self.examples and finding.shortest[-1].length < _shortest_in(tree, pairs):
            return
        lower, higher = (nodes.ravel()[wrong] for nodes in pairs.nodes())
        starts = tree.shape.starts
        lengths = np.searchsorted(starts, np.maximum(lower, higher), side="right") - 1
        if len(finding.shortest) >= self.examples:
            near = np.flatnonzero(lengths <= finding.shortest[-1].length)
            lower, higher, wrong, lengths = lower[near], higher[near], wrong[near], lengths[near]
            if not len(near):
                return
        with np.errstate(invalid="ignore"):  # scores may be infinite
            gaps = np.nan_to_num(_rounded((low - high).ravel()[wrong]))
        order = np.lexsort((-gaps, lengths))
        last = order[min(self.examples, len(order)) - 1]
        # ties with the last one wanted are decided by the alphabet
        tied = (lengths == lengths[last]) & (gaps == gaps[last])
        for k in {*order[: self.examples].tolist(), *np.flatnonzero(tied)[:1000].tolist()}:
            example = Counterexample(
                int(lengths[k]),
                tree.word(int(lower[k])),
                tree.word(int(higher[k])),
                float(low.ravel()[wrong[k]]),
                float(high.ravel()[wrong[k]]),
                finding.relation.broken,
            )
            finding.shortest.append(example)
        finding.shortest = sorted(finding.shortest, key=lambda example: example.telling)[: self.examples]


def _rounded(gaps: Any) -> Any:
    """Differences of scores to nine digits: equal ones may differ by rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** np.floor(np.log10(np.abs(gaps)))
        rounded = np.round(gaps / unit, 8) * unit
    return np.where(np.isfinite(rounded), rounded, gaps)


def _refuse_undefined(measure: Measure, tree: Tree, pairs: Pairs, values: Floats) -> None:
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


def _shortest_in(tree: Tree, pairs: Pairs) -> int:
    """The least length that a counterexample among these pairs can have."""
    if isinstance(pairs.low, Stretch) and isinstance(pairs.high, Stretch):
        return (
            int(np.searchsorted(tree.shape.starts, max(pairs.low.start, pairs.high.start), side="right")) - 1
        )
    return 0


def _impossible(tree: Tree) -> npt.NDArray[np.bool_]:
    """Whether a ranking has more documents of a kind than are judged."""
    found = np.zeros(tree.shape.size, np.bool_)
    hits = tree.hits()
    for letter, judged in enumerate(tree.world.judged):
        mine = hits.take(np.repeat(np.arange(len(tree.world)), tree.world.judged)) == letter
        found |= hits.sum(mine) > judged
    return found


def _without(pairs: Pairs, impossible: npt.NDArray[np.bool_]) -> Pairs:
    low, high = Pairs(pairs.low, pairs.high).of(impossible)
    mask = ~(low | high)
    return Pairs(pairs.low, pairs.high, mask if pairs.mask is None else mask & pairs.mask)
