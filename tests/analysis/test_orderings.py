"""Two orderings of the same files."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.orderings import Swaps, count_swaps
from rankscope.errors import SettingsError
from rankscope.read import Qrels, Run

ITEMS = [
    ("D01", 1, 2.0),
    ("D07", 2, 2.0),
    ("D03", 3, 2.5),
    ("D04", 4, 1.0),
    ("D05", 5, 1.00000001),
    ("D02", 6, -1.0),
]


@pytest.fixture
def files(tmp_path):
    """Write the list of section 2 of the reproducibility study as a run file, and a run that is in order."""
    run = "".join(f"q Q0 {d} {r} {s} tag\n" for d, r, s in ITEMS)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mixed.txt").write_text(run)
    (tmp_path / "runs" / "clean.txt").write_text("q Q0 D09 1 3.0 tag\nq Q0 D03 2 2.0 tag\n")
    (tmp_path / "qrels.txt").write_text("q 0 D03 1\nq 0 D07 1\nq 0 D04 0\n")
    return tmp_path


def test_swaps_are_counted_rank_by_rank(files):
    # file: D01 D07 D03 D04 D05 D02; trec_eval: D03 D07 D01 D05 D04 D02
    result = rs.orderings(rs.evaluate(files / "qrels.txt", rs.read_runs(files / "runs"), ["RR", "AP"]))
    clean, mixed = sorted(result["swaps"].records(), key=lambda row: row["run"])
    assert (mixed["documents"], mixed["swapped"]) == (6, 4)
    assert (mixed["nonrelevant"], mixed["equal"], mixed["different"]) == (0.5, 0, 0.5)
    assert mixed["share"] == pytest.approx(4 / 6)
    assert (clean["swapped"], clean["share"], clean["different"]) == (0, 0, None)
    (total,) = result["total"].records()
    assert (total["documents"], total["swapped"]) == (8, 4)


def test_effect_is_the_difference_of_the_two_evaluations(files):
    runs = rs.read_runs(files / "runs")
    result = rs.orderings(rs.evaluate(files / "qrels.txt", runs, ["RR", "AP"]), orders=("file", "trec_eval"))
    for row in result["effect"].records():
        first, second = (
            rs.evaluate(files / "qrels.txt", runs.with_order(order), [row["measure"]]).mean(row["measure"])[
                list(runs).index(row["run"])
            ]
            for order in ("file", "trec_eval")
        )
        assert (row["first"], row["second"]) == pytest.approx((first, second))
        assert row["difference"] == pytest.approx(second - first)
    ranking = {r["measure"]: r for r in result["ranking"].records()}
    assert ranking["RR"]["max_change"] == pytest.approx(0.5)


def test_single_precision_can_tie_what_double_precision_does_not():
    run = Run.from_dict({"q": {"a": 1.00000001, "b": 1.0}})
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 2}})
    assert count_swaps(qrels, run, "trec_eval9", "trec_eval") == Swaps(2, 2, 0, 0, 2)


def test_the_same_ordering_twice_changes_nothing(small):
    result = rs.orderings(rs.evaluate(*small, ["AP"]), orders=("trec_eval", "trec_eval"))
    assert set(result["swaps"].column("swapped")) == {0}
    assert set(result["effect"].column("difference")) == {0.0}
    assert result["ranking"].records()[0]["tau"] == 1


def test_equally_relevant_documents_change_no_measure():
    qrels = {"q": {"a": 1, "b": 1}}
    result = rs.orderings(rs.evaluate(qrels, {"q": {"a": 1.0, "b": 1.0, "x": 0.5}}, ["AP", "RR", "nDCG"]))
    assert result["swaps"].records()[0]["equal"] == 1
    assert set(result["effect"].column("difference")) == {0.0}


def test_topics_without_judgments_do_not_count():
    run = Run.from_dict({"q": {"a": 2.0}, "other": {"x": 1.0, "y": 2.0}})
    assert count_swaps(Qrels.from_dict({"q": {"a": 1}}), run, "file", "trec_eval").documents == 1


def test_degenerate_inputs(small):
    qrels, runs = small
    single_run = rs.orderings(rs.evaluate(qrels, {"a": runs["run1"]}, ["AP"]))
    assert math.isnan(single_run["ranking"].records()[0]["tau"])
    same = rs.orderings(rs.evaluate(qrels, {"a": runs["run1"], "b": runs["run1"]}, ["AP"]))
    assert math.isnan(same["ranking"].records()[0]["tau"])
    with pytest.raises(SettingsError, match="give two"):
        rs.orderings(rs.evaluate(qrels, runs, ["AP"]), orders=("file",))
    with pytest.raises(SettingsError, match="trec_eval"):
        rs.orderings(rs.evaluate(qrels, runs, ["AP"]), orders=("file", "treceval"))


def test_real_runs_mostly_swap_nonrelevant_documents(data_dir):
    folder = data_dir / "trec_covid_r1_full24"
    runs = sorted((folder / "runs").iterdir())[:8]
    result = rs.orderings(rs.evaluate(folder / "qrels.txt", rs.read_runs(*runs), ["AP", "RR"]))
    (total,) = result["total"].records()
    assert 0 < total["share"] < 0.2
    assert total["nonrelevant"] + total["equal"] + total["different"] == pytest.approx(1)
    assert total["nonrelevant"] > 0.8
    assert np.isfinite(result["ranking"].column("tau")).all()
