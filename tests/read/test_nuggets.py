"""Assignments of nuggets: scored as by the script of the TREC RAG track, or rejected in one line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError

CASES = [
    case
    for case in json.loads((Path(__file__).parents[1] / "golden" / "science.json").read_text())["cases"]
    if case["function"] == "nuggets"
]


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def official(nuggets: list[dict[str, str]]) -> dict[str, float]:
    """Return the four scores by their definition: shares of full support, with half credit for partial support."""
    scores = {}
    for name, chosen in (("vital", [n for n in nuggets if n["importance"] == "vital"]), ("all", nuggets)):
        full = sum(n["assignment"] == "support" for n in chosen)
        partial = sum(n["assignment"] == "partial_support" for n in chosen)
        scores[f"strict_{name}"] = full / len(chosen) if chosen else 0.0
        scores[name] = (full + 0.5 * partial) / len(chosen) if chosen else 0.0
    return scores


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden_scores(case: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "rag.jsonl", {"qid": "q1", "nuggets": case["inputs"]["nuggets"]})
    assert rs.read_scores(file).means()["rag"] == pytest.approx(case["expected"], abs=1e-15)


def test_random_assignments_have_the_official_scores(tmp_path: Path) -> None:
    rng = random.Random(5)
    rows: list[Any] = []
    for run in ("a", "b"):
        for topic in range(40):
            nuggets = [
                {
                    "text": "a fact", "importance": rng.choice(["vital", "okay"]),
                    "assignment": rng.choice(["support", "partial_support", "not_support", "failed"]),
                }
                for _ in range(rng.randrange(6))
            ]  # fmt: skip
            rows.append(
                {"query": "?", "qid": topic, "answer_text": "x" * 300, "run_id": run, "nuggets": nuggets}
            )
    scores = rs.read_scores(write(tmp_path / "x.jsonl", *rows))
    assert scores.runs == ("a", "b") and len(scores.topics) == 40
    values = scores.per_topic()
    for row in rows:
        assert dict(values[row["run_id"]][str(row["qid"])]) == official(row["nuggets"])


def test_topics_without_vital_nuggets_are_zero_or_left_out(tmp_path: Path) -> None:
    okay = [{"importance": "okay", "assignment": "support"}]
    vital = [{"importance": "vital", "assignment": "support"}]
    file = write(tmp_path / "rag.jsonl", {"qid": "1", "nuggets": okay}, {"qid": "2", "nuggets": vital})
    assert rs.read_scores(file).means()["rag"]["vital"] == 0.5
    assert rs.read_scores(file, missing="skip").means()["rag"]["vital"] == 1.0


def test_commands_take_nuggets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random(1)
    nuggets = [
        [{"importance": "vital", "assignment": rng.choice(["support", "not_support"])} for _ in range(4)]
        for _ in range(16)
    ]
    rows = [{"qid": t, "run_id": r, "nuggets": nuggets[8 * (r == "b") + t]} for r in "ab" for t in range(8)]
    file = str(write(tmp_path / "n.jsonl", *rows))
    assert main(["eval", "--nuggets", file, "-f", "json"]) == 0
    means = json.loads(capsys.readouterr().out)["tables"]["means"]
    assert {row["measure"] for row in means} == {"strict_vital", "vital", "strict_all", "all"}
    assert main(["compare", "--nuggets", file, "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"]["pairs"]
    assert len(list(rs.gate(rs.read_scores(file), baseline="a").gate)) == 4


def test_two_assignments_agree_as_judges_do(tmp_path: Path) -> None:
    def rows(*assignments: str) -> Any:
        return {
            "qid": "q",
            "run_id": "r",
            "nuggets": [{"importance": "vital", "assignment": a} for a in assignments],
        }

    one = write(tmp_path / "one.jsonl", rows("support", "partial_support", "not_support", "support"))
    other = write(tmp_path / "other.jsonl", rows("support", "not_support", "not_support", "support"))
    result = rs.judges({"one": str(one), "other": str(other)})
    counts = {(row.grade_a, row.grade_b): row.documents for row in result.confusion}
    assert counts[2, 2] == 2 and counts[1, 0] == 1 and counts[0, 0] == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"nuggets": []}, "no topic"),
        ({"qid": "q", "nuggets": [1]}, "not a list of objects"),
        ({"qid": "q", "nuggets": [{"importance": "vital", "assignment": "maybe"}]}, "assignment 'maybe'"),
        (
            {"qid": "q", "nuggets": [{"importance": ["vital"], "assignment": "support"}]},
            r"importance \['vital'\]",
        ),
        ({"qid": "first", "nuggets": []}, "twice"),
    ],
)
def test_wrong_lines_are_named(row: Any, message: str, tmp_path: Path) -> None:
    file = write(tmp_path / "rag.jsonl", {"qid": "first", "nuggets": []}, row)
    with pytest.raises(InputError, match=rf"rag\.jsonl:2: .*{message}"):
        rs.read_scores(file)
