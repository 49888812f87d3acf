"""Format detection in borderline cases, and its messages when a file has another format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankscope.choices import INPUT_FORMATS
from rankscope.errors import InputError
from rankscope.read import Qrels, Run, read_qrels, read_run, read_runs
from rankscope.read.collection import describe_formats
from rankscope.read.formats import data_lines, detect_format_of_head
from rankscope.read.qrels_text import looks_like_qrels
from rankscope.read.scores import is_score_table
from rankscope.read.source import HEAD, Source, match_single_file

FIRST = "name the qrels first and the runs after it"
MARCO = "this looks like a run of MS MARCO (topic document rank)"
THREE = "these look like judgments (topic document grade)"


def rows(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize(
    ("head", "kind", "expected"),
    [
        # six fields, of which the fifth is a number
        (b"q Q0 d 1 .5 t", "run", "trec"),
        (b"q Q0 d 1 -inf t", "run", "trec"),
        (b"q Q0 d 1 NaN t", "run", "trec"),
        (b"q,a Q0,docno d 1 2e-7 t more", "run", "trec"),
        # lines of columns
        (rows("1 a 0.5"), "run", "columns"),
        (rows("1 a 1", "1 b 2", "2 a 1"), "run", "columns"),
        (rows("1 a 0", "1 b 1", "2 a 0"), "run", "columns"),
        (rows("1 a 7 0.5", "1 b 8 0.25"), "run", "trec"),  # ranks begin with 0 or 1
        (rows("1 a 1 0.5"), "run", "trec"),  # a single rank tells nothing
        (rows("1 a 1 0.5", "1 b 2 x"), "run", "trec"),
        (rows("1 a 1 0.5", "1 b 2 0.25"), "qrels", "trec"),
        (rows("1 a 1 0.5", "1 a 2 0.25"), "run", "trec"),  # the same document: no ranks, but judgments
        (rows("1 a 1 0.5", "1 b 3 0.25"), "run", "trec"),  # not one after the other
        (rows("1 a 0 0.5", "1 b 1 0.25", "2 a 0 1"), "run", "columns"),
        (rows("1 a 1", "1 b 2", "1 c 3", "1 d 4"), "qrels", "columns"),  # four grades may be so
        (rows("1 a 1", "1 b 1", "1 c 3", "1 d 4", "1 e 5"), "qrels", "columns"),
        (rows("1 a x"), "qrels", "trec"),
        (rows("1 a 0.5"), "qrels", "trec"),
        (rows("1 a 1", "2 0 a 1"), "qrels", "columns"),  # half of the lines are of one width
        (rows("1 a 1", "2 0 a 1", "3 0 a 1"), "qrels", "trec"),
        (rows("1 a"), "run", "trec"),
        (rows("1 a b c d"), "run", "trec"),
        # JSON and JSON lines
        (b'  {"1": {"d": 1}}', "run", "json"),
        (b"[]", "run", "json"),
        (b"{}", "run", "json"),
        (b"[[1, 2]]", "run", "json"),
        (b"[", "run", "json"),
        (b'{"qid": 1, "docno": "d", "score": 1}', "run", "jsonl"),
        (b'{"qid": 1, "text": "d", "score": 1}', "run", "json"),
        (b'{"qid": 1}\n{"qid": 2}', "run", "jsonl"),
        (b'{"qid": 1}\n"x"', "run", "json"),
        (b'{"topic": "1", "value": 1}', "scores", "jsonl"),
        (b'{"topic": ["1"], "value": [1]}', "scores", "json"),
        (b'{"tables": {"value": 1}}', "scores", "json"),
        (b"topic,bm25\n1,.5\n", "scores", "csv"),
        # tables with a header
        (b"qid,docno,label\n", "qrels", "csv"),
        (b"qid,docno,rank\n", "run", "csv"),
        (b"qid,docno\n", "run", "csv"),
        (b"qid\tdocno\tlabel\tscore\n", "run", "tsv"),
        (b"qid\tdocno\tlabel\tscore\n", "qrels", "tsv"),
        (b"Query-ID\tCorpus-ID\tScore\n1\td\t1\n", "qrels", "beir"),
        (b"query-id\tcorpus-id\tscore\n", "run", "tsv"),
        (b"query-id\tcorpus-id\tscore\n1\td\t1\n1\te\t0.5\n", "run", "tsv"),
        (b"qid text\n", "run", "trec"),
        (b"\xff\xff\xff\xff\x10", "run", "arrow"),
        (b"FEA1", "run", "arrow"),
    ],
)
def test_the_format_is_detected_from_the_head(head: bytes, kind: str, expected: str) -> None:
    assert detect_format_of_head(head, kind) == expected


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (rows(*(f"1 d{n} {n}" for n in range(1, 6))), "qrels", f"{MARCO}; {FIRST}; if these are grades, use "
         "--input-format qrels=columns"),
        (rows(*(f"1 d{n} {n}" for n in range(5))), "qrels", f"{MARCO}; {FIRST}; if these are grades, use "
         "--input-format qrels=columns"),
        (rows("1 a 1", "1 b 1"), "run", f"{THREE}; {FIRST}; if it is a run, use --input-format runs=columns"),
        (rows("1 a 2", "1 b 3"), "run", f"{THREE}; {FIRST}; if it is a run, use --input-format runs=columns"),
        (rows("1 a 1", "2 a 0"), "run", f"{THREE}; {FIRST}; if it is a run, use --input-format runs=columns"),
        (rows("query-id\tcorpus-id\tscore", "1\ta\t1"), "run", "this is a BEIR qrels file (query-id corpus-id "
         f"score); {FIRST}; if it is a run, use --input-format runs=tsv"),
        (rows("qid,docno,label", "1,a,1"), "run", f"this is a table of judgments; {FIRST}"),
        (rows("qid,docno,rank", "1,a,1"), "qrels", "this is a table of a run: it has scores and no grades; name the "
         "qrels first; a column of grades is called relevance or label or rel or grade"),
    ],
)  # fmt: skip
def test_files_of_the_other_kind_are_refused(text: bytes, kind: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(text)
    with pytest.raises(InputError) as caught:
        read_qrels(path) if kind == "qrels" else read_run(path)
    assert str(caught.value) == f"{path}: {message}"
    assert looks_like_qrels(path) == (kind == "run")


@pytest.mark.parametrize("size", [HEAD - 2, HEAD - 1, HEAD, HEAD + 1, HEAD + 5])
def test_a_line_truncated_by_the_head_is_ignored(size: int, tmp_path: Path) -> None:
    """A truncated number at the end of the head is not parsed, wherever the head ends."""
    lines = b"".join(b"1 d%d 1e-5\n" % n for n in range(2000))
    for shift in range(12):
        head = (b"#" + b"x" * shift + b"\n" + lines)[:size]
        whole = head.count(b"\n") - 1
        assert len(data_lines(head)) == whole + (size < HEAD and not head.endswith(b"\n"))
    path = tmp_path / "run"
    for shift in range(12):
        path.write_bytes(b"#" + b"x" * shift + b"\n" + lines)
        assert read_run(path).format == "columns"
    assert data_lines(b"x" * HEAD) == [b"x" * HEAD]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 0 d 1\n", True),
        ("# judged\n\n1 0 d -1\n", True),
        ("1 0 d 0.5\n", False),
        ("1 0 d\n", False),
        ("1 Q0 d 1 2 t\n", False),
        ("1 0 d 1 5\n", False),
        ("", False),
        ('{"1": {"d": 1}}', False),
    ],
)
def test_judgments_are_recognised(text: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    assert looks_like_qrels(tmp_path / "file") is expected
    assert not looks_like_qrels(tmp_path)
    assert not looks_like_qrels(tmp_path / "absent")


def test_score_files_are_recognised(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.csv", "topic,bm25\n", True), ("a.TSV", "topic\tbm25\n", True), ("a.csv", "qid,docno,score\n", False),
        ("b.csv", "qid; DocNo ;score\n", False), ("a.txt", "topic,bm25\n", False), ("c.csv", "", True),
        ("c.csv.gz", "# x\ntopic,bm25\n", True),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        assert is_score_table(tmp_path / name) is expected, (name, text)


def of_format(path: str, form: str = "json", judged: bool = False) -> Any:
    if judged:
        return replace(Qrels.from_dict({"1": {"a": 1}}), path=path, format=form)
    return Run(path, source=Path(path), format=form)


def test_detected_formats_are_reported_in_one_sentence_for_each_kind() -> None:
    message = "read as JSON (run; --input-format overrides)"
    assert describe_formats([of_format("a")]) == [f"a: {message}"]
    assert describe_formats([of_format("a"), of_format("a")]) == [f"a: {message.replace('run;', '2 runs;')}"]
    assert describe_formats([of_format("a"), of_format("b")]) == [
        f"a and 1 other file: {message.replace('run;', '2 runs;')}"
    ]
    assert describe_formats([of_format(name) for name in "abc"]) == [
        f"a and 2 other files: {message.replace('run;', '3 runs;')}"
    ]
    assert describe_formats([of_format("a"), of_format("b", "csv"), of_format("q", judged=True)]) == [
        f"a: {message}",
        f"b: read as {INPUT_FORMATS['csv']} (run; --input-format overrides)",
        f"q: {message.replace('run;', 'judgments;')}",
    ]
    judgments = [of_format("q", judged=True), of_format("r", judged=True)]
    assert describe_formats(judgments) == [f"q and 1 other file: {message.replace('run;', 'judgments;')}"]
    assert describe_formats([of_format("a", "trec")]) == []


def test_a_pattern_stands_for_its_only_file(tmp_path: Path) -> None:
    for name in ("a1", "a2", "b"):
        (tmp_path / name).write_text("1 0 d 1\n")
    assert match_single_file(f"{tmp_path}/b*") == tmp_path / "b"
    assert match_single_file("-") == "-"
    for pattern, message in (
        ("a*", f"2 files match this pattern; name one of them, such as {tmp_path}/a1"),
        ("c*", "no file matches this pattern; check the pattern"),
    ):
        with pytest.raises(InputError) as caught:
            match_single_file(f"{tmp_path}/{pattern}")
        assert str(caught.value) == f"{tmp_path}/{pattern}: {message}"
    (tmp_path / "c*").write_text("1 0 d 1\n")  # a file of that very name is no pattern
    assert match_single_file(tmp_path / "c*") == tmp_path / "c*"


@pytest.mark.parametrize("n_runs", [5, 6])
def test_runs_in_one_file_are_listed(n_runs: int, tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    names = [f"r{n}" for n in range(n_runs)]
    path.write_text(json.dumps({name: {"1": {"d": 1.0}} for name in names}))
    assert list(read_runs(path)) == names
    listed = "r0, r1, r2, r3, r4" + (", ..." if n_runs > 5 else "")
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert (
        str(caught.value)
        == f"{path}: the file has {n_runs} runs: {listed}; name one of them, or use read_runs"
    )
    assert repr(read_runs(path)) == "<Runs: 'r0', 'r1', 'r2', 'r3', 'r4'" + (", ...>" if n_runs > 5 else ">")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", "run", "the file is empty; a run has lines of: topic Q0 document rank score tag"),
        ("# x\n", "run", "there is no line with data; a run has lines of: topic Q0 document rank score tag"),
        ("", "qrels", "the file is empty; qrels have lines of: topic iteration document grade"),
        ("# x\n", "qrels", "there is no line with data; qrels have lines of: topic iteration document grade"),
    ],
)
def test_files_without_data(text: str, kind: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_qrels(path) if kind == "qrels" else read_run(path).lists()
    assert str(caught.value).endswith(f": {message}")
    for form in ("columns", "csv", "jsonl"):
        with pytest.raises(InputError):
            read_qrels(path, input_format=form) if kind == "qrels" else read_run(
                path, input_format=form
            ).lists()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.mkdir(), "this is a directory; use read_runs to read all runs in it"),
        (lambda path: None, "no such file; check the path"),
    ],
)
def test_directories_and_special_files_raise(make: Any, message: str, tmp_path: Path) -> None:
    make(tmp_path / "x")
    with pytest.raises(InputError) as caught:
        read_run(tmp_path / "x")
    assert str(caught.value) == f"{tmp_path / 'x'}: {message}"
    with pytest.raises(InputError, match=message.replace("use read_runs to read all runs", "name a file")):
        read_qrels(tmp_path / "x")
    with pytest.raises(InputError, match="the name of a file is empty; name a file, or - for standard input"):
        Source.open("")
