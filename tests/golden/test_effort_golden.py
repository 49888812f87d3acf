"""Published and derived values of the effort measures: fractions, to 1e-12, in all three crossing modes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.curve import Curve
from rankscope.analysis.effort import count_archetypes
from rankscope.choices import CROSSINGS
from rankscope.judging import judge
from rankscope.measures.effort_curves import find_archetypes, get_curves

MODES = {"sign-change": "sign-change", "definition": "definition3", "matters": "matters"}


def collection(inputs: dict[str, Any]) -> tuple[rs.Qrels, rs.Run]:
    """A topic with these counts, and a run with these grades; documents beyond the run stay unretrieved."""
    run = inputs.get("run", [])
    grades: dict[str, int] = {}
    ranking = []
    left = {int(g): c for g, c in inputs.get("counts", {}).items()}
    for rank, grade in enumerate(run, 1):
        document = f"d{rank}"
        ranking.append(document)
        grades[document] = grade
        if grade > 0:
            left[grade] = left.get(grade, 0) - 1
    assert "counts" not in inputs or all(c >= 0 for c in left.values())
    for grade, count in left.items():
        for k in range(count):
            grades[f"missed-{grade}-{k}"] = grade
    grades["other"] = 0
    return rs.Qrels.from_dict({"t": grades}), rs.Run.from_dict({"t": ranking})


def curve(inputs: dict[str, Any]) -> Curve:
    qrels, run = collection(inputs)
    return rs.curve(rs.Collection(qrels, run), None, "t", cutoff=inputs.get("N"))


def number(value: Any) -> float:
    if isinstance(value, dict):
        return float(Fraction(value["frac"]))
    return math.nan if value is None else float(value)


def close(actual: float, expected: Any) -> bool:
    expected_value = number(expected)
    if math.isnan(expected_value):
        return math.isnan(actual)
    return (
        actual == expected_value
        if math.isinf(expected_value)
        else math.isclose(actual, expected_value, rel_tol=0, abs_tol=1e-12)
    )


def cases(golden: list[dict[str, Any]], function: str) -> list[dict[str, Any]]:
    selected = [case for case in golden if case["function"] == function]
    assert selected
    return selected


def test_relative_positions(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "rp"):
        assert curve(case["inputs"]).curve.column("rp") == case["expected"], case["name"]
    for case in cases(golden, "crp"):
        assert curve(case["inputs"]).curve.column("crp") == case["expected"], case["name"]
    for case in cases(golden, "crp_last"):
        qrels, run = collection(case["inputs"])
        last = rs.CRP @ len(case["inputs"]["run"])
        assert rs.evaluate(qrels, run, [last]).mean(last)[0] == case["expected"], case["name"]


def test_reference_curves(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "prop1_bounds"):
        full = np.diff([0, *curve(case["inputs"]).references.column("full_scale")])
        assert [full.min(), full.max()] == case["expected"]
    for case in cases(golden, "prop2_bounds"):
        full = curve(case["inputs"]).references.column("full_scale")
        assert [min(full), full[-1]] == case["expected"]


def test_ranks_of_grades(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "min_max_rank"):
        ranks = {
            row["grade"]: [row["first"], row["last"]] for row in curve(case["inputs"]).intervals.records()
        }
        assert ranks[case["inputs"]["grade"]] == case["expected"], case["name"]
    for case in cases(golden, "min_max_all"):
        ranks = {
            str(row["grade"]): [row["first"], row["last"]]
            for row in curve(case["inputs"]).intervals.records()
        }
        assert ranks == case["expected"], case["name"]


def test_recall_and_relevance_support(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "recall"):
        qrels, run = collection(case["inputs"])
        assert close(rs.evaluate(qrels, run, "SetR").mean("SetR")[0], case["expected"])
    for case in cases(golden, "relevance_support"):
        rows = curve(case["inputs"]).curve.records()
        assert [row["rank"] for row in rows if row["grade"] == case["inputs"]["grade"]] == case["expected"]


def test_twist(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "twist_all"):
        expected, inputs = case["expected"], case["inputs"]
        qrels, run = collection(inputs)
        length = inputs.get("N") or max(1, len(inputs["run"]))
        if expected is None:
            assert all(math.isnan(value(qrels, run, name, length)) for name in ("Twist", "Sigma", "b_ratio"))
            continue
        check_curve(curve(inputs), expected, case["name"])
        for name, key in (("SigmaPlus", "sigma_plus"), ("SigmaMinus", "sigma_minus"), ("Sigma", "sigma")):
            assert close(value(qrels, run, name, length), expected[key]), (case["name"], name)
        for mode, key in MODES.items():
            for name, part in (("Twist", "tau"), ("Rho", "rho"), ("BalancePoint", "beta")):
                actual = value(qrels, run, f"{name}(crossing={mode!r})", length)
                assert close(actual, expected[key][part]), (case["name"], name, mode)
        check_2012(qrels, run, length, expected, case["name"])


def value(qrels: rs.Qrels, run: rs.Run, name: str, length: int) -> float:
    expected_value = rs.measure(name) @ length
    return float(rs.evaluate(qrels, run, [expected_value]).matrix(expected_value).values[0, 0])


def check_curve(actual: Curve, expected: dict[str, Any], name: str) -> None:
    shown = len(expected["rp"])
    assert actual.settings["N"] == expected["N"], name
    assert actual.curve.column("rp")[:shown] == expected["rp"], name
    assert actual.curve.column("crp")[:shown] == expected["crp"], name
    for mode, key in MODES.items():
        crossings = actual.crossings(mode)
        listed = expected[key]["crossings"]
        assert crossings[: len(listed)] == listed, (name, mode)
        assert len(crossings) == len(listed) or expected["N"] == 1000, (
            name,
            mode,
        )  # where the golden list is cut
    values = {row["name"]: row["value"] for row in actual.values.records()}
    assert values["archetype"] == expected["archetype"], name
    for mode, key in MODES.items():
        assert close(values[actual.label("Twist", mode)], expected[key]["tau"])


def check_2012(qrels: rs.Qrels, run: rs.Run, length: int, expected: dict[str, Any], name: str) -> None:
    old = expected["crp2012"]
    lists = judge(qrels, run).lists
    curves = get_curves(lists, 1, length)
    actual = {
        "min": curves.turn_around[0], "b_r": curves.regained[0], "b_w": curves.full_regained[0],
        "loss_at_R": curves.loss[0], "crp_at_min": curves.minimum[0],
        "w_at_min": curves.full_crp_at(curves.turn_around)[0],
        "crp_at_N": curves.end[0], "w_at_N": curves.full_end[0],
        "rho": value(qrels, run, "Rho2012", length),
        "rho_capped": value(qrels, run, "Rho2012(clamped=True)", length),
        "b_ratio": value(qrels, run, "b_ratio", length),
        "CRP_min": value(qrels, run, "CRP_min", length),
        "CRP_N": value(qrels, run, "CRP_N", length),
        "rho_w": curves.base[0] / curves.full_regained[0],
    }  # fmt: skip
    for key, number_found in actual.items():
        assert close(float(number_found), old[key]), (name, key, number_found, old[key])
    assert set(old) - set(actual) == {"last_min"}
    assert (curves.forward[0], curves.backward[0]) == (expected["s_plus"], expected["s_minus"])
    assert (curves.full_forward[0], curves.full_backward[0]) == (expected["fs_plus"], expected["fs_minus"])


def test_archetypes(golden: list[dict[str, Any]]) -> None:
    for case in cases(golden, "twist_all"):
        if case["expected"] is not None:
            qrels, run = collection(case["inputs"])
            length = case["inputs"].get("N") or max(1, len(case["inputs"]["run"]))
            assert find_archetypes(judge(qrels, run).lists, cutoff=length).tolist() == [
                case["expected"]["archetype"]
            ]


def test_published_table_of_archetypes(golden: list[dict[str, Any]]) -> None:
    """Table 2 of the paper: the shares computed from its integers are the printed percentages."""
    printed = {
        "TREC10": [0.17, 3.09, 83.87, 12.72, 0.15],
        "TREC14": [0.00, 1.86, 80.24, 17.89, 0.00],
        "TREC20": [0.11, 8.86, 60.70, 30.16, 0.16],
        "TREC21": [0.00, 4.15, 64.59, 31.26, 0.00],
    }
    names = ["ideal", "worst", "typical A", "typical B", "excellent A"]
    [case] = cases(golden, "table2_counts")
    for track, counts in case["expected"].items():
        summary = count_archetypes(np.repeat(names, counts))
        shares = {row["archetype"]: row["share"] for row in summary.records()}
        assert [round(100 * float(shares[name]), 2) for name in names] == printed[track]


@pytest.mark.parametrize(
    ("run", "taus"),
    [
        ([3, 3, 2, 0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0], (0.8188, 0.9299, 0.4299)),
        ([3, 0, 1, 0, 2, 0, 0, 0, 2, 1, 0, 0, 3, 1, 0], (0.5254, 0.7337, 0.5254)),
    ],
)
def test_the_three_crossings_on_the_published_runs(run: list[int], taus: tuple[float, ...]) -> None:
    qrels, ranked = collection({"counts": {"3": 2, "2": 2, "1": 3}, "run": run})
    actual = [value(qrels, ranked, f"Twist(crossing={mode!r})", 15) for mode in CROSSINGS]
    assert [round(tau, 4) for tau in actual] == list(taus)
