"""Runs meet judgments: lists become hits."""

from rankscope.judging.judged import UNJUDGED, Handling, Judged, judge
from rankscope.judging.lists import Floats, Hits, Ints, Lists
from rankscope.judging.pool import Pool

__all__ = ["UNJUDGED", "Floats", "Handling", "Hits", "Ints", "Judged", "Lists", "Pool", "judge"]
