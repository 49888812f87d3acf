"""Find the hits of runs: with the C library, in Python, or from rankings in memory."""

from rankscope.lazy import attach_stub

__getattr__, __all__ = attach_stub(__name__)
