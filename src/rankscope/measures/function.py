"""Python functions as measures: those of the user, and those of other packages.

An entry point of the group ``rankscope.measures`` has the name of the measure and refers to a function of grades (see
:func:`define`) or to a measure that its module defines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter as Argument
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

import numpy as np

from rankscope.choices import UNJUDGED
from rankscope.errors import MeasureError
from rankscope.measures.base import REGISTRY, Better, Measure, parameter

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rankscope.judging.lists import Floats, Lists


ANY_NUMBER = (-float("inf"), float("inf"))
"""Range of a measure that declares none."""


class Definition(NamedTuple):
    """Definition of a measure by a function."""

    function: Callable[..., float]
    unjudged: Any = 0
    better: Better = "higher"
    range: tuple[float, float] = ANY_NUMBER
    reference: str = ""
    parameters: tuple[tuple[str, str], ...] = ()


class FunctionMeasure(Measure, abstract=True):
    """A measure defined by a function of the grades of a ranking."""

    family = "user"
    definition: ClassVar[Definition]
    wants_counts: ClassVar[bool] = False

    @property
    def meaning(self) -> str:
        text = self.definition.function.__doc__ or f"{self.name}: a function of the user"
        return text.strip().split("\n")[0]

    @property
    def sees_grades(self) -> bool:
        return True  # a parameter of the function may be called rel without being a threshold

    uses_gains = sees_grades

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle, (self.name, self.definition, self._cutoff, dict(self.settings)))

    def evaluate(self, lists: Lists) -> Floats:
        values = np.empty(len(lists))
        unjudged = self.definition.unjudged
        rankings = lists.grades(unjudged if self.gain_table is None else UNJUDGED)
        if self.gain_table is not None:
            gains = {UNJUDGED: unjudged, **dict(enumerate(self.gain_table.tolist()))}
            rankings = [[gains.get(grade, grade) for grade in grades] for grades in rankings]
        for index, (grades, topic) in enumerate(zip(rankings, lists.topic, strict=True)):
            arguments: list[Any] = [grades if self.cutoff is None else grades[: self.cutoff]]
            if self.wants_counts:
                counts = lists.pool.counts(int(topic))
                arguments.append({self.to_gain(grade): count for grade, count in counts.items()})
            values[index] = self._number(self._call(arguments))
        return values

    def _call(self, arguments: list[Any]) -> Any:
        try:
            return self.definition.function(*arguments, **self.settings)
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            problem = f"the function of {self.name} failed on a list of {len(arguments[0])} grades ({cause})"
            raise MeasureError(problem, hint="correct it; a list may be empty") from error

    def _number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise self._error(f"returned {value!r}", "the function of a measure returns a number") from None
        low, high = self.definition.range
        if number < low - _ROUNDING or number > high + _ROUNDING:
            problem = f"{self.name} returned {number!r}, which is not in its range from {low:g} to {high:g}"
            raise MeasureError(problem, hint="correct the function, or the range")
        return number


_ROUNDING = 1e-9


def define(name: str, definition: Definition) -> Measure:
    """Define a measure by a function ``f(grades)`` or ``f(grades, counts)``; it works like a built-in measure.

    >>> define("First", Definition(lambda grades: grades[0] if grades else 0))
    First
    >>> definition = Definition(lambda grades, counts, *, rel=1: sum(g >= rel for g in grades), range=(0, 1e6))
    >>> define("Found", definition)(rel=2) @ 10
    Found(rel=2)@10
    """
    definition = definition._replace(range=_check_range(name, definition.range))
    if not name.isidentifier():
        hint = "use letters, digits and underscores"
        raise MeasureError(f"{name!r} cannot be the name of a measure", hint=hint)
    if definition.better not in get_args(Better):
        hint = f"choose one of {', '.join(get_args(Better))}"
        raise MeasureError(f"{name} cannot have better={definition.better!r}", hint=hint)
    existing = REGISTRY.get(name)
    if existing is not None and not isinstance(existing, FunctionMeasure):
        raise MeasureError(f"there is a built-in measure {name}", hint="choose another name")
    arguments = signature(definition.function).parameters.values()
    positional = (Argument.POSITIONAL_ONLY, Argument.POSITIONAL_OR_KEYWORD)
    required = [a for a in arguments if a.kind in positional and a.default is a.empty]
    named = [a for a in arguments if a.kind is Argument.KEYWORD_ONLY]
    body = {key: getattr(definition, key) for key in ("better", "range", "reference")}
    body |= {
        "__doc__": definition.function.__doc__,
        "definition": definition,
        "wants_counts": len(required) > 1,
    }
    type(name, (FunctionMeasure,), body | _parameters(name, named, dict(definition.parameters)))
    return REGISTRY[name]


def _check_range(name: str, range: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = map(float, range)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        hint = "give the lowest and the highest value: (0, 1)"
        raise MeasureError(f"{name} cannot have range={range!r}", hint=hint)
    return low, high


def _parameters(name: str, arguments: list[Argument], meanings: Mapping[str, str]) -> dict[str, Any]:
    """Return the keyword-only arguments of a function as parameters of its measure."""
    declared = {}
    for argument in arguments:
        if type(argument.default) not in (int, float, bool, str):
            hint = f"write {argument.name}=1, for example: a number, a text, True or False"
            raise MeasureError(f"the parameter {argument.name} of {name} has no default", hint=hint)
        if hasattr(Measure, argument.name) or argument.name == "settings":
            raise MeasureError(f"{name} cannot have a parameter {argument.name!r}", hint="rename it")
        meaning = meanings.get(argument.name, f"{argument.name} of the function")
        declared[argument.name] = parameter(argument.default, meaning)
    for key in meanings:
        if key not in declared:
            hint = f"write def f(grades, *, {key}=1)"
            raise MeasureError(f"the function of {name} has no parameter {key!r}", hint=hint)
    return declared


def _unpickle(name: str, definition: Definition, cutoff: float | None, settings: dict[str, Any]) -> Measure:
    """Return an unpickled measure: the registered one if it has the same function, otherwise a separate one.

    A name that is not registered (in another process) is registered.
    """
    base = REGISTRY.get(name)
    if base is None:
        base = define(name, definition)
    elif not (isinstance(base, FunctionMeasure) and base.definition == definition):
        define(name, definition)
        base, REGISTRY[name] = REGISTRY[name], base
    measure = base(**settings, cutoff=cutoff)
    return base if measure == base else measure


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
