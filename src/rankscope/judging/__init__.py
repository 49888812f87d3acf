"""Lists and hits of runs, given judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.lazy import lazy_getattr

__all__ = ["UNJUDGED", "EvaluationOptions", "Floats", "Hits", "Ints", "Judged", "Lists", "Pool", "judge"]

if TYPE_CHECKING:
    from rankscope.judging.judged import UNJUDGED, EvaluationOptions, Judged, judge
    from rankscope.judging.lists import Floats, Hits, Ints, Lists
    from rankscope.judging.pool import Pool
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "judged": ("UNJUDGED", "EvaluationOptions", "Judged", "judge"),
            "lists": ("Floats", "Hits", "Ints", "Lists"),
            "pool": ("Pool",),
        },
    )
