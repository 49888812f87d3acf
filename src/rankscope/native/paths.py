"""Bindings of the C library that sums along paths of the tree of rankings, and compares rankings.

If the library was not built, NumPy computes the same results more slowly.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rankscope.native.libraries import Signatures, find_library, load_library


class _Paths(c.Structure):
    _fields_ = [
        *((name, c.c_int64) for name in ("letters", "levels", "trees", "ordinals")),
        *((name, c.c_void_p) for name in ("table", "marked", "counts", "above", "totals")),
    ]


_FUNCTIONS: Signatures = {
    "rs_descend": (None, [c.POINTER(_Paths)]),
    "rs_compare": (None, [c.c_void_p, c.c_void_p, c.c_int64, c.c_double, c.c_double, c.c_int32, c.c_void_p]),
}


@cache
def _library() -> c.CDLL | None:
    return find_library("paths", lambda path: load_library(path, ("rs_paths_version", 1), _FUNCTIONS))


def available() -> bool:
    """Return whether the library was built and can be loaded."""
    return _library() is not None


def descend(
    table: NDArray[np.float64],
    marked: NDArray[np.bool_],
    counts: Sequence[NDArray[np.uint8]],
    above: Sequence[int],
    totals: NDArray[np.float64],
) -> None:
    """Fill ``totals`` level by level, starting from its first entry.

    ``table`` has shape (levels, trees, letters, documents above) and ``marked`` (levels, trees, letters). ``counts``
    has, for each tree, the number of documents of every ranking below the prefix, and ``above`` those in the prefix.
    """
    library = _library()
    assert library is not None and table.flags.c_contiguous and marked.flags.c_contiguous
    levels, trees, letters, ordinals = table.shape
    addresses = np.array([array.ctypes.data for array in counts], np.uintp)
    prefix = np.array(above, np.int64)
    paths = _Paths(
        letters, levels, trees, ordinals,
        table.ctypes.data, marked.ctypes.data, addresses.ctypes.data, prefix.ctypes.data, totals.ctypes.data,
    )  # fmt: skip
    library.rs_descend(c.byref(paths))


class Stretches:
    """Stretches of pairs of rankings: (first ranking of each side, number of pairs, mask of the pairs that count)."""

    def __init__(self, stretches: Sequence[tuple[int, int, int, NDArray[np.bool_] | None]]) -> None:
        self._masks = [None if mask is None else np.ascontiguousarray(mask) for *_, mask in stretches]
        self.table = np.array(
            [
                (low, high, n_pairs, 0 if mask is None else mask.ctypes.data)
                for (low, high, n_pairs, _), mask in zip(stretches, self._masks, strict=True)
            ],
            np.int64,
        ).reshape(len(stretches), 4)


def compare(
    values: NDArray[np.float64], stretches: Stretches, slack: tuple[float, float], strict: bool
) -> list[int]:
    """Return the number of pairs in the wrong order of every stretch; ``slack`` is (relative, absolute).

    >>> if available():
    ...     compare(np.array([0.0, 2.0, 1.0]), Stretches([(1, 2, 1, None), (0, 1, 2, None)]), (0.0, 0.0), strict=False)
    ... else:
    ...     [1, 1]
    [1, 1]
    """
    library = _library()
    assert library is not None and values.flags.c_contiguous and values.dtype == np.float64
    n_stretches = len(stretches.table)
    violations = np.empty(n_stretches, np.int64)
    library.rs_compare(
        values.ctypes.data,
        stretches.table.ctypes.data,
        n_stretches,
        *slack,
        int(strict),
        violations.ctypes.data,
    )
    return violations.tolist()
