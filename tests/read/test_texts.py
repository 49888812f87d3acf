"""Texts of documents and topics: detection of the kind of a file, limits, and errors."""

from __future__ import annotations

import gzip

import pytest

import rankscope as rs
from rankscope.read.texts import read_texts


def test_ids_that_are_topics_and_documents(tmp_path):
    """If both are numbered 1, 2, ..., a file describes topics if most ids are topics or it declares so."""
    docs, topics = tmp_path / "docs.jsonl.gz", tmp_path / "topics.tsv"
    docs.write_bytes(
        gzip.compress(
            b"\n".join(b'{"docno": "%d", "title": "T", "text": "T of %d"}' % (k, k) for k in range(1, 9))
        )
    )
    topics.write_text("1\twings\n2\tflutter\tand more\r\n")
    result = read_texts([docs, topics], {"1", "5"}, {"1", "2"})
    assert result == ({"1": "T of 1", "5": "T of 5"}, {"1": "wings", "2": "flutter and more"})
    assert read_texts([f"topics={docs}"], {"1"}, {"2"}) == ({}, {"2": "T of 2"})
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(f'{{"query_id": {k}, "text": "q{k}"}}\n' for k in range(50)))
    assert read_texts([queries], {"3"}, {"3"}) == ({}, {"3": "q3"})


def test_texts_are_cut(tmp_path):
    path = tmp_path / "docs.tsv"
    path.write_text("d\t" + "word " * 5000)
    text = read_texts([path], {"d"}, set()).documents["d"]
    assert len(text) == 280 and text.endswith("…")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('{"_id": "d", "text": "x"}\n{"text": "x"}\n', 2, "the line has no id"),
        ('{"_id": "d", "text": "x"}\n{"_id": \n', 2, "."),
        ("d\ttext\nno tab here\n", 2, "the line has no tab"),
    ],
)
def test_bad_lines_are_named(tmp_path, content, line, message):
    path = tmp_path / "texts"
    path.write_text(content)
    with pytest.raises(rs.errors.InputError, match=message) as caught:
        read_texts([path], {"d"}, set())
    assert f"{path}:{line}" in str(caught.value)


def test_no_such_file_or_a_directory(tmp_path):
    for path in (tmp_path, tmp_path / "absent.jsonl"):
        with pytest.raises(rs.errors.InputError):
            read_texts([path], {"d"}, set())
