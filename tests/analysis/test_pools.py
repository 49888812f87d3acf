"""Smaller pools: sizes, nesting, the P@k identity, robustness, leaving a run out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope.analysis.stats.sampling import SAMPLINGS, Sampler, depth_pool, sample_size, without_group
from rankscope.errors import InputError, SettingsError
from rankscope.judging import UNJUDGED, Pool


def judge_small(small):
    from rankscope.read import open_collection

    return rs.judge(*open_collection(*small))


@given(st.integers(0, 300), st.integers(1, 100), st.integers(0, 12))
def test_sample_size_is_its_formula(n, ratio, least):
    rounded = math.floor(ratio * n / 100 + 0.5)
    assert sample_size(n, ratio, least) == min(n, max(least, rounded))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@given(seed=st.integers(0, 2**31), grades=st.lists(st.integers(-1, 3), min_size=1, max_size=80))
def test_samples_have_their_sizes_and_are_nested(sampling, seed, grades):
    half = len(grades) // 2
    pool = Pool(np.array([0, half, len(grades)]), np.array(grades, np.int32))
    sampler = Sampler(pool, sampling, np.random.SeedSequence(seed))
    larger = np.full(len(grades), True)
    for ratio in (90, 70, 50, 30, 10):
        sample = sampler.sample(ratio)
        kept = sample != UNJUDGED
        assert (sample[kept] == pool.grade[kept]).all()
        assert (kept <= larger).all()
        larger = kept
        for t in (0, 1):
            inside = pool.topic == t
            clean = np.maximum(pool.grade, 0)
            stratum = {"grade": clean, "binary": (clean > 0) * 1, "uniform": clean * 0}[sampling]
            for s in np.unique(stratum[inside]):
                members = inside & (stratum == s)
                minimum = 10 if s == 0 and sampling != "uniform" else 1
                assert (kept & members).sum() == sample_size(int(members.sum()), ratio, minimum)


def test_every_document_is_equally_likely_to_stay():
    pool = Pool(np.array([0, 20]), np.full(20, 1, np.int32))
    streams = np.random.SeedSequence(1).spawn(3000)
    kept = sum((Sampler(pool, "grade", s).sample(30) != UNJUDGED).astype(int) for s in streams)
    assert np.abs(kept / 3000 - 0.3).max() < 5 * math.sqrt(0.3 * 0.7 / 3000)


def test_depth_pool_is_the_union_of_the_top_ranks(small):
    qrels, runs = small
    judged = judge_small(small)
    for depth in (1, 3, 10):
        grades = depth_pool(judged, depth)
        kept = judged.with_grades(grades).qrels
        for topic in judged.topics:
            top = set()
            for run in runs.values():
                order = sorted(run[topic].items(), key=lambda item: (item[1], item[0]), reverse=True)
                top |= {document for document, _ in order[:depth]}
            assert kept.judgments(topic) == {d: g for d, g in qrels[topic].items() if d in top}


def test_without_group_removes_only_judgments_that_the_group_alone_contributed(small):
    judged = judge_small(small)
    group = np.array([True, False, True, False, False, False])
    grades = without_group(judged, 3, group)
    own, others = depth_pool(judged, 3, group), depth_pool(judged, 3, ~group)
    gone = grades == UNJUDGED
    assert gone.any()
    assert (gone == ((own != UNJUDGED) & (others == UNJUDGED))).all()


def test_tau_and_change_compare_with_the_full_pool(small):
    result = rs.pools(rs.evaluate(*small, ["AP", "P@5"], jobs=1), pool_depth=[2, 5])
    judged = judge_small(small)
    qrels, runs = small
    reduced = rs.evaluate(judged.with_grades(depth_pool(judged, 2)).qrels, runs, ["AP"])
    full = rs.evaluate(qrels, runs, ["AP"])
    row = next(r for r in result["robustness"].records() if (r["measure"], r["pool"]) == ("AP", "depth 2"))
    assert row["tau"] == pytest.approx(stats.kendalltau(full.mean("AP"), reduced.mean("AP")).statistic)
    assert row["change"] == pytest.approx(np.abs(full.mean("AP") - reduced.mean("AP")).mean())
    means = [r for r in result["means"].records() if (r["measure"], r["pool"]) == ("AP", "depth 2")]
    np.testing.assert_allclose([r["value"] for r in means], reduced.mean("AP"), atol=1e-12)


def test_p_at_k_does_not_change_in_a_depth_k_pool(small):
    result = rs.pools(rs.evaluate(*small, ["P@5", "AP"]), pool_depth=5)
    changes = {
        m: [r["change"] for r in result["means"].records() if r["measure"] == m] for m in ("P@5", "AP")
    }
    assert set(changes["P@5"]) == {0.0}
    assert any(changes["AP"])


@pytest.mark.parametrize("name", ["cranfield", "trec_covid_r1_depth100"])
def test_p_at_10_does_not_change_in_a_depth_10_pool_of_real_runs(data_dir, name):
    folder = data_dir / name
    result = rs.pools(
        rs.evaluate(folder / "qrels.txt", rs.read_runs(folder / "runs"), ["P@10", "AP", "RBP(p=0.95)"]),
        pool_depth=10,
    )
    changes = {}
    for row in result["means"].records():
        if row["pool"] != "full":
            changes.setdefault(row["measure"], []).append(row["change"])
    assert len(changes["P@10"]) > 30
    assert set(changes["P@10"]) == {0.0}
    assert np.count_nonzero(changes["AP"]) > len(changes["AP"]) / 2
    assert np.count_nonzero(changes["RBP(p=0.95)"]) > len(changes["AP"]) / 2


def test_ratios_repeat_with_the_seed_whatever_the_jobs(small):
    serial, parallel, other = (
        rs.pools(rs.evaluate(*small, ["AP", "Bpref"], jobs=jobs), ratios=[50, 10], repeats=3, seed=seed)
        for seed, jobs in ((4, 1), (4, 3), (5, 1))
    )
    assert serial["robustness"].rows == parallel["robustness"].rows
    assert serial["robustness"].rows != other["robustness"].rows
    assert serial["robustness"].columns[:4] == ("measure", "pool", "repeat", "tau")
    assert len(serial["robustness"]) == 2 * 2 * 3
    for row in serial["curve"].records():
        taus = [
            r["tau"]
            for r in serial["robustness"].records()
            if (r["measure"], r["pool"]) == (row["measure"], row["pool"])
        ]
        assert row["tau"] == pytest.approx(np.mean(taus))
        assert row["tau_sd"] == pytest.approx(np.std(taus, ddof=1))


def test_the_whole_pool_changes_nothing(small):
    result = rs.pools(rs.evaluate(*small, ["AP", "Bpref", "Twist"]), ratios=[100])
    assert result["robustness"].column("tau") == [1.0, 1.0, 1.0]
    assert set(result["means"].column("change")) == {0.0}


def test_leaving_a_run_out(small):
    result = rs.leave_out(rs.evaluate(*small, ["AP"]), pool_depth=3)
    judged = judge_small(small)
    full = rs.evaluate(*small, ["AP"]).mean("AP")
    for r, row in enumerate(result["leave_out"].records()):
        alone = np.arange(6) == r
        grades = without_group(judged, 3, alone)
        assert row["unique"] == (grades != judged.qrels.grade).sum()
        expected = rs.evaluate(judged.with_grades(grades).qrels, small[1], ["AP"]).mean("AP")
        assert row["without"] == pytest.approx(expected[r], abs=1e-12)
        assert row["change"] == pytest.approx(expected[r] - full[r], abs=1e-12)
        assert row["rank"] == 1 + (full > full[r] + 1e-12).sum()


def test_leaving_a_group_out(small):
    teams = {"run0": "x", "run1": "x", "run2": "y"}
    result = rs.leave_out(rs.evaluate(*small, ["AP"]), pool_depth=2, groups=teams)
    assert result["bias"].records()[0]["groups"] == 5
    assert [r["group"] for r in result["leave_out"].records()[:3]] == ["x", "x", "y"]


def test_identical_runs_have_no_ranking_to_lose(small):
    qrels, runs = small
    result = rs.pools(rs.evaluate(qrels, {"a": runs["run1"], "b": runs["run1"]}, ["AP"]), ratios=[50])
    assert math.isnan(result["robustness"].records()[0]["tau"])


def test_invalid_arguments_raise(small):
    qrels, runs = small
    with pytest.raises(InputError, match="at least two runs"):
        rs.pools(rs.evaluate(qrels, {"a": runs["run1"]}, ["AP"]))
    with pytest.raises(InputError, match="at least two runs"):
        rs.leave_out(rs.evaluate(qrels, {"a": runs["run1"]}, ["AP"]), pool_depth=10)
    with pytest.raises(SettingsError, match="depth"):
        rs.pools(rs.evaluate(qrels, runs, ["AP"]), pool_depth=0)
    with pytest.raises(SettingsError, match="ratios"):
        rs.pools(rs.evaluate(qrels, runs, ["AP"]), ratios=[150])
    with pytest.raises(SettingsError, match="binary"):
        rs.pools(rs.evaluate(qrels, runs, ["AP"]), sampling="binry")
    with pytest.raises(SettingsError, match="repeats"):
        rs.pools(rs.evaluate(qrels, runs, ["AP"]), repeats=0)


def test_one_topic_works(small):
    qrels, runs = small
    result = rs.pools(
        rs.evaluate({"t0": qrels["t0"]}, {r: {"t0": v["t0"]} for r, v in runs.items()}, ["AP", "Twist"])
    )
    assert len(result["robustness"]) == 10
