"""Parse TREC judgments (lines of four fields) with the C library. Does not need numpy.

The library rejects files with anything unusual (comments, another number of fields, a document judged twice) and leaves
them to the parser in Python, which also reports errors.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Iterable
from functools import cached_property
from typing import Any
from weakref import finalize

from rankscope.native.scanner import HASH_KEY, DocumentTable, JudgmentsResult, is_selected, library

_TOPICS, _ITERATIONS, _DOCUMENTS = range(3)  # rs_column of c/scanner.h


class _Memory:
    """Memory of the library that is freed with the last object that refers to it."""

    def __init__(self, library: c.CDLL, handle: int) -> None:
        self.handle = handle
        finalize(self, library.rs_qrels_free, handle)


class Judgments:
    """Parsed judgments, sorted by topic and by the bytes of the document id; every document occurs once per topic.

    Arrays are buffers in the memory of the library, which stays as long as one of them.
    """

    def __init__(self, library: c.CDLL, handle: int) -> None:
        self.library, self._memory = library, _Memory(library, handle)
        self._result = JudgmentsResult()
        library.rs_qrels_result(handle, c.byref(self._result))
        self.n_topics: int = self._result.topics
        self.n_judgments: int = self._result.documents

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics, by number if all are numbers, else by their bytes."""
        return (
            *self._lines(_TOPICS, self._result.topics_length).decode("utf-8", "surrogateescape").split("\n"),
        )

    @property
    def documents(self) -> list[bytes]:
        """Ids of all judged documents."""
        return self._lines(_DOCUMENTS, self._result.documents_length).split(b"\n")

    @property
    def iterations(self) -> list[bytes]:
        """Distinct names of the second column, in order of appearance."""
        return self._lines(_ITERATIONS, self._result.iterations_length).split(b"\n")

    def _lines(self, column: int, length: int) -> bytes:
        """Return the names of a column, separated by newlines."""
        text = c.create_string_buffer(length)
        self.library.rs_qrels_names(self._memory.handle, column, text)
        return text.raw[:-1]

    @property
    def offsets(self) -> Any:
        """Index of the first judgment of every topic, and the total, as 32-bit integers."""
        return self._array(self._result.offsets, c.c_int32, self.n_topics + 1)

    @property
    def grades(self) -> Any:
        """Grade of every judgment, as 32-bit integers."""
        return self._array(self._result.grades, c.c_int32, self.n_judgments)

    @property
    def codes(self) -> Any:
        """Index of the iteration of every judgment, as 16-bit integers; None if there is only one iteration."""
        return self._result.codes and self._array(self._result.codes, c.c_uint16, self.n_judgments)

    def _array(self, address: int, kind: Any, count: int) -> Any:
        array = (kind * count).from_address(address)
        array.owner = self._memory
        return array

    @cached_property
    def table(self) -> DocumentTable:
        """Lookup table of the judged documents, for scans."""
        return DocumentTable(self.library, self.library.rs_qrels_table(self._memory.handle), self._memory)


def parse_judgments(blocks: Iterable[bytes]) -> Judgments | None:
    r"""Parse blocks of text; return None if the C parser does not support the text or was not built.

    >>> judgments = parse_judgments([b"301 0 d2 1\n30", b"1 0 d1 0\n"])
    >>> judgments is None or (judgments.topics, judgments.documents) == (("301",), [b"d1", b"d2"])
    True
    """
    loaded = library() if is_selected() else None
    handle = None if loaded is None else loaded.rs_qrels_new(HASH_KEY)
    if loaded is None or not handle:
        return None
    try:
        is_usual = all(loaded.rs_qrels_feed(handle, block, len(block)) for block in blocks)
        if is_usual and loaded.rs_qrels_finish(handle):
            judgments = Judgments(loaded, handle)
            handle = None
            return judgments
    finally:
        loaded.rs_qrels_free(handle)
    return None
