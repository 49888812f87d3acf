"""Verdicts do not depend on the magnitude of scores, and undefined scores yield no verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import MeasureError
from rankscope.lab.certificates import certificates
from rankscope.lab.rankings.enumeration import Evaluator
from rankscope.lab.rankings.worlds import graded_world
from rankscope.measures import Measure


def violations(measure: Any, **settings: Any) -> list[int]:
    result = rs.lab.properties(measure, **settings)
    return [row["violations"] for row in result.tables["properties"].records()]


def test_the_height_of_a_cube_changes_no_verdict() -> None:
    """ACT is divided by the height: without the cap every verdict is the same, however high."""
    expected = violations("ACT(height=1000)", depth=6)
    assert expected[1] == 348
    assert violations("ACT(height=100000000)", depth=6) == expected


@pytest.mark.parametrize("factor", [1e-300, 1e-10, 1.0, 1e10, 1e300])
def test_a_factor_changes_no_verdict(factor: float) -> None:
    """Twist breaks swap and replacement; so does Twist in any unit, and a sum of tenths has only ties."""
    world = {"grades": 1, "depth": 5, "relevant": 2}

    def late(grades: list[int]) -> float:
        return factor * sum(grades[i] * (i + 1) for i in range(len(grades)))

    def tenths(grades: list[int]) -> float:
        return factor * (sum(0.1 for grade in grades if grade) + 0.7 - 0.7)

    assert violations(rs.measure("Late", late), **world) == violations(
        rs.measure("Later", lambda grades: late(grades) / factor), **world
    )
    assert violations(rs.measure("Late", late), **world)[2] > 0
    assert violations(rs.measure("Tenths", tenths), **world) == [0, 0, 0, 0]


def test_infinite_scores_are_compared() -> None:
    falls = rs.measure("Falls", lambda grades: float("inf") if len(grades) == 2 else -float("inf"))
    rows = rs.lab.properties(falls, grades=1, depth=3, relevant=3).tables["properties"].records()
    assert rows[0]["violations"] == 4  # two documents score inf, a third relevant one takes it away
    assert rows[1]["violations"] == 2  # a second, non-relevant document raises -inf to inf


def test_an_undefined_score_is_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    undefined = rs.measure("Undefined", lambda grades: float("nan") if grades == [0, 1] else 1.0)
    with pytest.raises(MeasureError, match=r"Undefined is undefined \(NaN\) on the ranking 01"):
        rs.lab.properties(undefined, grades=1, depth=2, relevant=2)
    plugin = tmp_path / "undefined_of_the_test.py"
    plugin.write_text("import rankscope as rs\nrs.measure('Undefined2', lambda g: float('nan'))\n")
    assert main(["properties", "--depth", "3", "--plugin", str(plugin), "-m", "Undefined2"]) == 2
    assert "Undefined2 is undefined (NaN)" in capsys.readouterr().err


def test_an_undefined_score_of_an_impossible_ranking_does_not_matter() -> None:
    """With one relevant document no ranking has two of them."""
    partly_undefined = rs.measure(
        "One", lambda grades: float("nan") if sum(grades) > 1 else float(sum(grades))
    )
    assert violations(partly_undefined, grades=1, depth=3, relevant=1) == [0, 0, 0, 0]
    with pytest.raises(MeasureError, match="is undefined"):
        rs.lab.properties(partly_undefined, grades=1, depth=3, relevant=1, include_impossible=True)


class Fails(Measure, abstract=True):
    """Fails on rankings of four documents."""

    name = "Fails"

    def evaluate(self, lists: Any) -> Any:
        return 1.0 / (4 - lists.length.astype(object)).astype(float)[:] if lists.length.max() < 4 else 1 / 0


def test_an_exception_is_no_verdict() -> None:
    with pytest.raises(MeasureError, match=r"Fails failed on rankings of up to 4 documents \(ZeroDivision"):
        rs.lab.properties(Fails(), grades=1, depth=4, relevant=4)


def test_small_measures_must_follow_the_tree_too() -> None:
    """A formula that is wrong on trees shows it, however small its numbers are."""
    world = graded_world(1, relevant=3, nonrelevant=3)

    class Small(Measure, abstract=True):
        name = "Small"

        def evaluate(self, lists: Any) -> Any:
            return 1e-20 * (lists.length + (type(lists).__name__ == "Tree"))

    assert not Evaluator(Small(), world).can_lump


def test_certificates_say_that_a_measure_is_undefined() -> None:
    rows = certificates("CRP_N").tables["certificates"].records()
    aspects = [row for row in rows if row["setting"].startswith("aspects")]
    assert {row["verdict"] for row in aspects} == {"undefined"}
    assert {row["violations"] for row in aspects} == {None}
    assert "undefined (NaN) on the ranking" in aspects[0]["counterexample"]
