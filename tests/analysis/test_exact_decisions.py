"""Small decisions of analyses, each with a value worked out by hand: defaults, limits, hints, ties."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope import analysis
from rankscope.analysis import curve as curves
from rankscope.analysis.findings.basis import Basis
from rankscope.analysis.judge_leaderboards import COEFFICIENTS
from rankscope.analysis.leaderboard import tied_for_first
from rankscope.analysis.stats.bootstrap import _RELATIVE, _holding
from rankscope.analysis.stats.coefficients import ap_correlation, kendall
from rankscope.analysis.stats.intervals import (
    bootstrap_means,
    check_level,
    drawn_topics,
    expanded,
    percentile_intervals,
)
from rankscope.analysis.stats.matrices import row_means
from rankscope.analysis.stats.sampling import depth_pool
from rankscope.analysis.stats.significance import all_pairs, run_test
from rankscope.analysis.study.manifest import MANIFEST, read_manifest
from rankscope.certainty.pairs import SLACK
from rankscope.errors import InputError, SettingsError

TOPICS = [f"q{i}" for i in range(6)]
QRELS = {topic: {"a": 1, "b": 2, "c": 0} for topic in TOPICS}


def runs(number: int) -> dict[str, dict[str, list[str]]]:
    """Runs r1, r2, ... that differ from topic to topic."""
    orders = [["a", "b", "x"], ["b", "a", "c"], ["x", "c", "a"], ["c", "b"], ["a", "x", "b"], ["x"], ["b"]]
    return {
        f"r{n + 1}": {topic: orders[(n + i * (n + 1)) % 7] for i, topic in enumerate(TOPICS)}
        for n in range(number)
    }


def test_an_unknown_run_is_answered_with_three_existing_names() -> None:
    with pytest.raises(InputError) as caught:
        rs.verdict(rs.evaluate(QRELS, runs(7), "AP"), ("another", "r1"))
    assert caught.value.hint == "the runs are called r1, r2, r3 ..."


def test_bounds_have_the_default_depths() -> None:
    long = {"q": [f"d{i}" for i in range(1000)]}
    result = rs.bounds(rs.Collection({"q": {"d0": 1}}, {"r": long}), p=0.5)
    usual = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000]
    assert result.settings["depths"] == usual
    assert result["bounds"].column("depth") == usual
    for ratio, expected in ((None, None), (50, 50), ([50], 50), ([50, 20], [50, 20])):
        assert (
            rs.bounds(rs.Collection(QRELS, runs(2)), ratios=ratio, depths=[1]).settings["ratio"] == expected
        )


def test_negative_grades_count_as_non_relevant_in_orderings(tmp_path: Path) -> None:
    """In the file n and m have each other's rank, and neither is relevant, with grade 0 or -2; shares of the swaps."""
    (tmp_path / "r.txt").write_text("q Q0 n 1 1.0 r\nq Q0 m 2 2.0 r\nq Q0 a 3 0.5 r\n")
    result = rs.orderings(rs.evaluate({"q": {"a": 1, "n": -2, "m": 0}}, str(tmp_path / "r.txt"), ["P@1"]))
    (row,) = result["swaps"].records()
    assert (row["swapped"], row["nonrelevant"], row["equal"], row["different"]) == (2, 1, 0, 0)


def test_a_leaderboard_is_drawn_with_seed_1() -> None:
    scores = rs.evaluate(QRELS, runs(4), ["AP"])
    tables = [rs.leaderboard(scores, **seed)["leaderboard"].rows for seed in ({}, {"seed": 1}, {"seed": 2})]
    assert tables[0] == tables[1] != tables[2]


def test_bootstrap_means_leave_undefined_values_out() -> None:
    """Three topics of equal value have that mean in every sample that contains at least one of them."""
    means = bootstrap_means(np.array([[0.3, 0.3, np.nan, 0.3], [0.1, 0.4, 0.2, 0.9]]), 100, 1)
    assert means[0][~np.isnan(means[0])].tolist() == pytest.approx([0.3] * int((~np.isnan(means[0])).sum()))
    assert means[1].tolist() == pytest.approx(
        bootstrap_means(np.array([[0.1, 0.4, 0.2, 0.9]]), 100, 1)[0].tolist()
    )


@pytest.mark.parametrize("topics", [2, 3, 10])
def test_tails_of_few_topics_are_those_of_students_distribution(topics: int) -> None:
    expected = stats.norm.cdf(-np.sqrt(topics / (topics - 1)) * stats.t.ppf(1 - 0.05 / 2, topics - 1))
    assert expanded(0.05, topics) == pytest.approx(expected)
    assert expanded(0.05, 1) == 0.025


def test_a_manifest_asks_for_one_repetition_at_least_and_a_level_that_is_a_share(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q in QRELS for d, g in QRELS[q].items())
    )
    (tmp_path / "runs").mkdir()
    for name, lists in runs(3).items():
        text = "".join(
            f"{q} Q0 {d} {i} {9 - i} {name}\n"
            for q, ranking in lists.items()
            for i, d in enumerate(ranking, 1)
        )
        (tmp_path / "runs" / name).write_text(text)
    settings = rs.StudySettings(measures=["AP", "P@1"], repeats=1, replicates=20, ratios=[50])
    rs.study(rs.Collection(tmp_path / "qrels.txt", tmp_path / "runs"), settings, output=tmp_path / "study")
    file = tmp_path / "study" / MANIFEST
    content = json.loads(file.read_text())
    assert read_manifest(file)["settings"]["repeats"] == 1
    for name, wrong in (("repeats", 0), ("alpha", 1.5), ("alpha", -0.5)):
        changed = {**content, "settings": {**content["settings"], name: wrong}}
        file.write_text(json.dumps(changed))
        with pytest.raises(InputError, match=name):
            read_manifest(file)


def test_a_pool_has_at_least_one_rank() -> None:
    judged = rs.judge(rs.Qrels.from_dict(QRELS), rs.Run.from_dict(runs(1)["r1"]))
    assert len(depth_pool(judged, 1)) == len(judged.qrels)
    with pytest.raises(SettingsError, match="a pool of depth 0"):
        depth_pool(judged, 0)


def test_the_similarity_of_leaderboards_is_symmetric() -> None:
    a, b = np.array([0.9, 0.5, 0.4, 0.1]), np.array([0.5, 0.9, 0.1, 0.4])
    a[3], b[3] = 0.7, 0.95
    assert ap_correlation(a, b) != pytest.approx(ap_correlation(b, a))
    expected = (ap_correlation(a, b) + ap_correlation(b, a)) / 2
    (name,) = [name for name in COEFFICIENTS if "ap" in name.lower()]
    assert COEFFICIENTS[name](a, b) == COEFFICIENTS[name](b, a) == pytest.approx(expected)


def test_a_curve_has_the_requested_number_of_ranks_up_to_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "_DEEPEST", 5)
    run = {"q": ["a", "x"]}
    assert len(rs.curve(rs.Collection({"q": {"a": 1}}, run), run=None, topic="q", cutoff=5)["curve"]) == 5
    for wrong in (0, 6):
        with pytest.raises(SettingsError, match=f"cutoff={wrong}"):
            rs.curve(rs.Collection({"q": {"a": 1}}, run), run=None, topic="q", cutoff=wrong)


@pytest.mark.parametrize("size", [5, 12, 40])
def test_kendalls_p_equals_scipys_with_and_without_ties(size: int) -> None:
    rng = np.random.default_rng(size)
    for a, b in (
        (rng.permutation(size), rng.permutation(size)),
        (rng.integers(0, 3, size), rng.integers(0, 4, size)),
        (rng.integers(0, 3, size), rng.permutation(size)),
    ):
        actual, expected = kendall(a.astype(float), b.astype(float)), stats.kendalltau(a, b)
        assert actual.tau_b == pytest.approx(expected.statistic)
        assert actual.p == pytest.approx(expected.pvalue)


def test_single_topics_decide_nothing_about_a_pair_with_equal_means() -> None:
    """Equal means are certain only if neither run can win: an unjudged document lets either."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    same = {"q1": {"a": 2.0, "u": 1.0}, "q2": {"a": 2.0}}
    other = {"q1": {"a": 2.0}, "q2": {"a": 2.0, "v": 1.0}}
    judged = {"q1": {"a": 2.0}, "q2": {"a": 2.0}}
    result = rs.certain(rs.evaluate(qrels, {"x": same, "y": other, "z": judged}, "P@2"))
    pairs = {(row["a"], row["b"]): row for row in result["pairs"].records()}
    assert {row["order"] for row in pairs.values()} == {"="}
    assert [pairs[pair]["unjudged"] for pair in (("x", "y"), ("x", "z"), ("y", "z"))] == [False, False, False]
    alike = rs.certain(rs.evaluate(qrels, {"y": judged, "z": dict(judged)}, "P@2"))["pairs"].records()
    assert [row["unjudged"] for row in alike] == [True]


def test_percentiles_of_rows_with_and_without_numbers() -> None:
    """Undefined replicates are left out; a row of nothing else, or with an infinite one, has no interval."""
    rows = np.array([[0.0, 1.0, np.nan, 2.0], [np.nan] * 4, [0.0, np.inf, 1.0, 2.0], [4.0, 3.0, 2.0, 1.0]])
    low, high = percentile_intervals(rows, 0.25)
    assert low.tolist() == pytest.approx([0.5, np.nan, np.nan, 1.75], nan_ok=True)
    assert high.tolist() == pytest.approx([1.5, np.nan, np.nan, 3.25], nan_ok=True)


def test_a_level_is_a_share_and_one_replicate_is_enough() -> None:
    check_level(0.05, 1)
    for alpha, replicates in ((0, 1), (1, 1), (0.05, 0)):
        with pytest.raises(SettingsError):
            check_level(alpha, replicates)


def test_regions_of_k_end_with_the_longest_list() -> None:
    short = {"a": {"q": ["d"]}, "b": {"q": ["x"]}}
    for depth, lists in ((1, short), (2, short | {"b": {"q": ["x", "y"]}})):
        regions = rs.verdict(rs.evaluate({"q": {"d": 1}}, lists, "AP"), ("a", "b")).regions
        assert max(row.to for row in regions or () if row.family == "P@k") == depth


def test_studies_and_curves_have_the_usual_defaults() -> None:
    settings = rs.StudySettings(measures=["AP", "P@1"], repeats=1, replicates=20, ratios=[50])
    result = rs.study(rs.Collection(QRELS, runs(3)), settings)
    assert set(result["bounds"].column("p")) == {0.5, 0.8, 0.95}
    judged = rs.judge(rs.Qrels.from_dict(QRELS), rs.Runs([rs.Run.from_dict(runs(1)["r1"], "r1")]))
    assert len(curves.curve_from_judged(judged, "r1", "q0")["curve"]) == 1000


def test_a_run_without_the_topic_is_named_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "some.run").write_text("q1 Q0 a 1 1.0 tag\n")
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    for run, path in ((str(tmp_path / "some.run"), str(tmp_path / "some.run")), ({"q1": ["a"]}, None)):
        with pytest.raises(InputError, match="the run has no documents for topic 'q2'") as caught:
            rs.curve(rs.Collection(qrels, run), run=None, topic="q2")
        assert path is None or str(caught.value.path) == path


def test_a_pair_is_certain_together_only_if_it_is_certain_under_each_source() -> None:
    """With all documents judged and no ties, only the sample of topics makes a pair uncertain."""
    qrels = {f"q{i}": {"a": 1, "b": 0, "c": 0} for i in range(12)}
    lists = {
        "best": {q: {"a": 3.0, "b": 2.0} for q in qrels},
        "near": {q: {"b": 3.0, "c": 2.0} if q == "q0" else {"a": 3.0, "b": 2.0} for q in qrels},
        "none": {q: {"b": 3.0, "c": 2.0} for q in qrels},
    }
    pairs = rs.certain(rs.evaluate(qrels, lists, "P@1"))["pairs"].records()
    verdicts = {(row["a"], row["b"]): row for row in pairs}
    assert verdicts["best", "none"]["topics"] and verdicts["best", "none"]["together"]
    assert not verdicts["best", "near"]["topics"] and not verdicts["best", "near"]["together"]
    assert all(row["ties"] and row["unjudged"] for row in pairs)


@pytest.mark.parametrize("exchanged", [0, 1, 2])
def test_kendalls_p_is_exact_for_long_rankings_with_one_exchange_at_most(exchanged: int) -> None:
    """As in scipy, whose p is exact for more than 33 values only if nearly all pairs agree, or nearly none."""
    a = np.arange(40.0)
    b = a.copy()
    for k in range(exchanged):
        b[[2 * k, 2 * k + 1]] = b[[2 * k + 1, 2 * k]]
    for ranking in (b, -b):
        assert kendall(a, ranking).p == pytest.approx(stats.kendalltau(a, ranking).pvalue, rel=1e-9, abs=0)


def test_a_p_value_equal_to_the_level_is_not_significant(scored: Any) -> None:
    """Runs differ where chance is rarer than the level, not where it is as rare."""
    rng = np.random.default_rng(4)
    scores = scored({"AP": rng.random((3, 12)) + np.array([[0.3], [0.1], [0.0]])})

    def differ(alpha: float) -> bool:
        basis = Basis(scores, alpha, "t", "holm", 50, 1)
        return basis.differ(basis.matrices[rs.AP])

    first = Basis(scores, 0.05, "t", "holm", 50, 1)
    level = first.chance(first.matrices[rs.AP])
    assert 0 < level < 1
    assert not differ(level)
    assert differ(float(np.nextafter(level, 1)))


def test_the_hardest_topic_is_named_if_there_are_two_or_more(scored: Any) -> None:
    finding = rs.findings(scored({"AP": [[0.5, 0.0], [0.4, 0.2]]})).get("hard_topics")
    assert finding is not None
    assert (finding.numbers["topic"], finding.numbers["mean"], finding.numbers["empty"]) == ("t1", 0.1, 1)
    empty = rs.findings(scored({"AP": [[0.5, 0.0], [0.4, 0.0]]})).get("hard_topics")
    assert empty is not None and empty.numbers["empty"] == 1
    assert rs.findings(scored({"AP": [[0.5], [0.4]]})).get("hard_topics") is None


def test_runs_are_tied_for_first_until_the_selected_best_is_better_with_corrected_levels(scored: Any) -> None:
    """Only the correction for selecting the best run raises the second run's p value above alpha."""
    rise = np.array([[0.3], [0.2], [0.15], [0.0]])
    values = np.random.default_rng(29).random((4, 20)) * 0.4 + rise
    p = np.array([stats.ttest_rel(values[r], values[0]).pvalue for r in (1, 2, 3)])
    assert p[2] < p[1] < 0.03 < 2 * p[1] < p[0]
    assert tied_for_first(scored({"AP": values}), "AP", alpha=0.03) == [True, True, True, False]


def test_a_verdict_that_the_scale_reverses_is_counted() -> None:
    """One relevant document a topic, at rank 2, 3 or 4, or at rank 1 on 39 topics of 60 and nowhere on 21.

    AP is 1, 1/2, 1/3, 1/4 and 0 there, on the interval scale 1, .8, .6, .4 and 0: the rash run is better than the
    steady one by .15 and then worse by .15, with p = .018 both times; the pair of the rash and the third one is lost.
    """
    topics = [f"q{t}" for t in range(60)]
    runs = {
        "rash": {q: ["a" if t < 39 else "u", "v", "w", "x", "y"] for t, q in enumerate(topics)},
        "steady": {q: ["v", "a", "w", "x", "y"] for q in topics},
        "third": {q: ["v", "w", "a", "x", "y"] for q in topics},
        "fourth": {q: ["v", "w", "x", "a", "y"] for q in topics},
    }
    scores = rs.evaluate({q: {"a": 1} for q in topics}, runs, "AP")
    (row,) = rs.scale_effect(scores, length=5)["scale_effect"].records()
    counted = [
        row[name] for name in ("pairs", "significant", "significant_interval", "lost", "gained", "reversed")
    ]
    assert counted == [6, 6, 5, 1, 0, 1]
    assert row["changed"] == pytest.approx(2 / 6)


def test_means_of_rows_are_those_of_the_measure() -> None:
    """Check geometric means and sums, with and without undefined values, which are left out."""
    whole, hole = np.array([[0.1, 0.4], [0.2, 0.2]]), np.array([[0.1, 0.4, np.nan], [0.2, 0.2, 0.5]])
    averages = {"AP": ([0.25, 0.2], [0.25, 0.3]), "GMAP": ([0.2, 0.2], [0.2, 0.02 ** (1 / 3)])}
    for name, means in {**averages, "NumRel": ([0.5, 0.4], [0.5, 0.9])}.items():
        for values, expected in zip((whole, hole), means, strict=True):
            assert row_means(rs.measure(name), values).tolist() == pytest.approx(expected), name


def test_means_as_far_apart_as_the_slack_are_equal() -> None:
    """Gains of exactly the slack: no difference, so that either run may win by the label of an unjudged document."""
    qrels = {q: {"a": 1, "b": 2, "n": 0} for q in ("q1", "q2")}
    for gain, sign in ((SLACK, "="), (float(np.nextafter(SLACK, 1)), ">")):
        runs = {"ahead": {q: ["a", "u"] for q in qrels}, "behind": {q: ["n"] for q in qrels}}
        (row,) = rs.certain(rs.evaluate(qrels, runs, f"DCG(gains='1={gain!r},2=1')@5"))["pairs"].records()
        assert (row["a"], row["b"], row["difference"], row["order"]) == ("ahead", "behind", gain, sign)
        assert row["unjudged"] is (sign == ">")


def test_a_statistic_at_the_end_of_the_tolerance_is_tied() -> None:
    """Find the second largest of 3, 5 and slightly more than 5: within the tolerance, the later column."""
    for row, column in (([5.0, 5.0 * (1 + _RELATIVE), 3.0], 1), ([5.0, 5.0 * (1 + 3 * _RELATIVE), 3.0], 0)):
        ratio = np.array([row])
        columns, critical = _holding(ratio, np.empty(ratio.shape), 2)
        assert (columns.tolist(), critical.tolist()) == ([column], [5.0])


def test_judgments_are_revealed_a_hundred_at_a_time_with_a_target_of_95_percent() -> None:
    """Of 150 judged documents: none, a hundred, all; the usual settings are those of the result."""
    qrels = {"q": {f"d{i:03}": int(i % 3 == 0) for i in range(150)}}
    orders = [sorted(qrels["q"], key=lambda d, n=n: (int(d[1:]) * n) % 151) for n in (1, 2, 3)]
    result = rs.next(
        rs.evaluate(qrels, {f"r{n}": {"q": order} for n, order in enumerate(orders)}, "P@10"), simulate=True
    )
    assert [result.settings[name] for name in ("batch", "target", "seed")] == [100, 0.95, 1]
    for name in ("influence", "depth", "random"):
        shown = [row["judged"] for row in result["curve"].records() if row["order"] == name]
        assert shown == [0, 100, 150]


def test_topics_are_drawn_a_thousand_times_with_seed_1() -> None:
    first, same, other = (
        np.concatenate(list(drawn_topics(5, **seed))) for seed in ({}, {"seed": 1}, {"seed": 2})
    )
    assert first.shape == (1000, 5)
    assert (first == same).all() and (first != other).any()


@pytest.mark.parametrize("test", ["bootstrap", "tukey", "randomisation"])
def test_tests_of_pairs_are_drawn_with_seed_1_at_a_level_of_5_percent(test: str) -> None:
    values, pairs = np.random.default_rng(5).random((3, 25)), all_pairs(3)
    first, same, other = (
        run_test(test, values, *pairs, replicates=200, **more)
        for more in ({}, {"seed": 1, "alpha": 0.05}, {"seed": 2})
    )
    assert first.p.tolist() == same.p.tolist() != other.p.tolist()
    assert first.delta.tolist() == pytest.approx(same.delta.tolist(), nan_ok=True)


def test_usual_settings_are_the_same_everywhere() -> None:
    """A seed is 1, a level .05 and a target .95, wherever they need not be given."""
    usual = {"seed": 1, "alpha": 0.05, "target": 0.95}
    defaults = {
        (name, parameter.name): parameter.default
        for module in pkgutil.walk_packages(analysis.__path__, "rankscope.analysis.")
        for name, function in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name in usual and parameter.default not in (parameter.empty, None)
    }
    assert len(defaults) > 25
    assert {place: value for place, value in defaults.items() if value != usual[place[1]]} == {}


def test_runs_of_a_verdict_are_listed_best_first_whatever_their_names() -> None:
    lists = {"a": ["x", "y", "d"], "m": ["x", "d", "y"], "z": ["d", "x", "y"]}
    scores = rs.evaluate({"q": {"d": 1}}, {name: {"q": ranking} for name, ranking in lists.items()}, "AP")
    runs = rs.verdict(scores)["runs"]
    assert runs.column("run") == ["z", "m", "a"]
    assert runs.column("best_first") == runs.column("worst_first") == [1, 2, 3]
