"""Which aspects of its topic a list covers, and at which rank first, for the page."""

from __future__ import annotations

from rankscope.analysis.coverage import first_ranks
from rankscope.judging import Judged
from rankscope.reporting.schema import Coverage

__all__ = ["coverage"]


def coverage(judged: Judged) -> Coverage | None:
    """What :func:`rankscope.coverage` is made from; None for judgments without aspects."""
    found = first_ranks(judged)
    return None if found is None else {"names": found.names, "first": found.first}
