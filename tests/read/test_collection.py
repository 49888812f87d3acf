"""The one door for collections: what it decides, and what it records."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError, SettingsError
from rankscope.read import Run, Runs, open_collection, open_qrels, read_qrels, read_run

APART = "1 1 a 1\n1 2 b 1\n1 2 c 0\n2 1 a 2\n"
"""Each document under one subtopic: only a measure can say that the second column names aspects."""


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(APART)
    return tmp_path / "qrels.txt"


def test_measures_decide_about_the_second_column(qrels: Path) -> None:
    for opened in (qrels, str(qrels), read_qrels(qrels)):
        assert open_qrels(opened).aspects is None
        aspects = open_qrels(opened, needs_aspects=True).aspects
        assert aspects is not None
        assert aspects.names == ("1", "2", "1")
        requests = read_qrels(qrels, aspects=True).aspects
        assert requests is not None
        for column in ("topic_offsets", "document", "aspect", "grade"):
            assert getattr(aspects, column).tolist() == getattr(requests, column).tolist()


def test_explicit_options_of_aspects_are_respected(qrels: Path) -> None:
    assert open_qrels(read_qrels(qrels, aspects=False), needs_aspects=True).aspects is None
    assert open_qrels(read_qrels(qrels, aspects=True)).aspects is not None
    assert open_qrels(qrels, needs_aspects=True, aspects=False).aspects is None
    assert open_qrels(read_qrels(qrels, aspects=True), aspects=False).aspects is None
    assert open_qrels(qrels, aspects=True).aspects is not None


def test_a_constant_column_names_no_aspects(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    judgments = read_qrels(path)
    assert judgments.subtopics is None
    assert open_qrels(judgments, needs_aspects=True).aspects is None


def test_regraded_judgments_get_their_aspects_too(qrels: Path) -> None:
    judgments = read_qrels(qrels)
    repeated = judgments.with_grades(judgments.grade * 2)
    aspects = open_qrels(repeated, needs_aspects=True).aspects
    assert aspects is not None
    assert aspects.grade.tolist() == [1, 1, 0, 2]
    assert repeated.path is None, "the file says something else"


def test_frames_keep_the_second_column_while_it_is_undecided(qrels: Path) -> None:
    columns = read_qrels(qrels).frame_columns()
    assert columns["iteration"] == ["1", "2", "2", "1"]
    repeated = rs.Qrels.from_frame(columns)
    assert repeated.aspects is None
    assert open_qrels(repeated, needs_aspects=True).aspects is not None
    assert "iteration" not in read_qrels(qrels, aspects=False).frame_columns()


def test_weights_make_the_second_column_aspects(qrels: Path) -> None:
    weighted = read_qrels(qrels).with_aspect_weights({"1": {"1": 0.9, "2": 0.1}})
    assert weighted.aspects is not None
    assert weighted.aspects.weight is not None
    assert weighted.aspects.weight.tolist() == [0.9, 0.1, 1.0]
    assert weighted.path is None
    with pytest.raises(InputError, match="judgments without aspects"):
        read_qrels(qrels, aspects=False).with_aspect_weights({"1": {"1": 1.0}})


def test_the_settings_record_the_decisions(qrels: Path, tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("1 Q0 a 1 1.0 r\n1 Q0 b 2 2.0 r\n")
    run = tmp_path / "r.txt"
    assert open_collection(qrels, run).settings == {"order": "trec_eval", "aspects": False}
    assert open_collection(qrels, run, order="file", needs_aspects=True).settings == {
        "order": "file",
        "aspects": True,
    }
    read = Runs([read_run(run, order="file"), Run.from_dict({"1": ["a"]}, name="s", order="rank")])
    assert open_collection(qrels, read).settings["order"] == {"r": "file", "s": "rank"}
    assert open_collection(qrels, read, order="trec_eval").settings["order"] == "trec_eval"
    assert rs.evaluate(qrels, read["r"], "AP ERR_IA").settings == {
        "measures": ["AP", "ERR_IA"],
        "missing": "zero",
        "order": "file",
        "aspects": True,
    }


def test_an_order_that_is_named_holds_for_runs_that_were_read(qrels: Path) -> None:
    run = Run.from_dict({"1": {"c": 1.0, "a": 2.0}}, order="file")
    first = {
        order: rs.evaluate(qrels, run, "RR", order=order).values[0, 0, 0] for order in (None, "trec_eval")
    }
    assert first == {None: 0.5, "trec_eval": 1.0}


def test_runs_that_are_called_alike_get_their_directory(qrels: Path, tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.txt").write_text("1 Q0 a 1 1.0 r\n")
    paths = [tmp_path / "x" / "r.txt", tmp_path / "y" / "r.txt"]
    assert list(open_collection(qrels, paths).runs) == ["x/r", "y/r"]


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, qrels: Path) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(APART.encode())))
    assert open_qrels("-", needs_aspects=True).aspects is not None
    runs: Any
    for runs in ("-", ["r.txt", "-"]):
        with pytest.raises(SettingsError, match="both the judgments and a run are standard input"):
            open_collection("-", runs)
