"""Find, load and check the compiled libraries in the folder ``c``. Nothing here needs numpy."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Signatures", "compiled", "load_checked"]

Signatures = Mapping[str, tuple[Any, list[Any]]]
"""Result type and argument types of functions, by name."""


def compiled(name: str, load: Callable[[Path], c.CDLL]) -> c.CDLL | None:
    """Return the library of a name, or None if it was not compiled or is not ours.

    >>> compiled("none", c.CDLL) is None
    True
    """
    for suffix in (".so", ".dll", ".dylib"):
        path = Path(__file__).parent / "c" / f"{name}{suffix}"
        if path.exists():
            try:
                return load(path)
            except (OSError, AttributeError):
                return None
    return None


def load_checked(
    path: Path, version: tuple[str, int], functions: Signatures, optional: Signatures | None = None
) -> c.CDLL:
    """Load a library and declare its functions; raise OSError or AttributeError if it is not ours.

    ``version`` is the function that returns the version, and the version that is required; an earlier build may lack
    ``optional`` functions.
    """
    found = c.CDLL(str(path))
    there = {name: one for name, one in (optional or {}).items() if hasattr(found, name)}
    for name, (result, arguments) in {**functions, **there}.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    if getattr(found, version[0])() != version[1]:
        raise OSError(f"{path} is another version of the library")
    return found
