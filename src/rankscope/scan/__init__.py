"""A run and the judgments in, hits out: by the library in C, in Python, or from lists in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.lazy import lazy_getattr

__all__ = [
    "RunHits",
    "TieGroups",
    "Ties",
    "backend_name",
    "first_documents",
    "hits_in_text",
    "hits_of",
    "tie_groups",
    "top_list",
    "top_lists",
]

if TYPE_CHECKING:
    from rankscope.scan.backends import backend_name, hits_in_text, hits_of
    from rankscope.scan.documents import first_documents, tie_groups, top_list, top_lists
    from rankscope.scan.hits import RunHits, TieGroups, Ties
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "backends": ("backend_name", "hits_in_text", "hits_of"),
            "documents": ("first_documents", "tie_groups", "top_list", "top_lists"),
            "hits": ("RunHits", "TieGroups", "Ties"),
        },
    )
