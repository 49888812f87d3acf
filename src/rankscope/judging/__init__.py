"""Lists and hits of runs, given judgments."""

from rankscope.lazy import attach_stub

__getattr__, __all__ = attach_stub(__name__)
