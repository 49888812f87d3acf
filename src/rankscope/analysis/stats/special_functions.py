"""Distribution functions of scipy.special, without the rest of that package, whose import takes ten times as long.

The package imports numpy.testing and numpy.f2py for its support of other array libraries, which takes 0.3 s of every
command that computes an interval. Its compiled functions need none of that.
"""

from __future__ import annotations

import sys
from threading import active_count
from types import ModuleType
from typing import Any

import scipy

__all__ = ["betainc", "chdtrc", "fdtrc", "nctdtr", "ndtr", "ndtri", "stdtr", "stdtrit"]


def _load() -> Any:
    """Return the compiled module, imported through an empty parent package, or scipy.special if that is not possible.

    While the parent is empty, no other thread may import scipy.special.
    """
    if "scipy.special" not in sys.modules and active_count() == 1:
        parent = ModuleType("scipy.special")
        parent.__path__ = [f"{scipy.__path__[0]}/special"]
        sys.modules["scipy.special"] = parent
        try:
            from scipy.special import _ufuncs

            if all(hasattr(_ufuncs, name) for name in __all__):
                return _ufuncs
        except ImportError:  # Another version of SciPy has other modules.
            pass
        finally:
            del sys.modules["scipy.special"]
    from scipy import special

    return special


_functions = _load()
betainc, chdtrc, fdtrc, nctdtr = (
    getattr(_functions, name) for name in ("betainc", "chdtrc", "fdtrc", "nctdtr")
)
ndtr, ndtri, stdtr, stdtrit = (getattr(_functions, name) for name in ("ndtr", "ndtri", "stdtr", "stdtrit"))
