"""Kernels: the extension module gives the values of the formulas, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.judging import Lists, Pool
from rankscope.judging.kernels import DEPTH, KernelSet
from rankscope.measures import REGISTRY, Measure
from rankscope.measures.base import evaluate_all
from rankscope.measures.grammar import parse
from rankscope.native.memory import _memory
from rankscope.read.qrels import UNJUDGED

pytestmark = pytest.mark.skipif(_memory is None, reason="the extension module was not built")

NAMES = [
    *(
        "AP",
        "AP@5",
        "AP(rel=2)",
        "RR",
        "RR@3",
        "RR(rel=3)",
        "R@10",
        "R(rel=2)@1000",
        "P@10",
        "P@3",
    ),
    *(
        "P(rel=3)@200",
        "Success@1",
        "Success(rel=2)@5",
        "RBP",
        "RBP(p=0.95)@20",
        "RBP(graded=True)",
        "RBP(rel=2)",
    ),
    *("DCG", "DCG@10", "DCG(discount='jk')@100", "nDCG", "nDCG@10", "nDCG(gains='exp2')@20"),
    *("nDCG(gains='0,1,5,5,9')", "nDCG(gains='1=3,2=9')", "AP(rel=5000000000)"),
    *(
        "Rprec",
        "Rprec(rel=3)",
        "Bpref",
        "Bpref(rel=2)",
        "Bpref(variant='original')",
        "Bpref(rel=3,variant='plus10')",
    ),
]


def random_lists(
    rng: np.random.Generator, n_topics: int, n_lists: int, depth: int, max_grade: int = 4
) -> Lists:
    sizes = rng.integers(0, 40, n_topics)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    grade = rng.choice([UNJUDGED, -1, *range(max_grade + 1)], offsets[-1]).astype(np.int32)
    topic = rng.integers(0, n_topics, n_lists)
    ranks, judgments, lengths = [], [], []
    for t in topic.tolist():
        length = int(rng.integers(0, depth))
        count = int(rng.integers(0, min(length, sizes[t]) + 1))
        ranks.append(np.sort(rng.choice(length, count, replace=False)) + 1)
        judgments.append(offsets[t] + rng.choice(sizes[t], count, replace=False))
        lengths.append(length)
    ends = np.concatenate([[0], np.cumsum([len(rank) for rank in ranks])]).astype(np.int64)
    rank, judgment = (np.concatenate([[], *parts]).astype(np.int32) for parts in (ranks, judgments))
    return Lists(Pool(offsets, grade), topic, np.array(lengths, np.int32), ends, rank, judgment)


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    return left.shape == right.shape and left.tobytes() == right.tobytes()


@pytest.mark.parametrize("depth", [12, 300, 6000])
def test_kernels_give_the_values_of_formulas_bit_for_bit(depth: int) -> None:
    rng = np.random.default_rng(depth)
    measures = [parse(name) for name in NAMES]
    for _ in range(15):
        lists = random_lists(rng, int(rng.integers(1, 6)), int(rng.integers(0, 40)), depth)
        kernels = [measure.kernel(lists.pool) for measure in measures]
        assert None not in kernels
        values = KernelSet([kernel for kernel in kernels if kernel is not None]).evaluate(lists)
        assert values is not None
        for measure, row in zip(measures, values, strict=True):
            assert same_bits(row, np.asarray(measure.evaluate(lists), np.float64)), measure
    assert depth < DEPTH or lists.rank.max(initial=0) > DEPTH


@pytest.mark.parametrize("measure", sorted({m.name: m for m in REGISTRY.values()}.values(), key=str), ids=str)
def test_a_measure_has_no_kernel_or_one_with_its_values(measure: Measure) -> None:
    lists = random_lists(np.random.default_rng(5), 4, 30, 50)
    for candidate in (measure, measure(rel=2) if "rel" in measure.parameters else measure):
        if candidate.cutoff_rule == "required" and candidate.cutoff is None:
            candidate = candidate @ (0.5 if candidate.cutoff_meaning.startswith("level") else 7)
        if candidate.kernel(lists.pool) is not None:
            assert same_bits(evaluate_all([candidate], lists)[0], candidate.evaluate(lists))


def test_measures_with_and_without_kernels_are_evaluated_together() -> None:
    lists = random_lists(np.random.default_rng(3), 4, 25, 60)
    measures = [parse(name) for name in ("infAP", "AP", "AP(judged_only=True)", "Twist", "nDCG@10")]
    assert [measure.kernel(lists.pool) is None for measure in measures] == [True, False, True, True, False]
    values = evaluate_all(measures, lists)
    assert same_bits(values, np.array([measure.evaluate(lists) for measure in measures]))


@pytest.mark.parametrize("size", [0, 3, 40, 1000])
def test_ideal_rankings_have_the_sums_of_formulas_bit_for_bit(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(size)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, size + 1, 7))])
    grade = rng.choice([UNJUDGED, -1, 0, 1, 2, 3, 4], offsets[-1]).astype(np.int32)
    names = [name for name in NAMES if "DCG" in name] + ["nDCG(gains='1=3,2=-1')@20", "nDCG@700"]
    by_module = [parse(name).evaluate_ideal(Pool(offsets, grade)) for name in names]
    called = []
    monkeypatch.setattr("rankscope.judging.kernels.sum_ideals", lambda *_: called.append(1))
    for name, sums in zip(names, by_module, strict=True):
        assert same_bits(sums, parse(name).evaluate_ideal(Pool(offsets, grade))), name
    assert len(called) == len(names)


def test_a_class_with_its_own_formula_does_not_inherit_a_kernel() -> None:
    lists = random_lists(np.random.default_rng(3), 4, 25, 60)
    assert parse("GMAP").kernel(lists.pool) is None
    assert evaluate_all([parse("GMAP")], lists).min() >= 0.00001


def test_grades_without_a_gain_and_large_grades_use_the_formula() -> None:
    rng = np.random.default_rng(2)
    assert parse("nDCG(gains='0,1')").kernel(random_lists(rng, 4, 25, 60).pool) is None
    lists = random_lists(rng, 4, 25, 60)
    high = Pool(
        lists.pool.offsets, np.where(lists.pool.grade == 4, 1 << 30, lists.pool.grade).astype(np.int32)
    )
    assert parse("nDCG").kernel(high) is None
    assert parse("AP").kernel(high) is not None
