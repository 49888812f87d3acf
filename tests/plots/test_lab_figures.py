"""Figures of the laboratory: trees of related rankings, intervals and their differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import SettingsError
from rankscope.lab.measurement.interval_comparison import compare_intervals
from rankscope.measures import REGISTRY
from rankscope.plots import plot_intervals, plot_relations
from rankscope.plots.relations import VIOLATED

Find = Callable[[Any, str], Any]


def test_the_relations_of_the_paper() -> None:
    figure = plot_relations()
    edges = {(row["property"], row["low"], row["high"]) for row in figure.table.records()}
    expected = {("relevance monotonicity", s, s + r) for s in "abx" for r in "ab"}
    expected |= {("irrelevance monotonicity", s + "x", s) for s in "abx"}
    expected |= {("redundancy", "aa", "ab"), ("redundancy", "bb", "ba")}
    assert edges == expected
    assert sorted(t.get_text() for t in figure.axes[0].texts) == sorted(
        ["∅", *"abx", *(a + b for a in "abx" for b in "abx")]
    )
    assert len(figure.axes[0].patches) == len(edges)


def test_arrows_lead_from_low_to_high_and_violations_are_marked(find_artist: Find) -> None:
    from matplotlib.colors import to_hex

    figure = plot_relations("ACT", depth=3)
    [axes] = figure.axes
    result = rs.lab.properties("ACT", aspects=2, depth=3, relevant=10, nonrelevant=10)
    places = {t.get_gid(): t.get_position() for t in axes.texts}
    rows = figure.table.records()
    for name in ("relevance monotonicity", "irrelevance monotonicity", "redundancy"):
        own_pairs = [row for row in rows if row["property"] == name]
        [finding] = [f for f in result.verdicts if f.relation.name == name]
        assert (len(own_pairs), sum(row["violated"] for row in own_pairs)) == (
            finding.cases,
            finding.violations,
        )
    for arrow, row in zip(axes.patches, rows, strict=True):
        assert row["violated"] == (row["low_score"] > row["high_score"] + 1e-9)
        assert (to_hex(arrow.get_edgecolor()).upper() == VIOLATED) == row["violated"]
        start, end = arrow._path_original.vertices[[0, -1]]
        assert abs(start[0] - places[row["low"]][0]) < 0.3 and start[1] == places[row["low"]][1]
        assert abs(end[0] - places[row["high"]][0]) < 0.3 and end[1] == places[row["high"]][1]
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert len(crosses) == sum(row["violated"] for row in rows) == 6
    assert axes.get_title(loc="left").startswith("ACT: 6 of 44 violated")
    assert find_artist(axes, "abx").get_text() == "abx  0.083"


def test_grades_and_impossible_rankings() -> None:
    figure = plot_relations("Twist@4", grades=1, depth=4, relevant=2, properties=["replacement"])
    words = {word for row in figure.table.rows for word in row[1:3]}
    assert all(word.count("1") <= 2 for word in words)
    wrong = {(row["low"], row["high"]) for row in figure.table.records() if row["violated"]}
    assert ("0100", "0110") in wrong  # the published counterexample: 1/4 -> 2/9


def test_invalid_arguments_of_the_tree_raise() -> None:
    with pytest.raises(SettingsError, match="88,573 rankings"):
        plot_relations(depth=10)
    with pytest.raises(SettingsError, match="did you mean swap"):
        plot_relations(properties=["swop"])
    with pytest.raises(SettingsError, match="needs aspects"):
        plot_relations(grades=1, properties=["redundancy"])
    with pytest.raises(SettingsError, match="grades up to 10"):
        plot_relations(grades=10, aspects=2)


def test_from_a_case_analysis() -> None:
    figure = rs.lab.properties("AP ACT", aspects=2, depth=5, relevant=10).plot()
    assert figure.axes[0].get_title(loc="left").startswith("ACT: ")
    assert any(figure.table.column("violated"))
    assert rs.lab.properties("RR", aspects=2, depth=3).plot().table.caption == "RR"


def test_intervals_and_differences(find_artist: Find) -> None:
    r, s, u, v = "0110100", "1011010", "0010110", "1110100"
    figure = plot_intervals(r, s, u, v)
    first, second, deltas = figure.axes
    for axes, names in ((first, "rs"), (second, "uv")):
        for name in names:
            text = {"r": r, "s": s, "u": u, "v": v}[name]
            sums = [text[:i].count("1") for i in range(1, 8)]
            assert find_artist(axes, name).get_ydata().tolist() == sums == figure.table.column(f"sum_{name}")
    for name, low, high, bars in (
        ("delta_sr", r, s, deltas.containers[0]),
        ("delta_vu", u, v, deltas.containers[1]),
    ):
        change = [int(b) - int(a) for a, b in zip(low, high, strict=True)]
        expected = [sum((i - j + 1) * change[j] for j in range(i + 1)) for i in range(7)]
        assert figure.table.column(name) == expected
        assert [bar.get_height() for bar in bars] == expected
    assert deltas.get_legend().get_title().get_text() == "Size: A ≤ B"
    assert "no measure may rise more on A" in figure.figure.get_suptitle().replace("\n", " ")


def test_the_title_states_the_contradiction() -> None:
    figure = plot_intervals("001", "010", "010", "100", "DCG(discount='jk')")
    title = figure.figure.get_suptitle()
    assert title.startswith("DCG(discount='jk') is not on an interval-like scale")
    assert title.endswith(f"rises more on A, by {1 - 1 / np.log2(3):.4f} against 0.0000.")
    assert [bar.get_height() for bar in figure.axes[3].patches] == pytest.approx([1 - 1 / np.log2(3), 0])
    assert [text.get_text() for text in figure.axes[3].texts] == ["0.3691", "0.0000"]
    steps = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes[:2]]
    assert steps == [["from 001", "to 010"], ["from 010", "to 100"]]
    fine = plot_intervals("001", "010", "010", "100", "DCG").figure.get_suptitle()
    assert fine.startswith("No contradiction") and "DCG rises by" in fine


def test_invalid_intervals_raise() -> None:
    for rankings, message in (
        (("01", "10", "0", "1"), "length"),
        (("10", "01", "01", "10"), "not below"),
        (("02", "11", "01", "10"), "not below"),
        (("ab", "20", "01", "10"), "is no ranking"),
    ):
        with pytest.raises(SettingsError, match=message):
            plot_intervals(*rankings)


def test_graded_intervals_have_a_row_for_each_grade(find_artist: Find) -> None:
    figure = plot_intervals("001", "010", "201", "210", "ERR")
    assert len(figure.axes) == 7
    assert [axes.get_ylabel() for axes in figure.axes[:6:3]] == ["grade 1 or better", "grade 2 or better"]
    assert find_artist(figure.axes[1], "v").get_ydata().tolist() == [1, 2, 2]
    assert find_artist(figure.axes[4], "v").get_ydata().tolist() == [1, 1, 1]
    assert figure.table.column("grade") == [1, 1, 1, 2, 2, 2]
    assert figure.table.column("delta_sr") == [0, 1, 1, 0, 0, 0]
    assert f"rises more on A, by {1 / 24:.4f}" in figure.figure.get_suptitle()
    result = rs.lab.scales("ERR", length=3, grades=2, equal_relevant=True).plot()
    assert result.table.rows == figure.table.rows


def test_from_a_check_of_scales() -> None:
    figure = rs.lab.scales(["DCG(discount='jk')"], length=3, equal_relevant=True).plot()
    assert "is not on an interval-like scale" in figure.figure.get_suptitle()
    with pytest.raises(SettingsError, match="no counterexample"):
        rs.lab.scales(["RBP(p=0.5)"], length=3, equal_relevant=True).plot()


def test_the_figure_contradicts_whatever_the_laboratory_contradicts() -> None:
    """A measure of any size: the figure had a tolerance of its own, and drew counterexamples as none."""
    tiny = rs.measure(
        "TinyDCG", lambda grades: 1e-13 * sum(g / max(1, np.log2(i)) for i, g in enumerate(grades, 1))
    )
    REGISTRY.pop("TinyDCG")  # other tests list the measures
    result = rs.lab.scales([tiny], length=3, equal_relevant=True)
    assert not result.verdicts[0].holds
    assert result.example()["comparison"].records()[0]["contradiction"] is True
    assert "is not on an interval-like scale" in result.plot().figure.get_suptitle()


def test_compared_intervals_without_a_measure() -> None:
    result = compare_intervals("01", "10", "00", "11")
    assert result["comparison"].rows == [(None, None, None, True, None)]
    assert len(result.plot().axes) == 3
    assert compare_intervals("00", "11", "01", "10")["comparison"].rows[0][3] is False
