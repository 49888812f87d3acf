"""The drop-in replacement for pytrec_eval compared with the original: keys, values, errors."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope.pytrec_eval as ours

theirs = pytest.importorskip("pytrec_eval")
pytestmark = pytest.mark.needs("peers")

DOCUMENTS = [*(f"d{i}" for i in range(12)), "é", "Z", "d10x", "0"]
SCORES = [1.0, 1.0, 2.0, -3.5, 0.0, -0.0, 1e-9, 1.0 + 1e-9, 3e38, -1e-40, 7.25, 3, True]

# the original reads outside its memory where no grade is above -1
judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1).filter(
    lambda graded: max(graded.values()) >= 0
)
retrieved = st.dictionaries(st.sampled_from([*DOCUMENTS, "unknown"]), st.sampled_from(SCORES))
topics = st.sampled_from(["1", "2", "10", "q"])
measures = st.sets(
    st.sampled_from(
        [
            *sorted(theirs.supported_measures),
            *("official", "set", "all_trec", "P_3", "P.7", "ndcg_cut_10", "ndcg_cut.4,2", "map_cut_3,12"),
            *("recall.1", "success_2", "iprec_at_recall_0.25", "set_F_0.5", "Rprec_mult.0.3", "relative_P_2"),
            *(
                "set_F.2,0.5",
                "utility_1,2,3,4",
                "relstring_5",
                "11pt_avg.0.2,0.4",
                "map_5",
                "num_ret_3",
                "P_10,5,10",
            ),
        ]
    ),
    max_size=6,
)


def same(mine: float, other: float) -> bool:
    return mine == other or (math.isnan(mine) and math.isnan(other)) or abs(mine - other) < 1e-9


@settings(deadline=None)
@given(
    st.dictionaries(topics, judged),
    st.dictionaries(topics, retrieved),
    measures,
    st.integers(1, 3),
    st.booleans(),
)
def test_keys_and_values_are_those_of_pytrec_eval(
    qrel: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    wanted: set[str],
    level: int,
    judged_only: bool,
) -> None:
    if judged_only:  # the original never ends where such a list has no judged document
        run = {topic: scores for topic, scores in run.items() if set(scores) & set(qrel.get(topic, ()))}
    expected = theirs.RelevanceEvaluator(qrel, wanted, level, judged_only).evaluate(run)
    evaluator = ours.RelevanceEvaluator(qrel, wanted, level, judged_only)
    for _ in range(2):  # an evaluator serves any number of runs
        actual = evaluator.evaluate(run)
        assert list(actual) == list(expected)
        for topic in expected:
            assert list(actual[topic]) == list(expected[topic])
            for name, value in expected[topic].items():
                assert same(actual[topic][name], value), (topic, name)


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (["set_F_0.5"], {"set_F"}),
        (["utility.1,2,3,4"], {"utility"}),
        (["relstring.20"], {"relstring"}),
        (["11pt_avg_0.5"], {"11pt_avg"}),
        (["map_5", "recip_rank.3"], {"map", "recip_rank"}),
        (
            ["ndcg_cut", "ndcg_cut.1,4", "ndcg_cut_20,4", "P.5"],
            {"ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_20", "P_5"},
        ),
    ],
)
def test_only_cutoffs_are_in_keys(wanted: list[str], keys: set[str]) -> None:
    run = {"q1": {"d1": 1.0, "d2": 2.0}, "q2": {}}
    for library in (theirs, ours):
        assert set(library.RelevanceEvaluator(QREL, wanted).evaluate(run)["q1"]) == keys


NOTHING: dict[str, Any] = {}


@pytest.mark.parametrize(
    "run", [NOTHING, {"q1": NOTHING}, {"q1": {"d2": 2.0, "x": 1.0}, "q9": {"d1": 1.0}}], ids=str
)
@pytest.mark.parametrize(
    "qrel", [NOTHING, {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}, "q9": NOTHING}], ids=str
)
@pytest.mark.parametrize(
    ("kind", "wanted"),
    [(set, []), (dict, []), (list, []), (tuple, ["map"]), (iter, ["map"]), (set, ["official"])],
    ids=["no set", "no dict", "no list", "tuple", "iterator", "nickname"],
)
def test_empty_inputs_give_the_results_of_pytrec_eval(
    qrel: Any, run: Any, kind: Any, wanted: list[str]
) -> None:
    program = f"import pytrec_eval; print(pytrec_eval.RelevanceEvaluator({qrel}, {wanted}).evaluate({run}))"
    assert _their_answer(program, all((*qrel.values(), *run.values()))) in (
        repr(ours.RelevanceEvaluator(qrel, kind(wanted)).evaluate(run)),
        None,
    )


@cache  # several examples of an empty request run the same program
def _their_answer(program: str, complete: bool) -> str | None:
    """Return the output of pytrec_eval in a separate process, or None if it crashes.

    It reads outside its memory where a topic has no judgments, or no documents.
    """
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if process.returncode < 0 and not complete:
        return None
    assert process.returncode == 0, process.stderr
    return process.stdout.rstrip("\n")


@pytest.mark.parametrize("level", [1, 2, True, np.int64(2), np.int32(1), 2**31 - 1])
def test_levels_may_be_any_whole_number(level: Any) -> None:
    run = {"q1": {"d1": 1.0, "d2": 2.0}}
    for name in ("relevance_level", "judged_docs_only_flag"):
        results = [
            lib.RelevanceEvaluator(QREL, {"map", "P_5"}, **{name: level}).evaluate(run)
            for lib in (theirs, ours)
        ]
        assert results[0] == results[1]


def test_names_are_those_of_pytrec_eval() -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= set(ours.__all__)


QREL = {"q1": {"d1": 1, "d2": 0}}


def judging(relevance: Any, wanted: Any = ("map",), **settings: Any) -> Callable[[Any], Any]:
    return lambda library: library.RelevanceEvaluator(relevance, wanted, **settings)


def evaluating(run: Any) -> Callable[[Any], Any]:
    return lambda library: library.RelevanceEvaluator(QREL, {"map"}).evaluate(run)


@pytest.mark.parametrize(
    "mistake",
    [
        judging({"q": {"d": 1.5}}),
        judging({"q": {"d": "1"}}),
        judging({"q": {1: 1}}),
        judging({1: {"d": 1}}),
        judging([]),
        judging({"q": ["d"]}),
        judging(QREL, {"foo"}),
        judging(QREL, "map"),
        judging(QREL, {"ndcg_cut_x"}),
        judging(QREL, {"map"}, relevance_level="x"),
        judging(QREL, {"map"}, relevance_level=1.0),
        judging(QREL, {"map"}, relevance_level=0),
        judging(QREL, {"map"}, relevance_level=None),
        judging(QREL, {"map"}, relevance_level=2**31),
        judging(QREL, {"map"}, relevance_level=np.float64(1)),
        judging(QREL, {"map"}, judged_docs_only_flag="x"),
        judging(QREL, {"map"}, judged_docs_only_flag=2**40),
        judging(QREL, None),
        judging(QREL, 5),
        judging(QREL, {None}),
        judging(QREL, {1}),
        judging(QREL, {""}),
        judging(QREL, {"MAP"}),
        judging(QREL, {"P_"}),
        judging(None),
        judging("abc"),
        judging({"q": None}),
        judging({"q": 5}),
        judging({"q": "ab"}),
        judging({"q": {"d": None}}),
        judging({"q": {"d": np.int64(1)}}),
        judging({"q": {"d": 1}, "r": {"d": 1.0}}),
        judging({b"q": {"d": 1}}),
        evaluating({"q1": {"d1": 1.0, 5: 2.0}}),
        evaluating({"q1": {"d1": np.int64(1)}}),
        evaluating({"q1": {"d1": np.float32(1)}}),
        evaluating({"q1": {"d1": 1.0}, "unjudged": {"d": None}}),
        evaluating({"q1": None}),
        evaluating([1]),
        evaluating(("q1",)),
        evaluating({"q1": {"d": "x"}}),
        evaluating({"q1": {"d": "1"}}),
        evaluating({"q1": {"d": None}}),
        evaluating({"q1": {1: 1.0}}),
        evaluating({1: {"d": 1.0}}),
        evaluating({"q1": []}),
        evaluating("abc"),
        lambda library: library.parse_run(["q Q0 d 1 x t"]),
        lambda library: library.parse_run(["q Q0 d 1 1 t", "q Q0 d 2 1 t"]),
        lambda library: library.parse_run(["q Q0 d 1 1"]),
        lambda library: library.parse_qrel(["q 0 d 1.5"]),
        lambda library: library.parse_qrel(["q 0 d 1", "q 0 d 2"]),
    ],
)  # fmt: skip
def test_mistakes_are_the_same_errors(mistake: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as expected:
        mistake(theirs)
    with pytest.raises(expected.type) as result:
        mistake(ours)
    if expected.type in (TypeError, AttributeError) and "unpack" not in str(expected.value):
        assert str(result.value) == str(expected.value)


@pytest.mark.parametrize(
    ("measure", "values"), [("map", [0.5, 0.25]), ("gm_map", [-1.0, -0.5]), ("num_q", [1, 1]), ("P_5", [0.0])]
)
def test_aggregates(measure: str, values: list[float]) -> None:
    expected = theirs.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected, abs=1e-12)


def test_numpy_scores_are_numbers_where_the_original_takes_them() -> None:
    run = {"q1": {"d1": np.float64(1.0), "d2": np.float64(2.0)}}
    assert evaluating(run)(ours) == evaluating(run)(theirs) == {"q1": {"map": 0.5}}


def test_lines_become_dicts() -> None:
    lines = ["q1 Q0 d1 1 0.5 t\n", "q2 Q0 d1 1 -1e3 t\n"]
    assert ours.parse_run(lines) == theirs.parse_run(lines)
    assert ours.parse_qrel(["q1 0 d1 2"]) == theirs.parse_qrel(["q1 0 d1 2"])


@pytest.mark.parametrize("length", [0, 200])
def test_nan_is_the_lowest_score_in_lists_of_any_length(length: int) -> None:
    scores = {"a": float("nan"), "b": 1.0, "c": float("nan"), **{f"x{i}": 2.0 + i for i in range(length)}}
    ranks = {}
    for document in "abc":
        evaluator = ours.RelevanceEvaluator({"q": {document: 1}}, {"recip_rank"})
        ranks[document] = round(1 / evaluator.evaluate({"q": scores})["q"]["recip_rank"])
    assert ranks == {"b": length + 1, "c": length + 2, "a": length + 3}
