"""Read judgments (:class:`Qrels`) and runs (:class:`Run`) from files, frames and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.lazy import lazy_getattr

__all__ = [
    "ORDERS",
    "UNJUDGED",
    "Aspects",
    "Inputs",
    "Qrels",
    "Run",
    "RunList",
    "Runs",
    "as_runs",
    "looks_like_qrels",
    "open_collection",
    "open_qrels",
    "read_qrels",
    "read_run",
    "read_runs",
]

if TYPE_CHECKING:
    from rankscope.read.collection import Inputs, open_collection, open_qrels
    from rankscope.read.orders import ORDERS
    from rankscope.read.qrels import UNJUDGED, Aspects, Qrels, read_qrels
    from rankscope.read.qrels_text import looks_like_qrels
    from rankscope.read.run_files import read_run, read_runs
    from rankscope.read.runs import Run, RunList, Runs, as_runs
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "collection": ("Inputs", "open_collection", "open_qrels"),
            "orders": ("ORDERS",),
            "qrels": ("UNJUDGED", "Aspects", "Qrels", "read_qrels"),
            "qrels_text": ("looks_like_qrels",),
            "run_files": ("read_run", "read_runs"),
            "runs": ("Run", "RunList", "Runs", "as_runs"),
        },
    )
