"""What a measure is: an immutable value with a name, parameters, a cutoff, and one formula over lists.

From the class of a measure follow, with no further line, its grammar (``AP(rel=2)@100``), its documentation page, its
entry in ``rankscope measures`` and the common tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from rankscope.errors import MeasureError, nearest
from rankscope.measures.arithmetic import ratio
from rankscope.measures.registry import Registry

if TYPE_CHECKING:
    from rankscope.judging.lists import Floats, Lists
    from rankscope.measures.forms import Form

__all__ = [
    "REGISTRY",
    "Better",
    "Measure",
    "Parameter",
    "at_level",
    "needs_aspects",
    "parameter",
    "ratio",
    "weights_down_to",
]

DEEPEST = 10_000_000
"""The largest cutoff: some measures add up weights rank by rank."""

Better: TypeAlias = Literal["higher", "lower", "neither"]
"""Which of two values speaks for the better list; neither for what says nothing about quality, such as a count."""

REGISTRY = Registry()
"""Every measure by its name, with its default parameters."""


class Parameter:
    """A named setting of a measure: default, meaning, and what it may be."""

    def __init__(
        self, default: Any, meaning: str, low: float | None, high: float | None, choices: tuple[str, ...]
    ) -> None:
        self.default = default
        self.meaning = meaning
        self.low = low
        self.high = high
        self.choices = choices
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Measure | None, owner: type) -> Any:
        return self if instance is None else instance.settings[self.name]

    def check(self, measure: str, value: Any) -> Any:
        """The value in the type of the default, or an error that says what is allowed."""
        kind = type(self.default)
        fits = isinstance(value, bool) == (kind is bool) and isinstance(value, str) == (kind is str)
        if fits and kind in (int, float):
            fits = math.isfinite(value) and (kind is float or value == int(value))
        if not fits or not self._inside(value):
            written = repr(value)
            raise MeasureError(
                f"{measure} cannot have {self.name}={written if len(written) < 60 else written[:20] + '...'}",
                hint=f"{self.name} is {self.allowed()}: {self.meaning}",
            )
        return kind(value)

    def _inside(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(value, str | bool):
            return True
        return bool((self.low is None or value >= self.low) and (self.high is None or value <= self.high))

    def allowed(self) -> str:
        """What the parameter may be, in words."""
        if self.choices:
            return " or ".join(self.choices)
        kind = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}[
            type(self.default)
        ]
        low = "" if self.low is None else f" from {self.low:g}"
        high = "" if self.high is None else f" to {self.high:g}"
        return kind + low + high


def parameter(
    default: Any,
    meaning: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare a parameter in the body of a measure: ``rel: int = parameter(1, "lowest relevant grade")``."""
    return Parameter(default, meaning, low, high, choices)


class Measure:
    """The parent of all measures.

    A measure is a value: ``AP(rel=2)`` is AP with another parameter, ``nDCG @ 10`` is nDCG with a cutoff; both are
    new values, equal and hashed by their canonical text.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    family: ClassVar[str] = "classic"
    reference: ClassVar[str] = ""
    user: ClassVar[str] = ""
    """The user behind the number, in a sentence: how they browse, when they stop, what they gain and what it costs."""

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cutoff_rule: ClassVar[Literal["optional", "required", "none"]] = "optional"
    cutoff_meaning: ClassVar[str] = "ranks considered"
    default_cutoff: ClassVar[float | None] = None
    summary: ClassVar[Literal["mean", "geometric mean", "sum"]] = "mean"
    needs_aspects: ClassVar[bool] = False
    better: Better = "higher"
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    settings: Mapping[str, Any]
    _cutoff: float | None

    def __init_subclass__(cls, abstract: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.parameters = {
            name: found
            for ancestor in reversed(cls.__mro__)
            for name, found in vars(ancestor).items()
            if isinstance(found, Parameter)
        }
        if "evaluate" in vars(cls):
            for name in ("closed_form", "respects_swaps", "rewards_grades"):
                if name not in vars(cls):
                    setattr(cls, name, vars(Measure)[name])
        if not abstract:
            cls.name = vars(cls).get("name", cls.__name__)
            for known in (cls.name, *vars(cls).get("aliases", ())):
                REGISTRY[known] = cls()

    def __init__(self, cutoff: float | None = None, **settings: Any) -> None:
        settings = self.respelled(settings)
        for key in settings:
            if key not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise MeasureError(
                    f"{self.name} has no parameter {key!r}",
                    hint=nearest(key, self.parameters) or f"it has {known}",
                )
        checked = {
            key: p.check(self.name, settings.get(key, p.default)) for key, p in self.parameters.items()
        }
        object.__setattr__(self, "settings", checked)
        object.__setattr__(self, "_cutoff", self._checked_cutoff(cutoff))
        self.validate()

    @cached_property
    def _text(self) -> str:
        """The canonical text, by which measures are equal: asked for at every look into what was kept."""
        changed = [
            f"{key}={_written(value)}"
            for key, value in self.settings.items()
            if value != self.parameters[key].default
        ]
        inside = f"({','.join(changed)})" if changed else ""
        return self.name + inside + ("" if self._cutoff is None else f"@{_written(self._cutoff)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a measure is immutable: write {self.name}({name}=...) to get another one")

    def _checked_cutoff(self, cutoff: float | None) -> float | None:
        if cutoff is None or cutoff == self.default_cutoff:
            return None
        if self.cutoff_rule == "none":
            raise MeasureError(f"{self.name} has no cutoff", hint=f"write {self.name}")
        return self.cutoff_value(cutoff)

    def cutoff_value(self, cutoff: float) -> float:
        """The cutoff if it is one this measure can have: a whole number of ranks from 1 on."""
        if not (math.isfinite(cutoff) and 1 <= cutoff <= DEEPEST and cutoff == int(cutoff)):
            raise MeasureError(
                f"{self.name} cannot have the cutoff {cutoff:g}",
                hint=f"a cutoff is a whole number of ranks from 1 to {DEEPEST:,}",
            )
        return int(cutoff)

    @classmethod
    def respelled(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings as we write them, where another library writes them otherwise (for measures that have such)."""
        return settings

    def validate(self) -> None:
        """Refuse parameters that do not go together (for measures that have such)."""

    @property
    def cutoff(self) -> Any:
        """The ranks considered: None for all."""
        return self.default_cutoff if self._cutoff is None else self._cutoff

    def __call__(self, **settings: Any) -> Self:
        """The same measure with other parameters."""
        return type(self)(**{"cutoff": self._cutoff, **self.settings, **self.respelled(settings)})

    def __matmul__(self, cutoff: float) -> Self:
        """The same measure with a cutoff: ``nDCG @ 10``."""
        return type(self)(cutoff, **self.settings)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Measure) and str(self) == str(other))

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self._cutoff, dict(self.settings)))

    @property
    def meaning(self) -> str:
        """One line that says what the measure measures."""
        return cleandoc(type(self).__doc__ or "").split("\n", 1)[0]

    @property
    def formula(self) -> str:
        """The rest of the documentation: the formula and its edge cases."""
        return cleandoc(type(self).__doc__ or "").partition("\n")[2].strip()

    @property
    def sees_grades(self) -> bool:
        """Whether more of a grade counts than being at least ``rel``; measures with ``rel`` say so if it does."""
        return "rel" not in self.parameters

    def complete(self) -> Self:
        """This measure, if nothing is missing to evaluate it."""
        if self.cutoff_rule == "required" and self.cutoff is None:
            raise MeasureError(f"{self.name} needs a cutoff", hint=f"write {self.name}@10, for example")
        return self

    def evaluate(self, lists: Lists) -> Floats:
        """The value of every list."""
        raise TypeError(f"{type(self).__name__} defines no formula")

    @property
    def sees_whole_lists(self) -> bool:
        """Whether the formula looks at lists as they are; else what it declares of itself does not hold."""
        return True

    def closed_form(self) -> Form | None:
        """What the value is made of, where that is known: see :mod:`rankscope.measures.forms`.

        A class that has a formula of its own does not inherit what its parent says of another formula.
        """
        return None

    @property
    def respects_swaps(self) -> bool:
        """Whether it never harms that a document of a higher grade changes places with a lower one above it.

        Documents without a judgment count as the lowest. Not inherited by a class with a formula of its own.
        """
        return False

    @property
    def rewards_grades(self) -> bool:
        """Whether the value never falls when a retrieved document gets a higher grade, whatever else that changes.

        A document without a judgment counts as one of grade 0.
        Not inherited by a class with a formula of its own.
        """
        return False

    def rank_weights(self, depth: int) -> Floats | None:
        """The weights of the ranks 1, ..., depth, if ranks have weights whatever stands there; else None."""
        return None

    def mean(self, values: Floats) -> float:
        """The values of several topics as one number; undefined (NaN) ones are left out, NaN when none is left."""
        defined = values[~np.isnan(values)]
        if self.summary == "sum":
            return float(np.sum(defined))
        if len(defined) == 0:
            return float("nan")
        if self.summary == "geometric mean":
            return float(np.exp(np.mean(np.log(defined))))
        return float(np.mean(defined))

    @property
    def sign(self) -> int:
        """1 where higher values are better, -1 where lower ones are, 0 where neither."""
        return {"higher": 1, "lower": -1, "neither": 0}[self.better]

    def merit(self, values: Floats) -> Floats:
        """The values, with the other sign where lower ones are better: more is better among what this returns."""
        return -np.asarray(values) if self.better == "lower" else np.asarray(values)

    def best_first(self, values: Sequence[float] | Floats) -> list[int]:
        """The places of values from the best to the worst, undefined ones last; from the highest if neither is better.

        >>> REGISTRY["AP"].best_first([0.2, math.nan, 0.5]), REGISTRY["BalancePoint"].best_first([61.0, math.inf, 53.4])
        ([2, 0, 1], [2, 0, 1])
        """
        merit = self.merit(np.asarray(values, np.float64)).tolist()
        return sorted(range(len(merit)), key=lambda i: (math.isnan(merit[i]), -merit[i], i))


def _written(value: Any) -> str:
    """A setting as the grammar writes it: 10 and not 10.0."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else repr(value)


def at_level(measures: Iterable[Measure], rel: int) -> list[Measure]:
    """Measures to which grades from ``rel`` on are relevant, as far as they have a level and are not at another one.

    >>> at_level([REGISTRY["AP"], REGISTRY["AP"](rel=3), REGISTRY["nDCG"]], 2)
    [AP(rel=2), AP(rel=3), nDCG]
    """
    given = list(measures)
    if not any("rel" in one.parameters for one in given):
        raise MeasureError(
            f"no level of relevance in {', '.join(map(str, given))}",
            hint="name a measure that has one, such as AP",
        )
    found: dict[Measure, None] = {}
    for one in given:
        plain = "rel" in one.parameters and one.settings["rel"] == one.parameters["rel"].default
        found[one(rel=rel) if plain else one] = None
    return list(found)


def _rebuild(kind: type[Measure], cutoff: float | None, settings: dict[str, Any]) -> Measure:
    return kind(cutoff, **settings)


def needs_aspects(measures: Iterable[Measure]) -> bool:
    """Whether some of these measures looks at aspects, so that the second column of judgments must name them.

    >>> needs_aspects([REGISTRY["AP"]]), needs_aspects([REGISTRY["AP"], REGISTRY["ERR_IA"]])
    (False, True)
    """
    return any(measure.needs_aspects for measure in measures)


def weights_down_to(depth: int, weight: Callable[[Any], Floats], cutoff: int | None) -> Floats:
    """What a function of the rank gives for the ranks 1, ..., depth, and 0 below the cutoff."""
    weights = np.array(weight(np.arange(1, depth + 1)), np.float64)
    weights[depth if cutoff is None else cutoff :] = 0.0
    return weights
