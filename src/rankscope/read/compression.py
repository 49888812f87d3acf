"""Decompress gzip, bzip2, xz and zstd, detected by their first bytes, in blocks of bounded size.

Files may have several members (streams, frames), as ``cat a.gz b.gz`` writes them, and zeros after the last.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from rankscope.errors import InputError, MissingDependencyError, require_package
from rankscope.read.limits import check_decompressed_size

BLOCK = 1 << 18
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_BZIP2_NEXT = (b"1AY&SY", b"\x17rE8P\x90")  # the start of a block, or of the footer of an empty file
LONGEST_MAGIC = 10
_FIRST_PORTION = 1 << 8  # bytes of input for a new member
_ZSTD_PORTION = 1 << 10  # bytes of input at a time, which decompress to at most 32 MB
_ZEROS = re.compile(rb"\0*")


def detect_compression(head: bytes) -> str:
    """Return the compression of content that starts with these bytes; empty if it is not compressed.

    >>> import bz2
    >>> detect_compression(bz2.compress(b"301 Q0 d1 1 2 t")), detect_compression(b"BZh9 Q0 d1 1 2 t")
    ('bzip2', '')
    """
    for magic, packing in _MAGIC.items():
        if head.startswith(magic):
            return packing if packing != "bzip2" or head[4:].startswith(_BZIP2_NEXT) else ""
    return ""


class _Member:
    """Decompressor of one member of a file; bz2 and lzma buffer unused input themselves, zlib returns it."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self.rest, self.has_ended = b"", False

    def feed(self, data: bytes, max_size: int) -> bytes:
        """Return up to ``max_size`` bytes of content; unused input is in ``rest``."""
        block: bytes = self._state.decompress(data, max_size)
        self.has_ended = self._state.eof
        self.rest = (
            self._state.unused_data if self.has_ended else getattr(self._state, "unconsumed_tail", b"")
        )
        return block


class _Zstd(_Member):
    """Decompressor of zstandard; it cannot limit its output, so that it gets little input at a time."""

    _pending = b""

    def feed(self, data: bytes, max_size: int) -> bytes:
        self.rest = data
        if not self._pending and data:
            self._pending = self._state.decompress(data[:_ZSTD_PORTION])
            self.rest = self._state.unused_data + data[_ZSTD_PORTION:]
        block, self._pending = self._pending[:max_size], self._pending[max_size:]
        self.has_ended = self._state.eof and not self._pending
        return block


def decompress(raw: Iterator[bytes], compression: str, label: str) -> Iterator[bytes]:
    """Yield the content of all members in blocks of at most ``BLOCK`` bytes.

    A member gets little input first, and then twice as much each time: unused input is copied, and a block of the file
    may have thousands of members.
    """
    new_member, error = _member_factory(compression, label)
    member = new_member()
    data, position, is_full, portion = b"", 0, False, _FIRST_PORTION
    compressed = content = 0
    for chunk in raw:
        data, position = data[position:] + chunk, 0
        compressed += len(chunk)
        while position < len(data) or is_full:
            if member.has_ended:
                position = _ZEROS.match(data, position).end()  # type: ignore[union-attr] # always matches
                if len(data) - position < 2:
                    break
                member, portion = new_member(), _FIRST_PORTION
            fed = data[position : position + portion]
            try:
                block = member.feed(fed, BLOCK)
            except (error, ValueError):
                raise _damaged_error(f"the {compression} data is damaged", label) from None
            position += len(fed) - len(member.rest)  # may decrease: the rest can include earlier input
            portion = min(2 * portion, BLOCK)
            is_full = len(block) == BLOCK and not member.has_ended  # more may follow without more input
            if block:
                content += len(block)
                check_decompressed_size(content, compressed, label)
                yield block
    if position < len(data):
        raise _damaged_error(f"the {compression} data is damaged", label)
    if not member.has_ended:
        raise _damaged_error(f"the {compression} data ends too early", label)


def _member_factory(compression: str, label: str) -> tuple[Callable[[], _Member], type[Exception]]:
    """Return a function that starts a member, and the error of damaged data."""
    if compression == "gzip":
        return lambda: _Member(zlib.decompressobj(wbits=31)), zlib.error
    if compression == "zstd":
        with require_package("zstandard", "zstd", "files compressed with zstd", path=label):
            import zstandard

        # All members share a context: a file may have thousands, and each context takes 160 kB.
        context = zstandard.ZstdDecompressor()
        return lambda: _Zstd(context.decompressobj()), zstandard.ZstdError
    try:  # Imported on use: the modules are slow to import, and Python can be compiled without them.
        if compression == "bzip2":
            from bz2 import BZ2Decompressor

            return lambda: _Member(BZ2Decompressor()), OSError
        from lzma import LZMADecompressor, LZMAError

        return lambda: _Member(LZMADecompressor()), LZMAError
    except ImportError:
        hint = "decompress the file first, or use a Python that has it"
        raise MissingDependencyError(f"this Python has no {compression}", path=label, hint=hint) from None


def _damaged_error(problem: str, label: str) -> InputError:
    return InputError(problem, path=label, hint="copy or download the file again")
