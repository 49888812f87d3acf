"""Judgments as the library reads them: lines of four fields, as long as there is nothing unusual about any of them.

Whatever it does not take (comments, another number of fields, a document that is judged twice) is left to the parser in
Python, which also says what is wrong with a file. Nothing here needs numpy.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from functools import cached_property
from weakref import finalize

from rankscope.native.scanner import KEY, Judged, Table, chosen_library

__all__ = ["LARGEST", "InOrder", "Judgments", "judgments_in"]

LARGEST = 1 << 25
"""Bytes of a text that is given to the library as a whole; a larger one is read block by block, in Python."""

InOrder = Callable[[list[str]], list[str]]
"""Topics in the order in which they are to be."""


class Judgments:
    """The judgments of a text by topic and, inside a topic, by the bytes of the document; each document once."""

    def __init__(
        self, library: c.CDLL, handle: int, found: Judged, topics: list[str], place: c.Array[c.c_int32]
    ) -> None:
        self._library, self._handle, self._found, self._place = library, handle, found, place
        self.topics = tuple(topics)
        self.several = bool(found.several)
        """Whether the second column has several names."""

    @cached_property
    def documents(self) -> list[bytes]:
        """All judged documents."""
        return c.string_at(self._found.documents, self._found.documents_length - 1).split(b"\n")

    def offsets(self) -> bytearray:
        """For each topic where its judgments begin, and where the last one ends: integers of 64 bits."""
        return bytearray(c.string_at(self._found.offsets, 8 * (len(self.topics) + 1)))

    def grades(self) -> bytearray:
        """The grade of each judgment: integers of 32 bits."""
        return bytearray(c.string_at(self._found.grades, 4 * self._found.judgments))

    def table(self) -> Table:
        """The judged documents as scans need them."""
        return Table(self._library, self._library.rs_qrels_table(self._handle, self._place, KEY))


def judgments_in(text: bytes, in_order: InOrder) -> Judgments | None:
    r"""The judgments of a text; None if there is anything unusual about it, or no library.

    >>> found = judgments_in(b"301 0 d2 1\n301 0 d1 0\n", sorted)
    >>> found is None or (found.topics, found.documents) == (("301",), [b"d1", b"d2"])
    True
    """
    library = chosen_library("rs_qrels_new")
    handle = library.rs_qrels_new(text, len(text), KEY) if library is not None else None
    if library is None or not handle:
        return None
    found = Judged()
    library.rs_qrels_result(handle, c.byref(found))
    names = c.string_at(found.names, found.names_length - 1).decode("utf-8", "surrogateescape").split("\n")
    topics = in_order(names)
    number = {name: place for place, name in enumerate(topics)}
    place = (c.c_int32 * len(names))(*map(number.__getitem__, names))
    if not library.rs_qrels_arrange(handle, place):
        library.rs_qrels_free(handle)
        return None
    library.rs_qrels_result(handle, c.byref(found))
    judgments = Judgments(library, handle, found, topics, place)
    finalize(judgments, library.rs_qrels_free, handle)
    return judgments
