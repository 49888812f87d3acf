"""What is loaded when it is first used, and not before: names of our packages (PEP 562), and modules of others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["is_put_off", "loaded_when_used", "put_off", "use"]


def loaded_when_used(package: str, home: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose modules have these names.

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


class _PutOff(ModuleType):
    """A module that becomes what it is when something of it is used: until then it has its specification only."""

    def __getattr__(self, name: str) -> Any:
        with _loading:
            if type(self) is _PutOff:
                self.__class__ = ModuleType  # type: ignore[assignment]
                self.__dict__.update(self.__dict__.pop("_rankscope_left_out"))
                specification = self.__spec__
                assert specification is not None and specification.loader is not None
                try:
                    specification.loader.exec_module(self)
                except BaseException:
                    sys.modules.pop(self.__name__, None)
                    raise
        return getattr(self, name)


_loading = RLock()


class _Found:
    """Finds a submodule that came with its module, which was loaded because somebody asked for the submodule."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in sys.modules or is_put_off(name):
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, specification: ModuleSpec) -> ModuleType:
        module = sys.modules[specification.name]
        self.whose = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.whose  # it has been loaded, and keeps what says from where


def put_off(name: str) -> None:
    """Let ``import NAME`` load the module when something of it is first used, by whoever imports it.

    For a program that may end before: modules can name what they need at their top, and who does not use it does not
    pay for it. (``importlib.util.LazyLoader`` loads a module as soon as it is imported a second time.) Whoever goes on
    to start threads says :func:`use` first. A submodule, asked for by its name, loads the module.
    """
    if name in sys.modules:
        return
    from importlib.util import find_spec, module_from_spec

    specification = find_spec(name)
    if specification is None or specification.loader is None:
        return
    module = module_from_spec(specification)
    # whoever looks for a submodule asks for the path, and must find the module loaded
    left_out = {"__path__": module.__dict__.pop("__path__")} if "__path__" in module.__dict__ else {}
    module.__dict__["_rankscope_left_out"] = left_out
    module.__class__ = _PutOff
    sys.modules[name] = module
    if not any(isinstance(finder, _Found) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Found())


def use(name: str) -> None:
    """Load a module that was put off, and is wanted after all."""
    if is_put_off(name):
        sys.modules[name].__getattr__("__name__")


def is_put_off(name: str) -> bool:
    """Whether a module is waiting to be used."""
    return isinstance(sys.modules.get(name), _PutOff)
