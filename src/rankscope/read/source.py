"""A text source in blocks of bytes: a file, plain or packed, standard input, bytes in memory.

Whatever its size and packing, a source is read piece by piece, can be read again, and knows how messages
name it. A file that somebody changes while it is read is refused: half of one run and half of another would be a
run that nobody made.
"""

from __future__ import annotations

import glob
import os
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rankscope.errors import InputError
from rankscope.progress import advance
from rankscope.read.limits import FREE_OBJECTS, check_unpacked, with_short_lines
from rankscope.read.packing import BLOCK, LONGEST_MAGIC, packing_of, unpacked

__all__ = [
    "BLOCK",
    "HEAD",
    "Source",
    "checked_head",
    "hold",
    "is_held",
    "named_path",
    "only_file",
    "read_bytes",
    "unreadable",
    "whole_lines",
]

_IN_MEMORY = 1 << 25  # bytes of a pipe that need no temporary file
HEAD = 1 << 13  # where a NUL byte tells that a file is no text, as grep and git decide it


class Source(NamedTuple):
    """Where a text comes from. ``data`` holds it when it cannot be read twice; else it stays in the file.

    >>> list(Source.of(b"301 0 d1 1").blocks())
    [b'301 0 d1 1']
    """

    label: str
    path: Path | None
    data: bytes | None
    size: int
    packing: str
    """``gzip``, ``bzip2``, ``xz`` or ``zstd``, by the first bytes and not by the name; empty if it is plain."""
    stamp: tuple[int, ...] = ()
    """Which file it is, how long, and when it was last written."""

    @classmethod
    def of(cls, source: str | Path | bytes, label: str = "<bytes>") -> Source:
        """A path, ``-`` for standard input, or the bytes themselves, which ``label`` names."""
        if isinstance(source, bytes):
            return cls(label, None, source, len(source), packing_of(source))
        if str(source) == "-":
            return cls.of(hold("-"), "standard input")
        if source == "":  # as a path it would be the working directory
            raise InputError("the name of a file is empty", hint="name a file, or - for standard input")
        path = named_path(source)
        try:
            with path.open("rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or not status.st_size:
                    # a pipe can be read only once, and some files of the system do not know their size
                    return cls.of(_held(file, str(path)), str(path))
                packing = packing_of(file.read(LONGEST_MAGIC))
                return cls(_SPOOLED.get(path, str(path)), path, None, status.st_size, packing, _stamp(status))
        except OSError as error:
            if path.is_dir():  # a table in parts may be one; who reads it as a text is told
                return cls(str(path), path, None, 0, "")
            raise unreadable(error, str(path)) from None

    @property
    def is_directory(self) -> bool:
        """Whether it is no file at all."""
        return self.path is not None and not self.stamp

    @property
    def packed(self) -> bool:
        """Whether the text must be unpacked."""
        return bool(self.packing)

    def blocks(self) -> Iterator[bytes]:
        """The unpacked text in pieces; the first is checked to be text."""
        first = True
        for block in self.data_blocks():
            yield checked_head(block, self.label) if first else block
            first = False

    def line_blocks(self, *, held: bool = False) -> Iterator[bytes]:
        """The same of a text that is read line by line, none of them longer than the limit; ``held`` in memory."""
        return with_short_lines(self.held_blocks() if held else self.blocks(), self.label)

    def held_blocks(self, *, text: bool = True) -> Iterator[bytes]:
        """Return the blocks of content that is held in memory as a whole: a packed one has less free space."""
        content = 0
        for block in self.blocks() if text else self.data_blocks():
            content += len(block)
            if self.packing:
                check_unpacked(content, self.size, self.label, FREE_OBJECTS)
            yield block

    def data_blocks(self) -> Iterator[bytes]:
        """The unpacked content in pieces, whatever it is."""
        return unpacked(self._raw(), self.packing, self.label) if self.packing else self._raw()

    def head(self) -> bytes:
        """The first bytes of the unpacked content, a few thousand: enough to see what it is."""
        if self.packing:
            found = b""
            for block in unpacked(self._raw(), self.packing, self.label, HEAD):
                found += block  # members may be small, and follow each other
                if len(found) >= HEAD:
                    break
            return found[:HEAD]
        if self.data is not None:
            return self.data[:HEAD]
        assert self.path is not None
        try:
            with self.path.open("rb", buffering=0) as file:
                return file.read(HEAD)
        except OSError as error:
            raise unreadable(error, self.label) from None

    def _raw(self) -> Iterator[bytes]:
        if self.data is not None:
            for start in range(0, len(self.data), BLOCK):
                yield self.data[start : start + BLOCK]
            return
        assert self.path is not None
        try:
            with self.path.open("rb", buffering=0) as file:
                while block := file.read(BLOCK):
                    advance(len(block))
                    yield block
                self.check_read(file, self.size)
        except OSError as error:
            raise unreadable(error, self.label) from None

    def check_read(self, file: FileIO, until: int) -> None:
        """An error if an open file is not the one that was named any more, or does not reach as far as it did."""
        if _stamp(os.fstat(file.fileno())) != self.stamp or file.tell() != until:
            raise self.changed()

    def is_unchanged(self) -> bool:
        """Whether a file that is not open is still the one that was named."""
        if self.path is None:
            return True
        try:
            return _stamp(self.path.stat()) == self.stamp
        except OSError:
            return False

    def check_unchanged(self) -> None:
        """An error if it is not."""
        if not self.is_unchanged():
            raise self.changed()

    def changed(self) -> InputError:
        """What to say about a file that changed."""
        hint = "wait until nothing writes to it, and try again"
        return InputError("the file changed while it was read", path=self.label, hint=hint)


def named_path(name: str | Path) -> Path:
    """The path that a text names: ``~`` is the home of the user, unless there is a file of this name.

    >>> named_path("bm25.run").name
    'bm25.run'
    """
    path = Path(name)
    if str(name).startswith("~") and not path.exists():
        try:
            return path.expanduser()
        except RuntimeError:  # there is no such user
            return path
    return path


def only_file(name: str | Path) -> str | Path:
    """The only file that matches, if this is a pattern and no file; else the name as it is."""
    path = named_path(name)
    if str(name) == "-" or not glob.has_magic(str(path)) or path.exists():
        return name
    found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (patterns may be absolute)
    if len(found) == 1:
        return Path(found[0])
    what = f"{len(found)} files match this pattern" if found else "no file matches this pattern"
    hint = f"name one of them, such as {found[0]}" if found else "check the pattern"
    raise InputError(what, path=path, hint=hint)


_SPOOLED: dict[Path, str] = {}
"""Temporary files that hold what can be read only once, and what messages call them."""


def hold(source: str | Path) -> bytes | Path:
    """What can be read only once (``-``: standard input; a pipe), so that it can be read again.

    A little is kept in memory, and more in a temporary file, which is removed when the program ends.
    """
    if str(source) == "-":
        return _held(sys.stdin.buffer, "standard input")
    try:
        with Path(source).open("rb", buffering=0) as file:
            return _held(file, str(source))
    except OSError as error:
        raise unreadable(error, str(source)) from None


def is_held(source: Path) -> bool:
    """Whether this is a temporary file of :func:`hold`."""
    return source in _SPOOLED


def _held(file: BinaryIO | FileIO, label: str) -> bytes | Path:
    blocks: list[bytes] = []
    size = 0
    while size < _IN_MEMORY:
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
    with os.fdopen(handle, "wb") as spool:
        spool.writelines(blocks)
        blocks.clear()
        while block := file.read(BLOCK):
            advance(len(block))
            spool.write(block)
    _SPOOLED[path] = label
    return path


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def checked_head(block: bytes, label: str) -> bytes:
    """The first block of a text without its byte order mark; an error if it is no text at all."""
    if b"\0" in block[:HEAD]:
        raise InputError(
            "this is a binary file", path=label, hint="give a text file, plain or packed, in UTF-8 or ASCII"
        )
    return block.removeprefix(BOM_UTF8)


def whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    r"""The same text cut after newlines; the last line gets one if it has none.

    >>> list(whole_lines(iter([b"a\nb", b"c", b"\nd"])))
    [b'a\n', b'bc\n', b'd\n']
    """
    begun: list[bytes] = []  # pieces of a line that is not complete
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*begun, block[:end]]) if begun else block[:end]
            begun = []
        if end < len(block):
            begun.append(block[end:])
    if begun:
        yield b"".join([*begun, b"\n"])


def read_bytes(source: str | Path | bytes) -> bytes:
    """The whole content of a source, unpacked if it is packed (decided by its first bytes, not by its name)."""
    return b"".join(Source.of(source).blocks())


def unreadable(error: OSError, name: str) -> InputError:
    """What the operating system says about a file, as one of our errors."""
    return InputError(_why_unreadable(error), path=name, hint=_remedy(error))


def _why_unreadable(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a directory"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return error.strerror or "cannot be read"


def _remedy(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "name a file in it"
    if isinstance(error, PermissionError):
        return "change its permissions"
    return "check the path"
