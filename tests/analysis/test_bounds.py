"""Bounds of RBP and other weighted-precision measures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope.errors import InputError, MeasureError, SettingsError

grades = st.lists(st.sampled_from([None, 0, 1, 2]), min_size=1, max_size=12)


def bounds(qrels, runs, **options):
    return rs.bounds(rs.Collection(qrels, runs), **options)


def build_collection(list_of_grades):
    documents = [f"d{k:02}" for k in range(len(list_of_grades))]
    judged = {d: g for d, g in zip(documents, list_of_grades, strict=True) if g is not None}
    return {"q": {**judged, "other": 2}}, {"q": documents}


@given(grades, st.sampled_from([0.3, 0.5, 0.8, 0.95]))
def test_bounds_are_their_definition(graded, p):
    qrels, run = build_collection(graded)
    depths = [1, 2, 3, 5, 8, 20]
    result = bounds(qrels, run, p=p, depths=depths)
    for row in result["bounds"].records():
        prefix = graded[: row["depth"]]
        d = len(prefix)
        lower = (1 - p) * sum(p**i for i, g in enumerate(prefix) if g)
        residual = (1 - p) * sum(p**i for i, g in enumerate(prefix) if g is None) + p**d
        assert row["lower"] == pytest.approx(lower, abs=1e-12)
        assert row["upper"] == pytest.approx(lower + residual, abs=1e-12)


@given(grades)
def test_bounds_tighten_with_depth_and_hold_the_truth(graded):
    qrels, run = build_collection(graded)
    rows = bounds(qrels, run, p=0.8, depths=range(1, len(graded) + 1))["bounds"].records()
    lower, upper = [r["lower"] for r in rows], [r["upper"] for r in rows]
    assert (np.diff(lower) >= -1e-15).all()
    assert (np.diff(upper) <= 1e-15).all()
    for guess in (0, 1):
        full = {f"d{k:02}": guess if g is None else g for k, g in enumerate(graded)}
        truth = rs.evaluate({"q": full}, run, ["RBP(p=0.8)"]).mean("RBP(p=0.8)")[0]
        assert lower[-1] - 1e-12 <= truth <= upper[-1] + 1e-12


def test_at_the_end_of_the_list_they_are_the_measure_and_its_residual(small):
    scores = rs.evaluate(*small, ["RBP(p=0.95)"])
    rows = bounds(*small, p=0.95, depths=[25])["bounds"].records()
    measure = scores.measures[0]
    np.testing.assert_allclose([r["lower"] for r in rows], scores.values[0].ravel(), atol=1e-12)
    residual = measure.residual(scores.judged.lists)
    np.testing.assert_allclose([r["upper"] - r["lower"] for r in rows], residual, atol=1e-12)


def test_other_weighted_precision_measures(small):
    result = bounds(*small, p=0.5, depths=[5, 10], measures=["P@10", "DCG@10", "RBP(graded=True)"])
    rows = [r for r in result["bounds"].records() if r["measure"] == "P@10" and r["depth"] == 5]
    assert rows[0]["p"] is None
    scores = rs.evaluate(*small, ["P@5"])
    np.testing.assert_allclose([2 * r["lower"] for r in rows], scores.values[0].ravel(), atol=1e-12)
    assert all(r["upper"] <= 1 + 1e-12 for r in rows)
    assert {r["measure"] for r in result["bounds"].records()} == {
        "RBP(p=0.5)",
        "P@10",
        "DCG@10",
        "RBP(graded=True)",
    }


def test_means_have_the_band_of_the_runs(small):
    result = bounds(*small, p=0.8, depths=[10])
    by_run = {}
    for row in result["bounds"].records():
        by_run.setdefault(row["run"], []).append(row["lower"])
    means = [np.mean(v) for v in by_run.values()]
    (row,) = result["means"].records()
    low, high = stats.t.interval(0.95, len(means) - 1, np.mean(means), stats.sem(means))
    assert row["lower"] == pytest.approx(np.mean(means))
    assert (row["lower_low"], row["lower_high"]) == pytest.approx((low, high))


def test_the_band_ends_where_the_measure_does():
    """Of two runs with 1 and 0 the interval by Student's t reaches far beyond what RBP can be."""
    qrels = {"q": {"a": 1, "b": 0}}
    runs = {"good": {"q": {"a": 2, "b": 1}}, "poor": {"q": {"b": 2, "c": 1}}}
    rows = bounds(qrels, runs, p=0.5, depths=[1, 2], measures=["DCG(gains='0=-1,1=2')@2"])["means"].records()
    ends = {r["measure"]: (r["lower_low"], r["upper_high"]) for r in rows}
    whole = 1 + 1 / np.log2(3)
    assert ends == {
        "RBP(p=0.5)": (0, 1),
        "DCG(gains='0=-1,1=2')@2": (pytest.approx(-whole), pytest.approx(2 * whole)),
    }


def test_smaller_pools_widen_the_bounds(small):
    rows = bounds(*small, p=0.8, depths=[10], pool_depth=1, ratios=10)["means"].records()
    width = {r["pool"]: r["upper"] - r["lower"] for r in rows}
    assert width["full"] < width["depth 1"]
    assert width["full"] < width["10%"]


def test_a_single_run_has_no_band(small):
    qrels, runs = small
    (row,) = bounds(qrels, {"a": runs["run1"]}, p=0.5, depths=[3])["means"].records()
    assert math.isnan(row["lower_low"])
    assert row["lower"] <= row["upper"]


def test_depths_default_to_the_longest_list(small):
    depths = bounds(*small, p=0.5)["means"].column("depth")
    assert depths[0] == 1
    assert depths[-1] == 25


def test_identical_runs_have_an_empty_band(small):
    qrels, runs = small
    (row,) = bounds(qrels, {"a": runs["run1"], "b": runs["run1"]}, p=0.5, depths=[3])["means"].records()
    assert row["lower_low"] == pytest.approx(row["lower_high"])


def test_measures_without_bounds_raise(small):
    for name, reason in (("AP", "fixed weights"), ("nDCG@10", "fixed weights"), ("DCG", "without a cutoff")):
        with pytest.raises(MeasureError, match=reason):
            bounds(*small, measures=name)
    with pytest.raises(SettingsError, match="from 1 on"):
        bounds(*small, depths=[0, 5])


def test_some_runs_are_shown_while_all_make_the_pool(small):
    options = {"p": 0.8, "depths": [5, 25], "pool_depth": 3}
    everything = bounds(*small, **options)
    shown = bounds(*small, **options, show=["run4", "run1"])
    assert list(dict.fromkeys(shown["runs"].column("run"))) == ["run4", "run1"]
    expected = {tuple(row) for row in everything["bounds"].rows if row[0] in ("run4", "run1")}
    assert {tuple(row) for row in shown["bounds"].rows} == expected
    alone = bounds(small[0], {"run4": small[1]["run4"]}, **options)
    shallow = [r["upper"] for r in alone["runs"].records() if r["pool"] == "depth 3"]
    upper = [r["upper"] for r in shown["runs"].records() if r["pool"] == "depth 3" and r["run"] == "run4"]
    assert upper[-1] < shallow[-1]  # others judged more of its documents
    assert shown.settings["show"] == ["run4", "run1"]
    assert bounds(*small, **options, show="run1")["means"].column("upper_low") != upper
    with pytest.raises(InputError, match="no run is called 'run'"):
        bounds(*small, show="run")
    with pytest.raises(SettingsError, match="no run is shown"):
        bounds(*small, show=[])


def test_two_systems_have_a_line_each(small, tmp_path):
    pytest.importorskip("matplotlib")
    figure = bounds(*small, p=0.8, pool_depth=3, show=["run0", "run5"]).plot()
    assert set(figure.table.column("run")) == {"run0", "run5"}
    assert len(figure.axes) == 2


@pytest.mark.parametrize("name", ["RBP@12", "P@8", "DCG@10", "RBP(p=0.6,graded=True)@25"])
def test_lists_that_reach_the_cutoff_have_the_bounds_of_their_unjudged_documents(small, name):
    qrels, runs = small
    assert all(len(docs) >= 25 for lists in runs.values() for docs in lists.values())
    cutoff = int(name.partition("@")[2])
    scores = rs.evaluate(qrels, runs, name, unjudged="bounds")
    rows = bounds(qrels, runs, p=0.5, measures=name, depths=[cutoff])["bounds"].records()
    matching = [row for row in rows if row["measure"] == name]
    for end, bound in zip(("lower", "upper"), scores.bounds(name), strict=True):
        np.testing.assert_allclose([row[end] for row in matching], bound.values.ravel(), atol=1e-12)
    assert any(row["upper"] > row["lower"] + 0.01 for row in matching)


def test_missing_topics_are_skipped_if_the_collection_says_so():
    qrels, runs = (
        {"q1": {"a": 1}, "q2": {"a": 1, "b": 0}},
        {"x": {"q1": ["a"]}, "y": {"q1": ["b"], "q2": ["a"]}},
    )
    options = {"p": 0.5, "depths": [1]}
    zero, skip = (
        rs.bounds(rs.Collection(qrels, runs, missing=missing), **options) for missing in ("zero", "skip")
    )
    assert [(row.run, row.topic) for row in skip.bounds] == [("x", "q1"), ("y", "q1"), ("y", "q2")]
    assert [row.lower for row in skip.runs] == [0.5, 0.25] != [row.lower for row in zero.runs]
    assert (skip.means[0].lower, skip.settings["missing"]) == (0.375, "skip")
