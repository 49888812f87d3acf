"""Scores: shapes, means, exports."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError, MissingDependencyError, SettingsError

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 2}}
RUNS = {"good_run": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}, "bad&run": {"1": {"b": 2.0, "a": 1.0}}}


@pytest.fixture
def scores() -> rs.Scores:
    return rs.evaluate(QRELS, RUNS, ["AP", "P@2", "NumQ"])


def test_values_and_means(scores: rs.Scores) -> None:
    assert scores.matrix("AP").values.tolist() == [[1, 1], [0.5, 0]]
    assert np.asarray(scores.matrix("AP")).shape == scores.matrix(rs.AP).shape == (2, 2)
    assert scores.mean("AP").tolist() == [1, 0.25]
    assert scores.mean("NumQ").tolist() == [2, 2]
    assert scores.means()["bad&run"][rs.P @ 2] == 0.25
    assert scores.per_topic()["bad&run"]["1"][rs.AP] == 0.5
    assert scores.best_first() == [0, 1]
    assert "2 runs x 2 topics x 3 measures" in repr(scores)


def test_missing_topics() -> None:
    skipped = rs.evaluate(QRELS, RUNS, ["AP"], missing="skip")
    assert skipped.mean("AP").tolist() == [1, 0.5]
    assert [row[3] for row in skipped.means_table().rows] == [2, 1]
    assert len(skipped.topics_table()) == 3
    with pytest.raises(SettingsError, match="missing='none'"):
        rs.evaluate(QRELS, RUNS, "AP", missing="none")


def test_no_measure_or_unknown_one(scores: rs.Scores) -> None:
    with pytest.raises(SettingsError, match="no measure"):
        rs.evaluate(QRELS, RUNS, [])
    with pytest.raises(InputError, match="RR was not evaluated"):
        scores.matrix("RR")


def test_frames(scores: rs.Scores) -> None:
    frame = scores.to_pandas()
    assert list(frame.columns) == ["run", "topic", "measure", "value"]
    assert (
        frame[(frame.run == "bad&run") & (frame.topic == "1") & (frame.measure == "AP")].value.item() == 0.5
    )
    assert scores.to_polars().rows() == [tuple(row) for row in scores.topics_table().rows]
    assert scores.to_arrow().to_pylist()[0] == {
        "run": "good_run",
        "topic": "1",
        "measure": "AP",
        "value": 1.0,
    }


def test_frames_that_are_not_installed(scores: rs.Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, method in (("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")):
        monkeypatch.setitem(__import__("sys").modules, package, None)
        with pytest.raises(MissingDependencyError, match=f"need {package}; install it with"):
            getattr(scores, method)()


def test_latex_is_escaped_and_bold(scores: rs.Scores) -> None:
    text = scores.to_latex(digits=3)
    assert r"good\_run & \textbf{1.000}" in text
    assert r"bad\&run & 0.250" in text
    assert r"\textbf{2.000}" not in text  # counts have no best
    assert "**1.0000**" in scores.to_markdown()
    assert "<td><b>1.0000</b></td>" in scores._repr_html_()


def test_any_executor_gives_the_same(tmp_path: Path) -> None:
    collection = rs.simulate(systems=5, topics=6, depth=50, seed=3)
    collection.write(tmp_path / "c")
    measures = ["AP", "nDCG", "ERR", "RBP", "Bpref"]
    first = rs.evaluate(tmp_path / "c/qrels.txt", tmp_path / "c/runs", measures, jobs=1)
    for jobs in (2, 7):
        repeated = rs.evaluate(tmp_path / "c/qrels.txt", tmp_path / "c/runs", measures, jobs=jobs)
        assert first.values.tobytes() == repeated.values.tobytes()
    with ThreadPoolExecutor(2) as executor:
        repeated = rs.evaluate(tmp_path / "c/qrels.txt", tmp_path / "c/runs", measures, engine=executor)
    assert first.values.tobytes() == repeated.values.tobytes()
    runs = rs.read_runs(tmp_path / "c/runs")
    for r, (name, run) in enumerate(runs.items()):
        alone = rs.evaluate(tmp_path / "c/qrels.txt", run, measures)
        assert alone.runs == (name,)
        assert alone.values[:, 0].tobytes() == first.values[:, r].tobytes()
