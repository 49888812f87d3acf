"""Rank correlations against scipy and against their definitions."""

from __future__ import annotations

import math
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankscope.analysis.stats.coefficients import (
    ap_correlation,
    average_ranks,
    kendall,
    kendall_by_group,
    pearson,
    spearman,
)
from rankscope.errors import InputError

tied_scores = st.lists(st.integers(0, 6), min_size=2, max_size=45)
fine_scores = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=45, unique=True)


def two(draw, scores):
    x = draw(scores)
    y = draw(st.lists(st.sampled_from(x), min_size=len(x), max_size=len(x)) | st.permutations(x))
    return np.array(x, float), np.array(y, float)


@st.composite
def pairs_of_scores(draw):
    return two(draw, draw(st.sampled_from([tied_scores, fine_scores])))


@given(pairs_of_scores())
def test_kendall_is_that_of_scipy(pair):
    actual, expected = kendall(*pair), stats.kendalltau(*pair)
    np.testing.assert_allclose(
        [actual.tau_b, actual.p], [expected.statistic, expected.pvalue], rtol=0, atol=1e-12
    )


@given(pairs_of_scores())
def test_kendall_counts_add_up(pair):
    tau = kendall(*pair)
    pairs = tau.runs * (tau.runs - 1) // 2
    assert tau.concordant + tau.discordant + tau.ties_x + tau.ties_y - tau.ties_both == pairs
    assert tau.tau_a == pytest.approx((tau.concordant - tau.discordant) / pairs)


def test_kendall_of_many_runs_with_one_swap_has_the_exact_p_value():
    x = np.arange(60.0)
    y = x.copy()
    y[[3, 4]] = y[[4, 3]]
    assert kendall(x, y).p == pytest.approx(stats.kendalltau(x, y).pvalue, rel=1e-12)
    assert kendall(x, y).p == pytest.approx(2 / math.factorial(59), rel=1e-12)


@pytest.mark.parametrize("ours, theirs", [(pearson, stats.pearsonr), (spearman, stats.spearmanr)])
def test_pearson_and_spearman_are_those_of_scipy(ours, theirs):
    rng = np.random.default_rng(5)
    for n in (3, 4, 10, 60):
        for decimals in (1, 9):
            x = rng.random(n).round(decimals)
            y = (x + rng.random(n)).round(decimals)
            expected = theirs(x, y)
            got = ours(x, y)
            np.testing.assert_allclose(
                [got.value, got.p], [expected.statistic, expected.pvalue], rtol=0, atol=1e-12
            )


def brute_force_ap(reference, estimate):
    """Yilmaz et al.'s sum over ranks, for scores without ties."""
    n = len(estimate)
    order = sorted(range(n), key=lambda run: -estimate[run])
    total = 0.0
    for i in range(1, n):
        above = sum(reference[order[j]] > reference[order[i]] for j in range(i))
        total += above / i
    return 2 / (n - 1) * total - 1


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_ap_correlation_is_its_definition(n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(n), rng.permutation(n)
    assert ap_correlation(x, y) == pytest.approx(brute_force_ap(x, y), abs=1e-12)
    expected = (brute_force_ap(x, y) + brute_force_ap(y, x)) / 2
    assert ap_correlation(x, y, symmetric=True) == pytest.approx(expected, abs=1e-12)


def test_ap_correlation_with_ties_is_that_of_urbano_and_marrero():
    # the example of their R package ircor: both vectors rounded to fifths, tauAP_b = 0.6269841
    x = np.array([0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]).round(1)
    y = np.array([0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]).round(1)

    def mean_over_orders(reference, estimate):
        shares = []
        for i, score in enumerate(estimate):
            above = [j for j, other in enumerate(estimate) if other > score]
            if above:
                shares.append(sum(reference[j] > reference[i] for j in above) / len(above))
        return 2 * sum(shares) / len(shares) - 1

    assert ap_correlation(x, y) == pytest.approx(mean_over_orders(x, y), abs=1e-12)
    assert ap_correlation(y, x) == pytest.approx(mean_over_orders(y, x), abs=1e-12)


def test_ap_correlation_weighs_the_top():
    truth = np.arange(10.0)[::-1]
    top, bottom = truth.copy(), truth.copy()
    top[[0, 1]] = top[[1, 0]]
    bottom[[8, 9]] = bottom[[9, 8]]
    assert kendall(truth, top).tau_b == kendall(truth, bottom).tau_b
    assert ap_correlation(truth, top) < ap_correlation(truth, bottom)


@pytest.mark.parametrize("function", [kendall, pearson, spearman, ap_correlation])
def test_constant_scores_have_no_correlation(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in ([1, 1, 1], [3, 2, 1]), ([3, 2, 1], [1, 1, 1]), ([1, 1], [1, 1]), ([1], [2]), ([], []):
            result = function(*pair)
            value = getattr(result, "tau_b", getattr(result, "value", result))
            assert math.isnan(value)


@pytest.mark.parametrize("function", [kendall, pearson, spearman, ap_correlation])
def test_invalid_arguments_of_correlations_raise(function):
    with pytest.raises(InputError, match="2 with 1"):
        function([1, 2], [1])
    with pytest.raises(InputError, match="NaN"):
        function([1, math.nan], [1, 2])


@given(tied_scores)
def test_average_ranks_are_those_of_scipy(scores):
    np.testing.assert_array_equal(average_ranks(np.array(scores, float)), stats.rankdata(scores))


@pytest.mark.parametrize("seed", range(30))
def test_counting_by_sorting_agrees_with_comparing_every_pair(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    x, y = (rng.integers(0, rng.integers(1, 30), n).astype(float) for _ in range(2))
    compared = kendall(x, y)
    monkeypatch.setattr("rankscope.analysis.stats.coefficients._MAX_PAIRWISE", 0)
    assert repr(kendall(x, y)) == repr(compared)


def test_the_correlation_of_many_scores_takes_little_memory() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 50, 10_000).astype(float)
    y = x + rng.normal(0, 80, len(x)).round()
    expected = stats.kendalltau(x, y)
    tracemalloc.start()
    result = kendall(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6  # comparing every pair would take more than 1e9
    assert (result.tau_b, result.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@pytest.mark.parametrize("block_bits", [1, 3, 8])
def test_tau_by_group_is_that_of_each_group_for_every_size_of_blocks(
    block_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.analysis.stats.coefficients._BLOCK_BITS", block_bits)
    rng = np.random.default_rng(block_bits)
    sizes = rng.integers(0, 40, 30)
    sizes[[4, 5]] = 256, 300  # A full block of eight bits, and more.
    group = np.repeat(np.arange(len(sizes)), sizes)
    a, b = rng.integers(0, 50, (2, len(group)))
    values = kendall_by_group(a, b, group, len(sizes))
    for number, value in enumerate(values.tolist()):
        pair = a[group == number], b[group == number]
        expected = stats.kendalltau(*pair).statistic if sizes[number] > 1 else math.nan
        assert value == pytest.approx(expected, abs=1e-14, nan_ok=True)
