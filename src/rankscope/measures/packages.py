"""Measures of other packages: the entry point group ``rankscope.measures``.

An entry point has the name of the measure and refers to a function of grades (see
:func:`rankscope.measures.function.define`) or to a measure that its module defines.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from rankscope.errors import MeasureError
from rankscope.measures.base import REGISTRY, Measure
from rankscope.measures.function import Definition, define

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "rankscope.measures"


def load_installed(name: str | None = None) -> list[str]:
    """Register the installed measure with this name, or all of them; return the names of all installed measures.

    An entry point does not replace a measure that is already registered.
    """
    points = _points()
    for point in [point for point in points if name is None or point.name == name]:
        if point.name not in REGISTRY:
            _load(point)
    return [point.name for point in points]


def installed(name: str) -> Measure | None:
    """Return the measure with this name, loading its package if necessary; None if it does not exist.

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
    """Return the entry points of all packages; cached, because the search is slow."""
    from importlib.metadata import entry_points  # slow to import, and few names need it

    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def _load(point: EntryPoint) -> None:
    try:
        value = _import_entry_point(point)
    except (Exception, SystemExit) as error:
        problem = f"cannot import the installed measure {point.name} ({type(error).__name__}: {error})"
        hint = f"check {point.value}" + (f" of {point.dist.name}" if point.dist else "")
        raise MeasureError(problem, hint=hint) from None
    if isinstance(value, Measure):
        if value.name != point.name:
            hint = f"correct {point.value}"
            raise MeasureError(f"the installed measure {point.name} is called {value.name}", hint=hint)
        REGISTRY[point.name] = value
    elif callable(value):
        define(point.name, Definition(value))
    else:
        problem = f"the installed measure {point.name} is neither a function nor a measure"
        raise MeasureError(problem, hint=f"correct {point.value}")


@cache
def _import_entry_point(point: EntryPoint) -> Any:
    return point.load()
