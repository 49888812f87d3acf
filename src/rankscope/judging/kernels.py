"""Kernels: formulas that the extension module evaluates for all lists at once.

A numpy formula takes some microseconds for each measure, which is most of the time of a small evaluation. A kernel
describes the formula of a common measure with tables of numbers; its values are those of the formula, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankscope.arrays import AnyArray, Floats, Ints
from rankscope.judging.lists import Lists
from rankscope.judging.pool import Pool
from rankscope.native.memory import evaluate_hits, is_usable, sum_ideals

TERMS = ("count", "any", "first", "precision", "weighted", "base", "preference")
"""Terms of sums over hits: the number of hits, whether there is one, 1 / rank of the first, ordinal / rank, gain x
weight, the number of hits down to the rank of the divisor, and 1 - min(n, cap) / scale with the number n of judged
non-relevant documents above. ``native/c/memory.c`` has constants in the same order."""

UNLIMITED = (1 << 31) - 1
"""Cutoff that includes all ranks."""
MAX_GRADE = 1 << 12
"""Largest grade of a table of gains, which bounds memory."""
DEPTH = 128
"""Number of ranks of a table of weights, unless rankings are longer."""


class Kernel(NamedTuple):
    """Sum of a term over the hits of grade ``rel`` or better down to a cutoff, divided by a number or one per topic.

    Division by 0 gives 0, as :func:`rankscope.measures.arithmetic.ratio` does.
    """

    term: str
    rel: int = 1
    cutoff: int | None = None
    divisor: float | Ints | Floats = 1.0
    gains: Floats | None = None
    """Gains by grade from 0 on."""
    weight: Callable[[AnyArray], AnyArray] | None = None
    """Function of ranks, from 1 on."""
    limits: tuple[Ints, Ints] | None = None
    """Caps and scales of preferences, by topic."""

    def to_tuple(self, depth: int) -> tuple[int, int, int, bytes, bytes, bytes]:
        """Return the argument for the extension module, with weights down to a depth."""
        cutoff = UNLIMITED if self.cutoff is None else min(self.cutoff, UNLIMITED)
        weights = b"" if self.weight is None else _weights(self.weight, min(depth, cutoff))
        gains = b"" if self.gains is None else self.gains.tobytes()
        if self.limits is not None:
            gains, weights = (limit.astype(np.float64).tobytes() for limit in self.limits)
        divisors = np.asarray(self.divisor, np.float64).tobytes()
        return TERMS.index(self.term), min(self.rel, UNLIMITED), cutoff, gains, weights, divisors

    def sum_ideals(self, pool: Pool) -> Floats | None:
        """Return the undivided sum of the ideal ranking of each topic, for a weighted term; None without the module."""
        sums = sum_ideals(pool.offsets, pool.grade, self.to_tuple(DEPTH))
        if isinstance(sums, int):  # Rankings are deeper than the table of weights.
            sums = sum_ideals(pool.offsets, pool.grade, self.to_tuple(1 << sums.bit_length()))
        return None if isinstance(sums, int) else sums


@lru_cache
def _weights(weight: Callable[[AnyArray], AnyArray], depth: int) -> bytes:
    return np.asarray(weight(np.arange(1, depth + 1)), np.float64).tobytes()


class KernelSet:
    """Kernels that are evaluated together, as the extension module takes them."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._kernels, self._is_usable = kernels, is_usable()
        self._tuples = [kernel.to_tuple(DEPTH) for kernel in kernels]

    def evaluate(self, lists: Lists) -> Floats | None:
        """Return the values, shape (kernels, lists); None for other than plain lists, or without the module."""
        if not self._is_usable or type(lists) is not Lists:
            return None
        arrays = lists.topic, lists.offsets, lists.rank, lists.judgment, lists.pool.grade
        values = evaluate_hits(*arrays, self._tuples)
        if isinstance(values, int):  # Ranks are deeper than the tables of weights.
            self._tuples = [kernel.to_tuple(1 << values.bit_length()) for kernel in self._kernels]
            values = evaluate_hits(*arrays, self._tuples)
        return None if isinstance(values, int) else values
