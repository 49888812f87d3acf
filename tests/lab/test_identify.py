"""Which measure is this? Planted functions, half of them with mistakes that are met in the wild, must be named."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isclose, isnan, log, log2, nan
from random import Random

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.lab.identification.inputs import Input, TopicLists, break_ties, inputs
from rankscope.lab.identification.variants import formulas
from rankscope.measures import parse_many

PLANTED: dict[str, tuple[Callable[..., float], str]] = {}


def planted(expected: str) -> Callable[[Callable[..., float]], Callable[..., float]]:
    def keep(function: Callable[..., float]) -> Callable[..., float]:
        PLANTED[f"{len(PLANTED):02d} {expected}"] = (function, expected)
        return function

    return keep


def dcg(grades, gain=float, discount=lambda i: log2(1 + i)):
    return sum(gain(g) / discount(i) for i, g in enumerate(grades, 1))


def exp2(g):
    return 2.0**g - 1


def jk(i):
    return max(1.0, log2(i))


def divided(a, b):
    return a / b if b else 0.0


def best(pool):
    return sorted(pool, reverse=True)


# nDCG and DCG
planted("nDCG")(lambda grades, pool: divided(dcg(grades), dcg(best(pool))))
planted("nDCG@10")(lambda grades, pool: divided(dcg(grades[:10]), dcg(best(pool)[:10])))
planted("nDCG@5")(lambda grades, pool: divided(dcg(grades[:5]), dcg(best(pool)[:5])))
planted("nDCG(gains='exp2')@10")(
    lambda grades, pool: divided(dcg(grades[:10], exp2), dcg(best(pool)[:10], exp2))
)
planted("nDCG(discount='jk')")(
    lambda grades, pool: divided(dcg(grades, discount=jk), dcg(best(pool), discount=jk))
)
planted("nDCG, ideal ranking from the retrieved documents alone")(
    lambda grades: divided(dcg(grades), dcg(best(grades)))
)
planted("nDCG@10, ideal ranking not cut")(lambda grades, pool: divided(dcg(grades[:10]), dcg(best(pool))))
planted("nDCG@3, ideal ranking from the documents above the cutoff")(
    lambda grades, pool: divided(dcg(grades[:3]), dcg(best(grades[:3])))
)
planted("nDCG, discount one rank too far, log2(2 + i)")(
    lambda grades, pool: divided(
        sum(g / log2(i + 3) for i, g in enumerate(grades)),
        sum(g / log2(i + 3) for i, g in enumerate(best(pool))),
    )
)
planted("nDCG, every relevant document gains 1")(
    lambda grades, pool: divided(dcg([g > 0 for g in grades]), dcg(best([g > 0 for g in pool])))
)
planted("nDCG, discounted by the rank itself")(
    lambda grades, pool: divided(dcg(grades, discount=float), dcg(best(pool), discount=float))
)
planted("nDCG; 1 for a topic without relevant documents")(
    lambda grades, pool: dcg(grades) / dcg(best(pool)) if any(pool) else 1.0
)
planted("DCG")(lambda grades: dcg(grades))
planted("DCG(gains='exp2')")(lambda grades: dcg(grades, exp2))
planted("DCG@10, natural logarithm")(lambda grades: dcg(grades[:10], discount=lambda i: log(1 + i)))
planted("DCG(discount='jk')")(lambda grades: dcg(grades, discount=jk))


# AP and RR
def ap(grades, relevant, rel=1):
    hits = [i for i, g in enumerate(grades, 1) if g >= rel]
    return divided(sum(n / i for n, i in enumerate(hits, 1)), relevant)


def count(pool, rel=1):
    return sum(g >= rel for g in pool)


planted("AP")(lambda grades, pool: ap(grades, count(pool)))
planted("AP@10")(lambda grades, pool: ap(grades[:10], count(pool)))
planted("AP(rel=2)")(lambda grades, pool: ap(grades, count(pool, 2), 2))
planted("AP, divided by the relevant documents found")(lambda grades, pool: ap(grades, count(grades)))
planted("AP@10, divided by at most the cutoff")(lambda grades, pool: ap(grades[:10], min(10, count(pool))))
planted("AP@5, divided by the cutoff")(lambda grades, pool: ap(grades[:5], 5 if count(pool) else 0))
planted("AP; undefined for a topic without relevant documents")(
    lambda grades, pool: ap(grades, count(pool)) if count(pool) else nan
)


@planted("AP, precision without the document itself")
def ap_before(grades, pool):
    hits = [i for i, g in enumerate(grades, 1) if g > 0]
    return divided(sum((n - 1) / i for n, i in enumerate(hits, 1)), count(pool))


def first(grades, rel=1):
    return next((i for i, g in enumerate(grades, 1) if g >= rel), None)


planted("RR")(lambda grades: 1 / first(grades) if first(grades) else 0.0)
planted("RR@10")(lambda grades: 1 / first(grades[:10]) if first(grades[:10]) else 0.0)
planted("RR(rel=2)")(lambda grades: 1 / first(grades, 2) if first(grades, 2) else 0.0)
planted("RR, ranks counted one too far")(lambda grades: 1 / (first(grades) + 1) if first(grades) else 0.0)


@planted("RR, of the last relevant document")
def rr_last(grades):
    ranks = [i for i, g in enumerate(grades, 1) if g > 0]
    return 1 / ranks[-1] if ranks else 0.0


# RBP and ERR
def rbp(grades, p, gain=lambda g: float(g > 0), shift=0):
    return sum(gain(g) * p ** (i + shift) for i, g in enumerate(grades))


planted("RBP")(lambda grades: 0.2 * rbp(grades, 0.8))
planted("RBP(p=0.95)")(lambda grades: 0.05 * rbp(grades, 0.95))
planted("RBP(p=0.7)")(lambda grades: 0.3 * rbp(grades, 0.7))
planted("RBP(p=0.5)@10")(lambda grades: 0.5 * rbp(grades[:10], 0.5))
planted("RBP, without the factor 1 - p")(lambda grades: rbp(grades, 0.8))
planted("RBP, p to the power of the rank")(lambda grades: 0.2 * rbp(grades, 0.8, shift=1))
planted("RBP(p=0.9,graded=True,max_grade=2)")(lambda grades: 0.1 * rbp(grades, 0.9, lambda g: g / 2))


def err(grades, stop, cost=float):
    total, going = 0.0, 1.0
    for i, g in enumerate(grades, 1):
        total += going * stop(g) / cost(i)
        going *= 1 - stop(g)
    return total


planted("ERR(max_grade=4)")(lambda grades: err(grades, lambda g: (2**g - 1) / 16))
planted("ERR(max_grade=4)@20")(lambda grades: err(grades[:20], lambda g: (2**g - 1) / 16))
planted("ERR, best grade from the list")(
    lambda grades: err(grades, lambda g: (2**g - 1) / 2 ** max(grades, default=0))
)
planted("ERR(max_grade=4), not divided by the rank")(
    lambda grades: err(grades, lambda g: (2**g - 1) / 16, lambda i: 1.0)
)
planted("ERR(max_grade=2), stops with grade / best grade")(lambda grades: err(grades, lambda g: g / 2))


# Bpref, P, R
def bpref(grades, relevant, bound):
    above, total = 0, 0.0
    for g in grades:
        if g > 0:
            total += 1 - divided(min(above, relevant), bound)
        else:
            above += 1
    return divided(total, relevant)


planted("Bpref(variant='original'), unjudged documents counted as judged non-relevant")(
    lambda grades, pool: bpref(grades, count(pool), count(pool))
)
planted("Bpref, unjudged documents counted as judged non-relevant")(
    lambda grades, pool: bpref(grades, count(pool), min(count(pool), len(pool) - count(pool)))
)


@planted("Bpref")
def bpref_of_dicts(qrels, run):
    ranked = sorted(run, key=lambda d: (run[d], d), reverse=True)
    relevant = sum(g > 0 for g in qrels.values())
    judged = [qrels[d] for d in ranked if d in qrels]
    return bpref(judged, relevant, min(relevant, len(qrels) - relevant))


planted("P@5")(lambda grades: count(grades[:5]) / 5)
planted("P@10, divided by the documents there are")(
    lambda grades: divided(count(grades[:10]), len(grades[:10]))
)
planted("R@10")(lambda grades, pool: divided(count(grades[:10]), count(pool)))
planted("Success@5")(lambda grades: float(count(grades[:5]) > 0))
planted("Rprec")(lambda grades, pool: divided(count(grades[: count(pool)]), count(pool)))


# ties and unjudged documents, which only those see who are given scores
@planted("AP; ties in the order of the file")
def ap_stable(qrels, run):
    grades = [qrels.get(d, 0) for d, _ in sorted(run.items(), key=lambda item: -item[1])]
    return ap(grades, sum(g > 0 for g in qrels.values()))


@planted("AP; ties by ascending document id")
def ap_ascending(qrels, run):
    grades = [qrels.get(d, 0) for d in sorted(run, key=lambda d: (-run[d], d))]
    return ap(grades, sum(g > 0 for g in qrels.values()))


@planted("nDCG@10; unjudged documents taken out of the list")
def ndcg_condensed(qrels, run):
    grades = [qrels[d] for d in sorted(run, key=lambda d: (run[d], d), reverse=True) if d in qrels]
    return divided(dcg(grades[:10]), dcg(best(qrels.values())[:10]))


def test_many_functions_are_planted():
    assert len(PLANTED) >= 50


@pytest.mark.slow
@pytest.mark.product(20)
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_definition_is_named(name):
    function, expected = PLANTED[name]
    (answer,) = rs.lab.identify(function)["answer"].records()
    assert answer["definition"] == expected
    assert answer["equal"] and answer["where"] == "everywhere" and answer["shortest"] is None


def test_a_function_that_differs_on_one_input_is_not_identified():
    """One short input differs: the second of two relevant documents counts double after three others."""

    def odd(grades, pool):
        value = ap(grades, count(pool))
        return value + 0.25 if list(grades) == [0, 1, 0, 1] and list(pool) == [0, 1, 0, 1] else value

    result = rs.lab.identify(odd)
    (answer,) = result["answer"].records()
    assert answer["definition"] == "AP" and not answer["equal"]
    assert answer["shortest"] == "list 0 1 0 1" and answer["theirs"] == pytest.approx(answer["ours"] + 0.25)
    assert result["nearest"].records()[0]["inputs"] - result["nearest"].records()[0]["agrees"] == 1


def test_the_answer_states_where_functions_agree():
    def doubled(grades, pool):
        return ap(grades, count(pool)) * (1 if count(grades) == count(pool) else 2)

    (answer,) = rs.lab.identify(doubled)["answer"].records()
    assert "the list holds all relevant documents" in answer["where"]


def test_refused_inputs_are_listed():
    def fragile(grades):
        return float(grades[0] > 0)

    result = rs.lab.identify(fragile)
    (answer,) = result["answer"].records()
    assert answer["definition"] in ("Success@1", "P@1") and answer["equal"]
    assert result["refused"].rows[0] == ("list (empty)", "IndexError: list index out of range")


def test_code_that_returns_on_too_few_different_rankings_is_not_identified():
    """A function that raises on every non-empty ranking returns 0 for 7 of 966 inputs, like DCG."""

    def swapped(run, qrels):
        return sum(qrels.get(d, 0) > 0 for d in run[:7]) / 9

    def of_empty_or_one(grades):
        return {0: 0.0, 1: float(sum(grades))}[len(grades)]

    def of_one_length(grades):
        if len(grades) != 3:
            raise ValueError("three documents are expected")
        return sum(grades) / 3

    def of_sorted_grades(grades):
        if list(grades) != sorted(grades):
            raise ValueError("not in order")
        return sum(grades)

    def of_no_relevant_document(grades):
        return 0.0 if not any(grades) else int("x")

    with pytest.raises(SettingsError) as refusal:
        rs.lab.identify(swapped)
    assert refusal.value.message == (
        "swapped could not be called: it returned a number for 7 of 966 inputs, called as f(grades, pool);"
        " first error: AttributeError: 'list' object has no attribute 'get'"
    )
    for code in (of_empty_or_one, of_one_length, of_sorted_grades, of_no_relevant_document):
        with pytest.raises(SettingsError, match=r"could not be called.*first error"):
            rs.lab.identify(code)


def test_equal_everywhere_is_reported_only_if_no_input_raised():
    def binary(grades):
        if any(g > 1 for g in grades) or len(grades) > 10:
            raise ValueError
        return float(any(grades[:1]))

    (answer,) = rs.lab.identify(binary)["answer"].records()
    assert answer["equal"] and answer["where"] == "on all inputs that it accepts"


def test_code_for_long_lists_alone_is_identified():
    def long(grades):
        if len(grades) < 10:
            raise ValueError("at least ten documents")
        return sum(g > 0 for g in grades[:10]) / 10

    (answer,) = rs.lab.identify(long)["answer"].records()
    assert answer["definition"] == "P@10" and answer["equal"]


def usual() -> list[tuple[str, Callable[[TopicLists], float]]]:
    return [
        (case.name, case) for case in formulas() if "," not in case.name.split(")")[-1] and case.oddities <= 2
    ]


def test_the_usual_formulas_are_the_measures_of_the_registry():
    """A formula with the name of a measure has its values: 0 for a topic without relevant documents."""
    draw = Random(5)
    long = [
        Input(tuple(draw.choices([None, 0, 0, 0, 1, 2], k=60)), (1,) * draw.randint(0, 30)) for _ in range(20)
    ]
    sample = [*[case for case in inputs() if not case.groups and len(case.grades) <= 6][::3], *long]
    named = {name: formula for name, formula in usual() if ", " not in name}
    measures = [
        m for m in parse_many(list(named)) if m.settings.get("max_grade", 1)
    ]  # 0: maximal grade of the collection
    assert len(measures) > 100
    qrels = {f"q{i}": case.qrels or {"none": 0} for i, case in enumerate(sample)}
    scores = rs.evaluate(qrels, {"r": {f"q{i}": case.documents for i, case in enumerate(sample)}}, measures)
    places = [scores.topics.index(f"q{i}") for i in range(len(sample))]
    for measure in measures:
        values = [named[str(measure)](TopicLists(case.grades, tuple(case.pool))) for case in sample]
        expected = scores.matrix(measure).values[0][places].tolist()
        for case, value, registry_value in zip(sample, values, expected, strict=True):
            assert isclose(0.0 if isnan(value) else value, registry_value, abs_tol=1e-9), (
                str(measure),
                str(case),
            )


def test_inputs_are_short_first_and_different():
    sizes = [len(case.grades) + len(case.missing) for case in inputs()]
    assert sizes == sorted(sizes) and len(set(inputs())) == len(inputs())
    assert str(Input((0, 1, None), (2,), (2, 1), True)) == "list (0 1) ?, ids descending, missing 2"
    assert break_ties(Input((0, 1), groups=(2,)), "ascending") == [(0, 1)]


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        ("pytrec_eval:ndcg_cut_10", "nDCG@10"),
        (
            "sklearn:ndcg_score",
            "nDCG, ideal ranking from the retrieved documents alone; the mean over all orders of ties",
        ),
    ],
)
def test_libraries(library, expected):
    pytest.importorskip(library.partition(":")[0])
    (answer,) = rs.lab.identify(library)["answer"].records()
    assert answer["definition"] == expected and answer["equal"]


def test_refusals():
    with pytest.raises(SettingsError, match="names no measure of a library"):
        rs.lab.identify("absent:map")
    with pytest.raises(SettingsError, match="takes 3 arguments"):
        rs.lab.identify(lambda a, b, c: 0.0)
    with pytest.raises(SettingsError, match=r"returned a number for 0 of 966 inputs.*ValueError"):
        rs.lab.identify(lambda grades: "x")


def test_a_library_that_does_not_work_on_this_python_is_named(monkeypatch):
    """ir_measures 0.4.3 asks for ast.Num, which Python 3.14 has no longer."""
    ir_measures = pytest.importorskip("ir_measures")

    def parse_measure(text):
        raise AttributeError("module 'ast' has no attribute 'Num'")

    monkeypatch.setattr(ir_measures, "parse_measure", parse_measure)
    with pytest.raises(
        SettingsError, match=r"cannot read 'P@5' on this version of Python.*ast.*Python 3\.13"
    ):
        rs.lab.identify("ir_measures:P@5")


def test_the_command(tmp_path, capsys, monkeypatch):
    (tmp_path / "mine.py").write_text("def hit(grades):\n    return float(any(g > 0 for g in grades[:1]))\n")
    assert main(["identify", str(tmp_path / "mine.py") + ":hit", "-f", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["tables"]["answer"][0]["equal"] and answer["settings"]["call"] == "grades"
    assert set(answer["tables"]["nearest"][0]) == {"measure", "agrees", "inputs", "shortest"}
    assert main(["identify", str(tmp_path / "mine.py") + ":hot"]) == 2
    assert "there is no function 'hot'" in capsys.readouterr().err
    assert main(["identify", "nothing"]) == 2
