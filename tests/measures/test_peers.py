"""The same numbers as the programs people use: pytrec_eval (trec_eval 9) and ir_measures, on random collections."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope
from rankscope.measures import Measure, measure
from rankscope.read import Run, Runs

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")
bridge = pytest.importorskip("rankscope.ir_measures")
pytestmark = pytest.mark.needs("peers")

THEIRS = ir_measures.providers.FallbackProvider(
    [one for one in ir_measures.DefaultPipeline.providers if one is not bridge.provider]
)

Collection = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]

DOCUMENTS = [*(f"d{i}" for i in range(12)), "é", "Z", "d10x", "0"]
# ties, ties only in 32 bits, both zeros, and scores out of order with their ids
SCORES = [1.0, 1.0, 2.0, -3.5, 0.0, -0.0, 1e-9, 1.0 + 1e-9, 3e38, -1e-40, 7.25]


def judged(lowest: int) -> st.SearchStrategy[dict[str, int]]:
    grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(lowest, 4), min_size=1, max_size=14)
    # trec_eval reads outside its memory where no grade is above -1
    return grades.filter(lambda graded: max(graded.values()) >= 0)


retrieved = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "unknown", "missing"]), st.sampled_from(SCORES), min_size=1, max_size=16
)


@st.composite
def collections(draw: st.DrawFn, lowest: int = -3) -> Collection:
    """Judgments and a run over a few topics, of which each may lack some."""
    topics = draw(st.lists(st.sampled_from(["1", "2", "10", "q"]), min_size=1, max_size=4, unique=True))
    qrels = {topic: draw(judged(lowest)) for topic in topics}
    run = {topic: draw(retrieved) for topic in [*topics, "unjudged"] if draw(st.integers(0, 5))}
    return qrels, run or {topics[0]: draw(retrieved)}


def ours(
    collection: Collection, measures: list[Measure], order: str = "trec_eval9"
) -> dict[str, list[float]]:
    """Return the values of each topic of the run."""
    qrels, run = collection
    if not set(qrels) & set(run):
        return {}
    scores = rankscope.evaluate(qrels, Runs([Run.from_dict(run, order=order)]), measures)
    index = [scores.measures.index(one) for one in measures]
    return {
        topic: scores.values[index, 0, t].tolist() for t, topic in enumerate(scores.topics) if topic in run
    }


# pytrec_eval ------------------------------------------------------------------------------------------------

PLAIN = {
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_q": "NumQ",
    "num_nonrel_judged_ret": "NumNonrelRet",
    "map": "AP",
    "gm_map": "GMAP",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "gm_bpref": "GMBpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "utility": "Utility",
    "11pt_avg": "AvgIPrec(rounding=up)",
    "binG": "BinG",
    "G": "G",
    "ndcg": "nDCG",
    "ndcg_rel": "nDCG_rel",
    "Rndcg": "RnDCG",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_relative_P": "SetRelP",
    "set_map": "SetAP",
    "set_F": "SetF",
}
CUTOFFS = (1, 2, 3, 5, 10, 100)
AT_RANKS = {
    "P": "P",
    "recall": "R",
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "relative_P": "RelP",
    "success": "Success",
}
RECALLS = ("0.00", "0.10", "0.25", "0.50", "0.75", "1.00")
MULTIPLES = ("0.20", "0.50", "1.00", "1.50", "3.00")

COMMON = {
    **PLAIN,
    **{f"{name}_{k}": f"{own}@{k}" for name, own in AT_RANKS.items() for k in CUTOFFS},
    **{f"iprec_at_recall_{r}": f"IPrec(rounding=up)@{r}" for r in RECALLS},
    **{f"Rprec_mult_{m}": f"RprecMult@{m}" for m in MULTIPLES},
}
REQUESTED = {
    *PLAIN,
    *(f"{name}.{','.join(map(str, CUTOFFS))}" for name in AT_RANKS),
    f"iprec_at_recall.{','.join(RECALLS)}",
    f"Rprec_mult.{','.join(MULTIPLES)}",
}


def at_level(text: str, rel: int) -> Measure:
    item = measure(text)
    return item(rel=rel) if "rel" in item.parameters and text != "NumRet" else item


def test_every_common_measure_is_compared() -> None:
    names = {name.partition(".")[0] for name in REQUESTED}
    assert names == pytrec_eval.supported_measures - {"runid", "relstring"}


@given(collections(), st.integers(1, 5))
def test_pytrec_eval(collection: Collection, rel: int) -> None:
    measures = {name: at_level(text, rel) for name, text in COMMON.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(collection[0], REQUESTED, relevance_level=rel)
    peer = evaluator.evaluate(collection[1])
    own = ours(collection, list(measures.values()))
    assert set(own) == set(peer)
    for topic, values in own.items():
        for name, value in zip(measures, values, strict=True):
            # geometric means are logarithms until all topics are added up
            shown = math.log(value) if name.startswith("gm_") else value
            assert shown == pytest.approx(peer[topic][name], abs=1e-9, rel=1e-12), (topic, name, rel)


def test_recall_levels_are_rounded_as_in_trec_eval_10() -> None:
    """trec_eval 9 rounds 0.25 * 5 = 1.25 relevant documents to 2, trec_eval 10 to 1."""
    qrels = {"1": dict.fromkeys("abcde", 1)}
    run = {"1": {"a": 3.0, "x": 2.0, "b": 1.0}}
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall.0.25"}).evaluate(run)
    own = ours((qrels, run), [measure("IPrec@0.25"), measure("IPrec(rounding=up)@0.25")])
    assert peer["1"]["iprec_at_recall_0.25"] == 2 / 3
    assert own["1"] == [1.0, 2 / 3]


# ir_measures ------------------------------------------------------------------------------------------------

SHARED = [
    *(
        "AP",
        "AP(rel=2)@3",
        "Bpref(rel=2)",
        "P(rel=2)@3",
        "R@2",
        "RR",
        "RR(rel=3)",
        "Rprec",
        "Success(rel=2)@2",
    ),
    *("SetP", "SetR(rel=2)", "SetF", "SetF(beta=0.25)", "SetF(beta=2.0,rel=2)", "SetAP", "SetRelP", "infAP"),
    *("nDCG", "nDCG@3", "NumRet", "NumRet(rel=2)", "NumRelRet", "NumRel"),
]


def call_ir_measures(texts: list[str], collection: Collection) -> dict[tuple[str, str], float]:
    """Return the values of ir_measures by topic and measure, without topics that the run lacks."""
    parsed = {text: bridge.parse_measure(text) for text in texts}
    values_by_topic: dict[tuple[str, str], float] = {}
    for metric in THEIRS.iter_calc(list(parsed.values()), *collection):
        if metric.query_id in collection[1]:
            text = next(text for text, one in parsed.items() if one == metric.measure)
            values_by_topic[metric.query_id, text] = metric.value
    return values_by_topic


def assert_same(texts: list[str], collection: Collection, tolerance: float = 1e-9, **renamed: str) -> None:
    own = ours(collection, [measure(renamed.get(text, text)) for text in texts])
    peer = call_ir_measures(texts, collection)
    assert {topic for topic, _ in peer} == set(own)
    for topic, values in own.items():
        for text, value in zip(texts, values, strict=True):
            assert value == pytest.approx(peer[topic, text], abs=tolerance), (topic, text)


@given(collections())
def test_ir_measures(collection: Collection) -> None:
    assert_same(SHARED, collection)


def without_ties(collection: Collection) -> Collection:
    """Return the same documents with scores 20, 19, ..., since programs break ties differently."""
    qrels, run = collection
    return qrels, {
        topic: {document: 20.0 - i for i, document in enumerate(scored)} for topic, scored in run.items()
    }


@given(collections(lowest=-1).map(without_ties))
def test_compatibility_and_judged(collection: Collection) -> None:
    texts = ["Compat", "Compat(p=0.5)", "Compat(p=0.8,normalize=False)", "Judged@1", "Judged@5"]
    assert_same(texts, collection)


@given(collections(lowest=0).map(without_ties))
def test_rank_biased_precision(collection: Collection) -> None:
    provider: Any = ir_measures.providers.registry["cwl_eval"]
    if not provider.is_available():
        pytest.skip("cwl_eval is absent: pip install cwl-eval")
    assert_same(["RBP(rel=1)", "RBP(p=0.5,rel=2)", "RBP(p=0.95,rel=1)"], collection)


def with_numbers(collection: Collection) -> Collection:
    """Return the same topics with numbers as names, which gdeval requires."""
    name = {"q": "3", "unjudged": "4"}
    qrels, run = collection
    return {name.get(t, t): graded for t, graded in qrels.items()}, {
        name.get(t, t): one for t, one in run.items()
    }


@settings(max_examples=10)
@given(collections(lowest=0).map(without_ties).map(with_numbers))
def test_gdeval(collection: Collection) -> None:
    """gdeval is the script of the TREC Web track: gains 2^grade - 1, best grade 4, five digits."""
    provider: Any = ir_measures.providers.registry["gdeval"]
    if not provider.is_available():
        pytest.skip("gdeval needs perl")
    same = {
        "ERR@3": "ERR(max_grade=4)@3",
        "ERR@20": "ERR(max_grade=4)@20",
        "nDCG(dcg='exp-log2')@3": "nDCG(gains=exp2)@3",
        "nDCG(dcg='exp-log2')@20": "nDCG(gains=exp2)@20",
    }
    assert_same(list(same), collection, tolerance=6e-6, **same)
