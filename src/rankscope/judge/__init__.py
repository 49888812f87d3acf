"""Runs meet judgments: lists become hits."""

from rankscope.judge.judged import UNJUDGED, Judged, judge
from rankscope.judge.lists import Floats, Hits, Ints, Lists
from rankscope.judge.pool import Pool

__all__ = ["UNJUDGED", "Floats", "Hits", "Ints", "Judged", "Lists", "Pool", "judge"]
