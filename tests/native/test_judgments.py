"""The C library parses judgments exactly like the Python parser, or leaves them to it."""

from __future__ import annotations

import gc
import pickle
import warnings
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.native.judgments import parse_judgments
from rankscope.read.ids import sort_naturally
from rankscope.read.qrels import Qrels, read_qrels
from rankscope.read.qrels_text import parse_qrels
from rankscope.read.source import Source

pytestmark = pytest.mark.needs("native")

USUAL = b"10 0 d2 1\n9 0 d1 -2\r\n10\t0  d10 +0 \n\n9 0 d2 2147483646"


def in_python(text: bytes) -> Qrels:
    """Parse judgments with the Python parser."""
    topics, iterations, documents, grades, lines, _ = parse_qrels(Source.open(text))
    return Qrels.from_columns(topics, iterations, documents, grades, lines=lines)


def in_library(text: bytes) -> Qrels | None:
    """Parse judgments with the C library; return None if it leaves them to the Python parser."""
    import numpy as np

    result = parse_judgments([text])
    if result is None:
        return None
    offsets, grades = (
        np.frombuffer(result.offsets, np.int32).astype(np.int64),
        np.frombuffer(result.grades, np.int32),
    )
    return Qrels(result.topics, offsets, result.documents, grades)


def snapshot(qrels: Qrels) -> tuple[object, ...]:
    """Return all fields of the judgments as comparable values."""
    return qrels.topics, qrels.topic_offsets.tolist(), qrels.documents, qrels.grade.tolist()


def test_usual_judgments_are_read_and_put_in_order() -> None:
    qrels = in_library(USUAL)
    assert qrels is not None
    assert qrels.topics == ("9", "10")
    assert qrels.judgments("9") == {"d1": -2, "d2": 2147483646}
    assert qrels.judgments("10") == {"d10": 0, "d2": 1}
    assert snapshot(qrels) == snapshot(in_python(USUAL))
    assert qrels.grade.flags.writeable and qrels.topic_offsets.flags.writeable


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n \t\r\n",
        b"# judged by experts\n301 0 d1 1\n",
        b"  #301 0 d1 1\n",
        b"301 0 d1\n",
        b"301 0 d1 1 2\n",
        b"301 0 d1 1 Q0 2\n",
        b"301 0 d1 1.0\n",
        b"301 0 d1 x\n",
        b"301 0 d1 +\n",
        b"301 0 d1 2147483647\n",
        b"301 0 d1 00000000001\n",
        b"301 0 d1 1\r301 0 d2 1\r",
        b"301 0 d\0 1\n",
        b"301 0 d1\x0b1\n",
        b"301 0 d\x1c 1\n",
        "301 0 d1 1\u2028301 0 d2 1\n".encode(),
        b"301 0 d1 1\n301 0 d1 1\n",
        b"301 0 d1 1\n302 0 d1 1\n301 0 d1 0\n",
        b"301 0 " + b"d" * (1 << 20) + b" 1\n",
    ],
)
def test_unusual_judgments_are_left_to_python(text: bytes) -> None:
    assert in_library(text) is None


def test_the_second_column_is_known_to_have_several_names() -> None:
    item, two = (parse_judgments([text]) for text in (USUAL, b"1 0 a 1\n1 1 b 1\n1 1 c 0\n"))
    assert item is not None and item.codes is None
    assert two is not None and two.codes is not None
    assert read_both(b"1 0 a 1\n1 1 b 1\n")[1].subtopics is not None


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_blocks_of_any_size_give_the_same(size: int) -> None:
    whole, pieces = (
        parse_judgments(USUAL[start : start + n] for start in range(0, len(USUAL), n)) for n in (1000, size)
    )
    assert whole is not None and pieces is not None
    assert (whole.topics, whole.documents, [*whole.grades]) == (
        pieces.topics,
        pieces.documents,
        [*pieces.grades],
    )


def test_more_names_of_iterations_than_codes_are_left_to_python() -> None:
    lines = [b"1 i%d d%d 1\n" % (n, n) for n in range((1 << 16) + 1)]
    most = parse_judgments(lines[:-1])
    assert most is not None and most.codes[-1] == most.iterations.index(b"i" + most.documents[-1][1:])
    assert parse_judgments(lines) is None


@pytest.mark.parametrize(
    "names", [b"2 1 10", b"b a c", b"01 1 001", b"1 01 a", b"1 " + b"9" * 18, b"1 " + b"9" * 19 + b" 2"]
)
def test_topics_are_in_their_natural_order(names: bytes) -> None:
    for topics in permutations(names.split()):
        judgments = parse_judgments(b"%s 0 d 1\n" % topic for topic in topics)
        assert judgments is not None
        assert [*judgments.topics] == sort_naturally(topic.decode() for topic in topics)


def test_arrays_stay_after_the_judgments_and_topics_become_a_tuple(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n1 1 b 2\n")
    qrels = read_qrels(tmp_path / "qrels")
    grade, topics = qrels.grade, qrels.topics
    copied = pickle.loads(pickle.dumps(qrels))
    del qrels
    gc.collect()
    assert grade.tolist() == [1, 2] and topics == ("1",) and hash(topics) == hash(("1",))
    assert type(copied.topics) is tuple and type(copied.documents) is list
    assert copied.with_aspects().aspects.names == ("0", "1")


def read_both(text: bytes, **options: object) -> tuple[Qrels, Qrels]:
    """A file read with the library and without."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "qrels.txt"
        path.write_bytes(text)
        result = read_qrels(path, **options)  # type: ignore[arg-type]
        patch.setenv("RANKSCOPE_SCANNER", "python")
        return result, read_qrels(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("aspects", [None, False, True])
@pytest.mark.parametrize(
    "text",
    [
        USUAL,
        b"1 0 b 1\n1 1 a 2\n",
        b"\xef\xbb\xbf1 0 a 1\n",
        b"2 x b 1\n1 10 a 2\n2 y a 0\n1 9 b 1\n1 10 c 1\n",
    ],
)
def test_files_are_the_same_with_the_library_and_without(text: bytes, aspects: bool | None) -> None:
    result, expected = read_both(text, aspects=aspects)
    assert snapshot(result) == snapshot(expected)
    assert (result.subtopics is None) == (expected.subtopics is None)
    assert aspects_of(result) == aspects_of(expected)
    assert aspects_of(result.with_aspects()) == aspects_of(expected.with_aspects())
    assert aspects_of(result.with_topics(["1"]).with_aspects()) == aspects_of(
        expected.with_topics(["1"]).with_aspects()
    )


def aspects_of(qrels: Qrels) -> object:
    """Return the aspects of judgments as comparable values."""
    aspects = qrels.aspects
    if aspects is None:
        return None
    arrays = aspects.topic_offsets, aspects.document, aspects.aspect, aspects.grade
    return aspects.names, [array.tolist() for array in arrays]


ROW = st.tuples(*map(st.sampled_from, (["1", "2", "010"], ["0", "1", "7"], "abc", ["0", "1"])))


@given(st.lists(ROW, min_size=1, max_size=8), st.booleans())
def test_judgments_with_several_iterations_are_those_of_memory(
    rows: list[tuple[str, ...]], single: bool
) -> None:
    """From a file with the library and without, and from a frame; repeated judgments are the same errors."""
    rows = [(topic, "0" if single else iteration, *rest) for topic, iteration, *rest in rows]
    columns = dict(
        zip(("query_id", "iteration", "doc_id", "relevance"), zip(*rows, strict=True), strict=True)
    )
    columns["relevance"] = tuple(map(int, columns["relevance"]))

    def outcome(read: Callable[[], Qrels]) -> object:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                qrels = read()
            except InputError as error:
                return error.message
            found = {str(each.message).partition(": ")[2] for each in caught}
            return snapshot(qrels), aspects_of(qrels), aspects_of(qrels.with_aspects()), found

    text = "".join(" ".join(row) + "\n" for row in rows).encode()
    for aspects in (None, False, True):
        expected = outcome(lambda aspects=aspects: Qrels.from_frame(columns, aspects=aspects))
        for number in range(2):
            assert outcome(lambda aspects=aspects, n=number: read_both(text, aspects=aspects)[n]) == expected


FIELD = st.one_of(
    st.sampled_from(
        [b"301", b"9", b"010", b"d1", b"d10", b"0", b"-1", b"2", b"#", b"\xc3\xa9", b"\xff", b"\x1c"]
    ),
    st.binary(min_size=1, max_size=9),
)
LINE = st.one_of(
    st.tuples(FIELD, st.sampled_from([b"0", b"1"]), FIELD, st.sampled_from([b"0", b"1", b"+2", b"-3"])),
    st.lists(FIELD, max_size=6).map(tuple),
)
GAP = st.sampled_from([b" ", b"\t", b"  ", b" \t "])
END = st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n", b"\r", b""])
TEXT = st.lists(st.tuples(LINE, GAP, END), max_size=8).map(
    lambda lines: b"".join(gap.join(fields) + end for fields, gap, end in lines)
)


@given(TEXT)
@example(USUAL)
@example(b"1 0 a 1\n1 0 b 1 \r")
@example(b"\xff 0 \xfe 1\n\xfe 0 \xff 1\n")
def test_the_library_reads_what_python_reads_or_nothing(text: bytes) -> None:
    qrels = in_library(text)
    if qrels is None:
        return
    assert snapshot(qrels) == snapshot(in_python(text))


@given(st.lists(st.tuples(st.integers(0, 30), st.binary(min_size=1, max_size=12)), min_size=1, max_size=60))
def test_any_order_of_lines_gives_the_order_of_ids(rows: list[tuple[int, bytes]]) -> None:
    clean = {(topic, name.translate(None, bytes(range(33)) + b"#") or b"x") for topic, name in rows}
    text = b"".join(b"%d 0 %s 1\n" % row for row in sorted(clean, key=hash))
    qrels = in_library(text)
    assert qrels is not None
    assert snapshot(qrels) == snapshot(in_python(text))


def test_the_python_parser_reports_the_errors(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"301 0 d1 1\n301 0 d2 2\n301 0 d1 0\n")
    with pytest.raises(
        InputError, match=r"qrels.txt:3: document 'd1' of topic '301' is judged 0 here and 1 before"
    ):
        read_qrels(path)
