"""A run and the judgments in, hits out: by the library in C, in Python, or from lists in memory."""

from rankscope.scan.backends import backend_name, hits_in_text, hits_of
from rankscope.scan.hits import RunHits, Ties

__all__ = ["RunHits", "Ties", "backend_name", "hits_in_text", "hits_of"]
