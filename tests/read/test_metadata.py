"""The headers of ir_metadata are read, and name the run."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.read.metadata import parse_metadata

HEADER = """# ir_metadata.start
# schema version: '0.1'
# tag: {tag}
# actor:
#   name: Mary
#   team: "IR: group"
# method:
#   retrieval:
#     - name: bm25
#       k1: 0.9
#     - name: rm3
# data:
#   topics: [1, 2]
# ir_metadata.end
"""
LINES = "1 Q0 d2 1 2.5 t\n1 Q0 d1 2 1.5 t\n"


def write_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["r.run", "r.gz"])
def test_a_header_names_its_run(tmp_path: Path, name: str) -> None:
    path = write_file(tmp_path, name, HEADER.format(tag="bm25+rm3") + LINES)
    run = rs.read_run(path)
    assert run.name == "bm25+rm3"
    assert run.ranking("1") == ["d2", "d1"]
    assert list(rs.read_runs(path)) == ["bm25+rm3"]
    assert rs.read_run(path, name="mine").name == "mine"
    assert run.metadata == {
        "schema version": "0.1",
        "tag": "bm25+rm3",
        "actor": {"name": "Mary", "team": "IR: group"},
        "method": {"retrieval": [{"name": "bm25", "k1": "0.9"}, {"name": "rm3"}]},
        "data": {"topics": "[1, 2]"},
    }


def test_a_name_that_another_run_has_is_not_taken(tmp_path: Path) -> None:
    for name, tag in (("a.run", "same"), ("b.run", "same"), ("c.run", "d"), ("d.run", "e")):
        write_file(tmp_path, name, HEADER.format(tag=tag) + LINES)
    assert list(rs.read_runs(tmp_path)) == ["a", "b", "c", "e"]


@pytest.mark.parametrize(
    "text",
    [
        "# tag: bm25\n" + LINES,  # a comment like any other
        HEADER.replace("# ir_metadata.end\n", "") + LINES,
        LINES + HEADER.format(tag="late"),
        "# ir_metadata.start\n# ir_metadata.end\n" + LINES,
    ],
)
def test_other_comments_do_not_name_the_run(tmp_path: Path, text: str) -> None:
    run = rs.read_run(write_file(tmp_path, "r.run", text))
    assert (run.name, run.metadata) == ("r", {})


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], {}),
        (["- a", "- b"], {}),
        (["a:", "- x", "- y", "b: c"], {"a": ["x", "y"], "b": "c"}),
        (["a:", "b"], {"a": ""}),
        (["a: b: c"], {"a": "b: c"}),
        (["  a: 1", "  b:", "      c: 2", "  d: 3"], {"a": "1", "b": {"c": "2"}, "d": "3"}),
    ],
)
def test_the_notation(lines: list[str], expected: dict[str, object]) -> None:
    assert parse_metadata(lines) == expected


def test_a_dash_inside_a_value_stays() -> None:
    lines = ["method:", "  - name: bm25 - rm3 - mono", "  - plain - text"]
    assert parse_metadata(lines) == {"method": [{"name": "bm25 - rm3 - mono"}, "plain - text"]}


def test_a_list_may_end_with_an_object_of_one_line() -> None:
    assert parse_metadata(["method:", "  - name: bm25"]) == {"method": [{"name": "bm25"}]}


def test_names_of_many_runs_are_compared_a_few_times_each() -> None:
    from rankscope.read.run_files import _apply_metadata_names

    class Counted(str):
        """A name that counts how often it is compared with another."""

        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Counted.compared += 1
            return str.__eq__(self, other)

    runs = [rs.Run.from_dict({"q": ["d"]}, name=Counted(f"run {n}")) for n in range(500)]
    assert [run.name for run in _apply_metadata_names(runs)] == [f"run {n}" for n in range(500)]
    assert Counted.compared < 10 * len(runs)
