"""Packed files: gzip, bzip2, xz and zstd, known by their first bytes and unpacked in bounded pieces.

Members (streams, frames) may follow each other, as ``cat a.gz b.gz`` writes them; zeros may pad the end of the last.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

from rankscope.errors import InputError, MissingDependencyError
from rankscope.read.limits import check_unpacked

__all__ = ["BLOCK", "LONGEST_MAGIC", "packing_of", "unpacked"]

BLOCK = 1 << 18
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_BZIP2_NEXT = (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end of a file without any
LONGEST_MAGIC = 10
_FIRST_PORTION = 1 << 8  # bytes that a member is given first
_PORTION = 1 << 10  # of zstd: at most 32 MB of content
_ZEROS = re.compile(rb"\0*")


def packing_of(head: bytes) -> str:
    """How something is packed that begins with these bytes; empty if it is not.

    >>> import bz2
    >>> packing_of(bz2.compress(b"301 Q0 d1 1 2 t")), packing_of(b"BZh9 Q0 d1 1 2 t")
    ('bzip2', '')
    """
    for magic, packing in _MAGIC.items():
        if head.startswith(magic):
            return packing if packing != "bzip2" or head[4:].startswith(_BZIP2_NEXT) else ""
    return ""


class _Member(Protocol):
    """One member of a packed file, while it is unpacked."""

    def more(self, data: bytes, most: int) -> bytes:
        """Up to ``most`` bytes of its content; what is not used of the data is in ``rest``."""

    rest: bytes
    ended: bool


class _Gzip:
    def __init__(self) -> None:
        self._state = zlib.decompressobj(wbits=31)
        self.rest, self.ended = b"", False

    def more(self, data: bytes, most: int) -> bytes:
        block = self._state.decompress(data, most)
        self.ended = self._state.eof
        self.rest = self._state.unused_data if self.ended else self._state.unconsumed_tail
        return block


class _Buffered:
    """Those of bz2 and lzma, which keep what they have not used until there is room for it."""

    def __init__(self, packing: str, label: str) -> None:
        self._state: Any
        self._error: type[Exception]
        try:  # both take a while to load, and Python can be compiled without either
            if packing == "bzip2":
                from bz2 import BZ2Decompressor

                self._state, self._error = BZ2Decompressor(), OSError
            else:
                from lzma import LZMADecompressor, LZMAError

                self._state, self._error = LZMADecompressor(), LZMAError
        except ImportError:
            hint = "unpack the file first, or use a Python that has it"
            raise MissingDependencyError(f"this Python has no {packing}", path=label, hint=hint) from None
        self.rest, self.ended = b"", False

    def more(self, data: bytes, most: int) -> bytes:
        try:
            block: bytes = self._state.decompress(data, most)
        except self._error as error:
            raise ValueError(str(error)) from None
        self.ended = self._state.eof
        self.rest = self._state.unused_data if self.ended else b""
        return block


class _Zstd:
    """The package gives all content of what it is given, so that it is given little at a time."""

    def __init__(self, label: str) -> None:
        try:
            import zstandard
        except ImportError:
            missing = MissingDependencyError.for_package("zstandard", "zstd", "files packed with zstd")
            raise MissingDependencyError(missing.message, path=label, hint=missing.hint) from None
        self._error = zstandard.ZstdError
        self._state = zstandard.ZstdDecompressor().decompressobj()
        self._found = b""
        self.rest, self.ended = b"", False

    def more(self, data: bytes, most: int) -> bytes:
        self.rest = data
        if not self._found and data:
            try:
                self._found = self._state.decompress(data[:_PORTION])
            except self._error as error:
                raise ValueError(str(error)) from None
            self.rest = self._state.unused_data + data[_PORTION:]
        block, self._found = self._found[:most], self._found[most:]
        self.ended = self._state.eof and not self._found
        return block


def unpacked(raw: Iterator[bytes], packing: str, label: str, most: int = BLOCK) -> Iterator[bytes]:
    """The content of the members one after the other, in pieces of at most so many bytes.

    A member is given a little of the data first, and then twice as much each time: what it does not use is copied, and
    there may be thousands of members in a block.
    """
    member = _member(packing, label)
    data, at, full, portion = b"", 0, False, _FIRST_PORTION
    packed = content = 0
    for chunk in raw:
        data, at = data[at:] + chunk, 0
        packed += len(chunk)
        while at < len(data) or full:
            if member.ended:
                at = _ZEROS.match(data, at).end()  # type: ignore[union-attr] # it matches everywhere
                if len(data) - at < 2:
                    break
                member, portion = _member(packing, label), _FIRST_PORTION
            taken = data[at : at + portion]
            try:
                block = member.more(taken, most)
            except (zlib.error, ValueError):
                raise _damaged(f"the {packing} data is damaged", label) from None
            at += len(taken) - len(member.rest)  # less than before if it returns what it was given earlier
            portion = min(2 * portion, BLOCK)
            full = len(block) == most and not member.ended  # more may come without more input
            if block:
                content += len(block)
                check_unpacked(content, packed, label)
                yield block
    if at < len(data):
        raise _damaged(f"the {packing} data is damaged", label)
    if not member.ended:
        raise _damaged(f"the {packing} data ends too early", label)


def _member(packing: str, label: str) -> _Member:
    if packing == "gzip":
        return _Gzip()
    if packing == "zstd":
        return _Zstd(label)
    return _Buffered(packing, label)


def _damaged(what: str, label: str) -> InputError:
    return InputError(what, path=label, hint="copy or download the file again")
