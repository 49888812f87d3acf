"""Correlation across pools and orderings, against scipy on means that are computed one by one."""

from __future__ import annotations

import pytest
from scipy import stats

import rankscope as rs
from rankscope.errors import InputError, SettingsError


def values(result):
    return {(r["a"], r["pool_a"], r["b"], r["order"]): r["value"] for r in result["correlations"].records()}


def shallow(qrels, runs, depth, order):
    """Return the judgments of documents that any run ranks near the top."""
    lists = rs.evaluate(qrels, runs, ["AP"], order=order).judged
    assert lists is not None
    read = {name: rs.Run.from_dict(one, name=name, order=order) for name, one in runs.items()}
    return {
        topic: {
            d: g for d, g in judged.items() if any(d in run.ranking(topic)[:depth] for run in read.values())
        }
        for topic, judged in qrels.items()
    }


def test_every_cell_is_scipys_tau_of_the_means(small):
    qrels, runs = small
    result = rs.pool_correlation(
        rs.evaluate(qrels, runs, ["AP", "P@5", "RBP"]), pool_depth=[4], orders=["trec_eval", "file"]
    )
    cells = values(result)
    assert len(cells) == 2 * 3 * 3 * 2
    for order in ("trec_eval", "file"):
        pools = {"full": qrels, "depth 4": shallow(qrels, runs, 4, order)}
        means = {
            (m, pool): rs.evaluate(judged, runs, [m], order=order).mean(m).round(12)
            for pool, judged in pools.items()
            for m in ("AP", "P@5", "RBP")
        }
        for (a, pool, b, o), value in cells.items():
            if o == order:
                expected = stats.kendalltau(means[a, pool], means[b, "full"]).statistic
                assert value == pytest.approx(expected, abs=1e-12)


def test_the_columns_are_the_requested_measures(small):
    result = rs.pool_correlation(rs.evaluate(*small, "RBP RR"), against=["AP", "RR"], pool_depth=[2, 5])
    assert {(r["a"], r["pool_a"]) for r in result["correlations"].records()} == {
        (a, pool) for a in ("RBP", "RR") for pool in ("full", "depth 2", "depth 5")
    }
    assert list(dict.fromkeys(result["correlations"].column("b"))) == ["AP", "RR"]
    assert result.side_by_side().columns == ("measure", "pool", "AP", "RR")
    assert values(result)["RR", "full", "RR", "trec_eval"] == 1
    assert "differences" not in result.tables


def test_differences_of_one_percent_are_marked():
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    tied = {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 1, "b": 1}}
    runs = {
        "tied": tied,
        "good": {"1": {"b": 2, "a": 1}, "2": {"a": 1}},
        "poor": {"1": {"b": 1, "c": 0.5, "a": 0.1}},
    }
    result = rs.pool_correlation(
        rs.evaluate(qrels, runs, ["RR", "P@2"]), pool_depth=[], orders=["file", "trec_eval"]
    )
    rows = {(r["a"], r["b"]): r for r in result["differences"].records()}
    assert rows["RR", "RR"]["notable"] is False
    changed = rows["RR", "P@2"]
    assert changed["notable"] is True
    assert changed["difference"] == changed["second"] - changed["first"]
    assert changed["share"] == pytest.approx(changed["difference"] / abs(changed["first"]))
    table = result.side_by_side()
    assert table.columns == (
        "measure",
        "pool",
        "RR (file)",
        "P@2 (file)",
        "RR (trec_eval)",
        "P@2 (trec_eval)",
    )
    marked = {(table.rows[r][0], column) for r, column in table.marks}
    assert marked == {("RR", "P@2 (trec_eval)"), ("P@2", "RR (trec_eval)")}


def test_the_best_runs_and_other_methods(small):
    result = rs.pool_correlation(rs.evaluate(*small, "AP RR"), pool_depth=3, method=["ap", "rbo"], top=0.5)
    assert set(result["correlations"].column("runs")) == {3}
    assert set(result["correlations"].column("method")) == {"ap", "rbo"}
    assert result.side_by_side("rbo").name == "rbo by pool"


def test_mistakes_are_refused(small):
    scores = rs.evaluate(*small, "AP")
    with pytest.raises(SettingsError, match="unknown order"):
        rs.pool_correlation(scores, orders=["none"])
    with pytest.raises(SettingsError, match="no measure or no ordering"):
        rs.pool_correlation(scores, against=[])
    with pytest.raises(SettingsError, match="depth 0"):
        rs.pool_correlation(scores, pool_depth=0)
    with pytest.raises(InputError, match="at least two runs"):
        rs.pool_correlation(rs.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP"))
