"""Results and errors of a scan, which are the same for both scanners."""

from __future__ import annotations

import gzip
import io
import locale
import pickle
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

from rankscope.errors import InputError, SettingsError
from rankscope.native import scanner as library
from rankscope.read.lines import LineProblem
from rankscope.read.orders import ORDERS
from rankscope.read.qrels import Qrels
from rankscope.scan import RunHits, backend_name, native, scan_text

QRELS = Qrels.from_dict({"301": {"d1": 1, "d2": 0, "d3": 2}, "302": {"d1": 1, "d9": 1}})


@pytest.fixture(params=[pytest.param("native", marks=pytest.mark.needs("native")), "python"])
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RANKSCOPE_SCANNER", request.param)
    return str(request.param)


def hits(run: RunHits) -> dict[str, list[tuple[int, str]]]:
    """Rank and document of every hit, by topic."""
    result = {}
    for k, t in enumerate(run.topic.tolist()):
        where = slice(run.offsets[k], run.offsets[k + 1])
        names = [QRELS.documents[j].decode() for j in run.judgment[where]]
        result[QRELS.topics[t]] = list(zip(run.rank[where].tolist(), names, strict=True))
    return result


def one_topic(*scores: str, order: str = "trec_eval") -> list[tuple[int, str]]:
    """Return the hits of d1, d2, ... with the given scores."""
    text = "".join(f"301 Q0 d{i} {i} {score} t\n" for i, score in enumerate(scores, 1))
    return hits(scan_text(text.encode(), QRELS, order))["301"]


def test_hits_lengths_and_ignored_topics(scanner: str) -> None:
    text = (
        b"302 Q0 d9 1 3 bm25\n302 Q0 x 2 2 bm25\n99 Q0 d1 1 1 bm25\n301 Q0 d3 1 9 bm25\n301 Q0 d1 2 8 bm25\n"
    )
    run = scan_text(text, QRELS)
    assert backend_name() == scanner
    assert hits(run) == {"301": [(1, "d3"), (2, "d1")], "302": [(1, "d9")]}
    assert run.topic.tolist() == [0, 1]
    assert run.length.tolist() == [2, 2]
    assert run.offsets.tolist() == [0, 2, 3]
    assert run.ignored_topics == ("99",)
    assert run.tag == "bm25"
    assert [array.dtype for array in (run.topic, run.length, run.rank, run.judgment, run.tied)] == [
        np.int32
    ] * 5
    assert run.offsets.dtype == np.int64


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("trec_eval", [(2, "d1"), (3, "d2"), (1, "d3")]),
        ("trec_eval9", [(2, "d1"), (1, "d2"), (3, "d3")]),
        ("ascending_id", [(2, "d1"), (3, "d2"), (1, "d3")]),
        ("rank", [(3, "d1"), (1, "d2"), (2, "d3")]),
        ("file", [(1, "d1"), (2, "d2"), (3, "d3")]),
    ],
)
def test_orders(scanner: str, order: str, expected: list[tuple[int, str]]) -> None:
    # as 32-bit numbers all three scores are one, so only ids decide; the ranks of d2 and d3 are the same
    text = b"301 Q0 d1 7 0.50000000002 t\n301 Q0 d2 -4 0.50000000001 t\n301 Q0 d3 -4 0.50000000003 t\n"
    run = scan_text(text, QRELS, order)
    if order == "trec_eval9":
        expected = [(3, "d1"), (2, "d2"), (1, "d3")]
        assert run.tied.tolist() == [3]
    assert sorted(hits(run)["301"]) == sorted(expected)
    assert (np.diff(run.rank) > 0).all()


def test_ties_go_by_descending_id(scanner: str) -> None:
    assert one_topic("1", "1", "1") == [(1, "d3"), (2, "d2"), (3, "d1")]
    assert one_topic("0.0", "-0.0", "0") == [(1, "d3"), (2, "d2"), (3, "d1")]
    assert one_topic("-0", "1e-400", "-1e-400") == [(1, "d3"), (2, "d2"), (3, "d1")]


def test_tied_counts_documents_that_share_a_score(scanner: str) -> None:
    text = b"".join(
        b"301 Q0 x%d 1 %s t\n" % (i, s) for i, s in enumerate([b"1", b"2", b"1.0", b"3", b"2e0", b"1"])
    )
    for order in ORDERS:
        assert scan_text(text, QRELS, order).tied.tolist() == [5]


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("inf", "1e308"), ("+Infinity", "1"), ("-1e308", "-INF"), ("1e-3", "0.00099"), (".5", ".4999"), ("5.", "+4"),
        ("1E2", "99.99"), ("1e400", "1e308"), ("0.30000000000000004", "0.3"), ("9007199254740993", "9007199254740992"),
        ("123456789012345678901234567890", "123456789012345600000000000000"), ("4.9e-324", "1e-324"),
    ],
)  # fmt: skip
def test_scores(scanner: str, high: str, low: str) -> None:
    same = float(high) == float(low)  # 2^53 + 1 rounds to 2^53: then the larger id comes first
    assert one_topic(low, high) == [(1, "d2"), (2, "d1")]
    assert one_topic(high, low) == ([(1, "d2"), (2, "d1")] if same else [(1, "d1"), (2, "d2")])


def test_a_comma_locale_changes_nothing(scanner: str) -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
            break
        except locale.Error:
            continue
    try:
        digits = "0.1234567890123456789012345"  # too many for the fast way
        assert one_topic(digits, digits + "e0", "0.12") == [(1, "d2"), (2, "d1"), (3, "d3")]
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


@pytest.mark.parametrize(
    "text",
    [
        b"301 Q0 d1 1 2 t\r\n301 Q0 d2 2 1 t\r\n",
        b"301\tQ0\td1\t1\t2\tt\n301\tQ0\td2\t2\t1\tt",
        b"  301   Q0 \t d1 1 2 t  \n\n \t \n301 Q0 d2 2 1 t\x0b\x0c\n",
        b"# tag: t\n301 Q0 d1 1 2 t\n   # a b c d e\n#301 Q0 d1 1 2 t\n301 Q0 d2 2 1 t\n",
        b"\xef\xbb\xbf301 Q0 d1 1 2 t\n301 Q0 d2 2 1 t\n",
        b"\n\n301 Q0 d1 x 2 t\n301 anything d2 1.5 1 u#v\n",
        b"301 Q0 d1 1 2 t and more\n301 Q0 d2 1 1 t extra\n",
    ],
)
def test_layout_of_lines(scanner: str, text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run"
    for content in (text, gzip.compress(text)):
        path.write_bytes(content)
        for source in (content, path):
            run = scan_text(source, QRELS)
            assert hits(run) == {"301": [(1, "d1"), (2, "d2")]}
            assert run.length.tolist() == [2]
            assert run.tag == "t"


def test_topics_may_come_back(scanner: str, tmp_path: Path) -> None:
    text = b"301 Q0 d1 1 1 t\n302 Q0 d9 1 5 t\n301 Q0 d2 2 3 t\n7 Q0 a 1 1 t\n302 Q0 d1 2 6 t\n"
    text += b"7 Q0 b 2 0 t\n301 Q0 d3 3 2 t\n"
    path = tmp_path / "run"
    path.write_bytes(text)
    for source in (text, path):
        run = scan_text(source, QRELS)
        assert hits(run) == {"301": [(1, "d2"), (2, "d3"), (3, "d1")], "302": [(1, "d1"), (2, "d9")]}
        assert run.ignored_topics == ("7",)
    with pytest.raises(InputError, match=":8: document 'd9' occurs twice in topic '302'"):
        scan_text(text + b"302 Q0 d9 1 1 t\n", QRELS)


def test_any_bytes_in_ids(scanner: str) -> None:
    qrels = Qrels.from_dict({"caf\udce9": {"\udcff\udcfe": 1, "ü" * 50: 1}})
    text = b"caf\xe9 Q0 \xff\xfe 1 1 \x80\ncaf\xe9 Q0 " + ("ü" * 50).encode() + b" 2 0 t\n"
    run = scan_text(text, qrels)
    assert run.rank.tolist() == [1, 2]
    assert run.tag == "\udc80"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"301 Q0 d1 1 2 t\n301 Q0 d2 2\n", ":2: 4 fields where a run has 6: .*; this looks like a qrels file"),
        (b"301 Q0 d1\n", ":1: 3 fields where a run has 6"),
        (b"301\n", ":1: 1 field where"),
        (b"\n#\n301 Q0 d1 1 2x t\n", ":3: score '2x' is not a number; give a decimal number"),
        (b"301 Q0 d1 1 0x10 t\n", ":1: score '0x10' is not"),
        (b"301 Q0 d1 1 1_0 t\n", ":1: score '1_0' is not"),
        (b"301 Q0 d1 1 1e t\n", ":1: score '1e' is not"),
        (b"301 Q0 d1 1 . t\n", ":1: score '.' is not"),
        (b"301 Q0 d1 1 +-1 t\n", ":1: score '\\+-1' is not"),
        (b"301 Q0 d1 1 infinit t\n", ":1: score 'infinit' is not"),
        (b"301 Q0 d1 1 -NaN t\n", ":1: NaN score; remove the line"),
        (b"301 Q0 d1 1 2 t\n301 Q0 d1 2 1 t\n", ":2: document 'd1' occurs twice in topic '301'; keep one"),
        (b"9 Q0 a 1 2 t\n9 Q0 a 2 1 t\n", ":2: document 'a' occurs twice in topic '9'"),
        (b"301 Q0 d1 1 2 t\n301 Q0 d1 2 1 t\n301 Q0\n", ":2: document 'd1' occurs twice"),
        (b"301 Q0 d1 1 2 t\n301 Q0 d1 2 x t\n", ":2: score 'x' is not"),
        (b"", "<bytes>: the file is empty; a run has lines of"),
        (b"# nothing\n\n", "<bytes>: there is no line with data"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "<bytes>: this is a binary file"),
        (b"301 Q0 d1 1 2 t\n" * 1 + b"#" * 9000 + b"\n301 Q0 \x00 1 1 t\n", ":3: a NUL byte in the line"),
        (b"301 Q0 " + b"d" * 100 + b" 1 2 t\n301 Q0 " + b"d" * 100 + b" 1 2 t\n", r":2: document 'd{57}\.\.\.' occurs"),
    ],
)  # fmt: skip
def test_errors_name_line_problem_and_remedy(scanner: str, text: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        scan_text(text, QRELS)
    path = tmp_path / "run.txt"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message.replace("<bytes>", "run.txt")):
        scan_text(path, QRELS)


def test_ranks_are_read_only_where_they_order(scanner: str) -> None:
    for rank in (b"1.5", b"first", b"", b"+", b"1_0", b"1234567890123456789"):
        text = b"301 Q0 d1 " + (rank or b"-") + b" 2 t\n"
        assert scan_text(text, QRELS).rank.tolist() == [1]
        with pytest.raises(InputError, match=r":1: rank '.*' is not an integer"):
            scan_text(text, QRELS, "rank")


def test_unreadable_sources(scanner: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        scan_text(tmp_path / "absent", QRELS)
    with pytest.raises(InputError, match="this is a directory"):
        scan_text(tmp_path, QRELS)


def test_gzip(scanner: str, tmp_path: Path) -> None:
    lines = [b"301 Q0 x%d 1 %d t\n" % (i, -i) for i in range(50_000)]
    whole = b"".join([b"301 Q0 d1 1 9 t\n", *lines, b"301 Q0 d2 1 -9e9 t\n"])
    half = len(whole) // 2
    packed = gzip.compress(whole[:half]) + gzip.compress(whole[half:]) + b"\0" * 700
    path = tmp_path / "misnamed.txt"
    path.write_bytes(packed)
    assert hits(scan_text(path, QRELS)) == {"301": [(1, "d1"), (50_002, "d2")]}
    path.write_bytes(gzip.compress(whole)[:-9])
    with pytest.raises(InputError, match="the gzip data ends too early; copy or download"):
        scan_text(path, QRELS)
    for damaged in (packed[:1000] + b"\xff\xff\xff\xff" + packed[1004:], packed + b"garbage", packed + b"x"):
        with pytest.raises(InputError, match="the gzip data is damaged"):
            scan_text(damaged, QRELS)


def test_standard_input(scanner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"301 Q0 d1 1 1 t\n301 Q0 d2 1\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    with pytest.raises(InputError, match="standard input:2: 4 fields"):
        scan_text("-", QRELS)


def test_a_line_longer_than_any_block(scanner: str, tmp_path: Path) -> None:
    name = "x" * 3_000_000
    qrels = Qrels.from_dict({"1": {name: 1}})
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 y 1 2 t\n1 Q0 " + name.encode() + b" 2 1 t\n1 Q0 z 3 0 t")
    run = scan_text(path, qrels)
    assert (run.rank.tolist(), run.length.tolist()) == ([2], [3])


def test_scanner_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSCOPE_SCANNER", "fortran")
    with pytest.raises(SettingsError, match="unknown scanner 'fortran'"):
        backend_name()
    monkeypatch.setattr(library, "available", lambda: False)
    monkeypatch.setenv("RANKSCOPE_SCANNER", "native")
    with pytest.raises(SettingsError, match="was not built; install a C compiler"):
        backend_name()
    monkeypatch.delenv("RANKSCOPE_SCANNER")
    assert backend_name() == "python"


@pytest.mark.needs("native")
def test_copies_of_judgments_share_a_table_that_is_freed_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    tables: list[Any] = []
    original = library.DocumentTable.__init__

    def counted(self: Any, *arguments: Any) -> None:
        tables.append(ref(self))
        original(self, *arguments)

    monkeypatch.setattr(library.DocumentTable, "__init__", counted)
    qrels = Qrels.from_dict({"301": {"d1": 1}})
    for copy in (qrels, qrels, qrels.with_grades(qrels.grade * 2)):
        scan_text(b"301 Q0 d1 1 1 t\n", copy, backend="native")
    assert len(tables) == 1
    assert pickle.loads(pickle.dumps(qrels)).tables is not qrels.tables
    del qrels, copy
    assert tables[0]() is None


@pytest.mark.needs("native")
def test_a_library_that_lacks_a_function_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(library._SIGNATURES, "rs_of_a_later_version", (None, []))
    library.library.cache_clear()
    try:
        assert not library.available()
        assert backend_name() == "python"
    finally:
        library.library.cache_clear()


def test_a_library_that_cannot_be_loaded_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "scanner.so").write_bytes(b"not a library")
    monkeypatch.setattr("rankscope.native.libraries.__file__", str(tmp_path / "libraries.py"))
    library.library.cache_clear()
    try:
        assert not library.available()
        assert backend_name() == "python"
    finally:
        library.library.cache_clear()


@pytest.mark.needs("native")
def test_errors_of_the_library_become_exceptions() -> None:
    with (
        native._open(native._table(QRELS), native.ScanRequest(0, ties=False)) as scan,
        pytest.raises(MemoryError),
    ):
        scan._check(1)
    with (
        pytest.raises(LineProblem) as caught,
        native._open(native._table(QRELS), native.ScanRequest(0, ties=False)) as scan,
    ):
        scan._check(3)
    assert caught.value.line == 0
    assert caught.value.describe()[0] == "the line, or its ranking, is too long"
