"""Inputs, formulas, worlds, pairs, blocks, intervals and limits of the laboratory are the recorded ones.

Verdicts hide most of the numbers that they rest on. These tests detect unintended changes of the parts. After an
intended change, run

    python -m tests.lab.test_recorded_parts

and review the difference before you commit it.
"""

from __future__ import annotations

import hashlib
import pkgutil
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tests.recorded import (
    assert_recorded,
    describe_definitions,
    known_measures,
    summarise,
    to_plain,
    write_recorded,
)

from rankscope import lab
from rankscope.engines import stream_pieces
from rankscope.errors import MeasureError, SettingsError
from rankscope.lab import certificate_model, ranges, rounding
from rankscope.lab.axioms import comparison
from rankscope.lab.axioms.cases import minimum_length
from rankscope.lab.axioms.pairs import induced_pairs, single_steps
from rankscope.lab.axioms.relations import RELATIONS
from rankscope.lab.cumulated_counts import cumulate_counts, dominance, orders
from rankscope.lab.identification import inputs as identification_inputs
from rankscope.lab.identification import search, variants
from rankscope.lab.identification.inputs import TopicLists, break_ties, inputs
from rankscope.lab.measurement import convexity, counting, distances, graded, intervals, scales, walks
from rankscope.lab.measurement.values import Setting, merits_on_words, reject_undefined
from rankscope.lab.measurement.verdicts import LongStudy
from rankscope.lab.rankings import enumeration
from rankscope.lab.rankings.explicit import iter_recall_bases, multiset_permutations
from rankscope.lab.rankings.tree import Tree
from rankscope.lab.rankings.worlds import aspect_world, graded_world
from rankscope.measures import REGISTRY, parse
from rankscope.measures.function import Definition, define

CUBE_TESTS = ("ACT(preset='equation7')", "ACT(preset='equation7',time='iterations')")
RECORDED = Path(__file__).with_name("recorded_parts.json")
MEASURES = known_measures(RECORDED, __name__)

WORLDS = {
    "grades": graded_world(2, relevant=2, nonrelevant=1),
    "aspects": aspect_world(2, relevant=2, nonrelevant=3),
    "weights": aspect_world(2, relevant=1, nonrelevant=2, weights=[0.75, 0.25]),
    "kinds": aspect_world(2, relevant=1, nonrelevant=2, grades=2, multi_aspect=True),
    "three aspects": aspect_world(3, relevant=2, nonrelevant=2),
}


def digest(array: Any) -> list[float]:
    """Return number and sums of values, the second one by position, and the numbers of NaN and infinities."""
    flat = np.asarray(array, np.float64).ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    special = [int(np.isnan(flat).sum()), int((flat == np.inf).sum()), int((flat == -np.inf).sum())]
    weight = np.sqrt(np.arange(2, len(flat) + 2))
    return [len(flat), float(finite.sum()), float(finite @ weight), *(special if any(special) else ())]


def text_digest(value: Any) -> str:
    text = repr(value)
    assert "np." not in text  # Numpy's texts depend on its version.
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def describe_inputs() -> Iterator[tuple[str, Any]]:
    every = inputs()
    yield "number", len(every)
    yield "inputs", [text_digest(every[start : start + 200]) for start in range(0, len(every), 200)]
    for name in ("documents", "scores", "qrels", "run", "pool", "is_tied", "__str__"):
        values = [getattr(case, name) for case in every]
        yield name, text_digest([value() if callable(value) else value for value in values])
    few = [case for case in every if len(case.grades) < 6]
    for name in ("file", "descending", "ascending", "expected"):
        yield name, text_digest([break_ties(case, name) for case in few])
    yield "compositions", [identification_inputs._compositions(length) for length in range(5)]
    for name, holds in identification_inputs.CIRCUMSTANCES.items():
        yield name, text_digest([holds(case) for case in every])
    yield "plain", text_digest(search._plain())
    near = [
        0.0,
        1e-9,
        1.001e-9,
        2e-9,
        1.0,
        1 + 1e-6,
        1 + 1.1e-6,
        1 - 1e-6,
        np.nan,
        np.inf,
        -np.inf,
        -1.0,
        1e6,
        1e6 + 1,
    ]
    a, b = np.array([*product(near, near)]).T
    yield "equal values", text_digest(search._all_equal(a, b).tolist())
    yield "rankings", [len(search._all_lists()), text_digest(search._all_lists())]


def known_definitions() -> tuple[search.Definition, ...]:
    """Return the definitions of the registry that existed when the file was recorded."""
    return tuple(each for each in search._registry() if each.name.partition("@")[0] in MEASURES)


def describe_formulas() -> Iterator[tuple[str, Any]]:
    """Yield names, oddities and values of all variants on a few rankings of different lengths."""
    samples = [
        TopicLists(grades, pool)
        for grades, pool in (
            ((), (1,)), ((0,), (0,)), ((1, None, 0), (1, 0, 2)), ((0, 2, 1, None, -1), (2, 1, 1, -1, 0)),
            ((2, 0, 0, 1, 2, 0, 1, None, 0, 1, 1, 2), (2, 0, 0, 1, 2, 0, 1, 0, 1, 1, 2, 2, 1)),
            ((0, 0, 1), (1, 1, 0, 0, 0)), ((1, 1, 0, 3), (1, 1, 0, 3, 3)),
        )
    ]  # fmt: skip
    for name, formulas in (("formulas", variants.formulas()), ("RBP(p=0.7)", variants.rbp_formulas(0.7))):
        families: dict[str, list[variants.Formula]] = {}
        for formula in formulas:
            families.setdefault(formula.function.__name__, []).append(formula)
        yield name, text_digest([[formula.name, formula.options, formula.oddities] for formula in formulas])
        for family, own in families.items():
            values = np.array([[formula(lists) for lists in samples] for formula in own])
            yield f"{name} {family}", [digest(column) for column in values.T]
    yield "registry", text_digest([str(definition) for definition in known_definitions()])
    few = [*inputs()[5::400], *inputs()[-3:], *[case for case in inputs() if case.is_tied][::40]]
    for name in ("AP", "nDCG@5", "Rprec", "Compat"):
        yield name, [search.usual_value(name, case) for case in few]
    definition = search.Definition("AP", variants.formulas()[0])
    changed = [
        search._with_changes(definition, empty=empty, unjudged=unjudged, ties=ties)
        for empty, unjudged, ties in product(search.EMPTY, search.UNJUDGED, search.TIES)
    ]
    yield (
        "conventions",
        [[str(each), each.oddities, digest([each(case) for case in few])] for each in changed],
    )
    for first, second in ((1.0, 0.5), (1.0, 1.0), (0.0, 0.3), (1.0, 0.0), (0.3, 0.1)):
        values = {identification_inputs.Input((1, 0)): first, identification_inputs.Input((0, 1)): second}
        yield f"persistence {first} {second}", search._persistence(values)


def describe_identification() -> Iterator[tuple[str, Any]]:
    """Yield what random definitions are identified as, from all inputs or some, without and with wrong values."""
    luck = random.Random(5)
    few = luck.sample(variants.formulas(), 400)
    chosen = [*luck.sample(few, 5), *luck.sample(variants.rbp_formulas(0.37), 1)]
    cores = [search.Definition(formula.name, formula, formula.oddities) for formula in chosen]
    cases = [case for case in inputs() if len(case.grades) in (0, 1, 2, 3, 4, 10, 11, 20)]
    definitions = known_definitions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "formulas", lambda: few)
        patch.setattr(search, "_registry", lambda: definitions)
        for number, core in enumerate([*cores, *luck.sample(definitions, 1)]):
            choices = ((name, [*getattr(search, name.upper())]) for name in ("empty", "unjudged", "ties"))
            definition = search._with_changes(core, **{name: luck.choice(each) for name, each in choices})
            values = {case: definition(case) for case in cases}
            for case in cases if number % 3 else ():
                if len(case.grades) == number or (number == 1 and luck.random() < 0.1):
                    values[case] = 0.3
            nearest = search._nearest(cases, values)[:3]
            compared = [search._Comparison.from_values(each, cases, values, number == 4) for each in nearest]
            answers = [[list(each.answer("f")), each.agrees, each.shortest] for each in compared]
            yield f"{number} {definition}", answers
    plain = sorted(search._plain(), key=lambda case: len(case.grades))
    yield (
        "varied",
        [search._is_varied(plain[start : start + n]) for start in (0, 300) for n in range(0, 200, 7)],
    )


def describe_worlds() -> Iterator[tuple[str, Any]]:
    for name, world in WORLDS.items():
        lists = [list(world.labels), list(world.grades), world.document.tolist(), world.better_pairs]
        yield name, [*lists, world.redundant_pairs, world.pool.grade.tolist()]
        for prefix in ((), (1,), (0, 1)):
            tree = Tree(world, 3, prefix)
            nodes = np.arange(tree.shape.size)
            keys = tree.alphabetical_keys(nodes)
            found = [tree.find_node(word) for word in ("", "aax", "010", "A", "(ab)x", "22", "zz")]
            marked = [grade > 0 for grade in world.grades]
            letters = [digest(tree.letter_matrix(level)) for level in range(1, 4)]
            yield (
                f"{name} {prefix}",
                [text_digest(tree.words()), digest(keys), *letters, found, text_digest(tree.flat().grades())],
            )
            yield f"{name} {prefix} counts", [digest(tree.count_letters(marked)), digest(tree.length)]
            for form, lists in (("tree", tree), ("flat", tree.flat())):
                hits, judged = lists.relevant(), lists.documents(2)
                for kind, each in (("relevant", hits), ("documents", judged)):
                    arrays = [each.rank, each.grade, each.ordinal, each.sum(1.0), each.count]
                    yield f"{name} {prefix} {kind} {form}", [len(each), *map(digest, arrays)]
                    if form == "flat":
                        yield f"{name} {prefix} {kind} lists", digest(each.list)
        for size in (5, 20):
            pieces = enumeration.blocks(world, 4, size)
            yield f"{name} blocks {size}", text_digest(pieces)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(enumeration, "_FLAT_BLOCK", 9)
            evaluator = enumeration.Evaluator(parse("AP"), world)
            evaluator.can_lump = False
            for prefix in ((), (1,)):
                yield f"{name} pieces {prefix}", digest(evaluator.evaluate(Tree(world, 4, prefix)))
            patch.setattr(enumeration, "BLOCK", 30)
            yield f"{name} words", digest(enumeration.values_on_words(parse("AP"), world, 4))
            patch.setattr(enumeration, "LIMIT", 1000)
            for depth in (0, 1, 4, 5, 6, 7, 40):
                try:
                    enumeration.check_depth(world, depth)
                    yield f"{name} {depth}", True
                except SettingsError as error:
                    yield f"{name} {depth}", str(error)


def describe_pairs() -> Iterator[tuple[str, Any]]:
    for name, world in WORLDS.items():
        tree = Tree(world, 3 if len(world) > 4 else 4)
        impossible = comparison.ImpossibleRankings(tree)
        yield f"{name} impossible", [digest(impossible.rankings), impossible._first]
        merits = comparison.Merits(parse("AP"), enumeration.Evaluator(parse("AP"), world).evaluate(tree))
        for relation in RELATIONS.values():
            if relation.needs_aspects and world.graded:
                continue
            for first in (0, 3):
                for excluded in (None, impossible):
                    every = list(comparison.iter_pairs(relation, tree, first, excluded))
                    nodes = [np.concatenate([np.ravel(ends) for ends in pairs.nodes()]) for pairs in every]
                    sizes = [pairs.n_pairs for pairs in every]
                    longer = [minimum_length(tree, pairs) > 2 for pairs in every]
                    numbers = [len(every), sum(sizes), sum(np.multiply(sizes, longer).tolist())]
                    if not relation.some:
                        broken = [merits.broken(relation, pairs) for pairs in every]
                        numbers.append(sum(int(mask.sum()) for mask in broken))
                    yield (
                        f"{name} {relation.name} {first} {excluded is None}",
                        [*numbers, digest(np.concatenate([[0], *nodes]))],
                    )
        steps = single_steps(tree)
        yield f"{name} steps", [digest(steps.offsets), digest(steps.above)]
        yield f"{name} induced", [digest(np.concatenate(pair)) for pair in induced_pairs(Tree(world, 2))]


def describe_intervals() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(1)
    computed: list[Any] = []

    def record_pieces(function: Callable[[Any], Any], pieces: list[Any], **options: Any) -> Iterator[Any]:
        computed.append([len(pieces), *pieces[-1]])
        return stream_pieces(function, pieces, **options)

    for length, equal in product((1, 2, 4), (False, True)):
        for relevant in (None, 1, 2):
            counts = [
                function(length, equal, relevant)
                for function in (intervals.interval_count, intervals.vector_count)
            ]
            kinds, pairs = (
                intervals.groups(length, equal, relevant),
                intervals.intervals(length, equal, relevant),
            )
            arrays = [kinds.change, kinds.delta, kinds.size, pairs.lower, pairs.upper, pairs.group]
            work = [counting.estimate_work(length, equal, additive, relevant) for additive in (False, True)]
            yield f"{length} {equal} {relevant}", [*counts, *map(digest, arrays), *map(list, work)]
        yield f"{length} {equal} pairs", [walks.comparable_pairs(length, equal)]
        for name, weights in (
            ("random", rng.random(length)),
            ("rbp", 0.5 ** np.arange(length)),
            ("equal", np.ones(length)),
        ):
            worst, shape = walks.worst_pair(weights, equal), convexity.convexity(weights, equal)
            yield (
                f"{length} {equal} {name}",
                [worst.excess, list(worst.pair), list(shape.second_differences), shape.fails_at],
            )
            values = intervals.rankings(length) @ weights
            for kind, merits in (("sum", values), ("square", values**2), ("step", np.ceil(values))):
                found: list[Any] = [
                    distances.n_falling(merits, equal),
                    convexity.additive_weights(merits, equal),
                    convexity.broken_additivity(merits, equal),
                ]
                for heaviness in ("strong", "weak"):
                    found += [
                        distances.is_interval_scale(merits, heaviness), distances.unequal_pair(merits, heaviness),
                        list(distances.count_distances(merits, heaviness)),
                        distances.chain_intervals(length, heaviness, 2),
                    ]  # fmt: skip
                found += [distances.is_evenly_spaced(merits), list(distances.count_steps(merits))]
                if not distances.is_evenly_spaced(merits):
                    found.append(list(distances.uneven_steps(merits)))
                yield f"{length} {equal} {name} {kind}", found
                for native in (False, True):
                    with pytest.MonkeyPatch.context() as patch:
                        patch.setattr(counting, "_SLICE_WORDS", 1)
                        patch.setattr(counting, "_BLOCK_WORDS", 3)
                        patch.setattr(counting, "_PIECE_WORDS", 5)
                        patch.setattr(counting, "stream_pieces", record_pieces)
                        computed.clear()
                        if not native:
                            patch.setattr(counting.native, "available", lambda: False)
                        tallies = [counting.count_intervals(merits, length, equal, jobs=1)]
                        if kind == "sum":
                            tallies.append(counting.count_groups(weights, length, equal, jobs=1))
                        yield (
                            f"{length} {equal} {name} {kind} {native} count",
                            [*computed, *map(list, tallies)],
                        )
        for seed in range(3):
            drawn = walks.sample_pairs(length, 9, np.random.default_rng(seed), equal)
            few = walks.sample_few_relevant(length, 9, np.random.default_rng(seed), equal, 2)
            yield f"{length} {equal} sample {seed}", [np.stack(drawn).tolist(), np.stack(few).tolist()]
        for fails_at in range(1, length + 1):
            if not equal or fails_at < length:
                yield f"{length} {equal} {fails_at} witness", list(convexity.witness(length, fails_at, equal))
    for length in range(1, 10):
        drawn_weights = [
            rng.random(length),
            np.sort(rng.random(length))[::-1],
            rng.integers(0, 3, length) / 2,
        ]
        shapes = [convexity.convexity(weights, equal) for weights in drawn_weights for equal in (False, True)]
        yield f"{length} convexity", [[digest(shape.second_differences), shape.fails_at] for shape in shapes]
    for setting in (Setting(5, 3), Setting(5, 5), Setting(3, 1), Setting(2, 1, 2)):
        yield f"{setting}", [setting.word(code) for code in range(9)]
    yield (
        "thresholds",
        [convexity.rbp_threshold(*grades) for grades in rng.integers(0, 2, (40, 4, 4)).tolist()],
    )
    for codes in product((0.5, np.nan, np.inf, -np.inf), repeat=3):
        try:
            reject_undefined(parse("AP"), np.array(codes), str)
        except MeasureError as error:
            yield f"undefined {codes}", str(error)
    yield "wilson", [scales.wilson(violated, 20) for violated in (0, 1, 10, 19, 20)]
    for tally in (counting.Tally(10, 3, True), counting.Tally(10, 3, False), counting.Tally(0, 0, True)):
        numbers = scales.tally_numbers(tally)
        yield f"{tally}", [numbers, scales.add_nonempty_share(numbers, 2, 3, lambda: 1)]


def describe_grades() -> Iterator[tuple[str, Any]]:
    for setting in (Setting(2, 2, 2), Setting(3, 1, 2), Setting(2, 2, 3)):
        size = setting.length, setting.relevant, setting.grades
        yield f"{setting}", digest(intervals.rankings(setting.length, setting.grades))
        for name in ("DCG", "AP", "nDCG(gains=exp2)", "CG", "ERR"):
            values = merits_on_words(parse(name), *size)
            yield f"{setting} {name}", digest(values)
            for equal in (False, True):
                listed = graded.listed_intervals(setting, equal)
                steps = distances.positions(setting.length, "weak", setting.grades)
                small, large = graded.sample_interval_pairs(listed, 5, np.random.default_rng(2))
                yield f"{setting} {name} {equal}", [
                    digest(listed.lower), digest(listed.upper), digest(listed.kinds.delta),
                    digest(listed.kinds.size),
                    graded.has_convex_gains(setting, values, equal), graded.violated_pair(setting, values, equal),
                    graded.broken_distance(setting, values, listed.lower, listed.upper, steps), digest([small, large]),
                ]  # fmt: skip
    sums = ("RBP(p=0.5)", "RBP", "P@1", "P@3", "P(rel=2)@3")
    for name in (*sums, "DCG", "AP", "RR", "ERR"):
        short = (Setting(1, 1), Setting(2, 2), Setting(3, 1)) if name in sums else ()
        for setting in (*short, Setting(9, 9), Setting(30, 2)):
            try:
                study = LongStudy(parse(name), setting, "auto", 1, 1, None)
                verdicts = [study.verdict(scale) for scale in scales.FROM_WEIGHTS]
            except SettingsError as error:
                yield f"{name} {setting}", str(error)
            else:
                yield f"{name} {setting}", [verdict.sentence() for verdict in verdicts]

    # Measures that violate additivity from rankings of k or k + 1 documents on.
    with mock.patch.dict(REGISTRY):
        series = define(
            "Series", Definition(lambda grades, *, k=2: float(len(grades) >= k and all(grades[:k])))
        )
        for k in range(1, 9):
            study = LongStudy(series(k=k), Setting(12, 12), "auto", 1, 1, None)
            for scale in scales.FROM_WEIGHTS:
                try:
                    yield f"Series {k} {scale}", study.verdict(scale).sentence()
                except SettingsError as error:
                    yield f"Series {k} {scale}", str(error)


def describe_certificates() -> Iterator[tuple[str, Any]]:
    """Yield the pages of certificates with every combination of verdicts in up to three settings."""
    names = [*RELATIONS, *certificate_model.SCALES]
    combinations = [verdicts for n in (1, 2, 3) for verdicts in product((True, False, None), repeat=n)]
    measures = ("AP", "AP@3", "DCG", "RBP", "RBP(p=0.5)", "AP_IA", "Twist", "ACT", *CUBE_TESTS)
    luck = random.Random(2)
    made = certificate_model.Certificates(tuple(
        certificate_model.Certificate(measure, name, holds, k, 9, f"setting {k}", f"{measure} | {name} {holds} {k}")
        for measure in measures for name in names for k, holds in enumerate(luck.choice(combinations))
    ), {"measures": measures})  # fmt: skip
    yield "page", certificate_model.render_page(made).splitlines()
    for name in ("AP", "RBP", "Twist", "RR"):
        yield name, certificate_model.guarantees(made, name)
    yield "holds", [[made.holds(measure, name) for name in names] for measure in measures[:3]]
    yield "text", [repr(made), summarise(to_plain(made.tables["certificates"].records()))]


def describe_dominance() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(4)
    for number in range(40):
        a, b = (rng.integers(0, 3, rng.integers(1, 6)).tolist() for _ in range(2))
        yield f"{number} {a} {b}", asdict(dominance(a, b))
    yield "counts", cumulate_counts(np.array([2, 0, 1, 3]), (1, 2, 3), 3)
    yield "orders", [[*map(digest, masks)] for masks in orders(rng.integers(-1, 3, (30, 2, 3)))]
    for values in ([0.5], [[1]], "x" * 200, ["x" * 200]):
        with pytest.raises(SettingsError) as raised:
            dominance(values, [1])  # type: ignore[arg-type]
        yield f"error {str(values)[:9]}", str(raised.value)
    yield (
        "entries",
        [
            [e.figure, e.archetype, e.quantity, e.published, e.reading, list(e.members)]
            for e in ranges._entries()
        ],
    )
    for counts in ((1,), (2, 1), (0, 2)):
        group = ranges._group(counts, 2 * sum(counts), "sign-change")
        violations = [entry.violations(group) for entry in ranges._entries()]
        yield f"violations {counts}", [[number, index.tolist()] for number, index in violations]
        yield f"permutations {counts}", digest(multiset_permutations(counts, 2 * sum(counts)))
    yield "recall bases", [list(iter_recall_bases(base, grades)) for base, grades in ((1, 1), (3, 2), (2, 3))]
    numbers = (0.0, 1e-13, 1e-10, 0.1, 0.1 + 1e-9, 0.1 + 1e-16, 0.3, 1e-5, 1.1e-5, 1e-4, 1.00001e-4, 7.0)
    yield "formats", [rounding.format_distinct(a, b) for a in numbers for b in numbers]
    values = np.array([*numbers, -2.0, np.inf, -np.inf, np.nan])
    yield "limits", [digest(rounding.upper_limits(values[:n], 2.0)) for n in (13, 15)]
    yield (
        "extents",
        [rounding.extent(values[start:stop]) for start, stop in ((0, 0), (0, 12), (5, 13), (8, 15), (0, 16))],
    )


DESCRIBED: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "inputs": describe_inputs,
    "formulas": describe_formulas,
    "identification": describe_identification,
    "worlds": describe_worlds,
    "pairs": describe_pairs,
    "intervals": describe_intervals,
    "grades": describe_grades,
    "certificates": describe_certificates,
    "dominance": describe_dominance,
    "definitions": lambda: iter(describe_definitions(lab).items()),
}


@pytest.fixture(autouse=True)
def _no_caches() -> None:
    """Clear the caches, so that each test executes the code that it tests."""
    for module_info in pkgutil.walk_packages(lab.__path__, f"{lab.__name__}."):
        for value in vars(import_module(module_info.name)).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


@pytest.mark.parametrize("name", DESCRIBED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_parts_change_only_on_purpose(name: str) -> None:
    assert_recorded(to_plain(dict(DESCRIBED[name]())), RECORDED, name)


if __name__ == "__main__":
    described = {name: to_plain(dict(describe())) for name, describe in DESCRIBED.items()}
    write_recorded(RECORDED, {"measures": MEASURES, **described})
