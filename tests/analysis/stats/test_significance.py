"""Paired tests against scipy on random and real score matrices; corrections; effect sizes."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankscope.analysis.stats.significance import (
    CORRECTIONS,
    TESTS,
    adjust,
    all_pairs,
    effects,
    paired_t,
    run_test,
    tukey_hsd,
)
from rankscope.analysis.stats.wilcoxon import wilcoxon_p
from rankscope.engines import using
from rankscope.errors import SettingsError


def load(data_dir, name):
    return np.loadtxt(data_dir / "score_matrices" / name, delimiter=",", skiprows=1).T


def expected_wilcoxon(z):
    """Scipy's p-value of the differences that are not zero, and the exact one where scipy's is not."""
    whole, z = z, z[z != 0]
    size = np.abs(z)
    if len(z) > 25:
        return stats.wilcoxon(whole).pvalue
    if len(np.unique(size)) == len(z) or len(z) < 8:  # with ties, scipy tries all signs up to 13, slowly
        return stats.wilcoxon(z).pvalue
    ranks = stats.rankdata(size)
    ways = Counter({0.0: 1})  # by the sum of the ranks with a positive sign
    for rank in ranks:
        ways += Counter({total + rank: count for total, count in ways.items()})
    observed = ranks[z > 0].sum()
    at_most = sum(count for total, count in ways.items() if total <= observed)
    at_least = sum(count for total, count in ways.items() if total >= observed)
    return min(1.0, 2 * min(at_most, at_least) / 2 ** len(z))


@pytest.mark.parametrize("topics", [2, 3, 5, 8, 13, 14, 20, 30, 50, 51, 80])
@pytest.mark.parametrize("decimals", [1, 2, 12])
def test_t_and_wilcoxon_are_those_of_scipy(topics, decimals):
    # whole numbers, so that equal differences are equal in scipy's eyes too
    runs = 4 if topics <= 13 else 10
    values = np.floor(np.random.default_rng(topics).random((runs, topics)) * 10**decimals)
    first, second = all_pairs(runs)
    t, wilcoxon = (run_test(test, values, first, second) for test in ("t", "wilcoxon"))
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        x, y = values[a], values[b]
        if (x == y).all():
            assert t.p[k] == wilcoxon.p[k] == 1
            continue
        np.testing.assert_allclose(wilcoxon.p[k], expected_wilcoxon(x - y), rtol=0, atol=1e-12)
        if np.ptp(x - y) > 0:
            expected = stats.ttest_rel(x, y)
            interval = expected.confidence_interval()
            np.testing.assert_allclose(t.p[k], expected.pvalue, rtol=0, atol=1e-12)
            np.testing.assert_allclose([t.low[k], t.high[k]], [interval.low, interval.high], rtol=1e-10)


MATRICES = (
    "adhoc5_ap", "adhoc5_p10", "adhoc6_ap", "adhoc6_p10", "adhoc7_ap", "adhoc7_rr", "web2011_err20", "web2011_ndcg20"
)  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_real_matrices_agree_with_scipy(data_dir, name):
    values = load(data_dir, f"{name}.csv")
    first, second = all_pairs(len(values))
    sample = np.random.default_rng(1).choice(len(first), 60, replace=False)
    first, second = first[sample], second[sample]
    t, wilcoxon = (run_test(test, values, first, second).p for test in ("t", "wilcoxon"))
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        # 0.3 - 0.2 and 0.2 - 0.1 are ties; scipy sees them only without the rounding error
        z = (values[a] - values[b]).round(12)
        if z.any():
            np.testing.assert_allclose(t[k], stats.ttest_rel(values[a], values[b]).pvalue, rtol=0, atol=1e-12)
            np.testing.assert_allclose(wilcoxon[k], expected_wilcoxon(z), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name, wilcoxon, t", [("adhoc5_ap", (1260, 1077), (1164, 969)), ("adhoc5_p10", (1153, 904), (1150, 915))]
)
def test_trec_5_gives_the_published_numbers_of_significant_pairs(data_dir, name, wilcoxon, t):
    """Table 2 of the reproducibility study of RBP: 1830 pairs of TREC-5 runs at 95 and 99 % (headers swapped there)."""
    values = load(data_dir, f"{name}.csv")
    first, second = all_pairs(len(values))
    assert len(first) == 1830
    for test, expected in (("wilcoxon", wilcoxon), ("t", t)):
        p = run_test(test, values, first, second).p
        assert (int((p < 0.05).sum()), int((p < 0.01).sum())) == expected


def test_wilcoxon_is_exact_where_zeros_leave_few_topics():
    z = np.zeros((2, 60))
    z[0, :6] = [1, 2, 3, 4, 5, 6]
    z[1, :6] = [1, 1, 2, 2, 3, 3]
    assert wilcoxon_p(z).tolist() == [2 / 64, 2 / 64]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=13))
def test_wilcoxon_with_ties_enumerates_all_signs(z):
    size = np.abs(np.array([v for v in z if v], float))
    if not len(size):
        assert wilcoxon_p(np.array([z], float))[0] == 1
        return
    ranks = stats.rankdata(size)
    observed = sum(r for r, v in zip(ranks, (v for v in z if v), strict=True) if v > 0)
    signs = (np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1
    sums = signs @ ranks
    expected = min(1.0, 2 * min((sums <= observed + 1e-9).mean(), (sums >= observed - 1e-9).mean()))
    assert wilcoxon_p(np.array([z], float))[0] == pytest.approx(expected, abs=1e-12)


def naive_tukey(values, replicates, seed):
    rng = np.random.default_rng(seed)
    ranges = []
    for _ in range(replicates):
        means = np.mean([rng.permutation(column) for column in values.T], axis=0)
        ranges.append(means.max() - means.min())
    return np.array(ranges)


def test_tukey_is_within_monte_carlo_error_of_a_plain_loop():
    values = np.random.default_rng(8).random((5, 15)) + 0.06 * np.arange(5)[:, None]
    first, second = all_pairs(5)
    ranges = naive_tukey(values, 2000, 1)
    gap = np.abs(values[first].mean(axis=1) - values[second].mean(axis=1))
    expected = (ranges[:, None] >= gap).mean(axis=0)
    got = tukey_hsd(values, first, second, replicates=2000)
    assert np.abs(got.p - expected).max() < 4 * math.sqrt(2) * 0.5 / math.sqrt(2000)
    assert got.delta[0] == pytest.approx(np.quantile(ranges, 0.95), rel=0.03)


def test_tukey_is_the_same_for_any_number_of_jobs():
    values = np.random.default_rng(8).random((7, 12))
    with using(None, 1):
        serial = tukey_hsd(values, *all_pairs(7), replicates=450)
    with using(None, 3):
        parallel = tukey_hsd(values, *all_pairs(7), replicates=450)
    assert serial.p.tobytes() == parallel.p.tobytes()
    assert serial.delta.tobytes() == parallel.delta.tobytes()


@pytest.mark.parametrize("test", TESTS)
def test_every_test_is_symmetric_and_keeps_identical_runs_together(test):
    base = np.random.default_rng(2).random(20)
    values = np.stack([base, base, base * 0.5, np.sqrt(base)])
    forward = run_test(test, values, *all_pairs(4))
    backward = run_test(test, values, *reversed(all_pairs(4)))
    np.testing.assert_allclose(forward.p, backward.p, atol=1e-12)
    np.testing.assert_allclose(forward.difference, -backward.difference, atol=1e-15)
    np.testing.assert_allclose(forward.low, -backward.high, atol=1e-12)
    assert forward.p[0] == 1
    assert forward.difference[0] == 0
    assert ((forward.low <= forward.difference) & (forward.difference <= forward.high)).all()


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_the_interval_excludes_zero_exactly_when_the_pair_is_significant(test):
    values = np.random.default_rng(6).random((12, 25)) + 0.03 * np.arange(12)[:, None]
    result = run_test(test, values, *all_pairs(12), alpha=0.05, replicates=999)
    excludes = (result.low > 0) | (result.high < 0)
    # at the very edge the bootstrap's ASL may equal alpha, so allow one replicate
    clear = np.abs(result.p - 0.05) > 1.5 / 999
    assert (excludes[clear] == (result.p < 0.05)[clear]).all()
    assert excludes.any()
    assert not excludes.all()


def test_a_constant_difference_is_certain_and_rounding_does_not_hide_it():
    base = np.array([0.1, 0.2, 0.3, 0.7])
    values = np.stack([base + 0.1, base])
    assert paired_t(values, np.array([0]), np.array([1])).p[0] == 0
    assert math.isinf(effects(values, np.array([0]), np.array([1]))[1][0])


def test_one_topic_leaves_t_undefined():
    result = paired_t(np.array([[0.5], [0.2], [0.5]]), np.array([0, 0]), np.array([1, 2]))
    assert math.isnan(result.p[0])
    assert result.p[1] == 1
    assert effects(np.array([[0.5], [0.5]]), np.array([0]), np.array([1]))[1][0] == 0


@given(st.lists(st.floats(0, 1), max_size=25))
def test_corrections_keep_the_order_and_never_lower_p(p):
    p = np.array(p, float)
    for correction in CORRECTIONS:
        adjusted = adjust(p, correction)
        assert ((adjusted >= p) & (adjusted <= 1)).all()
        order = np.argsort(p, kind="stable")
        assert (np.diff(adjusted[order]) >= -1e-15).all()
    holm, bonferroni, bh = (adjust(p, name) for name in ("holm", "bonferroni", "bh"))
    assert (holm <= bonferroni).all()
    assert (bh <= holm + 1e-15).all()


def test_bh_is_that_of_scipy_and_holm_that_of_its_definition():
    p = np.random.default_rng(1).random(30) ** 3
    np.testing.assert_allclose(adjust(p, "bh"), stats.false_discovery_control(p), atol=1e-15)
    order = np.argsort(p)
    running = 0.0
    for k, i in enumerate(order):
        running = max(running, min(1.0, p[i] * (30 - k)))
        assert adjust(p, "holm")[i] == pytest.approx(running)


def test_undefined_p_values_stay_undefined_and_do_not_count():
    adjusted = adjust(np.array([0.01, math.nan, 0.02]), "bonferroni")
    assert adjusted[0] == 0.02
    assert math.isnan(adjusted[1])


def test_effect_size_is_cohens_d_of_the_differences():
    values = np.random.default_rng(0).random((2, 30))
    z = values[0] - values[1]
    assert effects(values, np.array([0]), np.array([1]))[1][0] == pytest.approx(z.mean() / z.std(ddof=1))


def test_unknown_names_and_levels_are_refused():
    values, pairs = np.ones((2, 3)), all_pairs(2)
    with pytest.raises(SettingsError, match="bootstrap"):
        run_test("bootsrap", values, *pairs)
    with pytest.raises(SettingsError, match="between 0 and 1"):
        run_test("t", values, *pairs, alpha=5)
    with pytest.raises(SettingsError, match="replicates"):
        run_test("tukey", values, *pairs, replicates=0)
    with pytest.raises(SettingsError, match="holm"):
        adjust(np.ones(2), "hol")
