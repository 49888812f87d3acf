"""Aspects that each list covers, and the rank at which it first does, for the report."""

from __future__ import annotations

from rankscope.judging import Judged
from rankscope.judging.coverage import first_ranks
from rankscope.reporting.schema import Coverage

__all__ = ["coverage"]


def coverage(judged: Judged) -> Coverage | None:
    """Return the data of :meth:`rankscope.Collection.coverage`; None for judgments without aspects."""
    ranks = first_ranks(judged)
    return None if ranks is None else {"names": ranks.names, "first": ranks.first}
