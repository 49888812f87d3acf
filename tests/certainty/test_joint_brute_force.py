"""No statement about labels and ties is false: every labelling and every order of small collections is evaluated.

``RANKSCOPE_COLLECTIONS=5000 RANKSCOPE_MEASURES=3 python -m pytest tests/certainty/test_joint_brute_force.py`` looks at
5,000 collections, each with 3 of the measures, in about 15 minutes.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import rankscope as rs
from rankscope.analysis.certain import certain
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.findings.documents import ties, unjudged
from rankscope.analysis.next_judgments import next_judgments
from rankscope.analysis.stats.matrices import complete, run_merits
from rankscope.certainty.pairs import pair_form
from rankscope.judging import Judged, judge
from rankscope.measures import REGISTRY, Measure, parse
from rankscope.measures.forms import Weighted
from rankscope.read import Qrels, Run, Runs
from rankscope.reporting.page_data import payload
from rankscope.reporting.standings import open_ranges

N_COLLECTIONS = int(os.environ.get("RANKSCOPE_COLLECTIONS", settings().max_examples // 3))
N_BLOCKS = 10
PER_COLLECTION = int(os.environ.get("RANKSCOPE_MEASURES", "9"))
FIRST_SEED = int(os.environ.get("RANKSCOPE_FIRST_SEED", "0"))

EXTRA = """
    AP AP(rel=2) R@2 R(rel=2)@3 Rprec Rprec(rel=2) Bpref Bpref(variant=original) nDCG nDCG@2 nDCG(gains=exp2)@3 nCG@2
    P@2 RBP(p=0.7) DCG@3 RR RR@2 ERR Success@2 Twist AP@2 P(judged_only=True)@2 AP(judged_only=True) GMAP SetF IPrec@0.5
"""

UNENUMERATED = range(12)
"""Seeds of collections whose labellings are not enumerated."""

Lists = dict[str, dict[str, dict[str, float]]]


def registry() -> list[Measure]:
    """Return all measures, with a cutoff where one is required, and some variants."""
    measures = []
    for name, measure in sorted(REGISTRY.items()):
        if name != measure.name or name == "Interval":
            continue
        measures.append(
            parse(f"{name}@2") if measure.cutoff_rule == "required" and name != "IPrec" else measure
        )
    return [parse("IPrec@0.5") if item.name == "IPrec" else item for item in measures] + [
        parse("Interval(measure='AP')@3"), *map(parse, EXTRA.split()),
    ]  # fmt: skip


PLAIN = [one for one in registry() if not one.needs_aspects]
BY_ASPECT = [one for one in registry() if one.needs_aspects]


class World:
    """A collection, and the values of all lists under all labels and orders."""

    def __init__(
        self, seed: int, plain: Sequence[Measure] = PLAIN, by_aspect: Sequence[Measure] = BY_ASPECT
    ) -> None:
        luck = random.Random(seed)
        self.luck = luck
        self.by_aspect = luck.random() < 0.15
        documents = "abcdef"
        self.qrels: dict[str, Any] = {}
        self.runs: Lists = {name: {} for name in "ABC"[: luck.choice([2, 2, 3])]}
        for topic in ("q1", "q2")[: luck.choice([1, 1, 2])]:
            judged = {d: luck.choice([0, 0, 1, 1, 2]) for d in documents if luck.random() < 0.5}
            judged |= {d: -1 for d in judged if luck.random() < 0.1}
            judged.setdefault(luck.choice(documents), 1)
            for lists in self.runs.values():
                retrieved = luck.sample(documents, luck.randint(1, 4))
                lists[topic] = {d: float(luck.randint(1, 3)) for d in retrieved}
            self.qrels[topic] = judged
        if self.by_aspect:
            self.qrels = {
                topic: {
                    d: {a: grade for a in "12" if luck.random() < 0.7} or {"1": 0}
                    for d, grade in judged.items()
                }
                for topic, judged in self.qrels.items()
            }
            for topic in self.qrels:
                self.qrels[topic][documents[0]] = {"1": 1, "2": 0}
        pool = by_aspect if self.by_aspect else plain
        self.measures = list(dict.fromkeys(luck.sample(pool, min(PER_COLLECTION, len(pool)))))

    @property
    def judged(self) -> Judged:
        """Rankings with their ties, as a report gets them."""
        runs = Runs([Run.from_dict(lists, name) for name, lists in self.runs.items()])
        return judge(Qrels.from_dict(self.qrels), runs, ties=True)

    def basis(self, measure: Measure | str) -> Basis:
        """Return the data that findings about a measure use."""
        return Basis(rs.evaluate(self.qrels, self.runs, [measure]), 0.05, "t", "holm", 100, 1)

    def grade(self, topic: str, document: str) -> int | None:
        """Return the grade of a document, or None if it is unjudged."""
        judgment = self.qrels[topic].get(document)
        if judgment is None:
            return None
        grade = max(judgment.values()) if self.by_aspect else judgment
        return grade if grade >= 0 else None

    @property
    def best(self) -> int:
        """Best grade of the judgments."""
        grades = [grade for topic in self.qrels for d in self.qrels[topic] if (grade := self.grade(topic, d))]
        return max(grades, default=1)

    def open(self, topic: str, runs: Sequence[str]) -> list[str]:
        """Return the unjudged documents of some runs."""
        retrieved = {d for name in runs for d in self.runs[name][topic]}
        return sorted(d for d in retrieved if self.grade(topic, d) is None)

    def labellings(self, topic: str, runs: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the judgments of a topic with every labelling of the unjudged documents of some runs."""
        names = self.open(topic, runs)
        aspect_grades = [dict(zip("12", row, strict=True)) for row in product(range(self.best + 1), repeat=2)]
        for row in product(aspect_grades if self.by_aspect else range(self.best + 1), repeat=len(names)):
            yield {**self.qrels[topic], **dict(zip(names, row, strict=True))}

    def orders(self, name: str, topic: str) -> list[list[str]]:
        """Return the orders of a list, starting with the order by descending document id."""
        scored = self.runs[name][topic]
        groups = [
            sorted((d for d in scored if scored[d] == s), reverse=True)
            for s in sorted(set(scored.values()), reverse=True)
        ]
        return [[d for group in row for d in group] for row in product(*map(permutations, groups))]

    def evaluate(self, topic: str, every: Sequence[dict[str, Any]], n_orders: int) -> np.ndarray:
        """Return merits by measure, run, judgments and order; each pair of judgments and order is a separate topic."""
        qrels, runs = {}, {name: {} for name in self.runs}
        for j, judged in enumerate(every):
            for o in range(n_orders):
                qrels[f"{j}-{o}"] = judged
                for name in runs:
                    orders = self.orders(name, topic)
                    order = orders[min(o, len(orders) - 1)]
                    runs[name][f"{j}-{o}"] = {d: float(-i) for i, d in enumerate(order)}
        # The best grade of the collection is that of its judgments, whatever the labels are.
        qrels["best"] = {"z": {"1": self.best, "2": 0} if self.by_aspect else self.best}
        scores = rs.evaluate(qrels, runs, self.measures)
        index = [scores.topics.index(f"{j}-{o}") for j in range(len(every)) for o in range(n_orders)]
        values = scores.values[:, :, index].reshape(len(self.measures), len(runs), len(every), n_orders)
        with np.errstate(divide="ignore"):
            return np.stack([
                np.log(value) if measure.summary == "geometric mean" else measure.merit(value)
                for measure, value in zip(self.measures, values, strict=True)
            ])  # fmt: skip


Ends = tuple[float, bool]
"""The lowest value that a topic has where it is defined for all runs, infinity if it never is, and whether it always
is."""


def lowest(values: np.ndarray, a: int, b: int) -> Ends:
    """Return the lowest difference of two runs over judgments and orders; values are runs x judgments x orders."""
    finite = np.isfinite(values)
    defined = finite.any(axis=2).all(axis=0)
    worst = np.where(finite[a], values[a], np.inf).min(axis=1)
    best = np.where(finite[b], values[b], -np.inf).max(axis=1)
    return float((worst - best)[defined].min(initial=np.inf)), bool(finite.all())


def lowest_mean(topics: Sequence[Ends]) -> float:
    """Return the lowest mean over topics, some of which may be undefined; infinity if all are."""
    means = [
        np.mean([end for (end, _), is_kept in zip(topics, kept, strict=True) if is_kept])
        for kept in product([False, True], repeat=len(topics))
        if any(kept) and all(np.isfinite(end) if is_kept else not always
                             for (end, always), is_kept in zip(topics, kept, strict=True))
    ]  # fmt: skip
    return float(min(means, default=np.inf))


def check(seed: int) -> int:
    """Compare all statements about one collection with brute force; returns how many there were."""
    world = World(seed)
    names = tuple(world.runs)
    if any(
        (world.best + 1) ** ((1 + world.by_aspect) * len(world.open(t, names))) > 300 for t in world.qrels
    ):
        return 0
    n_orders = max(len(world.orders(name, t)) for name in names for t in world.qrels)
    if n_orders > 6:
        return 0
    scores = rs.evaluate(world.qrels, world.runs, world.measures)
    usable = [m for m in scores.measures if np.isfinite(scores.matrix(m).values).all(axis=0).any()]
    if not usable:
        return 0
    world.measures = usable
    scores = rs.evaluate(world.qrels, world.runs, usable)
    result = certain(scores, labels=True)
    labelled = [world.evaluate(t, list(world.labellings(t, names)), n_orders) for t in world.qrels]
    as_judged = [world.evaluate(t, [world.qrels[t]], n_orders) for t in world.qrels]
    statements = 0
    for m, measure in enumerate(usable):
        brute = {}
        for a, b in permutations(range(len(names)), 2):
            brute[a, b] = {
                "ties": lowest_mean([lowest(topic[m], a, b) for topic in as_judged]),
                "unjudged": lowest_mean([lowest(topic[m][:, :, :1], a, b) for topic in labelled]),
                "both": lowest_mean([lowest(topic[m], a, b) for topic in labelled]),
            }
        for row in result["pairs"].records():
            if row["measure"] != str(measure):
                continue
            a, b = names.index(row["a"]), names.index(row["b"])
            why = (seed, world.qrels, world.runs, row, brute[a, b])
            sides = [(a, b)] if row["order"] == ">" else [(a, b), (b, a)]
            for column, source in (("ties", "ties"), ("unjudged", "unjudged"), ("together", "both")):
                if row[column] is None or (column == "together" and not row["topics"] and not row[column]):
                    continue
                statements += 1
                lowest_difference = min(brute[side][source] for side in sides)
                assert lowest_difference >= -1e-10 if row[column] else lowest_difference < -1e-13, (
                    column,
                    why,
                )
            lowest_difference = brute[a, b]["unjudged"]
            if row["lowest"] is not None:
                statements += 1
                assert row["lowest"] <= lowest_difference + 1e-9, why
                assert not row["exact"] or row["lowest"] == pytest.approx(lowest_difference, abs=1e-9), why
            if row["labels"]:
                labels = {
                    (r["topic"], r["doc"]): r["grade"] for r in result["labels"].records()
                    if (r["a"], r["b"], r["measure"]) == (row["a"], row["b"], row["measure"])
                }  # fmt: skip
                assert len(labels) == row["labels"], why
                more = {
                    t: {**world.qrels[t], **{d: g for (q, d), g in labels.items() if q == t}}
                    for t in world.qrels
                }
                merits = run_merits(complete(rs.evaluate(more, world.runs, [measure]), measure))
                assert merits[a] < merits[b], (labels, why)
        for row in result["ranges"].records():
            if row["measure"] != str(measure):
                continue
            a, b = names.index(row["a"]), names.index(row["b"])
            ends = brute[a, b][row["source"]], -brute[b, a][row["source"]]
            statements += 1
            if row["exact"]:
                assert (row["lowest"], row["highest"]) == pytest.approx(ends, abs=1e-9), (seed, row)
            elif row["source"] != "ties":
                assert row["lowest"] is None or row["lowest"] <= ends[0] + 1e-9, (seed, row)
                assert row["highest"] is None or row["highest"] >= ends[1] - 1e-9, (seed, row)
        for row in result["runs"].records():
            if row["measure"] != str(measure):
                continue
            r = names.index(row["run"])
            ends = []
            for sign in (1, -1):
                topics = []
                for topic in labelled:
                    defined = np.isfinite(topic[m][:, :, 0]).all(axis=0)
                    topics.append(
                        (
                            float((sign * topic[m][r, defined, 0]).min(initial=np.inf)),
                            bool(defined.all()),
                        )
                    )
                ends.append(sign * lowest_mean(topics))
            if measure.better == "lower":
                ends = [-ends[1], -ends[0]]
            ends = [float(np.exp(end)) if measure.summary == "geometric mean" else end for end in ends]
            ends = [end * len(world.qrels) if measure.summary == "sum" else end for end in ends]
            statements += 1
            if row["exact"]:
                assert (row["lowest"], row["highest"]) == pytest.approx(ends, abs=1e-9), (seed, row)
            assert row["lowest"] is None or row["lowest"] <= ends[0] + 1e-9, (seed, row)
            assert row["highest"] is None or row["highest"] >= ends[1] - 1e-9, (seed, row)
        if isinstance(pair_form(measure), Weighted):
            signs = [
                (np.sign(round(sum(float(topic[m][a, 0, 0] - topic[m][b, 0, 0]) for topic in as_judged), 12)), a, b)
                for a, b in permutations(range(len(names)), 2) if a < b
            ]  # fmt: skip
            turned = sum(
                (sign >= 0 and brute[a, b]["unjudged"] < -1e-12)
                or (sign <= 0 and brute[b, a]["unjudged"] < -1e-12)
                for sign, a, b in signs
            )
            statements += 1
            ((_, pairs, n_open),) = next_judgments(rs.evaluate(world.qrels, world.runs, [measure]))[
                "open"
            ].rows
            assert (pairs, n_open) == (len(signs), turned), (seed, measure)
        statements += check_ties_finding(world, measure, [values[m] for values in as_judged], brute)
    return (
        statements + check_bounds(world) + check_unjudged_finding(world) + check_page_orders(world, as_judged)
    )


def check_ties_finding(world: World, measure: Measure, now: Sequence[np.ndarray], brute: Any) -> int:
    """Compare what findings state about orders of tied documents with all orders; returns the number of statements."""
    finding = ties(world.basis(measure))
    if finding is None:
        return 0
    names, numbers = tuple(world.runs), finding.numbers
    run = names.index(numbers["run"])
    is_defined = all(np.isfinite(values).all() for values in now)
    ends = [np.mean([end(values[run, 0]) for values in now]) for end in (np.min, np.max)]
    if is_defined and measure.summary == "mean" and "worst of the orders" not in finding.sentence:
        assert (numbers["worst"], numbers["best"]) == pytest.approx(list(measure.merit(np.array(ends)))), (
            numbers
        )
    if "open" not in numbers:
        return 1
    in_id_order = [values[:, 0, 0] for values in now]
    means = np.mean([values for values in in_id_order if np.isfinite(values).all()], axis=0)
    n_open = sum(
        (round(means[a] - means[b], 12) >= 0 and brute[a, b]["ties"] < -1e-12)
        or (round(means[a] - means[b], 12) <= 0 and brute[b, a]["ties"] < -1e-12)
        for a, b in combinations(range(len(names)), 2)
    )
    assert numbers["pairs"] == len(names) * (len(names) - 1) // 2
    assert numbers["open"] <= n_open <= numbers["open"] + numbers["unknown"], (measure, numbers)
    return 3


def check_unjudged_finding(world: World) -> int:
    """Compare the precision that findings call possible with all labellings; returns the number of statements."""
    if world.by_aspect:
        return 0
    finding = unjudged(world.basis("P@2"))
    means, highest = {}, {}
    for name in world.runs:
        tops = {topic: world.orders(name, topic)[0][:2] for topic in world.qrels}
        means[name], highest[name] = (
            np.mean([
                max(sum(judged.get(d, 0) > 0 for d in tops[topic]) / 2 for judged in variants(topic))
                for topic in world.qrels
            ])
            for variants in (lambda t: [world.qrels[t]], lambda t, name=name: world.labellings(t, [name]))
        )  # fmt: skip
    if finding is None:
        assert means == highest
        return 1
    numbers = finding.numbers
    best = max(means, key=means.__getitem__)
    assert (numbers["precision"], numbers["highest"]) == pytest.approx(
        (means[numbers["run"]], highest[numbers["run"]])
    ), numbers
    assert (numbers["best"], numbers["best_precision"]) == (best, pytest.approx(means[best])), numbers
    assert numbers["above"] == sum(highest[name] > means[best] + 1e-12 for name in highest if name != best), (
        world.qrels,
        world.runs,
        numbers,
    )
    return 4


def check_bounds(world: World) -> int:
    """Compare the range of every list over labels of its own documents with brute force."""
    scores = rs.evaluate(world.qrels, world.runs, world.measures, unjudged="bounds")
    bounds = scores.uncertainty
    assert (
        bounds is not None
        and bounds.lowest is not None
        and bounds.highest is not None
        and bounds.tight is not None
    )
    statements = 0
    page = page_ranges(world)
    ends = np.full((2, len(world.measures), len(scores.runs), len(scores.topics)), np.nan)
    for t, topic in enumerate(scores.topics):
        for r, name in enumerate(scores.runs):
            values = world.evaluate(topic, list(world.labellings(topic, [name])), 1)[:, r, :, 0]
            for m, measure in enumerate(world.measures):
                merits = (
                    np.exp(values[m]) if measure.summary == "geometric mean" else measure.merit(values[m])
                )
                merits = merits[~np.isnan(merits)]
                low, high = bounds.lowest[m, r, t], bounds.highest[m, r, t]
                if not len(merits):
                    continue
                statements += 1
                assert low <= merits.min() + 1e-9 and high >= merits.max() - 1e-9, (measure, topic, name)
                if bounds.tight[m, r, t]:
                    assert (low, high) == pytest.approx((merits.min(), merits.max()), abs=1e-9), (
                        measure,
                        topic,
                        name,
                    )
    for m, measure in enumerate(world.measures):
        for r in range(len(scores.runs)) if str(measure) in page else ():
            if np.isnan(ends[:, m, r]).any():
                continue
            stated = page[str(measure)]
            low, high = (measure.mean(end) for end in ends[:, m, r])
            statements += 1
            assert stated["lowest"][r] <= low + 1e-9 and stated["highest"][r] >= high - 1e-9, (
                measure,
                stated,
            )
            if stated["tight"][r]:
                assert (stated["lowest"][r], stated["highest"][r]) == pytest.approx((low, high), abs=1e-9), (
                    stated
                )
    return statements


def page_ranges(world: World) -> dict[str, Any]:
    """Return the ranges of means in a report."""
    ranked = [m for m in world.measures if m.family != "effort" and m.better != "neither"]
    return open_ranges(world.judged, ranked, "zero")


def check_page_orders(world: World, now: Sequence[np.ndarray]) -> int:
    """Compare the worst and the best means in a report with all orders of tied documents."""
    page, statements = page_ranges(world), 0
    for m, measure in enumerate(world.measures):
        for r in range(len(world.runs)) if str(measure) in page else ():
            merits = [values[m][r, 0] for values in now]
            if not np.isfinite(np.concatenate(merits)).all():
                continue
            stated = page[str(measure)]
            ends = [np.array([end(values) for values in merits]) for end in (np.min, np.max)]
            is_geometric = measure.summary == "geometric mean"
            means = [measure.mean(np.exp(end) if is_geometric else measure.merit(end)) for end in ends]
            statements += 1
            assert stated["exact"], (measure, stated)
            assert (stated["worst"][r], stated["best"][r]) == pytest.approx(means, abs=1e-9), (
                measure,
                stated,
            )
    return statements


def test_a_report_makes_the_statements_that_are_compared_with_brute_force() -> None:
    kinds: set[str] = set()
    for seed in range(12):
        world = World(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measure = parse("P@2" if seed % 3 else "RBP(p=0.7)")
            world.measures = [measure, parse("AP")]
            page = payload(world.judged, title="T", measures=[measure], bounds=True)
            findings = [ties(world.basis(measure)), unjudged(world.basis(measure))]
            ranges = page_ranges(world)
        shown = {
            finding["kind"]: finding
            for finding in page["findings"]
            if finding["kind"] in ("ties", "unjudged")
        }
        assert list(shown) == sorted(
            (finding.kind for finding in findings if finding is not None), key=list(shown).index
        )
        for finding in findings:
            if finding is not None:
                kinds.add(finding.kind)
                assert shown[finding.kind]["sentence"] == finding.sentence
                assert shown[finding.kind]["numbers"] == finding.numbers
        for name, stated in ranges.items():
            assert page["ranges"][name].keys() == stated.keys()
            for key, value in stated.items():
                assert np.array_equal(page["ranges"][name][key], value), (seed, name, key)
    assert kinds == {"ties", "unjudged"}


@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_no_statement_about_labels_and_orders_is_false(block: int) -> None:
    statements, seed, n_checked = 0, FIRST_SEED + block * 1_000_000, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while n_checked < N_COLLECTIONS / N_BLOCKS:
            n_statements = check(seed)
            statements += n_statements
            n_checked += n_statements > 0
            seed += 1
    assert statements > 20 * n_checked


@pytest.mark.parametrize("seed", UNENUMERATED)
def test_no_statement_is_false_where_labellings_are_too_many_to_enumerate(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The closed forms of measures give bounds where unjudged documents are tied, and else exact limits."""
    monkeypatch.setattr("rankscope.certainty.cases.labelled_cases", lambda *_: None)
    monkeypatch.setattr("rankscope.certainty.pairs.labelled_cases", lambda *_: None)
    monkeypatch.setattr(sys.modules[__name__], "PLAIN", [*map(parse, EXTRA.split())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check(seed) > 20


def test_labels_that_leave_out_a_topic_leave_the_mean_of_the_others() -> None:
    qrels = {"q1": {"r": 1, "n": 0, "m": 0}, "q2": {"r": 1}}
    runs = {"A": {"q1": ["n", "r", "m"], "q2": ["r", "x"]}, "B": {"q1": ["r", "n", "m"], "q2": ["x", "r"]}}
    with pytest.warns(UserWarning, match="undefined on 1 of 2"):
        left = complete(rs.evaluate({**qrels, "q2": {"r": 1, "x": 1}}, runs, "Accuracy"), "Accuracy")
    assert np.diff(run_merits(left)) == pytest.approx(0.5)
    (row,) = certain(rs.evaluate(qrels, runs, "Accuracy"))["pairs"].records()
    assert (row["a"], row["difference"], row["unjudged"], row["lowest"]) == ("A", 0.25, None, -0.5)


def test_labels_that_leave_out_a_topic_through_a_third_run_are_no_witness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With x relevant B would pass A on q2, but C has no value there, so that only q1 is left."""
    monkeypatch.setattr(
        "rankscope.certainty.cases.MAX_LISTS", 1
    )  # bounds prove nothing, so witnesses are searched
    shared = ["r", "n", "m", "k"]
    qrels = {"q1": {"r": 1, "n": 0, "m": 0, "k": 0}, "q2": {"r": 1, "n": 0}}
    runs = {
        "A": {"q1": shared, "q2": ["r", "n", "x"]},
        "B": {"q1": ["n", "r", "m", "k"], "q2": ["x", "r", "n"]},
        "C": {"q1": shared, "q2": ["r", "x"]},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labelled = complete(
            rs.evaluate({**qrels, "q2": {"r": 1, "n": 0, "x": 1}}, runs, "Accuracy"), "Accuracy"
        )
        assert labelled.topics == ("q1",)
        rows = list(certain(rs.evaluate(qrels, runs, "Accuracy"), labels=True)["pairs"].records())
    (row,) = [row for row in rows if (row["a"], row["b"]) == ("A", "B")]
    assert row["unjudged"] is not False
    assert row["labels"] is None
