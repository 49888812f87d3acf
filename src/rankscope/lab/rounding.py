"""Tolerance for the comparison of scores.

Scores are sums of rounded numbers, so without a tolerance ties would count as violations. The tolerance is relative to
the scores: a measure with values of about 1e-10 can violate a property as well as one with values between 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankscope.arrays import Floats

RELATIVE = 1e-9
ABSOLUTE = 1e-13


def slack(value: Any, scale: float) -> Any:
    """Return by how much another value must exceed this one to be larger: 1e-9 of it + 1e-13 of the top score.

    >>> bool(0.1 + 0.2 - 0.3 > slack(0.3, 1.0))
    False
    """
    return RELATIVE * np.abs(value) + ABSOLUTE * scale


def magnitude(values: Floats) -> float:
    """Return the largest absolute value of finite scores.

    >>> magnitude(np.array([0.5, -2.0, np.inf, np.nan]))
    2.0
    """
    return extent(values)[0]


def extent(values: Floats) -> tuple[float, bool]:
    """Return the magnitude of scores, and whether some are NaN.

    >>> extent(np.array([0.5, -2.0, np.inf])), extent(np.array([0.5, np.nan]))
    ((2.0, False), (0.5, True))
    """
    highest, lowest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    largest = max(highest, -lowest)
    if np.isfinite(largest):
        return largest, False
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0)), bool(np.isnan(highest))


def upper_limits(values: Floats, scale: float) -> Floats:
    """Return, for each score, the number that a larger score must exceed: the score plus its slack.

    >>> limits = upper_limits(np.array([0.3, -np.inf]), 1.0)
    >>> (np.array([0.1 + 0.2, 0.0]) > limits).tolist()
    [False, True]
    """
    with np.errstate(invalid="ignore"):
        limits = values + slack(values, scale)
    infinite = np.isinf(values)
    return np.where(infinite, values, limits) if infinite.any() else limits


def format_distinct(a: float, b: float) -> tuple[str, str]:
    """Format two numbers with enough digits to distinguish them, and at least four decimals.

    >>> format_distinct(0.0833, 0.075), format_distinct(2e-10, 1e-10)
    (('0.0833', '0.0750'), ('2.000e-10', '1.000e-10'))
    """
    if a == b or f"{a:.4f}" != f"{b:.4f}":
        return f"{a:.4f}", f"{b:.4f}"
    if max(abs(a), abs(b)) >= 1e-4:
        digits = next((d for d in range(5, 16) if f"{a:.{d}f}" != f"{b:.{d}f}"), 16)
        return f"{a:.{digits}f}", f"{b:.{digits}f}"
    digits = next((d for d in range(3, 16) if f"{a:.{d}e}" != f"{b:.{d}e}"), 16)
    return f"{a:.{digits}e}", f"{b:.{digits}e}"
