"""Libraries in C, in a folder ``c`` beside the module that uses them: found, loaded with ctypes, and checked.

None has to be there: who asks for one does the same without it. Nothing here needs numpy.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Signatures", "library_beside", "loaded"]

Signatures = Mapping[str, tuple[Any, list[Any]]]
"""By the name of a function what it returns, and its arguments."""


def library_beside(module: str, name: str, load: Callable[[Path], c.CDLL]) -> c.CDLL | None:
    """The library that was built beside a module, of which this is ``__file__``; None if there is none of ours.

    >>> library_beside(__file__, "none", c.CDLL) is None
    True
    """
    for suffix in (".so", ".dll", ".dylib"):
        path = Path(module).parent / "c" / f"{name}{suffix}"
        if path.exists():
            try:
                return load(path)
            except (OSError, AttributeError):
                return None
    return None


def loaded(
    path: Path, version: tuple[str, int], functions: Signatures, optional: Signatures | None = None
) -> c.CDLL:
    """The library in a file; OSError or AttributeError if it is not ours.

    ``version`` is the function that tells it, and what it must tell; an earlier build may lack what is ``optional``.
    """
    found = c.CDLL(str(path))
    there = {name: one for name, one in (optional or {}).items() if hasattr(found, name)}
    for name, (result, arguments) in {**functions, **there}.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    if getattr(found, version[0])() != version[1]:
        raise OSError(f"{path} is another version of the library")
    return found
