"""A study that was interrupted goes on where it ended, and ends with the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.analysis.study.sections import Experiments


def settings(measures: str, **more: Any) -> rs.StudySettings:
    return rs.StudySettings(measures=measures, repeats=1, replicates=50, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("parts") / "made"
    rs.simulate(systems=4, topics=5, grades=2, depth=30, seed=4, pool_depth=10).write(root)
    return root


def content(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def interrupted(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    def stop(_: Experiments) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Experiments, f"_{at}", stop)


def test_finished_experiments_are_not_computed_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = rs.Collection(folder / "qrels.txt", folder / "runs")
    rs.study(files, settings("AP nDCG Twist"), output=tmp_path / "whole")
    with monkeypatch.context() as patch:
        interrupted(patch, "power")
        with pytest.raises(KeyboardInterrupt):
            rs.study(files, settings("AP nDCG Twist"), output=tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert len(list((tmp_path / ".again.parts").iterdir())) == 4  # collection, correlations, effort, pools
    with monkeypatch.context() as patch:
        interrupted(patch, "pools")  # the pools are not computed again
        rs.study(files, settings("AP nDCG Twist"), output=tmp_path / "again")
    assert content(tmp_path / "again") == content(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "whole"]


def test_no_file_is_read_if_all_checkpoints_exist(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = rs.Collection(folder / "qrels.txt", folder / "runs")
    result = rs.study(files, settings("AP nDCG"), resume=tmp_path / "later")
    with monkeypatch.context() as patch:
        patch.setattr("rankscope.scores.judge_with_options", lambda *_, **__: pytest.fail("read again"))
        repeated = rs.study(
            rs.Collection(folder / "qrels.txt", folder / "runs"),
            settings("AP nDCG"),
            resume=tmp_path / "later",
        )
    assert repeated.files() == result.files()
    repeated.write(tmp_path / "later")
    assert not (tmp_path / ".later.parts").exists()


def test_other_settings_or_files_have_other_checkpoints(folder: Path, tmp_path: Path) -> None:
    files = folder / "qrels.txt", folder / "runs"

    def parts() -> set[str]:
        return {path.name for path in (tmp_path / ".x.parts").iterdir()}

    rs.study(rs.Collection(*files), settings("AP nDCG"), resume=tmp_path / "x")
    first = parts()
    rs.study(rs.Collection(*files), settings("AP nDCG", seed=2), resume=tmp_path / "x")
    second = parts() - first
    assert len(first) == len(second) == 7
    run = min((folder / "runs").iterdir())
    run.write_text(run.read_text() + "999 Q0 none 1 0.1 tag\n")
    rs.study(rs.Collection(*files), settings("AP nDCG"), resume=tmp_path / "x")
    assert len(parts()) == 21


def test_damaged_checkpoints_are_recomputed(folder: Path, tmp_path: Path) -> None:
    files = folder / "qrels.txt", folder / "runs"
    result = rs.study(rs.Collection(*files), settings("AP nDCG"), resume=tmp_path / "x")
    for number, path in enumerate(sorted((tmp_path / ".x.parts").iterdir())):
        text = path.read_text()
        path.write_text(text[: len(text) // 2] if number % 2 else text.replace("0.", "1."))
    assert (
        rs.study(rs.Collection(*files), settings("AP nDCG"), resume=tmp_path / "x").files() == result.files()
    )


def test_a_study_of_data_in_memory_writes_no_checkpoint(tmp_path: Path) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 2}}
    runs = {r: {q: {"a": i, "b": 2 - i, "c": 1.5} for q in qrels} for i, r in enumerate(["r1", "r2", "r3"])}
    rs.study(rs.Collection(qrels, runs), settings("AP nDCG"), resume=tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_study_with_invalid_settings_writes_nothing(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(rs.errors.SettingsError):
        collection = rs.Collection(folder / "qrels.txt", folder / "runs")
        rs.study(collection, settings("AP nDCG", ratios=[50, -1]), output=tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
