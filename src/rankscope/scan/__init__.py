"""A run and the judgments in, hits out: by the library in C, in Python, or from lists in memory."""

from rankscope.scan.hits import RunHits, Ties
from rankscope.scan.scanner import backend_name, hits_of, scan_text

__all__ = ["RunHits", "Ties", "backend_name", "hits_of", "scan_text"]
