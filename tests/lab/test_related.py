"""The pairs of the case analysis, one by one: as many as it counts, and the figure shows exactly these."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import SettingsError

SETTINGS: list[dict[str, Any]] = [
    {"aspects": 2, "depth": 2, "relevant": 1},  # once 4 cases in the table and 6 in the figure
    {"aspects": 2, "depth": 3},
    {"aspects": 1, "depth": 4, "relevant": 2, "nonrelevant": 1},
    {"aspects": 2, "depth": 3, "relevant": 1, "include_impossible": True},
    {"aspects": 2, "depth": 3, "fixed_length": True},
    {"aspects": 2, "depth": 3, "weights": [0.9, 0.1]},
    {"grades": 1, "depth": 4, "relevant": 2},
    {"grades": 2, "depth": 3, "relevant": 1, "nonrelevant": 1},
    {"grades": 2, "depth": 3, "relevant": 1, "include_impossible": True},
]


@pytest.mark.parametrize("measure", ["AP", "ACT", "Twist@4", "nDCG"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_as_many_pairs_as_the_case_analysis_counts(settings: dict[str, Any], measure: str) -> None:
    result = rs.lab.properties(measure, **settings)
    pairs_result = result.related_rankings(measure)
    counted = {
        row["property"]: (row["cases"], row["violations"])
        for row in result["properties"].records()
        if row["property"] != "induced"
    }
    pairs = pairs_result["relations"].records()
    cases = Counter(row["property"] for row in pairs)
    violated = Counter(row["property"] for row in pairs if row["violated"])
    assert {name: (cases[name], violated[name]) for name in counted} == counted
    assert set(cases) <= set(counted)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_figure_shows_the_table(settings: dict[str, Any]) -> None:
    result = rs.lab.properties("AP", **settings)
    figure = result.plot(depth=settings["depth"])
    counted = [row for row in result["properties"].records() if row["property"] != "induced"]
    assert len(figure.table) == len(figure.axes[0].patches) == sum(row["cases"] for row in counted)
    wrong = sum(row["violations"] for row in counted)
    assert f"AP: {wrong} of {len(figure.table)} violated" in figure.axes[0].get_title(loc="left")


def test_a_small_world_by_hand() -> None:
    result = rs.lab.properties("AP", aspects=2, depth=2, relevant=1, properties=["relevance monotonicity"])
    assert result["properties"].rows == [("AP", "relevance monotonicity", 4, 0)]
    pairs = {(row["low"], row["high"]) for row in result.related_rankings()["relations"].records()}
    assert pairs == {("a", "ab"), ("b", "ba"), ("x", "xa"), ("x", "xb")}
    assert len(result.plot().table) == 4


def test_scores_and_possible_rankings() -> None:
    result = rs.lab.related_rankings("P@2", aspects=1, depth=2, relevant=1, nonrelevant=2)
    rows = {row["ranking"]: row for row in result["rankings"].records()}
    assert list(rows) == ["-", "a", "x", "aa", "xa", "ax", "xx"]
    assert [name for name, row in rows.items() if not row["possible"]] == ["aa"]
    assert [row["score"] for row in rows.values()] == [0.0, 0.5, 0.0, 1.0, 0.5, 0.5, 0.0]
    assert result.plot().table is result["relations"]


def test_user_defined_relations_are_drawn() -> None:
    def longer(ranking: str) -> Any:
        if ranking:
            yield ranking, ranking + "a"

    result = rs.lab.properties("AP", aspects=1, depth=3, properties=[longer])
    assert len(result.plot(depth=3).table) == result["properties"].rows[0][2]


def test_pairs_that_do_not_exist_are_rejected() -> None:
    with pytest.raises(SettingsError, match="rankings down to depth 20"):
        rs.lab.related_rankings(depth=20)
    with pytest.raises(SettingsError, match="RR was not tested"):
        rs.lab.properties("AP", depth=2).related_rankings("RR")
