"""The all-pairs bootstrap against a plain loop over pairs and replicates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.analysis.stats.bootstrap import bootstrap_pairs, critical_rank, resample
from rankscope.analysis.stats.significance import all_pairs
from rankscope.engines import using


def plain_loop(x, y, resampled, alpha):
    """Sakai's algorithm as it is written, one pair, one replicate after the other."""
    n = len(x)
    z = [a - b for a, b in zip(x, y, strict=True)]
    mean = math.fsum(z) / n

    def t_statistic(sample):
        m = math.fsum(sample) / n
        ss = math.fsum((v - m) ** 2 for v in sample)
        if ss < 1e-24:
            return 0.0 if abs(m) < 1e-12 else math.inf
        return m / math.sqrt(ss / (n - 1) / n)

    t = abs(t_statistic(z))
    w = [v - mean for v in z]
    samples = [[w[k] for k in row] for row in resampled.tolist()]
    star = [abs(t_statistic(sample)) for sample in samples]
    asl = sum(s >= t or math.isclose(s, t, rel_tol=1e-9, abs_tol=1e-12) for s in star) / len(star)
    rank = math.ceil(alpha * len(star))
    holder = sorted(range(len(star)), key=lambda k: -round(star[k], 9))[rank - 1]
    return asl, abs(math.fsum(samples[holder]) / n)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(2, 5), st.sampled_from([1, 2, 9]))
def test_all_pairs_at_once_equal_a_plain_loop(seed, topics, runs, decimals):
    values = np.random.default_rng(seed).random((runs, topics)).round(decimals)
    first, second = all_pairs(runs)
    resampled = resample(topics, 60, seed)
    got = bootstrap_pairs(values, first, second, resampled)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        asl, delta = plain_loop(values[a], values[b], resampled, 0.05)
        if (values[a] == values[b]).all():
            asl = 1.0
        assert got.asl[k] == asl
        assert got.delta[k] == pytest.approx(delta, abs=1e-12)


def test_asl_is_close_to_the_p_value_of_the_t_test_for_normal_differences():
    from scipy import stats

    rng = np.random.default_rng(3)
    values = np.stack([rng.normal(0.08 * k, 1, 60) for k in range(6)])
    first, second = all_pairs(6)
    got = bootstrap_pairs(values, first, second, resample(60, 4000, 1)).asl
    expected = stats.ttest_rel(values[first], values[second], axis=1).pvalue
    # four standard errors of a share of 4000 replicates, plus the error of the normal approximation
    assert np.abs(got - expected).max() < 4 * 0.5 / math.sqrt(4000) + 0.01


def test_any_number_of_jobs_gives_the_same_bits():
    values = np.random.default_rng(0).random((50, 20)).round(2)
    first, second = all_pairs(50)
    resampled = resample(20, 300, 7)
    results = []
    for jobs in (1, 2, 5):
        with using(None, jobs):
            results.append(bootstrap_pairs(values, first, second, resampled))
    one, *others = results
    for other in others:
        for name in ("asl", "delta", "critical"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_a_pair_does_not_depend_on_the_other_pairs():
    values = np.random.default_rng(1).random((30, 25))
    first, second = all_pairs(30)
    resampled = resample(25, 500, 1)
    together = bootstrap_pairs(values, first, second, resampled)
    alone = bootstrap_pairs(values, first[100:101], second[100:101], resampled)
    assert alone.asl[0] == together.asl[100]
    assert alone.delta[0] == pytest.approx(together.delta[100], abs=1e-15)


def test_the_sign_of_the_difference_does_not_matter():
    values = np.random.default_rng(2).random((2, 30))
    resampled = resample(30, 500, 1)
    forward = bootstrap_pairs(values, np.array([0]), np.array([1]), resampled)
    backward = bootstrap_pairs(values, np.array([1]), np.array([0]), resampled)
    assert forward.asl == backward.asl
    assert forward.delta == pytest.approx(backward.delta)


def test_identical_runs_and_constant_differences():
    base = np.array([0.1, 0.4, 0.3, 0.7, 0.2])
    values = np.stack([base, base, base + 0.1, base[::-1]])
    got = bootstrap_pairs(values, np.array([0, 0]), np.array([1, 2]), resample(5, 100, 1))
    assert got.asl.tolist() == [1.0, 0.0]
    assert got.delta.tolist() == [0.0, 0.0]


def test_the_rank_of_the_critical_replicate_does_not_suffer_from_rounding():
    assert 0.07 * 100 > 7
    assert [critical_rank(alpha, 100) for alpha in (0.07, 0.05, 0.051, 0.001)] == [7, 5, 6, 1]


def test_no_pairs_at_all():
    got = bootstrap_pairs(np.ones((1, 3)), *all_pairs(1), resample(3, 10, 1))
    assert len(got.asl) == len(got.delta) == 0


@pytest.mark.parametrize("topics, replicates", [(3, 7), (50, 1000), (700, 64), (30, 997)])
def test_every_shape_of_the_product_gives_the_loop_result(topics, replicates):
    values = np.random.default_rng(4).random((3, topics))
    resampled = resample(topics, replicates, 2)
    got = bootstrap_pairs(values, *all_pairs(3), resampled)
    assert got.asl[1] == plain_loop(values[0], values[2], resampled, 0.05)[0]


def test_resampling_is_repeatable_and_uses_all_topics():
    assert (resample(10, 50, 3) == resample(10, 50, 3)).all()
    assert (resample(10, 50, 3) != resample(10, 50, 4)).any()
    assert set(np.unique(resample(10, 50, 3))) == set(range(10))
