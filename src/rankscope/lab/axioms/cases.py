"""Case analysis: test of the properties of measures on every possible ranking (Albahem et al. 2018).

All rankings up to a length are evaluated, and every pair that a property relates is compared. A violation is a proof;
its absence holds up to the depth of the analysis. Properties that name their rankings need no enumeration, so their
rankings can be long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.arrays import Bools, Floats
from rankscope.engines import on_engine
from rankscope.errors import SettingsError
from rankscope.lab.axioms import comparison
from rankscope.lab.axioms.pairs import Pairs, Relation, Stretch, induced_pairs
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.axioms.verdicts import Counterexample, PropertiesResult, PropertyVerdict, round_gap
from rankscope.lab.rankings import enumeration
from rankscope.lab.rankings.explicit import ExplicitRankings
from rankscope.lab.rankings.tree import Shape, Tree
from rankscope.lab.rankings.worlds import World
from rankscope.lab.rounding import ABSOLUTE, RELATIVE
from rankscope.measures import Measure, parse_many
from rankscope.progress import progress

MAX_SCORES = 1 << 26
"""Maximum number of scores in memory for properties that are not local (512 MB)."""

MAX_PAIRS = 1 << 25
"""Maximum number of induced pairs in memory (some GB)."""


_ASPECT_PROPERTIES = ("relevance monotonicity", "irrelevance monotonicity", "redundancy", "induced")
_GRADE_PROPERTIES = ("relevance monotonicity", "irrelevance monotonicity", "swap", "replacement")


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
    multi_aspect: bool = False,
    properties: Sequence[comparison.AnyRelation] | None = None,
    fixed_length: bool = False,
    include_impossible: bool = False,
    examples: int = 1,
    jobs: int | None = None,
    engine: Any = None,
) -> PropertiesResult:
    """Compare the scores of all pairs of rankings that a property relates.

    Rankings are words over letters. A letter is a kind of document: relevant to one aspect (a, b, ...) or to none (x),
    or of a grade 0, 1, ...

    Parameters
    ----------
    measures
        Measures, or their names.
    aspects
        Number of aspects; by default 2 if ``grades`` is not given.
    grades
        Highest grade. With ``aspects`` too, documents have a grade for their aspect (a, then A).
    depth
        Maximum number of documents in a ranking.
    relevant
        Number of judged documents of each relevant kind; by default ``depth``.
    nonrelevant
        Number of judged non-relevant documents; by default ``depth``.
    weights
        Weights of the aspects.
    multi_aspect
        Whether documents can be relevant to several aspects, such as (ab).
    properties
        Names of properties, relations, or functions (see :func:`rankscope.lab.relation`). By default those of Albahem
        et al. for aspects, and monotonicity, swap and replacement for grades.
    fixed_length
        Whether to compare only rankings of exactly ``depth`` documents.
    include_impossible
        Whether to include rankings with more documents of a kind than are judged.
    examples
        Number of counterexamples per measure and property.
    jobs
        Number of workers; None or 0 for all cores.
    engine
        Where to compute, see :mod:`rankscope.engines`.

    Returns
    -------
    PropertiesResult
        Counts of cases and violations, the shortest counterexamples, and verdicts as sentences.

    Examples
    --------
    >>> result = properties("ACT AP_IA", aspects=2, depth=4, relevant=10)
    >>> print(result.tables["counterexamples"].rows[0][-1])
    ACT(abx) = 0.0833 > ACT(ab) = 0.0750: appending a non-relevant document raised the score
    """
    if depth < 1:
        raise SettingsError(f"depth {depth}", hint="the longest ranking has 1 document or more")
    parsed = parse_many(measures)
    world = comparison.make_world(aspects, grades, depth, relevant, nonrelevant, weights, multi_aspect)
    defaults = _GRADE_PROPERTIES if world.graded else _ASPECT_PROPERTIES
    relations = comparison.resolve_relations(defaults if properties is None else properties, world)
    if any(relation.words is None for relation in relations):
        enumeration.check_depth(world, depth)
    analysis = _Analysis(parsed, world, depth, relations, examples, fixed_length, include_impossible, jobs)
    options = (grades, multi_aspect, depth, relations, fixed_length, include_impossible)
    settings = {
        "measures": [str(measure) for measure in parsed],
        **comparison.case_settings(world, *options),
        "tolerance": f"a larger score exceeds the other by {RELATIVE:g} of it + {ABSOLUTE:g} of the largest score",
        "rankings": analysis.rankings,
        "complete": analysis.run(),
    }
    return PropertiesResult(tuple(analysis.verdicts), settings)


class _Analysis:
    """Evaluation of blocks of rankings, once for all measures, and their comparison for all properties."""

    def __init__(
        self,
        measures: Sequence[Measure],
        world: World,
        depth: int,
        relations: Sequence[Relation],
        examples: int,
        fixed_length: bool,
        include_impossible: bool,
        jobs: int | None,
    ) -> None:
        self.world, self.depth, self.examples, self.jobs = world, depth, examples, jobs
        self.first = depth if fixed_length else 0
        self.excludes_impossible = not include_impossible and min(world.judged) < depth
        self.verdicts = [PropertyVerdict(measure, relation) for measure in measures for relation in relations]
        self.evaluators = [enumeration.Evaluator(measure, world) for measure in measures]
        self.scale = [0.0 for _ in measures]  # largest score of each measure so far
        self.named = [relation for relation in relations if relation.words is not None]
        self.local = [relation for relation in relations if relation.local]
        self.wide = [relation for relation in relations if not relation.local and relation.words is None]
        self.explicit = [item for relation in self.named for item in self._explicit_rankings(relation)]
        if not self.local and not self.wide:  # nothing to enumerate
            self.rankings = sum(len(lists) for _, lists in self.explicit)
            self.scores = None
            return
        self.rankings = rankings = enumeration.count_rankings(len(world), depth)
        if self.wide and rankings * len(measures) > MAX_SCORES:
            names = " and ".join(relation.name for relation in self.wide)
            raise SettingsError(
                f"{names} at depth {depth}: {rankings * len(measures):,} scores at a time, {MAX_SCORES:,} fit",
                hint="choose a smaller depth or fewer measures, or leave these properties out",
            )
        if any(relation is RELATIONS["induced"] for relation in self.wide):
            self._check_pair_count(rankings)
        self.scores = np.empty((len(measures), rankings)) if self.wide else None

    def _check_pair_count(self, rankings: int) -> None:
        """Reject a depth with too many induced pairs.

        Their number per ranking grows little with the depth, so it is extrapolated from short rankings.
        """
        short = min(self.depth, 5)
        pairs = sum(len(low) for low, _ in induced_pairs(Tree(self.world, short)))
        expected = pairs * rankings // enumeration.count_rankings(len(self.world), short)
        if expected > MAX_PAIRS:
            problem = f"induced at depth {self.depth}: about {expected:,} pairs, {MAX_PAIRS:,} fit"
            raise SettingsError(problem, hint="choose a smaller depth, or leave the induced pairs out")

    def run(self) -> bool:
        """Process all blocks; return False if interrupted."""
        try:
            for relation, lists in self.explicit:
                self._compare_explicit(relation, lists)
            if self.local or self.wide:
                self._enumerate()
            if self.scores is not None:
                whole = Tree(self.world, self.depth)
                self._compare(self.wide, whole, self.first, self._merits(list(self.scores)))
                self._explain(whole)
        except KeyboardInterrupt:
            return False
        return True

    def _enumerate(self) -> None:
        """Evaluate all blocks, and compare local relations."""
        pieces = enumeration.blocks(self.world, self.depth)
        evaluated = enumeration.evaluate_blocks(pieces, self.evaluators, self.world, self.jobs)
        for tree, first, values in progress(evaluated, len(pieces), "rankings"):
            self._keep(tree, first, values)
            self._compare(self.local, tree, max(first, self.first), self._merits(values))

    def _explain(self, tree: Tree) -> None:
        """Add the explanations of relations that have a ``tell`` function."""
        for verdict in self.verdicts:
            tell = verdict.relation.tell
            if tell is not None:
                verdict.shortest = [replace(e, why=tell(tree, e.low, e.high)) for e in verdict.shortest]

    def _keep(self, tree: Tree, first: int, values: list[Floats]) -> None:
        """Copy the scores of a block into the array of all scores."""
        if self.scores is None:
            return
        whole = Shape(len(self.world), (), self.depth)
        for level in range(first, tree.shape.depth + 1):
            for row, scores in zip(self.scores, values, strict=True):
                nodes = enumeration.extension_nodes(whole, tree.shape.prefix[:level], level)
                row[nodes] = tree.level(scores, level)[0]

    def _explicit_rankings(self, relation: Relation) -> Iterator[tuple[Relation, ExplicitRankings]]:
        """Yield the explicit rankings of a relation, case by case: first all lower ones, then the higher ones."""
        for case in relation.words(self.world, self.depth) if relation.words is not None else ():
            kept = [pair for pair in case if len(pair[0]) >= self.first]
            if kept:
                lower, higher = zip(*kept, strict=True)
                yield relation, ExplicitRankings(self.world, [*lower, *higher])

    def _compare_explicit(self, relation: Relation, lists: ExplicitRankings) -> None:
        pairs = Pairs(*np.arange(len(lists)).reshape(2, -1))
        values = [evaluator.evaluate_lists(lists) for evaluator in self.evaluators]
        self._judge(relation, pairs, lists, self._merits(values))

    def _compare(
        self, relations: Sequence[Relation], tree: Tree, first: int, merits: Sequence[comparison.Merits]
    ) -> None:
        impossible = comparison.ImpossibleRankings(tree) if self.excludes_impossible else None
        for relation in relations:
            for pairs in comparison.iter_pairs(relation, tree, first, impossible):
                self._judge(relation, pairs, tree, merits)

    def _merits(self, values: Sequence[Floats]) -> list[comparison.Merits]:
        """Return the scores of all measures."""
        measures = [evaluator.measure for evaluator in self.evaluators]
        result = list(map(comparison.Merits, measures, values, self.scale))
        self.scale = [merits.scale for merits in result]
        return result

    def _judge(
        self,
        relation: Relation,
        pairs: Pairs,
        lists: Tree | ExplicitRankings,
        merits: Sequence[comparison.Merits],
    ) -> None:
        """Count cases and violations of a relation for all measures."""
        n_pairs = pairs.n_pairs
        for scores in merits:
            verdict = next(f for f in self.verdicts if f.measure is scores.measure and f.relation is relation)
            if scores.undefined:
                comparison.reject_undefined(verdict.measure, lists, pairs, scores.values)
            broken = scores.broken(relation, pairs)
            n_broken = int(np.count_nonzero(broken))
            verdict.cases += min(1, n_pairs) if relation.some else n_pairs
            verdict.violations += min(1, n_broken) if relation.some else n_broken
            if n_broken and self.examples:
                self._remember(verdict, lists, pairs, scores, broken)

    def _remember(
        self,
        verdict: PropertyVerdict,
        lists: Tree | ExplicitRankings,
        pairs: Pairs,
        merits: comparison.Merits,
        broken: Bools,
    ) -> None:
        """Keep the shortest counterexamples, and among equally long ones the alphabetically first."""
        enough = len(verdict.shortest) >= self.examples
        longest = verdict.shortest[-1].length if enough else np.inf
        if longest < minimum_length(lists, pairs):
            return
        wrong = np.flatnonzero(broken)
        low, high = pairs.select(merits.values)
        lower, higher = (nodes.ravel()[wrong] for nodes in pairs.nodes())
        lengths = np.maximum(lists.length[lower], lists.length[higher])
        near = np.flatnonzero(lengths <= longest)
        if not len(near):
            return
        lower, higher, wrong, lengths = lower[near], higher[near], wrong[near], lengths[near]
        with np.errstate(invalid="ignore"):  # Scores may be infinite.
            gaps = np.nan_to_num(round_gap((low - high).ravel()[wrong]))
        order = np.lexsort((-gaps, lengths))
        last = order[min(self.examples, len(order)) - 1]
        # The alphabet breaks ties with the last counterexample that is kept.
        near = np.flatnonzero((lengths == lengths[last]) & (gaps == gaps[last]))
        tied = merits.tied(pairs).ravel()
        if isinstance(lists, Tree):
            keys = lists.alphabetical_keys(higher[near]), lists.alphabetical_keys(lower[near])
            near = near[np.lexsort(keys)[: self.examples]]
        for k in {*order[: self.examples].tolist(), *near.tolist()}:
            at = wrong[k]
            worse, better = verdict.measure.merit(np.array([low.ravel()[at], high.ravel()[at]])).tolist()
            words = lists.word(int(lower[k])), lists.word(int(higher[k]))
            why, is_tied = verdict.relation.broken, bool(tied[at])
            verdict.shortest.append(Counterexample(int(lengths[k]), *words, worse, better, why, is_tied))
        verdict.shortest = sorted(verdict.shortest, key=lambda example: example.sort_key)[: self.examples]


def minimum_length(lists: Tree | ExplicitRankings, pairs: Pairs) -> int:
    """Return the minimum length of a counterexample among these pairs."""
    if isinstance(pairs.low, Stretch) and isinstance(pairs.high, Stretch):
        return int(lists.length[max(pairs.low.start, pairs.high.start)])
    return 0
