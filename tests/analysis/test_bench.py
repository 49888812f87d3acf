"""Leaderboards over several tasks, against golden values, scipy, statsmodels, mteb and enumeration."""

from __future__ import annotations

import csv
import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.bench_orders import cliques, smallest_set
from rankscope.analysis.stats.aggregates import bradley_terry, combine, compute_terms
from rankscope.cli.main import main
from rankscope.errors import InputError, SettingsError
from rankscope.read.task_scores import read_task_scores

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("RANKSCOPE_DATA") or ROOT.parent / "shared" / "data")
MTEB_SCORES = DATA / "mteb_retrieval" / "main_scores.csv"
CASES = [
    case
    for case in json.loads((ROOT / "tests/golden/science.json").read_text())["cases"]
    if case["function"] == "bench"
]
quiet = pytest.mark.filterwarnings("ignore:Bradley-Terry has no finite strengths")
needs_mteb_scores = pytest.mark.skipif(not MTEB_SCORES.exists(), reason="the MTEB scores are not here")


QUESTIONS = ("FiQA2018", "HotpotQA", "MSMARCO", "NQ", "QuoraRetrieval")
OTHERS = ("ArguAna", "ClimateFEVER", "CQADupstackRetrieval", "DBPedia", "FEVER", "NFCorpus", "SCIDOCS")
TYPES = {
    **dict.fromkeys(QUESTIONS, "question"),
    **dict.fromkeys((*OTHERS, "SciFact", "Touche2020", "TRECCOVID"), "other"),
}


def wide(values: Any) -> dict[str, list[Any]]:
    """Return a table with a column per task."""
    columns = np.asarray(values, float).T.tolist()
    return {"model": [f"s{k}" for k in range(len(values))], **{f"t{k}": c for k, c in enumerate(columns)}}


def values_of(result: rs.Bench, aggregate: str) -> list[float | None]:
    found = {row.system: row.value for row in result.board if row.aggregate == aggregate}
    return [found[system] for system in result.scores.systems]


@pytest.fixture(scope="module")
def mteb() -> rs.Bench:
    with pytest.warns(UserWarning, match="105 of 302 systems lack a score on some task and are left out"):
        return rs.bench(MTEB_SCORES, types=TYPES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@quiet
def test_aggregates_have_the_golden_values(case: dict[str, Any]) -> None:
    scores, types = case["inputs"]["scores"], case["inputs"]["types"]
    result = rs.bench(wide(scores), types={f"t{k}": kind for k, kind in enumerate(types)}, replicates=20)
    for aggregate, expected in case["expected"].items():
        assert values_of(result, aggregate) == pytest.approx(expected, abs=1e-10)


def test_values_have_all_digits() -> None:
    table = {"model": ["a", "b", "c"], "t1": [0.5, 0.4, 0.1], "t2": [0.7, 0.8, 0.2], "t3": [0.9, 0.5, 0.3]}
    result = rs.bench(table, aggregate=["borda", "mean"], replicates=1)
    expected = [5.0, 4.0, 0.0, 2.1 / 3, 1.7 / 3, 0.6 / 3]
    assert [row.value for row in result.board] == pytest.approx(expected, rel=1e-15)


def test_systems_whose_z_scores_cancel_out_are_tied() -> None:
    table = {"model": ["a", "b"], "t1": [0.6, 0.1], "t2": [0.9, 0.6], "t3": [0.2, 0.6], "t4": [0.4, 0.7]}
    result = rs.bench(table, aggregate=["z-score", "win-rate"], replicates=1)
    assert [row.rank for row in result.board] == [1, 1, 1, 1]
    assert [row.value for row in result.board] == [0, 0, 0.5, 0.5]
    assert {row.changed for row in result.fragility if row.change == "aggregate"} == {0}


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_the_z_score_is_that_of_scipy() -> None:
    from scipy.stats import zscore

    values = np.random.default_rng(3).random((5, 4))
    values[:, 2] = 0.5
    result = rs.bench(wide(values), aggregate="z-score", replicates=20)
    expected = np.nan_to_num(zscore(values, axis=0)).mean(axis=1)
    assert values_of(result, "z-score") == pytest.approx(expected.tolist(), abs=1e-12)


def test_the_win_rate_equals_a_count() -> None:
    values = np.random.default_rng(4).integers(0, 4, (7, 5)) / 4
    result = rs.bench(wide(values), aggregate="win-rate", replicates=20)
    for a, value in enumerate(values_of(result, "win-rate")):
        wins = [
            np.mean(
                [
                    1.0 if values[a, t] > values[b, t] else 0.5 * (values[a, t] == values[b, t])
                    for b in range(7)
                    if b != a
                ]
            )
            for t in range(5)
        ]
        assert value == pytest.approx(np.mean(wins), abs=1e-12)


def logit_strengths(values: Any) -> Any:
    """Bradley-Terry as a logit of statsmodels over pairs of systems."""
    import statsmodels.api as sm

    n, tasks = values.shape
    pairs = list(combinations(range(n), 2))
    design = np.zeros((len(pairs), n))
    share = np.zeros(len(pairs))
    for k, (a, b) in enumerate(pairs):
        design[k, a], design[k, b] = 1, -1
        share[k] = np.mean((values[a] > values[b]) + 0.5 * (values[a] == values[b]))
    model = sm.GLM(
        share, design[:, 1:], family=sm.families.Binomial(), freq_weights=np.full(len(pairs), tasks)
    )
    strengths = np.concatenate([[0.0], model.fit(tol=1e-14, maxiter=200).params])
    return strengths - strengths.mean()


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("seed", range(4))
def test_bradley_terry_is_the_logit_of_statsmodels(seed: int) -> None:
    pytest.importorskip("statsmodels")
    values = np.random.default_rng(seed).integers(0, 12, (6, 9)) / 12
    result = rs.bench(wide(values), aggregate="bradley-terry", replicates=20)
    assert values_of(result, "bradley-terry") == pytest.approx(logit_strengths(values).tolist(), abs=1e-6)


def test_bradley_terry_names_the_system_that_wins_or_loses_all() -> None:
    values = np.array([[0.9, 0.8, 0.9], [0.5, 0.6, 0.4], [0.4, 0.5, 0.5], [0.1, 0.2, 0.1]])
    with pytest.raises(
        InputError, match="'s0' wins all comparisons and 's3' loses all comparisons; use win-rate"
    ):
        rs.bench(wide(values), aggregate="bradley-terry")
    with pytest.warns(UserWarning, match="'s0' wins all .* bradley-terry is left out"):
        result = rs.bench(wide(values), replicates=20)
    assert "bradley-terry" not in result.orders and "bradley-terry" in result.settings["left_out_aggregates"]
    two_groups = np.array([[9, 8, 9], [8, 9, 8], [1, 2, 1], [2, 1, 2]]) / 10
    with pytest.raises(
        InputError, match=r"the best 2 systems \('s0', 's1', ...\) win all comparisons with the others"
    ):
        rs.bench(wide(two_groups), aggregate="bradley-terry")


def test_bradley_terry_solves_its_likelihood_equations_close_to_separation() -> None:
    points = np.array([4 - 1e-3, 3 + 2e-4, 2.0, 1 - 2e-4, 1e-3])
    strengths = bradley_terry(points)
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    np.fill_diagonal(chance, 0)
    assert chance.sum(axis=1) == pytest.approx(points, abs=1e-10) and abs(strengths.sum()) < 1e-10


def test_friedman_and_the_critical_distance_are_those_of_scipy() -> None:
    from scipy.stats import friedmanchisquare, studentized_range

    values = np.random.default_rng(5).integers(0, 6, (6, 11)) / 6
    row = rs.bench(wide(values), replicates=20, aggregate="mean-rank", alpha=0.1).friedman[0]
    expected = friedmanchisquare(*values)
    assert (row.statistic, row.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    distance = studentized_range.ppf(0.9, 6, np.inf) / np.sqrt(2) * np.sqrt(6 * 7 / (6 * 11))
    assert row.critical_distance == pytest.approx(distance, rel=1e-9)
    # Demsar (2006), table 5: q is 2.728 for five systems at the level .05, and 2.459 at .10.
    for alpha, q in ((0.05, 2.728), (0.1, 2.459)):
        row = rs.bench(wide(values[:5]), replicates=20, aggregate="mean-rank", alpha=alpha).friedman[0]
        assert row.critical_distance == pytest.approx(q * np.sqrt(5 * 6 / (6 * 11)), rel=3e-4)


def test_groups_of_the_critical_distance_are_maximal() -> None:
    ranks = np.sort(np.random.default_rng(6).random(30) * 30).tolist()
    expected = {(a, b) for a, b in combinations(range(30), 2) if ranks[b] - ranks[a] < 5}
    expected = {g for g in expected if not any(o != g and o[0] <= g[0] and g[1] <= o[1] for o in expected)}
    assert set(cliques(ranks, 5)) == expected


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation"])
def test_pairs_are_tested_over_tasks_with_holms_correction(test: str) -> None:
    from scipy import stats
    from statsmodels.stats.multitest import multipletests

    values = np.random.default_rng(7).random((4, 8)) + np.array([[0.6], [0.5], [0.1], [0.0]])
    result = rs.bench(wide(values), aggregate="mean", test=test, replicates=50)
    tests: dict[str, Callable[..., Any]] = {
        "t": stats.ttest_rel,
        "wilcoxon": stats.wilcoxon,
        "randomisation": lambda x, y: stats.permutation_test(
            (x - y,), np.sum, permutation_type="samples", n_resamples=np.inf
        ),
    }
    expected = [tests[test](values[a], values[b]).pvalue for a, b in combinations(range(4), 2)]
    assert [row.p for row in result.pairs] == pytest.approx(expected, rel=1e-9)
    adjusted = multipletests(expected, method="holm")[1]
    assert [row.adjusted for row in result.pairs] == pytest.approx(adjusted.tolist(), rel=1e-9)
    assert [row.separated for row in result.pairs] == [p < 0.05 for p in adjusted]


def test_the_mean_of_types_is_tested_with_its_own_difference() -> None:
    values = np.random.default_rng(8).random((3, 6))
    types = {f"t{k}": "AAAABB"[k] for k in range(6)}
    result = rs.bench(wide(values), types=types, aggregate="mean-of-types", replicates=50)
    for row in result.pairs:
        a, b = int(row.a[1]), int(row.b[1])
        weighted = (values[a] - values[b]) * np.array([6 / 8] * 4 + [6 / 4] * 2)
        assert row.difference == pytest.approx(weighted.mean(), abs=1e-12)


def test_no_two_systems_of_a_tier_are_separated_and_tiers_are_maximal() -> None:
    rng = np.random.default_rng(9)
    values = rng.normal(0, 0.3, (20, 12)) + np.linspace(2, 0, 20)[:, None]
    result = rs.bench(wide(values), aggregate="mean", replicates=50)
    apart = {frozenset((row.a, row.b)) for row in result.pairs if row.separated}
    board = [(row.system, row.tier) for row in result.board]
    tiers: dict[int | None, list[str]] = {}
    for system, tier in board:
        tiers.setdefault(tier, []).append(system)
    assert list(tiers) == list(range(1, len(tiers) + 1)) and 1 < len(tiers) < 20
    assert not any(frozenset(pair) in apart for names in tiers.values() for pair in combinations(names, 2))
    for tier in range(2, len(tiers) + 1):
        assert any(frozenset((name, tiers[tier][0])) in apart for name in tiers[tier - 1])


def leader_after(terms: Any, types: Any, removed: Any) -> int | None:
    kept = np.setdiff1d(np.arange(terms.shape[1]), removed)
    if not len(kept):
        return None
    merits = np.mean(
        [terms[:, [t for t in kept if types[t] == k]].mean(axis=1) for k in set(types[kept])], axis=0
    )
    return int(np.argmax(np.round(merits, 10)))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_types", [1, 3])
def test_the_smallest_set_of_tasks_is_that_of_enumeration(seed: int, n_types: int) -> None:
    rng = np.random.default_rng(seed)
    terms = np.round(rng.random((4, 7)) + np.array([[0.25], [0.1], [0.0], [0.0]]), 2)
    types = np.array([k % n_types for k in range(7)])
    leader = int(np.argmax(combine(terms, types)))
    smallest = smallest_set(terms, types, leader)
    sizes = [
        size
        for size in range(1, 7)
        if any(
            leader_after(terms, types, list(s)) not in (leader, None) for s in combinations(range(7), size)
        )
    ]
    assert len(smallest) == (sizes[0] if sizes else 0)
    assert not smallest or leader_after(terms, types, smallest) != leader


def test_the_smallest_set_is_found_among_many_types() -> None:
    rng = np.random.default_rng(3)
    types = np.repeat(np.arange(30), 3)
    terms = np.stack([0.5 + 0.2 * rng.random(90), 0.5 + 0.1 * rng.random(90)])
    smallest = smallest_set(terms, types, 0)
    assert leader_after(terms, types, smallest) == 1
    assert all(
        leader_after(terms, types, smallest[:k] + smallest[k + 1 :]) == 0 for k in range(len(smallest))
    )


def test_fragility_counts_the_pairs_that_change_without_a_task() -> None:
    values = np.random.default_rng(10).random((6, 5))
    result = rs.bench(wide(values), aggregate=["mean", "borda"], replicates=20)
    for aggregate, basis in (("mean", "scores"), ("borda", "points")):
        terms = compute_terms(values, basis)
        rows = [row for row in result.fragility if row.aggregate == aggregate and row.change == "task"]
        for t, row in enumerate(rows):
            after = np.delete(terms, t, axis=1).mean(axis=1)
            signs = [
                np.sign(x[:, None] - x[None]).round(6)
                for x in (terms.mean(axis=1).round(12), after.round(12))
            ]
            assert row.changed == (signs[0] * signs[1] < 0).sum() // 2
            assert row.leader == f"s{int(np.argmax(after.round(12)))}" and row.without == f"t{t}"
    between = next(row for row in result.fragility if row.change == "aggregate")
    from scipy.stats import kendalltau

    merits = [values.mean(axis=1), compute_terms(values, "points").mean(axis=1)]
    assert between.tau == pytest.approx(kendalltau(*merits).statistic) and between.without == "borda"


@pytest.mark.parametrize("aggregate", ["mean", "mean-of-types", "borda", "win-rate", "mean-rank"])
def test_bounds_hold_for_every_value_of_a_missing_score(aggregate: str) -> None:
    rng = np.random.default_rng(11)
    values = rng.integers(0, 5, (4, 3)) / 4
    values[0, 1] = values[2, 0] = values[3, 1] = np.nan
    types = {"t0": "A", "t1": "A", "t2": "B"}
    result = rs.bench(wide(values), types=types, aggregate=aggregate, missing_cells="bounds")
    rows = {row.system: row for row in result.board}
    extremes: dict[str, list[float]] = {system: [] for system in rows}
    for filling in product(np.linspace(0, 1, 5), repeat=3):
        full = values.copy()
        full[np.isnan(full)] = filling
        filled = rs.bench(wide(full), types=types, aggregate=aggregate, replicates=1)
        for row in filled.board:
            bounds = rows[row.system]
            assert bounds.lowest <= row.value + 1e-12 and row.value - 1e-12 <= bounds.highest
            assert bounds.first_rank <= row.rank <= bounds.last_rank
            extremes[row.system].append(row.value)
        order = {row.system: row.rank for row in filled.board}
        separated = [(pair.a, pair.b) for pair in result.pairs if pair.separated]
        assert all(order[a] != order[b] for a, b in separated)
    for system, found in extremes.items():  # The bounds are attained.
        assert (min(found), max(found)) == pytest.approx(
            (rows[system].lowest, rows[system].highest), abs=1e-12
        )
    assert all(row.change == "aggregate" for row in result.fragility) and rows["s1"].tier is None


def test_missing_cells_drop_systems_or_tasks_and_are_reported() -> None:
    table = wide([[0.1, 0.2, 0.3], [0.4, np.nan, 0.6], [0.7, 0.8, 0.9]])
    with pytest.warns(UserWarning, match="1 of 3 systems lack a score on some task and are left out"):
        result = rs.bench(table, aggregate="mean", replicates=10)
    assert result.scores.systems == ("s0", "s2") and result.settings["left_out_systems"] == ["s1"]
    with pytest.warns(UserWarning, match="1 of 3 tasks lack the score of some system and are left out"):
        result = rs.bench(table, aggregate="mean", replicates=10, missing_cells="tasks")
    assert result.scores.tasks == ("t0", "t2") and result.settings["left_out_tasks"] == ["t1"]
    with pytest.raises(InputError, match=r"'s2' on 't2' is outside the range from 0 to 0\.8"):
        rs.bench(table, missing_cells="bounds", score_range=(0, 0.8))


def topic_scores(seed: int, systems: int, tasks: int, topics: int) -> dict[str, rs.Scores]:
    rng = np.random.default_rng(seed)
    result = {}
    for task in range(tasks):
        frame = {"run": [], "topic": [], "measure": [], "value": []}  # type: ignore[var-annotated]
        for s in range(systems):
            for q in range(topics):
                frame["run"].append(f"s{s}")
                frame["topic"].append(f"q{q}")
                frame["measure"].append("AP")
                frame["value"].append(float(np.clip(rng.normal(0.5 - 0.02 * s, 0.2), 0, 1)))
        result[f"t{task}"] = rs.read_scores(frame)
    return result


@quiet
def test_scores_by_task_and_a_long_table_are_the_same() -> None:
    by_task = topic_scores(1, 4, 3, 6)
    lines = ["system,task,topic,score"]
    for task, scores in by_task.items():
        matrix = scores.matrix("AP")
        lines += [
            f"{run},{task},{topic},{value!r}"
            for run, row in zip(matrix.runs, matrix.values.tolist(), strict=True)
            for topic, value in zip(matrix.topics, row, strict=True)
        ]
    joined, read = rs.bench(by_task, sample="nested"), rs.bench("\n".join(lines).encode(), sample="nested")
    assert joined.board.rows == read.board.rows
    assert values_of(joined, "mean") == pytest.approx(
        np.mean([scores.mean("AP") for scores in by_task.values()], axis=0).tolist(), abs=1e-12
    )


def test_the_sampled_units_change_the_intervals_and_are_printed() -> None:
    by_task = topic_scores(2, 6, 4, 30)
    results = {
        sample: rs.bench(by_task, sample=sample, aggregate="mean") for sample in ("tasks", "nested", "topics")
    }
    ranges = {s: [(row.first_rank, row.last_rank) for row in r.board] for s, r in results.items()}
    assert ranges["tasks"] != ranges["topics"] and ranges["nested"] != ranges["topics"]
    assert "tasks are a sample" in str(results["tasks"]) and "tasks are fixed" in str(results["topics"])
    with pytest.raises(InputError, match="there are no scores of topics, and sample='topics' needs several"):
        rs.bench(wide(np.eye(3)), sample="topics")


def test_a_topic_sample_has_the_standard_error_of_the_mean_over_tasks() -> None:
    by_task = topic_scores(3, 3, 4, 40)
    result = rs.bench(by_task, sample="topics", aggregate="mean", replicates=20_000)
    from scipy.stats import norm

    for row in result.pairs:
        a, b = int(row.a[1]), int(row.b[1])
        z = [scores.matrix("AP").values[a] - scores.matrix("AP").values[b] for scores in by_task.values()]
        error = np.sqrt(sum(x.var(ddof=1) / len(x) for x in z)) / len(z)
        assert row.p == pytest.approx(
            2 * norm.sf(abs(np.mean([x.mean() for x in z])) / error), rel=0.1, abs=1e-4
        )


@quiet
def test_rank_intervals_hold_the_rank_and_separate_clear_differences() -> None:
    values = np.random.default_rng(12).normal(0, 0.01, (5, 15)) + np.array(
        [[0.9], [0.7], [0.5], [0.3], [0.1]]
    )
    result = rs.bench(wide(values))
    assert all(row.first_rank == row.rank == row.last_rank for row in result.board)
    assert [row.adjacent_separated for row in result.separation] == [4] * len(result.separation)
    noise = rs.bench(wide(np.random.default_rng(13).random((8, 6))), aggregate="mean")
    assert all(row.first_rank <= row.rank <= row.last_rank for row in noise.board)
    assert max(row.last_rank - row.first_rank for row in noise.board) >= 4


def write_mteb(folder: Path, model: str, revision: str, task: str, content: Any) -> None:
    path = folder / "results" / model / revision
    path.mkdir(parents=True, exist_ok=True)
    (path / "model_meta.json").write_text("{}")
    (path / f"{task}.json").write_text(json.dumps(content))


def result_file(task: str, version: str, **splits: list[float]) -> dict[str, Any]:
    scores = {
        s: [{"main_score": x, "hf_subset": f"x{k}"} for k, x in enumerate(v)] for s, v in splits.items()
    }
    return {"task_name": task, "mteb_version": version, "dataset_revision": "1", "scores": scores}


def test_folders_of_mteb_are_read(tmp_path: Path) -> None:
    for model, base in (("org__one", 0.5), ("org__two", 0.25)):
        write_mteb(tmp_path, model, "r1", "ArguAna", result_file("ArguAna", "1.9.0", test=[base, base + 0.5]))
        write_mteb(tmp_path, model, "r1", "MSMARCO", result_file("MSMARCO", "1.9.0", test=[0.9], dev=[base]))
        write_mteb(tmp_path, model, "r1", "Other", result_file("Other", "1.9.0", validation=[base]))
    write_mteb(tmp_path, "org__one", "r0", "Other", result_file("Other", "1.10.1", test=[0.125]))
    for folder in (tmp_path, tmp_path / "results"):
        scores = read_task_scores(folder)
        assert (scores.systems, scores.tasks) == (("org__one", "org__two"), ("Other", "ArguAna", "MSMARCO"))
        assert scores.values.tolist() == [[0.125, 0.75, 0.5], [0.25, 0.5, 0.25]]
    write_mteb(tmp_path, "org__one", "r1", "Bad", result_file("Bad", "1", train=[0.1], dev=[0.1]))
    with pytest.raises(
        InputError, match=r"Bad.json: the split 'test' has no main_score \(there are train, dev\)"
    ):
        read_task_scores(tmp_path)
    write_mteb(tmp_path, "org__one", "r1", "Bad", {"scores": {"test": [{"main_score": float("nan")}]}})
    with pytest.raises(InputError, match=r"Bad\.json"):
        read_task_scores(tmp_path)
    write_mteb(tmp_path, "org__one", "r1", "Bad", [1])
    with pytest.raises(InputError, match=r"Bad\.json: this is not a result of MTEB: it has no scores"):
        read_task_scores(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="there is no result of MTEB"):
        read_task_scores(tmp_path / "empty")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model,t1,t1\na,1,2\nb,1,2\n", "the score of 'a' on 't1' occurs twice"),
        ("model,t1,t2\na,1,2\na,1,2\n", "the score of 'a' on 't1' occurs twice"),
        ("model,t1,t2\na,1,x\nb,1,2\n", "the score 'x' of 'a' is not a number"),
        ("model,t1,t2\na,1,2\n", "a leaderboard needs two systems at least, not 1"),
        ("model,t1\na,1\nb,2\n", "a leaderboard needs two tasks at least, not 1"),
        ("system,task,score\na,t,1\na,t,2\n", "the score of 'a' on 't' occurs twice"),
        ("task,score\nt,1\n", "there is no column of systems"),
        ("system,task,score,type\na,t,1,x\nb,t,2,y\n", "task 't' has two types, 'x' and 'y'"),
        ("system,task,score\n", "there is no score"),
        ("model;t1;t2\na;1;2\n", "separate the cells by commas or tabs"),
        ("model,t1,\na,1,2\nb,1,2\n", "scores.csv:2: a task has no name; name every system and every task"),
        ("system,task,score\na,t,1\n,t,2\n", "scores.csv:3: a system has no name"),
        (
            "system,task,score,type\na,t,1,x\na,u,2,\n",
            "task 'u' has no type; give every task a type",
        ),
    ],
)
def test_bad_tables_are_refused_in_one_line(text: str, problem: str, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "scores.csv").write_text(text)
    assert main(["bench", str(tmp_path / "scores.csv")]) == 2
    err = capsys.readouterr().err
    assert problem in err and err.count("\n") == 1


@quiet
def test_wrong_options_are_refused() -> None:
    table = wide(np.random.default_rng(1).random((3, 3)))
    with pytest.raises(InputError, match="mean-of-types needs types of tasks"):
        rs.bench(table, aggregate="mean-of-types")
    with pytest.raises(InputError, match="task 't1' has no type"):
        rs.bench(table, types={"t0": "A"})
    with pytest.raises(SettingsError, match="no aggregate is called 'bordeaux'"):
        rs.bench(table, aggregate="bordeaux")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="a table of scores has no measures"):
        rs.bench(table, measure="AP")
    with pytest.raises(InputError, match="z-score has no bounds over missing scores"):
        rs.bench(table, aggregate="z-score", missing_cells="bounds")
    with pytest.raises(SettingsError, match="BalancePoint cannot be compared over tasks"):
        collection = rs.Collection({"q": {"d": 1}}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}})
        rs.bench({"x": collection, "y": collection}, measure="BalancePoint")


def test_the_command_reads_types_of_tasks(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "scores.csv").write_text("model,t1,t2,t3\na,.2,.4,.9\nb,.3,.1,.8\n")
    (tmp_path / "types.csv").write_text("task,type\nt1,x\nt2,x\nt3,y\n")
    command = ["bench", str(tmp_path / "scores.csv"), "--types", str(tmp_path / "types.csv"), "-f", "json"]
    assert main([*command, "--aggregate", "mean-of-types"]) == 0
    board = json.loads(capsys.readouterr().out)["tables"]["board"]
    assert {row["system"]: row["value"] for row in board} == pytest.approx({"a": 0.6, "b": 0.5})


def test_a_large_score_of_another_system_changes_no_mean() -> None:
    table = {"model": ["a", "b"], "t1": [1e13, 0.3], "t2": [0.5, 0.6]}
    assert values_of(rs.bench(table, aggregate="mean", replicates=2), "mean") == pytest.approx(
        [5e12 + 0.25, 0.45]
    )


def test_the_command_reads_collections_as_study_does(tmp_path: Path, capsys: Any) -> None:
    for name, seed in (("one", 3), ("two", 4), ("three", 5)):
        rs.simulate(systems=4, topics=6, depth=20, seed=seed, pool_depth=10).write(tmp_path / name)
    text = "".join(
        f'[collections.{n}]\nqrels = "{n}/qrels.txt"\nruns = "{n}/runs"\n' for n in ("one", "two", "three")
    )
    (tmp_path / "tasks.toml").write_text(text)
    command = [
        "bench",
        "--collections",
        str(tmp_path / "tasks.toml"),
        "-m",
        "AP",
        "--sample",
        "nested",
        "-f",
        "json",
    ]
    assert main([*command, "--aggregate", "mean", "--quiet"]) == 0
    board = json.loads(capsys.readouterr().out)["tables"]["board"]
    opened = {
        n: rs.Collection(tmp_path / n / "qrels.txt", tmp_path / n / "runs") for n in ("one", "two", "three")
    }
    expected = rs.bench(opened, measure="AP", aggregate="mean", sample="nested")
    assert [(row["system"], row["value"]) for row in board] == [
        (row.system, row.value) for row in expected.board
    ]
    assert main(["bench", "-m", "AP"]) == 2 and "there are no scores" in capsys.readouterr().err
    assert main([*command[:3], "x.csv"]) == 2 and "two sources of scores" in capsys.readouterr().err


def test_the_command_writes_tables_latex_and_a_page(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "scores.csv"
    path.write_text("model,t1,t2,t3\n<script>,0.9,0.5,0.4\nb,0.5,0.6,0.7\nc,0.4,0.5,0.1\n")
    for suffix, part in (
        (".json", '"fragility"'),
        (".tex", "\\toprule"),
        (".csv", "system,aggregate"),
        (".md", "|"),
    ):
        target = tmp_path / f"board{suffix}"
        assert main(["bench", str(path), "-o", str(target), "--quiet"]) == 0 and part in target.read_text()
    assert main(["bench", str(path), "-o", str(tmp_path / "x.html"), "--quiet"]) == 0
    page = (tmp_path / "x.html").read_text()
    assert (
        page.count("data:image/svg+xml;base64,") == 3 and "<script>" not in page and "&lt;script&gt;" in page
    )
    assert "default-src 'none'" in page and "http://" not in page.replace("http-equiv", "")


# MTEB -----------------------------------------------------------------------------------------------------------------


@contextmanager
def module_of_mteb(name: str, types: dict[str, str]) -> Iterator[Any]:
    """Import a module of mteb without the packages around it, which need torch; tasks have our types."""
    home = ROOT / ".venv" / "evaluators"
    before = dict(sys.modules)
    registry = {task: SimpleNamespace(metadata=SimpleNamespace(type=kind)) for task, kind in types.items()}
    bare: dict[str, dict[str, Any]] = {
        "mteb": {"__path__": [str(home / "mteb")]},
        "mteb.benchmarks": {"__path__": [str(home / "mteb/benchmarks")]},
        "mteb.benchmarks._benchmark_metrics": {"_is_whole_task_ref": None},
        "mteb.benchmarks.benchmark": dict.fromkeys(
            ("_PRIMARY_METRIC_PRIORITY", "BenchmarkAggregation", "CustomGrouping"), None
        ),
        "mteb.get_tasks": {"_TASKS_REGISTRY": registry},
        "mteb.models": {"__path__": []},
        "mteb.models.model_implementations": {"MODEL_REGISTRY": {}},
    }
    try:
        for package, names in bare.items():
            sys.modules[package] = ModuleType(package)
            vars(sys.modules[package]).update(names)
        yield importlib.import_module(name)
    finally:
        for loaded in set(sys.modules) - set(before):
            if loaded.partition(".")[0] == "mteb":
                del sys.modules[loaded]
        sys.modules.update(before)  # the whole package, if it was imported


def assert_same_aggregates(mteb: rs.Bench, theirs: Any) -> None:
    """Compare three aggregates with the expressions of mteb."""
    pl = pytest.importorskip("polars")
    scores, tasks = mteb.scores, list(mteb.scores.tasks)
    frame = pl.DataFrame({"model_name": scores.systems, **dict(zip(tasks, scores.values.T, strict=True))})
    type_means, kinds = theirs._get_means_per_types(tasks)
    table = frame.with_columns(theirs._get_borda_rank(tasks).alias("borda"), *type_means)
    table = table.with_columns(
        pl.mean_horizontal(tasks).alias("mean"), pl.mean_horizontal(kinds).alias("types")
    )
    ranks = {row.system: row.rank for row in mteb.board if row.aggregate == "borda"}
    assert len(kinds) == 2 and len(table) == 197
    assert table["borda"].to_list() == [ranks[system] for system in scores.systems]
    assert values_of(mteb, "mean") == pytest.approx(table["mean"].to_list(), abs=1e-12)
    assert values_of(mteb, "mean-of-types") == pytest.approx(table["types"].to_list(), abs=1e-12)


@needs_mteb_scores
@pytest.mark.needs("evaluators")
def test_borda_mean_and_mean_of_types_are_those_of_mteb(mteb: rs.Bench) -> None:
    with module_of_mteb("mteb.benchmarks._create_table", TYPES) as theirs:
        assert_same_aggregates(mteb, theirs)


@needs_mteb_scores
@pytest.mark.needs("mteb")
def test_aggregates_are_those_of_the_whole_package_mteb(
    mteb: rs.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = importlib.import_module("mteb.benchmarks._create_table")
    registry = {task: theirs._TASKS_REGISTRY[task].metadata for task in TYPES}
    assert {metadata.type for metadata in registry.values()} == {"Retrieval"}
    typed = {task: SimpleNamespace(metadata=SimpleNamespace(type=TYPES[task])) for task in registry}
    monkeypatch.setattr(theirs, "_TASKS_REGISTRY", typed)
    assert_same_aggregates(mteb, theirs)


@needs_mteb_scores
@pytest.mark.needs("autorank")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [1, 30])
def test_friedman_and_nemenyi_of_mteb_are_those_of_autorank(mteb: rs.Bench, step: int) -> None:
    import pandas as pd
    from autorank import autorank
    from scipy.stats import studentized_range
    from statsmodels.stats.libqsturng import qsturng

    systems, values = mteb.scores.systems[::step], mteb.scores.values[::step]
    ours = rs.bench({"model": systems, **{f"t{k}": c.tolist() for k, c in enumerate(values.T)}}, replicates=2)
    theirs = autorank(pd.DataFrame(values.T, columns=systems), alpha=0.05, force_mode="nonparametric")
    assert (theirs.omnibus, theirs.posthoc) == ("friedman", "nemenyi")
    assert ours.friedman[0].p == pytest.approx(theirs.pvalue, rel=1e-9)
    # autorank takes the quantile from an approximation, which is .16 % too large for 197 systems.
    quantiles = [f(0.95, len(systems), np.inf) for f in (qsturng, studentized_range.ppf)]
    assert quantiles[0] == pytest.approx(quantiles[1], rel=2e-3)
    expected = theirs.cd * quantiles[1] / quantiles[0]
    assert ours.friedman[0].critical_distance == pytest.approx(expected, rel=1e-9)
    assert dict(ours.mean_ranks()) == pytest.approx(theirs.rankdf.meanrank.to_dict(), rel=1e-12)


@needs_mteb_scores
@pytest.mark.needs("arena")
def test_bradley_terry_of_mteb_is_that_of_arena_rank(mteb: rs.Bench) -> None:
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    first, second = np.triu_indices(197, 1)
    parts = []
    for values in mteb.scores.values.T:
        won = np.sign(values[first] - values[second]).astype(int)
        winner = np.array(["tie", "model_a", "model_b"])[won]
        # Numbers of three digits sort like the systems.
        parts.append(pd.DataFrame({"model_a": first + 100, "model_b": second + 100, "winner": winner}))
    data = PairDataset.from_pandas(pd.concat(parts, ignore_index=True))
    model = BradleyTerry(197, ftol=0.0, gtol=1e-13)
    model.fit(data)
    strengths = np.asarray(model.params["ratings"])
    assert values_of(mteb, "bradley-terry") == pytest.approx(
        (strengths - strengths.mean()).tolist(), abs=1e-6
    )


@needs_mteb_scores
def test_bradley_terry_of_mteb_is_the_logit_of_statsmodels(mteb: rs.Bench) -> None:
    pytest.importorskip("statsmodels")
    rows = list(csv.reader(MTEB_SCORES.read_text().splitlines()))
    values = np.array([[float(x) for x in row[1:]] for row in rows[1:] if all(row)])
    assert values.shape == (197, 15) and [row[0] for row in rows[1:] if all(row)] == list(mteb.scores.systems)
    strengths = logit_strengths(values[::5])
    ours = bradley_terry(compute_terms(values[::5], "points").mean(axis=1))
    assert ours == pytest.approx(strengths, abs=1e-6)
    points = np.array(values_of(mteb, "win-rate"), float) * 196
    theta = np.array(values_of(mteb, "bradley-terry"), float)
    chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    assert chance.sum(axis=1) - 0.5 == pytest.approx(points, abs=1e-8)


@needs_mteb_scores
def test_friedman_of_mteb_is_that_of_scipy_and_orders_by_ranks_agree(mteb: rs.Bench) -> None:
    from scipy.stats import friedmanchisquare

    row, expected = mteb.friedman[0], friedmanchisquare(*mteb.scores.values)
    assert (row.systems, row.tasks) == (197, 15) and row.statistic == pytest.approx(
        expected.statistic, rel=1e-9
    )
    tau = {(row.aggregate, row.without): row.tau for row in mteb.fragility if row.change == "aggregate"}
    same = ("borda", "win-rate", "bradley-terry", "mean-rank")
    assert all(tau[pair] == 1 for pair in combinations(same, 2)) and tau["mean", "borda"] < 1


@needs_mteb_scores
def test_everything_about_mteb_takes_seconds() -> None:
    from time import process_time

    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = rs.bench(MTEB_SCORES, types=TYPES)
    rows = sum(len(table) for table in result.tables.values())
    assert rows > 135_000 and process_time() - begin < 10
