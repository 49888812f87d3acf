"""Calls that users of dicts, frames and other libraries write first."""

from __future__ import annotations

import json
import pickle

import pandas
import pytest

import rankscope as rs
from rankscope.errors import InputError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUNS = {"bm25": {"q1": {"a": 0.5, "b": 0.6}, "q2": {"c": 1.0}}, "dense": {"q1": ["a"], "q2": ["x", "c"]}}
REQUESTED = ["MRR@10", "recall@100", "RBP(p=0.8)", "nDCG@10"]


# Names of measures ---------------------------------------------------------------------------------------------------


def test_results_show_measures_under_the_requested_name() -> None:
    scores = rs.evaluate(QRELS, RUNS, " ".join(REQUESTED))
    assert [str(measure) for measure in scores.measures] == REQUESTED
    assert [m.canonical_name for m in scores.measures] == ["RR@10", "R@100", "RBP", "nDCG@10"]
    assert list(scores.means()["bm25"]) == list(scores.per_topic()["bm25"]["q1"]) == REQUESTED
    assert scores.settings["measures"] == list(dict.fromkeys(scores.to_pandas().measure)) == REQUESTED
    assert all(name in str(scores) for name in REQUESTED)
    assert {row.measure for row in rs.compare(scores).pairs} == set(REQUESTED)
    pickled = pickle.loads(pickle.dumps(scores.measures))
    assert [*map(str, pickled)] == REQUESTED and pickled == scores.measures


def test_a_measure_is_the_same_under_all_its_names() -> None:
    scores = rs.evaluate(QRELS, RUNS, "map AP MRR@10 recip_rank_10")
    assert [*map(str, scores.measures)] == ["map", "MRR@10"]
    assert scores.measures == (rs.AP, rs.RR @ 10)
    for name in ("RR@10", "mrr_at_10", "MRR@10", "RR(rel=1)@10", rs.RR @ 10):
        assert scores.means()["dense"][name] == 0.75 == scores.mean(name)[1]
        assert scores.per_topic()["dense"]["q2"][name] == 0.5 == scores.matrix(name).values[1, 1]
    with pytest.raises(InputError, match="nDCG was not evaluated; there are map, MRR@10"):
        scores.means()["bm25"]["ndcg"]


def test_means_are_plain_data() -> None:
    means = rs.evaluate(QRELS, RUNS, REQUESTED).means()
    assert json.loads(json.dumps(means)) == means == pickle.loads(pickle.dumps(means))
    frame = pandas.DataFrame(means)
    assert list(frame.index) == REQUESTED and list(frame.columns) == ["bm25", "dense"]
    assert frame.loc["MRR@10", "dense"] == 0.75


def test_analyses_find_a_measure_by_another_name_than_the_requested_one() -> None:
    runs = {**RUNS, "third": {"q1": ["b", "a"], "q2": ["c"]}}
    scores = rs.evaluate(QRELS, runs, "map MRR@10")
    assert rs.correlate(scores, top=0.7, by="AP").settings["by"] == "AP"
    pooled = rs.pool_correlation(scores, against="RR@10")
    assert {row.b for row in pooled.correlations} == {"MRR@10"}
    verdicts = rs.lab.scales("recip_rank_5", length=3)
    assert verdicts.verdict("RR@5", verdicts.verdicts[0].scale) is verdicts.verdicts[0]
    properties = rs.lab.properties("recip_rank_5", aspects=1, depth=3, relevant=2)
    assert properties.measure("RR@5") == rs.RR @ 5


def test_scores_keep_the_names_of_their_file() -> None:
    columns = {"run": ["a"], "topic": ["1"], "measure": ["ndcg_cut_10"], "value": [0.5]}
    scores = rs.read_scores(columns)
    assert scores.means() == {"a": {"ndcg_cut_10": 0.5}} and scores.measures == (rs.nDCG @ 10,)
