"""The scanner in C as a library: its functions and what they give. Nothing here needs numpy."""

from __future__ import annotations

import ctypes as c
import os
from functools import lru_cache
from pathlib import Path
from weakref import finalize

from rankscope.errors import SettingsError
from rankscope.native.libraries import Signatures, compiled, load_checked

__all__ = [
    "KEY",
    "Documents",
    "Judged",
    "Result",
    "Table",
    "available",
    "backend_name",
    "chosen_library",
    "gives_documents",
    "library",
    "load",
    "takes_rows",
]

VARIABLE = "RANKSCOPE_SCANNER"
KEY = os.urandom(16)
"""Of the hash of ids in this process."""
_VERSION = 5


class Result(c.Structure):
    """What a scan has found: ``rs_result`` of ``c/scanner.h``."""

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


class Documents(c.Structure):
    """The documents that were asked for: ``rs_documents`` of ``c/scanner.h``."""

    _fields_ = [
        ("documents", c.c_int64),
        *((name, c.c_void_p) for name in ("bytes", "ends", "tie_first", "list_ends")),
    ]


class Judged(c.Structure):
    """What judgments are: ``rs_judgments`` of ``c/scanner.h``."""

    _fields_ = [
        *((name, c.c_int64) for name in ("topics", "judgments", "several")),
        ("names", c.c_void_p),
        ("names_length", c.c_int64),
        *((name, c.c_void_p) for name in ("offsets", "grades", "documents")),
        ("documents_length", c.c_int64),
    ]


_SIGNATURES: Signatures = {
    "rs_version": (c.c_int32, []),
    "rs_table_new": (c.c_void_p, [c.c_int64, *[c.c_void_p] * 6]),
    "rs_table_free": (None, [c.c_void_p]),
    "rs_scan_new": (c.c_void_p, [c.c_void_p, c.c_int32, c.c_int32]),
    "rs_scan_free": (None, [c.c_void_p]),
    "rs_scan_ties": (None, [c.c_void_p]),
    "rs_scan_feed": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_int64]),
    "rs_scan_read": (c.c_int64, [c.c_void_p, c.c_int32, c.c_int64]),
    "rs_scan_finish": (c.c_int32, [c.c_void_p]),
    "rs_scan_result": (None, [c.c_void_p, c.POINTER(Result)]),
}


_ROWS, _FIRST, _DOCUMENTS = "rs_scan_rows", "rs_scan_first", "rs_scan_documents"
_OPTIONAL: Signatures = {
    _ROWS: (c.c_int32, [c.c_void_p, c.c_int64, *[c.c_void_p] * 6]),
    _FIRST: (None, [c.c_void_p, c.c_int64]),
    _DOCUMENTS: (None, [c.c_void_p, c.POINTER(Documents)]),
    "rs_qrels_new": (c.c_void_p, [c.c_char_p, c.c_int64, c.c_char_p]),
    "rs_qrels_free": (None, [c.c_void_p]),
    "rs_qrels_arrange": (c.c_int32, [c.c_void_p, c.c_void_p]),
    "rs_qrels_result": (None, [c.c_void_p, c.POINTER(Judged)]),
    "rs_qrels_table": (c.c_void_p, [c.c_void_p, c.c_void_p, c.c_char_p]),
    "rs_ahead_new": (c.c_void_p, [c.c_void_p, c.c_int32, c.c_int32, c.c_int64, *[c.c_void_p] * 4]),
    "rs_ahead_free": (None, [c.c_void_p]),
    "rs_ahead_run": (None, [c.c_void_p]),
    "rs_ahead_stop": (None, [c.c_void_p, c.c_int32]),
    "rs_ahead_claim": (c.c_int32, [c.c_void_p, c.c_int64]),
    "rs_ahead_scan": (c.c_void_p, [c.c_void_p, c.c_int64, c.c_void_p]),
}
"""What a library that was built earlier may lack: then rows become lists first, lists and judgments are read in Python,
and nothing is read ahead, with the same result."""


def load(path: Path) -> c.CDLL:
    """The library in a file; OSError or AttributeError if it is not ours."""
    return load_checked(path, ("rs_version", _VERSION), _SIGNATURES, _OPTIONAL)


@lru_cache(maxsize=1)
def library() -> c.CDLL | None:
    """Return the scanner, or None if it was not built or is not ours."""
    return compiled("scanner", load)


class Table:
    """The judged documents in the memory of the library, shared by all scans with the same judgments."""

    def __init__(self, library: c.CDLL, handle: int | None) -> None:
        if not handle:
            raise MemoryError("no memory for the table of judged documents")
        self.library, self.handle = library, handle
        finalize(self, library.rs_table_free, handle)


def chosen_library(needed: str) -> c.CDLL | None:
    """The library, if it is to be used and has a function; None if Python has to do what that does."""
    if os.environ.get(VARIABLE, "") not in ("", "native"):
        return None
    found = library()
    return found if found is not None and hasattr(found, needed) else None


def available() -> bool:
    """Whether the library was built and can be loaded here."""
    return library() is not None


def takes_rows() -> bool:
    """Whether the library scans rows as well as text."""
    found = library()
    return found is not None and hasattr(found, _ROWS)


def gives_documents() -> bool:
    """Whether the library gives documents back."""
    found = library()
    return found is not None and hasattr(found, _FIRST)


def backend_name(backend: str | None = None) -> str:
    """Which scanner is in use, ``native`` or ``python``."""
    wanted = backend or os.environ.get(VARIABLE) or ("native" if available() else "python")
    if wanted not in ("native", "python"):
        raise SettingsError(f"no scanner is called {wanted!r}", hint=f"set {VARIABLE} to native or python")
    if wanted == "native" and not available():
        raise SettingsError(
            "the native scanner was not built",
            hint=f"install a C compiler and reinstall Rankscope, or set {VARIABLE}=python",
        )
    return wanted
