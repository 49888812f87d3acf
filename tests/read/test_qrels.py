"""Judgments: from files, dicts and frames; duplicates and aspects."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from rankscope.errors import InputError
from rankscope.read import Qrels, read_qrels


def write_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_bytes(text.encode())
    return path


def test_file_dict_and_frames_agree(tmp_path: Path) -> None:
    path = write_file(tmp_path, "10 0 b 1\n9 0 a 0\n9 0 b 2\n10 0 a -1\n")
    columns = {"query_id": ["10", "9", "9", "10"], "doc_id": ["b", "a", "b", "a"], "relevance": [1, 0, 2, -1]}
    forms = [
        read_qrels(path),
        Qrels.from_dict({"10": {"b": 1, "a": -1}, "9": {"a": 0, "b": 2}}),
        Qrels.from_frame(columns),
        Qrels.from_frame(pandas.DataFrame(columns)),
        Qrels.from_frame(polars.DataFrame(columns)),
        Qrels.from_frame(pyarrow.table(columns)),
    ]
    for qrels in forms:
        assert qrels.topics == ("9", "10")
        assert qrels.judgments("9") == {"a": 0, "b": 2}
        assert qrels.judgments("10") == {"a": -1, "b": 1}
        assert qrels.aspects is None
        assert len(qrels) == 4
        assert "2 topics" in repr(qrels)


def test_conflicting_judgments_are_an_error(tmp_path: Path) -> None:
    path = write_file(tmp_path, "1 0 a 1\n1 0 b 1\n1 0 a 0\n")
    with pytest.raises(
        InputError, match=r"qrels.txt:3: document 'a' of topic '1' is judged 0 here and 1 before"
    ):
        read_qrels(path)


def test_identical_judgments_are_a_warning(tmp_path: Path) -> None:
    path = write_file(tmp_path, "1 0 a 1\n1 0 a 1\n")
    with pytest.warns(UserWarning, match=r"1 judgment is repeated with the same grade$"):
        assert read_qrels(path).judgments("1") == {"a": 1}
    repeated = [b"1"] * 3, None, [b"a"] * 3, np.array([1, 1, 1], np.int32)
    with pytest.warns(UserWarning, match=r"^qrels: 2 judgments are repeated with the same grade$") as caught:
        Qrels.from_columns(*repeated)
    assert caught[0].filename == __file__


def test_subtopics_become_aspects(tmp_path: Path) -> None:
    qrels = read_qrels(write_file(tmp_path, "1 1 a 1\n1 2 a 2\n1 2 b 1\n1 10 c 0\n2 1 a 1\n"))
    assert qrels.judgments("1") == {"a": 2, "b": 1, "c": 0}
    aspects = qrels.aspects
    assert aspects is not None
    assert aspects.names == ("1", "2", "10", "1")
    assert aspects.topic_offsets.tolist() == [0, 3, 4]
    entries = zip(aspects.document.tolist(), aspects.aspect.tolist(), aspects.grade.tolist(), strict=True)
    assert list(entries) == [(0, 0, 1), (0, 1, 2), (1, 1, 1), (2, 2, 0), (3, 3, 1)]


def test_aspects_can_be_requested_or_ignored(tmp_path: Path) -> None:
    path = write_file(tmp_path, "1 1 a 1\n1 2 b 1\n")
    assert read_qrels(path).aspects is None
    assert read_qrels(path, aspects=True).aspects is not None
    pair = write_file(tmp_path, "1 1 a 1\n1 2 a 0\n")
    with pytest.raises(InputError, match="is judged 0 here and 1 before"):
        read_qrels(pair, aspects=False)


def test_regraded_keeps_documents() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 2}})
    repeated = qrels.with_grades(np.array([0, 5], np.int32))
    assert repeated.judgments("1") == {"a": 0, "b": 5}
    assert qrels.judgments("1") == {"a": 1, "b": 2}


def test_bytes_that_are_not_text_survive(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"1 0 caf\xe9 1\n")
    qrels = read_qrels(path)
    assert qrels.documents == [b"caf\xe9"]
    assert Qrels.from_dict({"1": qrels.judgments("1")}).documents == [b"caf\xe9"]


@pytest.mark.parametrize("grade", [-0.5, "x", 2**40])
def test_grades_are_small_numbers(grade: object) -> None:
    with pytest.raises(InputError, match="grade"):
        Qrels.from_dict({"1": {"a": grade}})  # type: ignore[dict-item]


def test_wrong_shapes() -> None:
    with pytest.raises(InputError, match="judgments of topic '1' are 7; give"):
        Qrels.from_dict({"1": 7})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="no judgments"):
        Qrels.from_dict({})
    with pytest.raises(
        InputError, match=r"no column for doc_id .*; rename one of: query_id, page, relevance"
    ):
        Qrels.from_frame({"query_id": ["1"], "page": ["a"], "relevance": [1]})
    with pytest.raises(InputError, match="no column for query_id"):
        Qrels.from_frame({"x": ["1"]})


def test_lines_in_order_and_in_any_other_give_the_same_judgments() -> None:
    """Sorted judgments are not sorted again."""
    rows = [(b"%d" % topic, b"d%d" % doc, (topic + doc) % 3) for topic in (2, 9, 10) for doc in (1, 2, 3)]
    repeated = [*rows[:3], rows[2], *rows[3:]]
    back_again = [*rows[1:], rows[0]]
    downwards = rows[::-1]
    within = [rows[1], rows[0], *rows[2:]]
    other_topics = sorted(rows)  # 10 before 2
    result = []
    for order in (rows, downwards, within, other_topics, back_again, repeated):
        topics, documents, grades = (list(column) for column in zip(*order, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            created = Qrels.from_columns(topics, [b"0"] * len(topics), documents, np.array(grades, np.int32))
        result.append(
            (created.topics, created.topic_offsets.tolist(), created.documents, created.grade.tolist())
        )
    assert result == [result[0]] * len(result)
    assert result[0][0] == ("2", "9", "10")


def test_judgments_whose_topics_alternate_take_time_in_proportion_to_their_number() -> None:
    """Copying the rows of a topic for each new row once took half a minute for 200,000 judgments."""
    count = 200_000
    topics = [b"1", b"2"] * (count // 2)
    start = time.process_time()
    qrels = Qrels.from_columns(topics, None, [b"%d" % i for i in range(count)], np.ones(count, np.int32))
    assert (qrels.topics, len(qrels.documents)) == (("1", "2"), count)
    assert time.process_time() - start < 8
