"""Reports, findings and other commands on scores without rankings; wide files and our own frames are read back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import SettingsError
from rankscope.reporting.page_data import ONLY_SCORES, payload_from_scores


def frame() -> dict[str, list[Any]]:
    """Return a wide table of scores: three runs, eight topics, two measures."""
    random = np.random.default_rng(5)
    rows = [(run, str(topic), *random.random(2).round(3).tolist()) for run in "abc" for topic in range(8)]
    return dict(zip(("run", "topic", "AP", "P@10"), map(list, zip(*rows, strict=True)), strict=True))


def write(path: Path) -> Path:
    columns = frame()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_data_of_scores_has_values_and_findings_and_no_rankings() -> None:
    scores = rs.read_scores(frame())
    data = payload_from_scores(scores, title="T", groups="^.")
    assert data["only_scores"] and data["runs"] == ["a", "b", "c"] and len(data["topics"]) == 8
    assert [(m["name"], m.get("formula")) for m in data["measures"]] == [("AP", None), ("P@10", None)]
    assert data["measures"][0]["values"].tolist() == scores.matrix("AP").values.ravel().tolist()
    assert data["measures"][0]["means"].tolist() == scores.mean("AP").tolist()
    assert data["list"]["rank"].size == data["topic"]["counts"].size == 0 and data["grades"] == []
    assert [note["text"] for note in data["warnings"]] == [ONLY_SCORES]
    assert (
        data["findings"]
        and data["findings"][0]["kind"] == "leader"
        and data["groups"]["names"] == ["a", "b", "c"]
    )
    assert {len(mask) for mask in data["tied_first"].values()} == {3}


def test_the_command_writes_a_report_of_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = write(tmp_path / "scores.csv")
    assert main(["report", "--scores", str(scores), "-o", str(tmp_path / "x.html")]) == 0
    text = (tmp_path / "x.html").read_text("utf-8")
    data = json.loads(re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)[0])
    assert data["only_scores"] and data["title"] == "scores" and data["runs"] == ["a", "b", "c"]
    assert rs.report(rs.read_scores(scores), tmp_path / "y.html", title="scores").read_text("utf-8") == text
    for option in (["--bounds"], ["--documents"], ["--texts", "x"], ["--cutoff", "10"]):
        assert main(["report", "--scores", str(scores), *option, "-o", str(tmp_path / "z.html")]) == 2
        name = option[0].strip("-")
        assert f"{name} of a report needs rankings, and there are only scores" in capsys.readouterr().err
    assert not (tmp_path / "z.html").exists()


def test_gains_give_a_report_without_rankings(tmp_path: Path) -> None:
    gains = rs.evaluate(
        {"1": {"a": 0.37, "b": 1.5}, "2": {"a": 0.2}}, {"r": {"1": ["b", "a"], "2": ["a"]}}, "nDCG"
    )
    assert "only_scores" in rs.report(gains, tmp_path / "x.html").read_text("utf-8")
    with pytest.raises(SettingsError, match="bounds of a report needs rankings"):
        rs.report(gains, tmp_path / "x.html", bounds=True)


@pytest.mark.parametrize("command", ["eval", "findings", "certain", "compare", "report", "gate"])
def test_commands_that_need_no_rankings_take_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = str(write(tmp_path / "scores.csv"))
    baseline = ["--baseline", path] if command == "gate" else []
    output = ["-o", str(tmp_path / "out.html")] if command == "report" else []
    assert main([command, "--scores", path, *baseline, *output]) == 0
    assert capsys.readouterr().out


def test_exported_frames_are_read_back(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    qrels = {"1": {"a": 1, "b": 2}, "2": {"a": 1}}
    scores = rs.evaluate(
        qrels, {"x": {"1": ["a", "b"], "2": ["z"]}, "y": {"1": ["b"], "2": ["a"]}}, "AP nDCG@5"
    )
    paths = [tmp_path / "topics.csv", tmp_path / "wide.csv"]
    scores.to_pandas().to_csv(paths[0], index=False)
    wide = scores.to_pandas().pivot(index=["run", "topic"], columns="measure", values="value").reset_index()
    wide.to_csv(paths[1], index=False)
    for source in (scores.to_pandas(), wide, *paths):
        back = rs.read_scores(source).with_measures(["AP", "nDCG@5"])
        assert (back.runs, [*map(str, back.topics)]) == (scores.runs, list(scores.topics))
        assert back.values.tolist() == scores.values.tolist()


@pytest.mark.parametrize(
    "option", [{"cutoff": 50}, {"bounds": True}, {"texts": "t.txt"}, {"documents": True}]
)
def test_python_rejects_options_that_need_rankings(option: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"{next(iter(option))} of a report needs rankings"):
        rs.report(rs.read_scores(frame()), tmp_path / "r.html", **option)
