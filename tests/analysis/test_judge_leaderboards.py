"""Conclusions about judges, compared with plain loops over judges and pairs of runs."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

import rankscope as rs
from rankscope.errors import InputError, SettingsError


def collection(seed: int, judges: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = random.Random(seed)
    topics, documents = [f"q{t}" for t in range(10)], [f"d{d}" for d in range(20)]
    truth = {t: {d: int(rng.random() < 0.3) for d in documents} for t in topics}
    panel = {
        f"j{j}": {
            t: {d: g ^ (rng.random() < 0.1 * j) for d, g in grades.items()} for t, grades in truth.items()
        }
        for j in range(judges)
    }
    runs = {
        f"r{r}": {
            t: sorted(documents, key=lambda d, t=t, r=r: -0.3 * r * truth[t][d] + rng.random())
            for t in topics
        }
        for r in range(4)
    }
    return panel, runs


@pytest.mark.parametrize("seed", range(6))
def test_preferences_are_those_of_plain_loops(seed: int) -> None:
    panel, runs = collection(seed)
    result = rs.judges(panel, rs.Collection(None, runs), "AP", replicates=20)
    values = [rs.evaluate(grades, runs, "AP").matrix("AP").values for grades in panel.values()]
    names = list(runs)
    pairs = list(combinations(range(len(runs)), 2))
    expected = {}
    proved = []
    for v in values:
        p = np.array([ttest_rel(v[a], v[b]).pvalue for a, b in pairs])
        order = np.argsort(p)
        steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        adjusted = np.empty_like(p)
        adjusted[order] = steps
        proved.append(adjusted < 0.05)
    for i, (a, b) in enumerate(pairs):
        gaps = [float(v[a].mean() - v[b].mean()) for v in values]
        expected[names[a], names[b]] = (
            sum(gap > 1e-12 for gap in gaps),
            sum(gap < -1e-12 for gap in gaps),
            sum(bool(s[i]) and gap > 0 for s, gap in zip(proved, gaps, strict=True)),
            sum(bool(s[i]) and gap < 0 for s, gap in zip(proved, gaps, strict=True)),
        )
    assert result.pairs is not None
    found = {(r.a, r.b): (r.prefer_a, r.prefer_b, r.significant_a, r.significant_b) for r in result.pairs}
    assert found == expected
    shared = sum(3 in counts[:2] for counts in expected.values())
    sentences = {row.kind: row.sentence for row in result.conclusions}
    assert sentences["shared"] == f"all 3 judges order {shared} of 6 pairs of runs alike"
    leaders = {names[int(v.mean(axis=1).argmax())] for v in values}
    assert ("leads under all 3 judges" in sentences["leader"]) == (len(leaders) == 1)


def test_runs_with_equal_means_share_the_lead() -> None:
    grades = {"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 1}, "z": {"a": 1, "b": 0}}
    panel = {judge: {"q": by_document, "r": by_document} for judge, by_document in grades.items()}
    documents = {"first": ["a"], "second": ["b"], "last": ["c"]}
    runs = rs.Collection(None, {run: {"q": ranking, "r": ranking} for run, ranking in documents.items()})
    two = rs.judges({name: panel[name] for name in "xy"}, runs, "P@1", replicates=10)
    assert two.conclusions[0].sentence == "first and second lead with equal means under both judges"
    three = rs.judges(panel, runs, "P@1", replicates=10)
    expected = "the leader depends on the judge: first and second under x and y, first under z"
    assert three.conclusions[0].sentence == expected


def test_the_leader_that_depends_on_the_judge_is_named() -> None:
    panel = {
        "x": {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 0}},
        "y": {"q": {"a": 0, "b": 1}, "r": {"a": 0, "b": 1}},
    }
    runs = {"first": {"q": ["a"], "r": ["a"]}, "second": {"q": ["b"], "r": ["b"]}}
    result = rs.judges(panel, rs.Collection(None, runs), "AP", replicates=10)
    assert (
        next(iter(result.conclusions)).sentence
        == "the leader depends on the judge: first under x, second under y"
    )


def test_a_reference_is_compared_with_all_others() -> None:
    panel, _ = collection(1)
    result = rs.judges(panel, reference="j1", replicates=10)
    assert {(row.a, row.b) for row in result.confusion} == {("j1", "j0"), ("j1", "j2")}
    with pytest.raises(SettingsError, match="no judge is called 'j9'"):
        rs.judges(panel, reference="j9")


def test_the_consensus_is_the_lower_median() -> None:
    panel = {
        "x": {"q": {"a": 0, "b": 2, "c": 1}}, "y": {"q": {"a": 1, "b": 0, "c": 3}}, "z": {"q": {"a": 3, "b": 1}},
    }  # fmt: skip
    result = rs.judges(panel, consensus=True, replicates=10)
    pairs = {(row.grade_a, row.grade_b) for row in result.confusion if (row.a, row.b) == ("x", "consensus")}
    assert pairs == {(0, 1), (2, 1), (1, 1)}
    with pytest.raises(InputError, match="called consensus already"):
        rs.judges({"x": panel["x"], "consensus": panel["y"]}, consensus=True)


def test_equal_judges_are_alike() -> None:
    panel, runs = collection(2, judges=2)
    judged = {"x": panel["j0"], "y": panel["j0"], "z": panel["j1"]}
    result = rs.judges(judged, rs.Collection(None, runs), "AP", replicates=10)
    (alike,) = [row.sentence for row in result.conclusions if row.kind == "alike"]
    assert "x" in alike and " and " in alike
