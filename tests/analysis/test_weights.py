"""Weights of topics: every mean, interval and test, against formulas, statsmodels and repeated topics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.analysis.stats.intervals import bootstrap_means, t_intervals
from rankscope.analysis.stats.significance import run_test
from rankscope.analysis.stats.weighting import contributions, linearise
from rankscope.errors import InputError, SettingsError
from rankscope.measures.base import weighted_means
from rankscope.scores import Scores

CASES = [
    case
    for case in json.loads((Path(__file__).parents[1] / "golden/science.json").read_text())["cases"]
    if case["function"] == "weighted_mean"
]
QRELS = {f"q{t}": {f"d{k}": (k + t) % 3 for k in range(6)} for t in range(8)}
RUNS = {
    name: {f"q{t}": [f"d{(k * step + t * shift) % 7}" for k in range(5)] for t in range(8)}
    for name, step, shift in (("a", 1, 1), ("b", 2, 3), ("c", 3, 2))
}
MEASURES = "AP nDCG@3 GMAP NumRelRet RR Twist Bpref"


def scores_of(values: Any, weights: Any = None) -> Scores:
    matrix = {"topic": [f"t{i}" for i in range(len(values[0]))]}
    matrix |= {f"r{r}": [float(x) for x in row] for r, row in enumerate(values)}
    scores = rs.read_scores({"AP": matrix})
    if weights is None:
        return scores
    return scores.with_topic_data(weights={f"t{i}": w for i, w in enumerate(weights)})


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_mean_variance_and_effective_topics_are_the_golden_ones(case: dict[str, Any]) -> None:
    values, weights = (np.array(case["inputs"][name], float) for name in ("values", "weights"))
    expected = case["expected"]
    u = linearise(values[None, :], weights)[0]
    assert weighted_means(values[None, :], weights)[0] == pytest.approx(expected["mean"], rel=1e-12)
    assert u.mean() == pytest.approx(expected["mean"], rel=1e-12)
    assert u.var(ddof=1) / len(u) == pytest.approx(expected["variance"], rel=1e-12)
    scores = scores_of([values], weights)
    assert scores.settings["effective_topics"] == pytest.approx(expected["effective"], rel=1e-12)
    assert scores.mean("AP")[0] == pytest.approx(expected["mean"], rel=1e-12)


def test_weighted_t_tests_and_intervals_are_those_of_robust_weighted_least_squares() -> None:
    sm = pytest.importorskip("statsmodels.api")
    from scipy.stats import t as student

    rng = np.random.default_rng(1)
    for n in (3, 10, 40):
        a, b, weights = rng.random((3, n))
        fit = sm.WLS(a - b, np.ones(n), weights=weights).fit(cov_type="HC1", use_t=True)
        test = run_test(
            "t", np.array([a, b]), np.array([0]), np.array([1]), correction="none", weights=weights
        )
        assert test.difference[0] == pytest.approx(fit.params[0], rel=1e-9)
        # statsmodels has n - 1 degrees of freedom, with which intervals of unequal weights cover too little.
        squares = weights**2
        freedom = max((n - 1) / n * squares.sum() ** 2 / (squares**2).sum(), 1)
        assert test.p[0] == pytest.approx(2 * student.sf(abs(fit.tvalues[0]), freedom), rel=1e-9)
        half = student.ppf(0.975, freedom) * fit.bse[0]
        assert (test.low[0], test.high[0]) == pytest.approx(
            (fit.params[0] - half, fit.params[0] + half), rel=1e-9
        )
        described = sm.stats.DescrStatsW(a, weights)
        low, high = t_intervals(a[None, :], weights=weights)
        assert (low[0] + high[0]) / 2 == pytest.approx(described.mean, rel=1e-9)


@pytest.mark.parametrize(("spread", "topics"), [(0.5, 25), (1.0, 25), (1.0, 100), (1.5, 50)])
def test_weighted_intervals_cover_the_population_for_unequal_weights(spread: float, topics: int) -> None:
    rng = np.random.default_rng(topics)
    inside = []
    for _ in range(40):  # blocks of samples with the same weights: rows share them
        weights = np.exp(rng.normal(0, spread, topics))
        low, high = t_intervals(rng.beta(2, 2, (50, topics)), weights=weights)
        inside.append(((low <= 0.5) & (high >= 0.5)).mean())
    assert 0.93 <= np.mean(inside) <= 0.975  # 2,000 intervals: standard error 0.5 %


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(1, 4)), min_size=2, max_size=12))
def test_integer_weights_give_the_mean_of_repeated_topics(rows: list[tuple[float, float, int]]) -> None:
    a, b, weights = zip(*rows, strict=True)
    times = np.array(weights)
    once, repeated = scores_of([a, b], weights), scores_of([np.repeat(a, times), np.repeat(b, times)])
    assert once.mean("AP") == pytest.approx(repeated.mean("AP"), rel=1e-12, abs=1e-12)
    pair, same = rs.compare(once).pairs[0], rs.compare(repeated).pairs[0]
    assert pair.difference == pytest.approx(same.difference, rel=1e-9, abs=1e-11)


def results(scores: Scores) -> dict[str, dict[str, str]]:
    """Return all tables of all analyses that honour weights."""
    found = {
        "leaderboard": rs.leaderboard(scores, replicates=50),
        "gate": rs.gate(scores.with_measures(["AP", "nDCG@3"]), "a"),
        "correlate": rs.correlate(scores),
        "findings": rs.findings(scores, replicates=50),
        **{
            test: rs.compare(scores, test=test, replicates=50)  # type: ignore[arg-type]
            for test in ("t", "randomisation", "bootstrap", "tukey")
        },
    }
    tables = {
        name: {key: table.tsv() for key, table in result.tables.items()} for name, result in found.items()
    }
    return {**tables, "means": {"means": scores.means_table().tsv()}}


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(weight=st.floats(1e-3, 1e3), missing=st.sampled_from(["zero", "skip"]))
@settings(max_examples=3, deadline=None)
def test_equal_weights_give_the_same_bits_as_none(weight: float, missing: str) -> None:
    plain = rs.evaluate(QRELS, RUNS, MEASURES, missing=missing)
    for each in (1, weight):
        weighted = rs.evaluate(QRELS, RUNS, MEASURES, missing=missing, weights=dict.fromkeys(QRELS, each))
        assert weighted.mean("AP").tobytes() == plain.mean("AP").tobytes()
        measures = ["AP", "nDCG@3", "RR", "Twist"]
        assert results(weighted.with_measures(measures)) == results(plain.with_measures(measures))


def test_nearly_equal_weights_give_nearly_the_unweighted_results() -> None:
    """The weighted formulas themselves, which equal weights do not reach."""
    plain = rs.evaluate(QRELS, RUNS, MEASURES)
    weights = 1 + 1e-9 * np.arange(len(plain.topics))
    weighted = replace(plain, weights=weights)
    for measure in plain.measures:
        assert weighted.mean(measure) == pytest.approx(plain.mean(measure), rel=1e-6)
    values = plain.matrix("AP").values
    for test in ("t", "randomisation", "bootstrap", "tukey"):
        one, other = (
            run_test(
                test,
                values,
                np.array([0, 0, 1]),
                np.array([1, 2, 2]),
                correction=None,
                weights=w,
                replicates=99,
            )
            for w in (None, weights)
        )
        assert other.p == pytest.approx(one.p, abs=1e-6)
        assert other.half == pytest.approx(one.half, rel=1e-6)
    board, same = (list(rs.leaderboard(scores, replicates=99).leaderboard) for scores in (weighted, plain))
    for row, expected in zip(board, same, strict=True):
        assert row.run == expected.run and row.rank_range == expected.rank_range
        assert (row.low, row.high, row.bootstrap_low) == pytest.approx(
            (expected.low, expected.high, expected.bootstrap_low), rel=1e-5, nan_ok=True
        )


def test_bootstrap_samples_draw_topics_equally_and_carry_their_weights() -> None:
    values, weights = (
        np.array([[0.1, 0.5, 0.9, 0.2], [0.3, np.nan, 0.4, 0.8]]),
        np.array([1.0, 2.0, 5.0, 0.5]),
    )
    from rankscope.analysis.stats.intervals import drawn_topics

    drawn = np.concatenate(list(drawn_topics(4, 20, 3)))
    expected = [
        [np.nansum(weights[s] * row[s]) / weights[s][~np.isnan(row[s])].sum() for s in drawn]
        for row in values
    ]
    assert bootstrap_means(values, 20, 3, weights) == pytest.approx(
        np.array(expected), rel=1e-12, nan_ok=True
    )


def test_randomisation_with_weights_counts_the_signs_of_weighted_differences() -> None:
    rng = np.random.default_rng(2)
    z, weights = rng.normal(0.3, 1, 8), rng.random(8) + 0.1
    signs = 1 - 2 * (np.arange(2**8)[:, None] >> np.arange(8) & 1)
    sums = np.abs(signs @ (weights * z))
    expected = (sums >= abs(weights @ z) - 1e-12).mean()
    values = np.array([z, np.zeros(8)])
    test = run_test("randomisation", values, np.array([0]), np.array([1]), correction="none", weights=weights)
    assert test.p[0] == pytest.approx(expected, abs=1e-12)
    assert contributions(values, weights).mean(axis=1) == pytest.approx(weighted_means(values, weights))


def test_wilcoxon_rejects_weights_with_a_reason() -> None:
    with pytest.raises(
        SettingsError, match=r"^Wilcoxon's test ranks topics, and does not test a weighted mean"
    ):
        rs.compare(scores_of([[0.1, 0.2, 0.4], [0.3, 0.1, 0.2]], [1, 2, 3]), test="wilcoxon")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"q0": 1}, "topic 'q1' has no weight; give every topic a positive number, or select topics"),
        ({**dict.fromkeys(QRELS, 1), "q3": 0}, "topic 'q3' has the weight 0, not a positive finite number"),
        ({**dict.fromkeys(QRELS, 1), "q3": -1.5}, "topic 'q3' has the weight -1.5"),
        ({**dict.fromkeys(QRELS, 1), "q3": float("inf")}, "topic 'q3' has the weight inf"),
        ({**dict.fromkeys(QRELS, 1), "q3": float("nan")}, "topic 'q3' has the weight nan"),
        ({**dict.fromkeys(QRELS, 1), "q3": "much"}, "topic 'q3' has the weight 'much'"),
        ({**dict.fromkeys(QRELS, 1), "q3": "1_0"}, "topic 'q3' has the weight '1_0', not a positive finite"),
        ({**dict.fromkeys(QRELS, 1), "q3": True}, "topic 'q3' has the weight True, not a positive finite"),
        (
            {**dict.fromkeys(QRELS, 1), "q3": "1e308"},
            "topic 'q3' has the weight '1e308', not a positive finite number from 1e-100 to 1e+100",
        ),
        ({**dict.fromkeys(QRELS, 1), "q3": 1e-300}, "topic 'q3' has the weight 1e-300, not a positive"),
        ("traffic", "no attribute of topics is called 'traffic'"),
    ],
)
def test_a_topic_without_a_usable_weight_is_rejected_by_name(weights: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        rs.evaluate(QRELS, RUNS, "AP", weights=weights)
    assert str(error.value).startswith(message)


def test_topic_data_are_read_from_every_kind_of_table(tmp_path: Path) -> None:
    import pandas as pd

    rows = [{"qid": f"q{t}", "lang": "en" if t % 2 else "it", "traffic": t + 1.0} for t in range(8)]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    nested = {row["qid"]: {k: v for k, v in row.items() if k != "qid"} for row in rows}
    sources: list[Any] = [frame, nested, *(tmp_path / f"t.{kind}" for kind in ("csv", "tsv", "jsonl"))]
    result = [rs.evaluate(QRELS, RUNS, "AP", topic_data=source, weights="traffic") for source in sources]
    for scores in result:
        assert scores.mean("AP").tolist() == result[0].mean("AP").tolist()
        assert scores.topic_data["q1"]["lang"] == "en"
    assert result[2].settings["weights"] == "traffic" and result[2].settings["topic_data"] == str(
        tmp_path / "t.csv"
    )
    assert result[0].settings["weights"] == {f"q{t}": t + 1.0 for t in range(8)}
    (tmp_path / "t.csv").write_text("qid, lang,traffic\n" + "".join(f"q{t}, en ,1\n" for t in range(8)))
    scores = rs.evaluate(QRELS, RUNS, "AP", topic_data=tmp_path / "t.csv")
    assert list(scores.by("lang")) == ["en"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,lang\nq1,en\nq1,it\n", r"t\.csv:3: topic 'q1' occurs twice; give each topic one row"),
        ("qid,lang,lang\nq1,en,it\n", r"t\.csv:1: the column 'lang' occurs twice; name every column once"),
        (
            "qid;lang\nq1;en\n",
            r"t\.csv: there is a single column, 'qid;lang'; .* separated by commas or tabs",
        ),
        (
            "qid,lang\n01,en\n",
            "the topic data has none of the topics: topic '01' was not evaluated; give the",
        ),
    ],
)
def test_topic_data_of_no_use_are_rejected(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        rs.evaluate(QRELS, RUNS, "AP", topic_data=tmp_path / "t.csv").by("lang")


def test_gate_and_compare_test_weighted_differences() -> None:
    rng = np.random.default_rng(5)
    values, weights = rng.random((2, 12)), rng.random(12) + 0.1
    scores = scores_of(values, weights)
    z = values[1] - values[0]
    mean = weights @ z / weights.sum()
    error = np.sqrt(12 / 11 * (np.square(weights * (z - mean))).sum()) / weights.sum()
    check = rs.gate(scores, "r0").gate[0]
    from scipy.stats import t

    freedom = 11 / 12 * np.square(weights**2).sum() ** -1 * (weights**2).sum() ** 2
    assert check.difference == pytest.approx(mean, rel=1e-12)
    assert check.lower == pytest.approx(mean - t.ppf(0.95, freedom) * error, rel=1e-9)
    pair = rs.compare(scores, baseline="r0").pairs[0]
    assert pair.difference == pytest.approx(mean, rel=1e-12)
    assert pair.p == pytest.approx(2 * t.sf(abs(mean / error), freedom), rel=1e-9)
    spread = np.sqrt(weights @ np.square(z - mean) / weights.sum() * 12 / 11)
    assert pair.effect_size == pytest.approx(mean / spread, rel=1e-9)


def test_weighted_intervals_cover_the_weighted_mean_of_the_population() -> None:
    """Weights vary by a factor of about 7 (95 %)."""
    rng = np.random.default_rng(7)
    samples, n = 4000, 50
    weights = np.exp(rng.normal(0, 0.5, (samples, n)))
    values = rng.beta(1 + 2 / (1 + weights), 2)  # Topics with much traffic are harder.
    population = np.exp(rng.normal(0, 0.5, 500_000))
    truth = np.average((1 + 2 / (1 + population)) / (3 + 2 / (1 + population)), weights=population)
    inside = 0
    for row, w in zip(values, weights, strict=True):
        low, high = t_intervals(row[None, :], weights=w)
        inside += low[0] <= truth <= high[0]
    assert 0.93 <= inside / samples <= 0.97
