"""The page and the terminal give the same findings for the same measures, and name N where they show Twist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.judging import judge
from rankscope.reporting.page_data import payload


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("same") / "made"
    rs.simulate(systems=5, topics=12, grades=2, depth=60, seed=3, pool_depth=20).write(root)
    return root


def command(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "-f", "json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)["tables"]


@pytest.mark.parametrize("measures", ["", "AP", "P@5 AP", "Twist nDCG@10", "RR AP NumRet", "Twist@30 P@5"])
def test_page_and_terminal_give_the_same_findings(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], measures: str
) -> None:
    files, options = [str(folder / "qrels.txt"), str(folder / "runs")], ["-m", measures] if measures else []
    terminal = command(capsys, "findings", *files, *options)["findings"]
    assert main(["report", *files, *options, "-o", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text("utf-8")
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)
    assert data is not None
    page = json.loads(data[1])["findings"]
    assert [one["sentence"] for one in page] == [row["sentence"] for row in terminal]


def test_twist_of_a_list_is_one_number_under_one_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = str(folder / "qrels.txt"), str(min((folder / "runs").iterdir()))
    judged = judge(rs.read_qrels(qrels), rs.read_runs(run))
    topic = judged.topics[0]
    length_of_list = int(judged.length[0])
    for length in (1000, length_of_list):
        document = payload(judged, title="T", settings={"length": length})
        on_page = {m["name"]: m["values"][0] for m in document["measures"]}
        values = command(capsys, "curve", qrels, run, "--topic", topic, "--cutoff", str(length))["values"]
        name = "Twist" if length == 1000 else f"Twist@{length}"
        shown = {row["name"]: row["value"] for row in values}
        assert shown[f"{name} (sign-change)"] == pytest.approx(on_page[name], abs=1e-12)
    bare = {row["name"] for row in command(capsys, "curve", qrels, run, "--topic", topic)["values"]}
    assert f"Twist@{length_of_list} (sign-change)" in bare and "Twist (sign-change)" not in bare
    assert main(["curve", qrels, run, "--topic", topic, "-f", "table"]) == 0
    assert re.search(rf"relevant documents, Twist@{length_of_list} 0\.\d{{4}}", capsys.readouterr().out)
