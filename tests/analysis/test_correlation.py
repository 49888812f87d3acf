"""Correlation between measures over runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.analysis.stats.matrices import rounded, top_runs
from rankscope.analysis.stats.rank_biased_overlap import rank_biased_overlap
from rankscope.errors import InputError, SettingsError


def rows(result, **fields):
    return [r for r in result["correlations"].records() if all(r[k] == v for k, v in fields.items())]


def test_it_is_scipys_tau_of_the_means(small):
    scores = rs.evaluate(*small, ["AP", "nDCG", "RBP"])
    result = rs.correlate(scores, "kendall")
    assert result["correlations"].columns[:6] == ("a", "b", "method", "value", "p", "runs")
    assert len(rows(result)) == 3
    for row in rows(result):
        expected = stats.kendalltau(scores.mean(row["a"]), scores.mean(row["b"]))
        assert row["value"] == pytest.approx(expected.statistic, abs=1e-12)
        assert row["p"] == pytest.approx(expected.pvalue, abs=1e-12)
        assert row["runs"] == 6


def test_all_methods_at_once(small):
    scores = rs.evaluate(*small, ["AP", "nDCG"])
    result = rs.correlate(scores, ["kendall", "ap", "spearman", "pearson"])
    by_method = {r["method"]: r for r in rows(result)}
    ap = by_method["ap"]
    assert ap["value"] == pytest.approx((ap["reference_a"] + ap["reference_b"]) / 2)
    assert by_method["kendall"]["reference_a"] is None
    x, y = scores.mean("AP"), scores.mean("nDCG")
    assert by_method["pearson"]["value"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert by_method["spearman"]["value"] == pytest.approx(stats.spearmanr(x, y).statistic)


def test_top_keeps_the_best_runs_by_a_measure(scored):
    rng = np.random.default_rng(0)
    scores = scored({"AP": rng.random((10, 6)), "RR": rng.random((10, 6)), "nDCG": rng.random((10, 6))})
    best = np.argsort(-scores.mean("AP"))[:8]  # round(7.5) goes up
    result = rs.correlate(scores, "kendall", top=0.75)
    (row,) = (row for row in rows(result) if row["a"] == "RR")
    assert row["runs"] == 8
    expected = stats.kendalltau(scores.mean("RR")[best], scores.mean("nDCG")[best]).statistic
    assert row["value"] == pytest.approx(expected)
    assert result.settings["top"] == 0.75
    assert result.settings["by"] == "AP"


def test_a_measure_that_would_select_no_runs_is_rejected(scored):
    scores = scored({"AP": np.eye(3), "RR": np.eye(3)})
    for analysis in (rs.correlate, rs.power):
        with pytest.raises(SettingsError, match="by is 'RR', but there is no top"):
            analysis(scores, by="RR")


def test_means_equal_but_for_rounding_are_ties(scored):
    # 0.1 + 0.2 is not 0.3 for a computer, but two runs with these sums are tied
    a = [[0.1, 0.2, 0.0], [0.3, 0.0, 0.0], [0.9, 0.9, 0.9]]
    result = rs.correlate(scored({"P@10": a, "AP": [[0.1] * 3, [0.2] * 3, [0.3] * 3]}), "kendall")
    assert rows(result)[0]["ties_a"] == 1
    assert rounded(np.array([0.1 + 0.2, 0.3])).tolist() == [0.3, 0.3]


def test_swaps_are_the_discordant_pairs(small):
    scores = rs.evaluate(*small, ["AP", "RR", "P@5"])
    result = rs.correlate(scores, "kendall", swaps=True)
    for row in rows(result):
        listed = [s for s in result["swaps"].records() if (s["a"], s["b"]) == (row["a"], row["b"])]
        assert len(listed) == row["discordant"]
        for swap in listed:
            assert swap["difference_a"] > 0 > swap["difference_b"]
            up, down = scores.runs.index(swap["better_by_a"]), scores.runs.index(swap["better_by_b"])
            assert scores.mean(row["a"])[up] > scores.mean(row["a"])[down]


def test_per_topic(small):
    scores = rs.evaluate(*small, ["AP", "nDCG"])
    table = rs.correlate(scores, "kendall", per_topic=True)["topics"]
    assert table.column("topic") == list(scores.topics)
    t = 2
    expected = stats.kendalltau(scores.matrix("AP").values[:, t], scores.matrix("nDCG").values[:, t])
    assert table.records()[t]["value"] == pytest.approx(expected.statistic)


def test_undefined_topics_are_left_out_and_named(with_hole):
    with pytest.warns(UserWarning, match="Twist is undefined on 2 of 5 topics"):
        result = rs.correlate(with_hole, "kendall", per_topic=True)
    assert result.settings["left_out_topics"] == {"Twist": ["t1", "t3"]}
    assert set(result["topics"].column("topic")) == {"t0", "t2", "t4"}
    kept = [0, 2, 4]
    expected = stats.kendalltau(
        with_hole.matrix("AP").values.mean(axis=1), with_hole.matrix("Twist").values[:, kept].mean(axis=1)
    )
    assert rows(result)[0]["value"] == pytest.approx(expected.statistic)


def test_the_matrix_has_every_pair_once(small):
    result = rs.correlate(rs.evaluate(*small, ["AP", "nDCG", "RBP"]), "kendall")
    table = result.matrix()
    assert table.columns == ("measure", "nDCG", "RBP")
    assert table.rows[1][1] is None
    assert table.rows[0][2] == rows(result, a="AP", b="RBP")[0]["value"]


def test_degenerate_inputs(scored):
    constant = rs.correlate(
        scored({"AP": np.ones((3, 2)), "RR": np.random.default_rng(0).random((3, 2))}), "kendall"
    )
    assert math.isnan(rows(constant)[0]["value"])
    one_topic = rs.correlate(scored({"AP": [[0.1], [0.2]], "RR": [[0.5], [0.6]]}), "kendall")
    assert rows(one_topic)[0]["value"] == 1
    with pytest.raises(InputError, match="at least two runs"):
        rs.correlate(scored({"AP": [[0.1, 0.2]], "RR": [[0.1, 0.2]]}), "kendall")
    with pytest.raises(InputError, match="at least two measures"):
        rs.correlate(scored({"AP": [[0.1], [0.2]]}), "kendall")
    with pytest.raises(InputError, match="undefined on every topic"):
        rs.correlate(scored({"AP": [[math.nan], [0.2]], "RR": [[0.1], [0.2]]}), "kendall")
    with pytest.raises(SettingsError, match="kendall"):
        rs.correlate(scored({"AP": [[0.1], [0.2]], "RR": [[0.1], [0.2]]}), "kendal")
    with pytest.raises(SettingsError, match="between 0 and 1"):
        top_runs(np.ones(3), 75)


def test_rank_biased_overlap_of_the_rankings_of_runs(scored):
    scores = scored({"AP": [[0.9], [0.5], [0.5], [0.1]], "RR": [[0.5], [0.9], [0.2], [0.1]]})
    result = rs.correlate(scores, ["kendall", "rbo"], rbo_p=0.8, rbo_ties="a")
    row = rows(result, method="rbo")[0]
    expected = rank_biased_overlap(["r0", {"r1", "r2"}, "r3"], ["r1", "r0", "r2", "r3"], 0.8, ties="a")
    assert (row["value"], row["rbo_low"], row["rbo_high"]) == (expected.value, expected.low, expected.high)
    assert math.isnan(row["p"])
    assert rows(result, method="kendall")[0]["rbo_low"] is None
    assert result.settings["rbo_p"] == 0.8
    assert result.settings["rbo_ties"] == "a"
    assert result.matrix("rbo").rows[0][1] == expected.value


def test_rank_biased_overlap_looks_at_the_top(scored):
    best = [[4], [3], [2], [1], [0]]
    top = scored({"AP": best, "RR": [[3], [4], [2], [1], [0]], "P@1": [[4], [3], [2], [0], [1]]})
    result = rs.correlate(top.with_measures(["AP", "RR", "P@1"]), ["kendall", "rbo"])
    taus, overlaps = (
        {r["b"]: r["value"] for r in rows(result, method=m, a="AP")} for m in ("kendall", "rbo")
    )
    assert taus["RR"] == taus["P@1"]
    assert overlaps["RR"] < overlaps["P@1"]
