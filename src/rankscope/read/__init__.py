"""Read judgments (:class:`Qrels`) and runs (:class:`Run`) from files, frames and dicts."""

from rankscope.lazy import attach_stub

__getattr__, __all__ = attach_stub(__name__)
