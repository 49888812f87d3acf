"""Registry of measures by name, which imports a module of this package when one of its measures is first used.

A measure class registers itself when its module is imported. The registry searches the sources of the package for the
module that defines a name.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, MutableMapping
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
    """Return the sources of all modules of the package by name; empty if they are not installed."""
    sources: dict[str, bytes] = {}
    for file in sorted(os.listdir(_FOLDER)) if os.path.isdir(_FOLDER) else ():  # noqa: PTH112, PTH208
        name, suffix = os.path.splitext(file)  # noqa: PTH122 (pathlib takes long to load)
        if suffix == ".py" and name != "__init__":
            with open(os.path.join(_FOLDER, file), "rb") as source:  # noqa: PTH118, PTH123
                sources[name] = source.read()
    return sources


def _home(name: str) -> str | None:
    """Return the module whose source seems to define a measure.

    A wrong result is harmless, because :class:`Registry` then imports all modules.
    """
    quoted = re.escape(name.encode())
    for pattern in (rb"^class %b\(" % quoted, rb"^    (?:name|aliases)\b.*[\"']%b[\"']" % quoted):
        for module, text in _sources().items():
            if re.search(pattern, text, re.MULTILINE):
                return module
    return None


class Registry(MutableMapping[str, "Measure"]):
    """Dictionary of all measures, with default parameters, that imports modules on demand.

    A lookup imports the module that defines the name; iteration imports all modules. Measures are sorted by the
    ``ORDER`` of their modules. Modules without an ``ORDER`` follow by name, and then user-defined measures in the order
    of their definition.
    """

    def __init__(self) -> None:
        self._measures: dict[str, Measure] = {}
        self._imported: set[str] = set()  # modules that were executed to their end
        self._complete = False
        self._lock = RLock()

    def _find(self, name: str) -> Measure | None:
        """Return the measure with a name, or None; import the module that seems to define it, otherwise all."""
        measure = self._measures.get(name)
        if measure is not None:
            # A class registers itself before the rest of its module is executed: wait for a thread that imports it.
            home = type(measure).__module__
            is_ours = home not in self._imported and home.startswith(f"{_PACKAGE}.") and home in sys.modules
            if is_ours and not getattr(import_module(home).__spec__, "_initializing", False):
                self._imported.add(home)
            return measure
        if self._complete:
            return None
        if isinstance(name, str) and (module := _home(name)) is not None:
            import_module(f"{_PACKAGE}.{module}")
        if name not in self._measures:
            self._load()
        return self._measures.get(name)

    def _load(self) -> None:
        """Import all modules."""
        if self._complete:
            return
        from pkgutil import iter_modules  # The modules may be installed without sources.

        # Outside the lock: a module that another thread imports may look up measures, and would wait for the lock.
        modules = [import_module(f"{_PACKAGE}.{name}") for _, name, _ in iter_modules([_FOLDER])]
        with self._lock:
            modules.sort(key=lambda module: (getattr(module, "ORDER", float("inf")), module.__name__))
            positions = {module.__name__: position for position, module in enumerate(modules)}
            items = list(self._measures.items())
            ordered = sorted(items, key=lambda item: positions.get(type(item[1]).__module__, len(modules)))
            if ordered != items:
                self._measures.clear()
                self._measures.update(ordered)
            self._complete = True

    def __getitem__(self, name: str) -> Measure:
        measure = self._find(name)
        if measure is None:
            raise KeyError(name)
        return measure

    def __setitem__(self, name: str, measure: Measure) -> None:
        self._measures[name] = measure

    def __delitem__(self, name: str) -> None:
        del self._measures[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._measures)

    def __len__(self) -> int:
        self._load()
        return len(self._measures)
