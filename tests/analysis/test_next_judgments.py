"""Proposed judgments: influence, templates that are read back, and simulated orders of judging."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.label_sample import read_labels
from rankscope.analysis.next_judgments import read_template, with_labels
from rankscope.cli.main import main
from rankscope.errors import InputError, MeasureError, SettingsError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "c": 1}}
RUNS = {
    "one": {"q1": {"a": 3, "x": 2, "y": 1}, "q2": {"x": 3, "c": 2, "a": 1}},
    "two": {"q1": {"y": 3, "a": 2, "b": 1}, "q2": {"c": 3, "y": 2, "z": 1}},
}


def test_influence_is_the_difference_of_weights() -> None:
    result = rs.next(rs.evaluate(QRELS, RUNS, "RBP(p=0.5)"), budget=10)
    rows = {(row["topic"], row["doc"]): row for row in result["next"].records()}
    # |weight in one - weight in two|, as shares of all
    weights = {
        ("q1", "y"): 0.5 - 0.125,
        ("q1", "x"): 0.25,
        ("q2", "x"): 0.5,
        ("q2", "y"): 0.25,
        ("q2", "z"): 0.125,
    }
    assert rows.keys() == weights.keys()
    total = sum(weights.values())
    for document, weight in weights.items():
        assert rows[document]["influence"] == pytest.approx(weight / total)
    assert rows["q1", "y"]["runs"] == "one two"
    assert [row["influence"] for row in result["next"].records()] == sorted(
        (row["influence"] for row in rows.values()), reverse=True
    )


def test_no_document_is_proposed_if_everything_is_judged() -> None:
    complete = {
        topic: {d: judged.get(d, 0) for run in RUNS.values() for d in run[topic]}
        for topic, judged in QRELS.items()
    }
    result = rs.next(rs.evaluate(complete, RUNS, "nDCG@3 P@3"))
    assert not len(result["next"]) and [row["open"] for row in result["open"].records()] == [0, 0]


def test_a_filled_template_continues_the_judging(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = rs.next(rs.evaluate(QRELS, RUNS, "P@3"), budget=2)
    file = tmp_path / "todo.txt"
    file.write_text(result.template())
    assert read_template(file) == {}
    file.write_text(file.read_text().replace("?", "1", 1))
    labels = read_template(file)
    assert len(labels) == 1
    more = with_labels(rs.Qrels.from_dict(QRELS), labels)
    (topic, document), grade = next(iter(labels.items()))
    assert more.judgments(topic)[document] == grade
    repeated = rs.next(rs.evaluate(more, RUNS, "P@3"), budget=10)
    assert (topic, document) not in {(row["topic"], row["doc"]) for row in repeated["next"].records()}
    (tmp_path / "qrels").write_text(
        "".join(f"{t} 0 {d} {g}\n" for t, j in QRELS.items() for d, g in j.items())
    )
    for name, lists in RUNS.items():
        lines = [f"{t} Q0 {d} 1 {s} {name}\n" for t, one in lists.items() for d, s in one.items()]
        (tmp_path / name).write_text("".join(lines))
    words = [str(tmp_path / name) for name in ("qrels", "one", "two")]
    assert (
        main(["next", *words, "-m", "P@3", "--judged", str(file), "--template", str(tmp_path / "next.txt")])
        == 0
    )
    assert document not in {
        line.split()[2] for line in (tmp_path / "next.txt").read_text().splitlines() if line.startswith(topic)
    }
    capsys.readouterr()


def test_errors(tmp_path: Path) -> None:
    scores = rs.evaluate(QRELS, RUNS, "AP")
    with pytest.raises(MeasureError, match="not a sum of gains"):
        rs.next(scores)
    with pytest.raises(SettingsError, match="budget"):
        rs.next(scores, budget=0)
    file = tmp_path / "bad.txt"
    file.write_text("q1 0 a good\n")
    with pytest.raises(InputError, match="'good' is no grade"):
        read_template(file)
    with pytest.raises(InputError, match="is judged 0 here and 1 before"):
        with_labels(rs.Qrels.from_dict(QRELS), {("q1", "a"): 0})


def test_simulation_ends_with_the_full_pool() -> None:
    collection = rs.simulate(systems=6, topics=5, depth=30, seed=3)
    result = rs.next(rs.evaluate(collection.qrels, collection.runs, "nDCG@10"), simulate=True, batch=25)
    curve = result["curve"].records()
    pool = max(row["judged"] for row in curve)
    for name in ("influence", "depth", "random"):
        points = [row for row in curve if row["order"] == name]
        assert points[0]["judged"] == 0 and points[-1]["judged"] == pool and points[-1]["share"] == 1.0
        assert np.all(np.diff([row["judged"] for row in points]) > 0)
    needed = {row["order"]: row["judged"] for row in result["needed"].records()}
    assert needed["influence"] <= needed["random"]


def test_one_run_has_no_order() -> None:
    scores = rs.evaluate({"q": {"a": 1}}, {"r": {"q": ["x", "a"]}}, ["P@2"])
    with pytest.raises(InputError, match="one run has no order"):
        rs.next(scores)
    with pytest.raises(InputError, match="one run has no order"):
        rs.next(scores, simulate=True)
    result = rs.next(scores, purpose="correct")  # The mean of a single run can be corrected.
    assert result.sample is not None and [row.doc for row in result.sample] == ["a"]


def test_a_document_may_have_another_grade_in_another_topic(tmp_path: Path) -> None:
    path = tmp_path / "filled"
    path.write_text("1 0 d 2\n2 0 d 0 0.5 a,b\n\n1 0 e ?\n1 0 d 2\n")
    assert read_template(path) == {("1", "d"): 2, ("2", "d"): 0}
    for line, message in (
        ("1 0 d 1", "'d' has two grades; keep one"),
        ("1 0 d high", "'high' is no grade; write a whole number, or leave ?"),
        (
            "1 0 d",
            "a line has 3 fields; write topic 0 document grade, and the inclusion probability of a sample",
        ),
    ):
        path.write_text(f"1 0 d 2\n\n{line}\n")
        with pytest.raises(InputError) as caught:
            read_template(path)
        assert str(caught.value) == f"{path}:3: {message}"


def test_topics_that_start_with_a_hash_are_read_from_templates(tmp_path: Path) -> None:
    def rename(topics: dict[str, Any]) -> dict[str, Any]:
        return {f"#{topic}": value for topic, value in topics.items()}

    qrels, runs = rename(QRELS), {name: rename(lists) for name, lists in RUNS.items()}
    scores = rs.evaluate(qrels, runs, "P@3")
    file = tmp_path / "todo.txt"
    for result, documents in (
        (rs.next(scores), {(row.topic, row.doc) for row in rs.next(scores).next or ()}),
        (rs.next(scores, 9, purpose="correct"), {(t, d) for t, of in qrels.items() for d in of}),
    ):
        file.write_text("# grades of 1 0 1\n#comment\n" + result.template().replace("?", "1"))
        assert read_template(file) == dict.fromkeys(documents, 1)
    assert read_labels(str(file)) == {t: dict.fromkeys(of, (1, 1.0)) for t, of in qrels.items()}
    file.write_text("#q1 0 a x\n")
    with pytest.raises(InputError, match="'x' is no grade"):
        read_template(file)


def test_a_label_of_an_unknown_topic_is_rejected_and_one_of_another_selection_is_skipped() -> None:
    qrels = rs.Qrels.from_dict(QRELS)
    with pytest.raises(InputError, match="topic '#q1' of the template has no judgments"):
        with_labels(qrels, {("#q1", "a"): 1})
    selection = qrels.with_topics(["q1"])
    for _ in range(2):  # Templates may be given one after the other.
        selection = with_labels(selection, {("q2", "z"): 1, ("q1", "z"): 1})
        assert selection.topics == ("q1",) and selection.judgments("q1") == {"a": 1, "b": 0, "z": 1}


def test_the_order_of_runs_does_not_matter_to_open_pairs() -> None:
    runs = {"A": {"q": ["d0", "d2"]}, "B": {"q": ["d2"]}}
    for names in ("AB", "BA"):
        result = rs.next(rs.evaluate({"q": {"d2": 1}}, {name: runs[name] for name in names}, "P@2"))
        assert result["open"].rows == [("P@2", 1, 1)] and [row[:2] for row in result["next"].rows] == [
            ("q", "d0")
        ]


def test_skipped_topics_have_no_influence() -> None:
    runs = {**RUNS, "three": {"q1": {"b": 2, "w": 1}}}
    zero, skip = (
        rs.next(rs.evaluate(QRELS, runs, "P@3", missing=missing), budget=50) for missing in ("zero", "skip")
    )
    assert {row.topic for row in zero.next} == {"q1", "q2"} and {row.topic for row in skip.next} == {"q1"}
    alone = {name: {"q1": lists["q1"]} for name, lists in runs.items()}
    assert skip.next.rows == rs.next(rs.evaluate({"q1": QRELS["q1"]}, alone, "P@3"), budget=50).next.rows
    nothing = {"one": {"q1": ["a"]}, "two": {"q2": ["c"]}}
    with pytest.raises(InputError, match="no topic in common; evaluate with missing=zero"):
        rs.next(rs.evaluate(QRELS, nothing, "P@3", missing="skip"))
