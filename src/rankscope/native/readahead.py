"""Read judgments and plain run files in background threads while Python still imports numpy.

The library needs neither numpy nor the GIL. A command starts reading as soon as its arguments are known, and passes the
:class:`ReadAhead` to the code that opens the judgments; scans find it at the table of judged documents. Files that were
not started in time, are unusual, or changed in between are read again without it, with the same results and messages.
"""

from __future__ import annotations

import ctypes as c
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rankscope.engines.machine import count_workers
from rankscope.engines.threads import Background
from rankscope.native.cuts import topic_cuts
from rankscope.native.judgments import Judgments, parse_judgments
from rankscope.native.scanner import library

_MAX_FILES = 1 << 16
_BLOCK = 1 << 20  # bytes of judgments that are read at once
_PIECE = 8 << 20  # bytes of a large file that are scanned as one part
_MAX_PIECES = 16
_FEW_FILES = 4  # up to this number, threads cannot share whole files evenly
_BYTES_PER_THREAD = 4 << 20  # below this a thread costs more than it saves
_BUSY, _DONE = 1, 2  # RS_BUSY and RS_DONE of c/scanner.h

Stamp = tuple[int, ...]
"""Identity and version of a file: device, inode, size, time of the last change."""


class Part(NamedTuple):
    """A part of a file, which may have been scanned ``ahead``."""

    ahead: ReadAhead | None
    number: int
    start: int
    stop: int

    def scan(self) -> int | None:
        """Return the handle of the finished scan, to be freed; None if the caller has to scan the part.

        Waits for a scan in progress. No other scan is started from now on, because the caller has begun to scan.
        """
        return self.ahead.find_scan(self.number) if self.ahead else None


class _File(NamedTuple):
    path: str
    stamp: Stamp
    spans: list[tuple[int, int]]


class ReadAhead:
    """Parsed judgments, and scans of run files in background threads."""

    def __init__(
        self, qrels: Stamp, judgments: Judgments, files: Sequence[_File], order: int, ties: bool, jobs: int
    ) -> None:
        self._qrels, self._judgments, self._settings, self._jobs = qrels, judgments, (order, ties), jobs
        self._parts: dict[Stamp, list[Part]] = {}
        spans = [(file, start, stop) for file in files for start, stop in file.spans]
        for number, (file, start, stop) in enumerate(spans):
            self._parts.setdefault(file.stamp, []).append(Part(self, number, start, stop))
        self._stamps = [file.stamp for file, _, _ in spans]
        count = len(spans)
        table = judgments.table
        table.read_ahead = self
        self._library = table.library
        self._handle = table.library.rs_ahead_new(
            table.handle, order, ties, count,
            (c.c_char_p * count)(*(os.fsencode(file.path) for file, _, _ in spans)),
            (c.c_int64 * count)(*(start for _, start, _ in spans)),
            (c.c_int64 * count)(*(stop for _, _, stop in spans)),
            (c.c_int64 * count)(*(file.stamp[2] for file, _, _ in spans)),
        )  # fmt: skip
        size = sum(stop - start for _, start, stop in spans)
        n_threads = (
            min(jobs, count_workers() - 1, count, size // _BYTES_PER_THREAD + 1) if self._handle else 0
        )
        self._threads = Background(lambda: self._library.rs_ahead_run(self._handle), n_threads)

    def start(self) -> None:
        """Start the background threads."""
        self._threads.start()

    def close(self) -> None:
        """Stop all scans and free their memory."""
        if self._handle:
            self._library.rs_ahead_stop(self._handle, 1)
            self._threads.wait()
            self._library.rs_ahead_free(self._handle)
            self._handle = None

    def find_judgments(self, stamp: Stamp) -> Judgments | None:
        """Return the judgments if ``stamp`` is that of their file, else None."""
        return self._judgments if self._qrels == stamp else None

    def find_parts(self, order: int, ties: bool, stamp: Stamp) -> list[Part] | None:
        """Return the parts of a run file in their order; None if it is not read ahead with these settings."""
        return self._parts.get(stamp) if self._settings == (order, ties) else None

    def find_scan(self, number: int) -> int | None:
        """Return the handle of the finished scan of a part: see :meth:`Part.scan`."""
        if not self._handle:
            return None
        self._library.rs_ahead_stop(self._handle, 0)
        state = self._library.rs_ahead_claim(self._handle, number)
        if state == _BUSY or self._jobs == 1:
            self._threads.wait()
            state = self._library.rs_ahead_claim(self._handle, number)
        if state != _DONE:
            return None
        stamp = (c.c_uint64 * 4)()
        scan: int | None = self._library.rs_ahead_scan(self._handle, number, stamp)
        if tuple(stamp) == self._stamps[number]:
            return scan
        self._library.rs_scan_free(scan)
        return None


@contextmanager
def read_ahead(
    qrels: str, runs: Sequence[str], order: int, ties: bool, jobs: int | None
) -> Iterator[ReadAhead | None]:
    """Read judgments and runs that are plain files in up to ``jobs`` background threads until the context ends."""
    ahead = _prepare(qrels, runs, order, ties, jobs)
    if ahead is None:
        yield None
        return
    try:
        ahead.start()
        yield ahead
    finally:
        ahead.close()


def _prepare(qrels: str, runs: Sequence[str], order: int, ties: bool, jobs: int | None) -> ReadAhead | None:
    """Parse the judgments and split the runs into parts; None if nothing can be read ahead."""
    if count_workers() < 2 or (jobs or 0) < 0 or library() is None:
        return None
    try:
        stamp, judgments = _read_judgments(qrels)
        if judgments is None:
            return None
        return ReadAhead(stamp, judgments, _list_files(runs), order, ties, jobs or count_workers())
    except (OSError, ValueError, MemoryError):  # reported when the files are opened
        return None


def _read_judgments(path: str) -> tuple[Stamp, Judgments | None]:
    """Parse a regular file of judgments; raise OSError for other files, and if it changes while it is read."""
    if not os.path.isfile(path):  # noqa: PTH113 (a pipe must not be opened)
        raise OSError("not a regular file")
    with Path(path).open("rb", buffering=0) as file:
        stamp = _stamp(os.fstat(file.fileno()))
        first = file.read(_BLOCK).removeprefix(BOM_UTF8)
        judgments = parse_judgments(chain([first], iter(lambda: file.read(_BLOCK), b"")))
        if judgments is not None and (file.tell() != stamp[2] or _stamp(os.fstat(file.fileno())) != stamp):
            raise OSError("changed while it was read")
        return stamp, judgments


def _stamp(status: os.stat_result) -> Stamp:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _list_files(names: Sequence[str]) -> list[_File]:
    """List the regular files that run arguments name; patterns and missing files are left out."""
    entries: list[tuple[str, os.stat_result]] = []
    for name in names:
        status = _status(name)
        if status is not None and stat.S_ISDIR(status.st_mode):
            paths = sorted(entry.path for entry in os.scandir(name) if not entry.name.startswith("."))
            entries += [(path, inner) for path in paths if (inner := _status(path)) is not None]
        elif status is not None:
            entries.append((name, status))
    is_split = len(entries) <= _FEW_FILES
    return [
        _File(path, _stamp(status), _spans(path, status.st_size, is_split))
        for path, status in entries[:_MAX_FILES]
        if stat.S_ISREG(status.st_mode) and status.st_size
    ]


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 (paths are strings here)
    except (OSError, ValueError):
        return None


def _spans(path: str, size: int, is_split: bool) -> list[tuple[int, int]]:
    """Return the spans of bytes of a file that are scanned as parts."""
    pieces = min(size // _PIECE, _MAX_PIECES)
    cuts = topic_cuts(Path(path), size, pieces) if is_split and pieces > 1 else []
    return list(zip([0, *cuts], [*cuts, size], strict=True))
