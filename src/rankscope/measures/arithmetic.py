"""Arithmetic shared by formulas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rankscope.arrays import Floats


def ratio(numerator: Any, denominator: Any) -> Floats:
    """Divide, with 0 / 0 = x / 0 = 0, as trec_eval does for topics without relevant documents.

    >>> ratio([1, 1], [2, 0]).tolist()
    [0.5, 0.0]
    """
    if isinstance(denominator, int | float):
        numerator = np.asarray(numerator, np.float64)
        return numerator / denominator if denominator else np.zeros(numerator.shape)
    numerator, denominator = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    if denominator.size and denominator.size == numerator.size and not any(denominator.strides):
        constant = denominator.flat[0]  # a broadcast scalar: the laboratory has one topic and one denominator
        return numerator / constant if constant else np.zeros(numerator.shape)
    if denominator.shape == numerator.shape and np.count_nonzero(denominator) == denominator.size:
        return np.asarray(numerator / denominator)
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def log2(values: Any) -> Any:
    """Return base-2 logarithms of the C library, as trec_eval uses; the last digit of numpy's depends on the processor.

    >>> log2(np.array([1.0, 2.0, 8.0])).tolist()
    [0.0, 1.0, 3.0]
    """
    numbers = np.asarray(values, np.float64)
    return np.fromiter(map(math.log2, numbers.ravel().tolist()), np.float64, numbers.size).reshape(
        numbers.shape
    )
