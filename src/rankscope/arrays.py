"""Types of arrays, and selection of spans of flat arrays."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray as NDArray

AnyArray = NDArray[Any]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Grades = NDArray[np.int32]
Indices = NDArray[np.intp]
Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
Weights = Floats | None
"""Weights of topics; None if they are equal."""


def take_spans(offsets: Ints, spans: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the offsets of some spans, put one after another, and the indices of their elements.

    Span i of a flat array is ``offsets[i]:offsets[i + 1]``.

    >>> [array.tolist() for array in take_spans(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[0, 3, 5], [2, 3, 4, 0, 1]]
    """
    size = np.diff(offsets)[spans]
    taken = np.concatenate([[0], np.cumsum(size)])
    return taken, np.arange(taken[-1]) + np.repeat(offsets[spans] - taken[:-1], size)
