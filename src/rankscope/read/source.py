"""Sources of bytes: plain and compressed files, standard input, bytes in memory.

A source is read in blocks, can be read again, and has a label for messages. A file that changes while it is read is an
error, because the result would mix two versions.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rankscope.errors import InputError
from rankscope.progress import advance
from rankscope.read.compression import BLOCK, decompress, detect_compression
from rankscope.read.limits import FREE_OBJECTS, check_decompressed_size, line_too_long, longest_line

_MAX_BUFFER = 1 << 25  # bytes of a pipe that are kept in memory; more goes to a temporary file
HEAD = 1 << 13  # bytes that decide the format; a NUL byte in them means binary data, as in grep and git


class Source(NamedTuple):
    """A source of bytes; ``data`` holds the content if it is not in a file.

    >>> list(Source.open(b"301 0 d1 1").blocks())
    [b'301 0 d1 1']
    """

    label: str
    path: Path | None
    data: bytes | None
    size: int
    compression: str
    """``gzip``, ``bzip2``, ``xz`` or ``zstd``, detected by the first bytes; empty for a plain file."""
    stamp: tuple[int, ...] = ()
    """Identity and version of the file: device, inode, size, time of the last change."""
    first: bytes = b""
    """First bytes of the file, compressed or not; empty for other sources."""
    start: int = 0
    stop: int | None = None
    """Bytes of a plain file that the source has, if it is a part of the file."""

    @classmethod
    def open(cls, source: str | Path | bytes, label: str = "<bytes>") -> Source:
        """Open a path, ``-`` for standard input, or bytes, which ``label`` names in messages."""
        if isinstance(source, bytes):
            return cls(label, None, source, len(source), detect_compression(source))
        if str(source) == "-":
            return cls.open(_spool(sys.stdin.buffer, "standard input"), "standard input")
        if source == "":  # as a path it would be the working directory
            raise InputError("the name of a file is empty", hint="name a file, or - for standard input")
        path = expand_path(source)
        try:
            with path.open("rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or not status.st_size:
                    # A pipe can be read only once, and files in /proc report size 0.
                    return cls.open(_spool(file, str(path)), str(path))
                first = file.read(HEAD)
                label = _SPOOLED.get(path, str(path))
                compression = detect_compression(first)
                return cls(label, path, None, status.st_size, compression, _stamp(status), first)
        except OSError as error:
            if path.is_dir():  # may be a partitioned table; reading it as text is an error
                return cls(str(path), path, None, 0, "")
            raise read_error(error, str(path)) from None

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
        return self.path is not None and not self.stamp

    @property
    def is_compressed(self) -> bool:
        """Whether the content is compressed."""
        return bool(self.compression)

    def blocks(self) -> Iterator[bytes]:
        """Yield the decompressed text in blocks; reject binary data."""
        first = not self.start
        for block in self.data_blocks():
            yield check_head(block, self.label) if first else block
            first = False

    def line_blocks(self, *, in_memory: bool = False) -> Iterator[bytes]:
        r"""Yield the text in blocks; reject lines longer than the limit.

        ``in_memory`` applies the lower limit of decompressed content that the caller keeps in memory.

        >>> list(Source.open(b"a\nbc\n").line_blocks())
        [b'a\nbc\n']
        """
        limit, current = longest_line(), 0  # ``current``: bytes of the current line in earlier blocks
        for number, block in enumerate(self.memory_blocks() if in_memory else self.blocks()):
            newline = block.find(b"\n")
            if current + (len(block) if newline < 0 else newline) > limit:
                # Lines are only counted here, because that takes as long as scanning them.
                line = 1 + sum(earlier.count(b"\n") for earlier in islice(self.blocks(), number))
                problem, hint = line_too_long()
                raise InputError(problem, path=self.label, line=line, hint=hint)
            current = current + len(block) if newline < 0 else len(block) - 1 - block.rfind(b"\n")
            yield block

    def memory_blocks(self, *, text: bool = True) -> Iterator[bytes]:
        """Yield blocks of content that the caller keeps in memory, with a lower limit of its decompressed size."""
        content = 0
        for block in self.blocks() if text else self.data_blocks():
            content += len(block)
            if self.compression:
                check_decompressed_size(content, self.size, self.label, FREE_OBJECTS)
            yield block

    def data_blocks(self) -> Iterator[bytes]:
        """Yield the decompressed content in blocks, text or not."""
        return decompress(self._raw(), self.compression, self.label) if self.compression else self._raw()

    def head(self) -> bytes:
        """Return the first bytes of the decompressed content, enough to detect its format."""
        if self.first and not (self.compression or self.start or self.stop):
            return self.first
        head = b""
        for block in self.data_blocks():
            head += block  # members of a compressed file may be small
            if len(head) >= HEAD:
                break
        return head[:HEAD]

    def _raw(self) -> Iterator[bytes]:
        if self.data is not None:
            for start in range(0, len(self.data), BLOCK):
                yield self.data[start : start + BLOCK]
            return
        assert self.path is not None
        try:
            with self.path.open("rb", buffering=0) as file:
                position, stop = self.start, self.size if self.stop is None else self.stop
                file.seek(position)
                while block := file.read(min(BLOCK, stop - position)):
                    advance(len(block))
                    position += len(block)
                    yield block
                if _stamp(os.fstat(file.fileno())) != self.stamp or position != stop:
                    raise self.changed()
        except OSError as error:
            raise read_error(error, self.label) from None

    def part(self, start: int, stop: int | None) -> Source:
        """Return the bytes between two offsets of a plain file."""
        return self._replace(start=start, stop=stop)

    def is_unchanged(self) -> bool:
        """Return whether the file has not been replaced or modified."""
        if self.path is None:
            return True
        try:
            return _stamp(self.path.stat()) == self.stamp
        except OSError:
            return False

    def changed(self) -> InputError:
        """Return the error for a file that changed."""
        hint = "wait until nothing writes to it, and try again"
        return InputError("the file changed while it was read", path=self.label, hint=hint)


def expand_path(name: str | Path) -> Path:
    """Return the path with ``~`` expanded, unless a file of this name exists.

    >>> expand_path("bm25.run").name
    'bm25.run'
    """
    path = Path(name)
    if str(name).startswith("~") and not path.exists():
        try:
            return path.expanduser()
        except RuntimeError:  # unknown user
            return path
    return path


def match_single_file(name: str | Path) -> str | Path:
    """Return the single file that matches a pattern; return a name that is no pattern unchanged."""
    path = expand_path(name)
    if str(name) == "-" or not glob.has_magic(str(path)) or path.exists():
        return name
    matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (patterns may be absolute)
    if len(matches) == 1:
        return Path(matches[0])
    problem = f"{len(matches)} files match this pattern" if matches else "no file matches this pattern"
    hint = f"name one of them, such as {matches[0]}" if matches else "check the pattern"
    raise InputError(problem, path=path, hint=hint)


def is_file(name: str | Path) -> bool:
    """Return whether a text is the path of a file; invalid paths are not."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # too long, or invalid characters
        return False


_SPOOLED: dict[Path, str] = {}
"""Labels of the temporary files of :func:`_spool`."""


def is_spooled(source: Path) -> bool:
    """Return whether this is a temporary file of :func:`_spool`."""
    return source in _SPOOLED


def _spool(file: BinaryIO | FileIO, label: str) -> bytes | Path:
    """Copy standard input or a pipe, which can be read only once, so that it can be read again.

    Small content is kept in memory, more in a temporary file, which is removed when the program ends.
    """
    blocks: list[bytes] = []
    size = 0
    while size < _MAX_BUFFER:
        block = file.read(BLOCK)
        if not block:
            return b"".join(blocks)
        blocks.append(block)
        size += len(block)
    import atexit
    import tempfile

    handle, name = tempfile.mkstemp(prefix="rankscope-")
    path = Path(name)
    atexit.register(path.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as copy:
        copy.writelines(blocks)
        blocks.clear()
        while block := file.read(BLOCK):
            advance(len(block))
            copy.write(block)
    _SPOOLED[path] = label
    return path


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def check_head(block: bytes, label: str) -> bytes:
    """Return the first block of a text without its byte order mark; reject binary data."""
    if b"\0" in block[:HEAD]:
        hint = "give a text file, plain or compressed, in UTF-8 or ASCII"
        raise InputError("this is a binary file", path=label, hint=hint)
    return block.removeprefix(BOM_UTF8)


def whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    r"""Yield the same text in blocks of whole lines; the last line gets a newline if it lacks one.

    >>> list(whole_lines(iter([b"a\nb", b"c", b"\nd"])))
    [b'a\n', b'bc\n', b'd\n']
    """
    incomplete: list[bytes] = []  # pieces of the current line
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*incomplete, block[:end]]) if incomplete else block[:end]
            incomplete = []
        if end < len(block):
            incomplete.append(block[end:])
    if incomplete:
        yield b"".join([*incomplete, b"\n"])


def iterate_lines(blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yield the number of every line, from 1 on, and its text without the newline.

    >>> list(iterate_lines(iter([b"a\nb", b"c"])))
    [(1, b'a'), (2, b'bc')]
    """
    number = 0
    for block in whole_lines(blocks):
        lines = block.split(b"\n")[:-1]
        yield from enumerate(lines, number + 1)
        number += len(lines)


def read_bytes(source: str | Path | bytes) -> bytes:
    """Return the whole content of a source, decompressed."""
    return b"".join(Source.open(source).blocks())


def read_error(error: OSError, name: str) -> InputError:
    """Return the error for a file that the operating system cannot read."""
    if isinstance(error, FileNotFoundError):
        problem, hint = "no such file", "check the path"
    elif isinstance(error, IsADirectoryError):
        problem, hint = "this is a directory", "name a file in it"
    elif isinstance(error, PermissionError):
        problem, hint = "no permission to read it", "change its permissions"
    else:
        problem, hint = error.strerror or "cannot be read", "check the path"
    return InputError(problem, path=name, hint=hint)
