"""What a measure declares of itself, where it holds: not for one that first takes documents out of its lists."""

from __future__ import annotations

from rankscope.measures.base import Measure
from rankscope.measures.forms import Form

__all__ = ["form_of", "respects_swaps", "rewards_grades"]


def form_of(measure: Measure) -> Form | None:
    """What its values are made of, if that is known."""
    return measure.closed_form() if measure.sees_whole_lists else None


def respects_swaps(measure: Measure) -> bool:
    """Whether a better document that moves up past a worse one never harms."""
    return measure.respects_swaps and measure.sees_whole_lists


def rewards_grades(measure: Measure) -> bool:
    """Whether the value never falls when a retrieved document gets a higher grade."""
    return measure.rewards_grades and measure.sees_whole_lists
