"""Every measure by its name. A module of this package is imported when one of its measures is asked for.

No list names the measures: a class registers itself when its module is imported, and the sources of the package tell
which module defines a name.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from functools import cache
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankscope.measures.base import Measure

_PACKAGE = "rankscope.measures"
_FOLDER = os.path.dirname(__file__)  # noqa: PTH120


@cache
def _sources() -> dict[str, bytes]:
    """Return the source of every module of the package by its name, as far as sources are installed."""
    found: dict[str, bytes] = {}
    for file in sorted(os.listdir(_FOLDER)) if os.path.isdir(_FOLDER) else ():  # noqa: PTH112, PTH208
        name, suffix = os.path.splitext(file)  # noqa: PTH122 (pathlib takes long to load)
        if suffix == ".py" and name != "__init__":
            with open(os.path.join(_FOLDER, file), "rb") as source:  # noqa: PTH118, PTH123
                found[name] = source.read()
    return found


def _modules() -> list[str]:
    """Return the names of all modules of the package, which may be installed without sources."""
    from pkgutil import iter_modules

    return [module.name for module in iter_modules([_FOLDER])]


def _home(name: str) -> str | None:
    """Return the module whose source defines the measure, as far as the text tells.

    A wrong answer does no harm: :class:`Registry` then imports all modules.
    """
    begin = f"\nclass {name}(".encode()
    for module, text in _sources().items():
        if begin in text:
            return module
    alias = re.compile(
        rb"^    (?:name|aliases)\b.*[\"']" + re.escape(name.encode()) + rb"[\"']", re.MULTILINE
    )
    return next((module for module, text in _sources().items() if alias.search(text)), None)


class Registry(dict[str, "Measure"]):
    """A dict of all measures, with their default parameters, that imports what it is asked for.

    A lookup of one name imports the module that defines it; iteration imports all. Measures are listed by the
    ``ORDER`` of their modules, those of modules without one next, by module name, and those of the user last, in the
    order of their definition.
    """

    def __init__(self) -> None:
        super().__init__()
        self._complete = False
        self._lock = RLock()

    def _find(self, name: object) -> Measure | None:
        """Return the measure of a name, or None; import the module that defines it, or all if that is not clear."""
        measure: Measure | None = super().get(name)  # type: ignore[call-overload] # any object may be looked up
        if measure is not None:
            # A class registers itself before the rest of its module is executed: wait for a thread that imports it.
            home = type(measure).__module__
            if home.startswith(f"{_PACKAGE}.") and home in sys.modules:
                import_module(home)
            return measure
        if self._complete:
            return None
        if isinstance(name, str) and (module := _home(name)) is not None:
            import_module(f"{_PACKAGE}.{module}")
            measure = super().get(name)
        if measure is None:
            self._load()
            measure = super().get(name)  # type: ignore[call-overload]
        return measure

    def _load(self) -> None:
        """Import all modules."""
        if self._complete:
            return
        # Outside the lock: a module that another thread imports may look up measures, and would wait for the lock.
        modules = [import_module(f"{_PACKAGE}.{name}") for name in _modules()]
        with self._lock:
            ordered = sorted(modules, key=lambda one: (getattr(one, "ORDER", len(modules)), one.__name__))
            places = {module.__name__: place for place, module in enumerate(ordered)}
            known = list(super().items())
            listed = sorted(known, key=lambda item: places.get(type(item[1]).__module__, len(places)))
            if listed != known:
                super().clear()
                super().update(listed)
            self._complete = True

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def __getitem__(self, name: str) -> Measure:
        measure = self._find(name)
        if measure is None:
            raise KeyError(name)
        return measure

    def get(self, name: str, default: Measure | None = None) -> Measure | None:  # type: ignore[override]
        """The measure of a name, or the default."""
        measure = self._find(name)
        return default if measure is None else measure

    def __iter__(self) -> Iterator[str]:
        self._load()
        return super().__iter__()

    def __len__(self) -> int:
        self._load()
        return super().__len__()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All names."""
        self._load()
        return super().keys()

    def values(self) -> ValuesView[Measure]:  # type: ignore[override]
        """All measures, those with several names several times."""
        self._load()
        return super().values()

    def items(self) -> ItemsView[str, Measure]:  # type: ignore[override]
        """All names with their measures."""
        self._load()
        return super().items()
