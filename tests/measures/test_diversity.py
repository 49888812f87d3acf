"""Diversity measures: formulas written out one document at a time, and what must hold for all of them."""

from __future__ import annotations

from itertools import permutations
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError, MeasureError
from rankscope.judging import judge
from rankscope.measures import REGISTRY, measure
from rankscope.read import Qrels, Run

Judgments = dict[str, dict[str, int]]  # {document: {aspect: grade}}


def make_qrels(judgments: Judgments, weights: dict[str, float] | None = None) -> Qrels:
    qrels = Qrels.from_dict({"q": judgments})
    return qrels if weights is None else qrels.with_aspect_weights({"q": weights})


def value(
    name: str, judgments: Judgments, ranking: list[str], weights: dict[str, float] | None = None
) -> float:
    judged = judge(make_qrels(judgments, weights), Run.from_dict({"q": ranking}))
    return float(measure(name).evaluate(judged.lists)[0])


def relevant_aspects(judgments: Judgments) -> list[str]:
    """Return the aspects with a relevant document."""
    return sorted({a for grades in judgments.values() for a, g in grades.items() if g > 0})


def compute_directly(name: str, judgments: Judgments, ranking: list[str], k: int) -> float:
    """One document after the other, as the papers write it."""
    aspects = relevant_aspects(judgments)
    best = max((g for grades in judgments.values() for g in grades.values()), default=1)
    counts = dict.fromkeys(aspects, 0)
    left = dict.fromkeys(aspects, 1.0)
    total = 0.0
    for i, document in enumerate(ranking[:k], start=1):
        for a in aspects:
            grade = judgments.get(document, {}).get(a, 0)
            if grade > 0:
                novelty = 0.5 ** counts[a]
                if name == "alpha_DCG":
                    total += novelty / log2(1 + i)
                elif name == "NRBP":
                    total += (1 - 0.5 * 0.8) / len(aspects) * 0.8 ** (i - 1) * novelty
                elif name == "P_IA":
                    total += 1 / k / len(aspects)
                elif name == "AP_IA":
                    relevant = sum(grades.get(a, 0) > 0 for grades in judgments.values())
                    total += (counts[a] + 1) / i / relevant / len(aspects)
                elif name == "ERR_IA":
                    satisfied = (2**grade - 1) / 2**best
                    total += left[a] * satisfied / i / len(aspects)
                    left[a] *= 1 - satisfied
                counts[a] += 1
    return sum(n > 0 for n in counts.values()) / len(aspects) if name == "StRec" else total


few = settings(max_examples=settings().max_examples // 2)
DOCUMENTS = [f"d{i}" for i in range(7)]
judged_documents = st.dictionaries(
    st.sampled_from(DOCUMENTS[:5]),
    st.dictionaries(st.sampled_from("abc"), st.integers(-1, 3), min_size=1),
    min_size=1,
).filter(relevant_aspects)
rankings = st.permutations(DOCUMENTS).flatmap(lambda order: st.integers(0, 7).map(lambda n: list(order[:n])))


@few
@given(judged_documents, rankings, st.integers(1, 8))
def test_formulas_document_by_document(judgments: Judgments, ranking: list[str], k: int) -> None:
    for name, text in {
        "alpha_DCG": f"alpha_DCG@{k}",
        "NRBP": f"NRBP(beta=0.8)@{k}",
        "P_IA": f"P_IA@{k}",
        "AP_IA": f"AP_IA@{k}",
        "ERR_IA": f"ERR_IA@{k}",
        "StRec": f"StRec@{k}",
    }.items():
        assert value(text, judgments, ranking) == pytest.approx(
            compute_directly(name, judgments, ranking, k), abs=1e-12
        )


def greedy(judgments: Judgments) -> list[str]:
    """ndeval's ideal: most gain first, the larger document id among equals."""
    left = dict.fromkeys(relevant_aspects(judgments), 1.0)
    order: list[str] = []
    while len(order) < len(judgments):
        gains = {
            d: sum(left[a] for a, g in grades.items() if g > 0 and a in left)
            for d, grades in judgments.items()
            if d not in order
        }
        order.append(max(gains, key=lambda d: (gains[d], d)))
        for a, g in judgments[order[-1]].items():
            if g > 0:
                left[a] *= 0.5
    return order


@few
@given(judged_documents, rankings, st.integers(1, 8))
def test_normalised_measures_divide_by_the_greedy_ideal(
    judgments: Judgments, ranking: list[str], k: int
) -> None:
    ideal = greedy(judgments)
    for normal, plain in (("alpha_nDCG", "alpha_DCG"), ("nNRBP", "NRBP")):
        expected = value(f"{plain}@{k}", judgments, ranking) / value(f"{plain}@{k}", judgments, ideal)
        assert value(f"{normal}@{k}", judgments, ranking) == pytest.approx(expected, abs=1e-12)
    binary = {d: {a: min(g, 1) for a, g in grades.items()} for d, grades in judgments.items()}
    expected = value(f"ERR_IA@{k}", binary, ranking) / value(f"ERR_IA@{k}", binary, ideal)
    assert value(f"nERR_IA@{k}", binary, ranking) == pytest.approx(expected, abs=1e-12)
    assert value(f"nERR_IA(preset='ndeval')@{k}", judgments, ranking) == pytest.approx(expected, abs=1e-12)


INNER = [
    "AP",
    "RR",
    "nDCG",
    "RBP(p=0.5)",
    "ERR(max_grade=3)",
    "Bpref",
    "infAP",
    "Judged@3",
    "SetF",
    "Rprec",
    "Compat",
]


@given(judged_documents, rankings, st.sampled_from(INNER))
def test_intent_aware_of_any_measure(judgments: Judgments, ranking: list[str], inner: str) -> None:
    weights = {"a": 0.6, "b": 0.3, "c": 0.1}
    counted = relevant_aspects(judgments)
    total = sum(weights[a] for a in counted)
    expected = 0.0
    for a in counted:
        alone = {d: grades[a] for d, grades in judgments.items() if a in grades}
        judged = judge(Qrels.from_dict({"q": alone}), Run.from_dict({"q": ranking}))
        expected += weights[a] / total * float(measure(inner).evaluate(judged.lists)[0])
    assert value(f"IA(measure='{inner}')", judgments, ranking, weights) == pytest.approx(expected, abs=1e-12)


def test_intent_aware_grammar() -> None:
    assert str(measure("IA(measure='nDCG')@10")) == "IA(measure='nDCG')@10"
    assert measure("IA") == measure("IA(measure='AP')")
    assert measure("IA(measure='P')@5").complete()
    with pytest.raises(MeasureError, match="needs a cutoff"):
        measure("IA(measure='P')")
    with pytest.raises(MeasureError, match="knows no measure 'nDGC'; did you mean nDCG"):
        measure("IA(measure='nDGC')")
    with pytest.raises(MeasureError, match="already uses aspects"):
        measure("IA(measure='AP_IA')")


@few
@given(judged_documents, rankings, st.floats(0, 1))
def test_global_gains(judgments: Judgments, ranking: list[str], gamma: float) -> None:
    weights = {"a": 0.6, "b": 0.3, "c": 0.1}
    counted = relevant_aspects(judgments)
    total = sum(weights[a] for a in counted)

    def gain(document: str) -> float:
        graded = judgments.get(document, {}).items()
        return sum(weights[a] / total * max(g, 0) for a, g in graded if a in counted)

    def dcg(documents: list[str]) -> float:
        return sum(gain(d) / log2(1 + i) for i, d in enumerate(documents[:4], start=1))

    expected = dcg(ranking) / dcg(sorted(judgments, key=gain, reverse=True))
    assert value("D_nDCG@4", judgments, ranking, weights) == pytest.approx(expected, abs=1e-12)
    expected_sum = gamma * value("StRec@4", judgments, ranking) + (1 - gamma) * expected
    actual = value(f"DS_nDCG(gamma={gamma!r})@4", judgments, ranking, weights)
    assert actual == pytest.approx(expected_sum, abs=1e-12)


def cube(judgments: Judgments, ranking: list[str], page: int, height: float = 2.0) -> tuple[float, float]:
    """CT and ACT of 2017, one document after the other."""
    aspects = relevant_aspects(judgments)
    heights, counts = dict.fromkeys(aspects, 0.0), dict.fromkeys(aspects, 0)
    tests = []
    for i, document in enumerate(ranking, start=1):
        for a in aspects:
            grade = judgments.get(document, {}).get(a, 0)
            if grade > 0:
                heights[a] = min(height, heights[a] + 0.5 ** (counts[a] + 1) * grade)
                counts[a] += 1
        time = -(-i // page) if page else 1
        tests.append(sum(heights.values()) / len(aspects) / height / time)
    return (tests[-1], sum(tests) / len(tests)) if tests else (0.0, 0.0)


@few
@given(judged_documents, rankings, st.sampled_from([0, 1, 2, 5]))
def test_cube_test_document_by_document(judgments: Judgments, ranking: list[str], page: int) -> None:
    ct, act = cube(judgments, ranking, page)
    assert value(f"CT(height=2,iteration={page})", judgments, ranking) == pytest.approx(ct, abs=1e-12)
    assert value(f"ACT(height=2,iteration={page})", judgments, ranking) == pytest.approx(act, abs=1e-12)


@few
@given(judged_documents, rankings, st.sampled_from([0, 1, 2, 5]))
def test_the_time_of_the_cube_test_is_a_parameter(
    judgments: Judgments, ranking: list[str], page: int
) -> None:
    """A document an iteration is time by documents, for the program of 2017 and for the equation alike."""
    for name in ("CT", "ACT"):
        documents = value(f"{name}(height=2,time=documents)", judgments, ranking)
        assert documents == pytest.approx(
            value(f"{name}(height=2,iteration=1)", judgments, ranking), abs=1e-12
        )
        equation = f"{name}(preset=equation7,height=2"
        documents = value(f"{equation})", judgments, ranking)
        assert documents == value(f"{equation},time=documents)", judgments, ranking)
        in_turn = value(f"{equation},time=iterations,iteration=1)", judgments, ranking)
        assert documents == pytest.approx(in_turn, abs=1e-12)
    if ranking:
        text = f"CT(preset=equation7,height=2,time=iterations,iteration={page})"
        time = -(-len(ranking) // page) if page else 1
        expected = value("CT(preset=equation7,height=2)", judgments, ranking) * len(ranking) / time
        assert value(text, judgments, ranking) == pytest.approx(expected, abs=1e-12)


def test_the_program_of_2014_has_a_time_of_its_own() -> None:
    with pytest.raises(MeasureError, match="seconds of reading"):
        measure("CT(preset=trec-dd-2014,time=documents)")


@few
@given(judged_documents)
def test_the_greedy_ideal_of_the_cube_test(judgments: Judgments) -> None:
    """One document or all of them, of one grade: greedy is exact there, so the best order scores 1."""
    binary = {d: {a: min(g, 1) for a, g in grades.items()} for d, grades in list(judgments.items())[:3]}
    if relevant_aspects(binary):
        for cutoff in (1, len(binary)):
            orders = [list(order) for order in permutations(binary)]
            tests = np.array([value(f"CT@{cutoff}", binary, order) for order in orders])
            actual = np.array([value(f"nCT@{cutoff}", binary, order) for order in orders])
            np.testing.assert_allclose(actual, tests / tests.max(), atol=1e-12)


def test_judgments_without_aspects_are_one_aspect() -> None:
    qrels, run = {"q": {"d1": 1, "d2": 0, "d3": 2}}, {"q": ["d1", "d2", "d3"]}
    scores = rs.evaluate(
        qrels, run, ["AP_IA", "AP", "P_IA@2", "P@2", "ERR_IA", "ERR", "StRec@1", "D_nDCG", "nDCG"]
    )
    means = {str(m): v for m, v in scores.means()["run"].items()}
    for diverse, plain in (("AP_IA", "AP"), ("P_IA@2", "P@2"), ("ERR_IA", "ERR"), ("D_nDCG", "nDCG")):
        assert means[diverse] == pytest.approx(means[plain])
    assert means["StRec@1"] == 1.0


def test_aspects_without_relevant_documents_do_not_count() -> None:
    judgments = {"d1": {"a": 1, "b": 0, "c": -2}, "d2": {"a": 0, "b": 1, "c": 0}}
    without = {"d1": {"a": 1, "b": 0}, "d2": {"a": 0, "b": 1}}
    for item in dict.fromkeys(REGISTRY.values()):
        if item.needs_aspects:
            text = str(item if item.cutoff_rule != "required" else item @ 2)
            assert value(text, judgments, ["d1"]) == value(text, without, ["d1"]), text
    nothing = {"d1": {"a": 0, "b": 0}}
    for item in dict.fromkeys(REGISTRY.values()):
        if item.needs_aspects:
            actual = value(str(item if item.cutoff_rule != "required" else item @ 2), nothing, ["d1"])
            assert actual < 0 if item.name == "RBU" else actual == 0.0  # looking in vain costs effort


def test_a_smaller_pool_reaches_the_aspects() -> None:
    judgments = {"d1": {"a": 1, "b": 1}, "d2": {"a": 2, "b": 0}, "d3": {"a": 0, "b": 1}}
    judged = judge(make_qrels(judgments), Run.from_dict({"q": ["d1", "d2", "d3"]}))
    fewer = judged.with_grades(np.array([1, rs.UNJUDGED, 1], np.int32))
    alone = {"d1": judgments["d1"], "d3": judgments["d3"]}
    for text in ("AP_IA", "alpha_nDCG", "StRec@2", "CT", "D_nDCG"):
        actual = float(measure(text).evaluate(fewer.lists)[0])
        assert actual == pytest.approx(value(text, alone, ["d1", "d2", "d3"])), text


def test_diversity_measures_take_the_second_column_for_aspects(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Also where no document was judged for two of them, so that nothing else would show it."""
    (tmp_path / "qrels").write_text("q a d1 1\nq b d2 1\n")
    (tmp_path / "run").write_text("q Q0 d1 1 1 tag\n")
    paths = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert rs.evaluate(*paths, ["StRec@1", "R@1"]).means()["run"] == {
        "StRec@1": 0.5,
        "R@1": 0.5,
    }
    assert main(["eval", *paths, "-m", "alpha_DCG@1 StRec@1"]) == 0
    assert b"run\tStRec@1\t0.5" in capsysbinary.readouterr().out


def test_grades_and_grades_per_aspect_do_not_mix() -> None:
    with pytest.raises(InputError, match="document 'd2' has a grade where others have grades per aspect"):
        Qrels.from_dict({"q": {"d1": {"a": 1}, "d2": 1}})


def test_weights_must_fit_the_aspects() -> None:
    qrels = make_qrels({"d1": {"a": 1, "b": 1}})
    with pytest.raises(InputError, match="no weight for aspect 'b' of topic 'q'"):
        qrels.with_aspect_weights({"q": {"a": 1.0}})
    with pytest.raises(InputError, match="topic 'z', which has no judgments"):
        qrels.with_aspect_weights({"z": {"a": 1.0}})
    with pytest.raises(InputError, match="without aspects"):
        Qrels.from_dict({"q": {"d": 1}}).with_aspect_weights({})


def test_truncated_lists_and_topics_with_unequal_aspects_in_one_batch() -> None:
    """Values do not depend on what else is evaluated at the same time."""
    topics = {
        "q1": {"d1": {"a": 1, "b": 2}, "d2": {"a": 1}},
        "q2": {"d1": {"x": 1}, "d4": {"x": 3}},
        "q3": {"d2": {"a": 1}, "d5": {"b": 1}, "d6": {"c": 1}, "d7": {"d": 2}},
    }
    qrels = Qrels.from_dict(topics)
    lists = {"q1": ["d2", "d1"], "q3": ["d6", "d1", "d2", "d5", "d7"]}
    judged = judge(qrels, Run.from_dict(lists))
    for item in dict.fromkeys(REGISTRY.values()):
        if item.needs_aspects and item.name not in (
            "RBU",
            "ERR_IA",
            "nERR_IA",
        ):  # those take the best grade of the collection
            text = str(item if item.cutoff_rule != "required" else item @ 2)
            together = measure(text).evaluate(judged.lists)
            alone = [value(text, topics[t], lists.get(t, [])) if t in lists else 0.0 for t in topics]
            np.testing.assert_allclose(together, alone, atol=1e-14, err_msg=text)


def test_without_iterations_the_official_bound_is_that_of_one_page() -> None:
    qrels = {"1": {"a": {"i": 1}, "b": {"i": 1, "ii": 1}, "c": {"ii": 1}}}
    runs = {"r": {"1": ["x", "b", "a"]}}
    bounds = []
    for iteration in (0, 3):
        texts = [
            f"CT(iteration={iteration})@3",
            f"nCT(iteration={iteration},bound='trec-dd-2017')@3",
        ]
        raw, normalised = rs.evaluate(qrels, runs, texts).values[:, 0, 0]
        assert normalised > 0
        bounds.append(raw / normalised)
    assert bounds[0] == pytest.approx(bounds[1])
