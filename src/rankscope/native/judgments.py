"""Parse TREC judgments (lines of four fields) with the C library. Does not need numpy.

The library rejects files with anything unusual (comments, another number of fields, a document judged twice) and leaves
them to the parser in Python, which also reports errors.
"""

from __future__ import annotations

import ctypes as c
from array import array
from collections.abc import Callable, Iterable
from functools import cached_property
from weakref import finalize

from rankscope.native.scanner import HASH_KEY, DocumentTable, JudgmentsResult, is_selected, library

MAX_TEXT = 1 << 28
"""Maximum number of bytes that the library parses at once; Python parses larger files block by block."""

TopicSort = Callable[[list[str]], list[str]]
"""A function that sorts topics."""


class Judgments:
    """Parsed judgments, sorted by topic and by the bytes of the document id; every document occurs once per topic."""

    def __init__(
        self,
        library: c.CDLL,
        handle: int,
        result: JudgmentsResult,
        topics: list[str],
        positions: c.Array[c.c_int32],
    ) -> None:
        self._library, self._handle, self._result, self._positions = library, handle, result, positions
        self.topics = tuple(topics)
        self.has_iterations = bool(result.several)
        """Whether the second column has several distinct values."""

    @cached_property
    def documents(self) -> list[bytes]:
        """Ids of all judged documents."""
        return c.string_at(self._result.documents, self._result.documents_length - 1).split(b"\n")

    def offsets(self) -> bytearray:
        """Return the index of the first judgment of every topic, and the total, as 64-bit integers."""
        return bytearray(c.string_at(self._result.offsets, 8 * (len(self.topics) + 1)))

    def grades(self) -> bytearray:
        """Return the grade of every judgment as 32-bit integers."""
        return bytearray(c.string_at(self._result.grades, 4 * self._result.judgments))

    @cached_property
    def table(self) -> DocumentTable:
        """Lookup table of the judged documents, for scans."""
        return DocumentTable(
            self._library, self._library.rs_qrels_table(self._handle, self._positions, HASH_KEY)
        )


def parse_judgments(text: bytes, sort_topics: TopicSort) -> Judgments | None:
    r"""Parse judgments; return None if the C parser does not support the text or was not built.

    >>> judgments = parse_judgments(b"301 0 d2 1\n301 0 d1 0\n", sorted)
    >>> judgments is None or (judgments.topics, judgments.documents) == (("301",), [b"d1", b"d2"])
    True
    """
    loaded = library() if is_selected() else None
    handle = None if loaded is None else loaded.rs_qrels_new(text, len(text), HASH_KEY)
    if loaded is None or not handle:
        return None
    del text  # The library has a copy: large judgments would be in memory twice.
    result = JudgmentsResult()
    loaded.rs_qrels_result(handle, c.byref(result))
    names = c.string_at(result.names, result.names_length - 1).decode("utf-8", "surrogateescape").split("\n")
    topics = sort_topics(names)
    numbers: Iterable[int] = range(len(names))
    if topics != names:
        position = dict(zip(topics, numbers, strict=True))
        numbers = map(position.__getitem__, names)
    positions = (c.c_int32 * len(names)).from_buffer(array("i", numbers))
    if not loaded.rs_qrels_arrange(handle, positions):
        loaded.rs_qrels_free(handle)
        return None
    loaded.rs_qrels_result(handle, c.byref(result))
    judgments = Judgments(loaded, handle, result, topics, positions)
    finalize(judgments, loaded.rs_qrels_free, handle)
    return judgments
