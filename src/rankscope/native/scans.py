"""Scans of runs with the C library: text or rows in, arrays of hits out. Scans do not hold the GIL."""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankscope.native.scanner import HASH_KEY, DocumentsResult, DocumentTable, ScanResult

_NO_MEMORY, _RETURNING = 1, 2
_KINDS = {3: "long", 4: "nul", 5: "fields", 6: "rank", 7: "score", 8: "nan", 9: "duplicate", 10: "ending"}
"""Kinds of invalid lines by status (``rs_status`` in ``c/scanner.h``)."""
_PADDING = 64  # bytes after the last text that the library may read

Bytes = npt.NDArray[np.uint8]
Starts = npt.NDArray[np.int64]
Top = tuple[int, list[bytes], npt.NDArray[np.int32]]
"""Number of a topic, documents by rank, and the first rank with the score of each; tied documents are unordered."""


class ReturningTopic(Exception):  # noqa: N818 - a signal between scanners, not an error of the user
    """A topic occurs again after another one, so that its ranking must be kept until the end of the file."""


class ScanError(Exception):
    """First invalid line: kind of problem, line, text, topic and number of fields."""


class ScanRequest(NamedTuple):
    """Settings of a scan."""

    order: int
    """Number of the ordering."""
    ties: bool
    """Whether to return the ties of hits."""
    depth: int = 0
    """Depth down to which documents are returned."""


class ScanArrays:
    """Results of a scan, copied from the memory of the library; rankings in order of appearance."""

    def __init__(self, result: ScanResult) -> None:
        self.topic = _copy(result.topic, result.lists, np.int32)
        self.length = _copy(result.length, result.lists, np.int32)
        self.tied = _copy(result.tied, result.lists, np.int32)
        self.ends = _copy(result.hit_ends, result.lists, np.int64)
        self.rank = _copy(result.rank, result.hits, np.int32)
        self.judgment = _copy(result.judgment, result.hits, np.int32)
        tied_hits = result.hits if result.tie_first else 0
        self.ties = _copy(result.tie_first, tied_hits, np.int32), _copy(result.tie_size, tied_hits, np.int32)
        count = result.ignored + 1 if result.ignored else 0
        starts = _copy(result.ignored_starts, count, np.uint64).tolist()
        names = c.string_at(result.ignored_bytes, starts[-1]) if starts else b""
        self.ignored = [names[start:stop] for start, stop in pairwise(starts)]
        self.tag = c.string_at(result.tag, result.tag_length) if result.tag else b""


def _copy(address: int | None, count: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    if not address or not count:
        return np.zeros(0, kind)
    memory = memoryview((c.c_char * (count * kind().itemsize)).from_address(address)).cast("B")
    return np.frombuffer(memory, kind).copy()


def build_table(
    library: c.CDLL, topics: Sequence[bytes], offsets: Starts, documents: Sequence[bytes]
) -> DocumentTable:
    """Build the lookup table of judged documents; those of topic t are ``offsets[t]:offsets[t + 1]``."""
    offsets = np.ascontiguousarray(offsets, np.int64)
    topic_starts, document_starts = _starts(topics), _starts(documents)
    handle = library.rs_table_new(
        len(topics), b"".join(topics), topic_starts.ctypes.data, offsets.ctypes.data,
        b"".join(documents), document_starts.ctypes.data, HASH_KEY,
    )  # fmt: skip
    return DocumentTable(library, handle)


def _starts(texts: Sequence[bytes]) -> npt.NDArray[np.uint64]:
    starts = np.zeros(len(texts) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, texts), np.uint64, len(texts)), out=starts[1:])
    return starts


def pad(data: Bytes, starts: Starts) -> tuple[Bytes, Starts]:
    """Return the same texts followed by the padding that :meth:`Scan.feed_rows` may read."""
    starts = np.ascontiguousarray(starts, np.int64)
    first, last = int(starts[0]), int(starts[-1])
    if first < 0 or last > len(data) or (starts[1:] < starts[:-1]).any():
        raise ValueError("offsets of texts overlap")
    if first == 0 and len(data) >= last + _PADDING:
        return data, starts
    padded = np.zeros(last - first + _PADDING, np.uint8)
    padded[: last - first] = data[first:last]
    return padded, starts - first if first else starts


class Scan:
    """A scan of a run, or of a piece of it."""

    def __init__(self, table: DocumentTable, handle: int) -> None:
        self._library, self._handle = table.library, handle

    @classmethod
    @contextmanager
    def open(cls, table: DocumentTable, request: ScanRequest, keep: bool) -> Iterator[Scan]:
        """Start a scan; ``keep`` retains all rankings until the end of the file, for non-contiguous topics."""
        handle = table.library.rs_scan_new(table.handle, request.order, keep)
        if not handle:
            raise MemoryError
        if request.ties:
            table.library.rs_scan_ties(handle)
        if request.depth:
            table.library.rs_scan_first(handle, request.depth)
        with cls.adopt(table, handle) as scan:
            yield scan

    @classmethod
    @contextmanager
    def adopt(cls, table: DocumentTable, handle: int) -> Iterator[Scan]:
        """Use a scan by its handle, and free it in the end."""
        try:
            yield cls(table, handle)
        finally:
            table.library.rs_scan_free(handle)

    def feed(self, block: bytes) -> None:
        """Scan more text."""
        self._check(self._library.rs_scan_feed(self._handle, block, len(block)))

    def feed_rows(
        self,
        topics: tuple[Bytes, Starts],
        documents: tuple[Bytes, Starts],
        scores: npt.NDArray[np.float64],
        ranks: npt.NDArray[np.int64] | None,
        rows: slice,
    ) -> None:
        """Scan some rows of columns; the texts of topics and documents are padded (:func:`pad`)."""
        start = rows.start
        status = self._library.rs_scan_rows(
            self._handle, rows.stop - start, topics[0].ctypes.data, topics[1][start:].ctypes.data,
            documents[0].ctypes.data, documents[1][start:].ctypes.data, scores[start:].ctypes.data,
            None if ranks is None else ranks[start:].ctypes.data,
        )  # fmt: skip
        self._check(status)

    def finish(self) -> None:
        """Finish the last ranking."""
        self._check(self._library.rs_scan_finish(self._handle))

    def _result(self) -> ScanResult:
        result = ScanResult()
        self._library.rs_scan_result(self._handle, c.byref(result))
        return result

    def arrays(self) -> ScanArrays:
        """Return the hits."""
        return ScanArrays(self._result())

    def documents(self) -> list[Top]:
        """Return the documents at the top of each ranking, down to the requested depth."""
        result, top = self._result(), DocumentsResult()
        self._library.rs_scan_documents(self._handle, c.byref(top))
        ends = [0, *_copy(top.ends, top.documents, np.uint64).tolist()]
        names = c.string_at(top.bytes, ends[-1]) if top.bytes else b""
        documents = [*map(names.__getitem__, map(slice, ends, ends[1:]))]
        list_ends = [0, *_copy(top.list_ends, result.lists, np.int64).tolist()]
        topics = _copy(result.topic, result.lists, np.int32).tolist()
        first = _copy(top.tie_first, top.documents, np.int32)
        return [
            (topic, documents[start:stop], first[start:stop])
            for topic, (start, stop) in zip(topics, pairwise(list_ends), strict=True)
        ]

    def _check(self, status: int) -> None:
        if not status:
            return
        if status == _NO_MEMORY:
            raise MemoryError("no memory to scan a run")
        if status == _RETURNING:
            raise ReturningTopic
        result = self._result()
        text = c.string_at(result.text, result.text_length) if result.text else b""
        topic = c.string_at(result.text_topic, result.text_topic_length) if result.text_topic else b""
        raise ScanError(_KINDS[status], result.line, text, topic, result.fields)
