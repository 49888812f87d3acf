"""Judgments and plain run files that are read while the program still loads what evaluates them.

The library needs neither numpy nor the lock of the interpreter. A command whose arguments are known lets it begin;
whoever comes to a file later asks whether it has been read already. What has not been begun by then, is not as usual,
or has changed in between, is read as if nothing had been ahead, so that results and messages are the same.
"""

from __future__ import annotations

import ctypes as c
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rankscope.engines.machine import cores
from rankscope.engines.threads import Background
from rankscope.native.cuts import topic_cuts
from rankscope.native.judgments import LARGEST, InOrder, Judgments, judgments_in
from rankscope.native.scanner import Table, library

__all__ = [
    "Part",
    "Wanted",
    "judgments_read",
    "parts_read",
    "reading_ahead",
    "table_of",
]

_MOST_PARTS = 1 << 16
_PIECE = 8 << 20  # bytes of a large file that are scanned as one part
_MOST_PIECES = 16
_FEW_FILES = 4  # so few that threads could not share them evenly
_FOR_A_THREAD = 4 << 20  # bytes that are worth a thread of their own
_BUSY, _DONE = 1, 2

Stamp = tuple[int, ...]
"""Which file it is, how long, and when it was last written: device, inode, size, time."""


class Wanted(NamedTuple):
    """The number of the ordering, and whether hits come with their ties."""

    order: int
    ties: bool


class Part:
    """A part of a file that may have been scanned."""

    def __init__(self, ahead: _Ahead, number: int, start: int, stop: int) -> None:
        self._ahead, self._number = ahead, number
        self.start, self.stop = start, stop

    def scan(self) -> int | None:
        """The scan of the library, if it is done; else nobody else will scan the part from now on.

        A part that is being scanned is waited for. No other one is begun any more: who asks has begun to scan.
        """
        return self._ahead.scan_of(self._number)


class _Ahead:
    """What is being read."""

    def __init__(
        self,
        loaded: c.CDLL,
        qrels: Stamp,
        judgments: Judgments,
        files: Sequence[_File],
        wanted: Wanted,
        jobs: int,
    ) -> None:
        self.qrels, self.judgments, self.wanted = qrels, judgments, wanted
        self.table = judgments.table()
        self.parts: dict[Stamp, list[Part]] = {}
        spans = [(file, start, stop) for file in files for start, stop in file.spans]
        for number, (file, start, stop) in enumerate(spans):
            self.parts.setdefault(file.stamp, []).append(Part(self, number, start, stop))
        self._stamps = [file.stamp for file, _, _ in spans]
        count = len(spans)
        self._library = loaded
        self._handle = loaded.rs_ahead_new(
            self.table.handle, wanted.order, wanted.ties, count,
            (c.c_char_p * count)(*(os.fsencode(file.path) for file, _, _ in spans)),
            (c.c_int64 * count)(*(start for _, start, _ in spans)),
            (c.c_int64 * count)(*(stop for _, _, stop in spans)),
            (c.c_int64 * count)(*(file.stamp[2] for file, _, _ in spans)),
        )  # fmt: skip
        self._jobs = jobs
        size = sum(stop - start for _, start, stop in spans)
        many = min(jobs, cores() - 1, count, size // _FOR_A_THREAD + 1) if self._handle else 0
        self._scanning = Background(self._run, many)

    def _run(self) -> None:
        self._library.rs_ahead_run(self._handle)

    def begin(self) -> None:
        self._scanning.start()

    def end(self) -> None:
        """Nobody asks any more."""
        if self._handle:
            self._library.rs_ahead_stop(self._handle, 1)
            self._scanning.wait()
            self._library.rs_ahead_free(self._handle)
            self._handle = None

    def scan_of(self, number: int) -> int | None:
        if not self._handle:
            return None
        self._library.rs_ahead_stop(self._handle, 0)
        state = self._library.rs_ahead_claim(self._handle, number)
        if state == _BUSY or self._jobs == 1:
            self._scanning.wait()
            state = self._library.rs_ahead_claim(self._handle, number)
        if state != _DONE:
            return None
        stamp = (c.c_uint64 * 4)()
        scan: int | None = self._library.rs_ahead_scan(self._handle, number, stamp)
        return scan if tuple(stamp) == self._stamps[number] else None


class _File(NamedTuple):
    path: str
    stamp: Stamp
    spans: list[tuple[int, int]]


_current: _Ahead | None = None


@contextmanager
def reading_ahead(
    qrels: str, runs: Sequence[str], in_order: InOrder, wanted: Wanted, jobs: int | None
) -> Iterator[None]:
    """While the body runs, judgments and runs that are plain files are read already, by up to so many threads."""
    global _current
    found = _begun(qrels, runs, in_order, wanted, jobs)
    try:
        if found is not None:
            found.begin()
        _current = found
        yield
    finally:
        _current = None
        if found is not None:
            found.end()


def judgments_read(stamp: Stamp) -> Judgments | None:
    """The judgments of a file, if they have been read."""
    return _current.judgments if _current is not None and _current.qrels == stamp else None


def table_of(loaded: c.CDLL, topics: Sequence[str], documents: list[bytes]) -> Table | None:
    """The table of these documents, if they are those of the judgments that were read."""
    if _current is None or loaded is not _current.table.library:
        return None
    same = tuple(topics) == _current.judgments.topics and documents == _current.judgments.documents
    return _current.table if same else None


def parts_read(table: Table, wanted: Wanted, stamp: Stamp) -> list[Part] | None:
    """The parts of a file that are being scanned with this table, in their order; None if it is not among the files."""
    if _current is None or _current.table is not table or _current.wanted != wanted:
        return None
    return _current.parts.get(stamp)


def _begun(
    qrels: str, runs: Sequence[str], in_order: InOrder, wanted: Wanted, jobs: int | None
) -> _Ahead | None:
    """What can be read ahead; None if nothing can."""
    if cores() < 2 or (jobs or 0) < 0:
        return None
    try:
        judged = _text_of(qrels)
        judgments = judgments_in(judged[1].removeprefix(BOM_UTF8), in_order) if judged is not None else None
        loaded = library()
        if judged is None or judgments is None or loaded is None or not hasattr(loaded, "rs_ahead_new"):
            return None
        return _Ahead(loaded, judged[0], judgments, _files_of(runs), wanted, jobs or cores())
    except (OSError, ValueError, MemoryError):  # whoever reads the files says what is wrong
        return None


def _text_of(path: str) -> tuple[Stamp, bytes] | None:
    """A plain file of judgments, if it is one and not changing."""
    if not os.path.isfile(path):  # noqa: PTH113 (a pipe must not be opened)
        return None
    with Path(path).open("rb", buffering=0) as file:
        stamp = _stamp(os.fstat(file.fileno()))
        if not 0 < stamp[2] < LARGEST:
            return None
        text = file.read(stamp[2] + 1)
        return (stamp, text) if len(text) == stamp[2] and _stamp(os.fstat(file.fileno())) == stamp else None


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _files_of(names: Sequence[str]) -> list[_File]:
    """The files that names of runs stand for, as far as that is plain."""
    found: list[tuple[str, os.stat_result]] = []
    for name in names:
        status = _status(name)
        if status is not None and stat.S_ISDIR(status.st_mode):
            inside = sorted(entry.path for entry in os.scandir(name) if not entry.name.startswith("."))
            found += [(path, inner) for path in inside if (inner := _status(path)) is not None]
        elif status is not None:
            found.append((name, status))
    few = len(found) <= _FEW_FILES
    return [
        _File(path, _stamp(status), _spans(path, status.st_size, few))
        for path, status in found[:_MOST_PARTS]
        if stat.S_ISREG(status.st_mode) and status.st_size
    ]


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 (names are text here)
    except (OSError, ValueError):
        return None


def _spans(path: str, size: int, few: bool) -> list[tuple[int, int]]:
    """A file whole or, if there are few and it is large, in pieces."""
    pieces = min(size // _PIECE, _MOST_PIECES) if few else 1
    cuts = topic_cuts(Path(path), size, pieces) if pieces > 1 else []
    return list(zip([0, *cuts], [*cuts, size], strict=True))
