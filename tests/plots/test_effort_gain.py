"""The effort/gain plane: points, grid, shares, highlights, size and speed."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import rankscope as rs
from rankscope.analysis.plane import estimate_density
from rankscope.errors import InputError, SettingsError
from rankscope.plots import plot_effort_gain


def offsets(axes: Any) -> Any:
    [dots] = [c for c in axes.collections if c.get_gid() == "lists"]
    return np.asarray(dots.get_offsets())


def test_points_are_the_table_and_the_scores(effort: rs.Effort, scores: rs.Scores) -> None:
    figure = plot_effort_gain(effort, "AP")
    drawn = sorted(map(tuple, offsets(figure.axes[0]).tolist()))
    assert drawn == sorted((row["Twist"], row["AP"]) for row in figure.table.records())
    twist, ap = scores.matrix("Twist").values, scores.matrix("AP").values
    assert len(drawn) == twist.size
    assert sorted(zip(twist.ravel().tolist(), ap.ravel().tolist(), strict=True)) == drawn
    assert figure.axes[0].get_xlim() == (0, 1) and figure.axes[0].get_ylim() == (0, 1)
    assert figure.axes[0].get_ylabel() == "AP (gain)"


def test_grid_and_shares(effort: rs.Effort) -> None:
    figure = plot_effort_gain(effort, "nDCG")
    points, cells = figure.axes
    gain = np.array(figure.table.column("nDCG"))
    across = sorted(line.get_ydata()[0] for line in points.lines if set(line.get_xdata()) == {0, 1})
    upwards = sorted(line.get_xdata()[0] for line in points.lines if set(line.get_ydata()) == {0, 1})
    assert upwards == [0.25, 0.5, 0.75]
    assert across == pytest.approx(np.quantile(gain, [0.25, 0.5, 0.75]).tolist())
    counts = Counter(zip(figure.table.column("gain"), figure.table.column("effort"), strict=True))
    for row in effort.quadrants.records():
        if row["measure"] == "nDCG":
            assert counts[row["gain"], row["effort"]] == row["count"]
    shares = {
        (round(t.get_position()[1]), round(t.get_position()[0])): float(t.get_text()) for t in cells.texts
    }
    for (g, e), share in shares.items():
        names = ("low", "medium", "high", "huge")[g], ("huge", "high", "medium", "low")[e]
        assert share == pytest.approx(100 * counts[names] / len(gain), abs=0.05)
    assert [t.get_text() for t in cells.get_xticklabels()] == ["huge", "high", "medium", "low"]
    assert [t.get_text() for t in cells.get_yticklabels()] == ["low", "medium", "high", "huge"]
    [agreement] = [row for row in effort.agreement.records() if row["measure"] == "nDCG"]
    title = cells.get_title(loc="left")
    assert f"agree, {100 * agreement['diagonal_share']:.1f} %" in title
    assert f"high-high, {100 * agreement['high_high_share']:.1f} %" in title


def test_contours_hold_the_shares_that_the_legend_says(effort: rs.Effort) -> None:
    figure = plot_effort_gain(effort, "AP")
    shares = figure.table.column("contour")
    assert [sum(h is not None and h <= share for h in shares) for share in (0.5, 0.9)] == [48, 87]
    contours = [c for c in figure.axes[0].collections if hasattr(c, "levels")]
    assert len(contours) == 2
    points = offsets(figure.axes[0])
    density = estimate_density(points[:, 0], points[:, 1], 0.0, 1.0)
    assert density is not None
    drawn = [density.twist, density.gain]
    height = RegularGridInterpolator(drawn[::-1], density.height, bounds_error=False, fill_value=None)
    at = height(np.clip(points[:, ::-1], drawn[0][0], drawn[0][-1]))
    for contour, share in zip(contours, (0.5, 0.9), strict=True):
        [level] = contour.levels
        assert (at >= level - 1e-9).mean() == pytest.approx(share, abs=0.02)
    few = plot_effort_gain(rs.effort(rs.Collection({"q": {"a": 1}}, {"r": {"q": ["a"]}}), "AP"))
    assert few.table.column("contour") == [None] and not [
        c for c in few.axes[0].collections if hasattr(c, "levels")
    ]


def test_means_of_runs_with_their_spread(effort: rs.Effort, scores: rs.Scores) -> None:
    figure = plot_effort_gain(effort, "AP")
    [means] = [line for line in figure.axes[0].lines if line.get_gid() == "means"]
    twist, ap = scores.matrix("Twist").values, scores.matrix("AP").values
    assert means.get_xdata() == pytest.approx(twist.mean(axis=1))
    assert means.get_ydata() == pytest.approx(ap.mean(axis=1))
    marked = plot_effort_gain(effort, "AP", highlight=["run3"]).axes[0].lines
    bars = [line for line in marked if line.get_gid() == "spread"]
    assert bars[0].get_xdata() == pytest.approx(np.quantile(twist[3], [0.25, 0.75]))
    assert bars[1].get_ydata() == pytest.approx(np.quantile(ap[3], [0.25, 0.75]))


def test_colour_and_facets_tell_classes_apart(effort: rs.Effort, collection: tuple[Any, Any]) -> None:
    names = dict.fromkeys(effort.archetypes.column("archetype"))
    figure = plot_effort_gain(effort, "AP", colour="archetype")
    dots = {c.get_gid(): c for c in figure.axes[0].collections if str(c.get_gid()).startswith("lists: ")}
    assert set(dots) == {f"lists: {name}" for name in names}
    assert sum(len(c.get_offsets()) for c in dots.values()) == len(figure.table)
    shapes = {tuple(c.get_paths()[0].vertices.ravel()) for c in dots.values()}
    assert len(shapes) == len(dots), "without colour they differ by their shapes"
    qrels, _ = collection
    bases = {topic: sum(grade > 0 for grade in grades.values()) for topic, grades in qrels.items()}
    assert dict(zip(figure.table.column("topic"), figure.table.column("recall_base"), strict=True)) == bases
    facets = plot_effort_gain(effort, "AP", facet="recall base")
    borders = np.quantile(list(bases.values()), [0.25, 0.5, 0.75])
    quarter = [int((bases[str(topic)] > borders).sum()) for topic in facets.table.column("topic")]
    drawn = [axes.collections[1] for axes in facets.axes]
    assert [len(c.get_offsets()) for c in drawn] == [quarter.count(k) for k in sorted(set(quarter))]
    assert len(plot_effort_gain(effort, "AP", facet="topic").axes) == 12
    with pytest.raises(SettingsError, match="did you mean archetype"):
        plot_effort_gain(effort, colour="archetypes")
    assert len(plot_effort_gain(_effort_of_topics(30), facet="topic").axes) == 30


@pytest.mark.parametrize(("width", "most"), [(3.3, 28), (7.0, 56)])
def test_small_planes_fit_on_a_page(width: float, most: int) -> None:
    effort = _effort_of_topics(251)
    figure = plot_effort_gain(effort, facet="topic", width=width)
    assert figure.figure.get_figheight() < 10
    assert len(figure.axes) == most
    assert figure.axes[-1].get_title("left").startswith(f"{251 - most + 1} more\n")
    drawn = [len(axes.collections[1].get_offsets()) for axes in figure.axes]
    assert sum(drawn) == len(effort.archetypes), "every ranking has a point in one small plane"
    assert len(figure.table) == len(effort.archetypes)


def test_a_run_that_is_absent_from_a_facet_does_not_disturb_the_layout() -> None:
    runs = {"good": {"q1": ["a"], "q2": ["a"]}, "poor": {"q1": ["x", "a"], "q2": ["x"]}}
    effort = rs.effort(rs.Collection({"q1": {"a": 1}, "q2": {"a": 1}}, runs), "AP")
    figure = plot_effort_gain(effort, facet="archetype", highlight=["good"])
    figure.render("png")  # Warnings of the layout are errors.
    assert len(figure.axes) > 1
    entries = ["good", "another ranking", "lines: quarters of Twist, quartiles of gain"]
    assert [text.get_text() for text in figure.figure.legends[0].get_texts()] == entries


def _effort_of_topics(n_topics: int) -> rs.Effort:
    topics = [f"q{i}" for i in range(n_topics)]
    return rs.effort(
        rs.Collection({topic: {"a": 1} for topic in topics}, {"r": {topic: ["a"] for topic in topics}}), "AP"
    )


def test_highlights(effort: rs.Effort) -> None:
    figure = plot_effort_gain(effort, "AP", highlight=["run3", ("run5", "4")])
    marked = [row for row in figure.table.records() if row["highlight"]]
    assert [row["run"] for row in marked] == ["run3"] * 12 + ["run5"]
    run, point = [line for line in figure.axes[0].lines if line.get_gid() == "marked"]
    assert list(zip(run.get_xdata(), run.get_ydata(), strict=True)) == [
        (r["Twist"], r["AP"]) for r in marked[:12]
    ]
    assert point.get_xdata().tolist() == [marked[12]["Twist"]]
    assert [t.get_text() for t in figure.figure.legends[0].get_texts()][-2:] == ["run3", "run5, topic 4"]
    assert run.get_marker() != point.get_marker()
    with pytest.raises(SettingsError, match="run9"):
        plot_effort_gain(effort, highlight=["run9"])


def test_the_same_from_scores(effort: rs.Effort, scores: rs.Scores) -> None:
    assert plot_effort_gain(scores, "AP").table.rows == plot_effort_gain(effort, "AP").table.rows
    with pytest.raises(InputError, match="gain measure"):
        plot_effort_gain(rs.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["Twist"]))


def test_gains_beyond_one() -> None:
    figure = plot_effort_gain(rs.effort(rs.Collection({"q": {"a": 3, "b": 2}}, {"q": ["a", "b"]}), "DCG"))
    assert figure.axes[0].get_ylim()[1] >= figure.table.column("DCG")[0] > 4


def test_lists_without_values_are_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    figure = plot_effort_gain(rs.effort(rs.Collection(qrels, {"r": {"q1": ["a"], "q2": ["a"]}}), "AP"))
    assert figure.table.column("topic") == ["q1"]
    nothing = plot_effort_gain(rs.effort(rs.Collection({"q2": {"a": 0}}, {"r": {"q2": ["a"]}}), "AP"))
    assert len(nothing.table) == 0 and nothing.render("pdf")


def test_trec_covid_is_small_and_quick(data_dir: Path) -> None:
    folder = data_dir / "trec_covid_r1_depth100"
    scores = rs.evaluate(folder / "qrels.txt", folder / "runs", ["AP", "Twist"])
    start = time.process_time()
    pdf = plot_effort_gain(scores, "AP").render("pdf")
    assert time.process_time() - start < 3
    assert len(pdf) < 500_000
    assert b"/Subtype /Image" in pdf  # the points are an image inside the page


def test_the_planes_of_all_gains(effort: rs.Effort) -> None:
    from rankscope.plots import plot_effort_gains

    figure = plot_effort_gains(effort, [("run1", "3")])
    assert len(figure.axes) == 4
    for number, measure in enumerate(("AP", "nDCG")):
        alone = plot_effort_gain(effort, measure, [("run1", "3")])
        own_rows = [row[1:] for row in figure.table.rows if row[0] == measure]
        assert own_rows == alone.table.rows
        np.testing.assert_array_equal(offsets(figure.axes[2 * number]), offsets(alone.axes[0]))
        assert figure.axes[2 * number].get_ylabel() == f"{measure} (gain)"


def test_lists_of_equal_gain_with_their_curves(effort: rs.Effort) -> None:
    from rankscope.plots import plot_equal_gain

    figure = plot_equal_gain(effort, "AP")
    rows = [row for row in effort.equal_gain.records() if row["measure"] == "AP"]
    assert len(figure.axes) == 1 + 2 * len(rows)
    pairs = list(dict.fromkeys((row[0], row[1]) for row in figure.table.rows))
    assert pairs == [(row["run"], row["topic"]) for row in rows]
    for number, (run, topic) in enumerate(pairs):
        curve = effort.curve(run, topic, "AP")
        [line] = [line for line in figure.axes[1 + 2 * number].lines if line.get_gid() == "crp"]
        assert line.get_ydata().tolist() == curve.crp.tolist()
        assert [row[3] for row in figure.table.rows if row[:2] == (run, topic)] == curve.crp.tolist()
    marked = [line for line in figure.axes[0].lines if line.get_gid() == "marked"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in marked] == [
        (row["Twist"], row["value"]) for row in rows
    ]
    with pytest.raises(SettingsError, match="side by side"):
        plot_equal_gain(effort, lists=[(f"run{i}", "1") for i in range(5)])
