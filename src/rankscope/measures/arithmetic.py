"""Arithmetic that formulas share: on arrays of numpy, and on vectors, which need no numpy, with the same results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope.vectors import Vector

if TYPE_CHECKING:
    from rankscope.judging.lists import Floats

__all__ = ["least", "log2", "most", "ratio"]


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Division where 0 / 0 and x / 0 are 0, as trec_eval has it for topics without relevant documents.

    >>> ratio([1, 1], [2, 0]).tolist()
    [0.5, 0.0]
    """
    if isinstance(numerator, Vector):
        return numerator.over(denominator)  # type: ignore[return-value]
    numerator, denominator = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    if denominator.size and denominator.size == numerator.size and not any(denominator.strides):
        same = denominator.flat[0]  # the laboratory: one topic, one denominator
        return numerator / same if same else np.zeros(numerator.shape)
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def least(values: Any, others: Any) -> Any:
    """The smaller of two numbers, each."""
    return values.least(others) if isinstance(values, Vector) else np.minimum(values, others)


def most(values: Any, others: Any) -> Any:
    """The larger of two numbers, each."""
    return values.most(others) if isinstance(values, Vector) else np.maximum(values, others)


def log2(values: Any) -> Any:
    """Logarithms as the C library has them, and so trec_eval; those of numpy depend on the processor in the last digit.

    >>> log2(np.array([1.0, 2.0, 8.0])).tolist()
    [0.0, 1.0, 3.0]
    """
    if isinstance(values, Vector):
        return Vector.of(map(math.log2, values))
    numbers = np.asarray(values, np.float64)
    return np.fromiter(map(math.log2, numbers.ravel().tolist()), np.float64, numbers.size).reshape(
        numbers.shape
    )
