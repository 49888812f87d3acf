"""Figures of slices of topics: means and differences on every slice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.stats.matrices import with_runs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.plots import plot_slices


@pytest.fixture(scope="module")
def scores() -> rs.Scores:
    rng = np.random.default_rng(2)
    matrix: dict[str, Any] = {"topic": [f"t{i}" for i in range(40)]}
    matrix |= {f"r{r}": (rng.random(40) / 4 + r / 10).tolist() for r in range(6)}
    matrix["r0"][:10] = [0.99] * 10
    data = {
        f"t{i}": {"lang": ["de", "en", "it"][i % 3], "half": "first" if i < 10 else "last"} for i in range(40)
    }
    return rs.read_scores({"AP": matrix}).with_topic_data(data)


def dots(axes: Any) -> list[float]:
    """Return the positions of the markers, from top to bottom."""
    points = [line.get_xydata()[0] for line in axes.lines if line.get_marker() in ("o", "s")]
    return [float(x) for x, _ in sorted(points, key=lambda point: point[1])]


def test_panels_show_the_differences_of_every_slice_best_run_first(scores: rs.Scores) -> None:
    result = rs.compare(scores, "r2", by=["lang", "half"])
    figure = result.plot("slices", width=3.3)
    assert [axes.get_title("center").split("\n")[0] for axes in figure.axes] == ["de", "en", "it"]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["r5", "r4", "r3", "r0", "r1"]
    assert result.slices is not None
    for axes, name in zip(figure.axes, ("de", "en", "it"), strict=True):
        values = {row.a: row.difference for row in result.slices if row.slice == name}
        assert dots(axes) == [values[run] for run in ("r5", "r4", "r3", "r0", "r1")]
    assert len(figure.table) == 15


def test_a_comparison_without_a_baseline_is_drawn_against_its_best_run(scores: rs.Scores) -> None:
    every, best = rs.compare(scores, by="half"), rs.compare(scores, "r5", by="half")
    drawn = [plot_slices(result) for result in (every, best)]
    columns = ("a", "b", "slice", "difference", "p", "low", "high")
    rows = [[figure.table.column(name) for name in columns] for figure in drawn]
    assert rows[0][:3] == rows[1][:3]
    assert np.array(rows[0][3:5]) == pytest.approx(np.array(rows[1][3:5]))
    (low, high), (own_low, own_high) = (np.array(ends[5:]) for ends in rows)
    assert (low < own_low).all() and (high > own_high).all()  # a larger family has wider intervals


def test_the_interaction_of_a_reversed_lead_is_red(scores: rs.Scores) -> None:
    from rankscope.plots.palette import LOSS

    result = rs.compare(scores, "r5", by="half")
    assert result.interactions is not None
    reversed_runs = [row.a for row in result.interactions if row.alarm]
    first, *_, last = result.plot("slices", width=3.3).axes
    runs = [text.get_text() for text in first.get_yticklabels()]
    red = [runs[int(text.get_position()[1])] for text in last.texts if text.get_color() == LOSS]
    assert red == reversed_runs == ["r0"]


def test_a_pair_of_runs_has_a_row_per_slice(scores: rs.Scores) -> None:
    figure = rs.compare(with_runs(scores, np.array([0, 5])), "r5", by="lang").plot()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["de", "en", "it"]


def test_more_slices_than_panels_fit_are_the_largest_ones(scores: rs.Scores) -> None:
    data = {f"t{i}": {"group": f"g{min(i // 3, 9)}"} for i in range(40)}
    figure = rs.compare(scores.with_topic_data(data), "r5", by="group").plot("slices", width=3.3)
    [legend] = figure.figure.legends
    assert "3 largest of 10 slices" in legend.get_title().get_text()
    assert "g9\nn 13" in [axes.get_title("center") for axes in figure.axes]


def test_scores_have_means_on_slices(scores: rs.Scores) -> None:
    figure = scores.plot("slices", by="half")
    best_first = scores.best_first("AP")
    for axes, part in zip(figure.axes, scores.by("half").values(), strict=True):
        assert dots(axes) == part.mean("AP")[best_first].tolist()
    assert {row[2] for row in figure.table.rows} == {"half"}


def test_a_comparison_without_slices_has_no_such_figure(scores: rs.Scores) -> None:
    with pytest.raises(SettingsError, match=r"the comparison has no slices; compare with by= \(--by\)"):
        rs.compare(scores).plot("slices")


def test_commands_draw_slices_with_by(tmp_path: Path) -> None:
    rs.simulate(systems=3, topics=12, depth=10, seed=3).write(tmp_path / "c")
    files = [str(tmp_path / "c/qrels.txt"), str(tmp_path / "c/runs")]
    for command in ("eval", "compare"):
        target = tmp_path / f"{command}.svg"
        options = ["-m", "AP", "--by", "recall_base:2", "--plot", str(target), "--quiet"]
        assert main([command, *files, *options, "-o", str(tmp_path / "x.json")]) == 0
        drawn = target.read_bytes()
        other = ["-m", "AP", "--plot", str(target), "--quiet", "-o", str(tmp_path / "x.json")]
        assert main([command, *files, *other]) == 0
        assert drawn.startswith(b"<?xml") and drawn != target.read_bytes()


@pytest.mark.parametrize("figure", ["forest", "slices"])
def test_a_lower_value_is_better_where_the_measure_says_so(figure: str) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(8)}
    early, late = ({f"q{i}": [f"n{k}" for k in range(n + i % 2)] + ["a"] for i in range(8)} for n in (0, 5))
    scores = rs.evaluate(qrels, {"early": early, "late": late}, ["BalancePoint"])
    result = rs.compare(scores, "late", by="difficulty:2")
    assert result.pairs[0].difference < 0 and result.pairs[0].wins == 8
    markers = {line.get_marker() for axes in result.plot(figure).axes for line in axes.lines}
    assert "o" in markers and "s" not in markers


def test_the_forest_draws_measures_of_any_name() -> None:
    columns = {"topic": ["1", "2", "3"], "a": [0.1, 0.2, 0.5], "b": [0.3, 0.2, 0.1], "c": [0.5, 0.5, 0.1]}
    result = rs.compare(rs.read_scores({"official score": columns}))
    assert len(result.plot("forest").table) == 3
