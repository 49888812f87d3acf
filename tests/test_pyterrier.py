"""Experiments of the real PyTerrier know our measures by their names, once both are installed; no Java is needed."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import pytest

import rankscope as rs

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.needs("pyterrier")

TOPICS = pd.DataFrame([["q1", "one"], ["q2", "two"], ["q3", "three"]], columns=["qid", "query"])
QRELS = pd.DataFrame(
    [["q1", "d1", 1], ["q1", "d2", 0], ["q2", "d1", 2], ["q2", "d3", 1], ["q3", "d9", 1]],
    columns=["qid", "docno", "label"],
)
FIRST = pd.DataFrame(
    [["q1", "d2", 2.0, 0], ["q1", "d1", 1.0, 1], ["q2", "d1", 3.0, 0], ["q2", "d2", 2.0, 1]],
    columns=["qid", "docno", "score", "rank"],
)
SECOND = FIRST.assign(score=-FIRST["score"])


@pytest.fixture
def pt(monkeypatch: pytest.MonkeyPatch) -> Any:
    import ir_measures
    import pyterrier

    monkeypatch.setattr(ir_measures.ranx, "_is_available", False)  # not needed here, and compiles for seconds
    return pyterrier


def ours(frame: Any, expected: list[str]) -> list[float]:
    scores = rs.evaluate(QRELS, rs.Run.from_frame(frame), expected)
    return [scores.mean(rs.measure(one))[0] for one in expected]


def test_the_entry_point_is_installed() -> None:
    points = {point.name: point.value for point in entry_points(group="pyterrier.modules")}
    assert points["rankscope"] == "rankscope.ir_measures:in_pyterrier", "install again: pip install -e ."


def test_measures_by_name_in_an_experiment(pt: Any) -> None:
    expected = ["Twist", "nDCG@10", "map", "ndcg_cut_5", "Rho", "INST(max_rel=2)"]
    measures = ["Twist", "nDCG@10", "map", "ndcg_at_5", pt.rankscope.Rho, "INST(max_rel=2)"]
    shown = [*measures[:4], "Rho", *measures[5:]]
    systems = [FIRST, pt.Transformer.from_df(SECOND)]
    table = pt.Experiment(systems, TOPICS, QRELS, eval_metrics=measures, names=["first", "second"])
    for row, frame in enumerate((FIRST, SECOND)):
        assert table.loc[row, shown].tolist() == pytest.approx(ours(frame, expected), abs=1e-5), row
    assert not pt.java.started()


def test_topics_one_by_one(pt: Any) -> None:
    table = pt.Experiment([FIRST], TOPICS, QRELS, eval_metrics=["Twist", "AP"], names=["a"], perquery=True)
    scores = rs.evaluate(QRELS, rs.Run.from_frame(FIRST), ["Twist", "AP"])
    (topics,) = scores.per_topic().values()
    expected = {(topic, str(one)): value for topic, row in topics.items() for one, value in row.items()}
    assert {(r.qid, r.measure): r.value for r in table.itertuples()} == pytest.approx(expected)


def test_names_of_trec_eval_still_mean_what_they_meant(pt: Any) -> None:
    table = pt.Experiment([FIRST], TOPICS, QRELS, eval_metrics=["map", "recip_rank", "P_5"], names=["a"])
    assert list(table.columns) == ["name", "map", "recip_rank", "P_5"]


def test_an_unknown_name_is_answered_with_near_ones(pt: Any) -> None:
    with pytest.raises(ValueError, match="unknown measure 'Twits'; did you mean Twist"):
        pt.Experiment([FIRST], TOPICS, QRELS, eval_metrics=["Twits"], names=["a"])
