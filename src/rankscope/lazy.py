"""Lazy names of packages (PEP 562), and lazily imported modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["LazyModule", "loaded_when_used"]


class LazyModule:
    """A module that is imported when one of its attributes is first used.

    >>> json = LazyModule("json")
    >>> json.dumps([1])
    '[1]'
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def loaded_when_used(package: str, home: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that imports a module when one of its names is first used.

    >>> find = loaded_when_used("rankscope", {"errors": ("nearest",)})
    >>> find("nearest").__name__
    'nearest'
    """
    where = {name: module for module, names in home.items() for name in names}

    def find(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{where[name]}"), name)

    return find
