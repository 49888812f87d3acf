"""Discriminative power, and comparing runs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope import engines
from rankscope.analysis.compare import _letter, compare, letters
from rankscope.analysis.power import power
from rankscope.analysis.stats.significance import TESTS
from rankscope.columns import Rows
from rankscope.errors import InputError, SettingsError


def test_power_counts_the_significant_pairs(small):
    scores = rs.evaluate(*small, ["AP", "RBP"])
    result = power(scores, ("t", "wilcoxon"), alpha=(0.05, 0.01))
    assert result["power"].columns[:7] == (
        "measure",
        "test",
        "alpha",
        "pairs",
        "significant",
        "power",
        "delta",
    )
    values = scores.matrix("RBP").values
    p = [stats.ttest_rel(values[a], values[b]).pvalue for a, b in combinations(range(6), 2)]
    for row in result["power"].records():
        assert row["pairs"] == 15
        assert row["power"] == row["significant"] / 15
        if (row["measure"], row["test"]) == ("RBP", "t"):
            assert row["significant"] == sum(one < row["alpha"] for one in p)
    asl = [r for r in result["asl"].records() if (r["measure"], r["test"]) == ("RBP", "t")]
    assert [(r["a"], r["b"]) for r in asl] == list(combinations(scores.runs, 2))
    np.testing.assert_allclose([r["asl"] for r in asl], p, atol=1e-12)


def test_the_curve_counts_pairs_up_to_each_level(small):
    result = power(rs.evaluate(*small, ["AP"]), replicates=200, seed=5)
    asl = np.array(result["asl"].column("asl"))
    for row in result["curve"].records():
        assert row["pairs"] == (asl <= row["asl"]).sum()
    assert result["curve"].records()[-1]["pairs"] == 15


@pytest.mark.parametrize("test", TESTS)
def test_the_seed_and_not_the_jobs_decide(small, test):
    evaluations = (rs.evaluate(*small, ["AP", "Twist"], jobs=jobs) for jobs in (1, 4))
    first, second = (power(scores, test, seed=9) for scores in evaluations)
    assert first["asl"].rows == second["asl"].rows
    assert repr(first["power"].rows) == repr(second["power"].rows)  # delta is NaN for wilcoxon
    assert first.settings["seed"] == 9


@pytest.mark.parametrize("analysis", [power, compare])
def test_tests_of_runs_use_the_jobs_of_the_collection(small, monkeypatch, analysis):
    scores, workers = rs.evaluate(*small, ["AP"], jobs=2), []
    in_threads = engines.run_in_threads

    def record(function, pieces, number, label):
        workers.append(number)
        return in_threads(function, pieces, number, label)

    monkeypatch.setattr(engines, "run_in_threads", record)
    analysis(scores, test="tukey")
    assert workers == [2]


def test_measures_share_their_replicates(scored):
    values = np.random.default_rng(0).random((4, 12))
    result = power(scored({"AP": values, "RR": values * 0.5}))
    ap, rr = ([r["asl"] for r in result["asl"].records() if r["measure"] == name] for name in ("AP", "RR"))
    assert ap == rr


def test_delta_separates_in_the_t_test(scored):
    values = np.random.default_rng(0).random((8, 15))
    result = power(scored({"AP": values}), "t")
    delta = result["power"].records()[0]["delta"]
    assert all(row["asl"] < 0.05 for row in result["asl"].records() if abs(row["difference"]) > delta)


@pytest.mark.parametrize("test", TESTS)
def test_identical_runs_and_constant_scores_are_never_significant(scored, test):
    same = np.tile(np.random.default_rng(0).random(6), (3, 1))
    result = power(scored({"AP": same, "RR": np.full((3, 6), 0.5)}), test, replicates=100)
    assert result["power"].column("significant") == [0, 0]
    assert set(result["asl"].column("asl")) == {1.0}


def test_undefined_topics_are_left_out_for_all_runs(with_hole):
    with pytest.warns(UserWarning, match="Twist"):
        result = power(with_hole, "t")
    assert result["power"].column("topics") == [5, 3]
    values = with_hole.matrix("Twist").values[:, [0, 2, 4]]
    expected = stats.ttest_rel(values[0], values[1]).pvalue
    row = next(r for r in result["asl"].records() if r["measure"] == "Twist")
    assert row["asl"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("analysis", [power, compare])
def test_one_run_or_one_topic_is_refused_in_one_line(scored, analysis):
    with pytest.raises(InputError, match="at least two runs"):
        analysis(scored({"AP": [[0.1, 0.2, 0.3]]}))
    with pytest.raises(InputError, match="one topic only"):
        analysis(scored({"AP": [[0.1], [0.2]]}))


def test_compare_with_a_baseline(small):
    scores = rs.evaluate(*small, ["AP", "nDCG"])
    result = compare(scores, "run0")
    pairs = result["pairs"].records()
    names = ("a", "b", "measure", "difference", "p", "adjusted", "significant", "effect_size")
    assert result["pairs"].columns[:8] == names
    assert [(p["a"], p["b"]) for p in pairs[:5]] == [(f"run{k}", "run0") for k in range(1, 6)]
    ap = scores.matrix("AP").values
    for k, row in enumerate(pairs[:5], 1):
        z = ap[k] - ap[0]
        test = stats.ttest_rel(ap[k], ap[0])
        assert row["difference"] == pytest.approx(z.mean())
        assert row["p"] == pytest.approx(test.pvalue, abs=1e-12)
        assert row["effect_size"] == pytest.approx(z.mean() / z.std(ddof=1))
        assert (row["low"], row["high"]) == pytest.approx(tuple(test.confidence_interval()))
        assert (row["wins"], row["losses"]) == ((z > 1e-12).sum(), (z < -1e-12).sum())
        assert row["wins"] + row["losses"] + row["ties"] == 8
        assert row["significant"] == (row["adjusted"] < 0.05)
    p = sorted(row["p"] for row in pairs[:5])
    smallest = min(pairs[:5], key=lambda row: row["p"])
    assert smallest["adjusted"] == pytest.approx(min(1, 5 * p[0]))
    assert pairs[5]["measure"] == "nDCG"


def test_stars_follow_the_adjusted_p_values(small):
    result = compare(rs.evaluate(*small, ["AP"]), "run0", correction="bonferroni")
    adjusted = {
        r["a"]: (r["adjusted"], "*" if r["difference"] > 0 else "↓") for r in result["pairs"].records()
    }
    for row in result["runs"].records():
        p, mark = adjusted.get(row["run"], (1, ""))
        assert row["mark"] == mark * ((p < 0.05) + (p < 0.01) + (p < 0.001))
    marks = set("".join(str(mark) for mark in result["runs"].column("mark")))
    worse = {r["a"] for r in result["pairs"].records() if r["significant"] and r["difference"] < 0}
    assert ("↓" in marks) == bool(worse)
    table = result.marked_means
    assert table.rows[0][1] == max(row[1] for row in table.rows)
    assert "*" in table.latex()


def test_tukey_is_not_corrected_again(small):
    result = compare(rs.evaluate(*small, ["AP"]), test="tukey", replicates=300)
    assert result.settings["correction"] == "none"
    assert all(row["p"] == row["adjusted"] for row in result["pairs"].records())
    assert len(result["pairs"]) == 15


@given(st.integers(1, 7), st.data())
def test_letters_are_shared_exactly_by_runs_that_do_not_differ(runs, data):
    pairs = list(combinations(range(runs), 2))
    different = data.draw(st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([]))
    means = [1 - 0.1 * k for k in range(runs)]
    marks = letters(means, different)
    for a, b in pairs:
        assert bool(set(marks[a]) & set(marks[b])) == ((a, b) not in different)
    assert all(marks)
    assert "A" in marks[0]


def test_letters_are_empty_if_there_would_be_too_many():
    rng = np.random.default_rng(0)
    different = [pair for pair in combinations(range(60), 2) if rng.random() < 0.5]
    assert letters(list(range(60)), different) == [""] * 60


def test_a_misspelt_baseline_gets_a_hint(small):
    with pytest.raises(InputError, match="did you mean run1"):
        compare(rs.evaluate(*small, ["AP"]), "rum1")


def test_constant_difference_has_an_infinite_effect(scored):
    base = np.array([0.1, 0.2, 0.4, 0.3])
    row = compare(scored({"AP": [base + 0.1, base]}))["pairs"].records()[0]
    assert math.isinf(row["effect_size"])
    assert row["p"] == 0
    assert row["low"] == pytest.approx(row["high"]) == pytest.approx(0.1)


def test_letters_after_the_alphabet_have_numbers():
    assert [_letter(n) for n in (0, 25, 26, 51, 52, 77, 78)] == ["A", "Z", "A1", "Z1", "A2", "Z2", "A3"]


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation", "bootstrap", "tukey"])
def test_intervals_that_may_contradict_a_verdict_are_called_unadjusted(test, scored):
    rng = np.random.default_rng(4)
    scores = scored({"AP": rng.random((6, 20)) * 0.5 + rng.random(20) + 0.04 * np.arange(6)[:, None]})
    result = compare(scores, test=test, replicates=400)
    rows = result["pairs"].records()
    contradicted = [row for row in rows if not row["significant"] and (row["low"] > 0 or row["high"] < 0)]
    kind = result.settings["intervals"]
    assert kind == ("unadjusted" if test in ("t", "wilcoxon") else "simultaneous")
    assert kind == "unadjusted" or not contradicted
    assert f"interval of 95 %, {kind}" in result.display[1].legend
    if test == "t":
        assert contradicted


def test_the_interval_of_a_single_pair_needs_no_adjustment(scored):
    values = np.random.default_rng(4).random((2, 20))
    for test, expected in (("t", "simultaneous"), ("bootstrap", "simultaneous"), ("wilcoxon", "unadjusted")):
        assert compare(scored({"AP": values}), test=test).settings["intervals"] == expected


def test_pairs_of_many_runs_stay_columns(scored):
    """Tuples of all pairs of 5,000 runs take more memory than most machines have."""
    result = compare(scored({"AP": np.random.default_rng(3).random((30, 8))}))
    assert isinstance(result.pairs.rows, Rows)
    assert result.pairs.columns[-1] == "ties" and len(result.pairs.rows[0]) == len(result.pairs.columns)


def test_wilcoxon_runs_once_for_several_levels_which_are_all_validated(monkeypatch):
    from rankscope.analysis.stats import significance

    calls = []
    test = significance.wilcoxon_p
    monkeypatch.setattr(significance, "wilcoxon_p", lambda z: calls.append(len(z)) or test(z))
    scores = rs.evaluate(
        {str(t): {"a": 1, "b": 2} for t in range(9)},
        {name: {str(t): {"a": 1.0, "b": (t * k) % 5} for t in range(9)} for k, name in enumerate("xyz")},
        ["AP", "nDCG"],
    )
    both = rs.power(scores, "wilcoxon", alpha=[0.2, 0.01]).power
    assert calls == [3, 3]
    single = [rs.power(scores, "wilcoxon", alpha=alpha).power for alpha in (0.2, 0.01)]
    assert [row.significant for row in both] == [
        row.significant for rows in zip(*single, strict=True) for row in rows
    ]
    with pytest.raises(SettingsError, match="alpha is 2"):
        rs.power(scores, "wilcoxon", alpha=[0.05, 2])
