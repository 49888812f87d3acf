"""Both scanners, and a plain reading of the definition, agree on random files: bit for bit, error for error."""

from __future__ import annotations

import math
import struct
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.native.cuts import topic_cuts
from rankscope.native.readahead import Part
from rankscope.native.scans import Scan, ScanError, ScanRequest
from rankscope.read.orders import ORDERS
from rankscope.read.qrels import Qrels
from rankscope.read.source import Source
from rankscope.scan import RunHits, scan_text
from rankscope.scan import native as library_scanner
from rankscope.scan import python as python_scanner

native = pytest.mark.needs("native")

IDS = [
    b"d",
    b"d1",
    b"d2",
    b"D2",
    b"d\xff",
    b"clueweb09-en0000-00-00000",
    b"clueweb09-en0000-00-00001",
    b"x" * 70,
    b"\x01",
]
IDS += [b"doc%d" % i for i in range(8)] + [b"a" * i for i in range(7, 18)]
TOPICS = [b"1", b"2", b"10", b"351", b"a-long-name-of-a-topic", b"\xe9"]
SCORES = [
    b"0",
    b"-0.0",
    b"0.0",
    b"1",
    b"1.0",
    b"1e0",
    b"2",
    b"-1",
    b"0.1",
    b"0.10000000149011612",
    b"inf",
    b"-inf",
]
SCORES += [
    b"1e39",
    b"1e400",
    b"1e-330",
    b"12.5",
    b"+3",
    b".5",
    b"7.",
    b"0.30000000000000004",
    b"16777217",
    b"16777216",
]
WRONG = [b"nan", b"x", b"1_0", b"0x1", b"", b"1e", b"--1", b"\x00", b"1 2"]
BLANKS = [b" ", b" ", b" ", b"\t", b"  ", b" \t", b"\x0b"]


def build_qrels(judged: dict[bytes, list[bytes]]) -> Qrels:
    text = {t.decode("utf-8", "surrogateescape"): ids for t, ids in judged.items() if ids}
    return Qrels.from_dict(
        {t: {d.decode("utf-8", "surrogateescape"): 1 for d in ids} for t, ids in text.items()}
    )


judgments = st.dictionaries(
    st.sampled_from(TOPICS), st.lists(st.sampled_from(IDS), min_size=1, max_size=12, unique=True), max_size=5
)


@st.composite
def runs(draw: st.DrawFn, wrong: bool = False) -> bytes:
    """Lines of a run: mostly in order, sometimes with everything the format allows, or does not."""
    lines: list[bytes] = []
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(TOPICS), st.sampled_from(IDS)), max_size=40, unique=not wrong)
    )
    if draw(st.booleans()):
        pairs.sort(key=lambda pair: pair[0])
    plain = draw(st.booleans())
    for topic, document in pairs:
        rank = draw(st.sampled_from([b"1", b"2", b"3", b"+7", b"-1", b"0"]))
        score = draw(st.sampled_from(SCORES + (WRONG if wrong else [])))
        fields = [
            topic,
            b"Q0",
            document,
            rank,
            score,
            draw(st.sampled_from([b"tag", b"tag", b"tag and more"])),
        ]
        if plain:
            lines.append(b" ".join(fields) + b"\n")
            continue
        blank = draw(st.sampled_from(BLANKS))
        lines.append(draw(st.sampled_from([b"", b"", b" ", b"# x\n", b"\n"])) + blank.join(fields))
        lines.append(draw(st.sampled_from([b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b"\n#\n"])))
    text = b"".join(lines)
    return text.rstrip(b"\n") if draw(st.booleans()) else text


def same(a: RunHits, b: RunHits) -> None:
    for name in ("topic", "length", "offsets", "rank", "judgment", "tied"):
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype, name
        np.testing.assert_array_equal(x, y, err_msg=name)
    assert (a.ignored_topics, a.tag) == (b.ignored_topics, b.tag)
    assert (a.ties is None) == (b.ties is None)
    for x, y in zip(a.ties or (), b.ties or (), strict=True):
        assert x.dtype == y.dtype == np.int32
        np.testing.assert_array_equal(x, y)


def outcome(text: bytes | Path, qrels: Qrels, order: str, backend: str, jobs: int = 1) -> RunHits | str:
    try:
        return scan_text(text, qrels, order, backend=backend, jobs=jobs, ties=True)
    except InputError as error:
        return str(error)


def agree(text: bytes, qrels: Qrels, order: str) -> None:
    a, b = outcome(text, qrels, order, "native"), outcome(text, qrels, order, "python")
    if isinstance(a, str) or isinstance(b, str):
        assert a == b
    else:
        same(a, b)


def defined(text: bytes, qrels: Qrels, order: str) -> dict[int, tuple[int, list[tuple[int, int]]]]:
    """Length and hits of each list, by the definition of the orderings."""
    lists: dict[str, list[tuple[bytes, float, int]]] = {}
    for line in text.split(b"\n"):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            topic, _, document, rank, score, _ = fields[:6]
            value = float(score)
            if order == "trec_eval9" and math.isfinite(value):
                try:
                    value = struct.unpack("f", struct.pack("f", value))[0]
                except OverflowError:
                    value = math.copysign(math.inf, value)
            lists.setdefault(topic.decode("utf-8", "surrogateescape"), []).append(
                (document, value, int(rank))
            )
    result = {}
    for name, rows in lists.items():
        if name not in qrels.topic_index:
            continue
        t = qrels.topic_index[name]
        if order == "rank":
            rows = sorted(rows, key=lambda row: row[2])
        elif order != "file":
            by_id = sorted(rows, key=lambda row: row[0], reverse=order != "ascending_id")
            rows = sorted(by_id, key=lambda row: -row[1])
        first, last = int(qrels.topic_offsets[t]), int(qrels.topic_offsets[t + 1])
        folder = {document: first + i for i, document in enumerate(qrels.documents[first:last])}
        result[t] = (len(rows), [(i, folder[row[0]]) for i, row in enumerate(rows, 1) if row[0] in folder])
    return result


@given(judgments, runs(), st.sampled_from(ORDERS), st.sampled_from(["native", "python"]))
def test_scanners_follow_the_definition(
    judged: dict[bytes, list[bytes]], text: bytes, order: str, backend: str
) -> None:
    if backend == "native" and not library_scanner.available():
        return
    qrels = build_qrels(judged) if judged else Qrels((), np.zeros(1, np.int64), [], np.zeros(0, np.int32))
    run = outcome(text, qrels, order, backend)
    if isinstance(run, str):
        assert "no line with data" in run or "is empty" in run
        return
    result = {}
    for k, t in enumerate(run.topic.tolist()):
        where = slice(run.offsets[k], run.offsets[k + 1])
        pairs = list(zip(run.rank[where].tolist(), run.judgment[where].tolist(), strict=True))
        result[t] = (int(run.length[k]), pairs)
    assert result == defined(text, qrels, order)


@native
@given(judgments.filter(bool), runs(), st.sampled_from(ORDERS))
@example({b"1": [b"d1", b"d2"]}, b"1 Q0 d1 1 0.0 t\n1 Q0 d2 2 -0.0 t\n", "trec_eval")
def test_scanners_agree_on_runs(judged: dict[bytes, list[bytes]], text: bytes, order: str) -> None:
    agree(text, build_qrels(judged), order)


@native
@given(judgments.filter(bool), runs(wrong=True), st.sampled_from(ORDERS))
def test_scanners_agree_on_errors(judged: dict[bytes, list[bytes]], text: bytes, order: str) -> None:
    agree(text, build_qrels(judged), order)


@native
@given(st.binary(max_size=400), st.sampled_from(ORDERS))
def test_scanners_agree_on_garbage(text: bytes, order: str) -> None:
    agree(text, build_qrels({b"1": [b"d1"]}), order)


@native
@given(runs(wrong=True), st.integers(0, 400), st.binary(max_size=4), st.sampled_from(ORDERS))
def test_scanners_agree_on_damaged_runs(text: bytes, at: int, piece: bytes, order: str) -> None:
    agree(text[:at] + piece + text[at + 1 :], build_qrels({b"1": [b"d1"], b"10": [b"d", b"d2"]}), order)


NUMBERS = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.tuples(st.integers(0, 2**64), st.integers(1, 21)).map(
        lambda pair: f"{pair[0] / 10 ** pair[1]:.{pair[1]}f}"
    ),
    st.tuples(st.integers(0, 10**19), st.integers(0, 21)).map(lambda pair: f"{pair[0]}e-{pair[1]}"),
    st.from_regex(r"-?[0-9]{1,8}(\.[0-9]{0,9})?", fullmatch=True),
)


@native
@given(st.lists(NUMBERS, min_size=1, max_size=30))
def test_numbers_are_read_exactly(texts: list[str]) -> None:
    """A number ties with the shortest text of its nearest 64-bit value, and not with that value's neighbour."""
    for text in texts:
        value = float(text)
        for other, tied in ((repr(value), 2), (repr(math.nextafter(value, math.inf)), 0)):
            if float(other) == value and tied == 0:
                continue
            run = f"1 Q0 a 1 {text} t\n1 Q0 b 1 {other} t\n".encode()
            assert scan_text(run, build_qrels({b"1": [b"a"]}), backend="native").tied.tolist() == [tied], text


@native
def test_short_scores_are_read_like_python_or_refused() -> None:
    """Scan all texts of up to four characters of numbers, and of characters next to them in ASCII."""
    qrels = build_qrels({b"1": [b"a"]})
    for length in (1, 2, 3, 4):
        for letters in product("0.9-+e/:", repeat=length):
            agree(f"1 Q0 a 1 {''.join(letters)} t\n1 Q0 b 1 9 t\n".encode(), qrels, "trec_eval")


@native
def test_ids_that_differ_in_one_byte_are_different() -> None:
    """No hash, however it falls, makes two documents one; nor does the length of another id matter."""
    ids = [b"%0*d" % (width, i) for width in range(3, 40) for i in range(100)]
    ids += [b"z" * n for n in range(1, 200)]
    text = b"".join(b"1 Q0 %s 1 %d t\n" % (document, -i) for i, document in enumerate(ids))
    qrels = build_qrels({b"1": ids[::3]})
    run = scan_text(text, qrels, backend="native")
    assert run.length.tolist() == [len(ids)]
    assert run.rank.tolist() == list(range(1, len(ids) + 1, 3))
    same(run, scan_text(text, qrels, backend="python"))


@native
@given(
    judgments.filter(bool), runs(), st.booleans(), st.integers(2, 9), st.sampled_from(ORDERS),
)  # fmt: skip
def test_any_number_of_pieces_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    judged: dict[bytes, list[bytes]],
    text: bytes,
    wrong: bool,
    jobs: int,
    order: str,
) -> None:
    if wrong:
        text += b"\n1 Q0 d1\n" if len(text) % 2 else b"\n" + text.split(b"\n")[0]
    path = tmp_path_factory.mktemp("pieces") / "run"
    path.write_bytes(text)
    qrels = build_qrels(judged)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_scanner, "MIN_PIECE", 1)
        pieces = outcome(path, qrels, order, "native", jobs)
    whole = outcome(path, qrels, order, "python")
    if isinstance(pieces, str) or isinstance(whole, str):
        assert pieces == whole
    else:
        same(pieces, whole)


@native
def test_the_library_reads_files_as_we_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one block or many, whole or in pieces, right or wrong."""
    lines = [b"%d Q0 d%d %d %f t\n" % (t, i, i, -i) for t in range(40) for i in range(500)]
    qrels = build_qrels({b"%d" % t: [b"d%d" % (t * 2), b"d99"] for t in range(40)})
    for text in (b"".join(lines), b"".join(lines)[:-1], b"".join([*lines, b"7 Q0 x 1 high t\n", *lines])):
        path = tmp_path / "run"
        path.write_bytes(text)
        expected = outcome(text, qrels, "trec_eval", "python")
        for block, piece, jobs in product((1 << 18, 1000, 7919), (1, 1 << 30), (1, 3)):
            monkeypatch.setattr("rankscope.read.source.BLOCK", block)
            monkeypatch.setattr(library_scanner, "MIN_PIECE", piece)
            result = outcome(path, qrels, "trec_eval", "native", jobs)
            if isinstance(result, str) or isinstance(expected, str):
                assert str(result).split(":", 1)[-1] == str(expected).split(":", 1)[-1]
            else:
                same(result, expected)


@native
def test_a_large_file_is_cut_at_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"%d Q0 d%d %d %f t\n" % (t, i, i, -i) for t in range(40) for i in range(100)]
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines))
    size = path.stat().st_size
    cuts = topic_cuts(path, size, 4)
    text = path.read_bytes()
    assert len(cuts) == 3
    for cut in cuts:
        assert text[:cut].rsplit(b"\n", 2)[-2].split()[0] != text[cut:].split()[0]
    monkeypatch.setattr(library_scanner, "MIN_PIECE", 1)
    qrels = build_qrels({b"%d" % t: [b"d%d" % (t * 2), b"d99"] for t in range(40)})
    parts = [Part(None, 0, start, stop) for start, stop in pairwise([0, *cuts, size])]
    table, request = library_scanner._table(qrels), ScanRequest(0, ties=False)
    scanned = library_scanner._scan_parts(table, request, Source.open(path), parts, 4)
    assert scanned is not None
    same(scanned, python_scanner.scan_source(Source.open(path), qrels, "trec_eval"))


@native
@given(runs(wrong=True), st.lists(st.integers(1, 50), min_size=1, max_size=8), st.sampled_from(ORDERS))
def test_blocks_of_any_size_give_the_same(text: bytes, sizes: list[int], order: str) -> None:
    qrels = build_qrels({b"1": [b"d1", b"d2"], b"2": [b"d"], b"351": IDS})
    table = library_scanner._table(qrels)

    def scanned(blocks: list[bytes]) -> RunHits | tuple[object, ...]:
        with Scan.open(table, ScanRequest(ORDERS.index(order), ties=False), keep=True) as scan:
            try:
                for block in blocks:
                    scan.feed(block)
                scan.finish()
                return library_scanner._merge([scan.arrays()], with_ties=False, library=table.library)
            except ScanError as error:
                return error.args

    blocks, at = [], 0
    while at < len(text):
        size = sizes[len(blocks) % len(sizes)]
        blocks.append(text[at : at + size])
        at += size
    a, b = scanned(blocks), scanned([text])
    if isinstance(a, RunHits) and isinstance(b, RunHits):
        same(a, b)
    else:
        assert a == b
