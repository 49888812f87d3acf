"""Bindings of the C scanner: result structures, signatures, and the choice of the scanner. Does not need numpy."""

from __future__ import annotations

import ctypes as c
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from rankscope.errors import SettingsError
from rankscope.native.libraries import Signatures, find_library, load_library

if TYPE_CHECKING:
    from rankscope.native.readahead import ReadAhead


VARIABLE = "RANKSCOPE_SCANNER"
HASH_KEY = os.urandom(16)
"""Key of the hash of ids; it is random, so that a hostile file cannot make ids collide."""
_VERSION = 6


class ScanResult(c.Structure):
    """Hits of a scan: ``rs_result`` in ``c/scanner.h``."""

    _fields_ = [
        *((name, c.c_int64) for name in ("lists", "hits", "ignored")),
        *(
            (name, c.c_void_p)
            for name in ("topic", "length", "tied", "hit_ends", "rank", "judgment", "tie_first", "tie_size")
        ),
        *((name, c.c_void_p) for name in ("ignored_bytes", "ignored_starts", "tag")),
        *((name, c.c_int64) for name in ("tag_length", "status", "line", "fields")),
        *((name, c.c_void_p) for name in ("text", "text_topic")),
        *((name, c.c_int64) for name in ("text_length", "text_topic_length")),
    ]


class DocumentsResult(c.Structure):
    """Documents at the top of rankings: ``rs_documents`` in ``c/scanner.h``."""

    _fields_ = [
        ("documents", c.c_int64),
        *((name, c.c_void_p) for name in ("bytes", "ends", "tie_first", "list_ends")),
    ]


class JudgmentsResult(c.Structure):
    """Parsed judgments: ``rs_judgments`` in ``c/scanner.h``."""

    _fields_ = [
        *((name, c.c_int64) for name in ("topics", "iterations", "documents")),
        *((name, c.c_int64) for name in ("topics_length", "iterations_length", "documents_length")),
        *((name, c.c_void_p) for name in ("offsets", "grades", "codes")),
    ]


_SIGNATURES: Signatures = {
    "rs_version": (c.c_int32, []),
    "rs_trim": (None, []),
    "rs_table_new": (c.c_void_p, [c.c_int64, *[c.c_void_p] * 6]),
    "rs_table_free": (None, [c.c_void_p]),
    "rs_scan_new": (c.c_void_p, [c.c_void_p, c.c_int32, c.c_int32]),
    "rs_scan_free": (None, [c.c_void_p]),
    "rs_scan_ties": (None, [c.c_void_p]),
    "rs_scan_first": (None, [c.c_void_p, c.c_int64]),
    "rs_scan_feed": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_int64]),
    "rs_scan_rows": (c.c_int32, [c.c_void_p, c.c_int64, *[c.c_void_p] * 6]),
    "rs_scan_finish": (c.c_int32, [c.c_void_p]),
    "rs_scan_result": (None, [c.c_void_p, c.POINTER(ScanResult)]),
    "rs_scan_documents": (None, [c.c_void_p, c.POINTER(DocumentsResult)]),
    "rs_qrels_new": (c.c_void_p, [c.c_char_p]),
    "rs_qrels_free": (None, [c.c_void_p]),
    "rs_qrels_feed": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_int64]),
    "rs_qrels_finish": (c.c_int32, [c.c_void_p]),
    "rs_qrels_result": (None, [c.c_void_p, c.POINTER(JudgmentsResult)]),
    "rs_qrels_names": (None, [c.c_void_p, c.c_int32, c.c_void_p]),
    "rs_qrels_table": (c.c_void_p, [c.c_void_p]),
    "rs_ahead_new": (c.c_void_p, [c.c_void_p, c.c_int32, c.c_int32, c.c_int64, *[c.c_void_p] * 4]),
    "rs_ahead_free": (None, [c.c_void_p]),
    "rs_ahead_run": (None, [c.c_void_p]),
    "rs_ahead_stop": (None, [c.c_void_p, c.c_int32]),
    "rs_ahead_claim": (c.c_int32, [c.c_void_p, c.c_int64]),
    "rs_ahead_scan": (c.c_void_p, [c.c_void_p, c.c_int64, c.c_void_p]),
}


def load(path: Path) -> c.CDLL:
    """Load the scanner from a file; raise OSError or AttributeError if it is not ours."""
    return load_library(path, ("rs_version", _VERSION), _SIGNATURES)


@cache
def library() -> c.CDLL | None:
    """Return the scanner, or None if it was not built or is not ours."""
    return find_library("scanner", load)


class DocumentTable:
    """Lookup table of judged documents in the memory of the library, shared by all scans with the same judgments."""

    read_ahead: ReadAhead | None = None
    """Scans with this table that run in the background."""

    def __init__(self, library: c.CDLL, handle: int | None, owner: object = None) -> None:
        if not handle:
            raise MemoryError("no memory for the table of judged documents")
        self.library, self.handle, self._owner = library, handle, owner
        if owner is None:
            finalize(self, library.rs_table_free, handle)


def available() -> bool:
    """Return whether the library was built and can be loaded."""
    return library() is not None


def is_selected() -> bool:
    """Return whether the library is available and the environment does not select another scanner."""
    return os.environ.get(VARIABLE, "") in ("", "native") and available()


def backend_name(backend: str | None = None) -> str:
    """Return the scanner in use, ``native`` or ``python``."""
    name = backend or os.environ.get(VARIABLE) or ("native" if available() else "python")
    if name not in ("native", "python"):
        raise SettingsError(f"unknown scanner {name!r}", hint=f"set {VARIABLE} to native or python")
    if name == "native" and not available():
        raise SettingsError(
            "the native scanner was not built",
            hint=f"install a C compiler and reinstall Rankscope, or set {VARIABLE}=python",
        )
    return name
