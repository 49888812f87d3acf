"""Ties and unjudged documents against brute force: every order and every labelling of short lists, written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankscope.certainty.orders import tied_values
from rankscope.certainty.values import judge_with_options, validate_options
from rankscope.choices import TIES
from rankscope.errors import MeasureError
from rankscope.judging import Judged, judge
from rankscope.judging.tied import TiedLists
from rankscope.measures import REGISTRY, Measure
from rankscope.read import Qrels, Run, Runs
from rankscope.scores import score

Labelling = dict[str, Any]


def in_topics(content: Any, n_topics: int = 1) -> dict[str, Any]:
    """Return topics with the same content: each stands for one labelling, so that all are evaluated at once."""
    return {f"q{i:04}": content for i in range(n_topics)}


OTHER = "z"
"""A second topic, whose one document has the best grade there is."""


def variants() -> list[Measure]:
    """Return every measure with its defaults, with a cutoff, and with its commonest parameters."""
    measures: list[Measure] = []
    for name, measure in REGISTRY.items():
        if measure.name != name or measure.family == "user":
            continue
        if measure.cutoff_rule == "required":
            try:
                measures.append(measure @ 3)
            except MeasureError:
                measures.append(measure @ 0.5)
        else:
            measures.append(measure @ 12 if measure.default_cutoff else measure)
            if measure.cutoff_rule == "optional":
                measures.append(measure @ 2)
        for key, value in (
            ("rel", 2),
            ("variant", "original"),
            ("gains", "exp2"),
            ("gains", "0,1,1"),
            ("graded", True),
        ):
            if key in measure.parameters:
                measures.append(measures[-1](**{key: value}))
    return measures


CAUSES = "wrong closed_form, respects_swaps or rewards_grades of the measure?"
EVERY = variants()
PLAIN = [one for one in EVERY if not one.needs_aspects]


@dataclass(frozen=True)
class Case:
    """A list as groups of grades (None: unjudged), and the grades of the documents that it does not have."""

    groups: tuple[tuple[int | None, ...], ...]
    elsewhere: tuple[int, ...]
    max_grade: int = 2

    @property
    def documents(self) -> list[list[str]]:
        """Return the document names of each group of tied documents."""
        names = iter(f"d{i}" for i in range(99))
        return [[next(names) for _ in group] for group in self.groups]

    def qrels(self, labellings: Sequence[Labelling] = ({},)) -> Qrels:
        """Return the judgments, extended by each labelling on a topic of its own."""
        judged = {
            name: grade
            for names, group in zip(self.documents, self.groups, strict=True)
            for name, grade in zip(names, group, strict=True)
            if grade is not None
        }
        judged |= {f"e{i}": grade for i, grade in enumerate(self.elsewhere)}
        topics = zip(in_topics(None, len(labellings)), labellings, strict=True)
        extended = {topic: judged | labels or {"nothing": 0} for topic, labels in topics}
        return Qrels.from_dict({**extended, OTHER: {"best": self.max_grade}})

    def run(self, n_topics: int = 1) -> Run:
        """Return the list with its ties as a run, once for each topic."""
        scores = {name: -g for g, names in enumerate(self.documents) for name in names}
        return Run.from_dict(in_topics(scores, n_topics))

    def judged(self) -> Judged:
        """Return the judged list with its ties."""
        return judge(self.qrels(), self.run(), ties=True, allow_disjoint=True)

    def orders(self) -> list[list[str]]:
        """Return all orders of the documents that the scores allow."""
        return [
            [name for part in parts for name in part]
            for parts in product(*(list(permutations(names)) for names in self.documents))
        ]

    def labellings(self) -> Iterator[dict[str, int]]:
        """Return all labellings of the unjudged documents of the list."""
        open_ = [
            name
            for names, group in zip(self.documents, self.groups, strict=True)
            for name, grade in zip(names, group, strict=True)
            if grade is None
        ]
        for grades in product(range(self.max_grade + 1), repeat=len(open_)):
            yield dict(zip(open_, grades, strict=True))

    def in_every_order(self, labellings: Sequence[Labelling] = ({},)) -> Judged:
        """Return every order as a separate run, and every labelling as a separate topic."""
        topics = [in_topics(order, len(labellings)) for order in self.orders()]
        runs = Runs([Run.from_dict(lists, f"r{i}") for i, lists in enumerate(topics)])
        return judge(self.qrels(labellings), runs, allow_disjoint=True)


def values(judged: Judged, measure: Measure) -> np.ndarray:
    """Return the value of every order and labelling."""
    return judged.grid(measure.evaluate(judged.lists))


def cases(max_documents: int = 6) -> st.SearchStrategy[Case]:
    """Lists of a few documents in a few groups."""
    grade = st.sampled_from([None, None, 0, 0, 1, 1, 2])
    group = st.lists(grade, min_size=1, max_size=3).map(tuple)
    groups = (
        st.lists(group, min_size=1, max_size=4).map(tuple).filter(lambda g: sum(map(len, g)) <= max_documents)
    )
    elsewhere = st.lists(st.sampled_from([0, 1, 2]), max_size=4).map(tuple)
    return st.builds(Case, groups, elsewhere)


def same(found: float, wanted: float) -> bool:
    return bool(np.isclose(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True))


def over_orders(measure: Measure, found: np.ndarray, ties: str) -> float:
    if ties == "expected":
        return float(found.mean())
    highest = (ties == "best") == (measure.better != "lower")
    return float(found.max() if highest else found.min())


@settings(max_examples=max(3, settings().max_examples // 5))  # every example evaluates all measures
@given(cases())
@example(Case(((1, 2), (None, 0, 1)), (2,)))
@example(Case(((None, None, None),), ()))
def test_orders_of_short_lists(case: Case) -> None:
    lists = TiedLists.from_judged(case.judged(), np.array([0]))
    written = case.in_every_order()
    order_values = {measure: values(written, measure)[:, 0] for measure in EVERY}
    for ties in ("expected", "best", "worst"):
        for measure, tied in zip(EVERY, tied_values(EVERY, lists, ties), strict=True):
            expected = over_orders(measure, order_values[measure], ties)
            assert tied.exact[0] and tied.error[0] == 0, (measure, ties)
            assert same(tied.value[0], expected), (str(measure), ties, tied.value[0], expected, CAUSES)


@settings(max_examples=max(3, settings().max_examples // 10))  # every example evaluates all measures
@given(cases(4), st.sampled_from(TIES))
@example(Case(((None, 1), (0, None)), (2,)), "expected")
@example(Case(((None,), (0,), (None,), (1,)), (2, 1)), "break")
def test_labels_and_orders_of_short_lists(case: Case, ties: str) -> None:
    options = validate_options(ties, "bounds")
    scores = score(judge_with_options(case.qrels(), Runs([case.run()]), options, allow_disjoint=True), PLAIN)
    bounds = scores.uncertainty
    assert bounds is not None and bounds.tight is not None
    labellings = list(case.labellings())
    written = case.in_every_order(labellings)
    broken = judge(case.qrels(labellings), case.run(len(labellings)), allow_disjoint=True)
    for m, measure in enumerate(PLAIN):
        if ties == "break":
            possible = values(broken, measure)[0, : len(labellings)].tolist()
        else:
            columns = values(written, measure).T[: len(labellings)]
            possible = [over_orders(measure, column, ties) for column in columns]
        low, high = (bound.values[0, 0] for bound in scores.bounds(measure))
        assert bounds.tight[m, 0, 0], measure
        defined = [value for value in possible if not np.isnan(value)] or [np.nan]
        assert same(low, min(defined)), (str(measure), ties, low, min(defined), CAUSES)
        assert same(high, max(defined)), (str(measure), ties, high, max(defined), CAUSES)


# the same for diversity measures: labels of every aspect ------------------------------------------------------------

DIVERSE = [one for one in EVERY if one.needs_aspects]
ASPECTS = ("1", "2")
BEST = 1
Grades = tuple[int, int]


@dataclass(frozen=True)
class AspectCase:
    """A list as groups of documents, each with its grade for both aspects (None: unjudged), and documents elsewhere."""

    groups: tuple[tuple[Grades | None, ...], ...]
    elsewhere: tuple[Grades, ...]

    @property
    def documents(self) -> list[list[str]]:
        """Return the document names of each group of tied documents."""
        names = iter(f"d{i}" for i in range(99))
        return [[next(names) for _ in group] for group in self.groups]

    def qrels(self, labellings: Sequence[Labelling] = ({},)) -> Qrels:
        """Return the judgments, extended by each labelling on a topic of its own."""
        flat = [name for names in self.documents for name in names]
        given_ = dict(zip(flat, [grades for group in self.groups for grades in group], strict=True))
        given_ |= {f"e{i}": grades for i, grades in enumerate(self.elsewhere)}
        topics = zip(in_topics(None, len(labellings)), labellings, strict=True)
        return Qrels.from_dict({
            topic: {d: dict(zip(ASPECTS, g, strict=True)) for d, g in (given_ | labels).items() if g}
            for topic, labels in topics
        })  # fmt: skip

    def labellings(self) -> Iterator[dict[str, Grades]]:
        """Return all labellings of the unjudged documents of the list, aspect by aspect."""
        flat = [name for names in self.documents for name in names]
        open_ = [
            d for d, g in zip(flat, [g for group in self.groups for g in group], strict=True) if g is None
        ]
        for grades in product(product(range(BEST + 1), repeat=2), repeat=len(open_)):
            yield dict(zip(open_, grades, strict=True))

    def orders(self, n_topics: int) -> Runs:
        """Return every order that the scores allow as a separate run with some topics; the first is the order by id."""
        arrangements = product(*(list(permutations(sorted(names, reverse=True))) for names in self.documents))
        lists = [[name for part in parts for name in part] for parts in arrangements]
        return Runs([
            Run.from_dict(in_topics(order, n_topics), name=f"r{i}") for i, order in enumerate(lists)
        ])  # fmt: skip

    def run(self) -> Run:
        """Return the list with its ties as a run."""
        scores = {name: -g for g, names in enumerate(self.documents) for name in names}
        return Run.from_dict(in_topics(scores))


def aspect_cases() -> st.SearchStrategy[AspectCase]:
    """Up to four documents, of which at most two are unjudged; some document elsewhere has the best grade."""
    grades = st.tuples(st.integers(0, BEST), st.integers(0, BEST))
    group = st.lists(st.one_of(st.none(), grades), min_size=1, max_size=3).map(tuple)
    groups = st.lists(group, min_size=1, max_size=3).map(tuple)
    few = groups.filter(lambda g: sum(map(len, g)) <= 4 and sum(d is None for part in g for d in part) <= 2)
    return st.builds(
        AspectCase, few, st.lists(grades, max_size=2).map(lambda some: ((BEST, 0), (0, BEST), *some))
    )


@settings(
    max_examples=max(3, settings().max_examples // 10)
)  # every example evaluates all diversity measures
@given(aspect_cases(), st.sampled_from(TIES))
@example(AspectCase(((None, (1, 0)), ((0, 1),)), ((1, 1), (0, 1))), "expected")
@example(AspectCase((((0, 0), None), (None,)), ((1, 0), (0, 1))), "best")
def test_labels_of_aspects_and_orders_of_short_lists(case: AspectCase, ties: str) -> None:
    options = validate_options(ties, "bounds")
    scores = score(
        judge_with_options(case.qrels(), Runs([case.run()]), options, allow_disjoint=True), DIVERSE
    )
    bounds = scores.uncertainty
    assert bounds is not None and bounds.tight is not None
    labellings = list(case.labellings())
    written = judge(case.qrels(labellings), case.orders(len(labellings)), allow_disjoint=True)
    for m, measure in enumerate(DIVERSE):
        by_labelling = values(written, measure).T
        possible = [
            float(item[0]) if ties == "break" else over_orders(measure, item, ties) for item in by_labelling
        ]
        low, high = (bound.values[0, 0] for bound in scores.bounds(measure))
        assert bounds.tight[m, 0, 0], measure
        defined = [value for value in possible if not np.isnan(value)] or [np.nan]
        assert same(low, min(defined)), (str(measure), ties, low, min(defined), CAUSES)
        assert same(high, max(defined)), (str(measure), ties, high, max(defined), CAUSES)
