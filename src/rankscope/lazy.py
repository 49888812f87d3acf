"""Lazy names of packages (PEP 562), and lazily imported modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "lazy_getattr", "numpy"]


class LazyModule:
    """A module that is imported when one of its attributes is first used.

    >>> json = LazyModule("json")
    >>> json.dumps([1])
    '[1]'
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)  # The next access does not come here.
        return value


if TYPE_CHECKING:
    import numpy
else:
    numpy = LazyModule("numpy")


def lazy_getattr(package: str, names_by_module: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that imports a module when one of its names is first used.

    >>> find = lazy_getattr("rankscope", {"errors": ("suggest_names",)})
    >>> find("suggest_names").__name__
    'suggest_names'
    """
    module_by_name = {name: module for module, names in names_by_module.items() for name in names}

    def getattr_lazily(name: str) -> Any:
        if name not in module_by_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_by_name[name]}"), name)

    return getattr_lazily
