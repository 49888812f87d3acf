"""Nothing silently wrong: foreign line ends, and files that change while they are read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.cli.main import main
from rankscope.errors import InputError
from rankscope.read import Qrels, read_qrels, read_run
from rankscope.read.lines import foreign_end
from rankscope.read.source import Source
from rankscope.scan import native as scan_native
from rankscope.scan import python as scan_python
from rankscope.scan.backends import scan_text

BACKENDS = [
    pytest.param(
        "native",
        marks=pytest.mark.skipif(not scan_native.available(), reason="the native scanner was not built"),
    ),
    "python",
]
ENDS = {
    "CR": b"\r",
    "VT": b"\x0b",
    "FF": b"\x0c",
    "FS": b"\x1c",
    "GS": b"\x1d",
    "RS": b"\x1e",
    "NEL": "\x85".encode(),
    "U+2028": "\u2028".encode(),
    "U+2029": "\u2029".encode(),
}
QRELS = Qrels.from_dict({"q1": {f"d{i}": i % 2 for i in range(30)}, "q2": {"d1": 1}})
LINES = [b"q1 Q0 d%d %d %d tag" % (i, i, 100 - i) for i in range(30)] + [b"q2 Q0 d1 1 1 tag"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ENDS)
def test_a_run_with_other_line_ends_is_refused(name: str, backend: str) -> None:
    end = ENDS[name]
    for text in (
        end.join(LINES) + end,
        end.join(LINES),
        end.join(LINES) + b"\n",
        b"\n".join(LINES[:3]) + b"\n" + end.join(LINES[3:]) + b"\n",
        b"# a comment" + end + end.join(LINES) + b"\n" + LINES[0],
    ):
        with pytest.raises(InputError, match=rf":(1|4): a line ends in {name.replace('+', '.')}"):
            scan_text(text, QRELS, backend=backend)
        with pytest.raises(InputError, match="a line ends in"):
            scan_text(gzip.compress(text), QRELS, backend=backend)


@pytest.mark.parametrize("name", ENDS)
def test_judgments_with_other_line_ends_are_refused_in_the_same_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(ENDS[name].join(b"q1 0 d%d 1" % i for i in range(5)))
    with pytest.raises(InputError, match=rf"qrels:1: a line ends in {name.replace('+', '.')}"):
        read_qrels(path)


@pytest.mark.parametrize("backend", BACKENDS)
def test_crlf_and_blanks_do_not_change_the_hits(backend: str) -> None:
    usual = scan_text(b"\n".join(LINES), QRELS, backend=backend)
    for text in (
        b"\r\n".join(LINES) + b"\r\n",
        b"\r\n".join(LINES) + b"\r",
        b"\x0b\x0c \r\n".join(LINES),
        b"\n".join(line.replace(b" ", b"\x0b") for line in LINES),
        b"\n\r\n \x0c \n".join(LINES),
    ):
        hits = scan_text(text, QRELS, backend=backend)
        assert hits.rank.tolist() == usual.rank.tolist()
        assert hits.length.tolist() == usual.length.tolist()
    odd = "d\u2028\u0085"
    qrels = Qrels.from_dict({"q\u2029": {odd: 1}})
    assert scan_text(f"q\u2029 Q0 {odd} 1 1 t\n".encode(), qrels, backend=backend).rank.tolist() == [1]


PIECES = [
    *ENDS.values(),
    b" ",
    b"\n",
    b"\r\n",
    b"#",
    b"q1 Q0 d1 1 1 t",
    b"q2",
    b"d1",
    b"1",
    b"\xc2",
    b"\xe2\x80",
]


@pytest.mark.skipif(not scan_native.available(), reason="the native scanner was not built")
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join), st.integers(0, 70))
def test_both_scanners_see_the_same_ends(text: bytes, padding: int) -> None:
    text = b"x" * padding + text  # wherever in a window the characters fall
    outcomes = []
    for backend in ("native", "python"):
        try:
            hits = scan_text(text, QRELS, backend=backend)
            outcomes.append(repr([field.tolist() if hasattr(field, "tolist") else field for field in hits]))
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@given(st.lists(st.sampled_from([b"a", b"1", b" ", *ENDS.values()]), max_size=30).map(b"".join))
def test_other_line_splitters_see_the_same_fields(line: bytes) -> None:
    """A line without foreign ends, in which other programs see one line, unless an id has such a character."""
    if foreign_end(line, 6) is None and len(fields := line.split()) >= 6:
        tail = line.split(None, 5)[5].rstrip()
        assert len(tail.decode("utf-8", "surrogateescape").splitlines()) == 1
        assert b"\r" not in b" ".join(fields)


def test_the_command_says_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_bytes(b"\r".join(LINES))
    assert main(["eval", str(tmp_path / "q"), str(tmp_path / "r")]) == 2
    assert capsys.readouterr().err == (
        f"rankscope: {tmp_path}/r:1: a line ends in CR, not in LF or CRLF;"
        " end lines in LF or CRLF; tr '\\r' '\\n' converts the file\n"
    )


# files that change ----------------------------------------------------------------------------------------------------

LONG = b"".join(b"q%d Q0 d%d %d %d tag\n" % (t, i, i, -i) for t in range(4) for i in range(2000))


def shrunk(path: Path) -> None:
    os.truncate(path, LONG.rindex(b"\n", 0, len(LONG) // 2) + 1)


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"q9 Q0 d1 1 1 tag\n")


def rewritten(path: Path) -> None:
    path.write_bytes(LONG.replace(b"tag", b"gat"))
    os.utime(path, ns=(0, 0))


def replaced(path: Path) -> None:
    path.rename(path.with_name("before"))
    path.write_bytes(LONG)


CHANGES = [shrunk, grown, rewritten, replaced]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_changed_since_it_was_opened_is_refused(tmp_path: Path, change, packed: bool) -> None:
    readers = [scan_python.scan_source]
    if scan_native.available():
        readers.append(scan_native.scan_source)
    for scan in readers:
        path = tmp_path / "run"
        path.write_bytes(gzip.compress(LONG) if packed else LONG)
        source = Source.open(path)
        change(path)
        with pytest.raises(InputError, match=r"changed while it was read|gzip data"):
            scan(source, QRELS, "trec_eval")


@pytest.mark.skipif(not scan_native.available(), reason="the native scanner was not built")
@pytest.mark.parametrize("change", CHANGES[:3])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_file_that_changes_between_two_reads_is_refused(tmp_path, monkeypatch, change, jobs: int) -> None:
    path = tmp_path / "run"
    path.write_bytes(LONG)
    more, calls = scan_native.Scan.feed, []

    def changing(self, block):
        calls.append(block)
        if len(calls) == 2:
            change(path)
        more(self, block)

    monkeypatch.setattr(scan_native.Scan, "feed", changing)
    monkeypatch.setattr("rankscope.read.source.BLOCK", 5000)
    monkeypatch.setattr(scan_native, "MIN_PIECE", 1000)
    with pytest.raises(InputError, match="changed while it was read"):
        scan_text(path, QRELS, jobs=jobs, backend="native")


def test_a_file_that_shrinks_while_python_reads_it_is_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "run"
    path.write_bytes(LONG)
    monkeypatch.setattr("rankscope.read.source.BLOCK", 4096)
    blocks = Source.open(path).blocks()
    next(blocks)
    shrunk(path)
    with pytest.raises(InputError, match="changed while it was read"):
        list(blocks)


def test_a_changed_file_is_reported_instead_of_its_invalid_line(tmp_path, monkeypatch) -> None:
    path = tmp_path / "run"
    path.write_bytes(LONG)
    source = Source.open(path)
    path.write_bytes(LONG[: len(LONG) // 2] + b"\nhalf a line\n" + LONG)
    with pytest.raises(InputError, match="changed while it was read"):
        scan_text(source, QRELS)


def test_documents_of_a_file_that_changes_are_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "run"
    path.write_bytes(LONG)
    opened = Source.open

    def changing(*args):
        source = opened(*args)
        shrunk(path)
        return source

    monkeypatch.setattr("rankscope.read.runs.Source.open", changing)
    with pytest.raises(InputError, match="changed while it was read"):
        read_run(path).lists()


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="there are no files of unknown size")
def test_files_that_report_no_size_are_read(tmp_path: Path) -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert Source.open("/proc/self/status").size > 100
