"""A measure declares which values are better, and all code that sorts, marks or compares runs uses it."""

from __future__ import annotations

import json
import math
import pickle
import random
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import MeasureError, SettingsError
from rankscope.measures import REGISTRY, Measure, measure
from rankscope.reporting.page_data import payload

NEITHER = {
    *("NumQ", "NumRet", "NumRel", "NumNonrelRet", "Judged", "Unjudged", "RBPResidual", "IdealDCG"),
    *("CRP", "CRP_N"),
}


def scored(values: dict[str, list[list[float]]], runs: str = "abcdefgh") -> rs.Scores:
    """Scores from numbers: measure -> run -> topic."""
    array = np.array(list(values.values()), np.float64)
    names = tuple(runs[: array.shape[1]])
    topics = tuple(f"q{t}" for t in range(array.shape[2]))
    return rs.Scores(names, topics, tuple(map(measure, values)), array, {})


@pytest.fixture
def example_scores() -> rs.Scores:
    """Run b is the best by BalancePoint, c never recovers; by AP c is."""
    return scored(
        {
            "BalancePoint": [[61.0, 61.0], [53.4, 53.4], [math.inf, 9.0]],
            "AP": [[0.1] * 2, [0.2] * 2, [0.3] * 2],
        }
    )


def test_every_measure_declares_its_direction() -> None:
    directions = {known.name: known.better for known in REGISTRY.values() if known.family != "user"}
    # Rankings check the direction of every other measure (the next test).
    assert directions["BalancePoint"] == directions["BalanceTime"] == "lower"
    neither = {name for name, better in directions.items() if better == "neither"}
    assert neither == NEITHER, "a measure whose values express no quality has a name in NEITHER"


def ranking_values(measure: Measure) -> dict[str, float]:
    qrels = {"q": {"a": 2, "b": 1, "c": 1, "n": 0}}
    runs = {"".join(docs): {"q": list(docs)} for docs in permutations("abcxy")} | {"xyz": {"q": list("xyz")}}
    scores = rs.evaluate(qrels, runs, measure)
    return dict(zip(scores.runs, measure.merit(scores.values[0, :, 0]).tolist(), strict=True))


@pytest.mark.parametrize("name", sorted({m.name for m in REGISTRY.values() if m.better != "neither"}))
def test_the_ideal_list_is_better_than_one_without_relevant_documents(name: str) -> None:
    measure = REGISTRY[name]
    if measure.family == "user":
        pytest.skip("a measure that some test defined")
    if measure.family == "effort":
        measure = measure @ 6
    elif measure.cutoff_rule == "required":
        measure = measure @ (0.5 if name == "IPrec" else 3)
    merits = ranking_values(measure)
    if name == "Accuracy":  # It compares pairs, which need a relevant document.
        assert math.isnan(merits["xyz"])
    elif name == "SigmaPlus":  # nothing comes too late where nothing relevant comes
        assert merits["abcxy"] >= merits["xyz"]
    else:
        assert merits["abcxy"] > merits["xyz"]
    assert merits["abcxy"] >= merits["xycba"]


def test_the_final_ratio_has_no_direction() -> None:
    merits = ranking_values(rs.CRP_N @ 6)
    assert merits["xyz"] > merits["abcxy"], "a list without relevant documents has more than the ideal one"


# sorting and marking ----------------------------------------------------------------------------------------


def test_the_lowest_balance_point_comes_first_and_infinity_last(example_scores: rs.Scores) -> None:
    assert example_scores.best_first() == example_scores.best_first("BalancePoint") == [1, 0, 2]
    assert example_scores.best_first("AP") == [2, 1, 0]
    assert [row[0] for row in example_scores.wide().rows] == ["b", "a", "c"]
    undefined = scored({"BalancePoint": [[math.nan], [math.inf], [7.0]]})
    assert undefined.best_first() == [2, 1, 0]


def test_the_lowest_balance_point_is_bold(example_scores: rs.Scores) -> None:
    assert "\\textbf{53.4000}" in example_scores.to_latex()
    assert "\\textbf{61.0000}" not in example_scores.to_latex()
    assert "**53.4000**" in example_scores.to_markdown()
    assert "<b>53.4000</b>" in example_scores._repr_html_()
    assert "<b>61.0000</b>" not in example_scores._repr_html_()


def test_counts_come_first_but_are_not_best() -> None:
    scores = scored({"NumRet": [[10], [30], [20]], "AP": [[0.5], [0.1], [0.3]]})
    assert scores.best_first() == [0, 2, 1], "by AP, the first measure that knows"
    assert scores.best_first("NumRet") == [1, 2, 0]
    assert "textbf{30" not in scores.to_latex()
    assert "\\textbf{0.5000}" in scores.to_latex()
    assert scored({"NumRet": [[10], [30], [20]]}).best_first() == [1, 2, 0]


# comparison -------------------------------------------------------------------------------------------------


@pytest.fixture
def finite() -> rs.Scores:
    topics = np.arange(12)
    rows = [61.0 + topics % 3, 53.4 + topics % 3, 90.0 + topics % 2]
    return scored(
        {"BalancePoint": [row.tolist() for row in rows], "AP": [[0.5] * 12, [0.6] * 12, [0.1] * 12]}
    )


def test_compare_marks_the_better_run(finite: rs.Scores) -> None:
    result = rs.compare(finite, baseline="a")
    table = result.marked_means
    assert [row[0] for row in table.rows] == ["b", "a", "c"]
    assert "\\textbf{54.4000" in table.latex()
    rows = {(r["a"], r["measure"]): r for r in result["pairs"].records()}
    assert rows["b", "BalancePoint"]["difference"] < 0
    assert (rows["b", "BalancePoint"]["wins"], rows["b", "BalancePoint"]["losses"]) == (12, 0)
    assert (rows["c", "BalancePoint"]["wins"], rows["c", "BalancePoint"]["losses"]) == (0, 12)
    letters = {
        r["run"]: r["mark"] for r in rs.compare(finite)["runs"].records() if r["measure"] == "BalancePoint"
    }
    assert letters == {"a": "B", "b": "A", "c": "C"}, "letters begin at the best run"


def test_correlation_is_of_how_good_runs_are(finite: rs.Scores) -> None:
    methods = ("kendall", "ap", "spearman", "rbo", "pearson")
    values = {r["method"]: r["value"] for r in rs.correlate(finite, methods)["correlations"].records()}
    assert [values[m] for m in ("kendall", "ap", "spearman")] == pytest.approx([1, 1, 1])
    assert values["rbo"] == pytest.approx(1)
    assert values["pearson"] > 0.9
    topic = rs.correlate(finite, "kendall", per_topic=True)["topics"].records()
    assert {r["value"] for r in topic} == {1.0}


def test_swapped_pairs_name_the_better_run() -> None:
    scores = scored({"BalancePoint": [[10.0], [20.0]], "AP": [[0.1], [0.4]]})
    (row,) = rs.correlate(scores, "kendall", swaps=True)["swaps"].records()
    assert (row["better_by_a"], row["better_by_b"]) == ("a", "b")
    assert (row["difference_a"], row["difference_b"]) == pytest.approx((-10.0, -0.3))


def test_the_best_share_of_the_runs(finite: rs.Scores) -> None:
    kept = rs.correlate(finite, "kendall", top=0.67, by="BalancePoint")["correlations"].records()[0]
    assert kept["runs"] == 2
    power = rs.power(finite, "t", top=0.67, by="BalancePoint")
    assert {(r["a"], r["b"]) for r in power["asl"].records()} == {("a", "b")}
    scores = scored({"AP": [[0.1], [0.2]], "RR": [[0.1], [0.2]], "NumRet": [[1], [2]]})
    with pytest.raises(SettingsError, match="NumRet does not order runs"):
        rs.correlate(scores, "kendall", top=0.5, by="NumRet")


# from files, through every analysis -------------------------------------------------------------------------

QRELS = {t: {"a": 1, "b": 1, "u": 1} for t in ("1", "2")}
RUNS: dict[str, dict[str, list[str]]] = {
    "early": {t: ["a", "x", "b", "y", "u", "z", "w", "v"] for t in QRELS},
    "late": {t: ["x", "y", "a", "b", "z", "w", "u", "v"] for t in QRELS},
    "later": {t: ["x", "y", "z", "a", "w", "b", "v", "u"] for t in QRELS},
}


def test_pools_and_orderings_rank_the_better_run_first() -> None:
    points = rs.evaluate(QRELS, RUNS, "BalancePoint@8").mean("BalancePoint@8").tolist()
    assert points == sorted(points)
    assert len(set(points)) == 3
    left = rs.leave_out(rs.evaluate(QRELS, RUNS, "BalancePoint@8"), pool_depth=8)
    assert {r["run"]: r["rank"] for r in left["leave_out"].records()} == {"early": 1, "late": 2, "later": 3}


def test_the_top_of_a_ranking_is_its_better_end() -> None:
    """Rho = RB / BalancePoint: on one topic both rank the runs alike, and AP-correlation looks at the top."""
    dice = random.Random(3)
    qrels = {"q": dict.fromkeys("abcu", 1) | {"x": 0, "y": 0}}
    runs = {f"r{n}": {"q": dice.sample("abcuwxyz", 8)} for n in range(8)}
    result = rs.pools(
        rs.evaluate(qrels, runs, ["BalancePoint@8", "Rho@8"]), pool_depth=[1, 2], ratios=[50, 30]
    )
    taus: dict[Any, list[float]] = {}
    for row in result["robustness"].records():
        taus.setdefault(row["measure"], []).append(row["tau_ap"])
    assert taus["BalancePoint@8"] == pytest.approx(taus["Rho@8"])
    assert any(abs(tau) < 1 for tau in taus["Rho@8"]), "so that the direction matters"
    mixed = {run: {"q": {doc: dice.random() for doc in lists["q"]}} for run, lists in runs.items()}
    ranked = rs.orderings(rs.evaluate(qrels, mixed, ["BalancePoint@8", "Rho@8"]))["ranking"].records()
    assert ranked[0]["tau_ap"] == pytest.approx(ranked[1]["tau_ap"])
    assert abs(ranked[0]["tau_ap"]) < 1


def test_gain_of_which_less_is_better_has_the_upper_rows() -> None:
    by_balance, by_rho = (
        rs.effort(rs.Collection(QRELS, RUNS), name, cutoff=8) for name in ("BalancePoint@8", "Rho@8")
    )
    assert by_balance.plane("BalancePoint@8").tolist() == by_rho.plane("Rho@8").tolist()
    top = by_balance.points("BalancePoint@8", gain="huge", effort="medium")
    assert set(top.column("run")) == {"early"}
    axes = by_balance.plot().axes[0]
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "more gain is up"
    assert axes.get_ylabel().endswith("(gain, lower is better)")
    assert by_rho.plot().axes[0].get_ylim() == (0, 1)


def test_the_figure_of_means_says_so() -> None:
    figure = rs.evaluate(QRELS, RUNS, ["AP", "BalancePoint@8"]).plot()
    shares, points = figure.axes
    assert [label.get_text() for label in shares.get_yticklabels()] == ["AP"]
    assert [label.get_text() for label in points.get_yticklabels()] == ["BalancePoint@8 ↓"]
    assert "lower is better" in points.get_xlabel()
    assert "lower is better" not in shares.get_xlabel()


def test_the_page_has_the_directions_of_measures() -> None:
    judged = rs.judge(rs.Qrels.from_dict(QRELS), rs.Runs(rs.Run.from_dict(v, k) for k, v in RUNS.items()))
    document = payload(judged, title="T", measures=[rs.BalancePoint @ 8, rs.ERR, rs.NumRet])
    directions = {measure["name"]: measure["better"] for measure in document["measures"]}
    assert {name: better for name, better in directions.items() if better != "higher"} == {
        "BalancePoint@8": "lower", "NumRet": "neither", "CRP_N": "neither", "Judged@10": "neither"
    }  # fmt: skip
    assert directions == {name: measure(name).better for name in directions}


def test_the_list_of_measures_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", "BalancePoint"]) == 0
    assert "better: lower" in capsys.readouterr().out
    assert main(["measures", "-f", "json", "-o", str(tmp_path / "m.json")]) == 0
    rows = json.loads((tmp_path / "m.json").read_text())["tables"]["measures"]
    assert {row["measure"]: row["better"] for row in rows}["NumRet"] == "neither"
    assert main(["measures", "-f", "markdown"]) == 0
    assert "| better " in capsys.readouterr().out


# user-defined and composed measures -----------------------------------------------------


def first_hit(grades: list[int]) -> float:
    return next((rank for rank, grade in enumerate(grades, 1) if grade > 0), math.inf)


def test_a_function_can_be_a_cost() -> None:
    cost = rs.measure("FirstHit", first_hit, better="lower")
    assert cost.better == (cost @ 5).better == pickle.loads(pickle.dumps(cost)).better == "lower"
    scores = rs.evaluate(QRELS, RUNS, [cost])
    assert [scores.runs[r] for r in scores.best_first()] == ["early", "late", "later"]
    assert rs.measure("Gain", lambda grades: sum(grades)).better == "higher"
    with pytest.raises(
        MeasureError, match="FirstHit cannot have better='less'; choose one of higher, lower, neither"
    ):
        rs.measure("FirstHit", first_hit, better="less")  # type: ignore[arg-type]


def test_composed_measures_have_the_direction_of_their_inner_measure() -> None:
    assert measure("IA(measure='BalancePoint')").better == "lower"
    assert measure("IA(measure='AP')").better == "higher"
    assert measure("Interval(measure='BalancePoint')@4").better == "lower"
    assert pickle.loads(pickle.dumps(measure("IA(measure='BalancePoint')"))).better == "lower"
