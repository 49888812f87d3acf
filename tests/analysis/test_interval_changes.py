"""Verdicts that an interval scale changes."""

from __future__ import annotations

import json

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.errors import InputError


@pytest.fixture(scope="module")
def collection_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("intervals")
    rs.simulate(systems=6, topics=12, depth=30, seed=4, pool_depth=15).write(folder)
    return folder


def test_changes_are_those_of_the_two_comparisons(collection_dir):
    files = collection_dir / "qrels.txt", collection_dir / "runs"
    measures = ["RR@5", "AP@5", "P@5"]
    result = rs.compare(rs.evaluate(*files, measures), also_interval=5)
    for row in result["intervals"].records():
        scores = rs.evaluate(*files, [row["measure"], row["interval"]])
        pairs = rs.compare(scores)["pairs"].records()
        half = len(pairs) // 2
        expected = []
        for before, after in zip(pairs[:half], pairs[half:], strict=True):
            assert (before["a"], before["b"]) == (after["a"], after["b"])
            if before["significant"] != after["significant"]:
                expected.append((before["a"], before["b"], "lost" if before["significant"] else "gained"))
        actual = [
            (r["a"], r["b"], r["change"])
            for r in result["changes"].records()
            if r["measure"] == row["measure"]
        ]
        assert actual == expected
        assert row["pairs"] == half and row["lost"] + row["gained"] + row["reversed"] == len(expected)
    assert result["changes"].rows, "the simulated runs have such pairs"


def test_measures_without_an_interval_scale_say_why(collection_dir):
    scores = rs.evaluate(collection_dir / "qrels.txt", collection_dir / "runs", ["Bpref"])
    (row,) = rs.compare(scores, also_interval=5)["intervals"].records()
    assert row["interval"] is None and "cannot be cut" in row["note"]


def test_scores_without_lists_are_refused():
    matrix = rs.evaluate(
        {"q": {"a": 1}, "r": {"a": 1}}, {n: {"q": ["a"], "r": ["a"]} for n in "xy"}, ["AP"]
    ).matrix("AP")
    with pytest.raises(InputError, match="needs rankings"):
        rs.compare(matrix, also_interval=5)


def test_the_command(collection_dir, capsys):
    command = [
        "compare",
        str(collection_dir / "qrels.txt"),
        str(collection_dir / "runs"),
        "-m",
        "RR@5",
        "--also-interval",
        "5",
    ]
    assert main([*command, "-f", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert tables["intervals"][0]["interval"] == "Interval(measure='RR@5')@5" and "changes" in tables
    assert main([*command, "-f", "table"]) == 0
    assert "Verdicts changed by an interval scale, 5 ranks" in capsys.readouterr().out
