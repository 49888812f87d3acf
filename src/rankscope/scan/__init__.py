"""Find the hits of runs: with the C library, in Python, or from rankings in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.lazy import lazy_getattr

__all__ = [
    "RunHits",
    "TieGroups",
    "Ties",
    "backend_name",
    "first_documents",
    "scan_run",
    "scan_text",
    "tie_groups",
    "top_list",
    "top_lists",
]

if TYPE_CHECKING:
    from rankscope.scan.backends import backend_name, scan_run, scan_text
    from rankscope.scan.documents import first_documents, tie_groups, top_list, top_lists
    from rankscope.scan.hits import RunHits, TieGroups, Ties
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "backends": ("backend_name", "scan_run", "scan_text"),
            "documents": ("first_documents", "tie_groups", "top_list", "top_lists"),
            "hits": ("RunHits", "TieGroups", "Ties"),
        },
    )
