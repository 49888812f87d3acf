"""Any Python function as a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter as Argument
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

import numpy as np

from rankscope.errors import MeasureError
from rankscope.measures.base import REGISTRY, Better, Measure, parameter

if TYPE_CHECKING:
    from rankscope.judging.lists import Floats, Lists

__all__ = ["ANY_NUMBER", "FunctionMeasure", "define"]

ANY_NUMBER = (-float("inf"), float("inf"))
"""The range of a measure that says nothing about it."""


class Definition(NamedTuple):
    """What makes a function a measure."""

    function: Callable[..., float]
    unjudged: Any = 0
    better: Better = "higher"
    range: tuple[float, float] = ANY_NUMBER
    reference: str = ""
    parameters: tuple[tuple[str, str], ...] = ()


class FunctionMeasure(Measure, abstract=True):
    """A measure given by a function of the grades of a list."""

    family = "user"
    definition: ClassVar[Definition]
    wants_counts: ClassVar[bool] = False

    @property
    def meaning(self) -> str:
        text = self.definition.function.__doc__ or f"{self.name}: a function of the user"
        return text.strip().split("\n")[0]

    @property
    def sees_grades(self) -> bool:
        return True  # whatever the parameters of the function are called

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.name, self.definition, self._cutoff, dict(self.settings)))

    def evaluate(self, lists: Lists) -> Floats:
        values = np.empty(len(lists))
        written = lists.grades(self.definition.unjudged)
        for index, (grades, topic) in enumerate(zip(written, lists.topic, strict=True)):
            arguments: list[Any] = [grades if self.cutoff is None else grades[: self.cutoff]]
            if self.wants_counts:
                arguments.append(lists.pool.counts(int(topic)))
            values[index] = self._number(self._called(arguments))
        return values

    def _called(self, arguments: list[Any]) -> Any:
        try:
            return self.definition.function(*arguments, **self.settings)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise MeasureError(
                f"the function of {self.name} failed on a list of {len(arguments[0])} grades ({what})",
                hint="correct it; a list may be empty",
            ) from error

    def _number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise MeasureError(
                f"{self.name} returned {value!r}", hint="the function of a measure returns a number"
            ) from None
        low, high = self.definition.range
        if number < low - _ROUNDING or number > high + _ROUNDING:
            raise MeasureError(
                f"{self.name} returned {number!r}, which is not in its range from {low:g} to {high:g}",
                hint="correct the function, or the range",
            )
        return number


_ROUNDING = 1e-9


def define(
    name: str,
    function: Callable[..., float],
    *,
    unjudged: Any = 0,
    better: Better = "higher",
    range: tuple[float, float] = ANY_NUMBER,
    reference: str = "",
    parameters: Mapping[str, str] | None = None,
) -> Measure:
    """Make a measure of a function ``f(grades)`` or ``f(grades, counts)``.

    ``grades`` holds the grade at each rank, ``unjudged`` where a document has none; ``counts`` says how many judged
    documents of each grade the topic has: ``{0: 40, 1: 7, 2: 3}``. Arguments that can only be given by name are
    parameters of the measure, and ``parameters`` says what they mean. ``better`` says which values are: higher, lower
    or neither; ``range`` which there can be, and others are refused; ``reference`` where the measure is from. It can be
    used wherever a built-in one can.

    >>> define("First", lambda grades: grades[0] if grades else 0)
    First
    >>> found = define("Found", lambda grades, counts, *, rel=1: sum(g >= rel for g in grades), range=(0, 1e6))
    >>> found(rel=2) @ 10
    Found(rel=2)@10
    """
    meanings = dict(parameters or {})
    definition = Definition(
        function, unjudged, better, _checked_range(name, range), reference, tuple(meanings.items())
    )
    return _defined(name, definition)


def _defined(name: str, definition: Definition) -> Measure:
    if not name.isidentifier():
        raise MeasureError(
            f"{name!r} cannot be the name of a measure", hint="use letters, digits and underscores"
        )
    if definition.better not in get_args(Better):
        raise MeasureError(
            f"{name} cannot have better={definition.better!r}",
            hint=f"choose one of {', '.join(get_args(Better))}",
        )
    known = REGISTRY.get(name)
    if known is not None and not isinstance(known, FunctionMeasure):
        raise MeasureError(f"there is a built-in measure {name}", hint="choose another name")
    arguments = signature(definition.function).parameters.values()
    positional = (Argument.POSITIONAL_ONLY, Argument.POSITIONAL_OR_KEYWORD)
    required = [a for a in arguments if a.kind in positional and a.default is a.empty]
    type(
        name,
        (FunctionMeasure,),
        {
            "__doc__": definition.function.__doc__,
            "definition": definition,
            "better": definition.better,
            "wants_counts": len(required) > 1,
            "range": definition.range,
            "reference": definition.reference,
            **_parameters(
                name, [a for a in arguments if a.kind is Argument.KEYWORD_ONLY], dict(definition.parameters)
            ),
        },
    )
    return REGISTRY[name]


def _checked_range(name: str, range: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = map(float, range)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        raise MeasureError(
            f"{name} cannot have range={range!r}", hint="give the lowest and the highest value: (0, 1)"
        )
    return low, high


def _parameters(name: str, arguments: list[Argument], meanings: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a function that can only be given by name, as parameters of its measure."""
    found = {}
    for one in arguments:
        if type(one.default) not in (int, float, bool, str):
            raise MeasureError(
                f"the parameter {one.name} of {name} has no default",
                hint=f"write {one.name}=1, for example: a number, a text, True or False",
            )
        if hasattr(Measure, one.name) or one.name == "settings":
            raise MeasureError(f"{name} cannot have a parameter {one.name!r}", hint="call it something else")
        found[one.name] = parameter(one.default, meanings.get(one.name, f"{one.name} of the function"))
    for key in meanings:
        if key not in found:
            raise MeasureError(
                f"the function of {name} has no parameter {key!r}", hint=f"write def f(grades, *, {key}=1)"
            )
    return found


def _restored(name: str, definition: Definition, cutoff: float | None, settings: dict[str, Any]) -> Measure:
    """A measure out of a pickle: the one of that name, if it has the same function, or one beside it.

    Where the name is free (in another process), it is defined.
    """
    known = REGISTRY.get(name)
    if known is None:
        known = _defined(name, definition)
    elif not (isinstance(known, FunctionMeasure) and known.definition == definition):
        _defined(name, definition)
        known, REGISTRY[name] = REGISTRY[name], known
    found = known(**settings, cutoff=cutoff)
    return known if found == known else found
