"""Find the hits of runs with the C library."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rankscope.arrays import take_spans
from rankscope.engines.threads import run_in_threads
from rankscope.errors import InputError
from rankscope.native.cuts import topic_cuts
from rankscope.native.readahead import Part
from rankscope.native.scanner import DocumentTable, available, load
from rankscope.native.scanner import library as _library
from rankscope.native.scans import (
    ReturningTopic,
    Scan,
    ScanArrays,
    ScanError,
    ScanRequest,
    Top,
    build_table,
    pad,
)
from rankscope.progress import advance
from rankscope.read.columns import RunColumns
from rankscope.read.ids import to_bytes, to_text
from rankscope.read.lines import LineProblem
from rankscope.read.orders import ORDERS
from rankscope.read.qrels import Qrels
from rankscope.read.source import Source
from rankscope.scan.hits import RunHits, Ties

__all__ = ["Top", "available", "load", "scan_documents", "scan_rows", "scan_source"]

_CHECK_ROWS = 1 << 20  # rows between two checks for an interrupt
_MAX_KEPT = 32 << 20  # bytes; glibc may keep freed arrays below this size
MIN_PIECE = 4 << 20  # bytes; below this a thread costs more than it saves

T = TypeVar("T")


def scan_source(
    source: Source, qrels: Qrels, order: str, jobs: int = 1, ties: bool = False, library: c.CDLL | None = None
) -> RunHits:
    """Find the hits of a run; take what was read ahead, and split other large plain files into ``jobs`` parts."""
    table = _table(qrels, library)
    request = ScanRequest(ORDERS.index(order), ties)
    ahead = table.read_ahead
    parts = ahead.find_parts(request.order, ties, source.stamp) if ahead else None
    if not parts and jobs > 1 and source.path and not source.is_compressed and source.size >= 2 * MIN_PIECE:
        cuts = topic_cuts(source.path, source.size, min(jobs, source.size // MIN_PIECE))
        parts = [
            Part(None, 0, start, stop) for start, stop in zip([0, *cuts], [*cuts, source.size], strict=True)
        ]
    hits = _scan_parts(table, request, source, parts, jobs) if parts else None
    if hits is None:
        arrays = _scan(table, request, lambda scan: _read(scan, source), Scan.arrays)
        hits = _merge([arrays], ties, table.library)
    return hits


def scan_documents(source: Source, qrels: Qrels, order: str, depth: int) -> list[Top]:
    """Return the documents of every judged topic down to a depth, including those tied with the last one."""
    request = ScanRequest(ORDERS.index(order), ties=False, depth=depth)
    return _scan(_table(qrels), request, lambda scan: _read(scan, source), Scan.documents)


def scan_rows(rows: RunColumns, qrels: Qrels, order: str, ties: bool = False) -> RunHits:
    """Find the hits of a run in columns; a repeated document raises :class:`LineProblem` with its row, from 1 on."""
    if order == "rank" and rows.ranks is None:
        order = "file"
    topics, documents = pad(*rows.topics), pad(*rows.documents)

    def feed(scan: Scan) -> None:
        for start in range(0, len(rows.scores), _CHECK_ROWS):
            stop = min(start + _CHECK_ROWS, len(rows.scores))
            scan.feed_rows(topics, documents, rows.scores, rows.ranks, slice(start, stop))
        scan.finish()

    table = _table(qrels)
    arrays = _scan(table, ScanRequest(ORDERS.index(order), ties), feed, Scan.arrays)
    return _merge([arrays], ties, table.library)


def _table(qrels: Qrels, library: c.CDLL | None = None) -> DocumentTable:
    """Return the lookup table of the judged documents, which copies of the judgments share."""
    loaded = library or _library()
    assert loaded is not None

    def build() -> DocumentTable:
        return build_table(loaded, [*map(to_bytes, qrels.topics)], qrels.topic_offsets, qrels.documents)

    return qrels.tables.get(loaded, build)


@contextmanager
def _open(table: DocumentTable, request: ScanRequest, keep: bool = False) -> Iterator[Scan]:
    with Scan.open(table, request, keep) as scan:
        try:
            yield scan
        except ScanError as error:
            raise LineProblem(*error.args) from None


def _scan(
    table: DocumentTable, request: ScanRequest, feed: Callable[[Scan], None], extract: Callable[[Scan], T]
) -> T:
    """Feed a scan and extract its results; if topics are not contiguous, scan again and keep all rankings."""
    try:
        with _open(table, request) as scan:
            feed(scan)
            return extract(scan)
    except ReturningTopic:
        with _open(table, request, keep=True) as scan:
            feed(scan)
            return extract(scan)


def _read(scan: Scan, source: Source) -> None:
    """Scan a whole source."""
    for block in source.line_blocks():
        scan.feed(block)
    scan.finish()


def _scan_parts(
    table: DocumentTable, request: ScanRequest, source: Source, parts: list[Part], jobs: int
) -> RunHits | None:
    """Combine the parts of a file that were read ahead, and scan the others in threads.

    Return None if the file must be scanned from the start: it is one unfinished part, it changed, a line is invalid
    (whose number only a scan from the start knows), or a topic occurs in two parts.
    """

    def scan_part(part: Part) -> ScanArrays:
        handle = part.scan()
        if handle is not None:
            advance(part.stop - part.start)
            with Scan.adopt(table, handle) as scan:
                return scan.arrays()
        if len(parts) == 1:
            raise ReturningTopic
        with _open(table, request) as scan:
            _read(scan, source.part(part.start, part.stop))
            return scan.arrays()

    workers = min(jobs, len(parts))
    try:
        scanned = run_in_threads(scan_part, parts, workers) if workers > 1 else [*map(scan_part, parts)]
    except (LineProblem, ReturningTopic, InputError):
        return None
    is_valid = source.is_unchanged() and _are_disjoint(scanned)
    return _merge(scanned, request.ties, table.library) if is_valid else None


def _are_disjoint(pieces: list[ScanArrays]) -> bool:
    """Return whether no topic occurs in two pieces."""
    if len(pieces) == 1:
        return True
    topics = np.concatenate([piece.topic for piece in pieces])
    topics.sort()
    ignored = [name for piece in pieces for name in piece.ignored]
    return bool((topics[1:] > topics[:-1]).all()) and len(set(ignored)) == len(ignored)


def _merge(pieces: list[ScanArrays], with_ties: bool, library: c.CDLL) -> RunHits:
    """Combine pieces of one run, in the order of the file; sort rankings by topic."""

    def join(name: str) -> npt.NDArray[Any]:
        arrays: list[npt.NDArray[Any]] = [vars(piece).pop(name) for piece in pieces]
        if len(arrays) == 1:
            return arrays[0]
        joined = np.concatenate(arrays)
        if joined.nbytes > _MAX_KEPT:  # Only one array of a large run may be in memory twice.
            del arrays
            library.rs_trim()
        return joined

    topic, length, tied = join("topic"), join("length"), join("tied")
    ties = Ties.concatenate([Ties(*piece.ties) for piece in pieces]) if with_ties else None
    offsets, lists = np.zeros(len(topic) + 1, np.int64), 0
    for piece in pieces:
        ends = vars(piece).pop("ends")
        offsets[lists + 1 : lists + len(ends) + 1] = ends + offsets[lists]
        lists += len(ends)
    rank, judgment = join("rank"), join("judgment")
    if (topic[1:] < topic[:-1]).any():
        order = np.argsort(topic, kind="stable")
        offsets, hits = take_spans(offsets, order)
        topic, length, tied, rank, judgment = (
            topic[order], length[order], tied[order], rank[hits], judgment[hits],
        )  # fmt: skip
        ties = ties and ties.take(hits)
    return RunHits(
        topic=topic,
        length=length,
        offsets=offsets,
        rank=rank,
        judgment=judgment,
        tied=tied,
        ignored_topics=tuple(to_text(name) for piece in pieces for name in piece.ignored),
        tag=to_text(pieces[0].tag),
        ties=ties,
    )
