"""Intervals of means and ranks against scipy and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankscope.analysis.stats.intervals import (
    bootstrap_means,
    check_level,
    expanded,
    lower_limit,
    percentile_intervals,
    rank_intervals,
    ranks,
    t_intervals,
)
from rankscope.errors import SettingsError


@pytest.mark.parametrize("topics", [2, 3, 25, 200])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_t_intervals_are_those_of_scipy(topics, alpha):
    values = np.random.default_rng(topics).random((6, topics))
    low, high = t_intervals(values, alpha)
    for row in range(6):
        expected = stats.ttest_1samp(values[row], 0).confidence_interval(1 - alpha)
        np.testing.assert_allclose([low[row], high[row]], [expected.low, expected.high], rtol=1e-12)


def test_undefined_values_are_left_out_and_a_single_one_has_no_interval():
    values = np.array([[0.1, math.nan, 0.5, 0.3], [math.nan, 0.4, math.nan, math.nan], [math.nan] * 4])
    low, high = t_intervals(values)
    expected = stats.ttest_1samp([0.1, 0.5, 0.3], 0).confidence_interval()
    assert (low[0], high[0]) == pytest.approx(tuple(expected))
    assert np.isnan(low[1:]).all()
    assert np.isnan(high[1:]).all()


@pytest.mark.parametrize("topics", [2, 5, 60])
def test_the_lower_limit_is_that_of_a_one_sided_t_test(topics):
    rng = np.random.default_rng(topics)
    a, b = rng.random((2, topics))
    expected = stats.ttest_rel(a, b, alternative="greater").confidence_interval(0.9)
    assert lower_limit(a - b, 0.1) == pytest.approx(expected.low, rel=1e-12)
    assert lower_limit(np.full(topics, 0.25)) == 0.25


def test_bootstrap_intervals_are_those_of_scipy_but_for_chance():
    values = np.random.default_rng(3).beta(1, 4, (2, 40))
    drawn = bootstrap_means(values, 20_000, seed=5)
    low, high = percentile_intervals(drawn, 0.025)
    for row in range(2):
        expected = stats.bootstrap(
            (values[row],), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
        )
        width = expected.confidence_interval.high - expected.confidence_interval.low
        assert low[row] == pytest.approx(expected.confidence_interval.low, abs=0.04 * width)
        assert high[row] == pytest.approx(expected.confidence_interval.high, abs=0.04 * width)


def test_all_runs_are_asked_the_same_topics_and_blocks_change_nothing(monkeypatch):
    values = np.random.default_rng(3).random((3, 30))
    values[2] = values[0] + 1
    drawn = bootstrap_means(values, 50, seed=2)
    np.testing.assert_allclose(drawn[2] - drawn[0], 1)
    monkeypatch.setattr("rankscope.analysis.stats.intervals._DRAWN_AT_ONCE", 90)
    np.testing.assert_allclose(bootstrap_means(values, 50, seed=2), drawn, rtol=1e-15)


def test_bootstrap_means_leave_undefined_topics_out_and_know_infinity():
    rng = np.random.default_rng(0)
    values = rng.random((3, 6))
    values[1, 2] = math.nan
    values[2, 4] = math.inf
    drawn = bootstrap_means(values, 200, seed=4)
    topics = np.random.Generator(np.random.PCG64(np.random.SeedSequence(4))).integers(0, 6, (200, 6))
    for replicate, taken in enumerate(topics):
        np.testing.assert_allclose(drawn[0, replicate], values[0, taken].mean())
        np.testing.assert_allclose(drawn[1, replicate], np.nanmean(values[1, taken]))
        assert drawn[2, replicate] == pytest.approx(values[2, taken].mean())
    assert np.isnan(percentile_intervals(drawn, 0.025)[1][2])


def test_expanded_percentiles_are_as_wide_as_students_interval_for_normal_means():
    for topics in (5, 25, 100):
        spread = math.sqrt((topics - 1) / topics)  # of bootstrap means, in standard errors
        reach = -stats.norm.ppf(expanded(0.05, topics)) * spread
        assert reach == pytest.approx(stats.t.ppf(0.975, topics - 1), rel=1e-9)


def test_ranks_and_their_intervals_by_counting():
    merits = np.random.default_rng(1).integers(0, 6, (5, 400)) / 10
    first, last = ranks(merits)
    better = (merits[None] > merits[:, None]).sum(axis=1)
    equal = (merits[None] == merits[:, None]).sum(axis=1)
    np.testing.assert_array_equal(first, better + 1)
    np.testing.assert_array_equal(last, better + equal)
    low, high = rank_intervals(merits, 0.1)
    for run in range(5):
        assert (first[run] < low[run]).mean() <= 0.05 < (first[run] <= low[run]).mean() + 1e-9
        assert (last[run] > high[run]).mean() <= 0.05
        assert (last[run] >= high[run]).mean() > 0.05


def test_undefined_means_rank_last_and_rounding_breaks_no_tie():
    assert ranks(np.array([[math.nan], [0.1], [-math.inf]]))[0][:, 0].tolist() == [2, 1, 2]
    low, high = rank_intervals(np.array([[0.3 - 0.2] * 3, [0.2 - 0.1] * 3]))
    assert (low.tolist(), high.tolist()) == ([1, 1], [2, 2])


def test_levels_and_replicates_are_checked():
    with pytest.raises(SettingsError, match="alpha"):
        check_level(1.5)
    with pytest.raises(SettingsError, match="0 replicates"):
        check_level(0.05, 0)
