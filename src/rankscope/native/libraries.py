"""Find, load and validate the compiled libraries in the directory ``c``. Does not need numpy."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Signatures = Mapping[str, tuple[Any, list[Any]]]
"""Result type and argument types of functions, by name."""


def find_library(name: str, load: Callable[[Path], c.CDLL]) -> c.CDLL | None:
    """Return the library of a name, or None if it was not compiled or is not ours.

    >>> find_library("none", c.CDLL) is None
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


def load_library(path: Path, version: tuple[str, int], functions: Signatures) -> c.CDLL:
    """Load a library and declare its functions; raise OSError or AttributeError if its version or functions differ.

    ``version`` is the function that returns the version, and the required version.
    """
    library = c.CDLL(str(path))
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if getattr(library, version[0])() != version[1]:
        raise OSError(f"{path} does not have the expected version")
    return library
