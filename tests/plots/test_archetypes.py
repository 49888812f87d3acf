"""The gallery of archetypes: the examples are what they are called, by the definitions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.measures.effort_curves import ARCHETYPES
from rankscope.plots import plot_archetypes
from rankscope.plots.archetypes import EXAMPLES, IDEAL, LENGTH, example_curve

BASE = len(IDEAL)


def crp_by_hand(grades: str) -> list[int]:
    """CRP straight from the definition: the ranks that each grade has in the ideal ranking."""
    ideal = IDEAL.ljust(LENGTH, "0")
    first = {g: ideal.index(g) + 1 for g in "3210"}
    last = {g: ideal.rindex(g) + 1 for g in "3210"}
    rp = [
        rank - first[g] if rank < first[g] else rank - last[g] if rank > last[g] else 0
        for rank, g in enumerate(grades.ljust(LENGTH, "0"), start=1)
    ]
    return np.cumsum(rp).tolist()


def kind_by_hand(grades: str) -> str:
    """Return the archetype, tested in the order of the definition, with the first change of sign m."""
    full = grades.ljust(LENGTH, "0")
    crp = crp_by_hand(grades)
    if set(full) == {"0"}:
        return "worst"
    if not any(crp):
        return "ideal"
    if full == IDEAL.ljust(LENGTH, "0")[::-1]:
        return "full scale"
    crossings = [j for j, (a, b) in enumerate(pairwise(crp), start=1) if (a < 0 <= b) or (a > 0 >= b)]
    if not crossings:
        return "typical B"
    m = crossings[0]
    if m > BASE:
        return "typical A"
    if any(crp[j - 1] < 0 for j in range(m + 2, BASE + 1)):
        return "ups-and-downs"
    return "excellent B" if "0" in full[:BASE] else "excellent A"


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_what_they_are_called(name: str) -> None:
    assert kind_by_hand(EXAMPLES[name]) == name
    curve = example_curve(name)
    assert curve.values.rows[-1] == ("archetype", name)
    assert curve.crp.tolist() == crp_by_hand(EXAMPLES[name])
    assert curve.recall_base == BASE and curve.length == LENGTH


def test_all_eight_are_drawn_as_in_the_table(find_artist: Callable[[Any, str], Any]) -> None:
    figure = plot_archetypes()
    assert set(EXAMPLES) == set(ARCHETYPES) and len(figure.axes) == 8
    for letter, panel, name in zip("abcdefgh", figure.axes, EXAMPLES, strict=True):
        assert panel.get_title(loc="left") == f"({letter}) {name}"
        rows = [row for row in figure.table.records() if row["archetype"] == name]
        crp = find_artist(panel, "crp").get_ydata()
        assert crp.tolist() == [row["crp"] for row in rows]
        low, high = panel.get_ylim()
        assert low <= crp.min() and crp.max() <= high
        assert {row["count"] for row in rows} == {None}


def test_shares_of_an_analysis(effort: rs.Effort) -> None:
    figure = plot_archetypes(effort)
    bars = figure.axes[-1]
    shown = dict(
        zip(
            [t.get_text() for t in bars.get_yticklabels()], [p.get_width() for p in bars.patches], strict=True
        )
    )
    assert shown == pytest.approx({str(name): 100 * float(share) for name, _, share in effort.summary.rows})
    for row in figure.table.records():
        [(count, share)] = [(c, s) for name, c, s in effort.summary.rows if name == row["archetype"]]
        assert (row["count"], row["share"]) == (count, share)
    assert "96 rankings (8 runs × 12 topics)" in bars.get_title(loc="left")
    texts = [text.get_text() for text in bars.texts]
    assert len(texts) == 8 and sum(int(t.split("(")[1].strip(")").replace(",", "")) for t in texts) == 96


def test_shares_of_each_run_are_those_of_its_rankings(effort: rs.Effort) -> None:
    figure = effort.plot("shares")
    runs = effort.judged.runs
    kinds = effort.archetype.reshape(len(runs), -1)
    twist = effort.twist.reshape(len(runs), -1).mean(axis=1)
    rows = figure.table.records()
    assert [row["run"] for row in rows] == [runs[r] for r in np.argsort(-twist, kind="stable")]
    for row in rows:
        own = kinds[runs.index(str(row["run"]))]
        assert [row[name] for name in ARCHETYPES] == [float((own == name).mean()) for name in ARCHETYPES]
    ends = {round(p.get_x() + p.get_width(), 6) for p in figure.axes[0].patches}
    assert max(ends) == 100


def test_many_runs_share_a_row_of_archetypes() -> None:
    topics = {f"q{k}": {"a": 1} for k in range(4)}
    runs = {f"r{k:02}": {t: ["b", "a"][k % 2 :] for t in topics} for k in range(50)}
    figure = rs.effort(rs.Collection(topics, runs), "AP").plot("shares", width=3.3)
    rows = figure.table.records()
    assert len(rows) == 41 and rows[-1]["run"] == "10 more runs"
    assert rows[0]["ideal"] == 1.0 and rows[-1]["ideal"] == 0.0


def test_templates_show_published_and_computed_values() -> None:
    from rankscope.lab import archetype_ranges

    figure = archetype_ranges(3, 6).plot()
    assert len(figure.axes) == 8  # seven templates and the cells
    assert [axes.get_title(loc="center") for axes in figure.axes[:7]][:2] == ["ideal", "worst"]
    texts = {text.get_text() for text in figure.axes[7].texts}
    assert {"1 \N{CHECK MARK}", "< 1/4 \N{BALLOT X}", "\N{INFINITY}"} <= texts
    assert len(figure.table) == 49 and len(figure.axes[7].texts) == 98
    assert figure.render("svg")
