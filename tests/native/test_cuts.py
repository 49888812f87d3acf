"""Where run files are cut: only where topics change, in few steps, whatever the lists' length."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.native import cuts
from rankscope.native.cuts import topic_cuts
from rankscope.read.qrels import Qrels
from rankscope.scan.backends import scan_text

lines = st.lists(
    st.tuples(st.sampled_from([b"1", b"1", b"1", b"2", b"22", b"#", b""]), st.integers(1, 9)), max_size=30
)


def topic_column(text: bytes) -> list[bytes]:
    return [line.split()[0] for line in text.split(b"\n") if line and line[:1] != b"#"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, st.integers(2, 9), st.booleans())
def test_cuts_are_changes_of_topic(
    tmp_path: Path, rows: list[tuple[bytes, int]], pieces: int, ended: bool
) -> None:
    text = b"".join(b"%b Q0 %b 1 1 t\n" % (topic, b"d" * n) if topic else b"\n" for topic, n in rows)
    text = text if ended else text[:-1]
    path = tmp_path / "run"
    path.write_bytes(text)
    cut_points = topic_cuts(path, len(text), pieces)
    assert cut_points == sorted(set(cut_points))
    assert len(cut_points) < pieces
    for cut in cut_points:
        assert text[cut - 1 : cut] == b"\n"
        assert topic_column(text[:cut])[-1] != topic_column(text[cut:])[0]


@pytest.mark.parametrize("topics", [1, 2])
def test_long_lists_are_not_searched_line_by_line(
    tmp_path: Path, topics: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One topic of nine million documents took a minute with 32 workers: every piece searched to the end."""
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"%d Q0 d%d 1 1 t\n" % (t, d) for t in range(topics) for d in range(50_000)))
    n_reads = 0
    original = cuts._topic_from

    def counted(*arguments: object) -> object:
        nonlocal n_reads
        n_reads += 1
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(cuts, "_topic_from", counted)
    cut_points = topic_cuts(path, path.stat().st_size, 32)
    assert len(cut_points) == topics - 1
    assert n_reads < 100


@pytest.mark.parametrize("pieces", [2, 3, 8])
def test_pieces_are_near_equal_shares(tmp_path: Path, pieces: int) -> None:
    """Cuts stood behind the first topic of each share: two pieces of a file were one topic and all the others."""
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"%d Q0 d%d 1 1 t\n" % (t, d) for t in range(100) for d in range(50)))
    size = path.stat().st_size
    cut_points = topic_cuts(path, size, pieces)
    shares = [stop - start for start, stop in zip([0, *cut_points], [*cut_points, size], strict=True)]
    assert len(shares) == pieces
    assert max(shares) - min(shares) < 2 * size / 100


@pytest.mark.parametrize("filling", [b"x", b"\n", b"#\n", b"1 Q0 d 1 1 t\n" + b" " * (1 << 21)])
def test_files_without_topics_are_not_searched_to_their_end(
    tmp_path: Path, filling: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an earlier version, every piece read a run without newlines into memory as one line."""
    path = tmp_path / "run"
    path.write_bytes(filling * ((1 << 24) // len(filling)))
    n_bytes = 0
    original = cuts._read_line

    def counted(file: BinaryIO) -> bytes:
        nonlocal n_bytes
        before = file.tell()
        try:
            return original(file)
        finally:
            n_bytes += file.tell() - before

    monkeypatch.setattr(cuts, "_read_line", counted)
    assert topic_cuts(path, path.stat().st_size, 16) == []
    assert n_bytes <= 2 << 18


def test_a_file_of_empty_lines_is_scanned_once(tmp_path: Path) -> None:
    """Both scanners, with the same message and the same number for the line after them."""
    path = tmp_path / "run"
    path.write_bytes(b"\n" * 3_000_000 + b"1 Q0 d\n")
    messages = []
    for backend in ("native", "python"):
        with pytest.raises(InputError) as raised:
            scan_text(path, Qrels.from_dict({"1": {"d": 1}}), backend=backend)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    assert "run:3000001: 3 fields" in messages[0]


def test_the_first_line_from_any_offset_on_is_found(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 a\n\n#\n22 b\n3 c\n  \n4 d")
    starts = [(0, b"1"), (7, b"22"), (12, b"3"), (19, b"4")]
    size = path.stat().st_size
    with path.open("rb") as file:
        for offset in range(size):
            expected = next((pair for pair in starts if pair[0] >= offset), (size, None))
            assert cuts._find_line(file, offset, size) == expected, offset
        for start, _ in starts[:-1]:
            assert cuts._next_line(file, start, size) == next(pair for pair in starts if pair[0] > start)


def test_a_topic_is_found_after_comments_of_the_longest_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "_MAX_SEARCH", 10)
    assert cuts._topic_from(io.BytesIO(b"#234\n#234\nq 0 d 1\n"), 18) == (10, b"q")
    with pytest.raises(cuts._NoTopic):
        cuts._topic_from(io.BytesIO(b"#234\n#2345\nq 0 d 1\n"), 19)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_are_the_first_lines_of_the_topics_of_equal_shares(tmp_path: Path, seed: int) -> None:
    """A plain search from the start finds the same cuts as the bisection, if no topic returns."""
    luck = random.Random(seed)
    text = b""
    starts: list[tuple[int, bytes]] = []
    for topic in range(luck.randint(1, 9)):
        for _ in range(luck.randint(1, 8)):
            text += luck.choice([b"", b"", b"", b"\n", b"# 1 2\n", b" \t\r\n", b"#\n"])
            starts.append((len(text), b"%d" % topic))
            text += b"%d Q0 %b 1 1 t\n" % (topic, b"d" * luck.randint(1, 30))
    path = tmp_path / "run"
    path.write_bytes(text[: len(text) - luck.randint(0, 1)])
    size = path.stat().st_size
    for pieces in range(2, 12):
        shares = [size * piece // pieces for piece in range(pieces)]
        topics = [next((topic for start, topic in starts if start >= share), None) for share in shares]
        first = {topic: start for start, topic in reversed(starts)}
        expected = sorted({first[topic] for topic in topics if topic is not None} - {first[topics[0]]})
        assert topic_cuts(path, size, pieces) == expected, (pieces, text)


@pytest.mark.parametrize(("length", "is_cut"), [((1 << 18) - 1, True), (1 << 18, False)])
def test_a_line_must_be_shorter_than_a_quarter_of_a_megabyte(
    tmp_path: Path, length: int, is_cut: bool
) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 ".ljust(length - 1, b"d") + b"\n" + b"2 Q0 d 1 1 t\n" * (length // 13 + 9))
    assert topic_cuts(path, path.stat().st_size, 2) == ([length] if is_cut else [])
