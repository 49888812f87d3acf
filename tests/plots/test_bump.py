"""Figures of ranks, coverage and topics: lines have the values of their tables, and highlighted runs have colours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import SettingsError
from rankscope.plots.palette import COLOURS

Find = Callable[[Any, str], Any]
ASPECTS = {"t": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 1}}, "u": {"a": {"1": 1}}}
LISTS = {
    "early": {"t": ["a", "c"], "u": ["a"]},
    "late": {"t": ["x", "y", "c", "a"], "u": ["x", "a"]},
    "never": {"t": ["x"], "u": ["x"]},
}


def _ranks(qrels: Any, runs: Any, measures: Any, across: str = "measures") -> Any:
    return rs.certain(rs.evaluate(qrels, runs, measures), across=across)


def test_lines_go_through_the_ranks(collection: Any, find_artist: Find) -> None:
    result = _ranks(*collection, ["AP", "RR", "P@5"])
    figure = result.plot()
    [axes] = figure.axes
    for run in result["runs"].column("run"):
        places = [row["rank"] for row in result["ranks"].records() if row["run"] == run]
        assert find_artist(axes, run).get_ydata().tolist() == places
    low, high = axes.get_ylim()
    assert low > high, "the best run is on top"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["AP", "RR", "P@5"]
    assert len(figure.table) == 8 * 3
    assert figure.table.rows[0][:4] == result["ranks"].rows[0]


def test_chosen_runs_are_in_colour_and_named(collection: Any, find_artist: Find) -> None:
    figure = _ranks(*collection, "AP", across="samples").plot(highlight=["run2", "run5"])
    [axes] = figure.axes
    assert find_artist(axes, "run2").get_color() == COLOURS[0]
    assert find_artist(axes, "run5").get_color() == COLOURS[1]
    assert not axes.findobj(lambda a: a.get_gid() == "run0")
    names = {text.get_text() for text in axes.texts}
    leaders = {"run7", *_ranks(*collection, "AP", across="samples")["changes"].column("best")}
    rest = len(collection[1]) - len({"run2", "run5", *leaders})
    assert names == {"run2", "run5", *leaders, f"{rest} more runs"}, "who leads by some order is named, too"
    with pytest.raises(SettingsError, match="no run 'run9' to highlight"):
        _ranks(*collection, "AP").plot(highlight=["run9"])


def test_only_the_best_eight_of_many_runs_are_in_colour(make_collection: Callable[..., Any]) -> None:
    names = [f"r{k}" for k in range(30)]
    result = _ranks(*make_collection(names, ["1", "2", "3"]), ["AP", "RR"])
    figure = result.plot()
    best = sorted(result["ranks"].records()[:30], key=lambda row: row["rank"])[:8]
    leading = set(result["changes"].column("best"))
    named = {row["run"] for row in best} | leading
    assert {text.get_text() for text in figure.axes[0].texts} == {*named, f"{30 - len(named)} more runs"}


def test_names_at_the_ends_do_not_touch(collection: Any) -> None:
    figure = _ranks(*collection, ["AP", "RR"]).plot()
    figure.figure.draw_without_rendering()
    letters = figure.axes[0].title.__class__.get_window_extent  # that of an annotation has its line as well
    boxes = sorted((letters(text) for text in figure.axes[0].texts), key=lambda box: box.y0)
    assert all(upper.y0 >= lower.y1 - 2 for lower, upper in pairwise(boxes))
    assert all(box.y1 <= figure.figure.bbox.y1 for box in boxes)


def test_coverage_rises_where_the_table_says(find_artist: Find) -> None:
    result = rs.Collection(ASPECTS, LISTS).coverage()
    figure = result.plot(highlight=["early", "late"])
    [axes] = figure.axes
    line = find_artist(axes, "late")
    assert line.get_drawstyle() == "steps-post"
    assert line.get_xdata().tolist()[:-1] == [1, 2, 3, 4]
    assert line.get_ydata().tolist()[:-1] == pytest.approx([0, 1 / 2, 2 / 3, 1])
    assert axes.get_ylim() == (0, 1)
    assert figure.table.rows == result["coverage"].rows
    labels = [text.get_text() for text in figure.figure.legends[0].get_texts()]
    assert labels == ["early", "late", "1 more run"]


def test_aspects_of_a_topic_have_a_mark_for_each_run_that_covers_them() -> None:
    figure = rs.Collection(ASPECTS, LISTS).coverage("t").plot("aspects", highlight=["early", "late"])
    [axes] = figure.axes
    marks = {(line.get_label(), float(x)) for line in axes.get_lines() for x in line.get_xdata()}
    assert marks == {("early", 1.0), ("early", 2.0), ("late", 4.0), ("late", 3.0)}
    assert [text.get_text() for text in axes.texts] == ["1 of 3"] * 3
    assert len(figure.table) == 9
    with pytest.raises(SettingsError, match="no document is relevant"):
        rs.Collection(ASPECTS, LISTS).coverage().plot("aspects", topic="v")


def test_topics_have_the_span_of_all_runs(scores: rs.Scores) -> None:
    figure = scores.plot("topics", measure="nDCG@10", highlight=["run3"])
    values = scores.matrix("nDCG@10").values
    for t, (topic, low, middle, high, own) in enumerate(figure.table.rows):
        column = sorted(values[:, t].tolist())
        assert topic == scores.topics[t]
        assert (low, high, own) == (column[0], column[-1], values[scores.runs.index("run3"), t])
        assert middle == pytest.approx((column[3] + column[4]) / 2)
    dots = next(line for line in figure.axes[0].get_lines() if line.get_label() == "median run")
    assert dots.get_xdata().tolist() == [row[2] for row in figure.table.rows]


def test_planes_are_split_by_groups(collection: Any) -> None:
    effort = rs.effort(rs.Collection(*collection), "AP", groups=r"^run[0-3]")
    figure = effort.plot(facet="group")
    titles = [axes.get_title(loc="left").split("\n")[0] for axes in figure.axes]
    assert titles == ["run0", "run1", "run2", "run3", "no group"]
    with pytest.raises(SettingsError, match="no groups of runs are known"):
        rs.effort(rs.Collection(*collection), "AP").plot(facet="group")
