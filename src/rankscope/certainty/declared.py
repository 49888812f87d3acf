"""Declared properties of measures; they do not hold for measures that first remove documents from their lists."""

from __future__ import annotations

from rankscope.measures.base import Measure
from rankscope.measures.forms import Form


def declared_form(measure: Measure) -> Form | None:
    """Return the closed form of a measure, or None if it declares none."""
    return measure.closed_form() if measure.sees_whole_lists else None


def respects_swaps(measure: Measure) -> bool:
    """Return whether moving a better document up past a worse one never lowers the value."""
    return measure.respects_swaps and measure.sees_whole_lists


def rewards_grades(measure: Measure) -> bool:
    """Return whether a higher grade of a retrieved document never lowers the value."""
    return measure.rewards_grades and measure.sees_whole_lists
