"""The scanner in C, loaded with ctypes. Text is scanned without holding the interpreter's lock."""

from __future__ import annotations

import ctypes as c
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from rankscope.engines.threads import in_threads
from rankscope.native import ahead
from rankscope.native.cuts import topic_cuts
from rankscope.native.scanner import (
    KEY,
    Documents,
    Result,
    Table,
    available,
    gives_documents,
    load,
    takes_rows,
)
from rankscope.native.scanner import library as _library
from rankscope.progress import advance
from rankscope.read.columns import RunColumns, Texts
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.limits import LONGEST_LINE, line_at, longest_line
from rankscope.read.line_problems import LineProblem
from rankscope.read.orders import ORDERS
from rankscope.read.qrels import Qrels
from rankscope.read.source import BLOCK, HEAD, Source, checked_head, unreadable
from rankscope.scan.hits import ReturningTopic, RunHits, Ties

__all__ = [
    "available",
    "documents_in_source",
    "gives_documents",
    "hits_in_rows",
    "hits_in_source",
    "load",
    "takes_rows",
]

_NO_MEMORY, _RETURNING = 1, 2
_KINDS = {3: "long", 4: "nul", 5: "fields", 6: "rank", 7: "score", 8: "nan", 9: "duplicate", 10: "ending"}
_SHARES_FILES = os.name == "posix"  # elsewhere the numbers of open files may mean nothing to the library
_TURN = LONGEST_LINE  # bytes of a file that are read without looking for an interrupt
_TURN_ROWS = 1 << 20  # rows, likewise
_PADDING = 64
SMALLEST_PIECE = 4 << 20  # bytes: below this a thread costs more than it saves


Top = tuple[int, list[bytes], npt.NDArray[np.int32]]
"""A topic by its number, documents by rank, and the first rank at which each one's score occurs: those that share it
are in any order."""


class _Wanted(NamedTuple):
    """The number of the ordering, whether hits come with their ties, and down to which depth documents are wanted."""

    order: int
    ties: bool
    depth: int = 0


def hits_in_source(
    source: Source,
    qrels: Qrels,
    order: str,
    jobs: int = 1,
    ties: bool = False,
    library: c.CDLL | None = None,
) -> RunHits:
    """The hits of a run; a large plain file in up to ``jobs`` pieces at once."""
    library = library or _library()
    assert library is not None
    table = _table(library, qrels)
    wanted = _Wanted(ORDERS.index(order), ties)
    if (parts := ahead.parts_read(table, ahead.Wanted(wanted.order, ties), source.stamp)) is not None:
        found = _read_ahead(table, wanted, source, parts, jobs)
        if found is not None:
            return found
    if source.path is not None and not source.packed and jobs > 1 and source.size >= 2 * SMALLEST_PIECE:
        pieces = _read_pieces(table, wanted, source, min(jobs, source.size // SMALLEST_PIECE))
        if pieces is not None:
            return pieces
    try:
        return _read_whole(table, wanted, source, keep=False)
    except ReturningTopic:
        return _read_whole(table, wanted, source, keep=True)


def documents_in_source(source: Source, qrels: Qrels, order: str, depth: int) -> list[Top]:
    """Of each judged topic what stands down to a depth, and the others with the score of the last."""
    library = _library()
    assert library is not None
    table, wanted = _table(library, qrels), _Wanted(ORDERS.index(order), ties=False, depth=depth)
    try:
        return _documents_found(table, wanted, source, keep=False)
    except ReturningTopic:
        return _documents_found(table, wanted, source, keep=True)


def _documents_found(table: Table, wanted: _Wanted, source: Source, keep: bool) -> list[Top]:
    with _Reading.of(table, wanted, keep) as state:
        state.read_all(source)
        return state.documents()


def hits_in_rows(rows: RunColumns, qrels: Qrels, order: str, ties: bool = False) -> RunHits:
    """The hits of a run in columns; a document that occurs twice is a :class:`LineProblem` of its row, from 1 on."""
    library = _library()
    assert library is not None
    if order == "rank" and rows.ranks is None:
        order = "file"
    table, wanted = _table(library, qrels), _Wanted(ORDERS.index(order), ties)
    columns = _padded(rows.topics), _padded(rows.documents)
    try:
        return _rows_found(table, wanted, rows, columns, keep=False)
    except ReturningTopic:
        return _rows_found(table, wanted, rows, columns, keep=True)


def _rows_found(
    table: Table, wanted: _Wanted, rows: RunColumns, columns: tuple[Texts, Texts], keep: bool
) -> RunHits:
    with _Reading.of(table, wanted, keep) as state:
        for start in range(0, len(rows.scores), _TURN_ROWS):
            state.rows(rows, *columns, start, min(start + _TURN_ROWS, len(rows.scores)))
        state.finish()
        return _merged([state.parts()], wanted.ties)


def _padded(texts: Texts) -> Texts:
    """The same texts with bytes after the last one that the library may look at."""
    starts = np.ascontiguousarray(texts.starts, np.int64)
    first, last = int(starts[0]), int(starts[-1])
    if first < 0 or last > len(texts.data) or (starts[1:] < starts[:-1]).any():
        raise ValueError("texts that overlap")
    data = np.empty(last - first + _PADDING, np.uint8)
    data[: last - first] = texts.data[first:last]
    data[last - first :] = 0
    return Texts(data, starts - first if first else starts)


def _read_whole(table: Table, wanted: _Wanted, source: Source, keep: bool) -> RunHits:
    with _Reading.of(table, wanted, keep) as state:
        state.read_all(source)
        return _merged([state.parts()], wanted.ties)


def _read_pieces(table: Table, wanted: _Wanted, source: Source, jobs: int) -> RunHits | None:
    """A file cut where topics change, its pieces read by threads.

    None if a line is wrong or a topic stands in two pieces: then only a reading from the start gives the
    right line number or the whole list.
    """
    assert source.path is not None
    cuts = topic_cuts(source.path, source.size, jobs)

    def piece(span: tuple[int, int | None]) -> _Parts:
        with _Reading.of(table, wanted, keep=False) as state:
            state.read(source, *span)
            return state.parts()

    spans = list(zip([0, *cuts], [*cuts, None], strict=True))
    try:
        found = in_threads(piece, spans, len(spans))
    except (LineProblem, ReturningTopic):
        return None
    return _merged(found, wanted.ties) if _distinct(found) else None


def _read_ahead(
    table: Table, wanted: _Wanted, source: Source, parts: list[ahead.Part], jobs: int
) -> RunHits | None:
    """A file of which parts may have been scanned already, and the others are now.

    None if it has to be read from the start: as a whole, or because there is anything unusual about it.
    """

    def piece(part: ahead.Part) -> _Parts:
        scan = part.scan()
        if scan is not None:
            advance(part.stop - part.start)
            return _Reading(table, scan).parts()
        if len(parts) == 1:
            raise ReturningTopic
        with _Reading.of(table, wanted, keep=False) as state:
            state.read(source, part.start, None if part is parts[-1] else part.stop)
            return state.parts()

    try:
        found = [piece(parts[0])] if len(parts) == 1 else in_threads(piece, parts, min(jobs, len(parts)))
    except (LineProblem, ReturningTopic):
        return None
    return _merged(found, wanted.ties) if _distinct(found) and source.is_unchanged() else None


def _distinct(found: list[_Parts]) -> bool:
    """Whether no topic stands in two parts."""
    if len(found) == 1:
        return True
    topics = [t for parts in found for t in (*parts.topic.tolist(), *parts.ignored)]
    return len(set(topics)) == len(topics)


class _Parts:
    """What one scan found, copied out of its memory."""

    def __init__(self, result: Result) -> None:
        self.topic = _int32(result.topic, result.lists)
        self.length = _int32(result.length, result.lists)
        self.tied = _int32(result.tied, result.lists)
        self.ends = _array(result.hit_ends, result.lists, np.dtype(np.int64))
        self.rank = _int32(result.rank, result.hits)
        self.judgment = _int32(result.judgment, result.hits)
        tied_hits = result.hits if result.tie_first else 0
        self.ties = Ties(_int32(result.tie_first, tied_hits), _int32(result.tie_size, tied_hits))
        count = result.ignored + 1 if result.ignored else 0
        starts = _array(result.ignored_starts, count, np.dtype(np.uint64)).tolist()
        names = c.string_at(result.ignored_bytes, starts[-1]) if starts else b""
        self.ignored = [names[start:stop] for start, stop in pairwise(starts)]
        self.tag = c.string_at(result.tag, result.tag_length) if result.tag else b""


def _merged(found: list[_Parts], with_ties: bool) -> RunHits:
    """Parts of one run, in the order of the file, as one; lists by ascending topic."""
    topic = _joined([parts.topic for parts in found])
    counts = _joined([np.diff(parts.ends, prepend=0) for parts in found])
    rank = _joined([parts.rank for parts in found])
    judgment = _joined([parts.judgment for parts in found])
    ties = Ties.joined([parts.ties for parts in found]) if with_ties else None
    order = np.argsort(topic, kind="stable")
    offsets = np.zeros(len(topic) + 1, np.int64)
    np.cumsum(counts[order], out=offsets[1:])
    if len(topic) and (order[1:] < order[:-1]).any():
        starts = (np.cumsum(counts) - counts)[order]
        hits = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], counts[order])
        rank, judgment = rank[hits], judgment[hits]
        ties = ties and ties.taken(hits)
    return RunHits(
        topic=topic[order],
        length=_joined([parts.length for parts in found])[order],
        offsets=offsets,
        rank=rank,
        judgment=judgment,
        tied=_joined([parts.tied for parts in found])[order],
        ignored_topics=tuple(to_text(name) for parts in found for name in parts.ignored),
        tag=to_text(found[0].tag),
        ties=ties,
    )


def _joined(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _array(address: int | None, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if not address or not count:
        return np.zeros(0, dtype)
    memory = memoryview((c.c_char * (count * dtype.itemsize)).from_address(address)).cast("B")
    return np.frombuffer(memory, dtype).copy()


def _int32(address: int | None, count: int) -> npt.NDArray[np.int32]:
    return _array(address, count, np.dtype(np.int32))


def _new_table(library: c.CDLL, qrels: Qrels) -> Table:
    names = "".join(qrels.topics)
    topics = qrels.topics if names.isascii() else [to_bytes(topic) for topic in qrels.topics]
    joined = names.encode() if names.isascii() else b"".join(map(to_bytes, qrels.topics))
    offsets = np.ascontiguousarray(qrels.topic_offsets, np.int64)
    topic_starts, document_starts = _starts(topics), _starts(qrels.documents)
    handle = library.rs_table_new(
        len(topics), joined, topic_starts.ctypes.data, offsets.ctypes.data,
        b"".join(qrels.documents), document_starts.ctypes.data, KEY,
    )  # fmt: skip
    return Table(library, handle)


def _starts(names: Any) -> npt.NDArray[np.uint64]:
    starts = np.zeros(len(names) + 1, np.uint64)
    np.cumsum(np.fromiter(map(len, names), np.uint64, len(names)), out=starts[1:])
    return starts


_tables: WeakKeyDictionary[Qrels, dict[c.CDLL, Table]] = WeakKeyDictionary()
_tables_lock = Lock()


def _table(library: c.CDLL, qrels: Qrels) -> Table:
    with _tables_lock:
        known = _tables.setdefault(qrels, {})
        if library not in known:
            made = ahead.table_of(library, qrels.topics, qrels.documents)
            known[library] = made or _new_table(library, qrels)
        return known[library]


class _Reading:
    """One reading of a run, or of a piece of it."""

    def __init__(self, table: Table, handle: int) -> None:
        self._table, self._library, self._handle = table, table.library, handle

    @classmethod
    @contextmanager
    def of(cls, table: Table, wanted: _Wanted, keep: bool) -> Iterator[_Reading]:
        handle = table.library.rs_scan_new(table.handle, wanted.order, keep)
        if not handle:
            raise MemoryError
        if wanted.ties:
            table.library.rs_scan_ties(handle)
        if wanted.depth:
            table.library.rs_scan_first(handle, wanted.depth)
        try:
            yield cls(table, handle)
        finally:
            table.library.rs_scan_free(handle)

    def read_all(self, source: Source) -> None:
        """A whole source; there is no more text."""
        if source.path is not None and not source.packed:
            self.read(source, 0, None)
            return
        for block in source.line_blocks():
            self.feed(block)
        self.finish()

    def read(self, source: Source, start: int, stop: int | None) -> None:
        """The bytes of a plain file between two places, read by the library itself; there is no more text."""
        assert source.path is not None
        most = longest_line()
        try:
            with source.path.open("rb", buffering=0) as file:
                file.seek(start)
                if start == 0:
                    self.feed(
                        checked_head(file.read(HEAD if stop is None else min(HEAD, stop)), source.label)
                    )
                while (left := _TURN if stop is None else min(_TURN, stop - file.tell())) > 0:
                    if line_at(file, most) > most:
                        raise LineProblem("long", self._result().line + 1)
                    advance(done := self._more(file, left))
                    if not done:
                        break
                self.finish()
                source.check_read(file, source.size if stop is None else stop)
        except OSError as error:
            raise unreadable(error, source.label) from None

    def _more(self, file: FileIO, most: int) -> int:
        """Scan on in a file: how many bytes, 0 at its end or after a line that is wrong (``finish`` says which)."""
        if not _SHARES_FILES:
            block = file.read(min(most, BLOCK))
            self.feed(block)
            return len(block)
        count: int = self._library.rs_scan_read(self._handle, file.fileno(), most)
        if count < 0:
            raise OSError(-count, os.strerror(-count))
        return count

    def feed(self, block: bytes) -> None:
        """More text."""
        self._check(self._library.rs_scan_feed(self._handle, block, len(block)))

    def rows(self, rows: RunColumns, topics: Texts, documents: Texts, start: int, stop: int) -> None:
        """More rows, whose texts are padded."""
        ranks = None if rows.ranks is None else rows.ranks[start:].ctypes.data
        status = self._library.rs_scan_rows(
            self._handle, stop - start, topics.data.ctypes.data, topics.starts[start:].ctypes.data,
            documents.data.ctypes.data, documents.starts[start:].ctypes.data, rows.scores[start:].ctypes.data, ranks,
        )  # fmt: skip
        self._check(status)

    def finish(self) -> None:
        """No more text."""
        self._check(self._library.rs_scan_finish(self._handle))

    def _result(self) -> Result:
        result = Result()
        self._library.rs_scan_result(self._handle, c.byref(result))
        return result

    def parts(self) -> _Parts:
        """What was found."""
        return _Parts(self._result())

    def documents(self) -> list[Top]:
        """What stands at the top of each list."""
        result, found = self._result(), Documents()
        self._library.rs_scan_documents(self._handle, c.byref(found))
        ends = [0, *_array(found.ends, found.documents, np.dtype(np.uint64)).tolist()]
        names = c.string_at(found.bytes, ends[-1]) if found.bytes else b""
        lists = [0, *_array(found.list_ends, result.lists, np.dtype(np.int64)).tolist()]
        topics = _int32(result.topic, result.lists).tolist()
        first = _int32(found.tie_first, found.documents)
        return [
            (topic, [names[ends[d] : ends[d + 1]] for d in range(start, stop)], first[start:stop])
            for topic, (start, stop) in zip(topics, pairwise(lists), strict=True)
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
        raise LineProblem(_KINDS[status], result.line, text, topic, result.fields)
