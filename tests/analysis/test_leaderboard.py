"""Means with intervals, ranks with ranges, and who is tied for first."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import rankscope as rs
from rankscope.analysis.leaderboard import leaderboard, tied_for_first, with_margins
from rankscope.analysis.stats.matrices import with_runs
from rankscope.analysis.stats.max_t import worse_than_best
from rankscope.cli.main import main
from rankscope.errors import SettingsError


def test_values_are_those_of_the_scores_and_intervals_hold_them(small):
    scores = rs.evaluate(*small, ["AP", "nDCG@10", "GMAP", "NumRet"])
    rows = rs.leaderboard(scores, seed=3)["leaderboard"].records()
    assert len(rows) == 24
    for row in rows:
        mean = scores.means()[row["run"]][rs.measure(row["measure"])]
        assert row["value"] == mean
        assert row["low"] <= mean <= row["high"]
        assert row["bootstrap_low"] <= mean <= row["bootstrap_high"]
        assert row["topics"] == 8
        if row["measure"] == "NumRet":
            assert row["rank"] is row["first_rank"] is row["tied_for_first"] is None
        else:
            assert row["first_rank"] <= row["rank"] <= row["last_rank"]
    ap = scores.matrix("AP").values
    expected = stats.ttest_1samp(ap[5], 0).confidence_interval()
    first = next(row for row in rows if (row["run"], row["measure"]) == ("run5", "AP"))
    assert (first["low"], first["high"]) == pytest.approx(tuple(expected))
    logs = np.log(scores.matrix("GMAP").values[5])
    expected = stats.ttest_1samp(logs, 0).confidence_interval()
    first = next(row for row in rows if (row["run"], row["measure"]) == ("run5", "GMAP"))
    assert (first["low"], first["high"]) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))


def test_a_leaderboard_includes_the_bounds_of_the_means(small):
    scores = rs.evaluate(*small, ["AP", "RR"], ties="expected", unjudged="bounds")
    expected = {(row["run"], row["measure"]): row for row in scores["means"].records()}
    rows = rs.leaderboard(scores)["leaderboard"].records()
    for row in rows:
        mean = expected[row["run"], row["measure"]]
        for name in ("value", "error", "exact", "lowest", "highest", "tight"):
            assert row[name] == mean[name]
    assert "lowest" not in rs.leaderboard(rs.evaluate(*small, ["AP"]))["leaderboard"].columns
    turned = with_runs(scores, np.array([3, 1]))
    assert [row["highest"] for row in turned["means"].records()] == [
        expected[run, measure]["highest"] for run in turned.runs for measure in ("AP", "RR")
    ]


def test_ranks_of_measures_of_which_lower_is_better(scored):
    low, high = np.full((1, 6), 20.0), np.full((1, 6), 60.0)
    rows = rs.leaderboard(scored({"BalancePoint": np.concatenate([high, low])}))["leaderboard"].records()
    assert [(row["run"], row["rank"], row["last_rank"]) for row in rows] == [("r1", 1, 1), ("r0", 2, 2)]


def test_tied_for_first_are_the_runs_that_are_not_shown_to_be_worse_than_the_best(scored):
    rng = np.random.default_rng(2)
    values = rng.random((6, 30)) * 0.4 + np.array([[0.3], [0.28], [0.25], [0.1], [0.0], [0.2]])
    tied = tied_for_first(scored({"AP": values}), "AP")
    assert tied == (worse_than_best(values) >= 0.05).tolist()
    assert tied[int(values.mean(axis=1).argmax())]
    assert False in tied
    assert sum(tied) > 1
    lower = tied_for_first(scored({"BalancePoint": 10 - 10 * values}), "BalancePoint")
    assert lower == tied


def test_a_geometric_mean_is_compared_in_logarithms(scored):
    logs = -np.random.default_rng(2).random((4, 30)) * 3 - np.array([[0.0], [0.1], [1.0], [2.0]])
    expected = (worse_than_best(logs) >= 0.05).tolist()
    assert tied_for_first(scored({"GMAP": np.exp(logs)}), "GMAP") == expected


def test_holes_single_topics_and_single_runs(with_hole, scored):
    rows = rs.leaderboard(with_hole)["leaderboard"].records()
    twist = {row["run"]: row for row in rows if row["measure"] == "Twist"}
    assert [twist[f"r{k}"]["topics"] for k in range(3)] == [4, 4, 3]
    assert all(np.isfinite(row["low"]) for row in twist.values())
    single_topic = rs.leaderboard(scored({"AP": [[0.5], [0.4]]}))["leaderboard"].records()
    assert [(row["rank"], row["tied_for_first"]) for row in single_topic] == [(1, None), (2, None)]
    assert all(math.isnan(row["low"]) and math.isnan(row["bootstrap_low"]) for row in single_topic)
    alone = rs.leaderboard(scored({"AP": [[0.5, 0.4]]}))["leaderboard"].records()
    assert (alone[0]["last_rank"], alone[0]["tied_for_first"]) == (1, True)
    with pytest.raises(SettingsError, match="alpha"):
        rs.leaderboard(with_hole, alpha=0)


def test_the_displayed_table_has_margins_rank_intervals_and_ties_for_first(small):
    scores = rs.evaluate(*small, ["NumRet", "AP"])
    result = rs.leaderboard(scores)
    table = with_margins(scores.wide(), result)
    rows = {r["run"]: r for r in result["leaderboard"].records() if r["measure"] == "AP"}
    assert table.columns == ("run", "rank", "NumRet", "AP")
    for index, row in enumerate(table.rows):
        record = rows[row[0]]
        assert table.marks[index, "AP"] == f" ±{(record['high'] - record['low']) / 2:.4f}"
        ends = record["first_rank"], record["last_rank"]
        assert row[1] == (str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}")
    tied = [run for run, row in rows.items() if row["tied_for_first"]]
    assert ("tied for first" in table.caption) == (len(tied) > 1)
    assert not with_margins(scores.wide(), result, margins=False).marks


@pytest.mark.parametrize("options", [{"unjudged": "bounds"}, {"ties": "expected"}])
def test_bounds_and_errors_in_the_displayed_table_have_no_margins(small, options):
    qrels = small[0]
    runs = {
        "r": {topic: dict.fromkeys([*judged, *map(str, range(12))], 1.0) for topic, judged in qrels.items()}
    }
    scores = rs.evaluate(qrels, runs, ["Twist"], **options)
    table = with_margins(scores.wide(), rs.leaderboard(scores))
    assert len(table.columns) > 3 and {name for _, name in table.marks} == {"Twist"}


def test_a_run_tied_for_first_whose_own_range_begins_later_is_explained(scored):
    rng = np.random.default_rng(3)
    topics = rng.random(40)
    values = np.array([topics + 0.0025 * gap + 0.08 * rng.random(40) for gap in range(12)])
    close = scored({"AP": values})
    records = {row["run"]: row for row in rs.leaderboard(close)["leaderboard"].records()}
    assert any(row["tied_for_first"] and row["first_rank"] > 1 for row in records.values())
    assert (
        "ties for first place are tested jointly" in with_margins(close.wide(), rs.leaderboard(close)).legend
    )
    apart = scored({"AP": values[:1] + np.array([[0.0], [9.0]])})
    assert "together" not in with_margins(apart.wide(), rs.leaderboard(apart)).legend


def test_several_baselines_have_a_sign_each_and_every_pair_is_tested_once(small):
    scores = rs.evaluate(*small, ["AP"])
    result = rs.compare(scores, ["run0", "run1"])
    pairs = [(row["a"], row["b"]) for row in result["pairs"].records()]
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) == 9
    assert pairs[0] == ("run1", "run0")
    significant = {frozenset((r["a"], r["b"])): r["significant"] for r in result["pairs"].records()}
    for row in result["runs"].records():
        for sign, base in (("†", "run0"), ("‡", "run1")):
            assert (sign in row["mark"]) == significant.get(frozenset((row["run"], base)), False)
    assert "† differs from run0, ‡ differs from run1" in str(result)
    p = [row["p"] for row in result["pairs"].records()]
    assert min(row["adjusted"] for row in result["pairs"].records()) == pytest.approx(9 * min(p))
    same = rs.compare(scores, ["run0"])
    assert same["pairs"].rows == rs.compare(scores, "run0")["pairs"].rows
    assert same["runs"].rows == rs.compare(scores, "run0")["runs"].rows


def test_a_margin_tests_non_inferiority(small, scored):
    scores = rs.evaluate(*small, ["AP"])
    values = scores.matrix("AP").values
    for row in rs.compare(scores, "run5", margin=0.3)["pairs"].records():
        a = scores.runs.index(row["a"])
        test = stats.ttest_rel(values[a], values[5], alternative="greater")
        assert row["lower"] == pytest.approx(test.confidence_interval(0.95).low)
        assert row["noninferior"] == (row["lower"] > -0.3)
    lower = scored({"BalancePoint": [[30.0, 31, 30, 31], [20.0, 21, 20, 21]]})
    assert rs.compare(lower, "r1", margin=5)["pairs"].column("noninferior") == [False]
    assert rs.compare(lower, "r1", margin=11)["pairs"].column("noninferior") == [True]
    with pytest.raises(SettingsError, match="margin of -1"):
        rs.compare(scores, "run5", margin=-1)
    with pytest.raises(SettingsError, match="GMAP has no margin"):
        rs.compare(rs.evaluate(*small, ["GMAP"]), "run5", margin=0.1)


def test_a_wide_terminal_shows_margins_and_the_ci_option_shows_columns(tmp_path, capsys, monkeypatch):
    rs.simulate(systems=3, topics=5, depth=20, seed=3, pool_depth=10).write(tmp_path / "made")
    files = str(tmp_path / "made" / "qrels.txt"), str(tmp_path / "made" / "runs")

    def run_eval(*options, columns, terminal=True):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
        assert main(["eval", *files, *options]) == 0
        return capsys.readouterr().out

    assert "±" in run_eval("-m", "AP", columns=100)
    narrow = run_eval("-m", "AP nDCG@10 RBP", columns=50)
    assert "±" not in narrow
    assert "rank" in narrow
    assert "rank" not in run_eval("-m", "AP nDCG@10 RBP", columns=30)
    assert "±" not in run_eval("-m", "AP", "--no-ci", columns=100)
    assert "±" not in run_eval("-m", "AP", "-f", "table", columns=100)
    assert run_eval("-m", "AP", columns=100, terminal=False).startswith("run\tmeasure\tvalue\ttopics\n")
    output = run_eval("-m", "AP", "--ci", columns=100, terminal=False)
    assert output.startswith("run\tmeasure\tvalue\ttopics\tlow\thigh\tbootstrap_low\t")


def test_no_interval_is_computed_that_is_not_shown(tmp_path, capsys, monkeypatch):
    """On a narrow terminal all intervals of all measures were computed, and dropped."""
    calls = []
    monkeypatch.setattr(
        "rankscope.analysis.leaderboard.leaderboard",
        lambda scores, **more: calls.append(scores) or leaderboard(scores, **more),
    )
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    rs.simulate(systems=3, topics=5, depth=20, seed=3, pool_depth=10).write(tmp_path)
    runs = sorted(map(str, (tmp_path / "runs").iterdir()))

    def run_eval(columns, runs):
        calls.clear()
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(["eval", str(tmp_path / "qrels.txt"), *runs, "-m", "AP nDCG@10 RBP"]) == 0
        return capsys.readouterr().out

    assert "±" in run_eval(100, runs) and len(calls[0].measures) == 3
    assert "rank" in run_eval(50, runs) and [str(measure) for one in calls for measure in one.measures] == [
        "AP"
    ]
    assert "rank" not in run_eval(30, runs) and not calls
    assert "rank" not in run_eval(50, runs[:1]) and not calls, "the rank of a single run is meaningless"
