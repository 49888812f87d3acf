"""Any Python function as a measure."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter as Argument
from inspect import signature
from typing import Any, ClassVar, get_args

import numpy as np

from rankscope.errors import MeasureError
from rankscope.judging.lists import Floats, Lists
from rankscope.measures.base import REGISTRY, Better, Measure

__all__ = ["FunctionMeasure", "define"]


class FunctionMeasure(Measure, abstract=True):
    """A measure given by a function of the grades of a list."""

    family = "user"
    function: ClassVar[Callable[..., float]]
    unjudged: ClassVar[Any] = 0
    wants_counts: ClassVar[bool] = False

    @property
    def meaning(self) -> str:
        return (type(self).function.__doc__ or f"{self.name}: a function of the user").strip().split("\n")[0]

    def __reduce__(self) -> tuple[Any, ...]:
        kind = type(self)
        return (_restored, (self.name, kind.function, kind.unjudged, kind.better, self._cutoff))

    def of(self, lists: Lists) -> Floats:
        values = np.empty(len(lists))
        for index, (grades, topic) in enumerate(zip(lists.grades(self.unjudged), lists.topic, strict=True)):
            arguments: list[Any] = [grades if self.cutoff is None else grades[: self.cutoff]]
            if self.wants_counts:
                arguments.append(lists.pool.counts(int(topic)))
            values[index] = self._number(self._called(arguments))
        return values

    def _called(self, arguments: list[Any]) -> Any:
        try:
            return type(self).function(*arguments)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise MeasureError(
                f"the function of {self.name} failed on a list of {len(arguments[0])} grades ({what})",
                hint="correct it; a list may be empty",
            ) from error

    def _number(self, value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise MeasureError(
                f"{self.name} returned {value!r}", hint="the function of a measure returns a number"
            ) from None


def define(
    name: str, function: Callable[..., float], *, unjudged: Any = 0, better: Better = "higher"
) -> Measure:
    """Make a measure of a function ``f(grades)`` or ``f(grades, counts)``.

    ``grades`` holds the grade at each rank, ``unjudged`` where a document has none; ``counts`` says how many judged
    documents of each grade the topic has. ``better`` says which values are: higher, lower or neither. The measure can
    be used wherever a built-in one can.

    >>> define("First", lambda grades: grades[0] if grades else 0)
    First
    """
    if not name.isidentifier():
        raise MeasureError(
            f"{name!r} cannot be the name of a measure", hint="use letters, digits and underscores"
        )
    if better not in get_args(Better):
        raise MeasureError(
            f"{name} cannot have better={better!r}", hint=f"choose one of {', '.join(get_args(Better))}"
        )
    known = REGISTRY.get(name)
    if known is not None and not isinstance(known, FunctionMeasure):
        raise MeasureError(f"there is a built-in measure {name}", hint="choose another name")
    positional = (Argument.POSITIONAL_ONLY, Argument.POSITIONAL_OR_KEYWORD)
    required = [
        a for a in signature(function).parameters.values() if a.kind in positional and a.default is a.empty
    ]
    type(
        name,
        (FunctionMeasure,),
        {
            "__doc__": function.__doc__,
            "function": staticmethod(function),
            "unjudged": unjudged,
            "better": better,
            "wants_counts": len(required) > 1,
            "range": (-float("inf"), float("inf")),
        },
    )
    return REGISTRY[name]


def _restored(
    name: str, function: Callable[..., float], unjudged: Any, better: Better, cutoff: float | None
) -> Measure:
    """A measure out of a pickle: the one of that name, if it has the same function, or one beside it.

    Where the name is free (in another process), it is defined.
    """
    known = REGISTRY.get(name)
    if known is None:
        known = define(name, function, unjudged=unjudged, better=better)
    elif not _has(known, function, unjudged, better):
        define(name, function, unjudged=unjudged, better=better)
        known, REGISTRY[name] = REGISTRY[name], known
    return known if cutoff is None else known @ cutoff


def _has(measure: Measure, function: Callable[..., float], unjudged: Any, better: Better) -> bool:
    kind = type(measure)
    if not issubclass(kind, FunctionMeasure):
        return False
    return (kind.function, kind.unjudged, kind.better) == (function, unjudged, better)
