"""Measures against themselves on an interval scale, recomputed with scipy; verdicts that it changes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError


def rows(result):
    return {r["measure"]: r for r in result["scale_effect"].records()}


def test_rankings_and_verdicts_are_those_of_scipy(small):
    qrels, runs = small
    records = rows(rs.scale_effect(rs.evaluate(qrels, runs, ["AP", "RBP", "P@3"]), length=6, alpha=0.2))
    assert list(records) == ["AP@6", "RBP@6", "P@3"]
    for name, row in records.items():
        assert row["interval"] == f"Interval(measure='{name}')@6"
        scores = rs.evaluate(qrels, runs, [name, row["interval"]])
        plain, mapped = (np.round(scores.matrix(m).values, 12) for m in scores.measures)
        tau = stats.kendalltau(plain.mean(axis=1).round(10), mapped.mean(axis=1).round(10)).statistic
        assert row["tau"] == pytest.approx(tau, abs=1e-12)
        pairs = [(a, b) for a in range(len(plain)) for b in range(a + 1, len(plain))]
        significant = [
            {(a, b) for a, b in pairs if stats.ttest_rel(values[a], values[b]).pvalue < 0.2}
            for values in (plain, mapped)
        ]
        assert row["pairs"] == len(pairs)
        assert (row["significant"], row["significant_interval"]) == tuple(map(len, significant))
        assert row["lost"] == len(significant[0] - significant[1])
        assert row["gained"] == len(significant[1] - significant[0])
        assert row["changed"] == pytest.approx((row["lost"] + row["gained"] + row["reversed"]) / len(pairs))


def test_variances_are_compared_as_scipy_and_numpy_do(small):
    qrels, runs = small
    records = rows(rs.scale_effect(rs.evaluate(qrels, runs, ["AP", "RBP", "P@3", "RR"]), length=6))
    orders = set()
    for name, row in records.items():
        scores = rs.evaluate(qrels, runs, [name, row["interval"]])
        plain, mapped = (
            scores.matrix(measure).values.var(axis=1, ddof=1).round(12) for measure in scores.measures
        )
        assert row["variance"] == pytest.approx(plain.mean(), rel=1e-9)
        assert row["variance_interval"] == pytest.approx(mapped.mean(), rel=1e-9)
        assert row["tau_variance"] == pytest.approx(stats.kendalltau(plain, mapped).statistic, abs=1e-12)
        pairs = [(a, b) for a in range(len(plain)) for b in range(a)]
        opposite = sum((plain[a] - plain[b]) * (mapped[a] - mapped[b]) < 0 for a, b in pairs)
        assert row["discordant_variance"] == opposite
        orders.add((row["tau"], row["tau_variance"]))
    assert any(tau != spread for tau, spread in orders)  # variances are more than the means again


def test_evenly_spaced_values_change_nothing():
    # where every topic has as many relevant documents as there are ranks, P is on an interval scale
    rng = np.random.default_rng(0)
    qrels = {f"q{t}": {f"d{k}": 1 for k in range(8)} for t in range(12)}
    documents = [*(f"d{k}" for k in range(8)), *(f"x{k}" for k in range(8))]
    runs = {f"r{r}": {q: rng.permutation(documents).tolist() for q in qrels} for r in range(5)}
    (row,) = rows(rs.scale_effect(rs.evaluate(qrels, runs, ["P@5"]), length=5)).values()
    assert (row["tau"], row["tau_variance"], row["scales"], row["changed"]) == (1, 1, 1, 0)


def test_graded_measures_get_shorter_lists_where_there_are_too_many_rankings(small):
    records = rows(rs.scale_effect(rs.evaluate(*small, ["AP", "nDCG"]), length=10))
    assert records["AP@10"]["length"] == 10
    (graded,) = [row for name, row in records.items() if name.startswith("nDCG")]
    assert 1 < graded["length"] < 10
    assert graded["interval"] == f"Interval(measure='nDCG@{graded['length']}')@{graded['length']}"


def test_measures_without_a_scale_have_a_note_with_the_reason(small):
    records = rows(rs.scale_effect(rs.evaluate(*small, ["Bpref", "Rprec", "Judged@5", "alpha_nDCG"])))
    assert {name: row["tau"] for name, row in records.items()} == dict.fromkeys(records)
    assert "cannot be cut" in records["Bpref"]["note"]
    assert "unjudged" in records["Judged@5"]["note"]


def test_mistakes_are_refused(small):
    with pytest.raises(SettingsError, match="lists of 0 documents"):
        rs.scale_effect(rs.evaluate(*small, ["AP"]), length=0)
    with pytest.raises(InputError, match="two runs and two topics"):
        rs.scale_effect(rs.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"]))


def test_a_study_has_the_table(small):
    study = rs.study(rs.Collection(*small), rs.StudySettings(measures="AP nDCG", repeats=1, replicates=10))
    assert [r["measure"].partition("@")[0] for r in study["scale_effect"].records()] == ["AP", "nDCG"]
    assert "tables/scale_effect.tex" in study.files()


@pytest.fixture(scope="module")
def collection_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intervals")
    rs.simulate(systems=6, topics=12, depth=30, seed=4, pool_depth=15).write(folder)
    return folder


def test_changes_are_those_of_the_two_comparisons(collection_dir):
    files = collection_dir / "qrels.txt", collection_dir / "runs"
    measures = ["RR@5", "AP@5", "P@5"]
    result = rs.compare(rs.evaluate(*files, measures), also_interval=5)
    for row in result["intervals"].records():
        scores = rs.evaluate(*files, [row["measure"], row["interval"]])
        pairs = rs.compare(scores)["pairs"].records()
        half = len(pairs) // 2
        expected = []
        for before, after in zip(pairs[:half], pairs[half:], strict=True):
            assert (before["a"], before["b"]) == (after["a"], after["b"])
            if before["significant"] != after["significant"]:
                expected.append((before["a"], before["b"], "lost" if before["significant"] else "gained"))
        actual = [
            (r["a"], r["b"], r["change"])
            for r in result["changes"].records()
            if r["measure"] == row["measure"]
        ]
        assert actual == expected
        assert row["pairs"] == half and row["lost"] + row["gained"] + row["reversed"] == len(expected)
    assert result["changes"].rows, "the simulated runs have such pairs"


def test_measures_without_an_interval_scale_say_why(collection_dir):
    scores = rs.evaluate(collection_dir / "qrels.txt", collection_dir / "runs", ["Bpref"])
    (row,) = rs.compare(scores, also_interval=5)["intervals"].records()
    assert row["interval"] is None and "cannot be cut" in row["note"]


def test_scores_without_lists_are_refused():
    matrix = rs.evaluate(
        {"q": {"a": 1}, "r": {"a": 1}}, {n: {"q": ["a"], "r": ["a"]} for n in "xy"}, ["AP"]
    ).matrix("AP")
    with pytest.raises(InputError, match="needs rankings"):
        rs.compare(matrix, also_interval=5)


def test_the_command(collection_dir, capsys):
    command = [
        "compare",
        str(collection_dir / "qrels.txt"),
        str(collection_dir / "runs"),
        "-m",
        "RR@5",
        "--also-interval",
        "5",
    ]
    assert main([*command, "-f", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert tables["intervals"][0]["interval"] == "Interval(measure='RR@5')@5" and "changes" in tables
    assert main([*command, "-f", "table"]) == 0
    assert "Verdicts changed by an interval scale, 5 ranks" in capsys.readouterr().out
