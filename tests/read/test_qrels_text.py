"""The columns of judgment files."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.read.qrels_text import parse_qrels
from rankscope.read.source import Source


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "text",
    [
        b"1 0 d1 2\n1 0 d2 -1\n",
        b"1\t0\td1\t+2\r\n1\t0\td2\t-1",
        b" 1  0 d1 2 \n1 0 d2 -1\n",
    ],
)
def test_columns(text: bytes, pack: type[bytes]) -> None:
    topics, iterations, documents, grades, lines, _ = parse_qrels(Source.open(pack(text), "q"))
    assert (topics, iterations, documents) == ([b"1", b"1"], [b"0", b"0"], [b"d1", b"d2"])
    assert (grades.tolist(), lines.tolist()) == ([2, -1], [1, 2])


def test_comments_and_blank_lines_count_as_lines() -> None:
    columns = parse_qrels(Source.open(b"# a\n\n1 0 d#1 2\n  # b c d\n2 0 d2 0\n", "q"))
    assert (columns.topics, columns.documents, columns.lines.tolist()) == (
        [b"1", b"2"],
        [b"d#1", b"d2"],
        [3, 5],
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 0 d1\n", "q:1: 3 fields where qrels have 4: topic iteration document grade; complete the line"),
        (
            b"1 0 d1 1\n\n1 Q0 d1 1 2.5 bm25\n",
            "q:3: 6 fields where qrels have 4.*; this looks like a run; name",
        ),
        (b"1 a b d1 1\n", "q:1: 5 fields .* preference judgments"),
        (b"1 a b d1 1 c d\n", "q:1: 7 fields .* must not contain spaces"),
        (
            b"1 0 d1 1\n1 0 d2 -1.5\n",
            "q:2: grade '-1.5' is not a 32-bit integer or a gain from 0 on; grades are numbers such as 0, 1",
        ),
        (b"1 0 d1 1_0\n", "q:1: grade '1_0'"),
        (b"1 0 d1 99999999999\n", "q:1: grade '99999999999' is not a 32-bit integer"),
        (b"1 0 d1 " + b"9" * 5000 + b"\n", "q:1: grade '9{60}' is not"),
        (b"", "q: the file is empty; qrels have lines of"),
        (b"#\n \n", "q: there is no line with data"),
        (b"1 0 \x00 1\n", "q: this is a binary file"),
        (b"#" * 9000 + b"\n1 0 \x00 1\n", "q:2: a NUL byte in the line"),
        (gzip.compress(b"1 0 d1 1\n", mtime=0)[:-4], "q: the gzip data ends too early"),
    ],
)
def test_errors(text: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_qrels(Source.open(text, "q"))


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_read(text: bytes) -> None:
    try:
        topics, iterations, documents, grades, lines, _ = parse_qrels(Source.open(text, "q"))
    except InputError:
        return
    assert len(topics) == len(iterations) == len(documents) == len(grades) == len(lines) > 0


@pytest.mark.parametrize("grade", [2**31 - 2, 2 - 2**31, 0, -1])
def test_grades_of_32_bits_are_read(grade: int) -> None:
    assert parse_qrels(Source.open(f"q 0 d {grade}\n".encode()))[3].tolist() == [grade]


@pytest.mark.parametrize("grade", [2**31 - 1, 1 - 2**31, 2**31, 2**32 - 2, 10**17])
def test_larger_grades_are_refused(grade: int) -> None:
    """The smallest 32-bit integers are reserved as sentinels."""
    with pytest.raises(InputError, match=r":2: grade '-?\d+' is not a 32-bit integer"):
        parse_qrels(Source.open(f"q 0 d 1\nq 0 e {grade}\n".encode()))
