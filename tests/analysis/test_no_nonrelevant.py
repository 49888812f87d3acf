"""Judgments without a judged non-relevant document, as in Cranfield: a note, no Bpref in front, vacuous bounds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.judging import judge
from rankscope.reporting.page_data import payload

QRELS = {f"q{t}": {f"r{k}": 1 + k % 2 for k in range(4)} for t in range(8)}


def simulate_runs(seed: int = 1) -> dict[str, dict[str, list[str]]]:
    rng = np.random.default_rng(seed)
    documents = [f"{kind}{k}" for kind in "rx" for k in range(8)]
    return {
        f"run{r}": {t: [documents[i] for i in rng.permutation(16)[: 4 + 3 * r]] for t in QRELS}
        for r in range(4)
    }


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    lines = [f"{t} 0 {d} {g}\n" for t, judged in QRELS.items() for d, g in judged.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for name, lists in simulate_runs().items():
        rows = [f"{t} Q0 {d} {i} {-i} {name}\n" for t, one in lists.items() for i, d in enumerate(one, 1)]
        (tmp_path / "runs" / f"{name}.txt").write_text("".join(rows))
    return [str(tmp_path / "qrels.txt"), str(tmp_path / "runs")]


def test_bpref_is_then_recall() -> None:
    scores = rs.evaluate(QRELS, simulate_runs(), "Bpref R@100")
    assert scores.values[0] == pytest.approx(scores.values[1])


@pytest.mark.parametrize("command", ["eval", "findings"])
def test_one_note_reports_missing_non_relevant_judgments(
    files: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, *files, "-m", "AP Bpref"]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "judged non-relevant" in line]
    assert notes == [
        "rankscope: no document is judged non-relevant: bounds over labels of unjudged documents are vacuous, and Bpref"
        " only counts the relevant documents that were retrieved"
    ]
    assert main([command, *files, "-m", "AP", "--quiet"]) == 0
    assert "judged non-relevant" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["certain", "next"])
def test_certainty_over_labels_is_noted_as_vacuous(
    files: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words = [command, *files, "-m", "P@5"]
    assert main(words) == 0
    assert capsys.readouterr().err.count("bounds over labels of unjudged documents are vacuous") == 1
    assert main([*words, "--quiet"]) == 0
    assert "vacuous" not in capsys.readouterr().err
    with Path(files[0]).open("a") as file:
        file.write("q0 0 x1 0\n")
    assert main(words) == 0
    assert "vacuous" not in capsys.readouterr().err


def test_a_judged_non_relevant_document_silences_the_note(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with Path(files[0]).open("a") as file:
        file.write("q0 0 x1 0\n")
    assert main(["eval", *files, "-m", "AP Bpref", "--unjudged", "bounds", "-f", "table"]) == 0
    out, err = capsys.readouterr()
    assert "vacuous" not in out + err


def test_findings_use_bpref_only_if_no_other_measure_was_requested() -> None:
    runs = simulate_runs()
    result = rs.findings(rs.evaluate(QRELS, runs, "Bpref AP P@10"), replicates=20)
    assert "Bpref" not in " ".join(one.sentence for one in result if one.kind != "scale")
    assert result.get("leader").numbers["measure"] == "AP"
    assert {row[0] for row in result["separation"].rows} == {"AP", "P@10"}
    assert (
        rs.findings(rs.evaluate(QRELS, runs, "Bpref"), replicates=20).get("leader").numbers["measure"]
        == "Bpref"
    )
    judged = {**QRELS, "q0": {**QRELS["q0"], "x1": 0}}
    result = rs.findings(rs.evaluate(judged, runs, "Bpref AP P@10"), replicates=20)
    assert result.get("leader").numbers["measure"] == "Bpref"


def test_the_page_has_no_bpref_unless_it_was_requested() -> None:
    judged = judge(rs.Qrels.from_dict(QRELS), rs.Run.from_dict(simulate_runs()["run3"]))
    plain = payload(judged, title="T")
    assert "Bpref" not in [m["name"] for m in plain["measures"]]
    assert "no non-relevant documents" in [note["kind"] for note in plain["warnings"]]
    requested = payload(judged, title="T", measures=[rs.Bpref, rs.AP])
    assert "Bpref" in [m["name"] for m in requested["measures"]] and requested["lead"] == "AP"


def test_vacuous_bounds_are_reported(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["bounds", *files], ["eval", *files, "-m", "AP", "--unjudged", "bounds"]):
        assert main([*command, "-f", "table", "--quiet"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "bounds are vacuous: no document is judged non-relevant" in shown
        assert main([*command, "-f", "json", "--quiet"]) == 0
        assert json.loads(capsys.readouterr().out)["settings"]["bounds"].startswith("vacuous")
    assert "bounds" not in rs.evaluate(QRELS, simulate_runs(), "AP").settings
    with_zero = {**QRELS, "q0": {**QRELS["q0"], "x1": 0}}
    assert "bounds" not in rs.evaluate(with_zero, simulate_runs(), "AP", unjudged="bounds").settings
