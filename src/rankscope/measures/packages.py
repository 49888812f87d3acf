"""Measures that other packages bring: the entry point group ``rankscope.measures``.

The name of an entry point is that of the measure; what it leads to is a function of grades (see
:func:`rankscope.measures.function.define`), or a measure that its module defines.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from rankscope.errors import MeasureError
from rankscope.measures.base import REGISTRY, Measure
from rankscope.measures.function import define

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "installed", "load_installed"]

GROUP = "rankscope.measures"


def load_installed(name: str | None = None) -> list[str]:
    """Make the installed measure of a name known, or all of them; the names of those that there are.

    A name that is taken stays what it is.
    """
    points = _points()
    for point in [point for point in points if name is None or point.name == name]:
        if point.name not in REGISTRY:
            _load(point)
    return [point.name for point in points]


def installed(name: str) -> Measure | None:
    """The measure of that name, which may be installed; None if there is none.

    >>> installed("AP"), installed("no such measure")
    (AP, None)
    """
    if name not in REGISTRY:
        load_installed(name)
    return REGISTRY.get(name)


def _points() -> tuple[EntryPoint, ...]:
    return _points_on(tuple(sys.path))


@cache
def _points_on(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of all packages, which takes a while to find out."""
    from importlib.metadata import entry_points  # takes long to load, and few names need it

    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def _load(point: EntryPoint) -> None:
    try:
        found = _loaded(point)
    except (Exception, SystemExit) as error:
        raise MeasureError(
            f"the installed measure {point.name} cannot be loaded ({type(error).__name__}: {error})",
            hint=f"look at {point.value}" + (f" of {point.dist.name}" if point.dist else ""),
        ) from None
    if isinstance(found, Measure):
        if found.name != point.name:
            raise MeasureError(
                f"the installed measure {point.name} is called {found.name}", hint=f"correct {point.value}"
            )
        REGISTRY[point.name] = found
    elif callable(found):
        define(point.name, found)
    else:
        raise MeasureError(
            f"the installed measure {point.name} is no function and no measure", hint=f"correct {point.value}"
        )


@cache
def _loaded(point: EntryPoint) -> Any:
    return point.load()
