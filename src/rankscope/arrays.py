"""Types of arrays."""

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
