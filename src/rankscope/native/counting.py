"""Bindings of the C library that counts in bit sets and compares runs with the best.

Without the library, numpy has the same results, but is slower.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.native.libraries import Signatures, find_library, load_library

_STRIDE = 8  # words between two cumulative counts (RS_STRIDE of the library)
_POINTERS = ("marks", "delta", "size", "offsets", "position", "worth", "begins", "weight", "path", "before")


class _Counting(c.Structure):
    _fields_ = [
        *((name, c.c_int64) for name in ("words", "ranks", "vectors", "classes")),
        *((name, c.c_void_p) for name in _POINTERS),
    ]


_FUNCTIONS: Signatures = {
    "rs_count": (None, [c.POINTER(_Counting), *[c.POINTER(c.c_int64)] * 2]),
    "rs_deficits": (None, [*[c.c_void_p] * 3, *[c.c_int64] * 2]),
}


@cache
def _library() -> c.CDLL | None:
    return find_library("counting", lambda path: load_library(path, ("rs_counting_version", 2), _FUNCTIONS))


def available() -> bool:
    """Return whether the library was built and can be loaded."""
    return _library() is not None


def count(
    marks: Sequence[NDArray[np.uint64]],
    delta: NDArray[np.int16],
    size: NDArray[np.int64],
    queries: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    classes: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[int, int]:
    """Count comparable and violated pairs of items with difference vectors, without holding the GIL.

    ``queries`` are the offsets of the queries of each vector, and position and worth of each query; ``classes`` are the
    first bit of each class of items, and the number of intervals for which each of its items counts.
    """
    library = _library()
    assert library is not None
    words = marks[0].shape[1]
    kept = [np.ascontiguousarray(mark) for mark in marks]
    arrays: dict[str, NDArray[Any]] = {
        "marks": np.array([mark.ctypes.data for mark in kept], dtype=np.uintp),
        "delta": np.ascontiguousarray(delta),
        "size": np.ascontiguousarray(size),
        **{
            name: np.ascontiguousarray(array, dtype=np.int64)
            for name, array in zip(
                ("offsets", "position", "worth", "begins", "weight"), (*queries, *classes), strict=True
            )
        },
        "path": np.empty((len(kept), words), dtype=np.uint64),
        "before": np.empty(words // _STRIDE + 1, dtype=np.uint32),
    }
    arguments = _Counting(
        words, len(kept), len(delta), len(classes[1]), *(arrays[name].ctypes.data for name in _POINTERS)
    )
    comparable, violated = c.c_int64(0), c.c_int64(0)
    library.rs_count(c.byref(arguments), c.byref(comparable), c.byref(violated))
    return comparable.value, violated.value


def largest_deficits(sums: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest deficit of each run against any other run, shape (runs, 2 * signs).

    The left half uses the signs of ``sums``, the right half the opposite signs. ``sums``, runs x signs, are finite. A
    deficit is a difference of two sums times the element of ``inverse``, runs x runs.
    """
    library = _library()
    assert library is not None
    runs, n_signs = sums.shape
    sums, inverse = np.ascontiguousarray(sums), np.ascontiguousarray(inverse)
    deficits = np.empty((runs, 2 * n_signs))
    library.rs_deficits(sums.ctypes.data, inverse.ctypes.data, deficits.ctypes.data, runs, n_signs)
    return deficits
