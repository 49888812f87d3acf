"""Cases, solvers, labellings, orders, batches and witnesses of small random collections are the recorded ones.

Statements about runs hide most of the values that they rest on, and are the same for batches of any size. These tests
detect unintended changes of the parts. After an intended change, run

    python -m tests.certainty.test_recorded_parts

and review the difference before you commit it.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.certainty import test_joint_brute_force as brute_force
from tests.recorded import (
    assert_recorded,
    describe_definitions,
    known_measures,
    to_plain,
    write_recorded,
)

import rankscope as rs
from rankscope import certainty
from rankscope.certainty import cases, documents, labels, orders, pairs, solvers, unjudged, values, witnesses
from rankscope.certainty.documents import TopicHits, fixed_ranks, group_ranks, hits_by_topic
from rankscope.choices import TIES, UNJUDGED_AS
from rankscope.errors import SettingsError
from rankscope.judging import EvaluationOptions, Judged
from rankscope.judging.tied import TiedLists
from rankscope.measures import Measure, parse_many
from rankscope.measures.base import declared_form
from rankscope.measures.forms import Counted, Weighted
from rankscope.read import Qrels, Run, Runs

RECORDED = Path(__file__).with_name("recorded_parts.json")
MEASURES = known_measures(RECORDED, __name__)
PLAIN, BY_ASPECT = (
    [measure for measure in pool if measure.name in MEASURES]
    for pool in (brute_force.PLAIN, brute_force.BY_ASPECT)
)
SHAPES = {5: (2, 2, 9), 6: (2, 5, 1), 7: (1, 3, 5), 8: (5, 2, 3)}
"""Numbers of topics, of documents of a list and of runs by seed; others have 2 topics, 5 documents, 2 or 3 runs."""

SEEDS = range(9)
HIGH = parse_many("AP(rel=2) Bpref(rel=2) R(rel=2)@3 RR(rel=2) AP(rel=3)@3")
"""Measures of grades that no judged document of some topics has."""
LEVEL = parse_many("nDCG(gains='0=0,1=1,2=1')@3 nDCG(gains='0=0,1=0,2=1') DCG(gains='0=0,1=0,2=3')@2")
"""Measures for which different grades have the same gain."""
CLOSED = [measure for measure in parse_many(brute_force.EXTRA) if pairs.pair_form(measure) is not None]


GROUPS = [(n,) for n in range(1, 23)] + [
    (2, 3),
    (3, 3, 2),
    (4, 4),
    (5, 4),
    (4, 4, 4),
    (6, 1, 6),
    (9, 9),
    (2,) * 16,
]
"""Sizes of the groups of equal scores of lists."""


class Collection:
    """Judgments, some negative, and runs of short lists with ties; one of them has aspects."""

    def __init__(self, seed: int) -> None:
        luck = random.Random(seed)
        n_topics, n_documents, n_runs = SHAPES.get(seed, (2, 5, 2 + seed % 2))
        by_aspect = seed == 4
        names = [f"d{number}" for number in range(n_documents + 2)]
        judgments: dict[str, Any] = {}
        lists: dict[str, dict[str, dict[str, float]]] = {name: {} for name in "ABCDEFGHI"[:n_runs]}
        for topic in (f"q{number}" for number in range(n_topics)):
            grades = {d: luck.choice([0, 1, 1, 2, -1]) for d in names if luck.random() < 0.6} | {names[0]: 1}
            if judgments:  # The best grade of the collection is not that of each topic.
                grades = {d: min(g, 1) for d, g in grades.items()}
            judgments[topic] = grades
            if by_aspect:
                judgments[topic] = {d: {"1": max(g, 0), "2": g % 2} for d, g in grades.items()}
            for rankings in lists.values():
                retrieved = luck.sample(names, luck.randint(1, n_documents - (2 if by_aspect else 0)))
                rankings[topic] = {d: float(luck.randint(1, 4)) for d in retrieved}
        self.qrels = Qrels.from_dict(judgments)
        self.runs = Runs([Run.from_dict(rankings, name) for name, rankings in lists.items()])
        self.measures = (
            luck.sample(BY_ASPECT, 6) if by_aspect else [*luck.sample(PLAIN, 11), *parse_many("GMAP")]
        )
        sides = np.array([*permutations(range(len(self.runs) + 1), 2)])
        self.first, self.second = sides.T

    @property
    def judged(self) -> Judged:
        """Lists with their ties and all unjudged documents."""
        return documents.with_unjudged(self.qrels, self.runs, self.measures)

    def merits(self, measure: Measure) -> np.ndarray:
        """Return the merits of the order by document id, runs x topics."""
        lists = replace(self.judged, options=EvaluationOptions())
        return measure.merit(values.compute_values(lists, [measure])[0][0])


def digest(array: Any) -> list[float]:
    """Return number and sums of values, the second one by position, and the numbers of NaN and infinities."""
    flat = np.asarray(array, np.float64).ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    special = [int(np.isnan(flat).sum()), int((flat == np.inf).sum()), int((flat == -np.inf).sum())]
    weight = np.sqrt(np.arange(2, len(flat) + 2))
    return [len(flat), float(finite.sum()), float(finite @ weight), *(special if any(special) else ())]


def describe_cases(collection: Collection) -> Iterator[tuple[str, Any]]:
    judged = collection.judged
    for measure in (*collection.measures, *HIGH):
        form = declared_form(measure)
        ways: dict[str, Callable[[TopicHits, bool], cases.Cases | None]] = {
            "any": lambda hits, has_ties, m=measure: cases.find_cases(judged, m, hits, has_ties),
            "labels": lambda hits, has_ties, m=measure: cases.labelled_cases(judged, m, hits, has_ties),
        }
        if not measure.needs_aspects:
            ways["declared"] = lambda hits, has_ties, m=measure: cases._declared_cases(
                judged, m, hits, has_ties
            )
        if form is not None and not measure.needs_aspects:
            ways["numbers"] = lambda hits, has_ties, m=measure, f=form: cases._number_cases(
                judged, m, f, hits, has_ties
            )
        for name, way in ways.items():
            found = []
            for hits in hits_by_topic(judged):
                for has_ties in (False, True) if hits.topic else (False,):
                    each = way(hits, has_ties)
                    if each is not None:
                        flags = [each.is_exact, each.may_be_undefined]
                        lowest = each.lowest(collection.first, collection.second)[0]
                        found.append([each.width, flags, digest([each.low, each.high]), digest(lowest)])
                    else:
                        found.append(None)
            yield f"{name} {measure}", found


def describe_solvers(collection: Collection) -> Iterator[tuple[str, Any]]:
    judged = collection.judged
    hits = hits_by_topic(judged)
    if judged.qrels.aspects is not None:
        return
    for measure in (*CLOSED, *LEVEL):
        form, current = pairs.pair_form(measure), collection.merits(measure)
        ends = (
            np.vstack([current - 0.1, np.zeros(len(hits))]),
            np.vstack([current + 0.1, np.zeros(len(hits))]),
        )
        for has_ties in (False, True):
            every: list[Any] = []
            if isinstance(form, Counted):
                every = [solvers.Counts(judged, form, part, has_ties) for part in hits]
            elif isinstance(form, Weighted):
                every = [solvers.Sums(judged, measure, form, hits, ends, has_ties)]
            else:
                every = [solvers.FirstHit(judged, measure, form, hits, ends, has_ties)]  # type: ignore[arg-type]
            lowest = [solver.lowest(collection.first, collection.second) for solver in every]
            yield (
                f"{measure} {has_ties}",
                [[solver.width, *map(digest, result)] for solver, result in zip(every, lowest, strict=True)],
            )
            differences = [
                pairs.lowest_differences(
                    judged, measure, hits, (current, current), collection.first, collection.second,
                    ties=has_ties, is_undefined=undefined,
                )
                for undefined in (None, np.arange(len(hits)) == 1)
            ]  # fmt: skip
            yield (
                f"{measure} {has_ties} mean",
                [[digest(each.lowest), digest(each.exact)] for each in differences],
            )


def describe_witnesses(collection: Collection) -> Iterator[tuple[str, Any]]:
    judged = collection.judged
    hits = hits_by_topic(judged)
    is_run = np.maximum(collection.first, collection.second) < len(collection.runs)
    first, second = collection.first[is_run], collection.second[is_run]
    for measure in (*collection.measures, *parse_many("P(judged_only=True)@2 RBP(p=0.7) AP(rel=2)")):
        current = collection.merits(measure)
        found = witnesses.reversing_labels(judged, measure, hits, current, measure.merit, first, second)
        yield f"{measure}", [[list(label) for label in each] for each in found]
        if measure.needs_aspects:
            continue
        search = witnesses._Search(judged, measure, hits, measure.merit, first, second)
        size = np.full((len(first), len(hits)), 3)
        where = [(p, t) for p in range(len(first)) for t, part in enumerate(hits) if part.is_open.any()]
        for name, tasks in (("candidates", search.candidates()), ("subsets", search.subsets(where, size))):
            results = [(*task[:2], *task.documents.tolist(), value) for task, value in search.evaluate(tasks)]
            yield f"{measure} {name}", [len(results), digest(np.concatenate([[0.0], *results]))]


def describe_limits(collection: Collection) -> Iterator[tuple[str, Any]]:
    """Yield the lowest limits from which cases and labellings are enumerated."""
    judged = collection.judged
    hits = hits_by_topic(judged)

    def lowest_limit(allows: Callable[[int], bool]) -> int | None:
        low, high = 0, 1 << 24
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if allows(middle) else (middle, high)
        return high

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "_evaluated_cases", lambda *_, **options: options)
        patch.setattr(cases, "every_labelling", lambda *_: ())
        patch.setattr(cases, "sorted_labellings", lambda *_, **options: iter([()]))
        patch.setattr(unjudged, "every_labelling", lambda *_: ())
        patch.setattr(unjudged, "sorted_labellings", lambda *_: [])

        def allows(name: str, limit: int, way: Callable[..., Any], *arguments: Any) -> bool:
            patch.setattr(cases, name, limit)
            return way(*arguments) is not None

        for measure in collection.measures:
            limits = []
            for part in hits:
                given = (judged, measure, part)
                patch.setattr(cases, "MAX_LISTS", 1 << 24)
                n_orders = lowest_limit(
                    lambda n, g=given: allows("MAX_ORDERS", n, cases.labelled_cases, *g, True)
                )
                n_lists = [
                    lowest_limit(lambda n, w=way, g=given: allows("MAX_LISTS", n, w, *g, False))
                    for way in (cases.labelled_cases, cases._declared_cases)
                ]
                limits.append([n_orders, *n_lists, cases._n_orders(part, len(judged.runs))])
            yield f"cases {measure}", limits

            def has_labellings(n: int, measure: Measure, item: labels.OpenList) -> bool:
                result = unjudged.Range(*(np.zeros(0) for _ in range(3)))
                solver = unjudged._BoundSolver(judged, measure, None, result, EvaluationOptions(), n)
                return solver._labellings(item) is not None

            limits = [
                lowest_limit(lambda n, m=measure, i=item: has_labellings(n, m, i))
                for item in labels.open_lists(judged)
            ]
            yield f"labellings {measure}", limits


def describe_ranges(collection: Collection) -> Iterator[tuple[str, Any]]:
    qrels, runs = collection.qrels, collection.runs
    sizes = [np.repeat(groups, groups) for groups in GROUPS]
    firsts = [np.repeat(np.cumsum([1, *groups[:-1]]), groups) for groups in GROUPS]
    for name in ("break", "expected", "best", "worst"):
        options = EvaluationOptions(name, "bounds")
        judged = values.judge_with_options(qrels, runs, options)
        current = values.compute_values(
            replace(judged, options=EvaluationOptions(name)), collection.measures
        )[0]
        current = current.reshape(len(collection.measures), -1)
        for limit in (2, 30) if name in ("break", "best") else (9,):
            ranges = unjudged.ranges(judged, collection.measures, current, options, limit)
            for measure, each in zip(collection.measures, ranges, strict=True):
                yield f"{name} {limit} {measure}", digest([each.lowest, each.highest, each.tight])
        for measure in collection.measures:
            result = unjudged.Range(*(np.zeros(len(judged.length)) for _ in range(3)))
            solver = unjudged._BoundSolver(judged, measure, None, result, options, 20_000)
            groups = judged.groups if name != "break" and judged.tied.any() else None
            limits = [solver._max_labellings(item) for item in labels.open_lists(judged, groups)]
            yield f"{name} {measure} orders", [*limits]
            for first, size in zip(firsts, sizes, strict=True):
                limits.append(solver._max_labellings(SimpleNamespace(first=first, size=size)))  # type: ignore[arg-type]
            yield f"{name} {measure} groups", digest(limits)


def describe_orders(collection: Collection) -> Iterator[tuple[str, Any]]:
    judged = collection.judged
    lists = TiedLists.from_judged(judged, np.arange(len(judged.length)))
    for name in TIES:
        for max_orders in (1, 3, 6, 20_000):
            found = orders.tied_values(collection.measures, lists, name, max_orders=max_orders, samples=5)
            for measure, each in zip(collection.measures, found, strict=True):
                yield f"{name} {max_orders} {measure}", digest([each.value, each.error, each.exact])
    found = [
        orders._find_groups(lists, part, lists.labels()[part], lists.grade()[part] < 0)
        for part in (slice(*ends) for ends in pairwise(lists.offsets.tolist()))
    ]
    yield (
        "groups",
        [[[first, size, *counts.tolist()] for _, first, size, counts in groups] for groups in found],
    )
    for max_orders in range(13):
        counts = [
            orders._count_permutations([([], 1, 5, np.array(counts)) for counts in groups], max_orders)
            > max_orders  # type: ignore[misc]
            for groups in (
                [[1, 2]],
                [[1, 1], [2, 1]],
                [[2, 2], [1, 1]],
                [[1, 1, 1]],
                [[1, 1], [1, 1], [1, 2]],
                [],
            )
        ]
        yield f"more than {max_orders}", counts


def describe_hits(collection: Collection) -> Iterator[tuple[str, Any]]:
    judged = collection.judged
    for name, handling in product(TIES, UNJUDGED_AS):
        options = values.validate_options(name, handling)
        each = values.judge_with_options(collection.qrels, collection.runs, options)
        has_parts = [each.ties is not None, each.groups is not None, each.options == options]
        yield f"parts {name} {handling}", [len(each.qrels), *has_parts]
    yield "counts", [labels.unjudged_counts(judged).tolist(), labels.open_numbers(judged).tolist()]
    for hits in hits_by_topic(judged):
        fields = [[*map(digest, hits[1:7])], hits.deep, hits.union.tolist(), hits.has_open_ties]
        ranks = [fixed_ranks(hits, hits.document % 3 == 0, best_first) for best_first in (False, True)]
        ends = [group_ranks(hits, rank, best_first) for rank in ranks for best_first in (False, True)]
        yield f"topic {hits.topic}", [*fields, *(each.tolist() for each in (*ranks, *ends))]
    for item in labels.open_lists(judged, judged.groups):
        known = [item.number, item.topic, item.length, item.outside, item.n_unjudged, item.in_pool.tolist()]
        yield (
            f"list {item.number}",
            [*known, *map(digest, (item.rank, item.document, item.unjudged, item.known))],
        )
    tied = replace(collection.judged, known_depth=3)
    for text in ("P@2", "P@4", "nDCG@2 P@9", "nDCG@3", "AP"):
        measures = parse_many(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "SMALL", 0)
            extended = documents.with_unjudged(collection.qrels, collection.runs, measures)
            yield text, [extended.known_depth, len(extended.qrels), documents.has_unjudged(tied, measures)]
        yield f"{text} of short lists", documents.has_unjudged(tied, measures)
    for depth in range(5):
        more = documents.with_documents(collection.qrels, collection.runs, depth)
        yield f"depth {depth}", [more.topic_offsets.tolist(), digest(more.grade)]


def describe_batches(collection: Collection) -> Iterator[tuple[str, Any]]:
    """Yield what is computed at a time if much less fits into memory."""
    judged = collection.judged
    hits = hits_by_topic(judged)
    sizes: list[Any] = []

    def record(module: Any, name: str, describe: Callable[..., Any], limit: str, cells: int) -> None:
        original = getattr(module, name)
        sizes.clear()
        patch.undo()
        patch.setattr(module, name, lambda *a, **o: (sizes.append(describe(*a)), original(*a, **o))[1])
        patch.setattr(f"rankscope.certainty.{limit}", cells)

    with pytest.MonkeyPatch.context() as patch:
        for cells in (1, 60, 400, 4000):
            patch.setattr(pairs, "_CELLS", cells)
            yield f"slices {cells}", [[[s.start, s.stop] for s in pairs._slices(9, w)] for w in (0, 1, 7, 99)]
            for measure in CLOSED[::3] if judged.qrels.aspects is None else ():
                low = np.vstack([collection.merits(measure), np.zeros(len(hits))])
                for has_ties in (False, True):
                    batches = pairs._solvers(judged, measure, hits, low, low, has_ties, range(len(hits)), 2)
                    yield (
                        f"solvers {cells} {measure} {has_ties}",
                        [[*topics, type(solver).__name__] for topics, solver in batches],
                    )
            lists = TiedLists.from_judged(judged, np.arange(len(judged.length)))
            record(orders, "_join_lists", lambda _, first, pending: [first, *(t.size for t, _ in pending)],
                   "orders._HITS", cells)  # fmt: skip
            orders.evaluate_orders(
                collection.measures[:1], lists, np.arange(len(lists)), max_orders=5, samples=3
            )
            yield f"orders {cells}", list(sizes)
            patch.setattr(values, "_HITS", cells)
            yield f"tied {cells}", [part.tolist() for part, _ in values._tied_blocks(judged)]
            record(unjudged, "labelled_lists", lambda _, chosen: [len(each) for _, each in chosen],
                   "unjudged._CELLS", cells)  # fmt: skip
            options = EvaluationOptions(unjudged="bounds")
            current = np.zeros((len(collection.measures), len(judged.length)))
            unjudged.ranges(judged, collection.measures, current, options, 30)
            yield f"labellings {cells}", list(sizes)
            record(witnesses._Search, "_differences", lambda _, tasks, every: [len(tasks), every],
                   "witnesses._CELLS", cells)  # fmt: skip
            for measure in collection.measures[:4]:
                first = np.array([0, 1]) % len(judged.runs)
                search = witnesses._Search(judged, measure, hits, measure.merit, first, first[::-1])
                if not measure.needs_aspects:
                    list(search.evaluate(search.candidates()))
            yield f"witnesses {cells}", list(sizes)
            patch.undo()


def describe_uncertainty(collection: Collection) -> Iterator[tuple[str, Any]]:
    scores = rs.evaluate(
        collection.qrels, collection.runs, collection.measures, ties="expected", unjudged="bounds"
    )
    result = scores.uncertainty
    assert result is not None
    rng = np.random.default_rng(3)
    error = np.where(rng.random(scores.values.shape) < 0.2, np.nan, rng.random(scores.values.shape))
    result = replace(result, error=error)
    weights = np.arange(1.0, 1.0 + len(scores.topics))
    for m, measure in enumerate(scores.measures):
        for r in range(len(scores.runs)):
            yield f"{measure} {r}", [result.for_mean(measure, m, r), result.for_mean(measure, m, r, weights)]
    run, topic = (grid.ravel() for grid in np.indices((len(scores.runs), len(scores.topics) + 1)))
    table = result.table_columns(scores.measures, run, topic, weights)
    yield "table", {name: digest(column) for name, column in table.items()}
    parts = {
        "runs": result.with_runs(np.array([len(scores.runs) // 2])),
        "measures": result.with_measures([2, 0]),
        "topics": result.with_topics([len(scores.topics) // 2]),
    }
    for name, part in parts.items():
        yield name, {column: digest(getattr(part, column)) for column in part.columns}


DESCRIBED = {
    "cases": describe_cases,
    "solvers": describe_solvers,
    "witnesses": describe_witnesses,
    "limits": describe_limits,
    "ranges": describe_ranges,
    "orders": describe_orders,
    "hits": describe_hits,
    "batches": describe_batches,
    "uncertainty": describe_uncertainty,
}


def describe(kind: str, seed: int) -> Any:
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setattr(cases, "MAX_LISTS", 200)  # so that all kinds of cases occur
        return to_plain(dict(DESCRIBED[kind](Collection(seed))))


def describe_package() -> Any:
    """Return for every measure how far its weights reach, its solver, and whether it needs orders; and limits."""
    measures = {
        str(measure): [
            documents.deepest_weight(measure), type(pairs.pair_form(measure)).__name__,
            [orders.needs_orders(measure, name) for name in TIES],
        ]
        for measure in dict.fromkeys([*PLAIN, *BY_ASPECT])
    }  # fmt: skip
    return to_plain({**measures, **describe_definitions(certainty)})


CASES = [(kind, seed) for kind in DESCRIBED for seed in SEEDS if kind != "orders" or seed not in SHAPES]


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_parts_change_only_on_purpose(kind: str, seed: int) -> None:
    assert_recorded(describe(kind, seed), RECORDED, f"{kind} {seed}")


@pytest.mark.parametrize("option", [{"ties": "x"}, {"unjudged": "bound"}, {"ties": "best", "unjudged": ""}])
def test_unknown_options_are_refused(option: dict[str, str]) -> None:
    assert values.validate_options("worst", "bounds", 3) == EvaluationOptions("worst", "bounds", 3)
    with pytest.raises(SettingsError, match=r"ties='x'|unjudged='"):
        values.validate_options(**option)


def test_limits_defaults_and_the_methods_of_measures_change_only_on_purpose() -> None:
    assert_recorded(describe_package(), RECORDED, "package")


if __name__ == "__main__":
    parts = {f"{kind} {seed}": describe(kind, seed) for kind, seed in CASES}
    write_recorded(RECORDED, {"measures": MEASURES, **parts, "package": describe_package()})
