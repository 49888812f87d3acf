"""The bridge into ir_measures: every measure of theirs, with parameters, has there the value that their own providers
give, or is refused."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.measures import measure
from rankscope.measures.grammar import from_ir_measures

ir_measures = pytest.importorskip("ir_measures")
bridge = pytest.importorskip("rankscope.ir_measures")
pytestmark = pytest.mark.needs("peers")

THEIRS = ir_measures.providers.FallbackProvider(
    [provider for provider in ir_measures.DefaultPipeline.providers if provider is not bridge.provider]
)
KNOWN = {
    measure.NAME: measure
    for measure in ir_measures.measures.registry.values()
    if not isinstance(measure, bridge._RankscopeMeasure)
}
DIVERSE = {"ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall"}
GDEVAL = {"ERR", "nDCG(dcg='exp-log2')"}  # a program in Perl: five digits, numbers for topics

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "rel": st.integers(1, 3),
    "p": st.sampled_from([0.1, 0.5, 0.9]),
    "alpha": st.sampled_from([0.25, 0.5, 0.75]),
    "beta": st.sampled_from([0.25, 0.5, 0.75]),
    "T": st.sampled_from([0.5, 1.0, 3.5]),
    "min_rel": st.integers(0, 1),
    "max_rel": st.integers(2, 4),
    "judged_only": st.booleans(),
    "relative": st.booleans(),
    "normalize": st.booleans(),
    "dcg": st.just("log2"),
    "gains": st.dictionaries(st.integers(0, 4), st.integers(0, 9), min_size=1),
    "cutoff": st.integers(1, 12),
    "recall": st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
}
ALWAYS = {"max_rel", "cutoff", "recall"}  # required by them, or by all of their providers
NEVER = {"AP": (), "nDCG": (), "RR": ()}
DOCUMENTS = [f"d{i:02}" for i in range(14)]


@st.composite
def draw_measure(draw: st.DrawFn, names: list[str]) -> Any:
    """Draw a measure of ir_measures with some of its parameters."""
    name = draw(st.sampled_from(names))
    measure, parameters = KNOWN[name], {}
    for key in measure.SUPPORTED_PARAMS:
        if name in DIVERSE and key == "judged_only":
            continue  # their provider takes a list of documents for a dict
        if (key in ALWAYS and name not in NEVER) or draw(st.booleans()):
            parameters[key] = draw(VALUES[key])
    if name == "RBP":
        parameters = {"rel": 1, **{key: value for key, value in parameters.items() if key != "cutoff"}}
    if name == "RR" and parameters.get("judged_only"):
        parameters.pop("cutoff", None)  # they have a provider for the one or the other
    if name == "NumRel":
        parameters.pop("rel", None)  # they have no provider for it
    return measure(**parameters)


graded = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), min_size=1).filter(
    lambda grades: max(grades.values()) >= 0
)
ranked = st.lists(st.sampled_from([*DOCUMENTS, "unknown", "absent"]), min_size=1, unique=True)
collections = st.dictionaries(st.sampled_from(["1", "2", "30"]), st.tuples(graded, ranked), min_size=1)


def judgments(collection: dict[str, Any]) -> list[Any]:
    return [
        ir_measures.Qrel(topic, document, grade)
        for topic, (grades, _) in collection.items()
        for document, grade in grades.items()
    ]


def scored_documents(collection: dict[str, Any]) -> list[Any]:
    return [
        ir_measures.ScoredDoc(topic, document, 100.0 - index)
        for topic, (_, ranking) in collection.items()
        for index, document in enumerate(ranking)
    ]


def values(
    provider: Any, wanted: list[Any], qrels: list[Any], run: list[Any]
) -> dict[tuple[Any, str], float]:
    logging.getLogger("ir_measures.cwl_eval").setLevel("ERROR")
    metrics = provider.evaluator(wanted, qrels).iter_calc(run)
    return {(metric.measure, metric.query_id): metric.value for metric in metrics}


AS_THERE = {
    "ERR": {"max_grade": 4},
    "IPrec": {"rounding": "up"},
    **{name: {"preset": "ndeval"} for name in ("ERR_IA", "nERR_IA", "alpha_DCG")},
}
"""Parameters that make measures of Rankscope equal to those of ir_measures where the defaults differ."""


def ours(ir_measure: Any, qrels: list[Any], run: list[Any]) -> dict[tuple[Any, str], float]:
    if ir_measure.NAME not in AS_THERE:
        return values(bridge.provider, [ir_measure], qrels, run)
    translated = from_ir_measures(ir_measure)(**AS_THERE[ir_measure.NAME])
    scores = rs.evaluate(qrels, rs.Run.from_frame(run), translated)
    return {(ir_measure, topic): scores.values[0, 0, t] for t, topic in enumerate(scores.topics)}


def assert_same(measures: list[Any], qrels: list[Any], run: list[Any], tolerance: float = 1e-9) -> None:
    for ir_measure in measures:
        assert bridge.provider.supports(ir_measure), ir_measure.params
        try:
            expected = values(THEIRS, [ir_measure], qrels, run)
        except ZeroDivisionError:
            continue  # their accuracy of a list of relevant documents only
        actual = ours(ir_measure, qrels, run)
        if ir_measure.NAME in DIVERSE:  # a topic of which no aspect can be covered is left out there
            assert all(actual[key] == 0 for key in set(actual) - set(expected)), ir_measure
        else:
            assert set(actual) == set(expected), ir_measure
        for key, value in expected.items():
            assert actual[key] == pytest.approx(value, abs=tolerance), key


def test_every_measure_of_theirs_is_supported_and_compared() -> None:
    assert set(KNOWN) == {*PLAIN, *DIVERSE, "ERR"}
    unknown = {key for one in KNOWN.values() for key in one.SUPPORTED_PARAMS} - set(VALUES)
    assert not unknown, "a parameter that is not tried"


PLAIN = sorted(set(KNOWN) - DIVERSE - {"ERR"})


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(collections, st.lists(draw_measure(PLAIN), min_size=1, max_size=6))
def test_values_are_theirs(collection: dict[str, Any], measures: list[Any]) -> None:
    if any(m["judged_only"] for m in measures if "judged_only" in m.SUPPORTED_PARAMS) and not all(
        any(grades.get(document, -1) >= 0 for document in ranking) for grades, ranking in collection.values()
    ):
        return  # pytrec_eval does not end
    if any("gains" in m.params and m.params["gains"].get(0, 0) > 0 for m in measures):
        measures = [m for m in measures if "gains" not in m.params or 0 not in m.params["gains"]]
    assert_same(measures, judgments(collection), scored_documents(collection))


@given(
    st.dictionaries(
        st.sampled_from(["1", "2"]),
        st.tuples(graded, graded.map(lambda g: g), ranked),
        min_size=1,
        max_size=2,
    ),
    st.lists(draw_measure(sorted(DIVERSE)), min_size=1, max_size=4),
)
def test_values_over_aspects_are_theirs(collection: dict[str, Any], wanted: list[Any]) -> None:
    qrels = [
        ir_measures.Qrel(topic, document, grade, aspect)
        for topic, (first, second, _) in collection.items()
        for aspect, grades in (("1", first), ("2", second))
        for document, grade in grades.items()
    ]
    run = scored_documents({topic: (None, ranking) for topic, (_, _, ranking) in collection.items()})
    assert_same(wanted, qrels, run)


@settings(max_examples=4, deadline=None)
@given(collections, st.integers(1, 12))
def test_values_are_those_of_gdeval(collection: dict[str, Any], cutoff: int) -> None:
    if not ir_measures.gdeval.is_available():
        pytest.skip("gdeval needs perl")
    measures = [bridge.parse_measure(f"{name}@{cutoff}") for name in GDEVAL]
    assert_same(measures, judgments(collection), scored_documents(collection), tolerance=6e-6)


@pytest.mark.parametrize(
    "text",
    [
        *("AP", "AP(rel=2)@10", "P@5", "IPrec@0.5", "SetP(relative=True)", "nDCG(dcg='exp-log2')@3"),
        *("nDCG(gains={0: 0, 1: 2})@4", "INST(min_rel=0, max_rel=3, T=1.5)", "Twist", "Twist(rel=2)@5"),
    ],
)
@pytest.mark.skipif(
    sys.version_info >= (3, 14),
    reason="ir_measures 0.4.3 reads no numbers on Python 3.14: it asks for ast.Num",
)
def test_names_are_read_as_ir_measures_reads_them(text: str) -> None:
    assert bridge.parse_measure(text) == ir_measures.parse_measure(text)


@pytest.mark.parametrize("text", ["", "AP@", "AP(2)", "AP@x", "AP(**{})@x", "Nope@3", "1 + 1", "AP; AP"])
def test_unknown_measures_raise_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="has no measure"):
        bridge.parse_measure(text)


@given(collections, st.sampled_from([0.5, 0.8]))
def test_rank_biased_precision_without_a_level_is_graded(collection: dict[str, Any], p: float) -> None:
    measure = ir_measures.RBP(p=p)
    actual = values(bridge.provider, [measure], judgments(collection), scored_documents(collection))
    best = max(1, *(grade for grades, _ in collection.values() for grade in grades.values()), 1)
    for topic, (grades, ranking) in collection.items():
        gains = [max(grades.get(document, 0), 0) / best for document in ranking]
        expected = (1 - p) * sum(gain * p**place for place, gain in enumerate(gains))
        assert actual[measure, topic] == pytest.approx(expected, abs=1e-12)
    assert from_ir_measures(measure) == rs.RBP(p=p, graded=True)
    assert from_ir_measures(measure(rel=2)) == rs.RBP(p=p, rel=2)


QRELS = [ir_measures.Qrel("q1", "d1", 1), ir_measures.Qrel("q1", "d2", 0), ir_measures.Qrel("q2", "d1", 1)]
RUN = [ir_measures.ScoredDoc("q1", "d2", 2.0), ir_measures.ScoredDoc("q1", "d1", 1.0)]


def test_two_measures_that_are_one_here_both_have_values() -> None:
    twist = bridge.Twist
    measures = [
        twist,
        twist @ 1000,
        ir_measures.SetP(relative=True),
        ir_measures.measures.registry["SetRelP"],
    ]
    means = bridge.provider.calc_aggregate(measures, QRELS, RUN)
    assert set(means) == set(measures)
    assert means[twist] == means[twist @ 1000] == 0.25
    through = ir_measures.calc_aggregate([twist, twist @ 1000], QRELS, RUN)
    assert through == {twist: 0.25, twist @ 1000: 0.25}


def test_topics_without_documents_count_as_there() -> None:
    for run in ([], RUN):
        actual = values(bridge.provider, [ir_measures.AP, bridge.Twist], QRELS, run)
        assert actual[ir_measures.AP, "q2"] == actual[bridge.Twist, "q2"] == 0.0


def test_undefined_topics_are_left_out_of_the_mean() -> None:
    qrels = [*QRELS, ir_measures.Qrel("q3", "d1", 0)]  # nothing relevant: no effort
    run = [*RUN, ir_measures.ScoredDoc("q3", "d1", 1.0)]
    assert ir_measures.calc_aggregate([bridge.Twist], qrels, run)[bridge.Twist] == 0.25
    assert bridge.provider.calc_aggregate([ir_measures.Accuracy], qrels, run)[ir_measures.Accuracy] == 0.0


def test_unsupported_measures_raise_in_one_line() -> None:
    new = ir_measures.define_byquery(lambda qrels, run: 1.0, name="MyOwn")
    unsupported = [new, ir_measures.SDCG(dcg="exp") @ 5, ir_measures.BPM(T=0.0, max_rel=2) @ 5, ir_measures.P]
    for ir_measure in unsupported:
        assert not bridge.provider.supports(ir_measure)
        with pytest.raises(MeasureError) as refused:
            bridge.provider.evaluator([ir_measure], QRELS)
        assert "\n" not in str(refused.value) and ";" in str(refused.value)
    with pytest.raises(ValueError, match="Unsupported measures"):
        ir_measures.calc_aggregate([bridge.Twist @ -1], QRELS, RUN)
    with pytest.raises(AssertionError, match="invalid param crossing='nonsense'"):
        ir_measures.calc_aggregate([bridge.Twist(crossing="nonsense")], QRELS, RUN)


def test_a_user_defined_function_is_available_in_ir_measures() -> None:
    measure("FirstGrade", lambda grades: grades[0] if grades else 0)
    first_grade = bridge.FirstGrade
    assert ir_measures.calc_aggregate([first_grade], QRELS, RUN) == {first_grade: 0.0}
    with pytest.raises(AttributeError):
        _ = bridge.NoSuchMeasure
