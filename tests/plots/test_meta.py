"""Figures of meta-evaluation: correlations, pools, power, bounds, means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.plots import plot_asl, plot_bounds, plot_correlation, plot_means, plot_robustness
from rankscope.result import TableResult
from rankscope.tables import Table

BOUNDS = ("lower bound: other documents non-relevant", "upper bound: other documents relevant")

Find = Callable[[Any, str], Any]


def test_correlations_stand_in_their_cells(scores: rs.Scores, find_artist: Find) -> None:
    result = rs.correlate(scores, ["kendall", "ap"])
    for method in ("kendall", "ap"):
        figure = plot_correlation(result, method)
        [axes] = figure.axes
        down = [t.get_text() for t in axes.get_yticklabels()]
        across = [t.get_text() for t in axes.get_xticklabels()]
        names = [str(measure) for measure in scores.measures]
        assert (across, down) == (names[:-1], names[1:])
        cells = np.ma.getdata(find_artist(axes, "cells").get_array()).reshape(3, 3)
        texts = {(int(t.get_position()[1]), int(t.get_position()[0])): t.get_text() for t in axes.texts}
        assert len(figure.table) == len(texts) == 6
        for row in figure.table.records():
            cell = down.index(row["b"]), across.index(row["a"])
            assert cells[cell] == row["value"]
            assert texts[cell] == f"{row['value']:.2f}"
        assert figure.table.rows == [r for r in result["correlations"].rows if r[2] == method]
    with pytest.raises(SettingsError, match="spearman"):
        plot_correlation(result, "spearman")


def correlations(values: list[float]) -> TableResult:
    rows = [("AP", f"m{i}", "kendall", value, 0.1, 3) for i, value in enumerate(values)]
    return TableResult(
        {"correlations": Table("correlations", ("a", "b", "method", "value", "p", "runs"), rows)}, {}
    )


def test_undefined_and_negative_correlations() -> None:
    figure = plot_correlation(correlations([float("nan"), -0.5, 0.95]))
    texts = {t.get_text(): t.get_fontweight() for t in figure.axes[0].texts}
    assert texts == {"-0.50": "normal", "0.95": "bold"}
    assert [p for p in figure.axes[0].patches if p.get_hatch()]
    assert figure.render("svg")


def test_many_measures_have_no_numbers() -> None:
    assert not plot_correlation(correlations([0.5] * 30)).axes[0].texts


def test_robustness_is_the_mean_over_repeats(collection: Any, find_artist: Find) -> None:
    result = rs.pools(rs.evaluate(*collection, ["AP", "Twist"]), ratios=(70, 30), repeats=4)
    figure = plot_robustness(result)
    [axes] = figure.axes
    for number, measure in enumerate(("AP", "Twist")):
        rows = [row for row in figure.table.records() if row["measure"] == measure]
        assert [row["pool"] for row in rows] == [100, 70, 30]
        assert find_artist(axes, str(number)).get_ydata().tolist() == pytest.approx(
            [row["tau"] for row in rows]
        )
        assert rows[0]["tau"] == 1
        for row in rows[1:]:
            taus = [
                r["tau"]
                for r in result["robustness"].records()
                if (r["measure"], r["pool"]) == (measure, row["pool"])
            ]
            assert len(taus) == row["repeats"] == 4
            assert row["tau"] == pytest.approx(np.mean(taus))
            assert min(taus) <= row["low"] <= row["tau"] <= row["high"] <= max(taus)
        x = find_artist(axes, str(number)).get_xdata()
        assert x == pytest.approx([100, 70, 30], abs=1)
    assert axes.xaxis_inverted() and axes.get_xlabel().startswith("judgments kept (%)\n(whiskers: ")
    low, high = axes.get_ylim()
    assert low <= min(figure.table.column("low")) and high > 1
    assert [t.get_text() for t in figure.figure.legends[0].get_texts()] == ["AP", "Twist"]


def test_pools_of_a_depth(collection: Any) -> None:
    figure = plot_robustness(rs.pools(rs.evaluate(*collection, ["AP"]), pool_depth=[10, 2]))
    assert figure.table.column("pool") == ["full", "depth 10", "depth 2"]
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["full", "depth 10", "depth 2"]
    assert figure.table.column("low") == figure.table.column("high") == figure.table.column("tau")


def test_means_by_a_smaller_pool(collection: Any, find_artist: Find) -> None:
    result = rs.pools(rs.evaluate(*collection, ["AP", "Twist"]), ratios=(70, 30), repeats=3)
    figure = result.plot(figure="means")
    [axes] = figure.axes
    means = result["means"].records()
    for number, measure in enumerate(("AP", "Twist")):
        rows = [row for row in figure.table.records() if row["measure"] == measure]
        points = find_artist(axes, str(number))
        assert list(points.get_xdata()) == [row["full"] for row in rows]
        assert list(points.get_ydata()) == [row["smaller"] for row in rows]
        for row in rows:
            matching = [m for m in means if (m["measure"], m["run"]) == (measure, row["run"])]
            assert row["full"] == next(m["value"] for m in matching if m["pool"] == "full")
            assert row["smaller"] == pytest.approx(np.mean([m["value"] for m in matching if m["pool"] == 30]))
    line = find_artist(axes, "no change")
    assert list(line.get_xdata()) == list(line.get_ydata())
    assert axes.get_xlim() == axes.get_ylim() and axes.get_ylabel() == "mean by the pool: 30 %"
    assert result.plot(figure="means", pool=70).table.caption == "70 %"
    with pytest.raises(SettingsError, match="50"):
        result.plot(figure="means", pool=50)
    with pytest.raises(SettingsError, match="choose one of curves, means"):
        result.plot(figure="tree")


def test_figures_of_a_study(collection: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    qrels, runs = collection
    lines = [f"{t} 0 {d} {g}\n" for t, grades in qrels.items() for d, g in grades.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for name, rankings in runs.items():
        lines = [
            f"{t} Q0 {d} {i + 1} {99 - i} {name}\n"
            for t, docs in rankings.items()
            for i, d in enumerate(docs)
        ]
        (tmp_path / "runs" / name).write_text("".join(lines))
    paths = [str(tmp_path / "qrels.txt"), str(tmp_path / "runs")]
    output = tmp_path / "study"
    assert (
        main(
            [
                "study",
                *paths,
                "-m",
                "AP RBP Twist",
                "--repeats",
                "2",
                "--replicates",
                "50",
                "--plots",
                "-o",
                str(output),
            ]
        )
        == 0
    )
    names = {path.stem for path in (output / "figures").glob("*.pdf")}
    plain = {"correlation", "robustness", "depth_pool_means", "discriminative_power", "bounds", "means"}
    extra = {"heat_map", "topics", "findings", "forest", "differences", "ranks", "orderings"}
    assert names == {*plain, *extra, "effort_gain-AP", "effort_gain-RBP"}
    assert {path.stem for path in (output / "figures").glob("*.csv")} == extra
    scores = rs.evaluate(*paths, ["AP"])
    best = scores.runs[int(scores.mean("AP").argmax())]
    means = dict(zip(scores.runs, scores.mean("AP").tolist(), strict=True))
    rival = max((run for run in scores.runs if run != best), key=lambda run: means[run])
    differences = (output / "figures" / "differences.csv").read_text().splitlines()
    assert all({best, rival} <= set(line.split(",")) for line in differences[1:])
    repeated = tmp_path / "again"
    assert main(["study", "--from", str(output / "manifest.json"), "-o", str(repeated), "--plots"]) == 0
    assert {path.stem for path in (repeated / "figures").glob("*.pdf")} == names - extra
    assert "identical" in capfd.readouterr().out


def test_asl_curves(scores: rs.Scores, find_artist: Find) -> None:
    result = rs.power(scores, ["t", "wilcoxon"])
    figure = plot_asl(result, "t")
    [axes] = figure.axes
    for number, measure in enumerate(scores.measures):
        levels = sorted(
            (r["asl"] for r in result["asl"].records() if (r["measure"], r["test"]) == (str(measure), "t")),
            reverse=True,
        )
        line = find_artist(axes, str(number))
        assert (
            line.get_ydata().tolist() == levels == [r[2] for r in figure.table.rows if r[0] == str(measure)]
        )
        assert line.get_xdata().tolist() == list(range(1, 29))
    labels = [t.get_text() for t in figure.figure.legends[0].get_texts()]
    for label, row in zip(labels, (r for r in result["power"].records() if r["test"] == "t"), strict=True):
        assert label.startswith(f"{row['measure']}: {100 * row['power']:.1f} %")
        assert f"Δ {row['delta']:.2f}" in label
        below = sum(r[2] < 0.05 for r in figure.table.rows if r[0] == row["measure"])
        assert row["power"] == below / 28
    assert axes.get_ylim() == (0, 0.15)
    assert axes.get_ylabel() == "achieved significance level (t)"
    with pytest.raises(SettingsError, match="tukey"):
        plot_asl(result, "tukey")


def test_bounds_and_their_bands(collection: Any, find_artist: Find) -> None:
    result = rs.bounds(rs.Collection(*collection), p=(0.5, 0.95), depths=[1, 5, 20], pool_depth=3)
    figure = plot_bounds(result)
    assert figure.table.rows == result["means"].rows
    for panel, pool in zip(figure.axes, ("full", "depth 3"), strict=True):
        for number, p in enumerate((0.5, 0.95)):
            rows = [r for r in figure.table.records() if (r["pool"], r["p"]) == (pool, p)]
            for bound in ("lower", "upper"):
                line = find_artist(panel, f"{number} {bound}")
                assert line.get_ydata().tolist() == [row[bound] for row in rows]
                assert list(line.get_xdata()) == [1, 5, 20]
        bands = [c.get_paths()[0].vertices[:, 1] for c in panel.collections]
        assert len(bands) == 4
        ends = [
            r[f"{b}_{e}"]
            for r in figure.table.records()
            if r["pool"] == pool
            for b in ("lower", "upper")
            for e in ("low", "high")
        ]
        assert min(map(np.min, bands)) == pytest.approx(min(ends)) and max(
            map(np.max, bands)
        ) == pytest.approx(max(ends))
    assert figure.axes[0].get_xscale() == "log"
    texts = [t.get_text() for t in figure.figure.legends[0].get_texts()]
    assert texts == ["RBP(p=0.5)", "RBP(p=0.95)", *BOUNDS, "95 % confidence"]


def test_bounds_of_few_runs_are_a_line_each(collection: Any, find_artist: Find) -> None:
    """A confidence band of two runs is useless: its t distribution has one degree of freedom."""
    qrels, runs = collection
    result = rs.bounds(
        rs.Collection(qrels, {name: runs[name] for name in ("run1", "run7")}), p=(0.5, 0.95), depths=[1, 5]
    )
    figure = plot_bounds(result)
    (axes,) = figure.axes
    assert not axes.collections
    assert figure.table.rows == result["runs"].rows
    for number, p in enumerate((0.5, 0.95)):
        for run in ("run1", "run7"):
            rows = [r for r in result["bounds"].records() if (r["run"], r["p"]) == (run, p)]
            for bound in ("lower", "upper"):
                expected = [np.mean([r[bound] for r in rows if r["depth"] == d]) for d in (1, 5)]
                line = find_artist(axes, f"{number} {bound} {run}")
                np.testing.assert_allclose(line.get_ydata(), expected)
    assert axes.get_ylim()[1] <= 1.1
    texts = [t.get_text() for t in figure.figure.legends[0].get_texts()]
    assert texts == ["RBP(p=0.5)", "RBP(p=0.95)", "run1", "run7", *BOUNDS]


def test_bounds_of_one_run_have_no_band(collection: Any) -> None:
    qrels, runs = collection
    figure = plot_bounds(rs.bounds(rs.Collection(qrels, {"run7": runs["run7"]}), p=0.8))
    assert not figure.axes[0].collections
    assert [t.get_text() for t in figure.figure.legends[0].get_texts()] == [
        "RBP(p=0.8)",
        *BOUNDS,
    ]


def test_means_are_dots_with_quartiles(scores: rs.Scores, find_artist: Find) -> None:
    figure = plot_means(scores)
    [axes] = figure.axes
    for row, measure in enumerate(scores.measures):
        means = scores.mean(measure)
        dots = find_artist(axes, str(measure))
        assert dots.get_xdata().tolist() == means.tolist()
        assert (np.abs(dots.get_ydata() - row) < 0.35).all()
        assert [r[2] for r in figure.table.rows if r[0] == str(measure)] == means.tolist()
        box = axes.patches[row]
        low, high = np.quantile(means, [0.25, 0.75])
        assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((low, high))
    assert [t.get_text() for t in axes.get_yticklabels()] == [str(m) for m in scores.measures]
    assert axes.get_xlim() == (0, 1) and axes.get_xlabel().startswith(
        "mean over topics, 8 runs\n(dots: runs; "
    )


def test_counts_have_an_axis_of_their_own(collection: Any) -> None:
    figure = plot_means(rs.evaluate(*collection, ["AP", "NumRet", "Twist"]))
    shared, counts = figure.axes
    assert [t.get_text() for t in shared.get_yticklabels()] == ["AP", "Twist"]
    assert [t.get_text() for t in counts.get_yticklabels()] == ["NumRet"]
    assert counts.get_xlabel() == "sum over topics, 8 runs\n(dots: runs; box: quartiles and median)"


def test_equal_means_lie_side_by_side(find_artist: Find) -> None:
    runs = {f"r{i}": {"q": ["a"]} for i in range(7)}
    figure = plot_means(rs.evaluate({"q": {"a": 1}}, runs, ["AP"]))
    assert len(set(find_artist(figure.axes[0], "AP").get_ydata().tolist())) == 7


def test_a_mean_that_is_undefined_everywhere() -> None:
    figure = plot_means(rs.evaluate({"q": {"a": 0}}, {"r": {"q": ["a"]}}, ["AP", "Twist"]))
    assert np.isnan(figure.table.rows[1][2]) and figure.render("svg")


def test_figures_of_a_study_of_several_collections(collection: tuple[Any, Any]) -> None:
    """A panel for each collection that has the experiment, with what its own figure has."""
    from rankscope.plots import study_figures

    qrels, runs = collection
    collections = {
        "half": rs.Collection(dict(list(qrels.items())[:6]), runs),
        "whole": rs.Collection(qrels, runs),
        "single": rs.Collection(qrels, {"run0": runs["run0"]}),
    }
    study = rs.study(
        collections, rs.StudySettings(measures=["AP", "nDCG", "Twist"], repeats=2, replicates=20)
    )
    figures = study_figures(study)
    alone = study_figures(study.select("whole"))
    assert list(figures) == list(alone)
    assert {"effort_gain-AP", "effort_gain-nDCG", "means", "discriminative_power", "bounds"} <= set(figures)
    for name, figure in figures.items():
        three = name in ("means", "bounds") or name.startswith("effort_gain")
        shown = ["half", "whole", *(["single"] if three else [])]
        assert list(dict.fromkeys(figure.table.column("collection"))) == shown
        assert [panel.get_suptitle() for panel in figure.figure.subfigs][: len(shown)] == shown
        own_rows = [tuple(row[1:]) for row in figure.table.rows if row[0] == "whole"]
        assert repr(own_rows) == repr([tuple(row) for row in alone[name].table.rows])
        assert figure.render("svg").endswith(b"</svg>\n")


def test_the_plane_of_a_study_is_that_of_the_analysis(collection: tuple[Any, Any]) -> None:
    from rankscope.plots import plot_effort_gain, study_figures

    settings = rs.StudySettings(measures=["AP", "Twist"], repeats=1, replicates=20)
    study = rs.study(rs.Collection(*collection), settings)
    figure = study_figures(study)["effort_gain-AP"]
    expected = plot_effort_gain(rs.effort(rs.Collection(*collection), "AP"), "AP")
    for name in ("Twist", "AP", "contour"):
        assert figure.table.column(name) == expected.table.column(name)
    lines = [sorted(tuple(line.get_ydata()) for line in f.axes[0].lines) for f in (figure, expected)]
    assert repr(lines[0]) == repr(lines[1])
