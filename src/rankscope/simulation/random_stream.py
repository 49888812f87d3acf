"""Random numbers with the same bits on every machine.

numpy guarantees the raw stream of PCG64 but not the methods of ``Generator``, which may change between versions, and
``exp`` or ``log`` may differ in the last bit between machines. This module therefore derives all numbers from the raw
stream with integer operations, sums and products, whose rounding IEEE 754 defines.
"""

from __future__ import annotations

import numpy as np

from rankscope.arrays import Floats, NDArray


class RandomStream:
    """A reproducible stream of random numbers, independent for each key.

    >>> first, same, other = (RandomStream(*key).uniform(2).tolist() for key in ((1, 2), (1, 2), (1, 3)))
    >>> first == same != other
    True
    """

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def uniform(self, count: int) -> Floats:
        """Return numbers in [0, 1), multiples of 2^-53."""
        return (self._raw(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, count: int) -> Floats:
        """Return approximately normal numbers, mean 0 and variance 1: sums of the four 16-bit parts of raw numbers."""
        raw = self._raw(count)
        lanes = np.uint64(0x0000FFFF0000FFFF)
        pairs = (raw & lanes) + ((raw >> np.uint64(16)) & lanes)
        total = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
        return (total.astype(np.float64) - 131070.0) * (1.7320508075688772 / 65536.0)

    def log_normal(self, count: int, spread: float) -> Floats:
        """Return approximately log-normal numbers with median 1: (1 + z/8)^8, close to exp(z), z = spread * normal."""
        root = np.maximum(1.0 + self.normal(count) * (spread / 8.0), 0.0)
        square = root * root
        fourth = square * square
        eighth: Floats = fourth * fourth
        return eighth

    def _raw(self, count: int) -> NDArray[np.uint64]:
        raw: NDArray[np.uint64] = self._bits.random_raw(count)
        return raw
