"""Figures of comparisons, heat maps, orderings and findings show all values of their tables."""

from __future__ import annotations

import numpy as np
import pytest

import rankscope as rs


@pytest.fixture(scope="module")
def scores() -> rs.Scores:
    simulated = rs.simulate(systems=5, topics=14, grades=3, depth=40, seed=2, pool_depth=20)
    return rs.evaluate(simulated.qrels, simulated.runs, "AP nDCG@10")


def test_differences_of_two_runs(scores):
    """One bar per topic with a difference, sorted; the band is the interval of compare."""
    two = rs.Scores(scores.runs[:2], scores.topics, scores.measures, scores.values[:, :2])
    result = rs.compare(two, scores.runs[1])
    drawn = result.plot()
    heights = [bar.get_height() for bars in drawn.axes[0].containers for bar in bars]
    z = np.sort(scores.values[0, 0] - scores.values[0, 1])
    assert drawn.table.column("difference") == pytest.approx(z.tolist())
    assert sorted(heights) == pytest.approx(z[z != 0].tolist())
    row = result["pairs"].records()[0]
    title = drawn.axes[0].get_title(loc="left").replace("\N{MINUS SIGN}", "-")
    assert f"{row['low']:+.4f} to {row['high']:+.4f}" in title and f"d = {row['effect_size']:.2f}" in title
    assert result.plot(measure="nDCG@10").axes[0].get_ylabel() == "difference in nDCG@10"


def test_forest_of_pairs(scores):
    result = rs.compare(scores)
    drawn = result.plot()
    assert drawn.table.name == "forest" and len(drawn.table) == 10
    dots = [line for line in drawn.axes[0].lines if line.get_marker() in ("o", "s")]
    for line, row in zip(dots, drawn.table.records(), strict=True):
        assert line.get_xdata()[0] == row["difference"]
        assert (line.get_markerfacecolor() != "white") == row["significant"]
        assert line.get_marker() == ("o" if row["difference"] >= 0 else "s")  # distinct without colour
    with pytest.raises(rs.errors.SettingsError, match="per_topic"):
        result.plot("differences")
    with pytest.raises(rs.errors.SettingsError, match="was not compared"):
        result.plot(measure="RR")


def test_heat_map_holds_every_list(scores):
    drawn = scores.plot("heat-map")
    shown = np.asarray(drawn.axes[0].images[0].get_array())
    assert shown.shape == (5, 14)
    assert sorted(shown.ravel()) == pytest.approx(sorted(scores.values[0].ravel()))
    assert shown.mean(axis=1).tolist() == sorted(shown.mean(axis=1), reverse=True)


def test_heat_map_of_differences_has_their_sign_and_size(scores):
    base = scores.runs[2]
    drawn = scores.plot("heat-map", baseline=base)
    image = drawn.axes[0].images[0]
    matrix = scores.matrix(scores.measures[0])
    expected = {
        (run, topic): matrix.values[r, t] - matrix.values[2, t]
        for r, run in enumerate(matrix.runs)
        for t, topic in enumerate(matrix.topics)
    }
    assert {(run, topic): value for run, topic, value in drawn.table.rows} == pytest.approx(expected)
    low, high = image.get_clim()
    assert -low == high > 0
    worse, equal, better = (image.cmap(image.norm(x))[:3] for x in (low, 0, high))
    assert worse[0] > worse[2] and better[2] > better[0] and min(equal) > 0.99
    with pytest.raises(rs.errors.SettingsError, match="there is no run"):
        scores.plot("heat-map", baseline="absent")


def test_findings_and_every_file(scores, tmp_path):
    result = rs.findings(scores)
    drawn = result.plot()
    assert len(drawn.axes) == len(result)
    for finding, axes in zip(result, drawn.axes, strict=True):
        [title] = [text.get_text() for text in axes.texts if text.get_gid() == "title"]
        assert title.replace("\n", " ") == finding.title
        assert " ".join(axes.get_title(loc="left").split()) == " ".join(finding.sentence.split())
    for figure in (drawn, rs.compare(scores).plot(), scores.plot("heat-map")):
        assert figure.save(tmp_path / "x.svg").stat().st_size > 2000


def test_the_figure_of_findings_frames_all_cells_of_high_gain_and_high_effort(scores):
    result = rs.findings(scores)
    drawn = {finding.chart.form: axes for finding, axes in zip(result, result.plot().axes, strict=True)}
    [frame] = drawn["plane"].patches
    assert frame.get_bbox().extents == pytest.approx(
        [-0.47, 1.53, 1.47, 3.47]
    )  # columns 0 and 1, rows 2 and 3
