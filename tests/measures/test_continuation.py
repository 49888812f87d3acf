"""The measures of users who decide whether to go on, and the parameters of ir_measures, against their own programs."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankscope as rs
from rankscope.errors import MeasureError
from rankscope.measures import REGISTRY

ir_measures = pytest.importorskip("ir_measures")
bridge = pytest.importorskip("rankscope.ir_measures")
pytestmark = pytest.mark.needs("peers")

THEIRS = ir_measures.providers.FallbackProvider(
    [one for one in ir_measures.DefaultPipeline.providers if one is not bridge.provider]
)

DOCUMENTS = [f"d{i:02}" for i in range(20)]
Topic = tuple[dict[str, int], list[str]]

topics = st.tuples(
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1),
    st.lists(st.sampled_from([*DOCUMENTS, "unknown", "missing"]), min_size=1, unique=True),
)
wanted = st.sampled_from([0.5, 0.75, 1.0, 2.5, 8.0])
CUT = ("BPM", "SDCG", "NERR8", "NERR9")


@st.composite
def measures(draw: st.DrawFn) -> str:
    """A measure of cwl_eval with its parameters."""
    name = draw(st.sampled_from(["INST", "INSQ", "NERR10", "NERR11", *CUT]))
    lowest = draw(st.integers(0, 2))
    settings: dict[str, Any] = {"min_rel": lowest, "max_rel": draw(st.integers(lowest + 1, 4))}
    if name in ("INST", "INSQ", "NERR11", "BPM"):
        settings["T"] = draw(wanted)
    if name == "NERR10":
        settings["p"] = draw(st.sampled_from([0.1, 0.5, 0.9, 1.0]))
    cutoff = f"@{draw(st.integers(1, 30))}" if name in CUT else ""
    return f"{name}({','.join(f'{key}={value}' for key, value in settings.items())}){cutoff}"


def collection(topic: Topic) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    judged, ranking = topic
    return {"q": judged}, {"q": {document: 100.0 - place for place, document in enumerate(ranking)}}


def ours(text: str, topic: Topic) -> float:
    return float(rs.evaluate(*collection(topic), [text]).values[0, 0, 0])


def theirs(text: str, topic: Topic) -> list[float]:
    logging.getLogger("ir_measures.cwl_eval").setLevel("ERROR")
    actual = THEIRS.iter_calc([bridge.parse_measure(text)], *collection(topic))
    return [metric.value for metric in actual]


@given(topics, measures())
def test_values_are_those_of_cwl_eval(topic: Topic, text: str) -> None:
    assert ours(text, topic) == pytest.approx(theirs(text, topic)[0], abs=1e-12)


@given(topics, st.integers(1, 3), st.sampled_from(["", "@1", "@5"]))
def test_accuracy_is_that_of_ir_measures(topic: Topic, rel: int, cutoff: str) -> None:
    text = f"Accuracy(rel={rel}){cutoff}"
    try:
        expected = theirs(text, topic)
    except ZeroDivisionError:  # relevant documents only
        expected = []
    actual = ours(text, topic)
    assert np.isnan(actual) if not expected else actual == pytest.approx(expected[0], abs=1e-12)


def test_gains_add_up_exactly() -> None:
    """Tenths do not add up to 1 in floating point; the user of BPM has enough all the same."""
    assert ours("BPM(max_rel=10)@20", (dict.fromkeys(DOCUMENTS, 1), DOCUMENTS)) == pytest.approx(0.1)


@given(topics)
def test_the_best_grade_is_that_of_the_judgments_unless_set(topic: Topic) -> None:
    best = max(1, *topic[0].values(), 1)
    for text in ("INST", "INSQ", "BPM@5", "SDCG@5", "NERR8@5", "NERR10"):
        assert ours(text, topic) == ours(str(rs.measure(text)(max_rel=best)), topic)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INST(T=0.4)", "T is a number from 0.5"),
        ("INSQ(T=0)", "T is greater than 0"),
        ("BPM(T=0)@5", "T is greater than 0"),
        ("BPM", "needs a cutoff"),
        ("SDCG(max_rel=1,min_rel=1)@5", "max_rel is greater than min_rel"),
        ("SDCG(dcg='exp-log2')@5", "dcg is log2"),
        ("nDCG(dcg='exp')", "dcg is log2 or exp-log2"),
        ("nDCG(dcg='exp-log2',gains={1: 2})", "both dcg and gains"),
        ("nDCG(gains={-1: 2})", "grades from 0 on"),
    ],
)
def test_invalid_parameters_are_refused(text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        rs.measure(text)


# parameters of ir_measures ----------------------------------------------------------------------------------

JUDGED_ONLY = [
    *("AP", "AP(rel=2)@3", "RR", "P@3", "P(rel=2)@5", "R@3", "Rprec", "Success@2", "nDCG", "nDCG@3"),
    *("SetP", "SetF", "SetF(beta=0.25)", "SetAP", "SetP(relative=True)", "IPrec@0.5"),
]


def judged_only(text: str) -> str:
    parsed = bridge.parse_measure(text)
    return str(parsed(judged_only=True))


@given(topics, st.sampled_from(JUDGED_ONLY))
def test_judged_documents_only(topic: Topic, text: str) -> None:
    judged, ranking = topic
    if not any(judged.get(document, -1) >= 0 for document in ranking) or max(judged.values()) < 0:
        return  # pytrec_eval does not end
    own = rs.measure(judged_only(text).replace("SetP(relative=True", "SetRelP(").replace("(,", "("))
    if own.name == "IPrec":
        own = own(rounding="up")
    assert ours(str(own), topic) == pytest.approx(theirs(judged_only(text), topic)[0], abs=1e-9)


EVERY_CONDENSABLE = [
    measure @ (0.5 if measure.name == "IPrec" else 1) if measure.cutoff_rule == "required" else measure
    for measure in dict.fromkeys(REGISTRY.values())
    if "judged_only" in measure.parameters
]


@pytest.mark.parametrize("measure", EVERY_CONDENSABLE, ids=str)
def test_a_condensed_list_is_the_list_without_unjudged_documents(measure: Any) -> None:
    rng = np.random.default_rng(5)
    judgments = [
        (topic, aspect, document, int(rng.integers(-1, 4)))
        for topic in ("1", "2", "3")
        for aspect in ("a", "b")
        for document in DOCUMENTS
        if rng.random() < 0.4
    ]
    columns = dict(
        zip(("query_id", "iteration", "doc_id", "relevance"), zip(*judgments, strict=True), strict=True)
    )
    best = {(t, d): max(g for u, _, e, g in judgments if (u, e) == (t, d)) for t, _, d, _ in judgments}
    full = {topic: [str(d) for d in rng.permutation(DOCUMENTS)[:12]] for topic in ("1", "2", "3")}
    condensed = {t: [d for d in ranking if best.get((t, d), -1) >= 0] for t, ranking in full.items()}
    qrels = rs.Qrels.from_frame({key: list(values) for key, values in columns.items()})
    values = [
        rs.evaluate(qrels, rs.Run.from_dict(lists), [measure, measure(judged_only=True)]).values[:, 0]
        for lists in (full, condensed)
    ]
    assert np.allclose(values[0][1], values[1][0]) and np.allclose(values[1][0], values[1][1])
    assert not np.allclose(values[0][0], values[0][1]), "the parameter matters"


@given(topics, st.dictionaries(st.integers(1, 4), st.integers(0, 9), min_size=1), st.sampled_from(["", "@3"]))
def test_gains_as_a_dict(topic: Topic, gains: dict[int, int], cutoff: str) -> None:
    if max(topic[0].values()) < 0:
        return
    text = f"nDCG(gains={gains}){cutoff}"
    assert ours(text, topic) == pytest.approx(theirs(text, topic)[0], abs=1e-9)
    assert rs.measure(text) == rs.nDCG(gains=gains)(cutoff=int(cutoff[1:]) if cutoff else None)


@pytest.mark.parametrize("target", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("ranking", ["a", "xa", "xabx", "bxxxa"])
def test_inst_is_its_definition_rank_by_rank(ranking: str, target: float) -> None:
    qrels, runs = {"q": {"a": 1, "b": 1, "x": 0}}, {"r": {"q": list(dict.fromkeys(ranking))}}
    listed = runs["r"]["q"]
    read = value = gained = 0.0
    going = 1.0
    for rank in range(1, 1001):
        gain = float(rank <= len(listed) and listed[rank - 1] in "ab")
        read, value, gained = read + going, value + going * gain, gained + gain
        left = rank + 2 * target - gained
        going *= ((left - 1) / left) ** 2 if left else 0.0
    scored = rs.evaluate(qrels, runs, f"INST(T={target})@1000").mean(f"INST(T={target})@1000")
    assert scored[0] == pytest.approx(value / read, rel=1e-9)
