"""Ranks of the runs across measures, cutoffs, pools and samples, counted again from the scores."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

import rankscope as rs
from rankscope.analysis.stats.intervals import drawn_topics
from rankscope.errors import InputError, SettingsError


@pytest.fixture(scope="module")
def simulated() -> Any:
    return rs.simulate(systems=9, topics=14, grades=3, depth=60, seed=6, pool_depth=20)


def follow(qrels: Any, runs: Any, measures: Any, across: str = "measures", **options: Any) -> Any:
    missing = options.pop("missing", "zero")
    return rs.certain(rs.evaluate(qrels, runs, measures, missing=missing), across=across, **options)


def _column(result: rs.Result, by: str, name: str = "rank") -> list[float]:
    return [row[name] for row in result["ranks"].records() if row["by"] == by]


def test_ranks_are_those_of_the_means(simulated: Any) -> None:
    measures = ["nDCG@10", "P@5", "BalancePoint"]
    result = follow(simulated.qrels, simulated.runs, measures)
    scores = rs.evaluate(simulated.qrels, simulated.runs, measures)
    for name, sign in zip(map(str, scores.measures), (-1, -1, 1), strict=True):
        means = scores.mean(name).round(12)
        assert _column(result, name) == rankdata(sign * means, "average").tolist()
        assert _column(result, name, "value") == pytest.approx(means)


def test_changes_count_the_reversed_pairs(simulated: Any) -> None:
    result = follow(simulated.qrels, simulated.runs, ["AP", "P@5", "RR"])
    first = _column(result, "AP")
    for row in result["changes"].records():
        other = _column(result, row["by"])
        pairs = [
            (first[i] - first[j]) * (other[i] - other[j])
            for i, j in combinations(range(9), 2)
            if first[i] != first[j] and other[i] != other[j]
        ]
        swapped = sum(product < 0 for product in pairs)
        assert (row["pairs"], row["swapped"], row["share"]) == (len(pairs), swapped, swapped / len(pairs))
        assert other[list(simulated.runs).index(row["best"])] == min(other)


def test_cutoffs_are_other_measures(simulated: Any) -> None:
    result = follow(simulated.qrels, simulated.runs, "nDCG@10", across="cutoffs", cutoffs=[5, 10, 30])
    names = list(dict.fromkeys(result["ranks"].column("by")))
    assert names == ["nDCG@10", "nDCG@5", "nDCG@30"]
    scores = rs.evaluate(simulated.qrels, simulated.runs, names)
    for name in names:
        assert _column(result, name, "value") == pytest.approx(scores.mean(name))


def test_pools_are_those_of_pool_robustness(simulated: Any) -> None:
    result = follow(
        simulated.qrels, simulated.runs, "AP", across="pools", pool_depth=[5], ratios=[50], seed=3
    )
    means = rs.pools(rs.evaluate(simulated.qrels, simulated.runs, "AP"), pool_depth=[5], ratios=[50], seed=3)[
        "means"
    ].records()
    for by, pool in (("all judgments", "full"), ("depth 5", "depth 5"), ("50%", 50)):
        assert _column(result, by, "value") == [row["value"] for row in means if row["pool"] == pool]


@pytest.mark.parametrize("measure", ["AP", "GMAP", "NumRelRet"])
def test_samples_are_topics_drawn_with_replacement(simulated: Any, measure: str) -> None:
    result = follow(simulated.qrels, simulated.runs, measure, across="samples", samples=3, seed=5)
    scores = rs.evaluate(simulated.qrels, simulated.runs, measure)
    own = scores.measures[0]
    [samples] = drawn_topics(14, 1000, seed=5)
    for k in range(3):
        drawn = [own.mean(row[samples[k]]) for row in scores.matrix(own).values]
        assert _column(result, f"sample {k + 1}", "value") == pytest.approx(drawn)
    assert _column(result, "all topics", "value") == pytest.approx(scores.mean(own))


def test_ranges_are_those_of_the_leaderboard(simulated: Any) -> None:
    result = follow(simulated.qrels, simulated.runs, ["AP", "RR"], seed=2)
    board = rs.leaderboard(rs.evaluate(simulated.qrels, simulated.runs, "AP"), seed=2)[
        "leaderboard"
    ].records()
    ranges = {row["run"]: (row["first_rank"], row["last_rank"]) for row in result["runs"].records()}
    assert ranges == {row["run"]: (row["first_rank"], row["last_rank"]) for row in board}


def test_equal_means_share_the_middle_of_their_ranks() -> None:
    runs = {"x": {"q": ["a"]}, "y": {"q": ["a"]}, "z": {"q": ["n", "a"]}}
    assert _column(follow({"q": {"a": 1}}, runs, "RR"), "RR") == [1.5, 1.5, 3.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"across": "pool"}, "did you mean"),
        ({"across": "samples", "measures": "AP", "samples": 0}, "at least 1"),
        ({"across": "cutoffs", "measures": "Twist"}, "no other cutoff"),
        ({"measures": "Judged@10"}, "does not order runs"),
    ],
)
def test_invalid_arguments_of_rank_changes_raise(
    simulated: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        follow(simulated.qrels, simulated.runs, **{"measures": ["AP", "RR"], **settings})


def test_cutoffs_pools_and_samples_are_those_of_the_first_measure(simulated: Any) -> None:
    several = follow(simulated.qrels, simulated.runs, ["P@5", "AP", "NumRet"], "samples", samples=2)
    alone = follow(simulated.qrels, simulated.runs, "P@5", "samples", samples=2)
    assert several["ranks"].rows == alone["ranks"].rows and several.settings == alone.settings


def test_options_of_ties_and_labels_change_no_rank(simulated: Any) -> None:
    plain, bounded = (
        rs.certain(rs.evaluate(simulated.qrels, simulated.runs, "P@5", **options), across="pools")
        for options in ({}, {"ties": "worst", "unjudged": "bounds"})
    )
    assert plain["ranks"].rows == bounded["ranks"].rows and plain.settings == bounded.settings


def test_one_run_has_no_order() -> None:
    with pytest.raises(InputError, match="at least two runs"):
        follow({"q": {"a": 1}}, {"x": {"q": ["a"]}}, "RR")


def test_undefined_means_rank_last() -> None:
    runs = {"x": {"q1": ["a"]}, "y": {"q2": ["b", "a"]}}
    result = follow({"q1": {"a": 1}, "q2": {"a": 0, "c": 1}}, runs, ["RR", "P@1"], missing="skip")
    assert np.isfinite(result["ranks"].column("rank")).all()
