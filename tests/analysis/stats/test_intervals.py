"""Intervals of means and ranks against scipy and plain loops."""

from __future__ import annotations

import math
from itertools import pairwise

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
    reflected_interval,
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


def test_all_runs_share_the_resampled_topics_and_blocks_change_nothing(monkeypatch):
    values = np.random.default_rng(3).random((3, 30))
    values[2] = values[0] + 1
    drawn = bootstrap_means(values, 50, seed=2)
    np.testing.assert_allclose(drawn[2] - drawn[0], 1)
    monkeypatch.setattr("rankscope.analysis.stats.intervals._DRAWN_AT_ONCE", 90)
    np.testing.assert_allclose(bootstrap_means(values, 50, seed=2), drawn, rtol=1e-15)


def test_bootstrap_means_leave_undefined_topics_out_and_handle_infinity():
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


def ranges_by_counting(values, drawn, alpha):
    """Rank intervals from the formulas, one number at a time."""
    runs, topics = values.shape
    means = [math.fsum(row) / topics for row in values]
    moved = (drawn - np.array(means)[:, None]) * math.sqrt(topics / (topics - 1))
    reach = stats.t.ppf(1 - alpha / 2, topics - 1)
    order = sorted(range(runs), key=lambda run: means[run])
    groups = [[order[0]]]
    for before, after in pairwise(order):
        error = math.sqrt(np.mean([(x - y) ** 2 for x, y in zip(moved[after], moved[before], strict=True)]))
        if means[after] - means[before] > reach * error:
            groups.append([])
        groups[-1].append(after)
    closer = list(means)
    for group in groups:
        if len(group) > 1:
            spread = np.var([means[run] for run in group], ddof=1)
            chance = np.mean([np.var(column, ddof=1) for column in moved[group].T])
            middle = np.mean([means[run] for run in group])
            for run in group:
                closer[run] = middle + math.sqrt(max(0.0, 1 - chance / spread)) * (means[run] - middle)
    width = reach / stats.norm.ppf(1 - alpha / 2)
    ranks = [
        [sum(other[b] > means_of_run[b] for other in by) + 1 for b in range(drawn.shape[1])]
        for by in [[m + width * row for m, row in zip(closer, moved, strict=True)]]
        for means_of_run in by
    ]
    ends = []
    for run in range(runs):
        rank_of_run = sum(m > means[run] for m in means) + 1
        shares = {
            (low, high): sum(low <= rank <= high for rank in ranks[run]) / drawn.shape[1]
            for low in range(1, rank_of_run + 1)
            for high in range(rank_of_run, runs + 1)
        }
        best = {}  # by length: the first range with the largest share
        for (low, high), inside in sorted(shares.items()):
            if inside > best.get(high - low, (-1,))[0]:
                best[high - low] = inside, low, high
        ends.append(min(best.items(), key=lambda one: (round(abs(one[1][0] - 1 + alpha), 9), -one[0]))[1])
    return [end[1] for end in ends], [end[2] for end in ends]


@pytest.mark.parametrize("apart", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_rank_intervals_contain_the_share_nearest_to_the_level(apart, alpha):
    rng = np.random.default_rng(int(100 * apart))
    values = rng.random((6, 12)) + apart * rng.standard_normal((6, 1))
    drawn = bootstrap_means(values, 120, seed=3)
    low, high = rank_intervals(values, drawn, alpha)
    assert (low.tolist(), high.tolist()) == ranges_by_counting(values, drawn, alpha)


def test_runs_that_differ_by_chance_alone_may_have_nearly_every_rank():
    rng = np.random.default_rng(4)
    topics = rng.random((1, 20))
    noise = rng.standard_normal((8, 20))
    noise -= noise.mean(axis=1, keepdims=True)
    same = topics + noise + 1e-9 * np.arange(8)[:, None]  # hardly apart, while topics differ by 1
    low, high = rank_intervals(same, bootstrap_means(same))
    assert (high - low >= 6).all()
    apart = topics + 0.01 * noise + np.arange(8)[:, None]
    low, high = rank_intervals(apart, bootstrap_means(apart))
    assert low.tolist() == high.tolist() == list(range(8, 0, -1))


def test_undefined_means_rank_last_and_rounding_breaks_no_tie():
    assert ranks(np.array([[math.nan], [0.1], [-math.inf]]))[0][:, 0].tolist() == [2, 1, 2]
    equal = np.array([[0.3 - 0.2] * 3, [0.2 - 0.1] * 3, [0.0] * 3])
    low, high = rank_intervals(equal, bootstrap_means(equal, 50))
    assert (low.tolist(), high.tolist()) == ([1, 1, 3], [2, 2, 3])


def test_ranks_of_runs_with_holes_infinite_values_and_single_topics():
    values = np.random.default_rng(2).random((5, 9)) / 10 + np.array([[0.9], [0.7], [0.5], [0.3], [0.1]])
    values[1, 3] = values[4] = math.nan
    values[0, 2] = math.inf
    low, high = rank_intervals(values, bootstrap_means(values, 200))
    assert (low.tolist()[:4], high.tolist()[:4]) == ([1, 2, 3, 4], [1, 2, 3, 4])
    assert (low[4], high[4]) == (1, 5)  # without any value nothing is known
    low, high = rank_intervals(values[:4, :1], bootstrap_means(values[:4, :1], 20))
    assert (low.tolist(), high.tolist()) == ([1] * 4, [4] * 4)


def test_levels_and_replicates_are_checked():
    with pytest.raises(SettingsError, match="alpha"):
        check_level(1.5)
    with pytest.raises(SettingsError, match="0 replicates"):
        check_level(0.05, 0)


def test_a_level_too_small_to_compute_with_is_rejected():
    """``findings --alpha=1e-308`` divided two infinite quantiles, and printed a warning of numpy's."""
    with pytest.raises(SettingsError, match=r"alpha is 1e-308, which is less than 1e-12"):
        check_level(1e-308)
    check_level(1e-12)


@pytest.mark.parametrize(
    ("value", "replicates"), [(0.5, []), (0.5, [math.nan]), (math.nan, [0.4, 0.6]), (math.nan, [])]
)
def test_undefined_values_have_no_reflected_interval(value, replicates):
    assert np.isnan(reflected_interval(value, np.array(replicates, float), 0.05)).all()
