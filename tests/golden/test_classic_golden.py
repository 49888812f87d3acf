"""Published and derived values of the classic measures, as fractions where they are fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import rankscope as rs
from rankscope.judging import Lists, judge


def cases(golden: list[dict[str, Any]], function: str) -> list[dict[str, Any]]:
    selected = [case for case in golden if case["function"] == function]
    assert selected, f"no golden case of {function}"
    return selected


def number(value: Any) -> float:
    return float(Fraction(value["frac"])) if isinstance(value, dict) else float(value)


def make_lists(run: list[int | None], missed: dict[int, int]) -> Lists:
    """Return a list of grades (None: unjudged); ``missed`` counts the other judged documents by grade."""
    ranking = [f"d{rank}" for rank in range(1, len(run) + 1)]
    grades = {document: grade for document, grade in zip(ranking, run, strict=True) if grade is not None}
    grades |= {f"missed-{grade}-{i}": grade for grade, count in missed.items() for i in range(count)}
    assert all(count >= 0 for count in missed.values())
    return judge(rs.Qrels.from_dict({"t": grades}), rs.Run.from_dict({"t": ranking})).lists


def value(text: str, lists: Lists) -> float:
    return float(rs.measure(text).evaluate(lists)[0])


def test_measures_of_binary_lists(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "measures_all"):
        inputs, expected = case["inputs"], {name: number(v) for name, v in case["expected"].items()}
        run, p = inputs["run"], number(inputs["p"])
        lists = make_lists(run, {1: inputs["R"] - run.count(1), 0: inputs["N_nonrel"] - run.count(0)})
        rbp = rs.measure(f"RBP(p={p})")
        residual = float(rbp.residual(lists)[0])  # type: ignore[attr-defined]
        actual = {
            "rbp": value(str(rbp), lists),
            "rbp_residual": residual,
            "rbp_upper": value(str(rbp), lists) + residual,
            "rbp_residual_no_tail": residual - p ** len(run),
            "ap": value("AP", lists),
            "rr": value("RR", lists),
            "p5": value("P@5", lists),
            "rprec": value("Rprec", lists),
            "bpref_soboroff": value("Bpref", lists),
            "bpref_2004": value("Bpref(variant=original)", lists),
            "bpref10": value("Bpref(variant=plus10)", lists),
            "err": value("ERR(max_grade=1)", lists),
            "dcg_jk2": value("DCG(discount=jk,base=2)", lists),
            "dcg_jk10": value("DCG(discount=jk,base=10)", lists),
            "dcg_burges": value("DCG", lists),
            "ndcg_jk2": value("nDCG(discount=jk,base=2)", lists),
            "ndcg_burges": value("nDCG", lists),
        }
        assert actual == pytest.approx(expected, abs=1e-12), case["name"]


def test_measures_of_graded_lists(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "graded"):
        run = case["inputs"]["run"]
        counts = {int(grade): count for grade, count in case["inputs"]["counts"].items()}
        gains = ",".join(str(case["inputs"]["gains"][str(grade)]) for grade in range(4))
        lists = make_lists(run, {grade: count - run.count(grade) for grade, count in counts.items()})
        k = len(run)
        actual = {
            "ndcg_log10_base5": value(f"nDCG(gains='{gains}',discount=jk,base=10)@{k}", lists),
            "ndcg_log2": value(f"nDCG(gains='{gains}',discount=jk,base=2)@{k}", lists),
            "dcg_log10": value(f"DCG(gains='{gains}',discount=jk,base=10)@{k}", lists),
            "err_gmax3": value("ERR(max_grade=3)", lists),
        }
        expected = {name: number(v) for name, v in case["expected"].items()}
        assert actual == pytest.approx(expected, abs=1e-12), case["name"]


def test_recall(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "recall"):
        run = case["inputs"]["run"]
        counts = {int(grade): count for grade, count in case["inputs"]["counts"].items()}
        lists = make_lists(run, {grade: count - run.count(grade) for grade, count in counts.items()})
        assert value("SetR", lists) == pytest.approx(number(case["expected"]), abs=1e-12)


def test_orderings(golden: list[dict[str, Any]]) -> None:
    for case in [*cases(golden, "trec_eval_order"), *cases(golden, "original_order")]:
        items = case["inputs"]["items"]
        orders = {True: "trec_eval9", False: "trec_eval", None: "file"}
        order = orders[case["inputs"].get("single_precision")]
        scores = {document: score for document, _, score in items}
        run = rs.Run.from_dict({"t": scores}, order=order)
        assert run.ranking("t") == case["expected"], case["name"]


def binary(grades: list[int], relevant: int) -> Lists:
    return make_lists(list(grades), {1: relevant - sum(grades)})


@pytest.mark.parametrize(
    ("function", "text", "factor", "relevant"),
    [("err_differences", "ERR(max_grade=1)", 1, 10), ("ap_times_RB_differences", "AP", 10, 10)],
)
def test_differences_of_the_scale_paper(
    function: str, text: str, factor: int, relevant: int, golden: list[dict[str, Any]]
) -> None:
    for case in cases(golden, function):
        actual = {name: factor * value(text, binary(run, relevant)) for name, run in case["inputs"].items()}
        for name, expected in case["expected"].items():
            if name != "violates":
                a, b = name.split("_minus_")
                assert actual[a] - actual[b] == pytest.approx(number(expected), abs=1e-12), (
                    case["name"],
                    name,
                )
