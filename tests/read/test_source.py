"""Sources in blocks."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rankscope.errors import InputError
from rankscope.json_documents import parse_json
from rankscope.read import compression
from rankscope.read.compression import BLOCK
from rankscope.read.source import Source, whole_lines


@given(st.binary(max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_whole_lines_keep_every_byte(text: bytes, sizes: list[int]) -> None:
    blocks, at = [], 0
    while at < len(text):
        size = sizes[len(blocks) % len(sizes)]
        blocks.append(text[at : at + size])
        at += size
    pieces = list(whole_lines(iter(blocks)))
    assert all(piece.endswith(b"\n") for piece in pieces)
    assert b"".join(pieces) == (text + b"\n" if text and not text.endswith(b"\n") else text)


TEXT = st.text(alphabet=st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=300)


@given(st.lists(TEXT.map(str.encode), min_size=1, max_size=4), st.integers(0, 40))
def test_members_of_a_gzip_file_follow_each_other(parts: list[bytes], zeros: int) -> None:
    packed = b"".join(map(gzip.compress, parts)) + b"\0" * zeros
    assert b"".join(Source.open(packed).blocks()) == b"".join(parts)


def test_blocks_are_bounded_even_when_the_packing_is_extreme() -> None:
    blocks = list(Source.open(gzip.compress(b"x" * (5 * BLOCK))).blocks())
    assert max(map(len, blocks)) <= BLOCK
    assert sum(map(len, blocks)) == 5 * BLOCK


@given(st.binary(min_size=50, max_size=400), st.data())
def test_a_cut_gzip_file_is_an_error(text: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(text.replace(b"\0", b"x"))
    cut = data.draw(st.integers(2, len(packed) - 1))
    with pytest.raises(InputError, match="ends too early"):
        list(Source.open(packed[:cut]).blocks())


def test_a_wrong_checksum_is_an_error() -> None:
    packed = bytearray(gzip.compress(b"301 Q0 d1 1 1 t\n"))
    packed[-6] ^= 1
    with pytest.raises(InputError, match="damaged"):
        list(Source.open(bytes(packed)).blocks())


def test_a_pipe_is_read_once_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(b"abc\n")))
    writer.start()
    source = Source.open(path)
    writer.join()
    assert source.is_compressed
    assert [list(source.blocks()) for _ in range(2)] == [[b"abc\n"], [b"abc\n"]]


def test_raw_deflate_is_not_mistaken_for_text() -> None:
    with pytest.raises(InputError):
        list(Source.open(b"\x1f\x8b" + zlib.compress(b"abc")).blocks())


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz"])
def test_empty_members_cost_no_more_than_their_own_bytes(
    packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier version copied the rest of the block for each of thousands of members."""
    pack = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}[packing]
    members = pack(b"") * 3000 + pack(b"1 Q0 d 1 1 t\n")
    n_bytes = 0
    original = compression._member_factory

    def factory(*arguments: str) -> Any:
        new_member, error = original(*arguments)
        return lambda: counted(new_member()), error

    def counted(member: Any) -> Any:
        more = member.feed

        def counting(data: bytes, size: int) -> bytes:
            nonlocal n_bytes
            n_bytes += len(data)
            return more(data, size)

        member.feed = counting
        return member

    monkeypatch.setattr(compression, "_member_factory", factory)
    assert b"".join(Source.open(members).blocks()) == b"1 Q0 d 1 1 t\n"
    assert n_bytes < 20 * len(members)


def test_members_of_a_zstd_file_share_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each context takes 160 kB: creating one per member took most of the time."""
    contexts = []
    original = zstandard.ZstdDecompressor
    monkeypatch.setattr(zstandard, "ZstdDecompressor", lambda: contexts.append(original()) or contexts[-1])
    members = b"".join(map(zstandard.compress, (b"1 Q0 ", b"", b"d 1 1 t\n")))
    assert b"".join(Source.open(members).blocks()) == b"1 Q0 d 1 1 t\n"
    assert len(contexts) == 1


def test_the_first_repetition_in_json_is_named() -> None:
    for names, repeated in (("abba", "b"), ("aa", "a"), ("abcdb", "b")):
        data = "{" + ", ".join(f'"{name}": 1' for name in names) + "}"
        with pytest.raises(InputError, match=f"'{repeated}' occurs twice"):
            parse_json(data.encode(), "x.json", "write it again")


def test_a_repeated_name_in_json_is_found_in_one_pass() -> None:
    """Counting each name in the list of all names once took 20 s for 20,000 names."""
    names = [f'"{i}": 1' for i in range(200_000)]
    data = ("{" + ", ".join([*names, '"199999": 2']) + "}").encode()
    start = time.process_time()
    with pytest.raises(InputError, match="'199999' occurs twice"):
        parse_json(data, "x.json", "write it again")
    assert time.process_time() - start < 10
