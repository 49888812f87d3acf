"""Lazy names of packages (PEP 562), and lazily imported modules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "attach_stub", "numpy"]


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
        setattr(self, name, value)  # Later accesses bypass __getattr__.
        return value

    def __reduce__(self) -> tuple[type[LazyModule], tuple[str]]:
        return LazyModule, (self._name,)


if TYPE_CHECKING:
    import numpy
else:
    numpy = LazyModule("numpy")


def attach_stub(package: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return ``__getattr__`` and ``__all__`` of a package whose stub file declares its names.

    The lines ``from module import name as name`` of ``__init__.pyi`` tell type checkers where a name is defined; at
    run time, the module is imported when the name is first used. The stub is read through the loader of the package,
    so that packages in archives work too.

    >>> find, names = attach_stub("rankscope.judging")
    >>> names[:2], find("judge").__name__
    (['EvaluationOptions', 'Floats'], 'judge')
    """
    spec: Any = sys.modules[package].__spec__
    stub = spec.loader.get_data(f"{spec.submodule_search_locations[0]}/__init__.pyi").decode()
    imports = [line.split() for line in stub.splitlines() if " as " in line]
    module_by_name = {name: module for _, module, _, name, *_ in imports}

    def getattr_lazily(name: str) -> Any:
        if name not in module_by_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = module_by_name[name]
        return (
            import_module(f"{package}.{name}") if module == package else getattr(import_module(module), name)
        )

    return getattr_lazily, sorted(module_by_name)
