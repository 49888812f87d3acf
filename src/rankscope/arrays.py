"""Types of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Grades = NDArray[np.int32]
Indices = NDArray[np.intp]
Ints = NDArray[np.int64]
