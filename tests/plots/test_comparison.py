"""Figures of comparisons, heat maps, orderings and findings: what they show is their table, and all of it."""

from __future__ import annotations

import numpy as np
import pytest

import rankscope as rs


@pytest.fixture(scope="module")
def scores() -> rs.Scores:
    made = rs.simulate(systems=5, topics=14, grades=3, depth=40, seed=2, pool_depth=20)
    return rs.evaluate(made.qrels, made.runs, "AP nDCG@10")


def test_differences_of_two_runs(scores):
    """One bar per topic with a difference, sorted; the band is the interval of compare."""
    two = rs.Scores(scores.runs[:2], scores.topics, scores.measures, scores.values[:, :2])
    found = rs.compare(two, scores.runs[1])
    drawn = found.plot()
    heights = [bar.get_height() for bars in drawn.axes[0].containers for bar in bars]
    z = np.sort(scores.values[0, 0] - scores.values[0, 1])
    assert drawn.table.column("difference") == pytest.approx(z.tolist())
    assert sorted(heights) == pytest.approx(z[z != 0].tolist())
    row = found["pairs"].records()[0]
    title = drawn.axes[0].get_title(loc="left")
    assert f"{row['low']:+.4f} to {row['high']:+.4f}" in title and f"d = {row['effect_size']:.2f}" in title
    assert found.plot(measure="nDCG@10").axes[0].get_ylabel() == "difference in nDCG@10"


def test_forest_of_pairs(scores):
    found = rs.compare(scores)
    drawn = found.plot()
    assert drawn.table.name == "forest" and len(drawn.table) == 10
    dots = [line for line in drawn.axes[0].lines if line.get_marker() in ("o", "s")]
    for line, row in zip(dots, drawn.table.records(), strict=True):
        assert line.get_xdata()[0] == row["difference"]
        assert (line.get_markerfacecolor() != "white") == row["significant"]
        assert line.get_marker() == ("o" if row["difference"] >= 0 else "s")  # told apart without colour
    with pytest.raises(rs.errors.SettingsError, match="per_topic"):
        found.plot("differences")
    with pytest.raises(rs.errors.SettingsError, match="was not compared"):
        found.plot(measure="RR")


def test_heat_map_holds_every_list(scores):
    drawn = scores.plot("heat-map")
    shown = np.asarray(drawn.axes[0].images[0].get_array())
    assert shown.shape == (5, 14)
    assert sorted(shown.ravel()) == pytest.approx(sorted(scores.values[0].ravel()))
    assert shown.mean(axis=1).tolist() == sorted(shown.mean(axis=1), reverse=True)


def test_findings_and_every_file(scores, tmp_path):
    found = rs.findings(scores)
    drawn = found.plot()
    assert len(drawn.axes) == len(found)
    for one, axes in zip(found, drawn.axes, strict=True):
        assert [text.get_text() for text in axes.texts if text.get_gid() == "title"] == [one.title]
        assert " ".join(axes.get_title(loc="left").split()) == " ".join(one.sentence.split())
    for figure in (drawn, rs.compare(scores).plot(), scores.plot("heat-map")):
        assert figure.save(tmp_path / "x.svg").stat().st_size > 2000
