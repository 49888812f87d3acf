"""Slices of topics: means, differences, interaction tests and the reversal alarm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.slices import slice_means
from rankscope.analysis.stats.interaction import permuted_anova, welch_anova
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.scores import Scores


def scores_of(values: Any, labels: Any, weights: Any = None) -> Scores:
    matrix = {"topic": [f"t{i}" for i in range(len(labels))]}
    matrix |= {f"r{r}": [float(x) for x in row] for r, row in enumerate(values)}
    data = {f"t{i}": {"lang": label} for i, label in enumerate(labels)}
    named = None if weights is None else {f"t{i}": w for i, w in enumerate(weights)}
    return rs.read_scores({"AP": matrix}).with_topic_data(data, named)


def test_welch_is_the_test_of_statsmodels() -> None:
    oneway = pytest.importorskip("statsmodels.stats.oneway")
    rng = np.random.default_rng(1)
    for sizes in ((5, 7), (6, 9, 30), (5, 5, 8, 12)):
        groups = [rng.normal(s / 5, 1 + s, size) for s, size in enumerate(sizes)]
        statistic, p = welch_anova([(values[None, :], None) for values in groups])
        expected = oneway.anova_oneway(groups, use_var="unequal", welch_correction=True)
        assert (statistic[0], p[0]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_welch_of_two_slices_is_the_squared_t_test_of_scipy() -> None:
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(4)
    z = rng.normal(0, 1, (3, 20))
    statistic, p = welch_anova([(z[:, :8], None), (z[:, 8:], None)])
    for row in range(3):
        expected = ttest_ind(z[row, :8], z[row, 8:], equal_var=False)
        assert (statistic[row], p[row]) == pytest.approx((expected.statistic**2, expected.pvalue), rel=1e-9)


def test_permutations_approach_the_exact_distribution() -> None:
    from itertools import combinations

    rng = np.random.default_rng(3)
    z = rng.normal(0, 1, 7)
    z[:3] += 1

    def statistic(first: tuple[int, ...]) -> float:
        parts = [[*first], [i for i in range(7) if i not in first]]
        return float(sum(len(part) * (z[part].mean() - z.mean()) ** 2 for part in parts))

    exact = np.mean([statistic(c) >= statistic((0, 1, 2)) - 1e-12 for c in combinations(range(7), 3)])
    p = permuted_anova([(z[None, :3], None), (z[None, 3:], None)], replicates=5000)[0]
    assert p == pytest.approx(exact, abs=0.03)


def test_slices_are_values_or_quantile_bins_or_derived() -> None:
    qrels = {f"q{t}": {f"d{k}": int(k <= t) for k in range(8)} for t in range(6)}
    runs = {
        name: {f"q{t}": [f"d{(k + s) % 8}" for k in range(4)] for t in range(6)}
        for s, name in enumerate("ab")
    }
    data = {
        f"q{t}": {"n": str(t), "day": f"2024-0{t + 1}-01", "lang": "en" if t % 2 else "it"} for t in range(5)
    }
    scores = rs.evaluate(qrels, runs, "AP", topic_data=data)

    def sizes(attribute: str) -> dict[str, int]:
        return {name: len(part.topics) for name, part in scores.by(attribute).items()}

    assert sizes("lang") == {"en": 2, "it": 3, "(none)": 1}
    assert sizes("n:2") == {"0–2": 3, "3–4": 2, "(none)": 1}
    assert sizes("day:2") == {"2024-01-01–2024-03-01": 3, "2024-04-01–2024-05-01": 2, "(none)": 1}
    assert sizes("recall_base:2") == {"1–3": 3, "4–6": 3} and sizes("judged") == {"8": 6}
    assert sum(sizes("difficulty:3").values()) == 6
    with pytest.raises(SettingsError, match="every topic has a different n; give quantile bins, such as n:4"):
        scores.by("n")
    text = scores.with_topic_data({topic: {"text": f"text {topic}"} for topic in qrels})
    with pytest.raises(SettingsError, match="every topic has a different text; name one with fewer values"):
        text.by("text")
    with pytest.raises(InputError, match="lang has the value 'it', and bins need numbers or dates"):
        scores.by("lang:2")
    with pytest.raises(InputError, match="no attribute of topics is called 'length'"):
        scores.by("length")


def test_a_single_slice_has_no_interaction_test() -> None:
    result = rs.compare(scores_of([[0.1, 0.2, 0.4], [0.3, 0.3, 0.3]], ["en"] * 3), by="lang")
    assert result.interactions is not None and result.slices is not None
    [test] = result.interactions
    assert np.isnan(test.p) and not test.significant and not test.alarm and len(result.slices) == 1


def test_means_of_slices_are_means_over_their_topics() -> None:
    rng = np.random.default_rng(2)
    values, weights, labels = rng.random((2, 20)), rng.random(20) + 0.1, ["x"] * 8 + ["y"] * 12
    for w in (None, weights):
        rows = slice_means(scores_of(values, labels, w), ["lang"])
        for row in rows:
            part = slice(0, 8) if row.slice == "x" else slice(8, 20)
            x, v = values[int(row.run[1]), part], np.ones(20)[part] if w is None else w[part]
            mean = v @ x / v.sum()
            error = np.sqrt(len(x) / (len(x) - 1) * np.square(v * (x - mean)).sum()) / v.sum()
            from scipy.stats import t

            freedom = (len(x) - 1) / len(x) * (v**2).sum() ** 2 / (v**4).sum()  # Satterthwaite
            half = t.ppf(0.975, freedom) * error
            assert (row.topics, row.value) == (len(x), pytest.approx(mean))
            assert (row.low, row.high) == pytest.approx((mean - half, mean + half))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_interval_of_a_slice_excludes_zero_exactly_if_its_difference_is_significant(alpha: float) -> None:
    from scipy.stats import t
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(8)
    labels, weights = ["x"] * 8 + ["y"] * 12 + ["z"] * 20, rng.random(40) + 0.1
    values = (
        rng.normal(0, 0.1, (7, 40))
        + np.linspace(0, 0.3, 7)[:, None]
        + 0.1 * rng.random((7, 3))[:, [0] * 8 + [1] * 12 + [2] * 20]
    )
    values[2] = values[1] + 0.01  # a constant difference has p = 0
    verdicts = set()
    for w in (None, weights):
        table = rs.compare(scores_of(values, labels, w), alpha=alpha, by="lang").slices
        assert table is not None and len(table) == 21 * 3
        p = np.array([row.p for row in table])
        rejected, adjusted, *_ = multipletests(p, alpha, "holm")
        # Holm rejects the k-th of m sorted p-values at alpha / (m - k), and retains the others at one level.
        ordered = alpha / (len(p) - np.minimum(np.arange(len(p)), rejected.sum()))
        levels = np.empty(len(p))
        levels[np.argsort(p, kind="stable")] = ordered
        for k, row in enumerate(table):
            assert row.adjusted == pytest.approx(adjusted[k]) and row.significant == rejected[k]
            assert (row.low > 0 or row.high < 0) == row.significant, row
            verdicts.add(row.significant)
            part = np.flatnonzero(np.array(labels) == row.slice)
            z = values[int(row.a[1]), part] - values[int(row.b[1]), part]
            if np.ptp(z) > 1e-9 and w is None:
                half = t.ppf(1 - levels[k] / 2, len(z) - 1) * z.std(ddof=1) / np.sqrt(len(z))
                exact = pytest.approx((z.mean() - half, z.mean() + half), rel=1e-9)
                assert (row.low, row.high) == exact or adjusted[k] > p[k] * alpha / levels[k] * (1 + 1e-9)
    assert verdicts == {True, False}


def test_a_planted_reversal_is_found_and_named() -> None:
    rng = np.random.default_rng(6)
    z = np.concatenate([rng.normal(0.2, 0.05, 40), rng.normal(-0.2, 0.05, 20)])
    base = rng.random(60) * 0.2 + 0.4
    scores = scores_of([base + z, base], ["en"] * 40 + ["it"] * 20)
    result = rs.compare(scores, by="lang")
    assert result.interactions is not None and result.slices is not None
    [test] = result.interactions
    assert (test.test, test.slices, test.alarm) == ("welch", 2, "reversed") and test.adjusted < 1e-9
    assert [row.slice for row in result.slices if row.significant and row.difference < 0] == ["it"]
    finding = rs.findings(scores, by=["lang"]).get("slices")
    assert finding is not None
    assert finding.sentence.startswith(
        "r0 leads by AP over all topics, but r1 beats r0 significantly where lang is it; the lead is reversed for 1"
    )
    gate = rs.gate(scores, "r1", by="lang")
    assert gate.interactions is not None and gate.interactions[0].alarm == "reversed"
    assert "Do differences vary between slices?" in gate.report()


def simpson(rng: np.random.Generator) -> Scores:
    """Return two runs of which one leads on every slice, and the other overall, because they miss other topics."""
    labels = np.array(["easy"] * 40 + ["hard"] * 40)
    level = np.where(labels == "easy", 0.8, 0.2)
    a = level + rng.normal(0, 0.02, 80)
    b = level + 0.05 + rng.normal(0, 0.02, 80)
    a[40 + rng.choice(40, 30, replace=False)] = np.nan
    b[rng.choice(40, 30, replace=False)] = np.nan
    return scores_of([a, b], labels)


@pytest.mark.filterwarnings("ignore:.* which are left out:UserWarning")
def test_the_alarm_finds_100_of_100_planted_simpson_reversals() -> None:
    rng = np.random.default_rng(8)
    alarms = []
    for _ in range(100):
        result = rs.compare(simpson(rng), by="lang").interactions
        assert result is not None
        alarms.append(result[0].alarm)
    assert alarms == ["Simpson"] * 100


def test_alarm_and_interaction_test_keep_their_level_without_interaction() -> None:
    """More kinds of collections are in docs/make_slices.py."""
    rng = np.random.default_rng(9)
    n_samples, n_alarms, n_significant = 1000, 0, 0
    for _ in range(n_samples):
        base = rng.random(40)
        scores = scores_of([base + rng.normal(0, 0.1, 40), base], rng.choice(["x", "y", "z"], 40))
        result = rs.compare(scores, by="lang").interactions
        assert result is not None
        n_alarms += result[0].alarm != ""
        n_significant += result[0].significant
    # More than 66 of 1,000 at a level of 5 % has a probability of 1 %.
    assert n_alarms <= 66 and n_significant <= 66


def test_small_slices_and_identical_runs_are_permuted() -> None:
    scores = scores_of([[0.1, 0.2, 0.5, 0.9, 0.4], [0.1, 0.2, 0.5, 0.9, 0.4]], ["x", "x", "x", "y", "y"])
    result = rs.compare(scores, by="lang").interactions
    assert result is not None
    assert (result[0].test, result[0].p, result[0].alarm) == ("permutation", 1.0, "")


def test_commands_print_slices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rs.simulate(systems=3, topics=24, depth=20, seed=3, pool_depth=10).write(tmp_path / "c")
    topics = list(rs.read_qrels(tmp_path / "c/qrels.txt").topics)
    rows = "".join(f"{t},{'en' if i % 2 else 'it'},{i + 1},{1 + i % 5}\n" for i, t in enumerate(topics))
    (tmp_path / "t.csv").write_text(f"topic,lang,length,traffic\n{rows}")
    files = [str(tmp_path / "c/qrels.txt"), str(tmp_path / "c/runs"), "-m", "AP"]
    options = [
        "--topic-data",
        str(tmp_path / "t.csv"),
        "--weights",
        "traffic",
        "--by",
        "lang",
        "--by",
        "length:4",
    ]

    def tables(command: str, *more: str) -> dict[str, Any]:
        main([command, *files, *options, *more, "-f", "json", "--quiet"])
        document = json.loads(capsys.readouterr().out)
        assert document["settings"]["weights"] == "traffic"
        assert document["settings"]["by"] == ["lang", "length:4"]
        return dict(document["tables"])

    assert {row["slice"] for row in tables("eval")["slices"]} >= {"en", "it", "1–6"}
    compared = tables("compare")
    assert len(compared["interactions"]) == 3 * 2 and len(compared["slices"]) == 3 * 6
    assert any(row["kind"] == "slices" for row in tables("findings")["findings"])
    run = sorted((tmp_path / "c/runs").iterdir())[0]
    assert len(tables("gate", "--baseline", str(run))["interactions"]) == 3 * 2
    with pytest.raises(SettingsError, match="power does not honour weights="):
        rs.power(rs.Collection(*files[:2], weights=dict.fromkeys(topics, 1)).evaluate("AP"))


def test_the_report_has_the_finding_about_slices() -> None:
    from rankscope.reporting import build_document

    generated = rs.simulate(systems=3, topics=12, depth=20, seed=3, pool_depth=10)
    data = {topic: {"lang": "en" if i % 2 else "it"} for i, topic in enumerate(generated.qrels)}
    collection = rs.Collection(generated.qrels, generated.runs, topic_data=data)
    kinds = [finding["kind"] for finding in build_document(collection, [], by="lang")["findings"]]
    assert "slices" in kinds
    weighted = rs.Collection(generated.qrels, generated.runs, weights=dict.fromkeys(generated.qrels, 2))
    tied = [build_document(inputs, [])["tied_first"] for inputs in (weighted, collection)]
    assert tied[0] == tied[1]
