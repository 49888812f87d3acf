"""The base class of measures: an immutable value with a name, parameters, a cutoff and one formula over lists.

The grammar of a measure (``AP(rel=2)@100``), its documentation page, its entry in ``rankscope measures`` and the common
tests are derived from its class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, overload

import numpy as np

from rankscope.errors import MeasureError, check_name
from rankscope.measures.arithmetic import ratio as ratio
from rankscope.measures.registry import Registry

if TYPE_CHECKING:
    from rankscope.arrays import Weights
    from rankscope.judging.kernels import Kernel, KernelSet
    from rankscope.judging.lists import Floats, Lists
    from rankscope.judging.pool import Pool
    from rankscope.measures.forms import Form

DEEPEST = 10_000_000
"""Largest cutoff. Some measures sum weights rank by rank, so that an unbounded one would exhaust memory."""

Better: TypeAlias = Literal["higher", "lower", "neither"]
"""Which values are better; ``neither`` for measures that do not express quality, such as counts."""

OPEN = "p lies between 0 and 1, both excluded"
"""Hint for a probability at a bound."""

_USER = "\n\nUser: "
"""Start of the user model in the docstring of a measure."""

REGISTRY = Registry()
"""All measures by name, with default parameters."""


@dataclass(eq=False)
class Parameter:
    """A named setting of a measure: default, meaning and permitted values."""

    default: Any
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    excluded: str = ""
    """Hint for a value that equals a bound, if the bounds are not permitted."""
    is_threshold: bool = False
    """Whether it is compared with grades: it may lie between two of them, and formulas see the higher one."""
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Measure | None, owner: type) -> Any:
        if instance is None:
            return self
        value = instance.settings[self.name]
        return math.ceil(value) if self.is_threshold else value

    def check(self, measure: str, value: Any) -> Any:
        """Return the value in the type of the default; raise a MeasureError if it is not permitted."""
        kind = type(self.default)
        fits = isinstance(value, bool) == (kind is bool) and isinstance(value, str) == (kind is str)
        if fits and kind in (int, float):
            fits = math.isfinite(value) and (kind is float or self.is_threshold or value == int(value))
        at_bound = fits and self.excluded and value in (self.low, self.high)
        if not fits or not self._inside(value) or at_bound:
            shown = repr(value) if len(repr(value)) < 60 else repr(value)[:20] + "..."
            hint = self.excluded if at_bound else f"{self.name} is {self.allowed()}: {self.meaning}"
            raise MeasureError(f"{measure} cannot have {self.name}={shown}", hint=hint)
        return value if self.is_threshold and value != int(value) else kind(value)

    def _inside(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(value, str | bool):
            return True
        return bool((self.low is None or value >= self.low) and (self.high is None or value <= self.high))

    def allowed(self) -> str:
        """Describe the permitted values in words."""
        if self.choices:
            return " or ".join(self.choices)
        kinds = {int: "a whole number", float: "a number", bool: "True or False", str: "text"}
        if self.is_threshold:
            return f"a number {'above' if self.excluded else 'from'} {self.low}"
        low = "" if self.low is None else f" from {self.low:g}"
        high = "" if self.high is None else f" to {self.high:g}"
        return kinds[type(self.default)] + low + high


def parameter(default: Any, meaning: str, **permitted: Any) -> Any:
    """Declare a parameter in the body of a measure: ``rel: int = parameter(1, "lowest relevant grade", low=1)``.

    Permitted values are limited by ``low`` and ``high`` (unless they are ``excluded``) or to ``choices``; see
    :class:`Parameter`.
    """
    return Parameter(default, meaning, **permitted)


def threshold(meaning: str = "lowest grade that counts as relevant", default: int = 1) -> Any:
    """Declare the parameter ``rel``; a number such as 0.5 is a threshold of gains."""
    excluded = "rel is a number above 0" if default else ""
    return Parameter(default, meaning, low=0, excluded=excluded, is_threshold=True)


def weighted_means(values: Floats, weights: Floats) -> Floats:
    """Return sum w x / sum w of each row over its defined values; NaN if there are none.

    >>> weighted_means(np.array([[1.0, 0.0, np.nan]]), np.array([3.0, 1.0, 5.0])).tolist()
    [0.75]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nansum(weights * values, axis=1) / (weights * ~np.isnan(values)).sum(axis=1))


class Measure:
    """Base class of all measures.

    A measure is an immutable value: ``AP(rel=2)`` is AP with another parameter, ``nDCG @ 10`` is nDCG with a cutoff.
    Both are new values; equality and hash follow the canonical name.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    family: ClassVar[str] = "classic"
    reference: ClassVar[str] = ""
    user: ClassVar[str] = ""
    """User model in one sentence: how the user browses, when they stop, their gain and their cost.

    It is the last paragraph of the docstring, after ``User:``.
    """

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    cutoff_rule: ClassVar[Literal["optional", "required", "none"]] = "optional"
    cutoff_meaning: ClassVar[str] = "ranks considered"
    default_cutoff: ClassVar[float | None] = None
    summary: ClassVar[Literal["mean", "geometric mean", "sum"]] = "mean"
    needs_aspects: ClassVar[bool] = False
    needs_nonrelevant: ClassVar[bool] = False
    """Whether values are uninformative if no document is judged non-relevant."""
    better: Better = "higher"
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    settings: Mapping[str, Any]
    _cutoff: float | None
    requested_name: str = ""
    """Name under which results show the measure, if it was requested under another than its canonical name."""
    has_rel: bool = False
    """Whether ``rel`` was set, perhaps to its default."""
    gain_table: Floats | None = None
    """Gains by grade from 0 on, if judgments are not whole numbers: see :meth:`for_gains`."""

    def __init_subclass__(cls, abstract: bool = False, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        attributes = [item for ancestor in reversed(cls.__mro__) for item in vars(ancestor).items()]
        cls.parameters = {name: value for name, value in attributes if isinstance(value, Parameter)}
        _, _, user = cleandoc(cls.__doc__ or "").partition(_USER)
        if user:
            cls.user = " ".join(user.split())
        # These properties describe one formula: a subclass with its own formula must declare them again.
        if "evaluate" in vars(cls):
            for name in ("closed_form", "kernel", "respects_swaps", "rewards_grades"):
                if name not in vars(cls):
                    setattr(cls, name, vars(Measure)[name])
        if not abstract:
            cls.name = vars(cls).get("name", cls.__name__)
            for name in (cls.name, *vars(cls).get("aliases", ())):
                REGISTRY[name] = cls()

    def __init__(self, cutoff: float | None = None, **settings: Any) -> None:
        settings = self.respelled(settings)
        for key in settings:
            hint, problem = ", ".join(self.parameters) or "none", f"{self.name} has no parameter {key!r}"
            check_name(key, self.parameters, problem, hint=f"its parameters: {hint}", error=MeasureError)
        checked = {
            key: p.check(self.name, settings.get(key, p.default)) for key, p in self.parameters.items()
        }
        vars(self)["has_rel"] = "rel" in settings
        object.__setattr__(self, "settings", checked)
        object.__setattr__(self, "_cutoff", self._check_cutoff(cutoff))
        self.validate()

    @cached_property
    def canonical_name(self) -> str:
        """Name, parameters that are not defaults, and cutoff; defines equality."""
        changed = [
            f"{key}={_format_setting(value)}"
            for key, value in self.settings.items()
            if value != self.parameters[key].default
        ]
        inside = f"({','.join(changed)})" if changed else ""
        return self.name + inside + ("" if self._cutoff is None else f"@{_format_setting(self._cutoff)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a measure is immutable: write {self.name}({name}=...) to get another one")

    @classmethod
    def _error(cls, problem: str, hint: str) -> MeasureError:
        """Return an error about the measure."""
        return MeasureError(f"{cls.name} {problem}", hint=hint)

    def _check_cutoff(self, cutoff: float | None) -> float | None:
        if cutoff is None or cutoff == self.default_cutoff:
            return None
        if self.cutoff_rule == "none":
            raise self._error("has no cutoff", f"write {self.name}")
        return self.cutoff_value(cutoff)

    def cutoff_value(self, cutoff: float) -> float:
        """Return the cutoff as a whole number of ranks; raise a MeasureError if it is not one."""
        if not (math.isfinite(cutoff) and 1 <= cutoff <= DEEPEST and cutoff == int(cutoff)):
            hint = f"a cutoff is a whole number of ranks from 1 to {DEEPEST:,}"
            raise self._error(f"cannot have the cutoff {cutoff:g}", hint)
        return int(cutoff)

    @classmethod
    def respelled(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Translate settings of other libraries into ours; the default returns them unchanged."""
        return settings

    def validate(self) -> None:
        """Reject invalid combinations of parameters; the default accepts all."""

    @property
    def cutoff(self) -> Any:
        """Number of ranks considered; None for all."""
        return self.default_cutoff if self._cutoff is None else self._cutoff

    def __call__(self, *values: Any, **settings: Any) -> Self:
        """Return a copy with other parameters: by name, or the parameters of its class in order: ``RBP(0.8)``."""
        own = [name for name in self.parameters if name in vars(type(self))]
        if len(values) > len(own):
            hint = f"write {self.name}({', '.join(f'{name}=...' for name in self.parameters)})"
            raise self._error(f"takes {len(own) or 'no'} parameters without a name", hint)
        settings = dict(zip(own, values, strict=False)) | settings
        other = type(self)(**{"cutoff": self._cutoff, **self.settings, **self.respelled(settings)})
        return other._copy(has_rel=self.has_rel or "rel" in settings)

    @overload
    def __matmul__(self, cutoff: float) -> Self: ...
    @overload
    def __matmul__(self, cutoff: Sequence[float]) -> list[Self]: ...
    def __matmul__(self, cutoff: float | Sequence[float]) -> Self | list[Self]:
        """Return a copy with a cutoff, ``nDCG @ 10``, or one with each of several: ``nDCG @ [5, 10]``."""
        if isinstance(cutoff, Sequence):
            return [self @ number for number in cutoff]
        return type(self)(cutoff, **self.settings)._copy(has_rel=self.has_rel)

    def _copy(self, **changed: Any) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self), **changed)
        return other

    def with_name(self, name: str) -> Self:
        """Return the same measure, which results show under ``name``."""
        name = "" if name == self.canonical_name else name
        return self if name == self.requested_name else self._copy(requested_name=name)

    @property
    def uses_gains(self) -> bool:
        """Whether the formula works with gains of documents, so that judgments need not be whole numbers."""
        return False

    def for_gains(self, gains: Floats) -> Self:
        """Return the measure for judgments that are gains: grade g of a document stands for ``gains[g]``.

        A measure that uses gains gets them; one of binary relevance needs ``rel``, a threshold of gains.

        >>> REGISTRY["AP"](rel=0.5).for_gains(np.array([0, 0.37, 0.5, 0.8])).rel
        2
        """
        rel = self.parameters.get("rel")
        is_binary = rel is not None and rel.is_threshold and not self.sees_grades
        if not self.uses_gains and not (is_binary and self.has_rel):
            hint = (
                f"write {self.name}(rel=0.5), for example" if is_binary
                else "bin them: --grades '0-0.2=0;0.2-1=1', or grades= in Python"
            )  # fmt: skip
            needed = "rel=" if is_binary else "grades"
            problem = f"{self} needs {needed}, since {gains[gains % 1 > 0][0]:g} is not a whole number"
            raise MeasureError(problem, hint=hint)
        settings = dict(self.settings)
        if rel is not None and rel.is_threshold and self.has_rel:  # The lowest grade with such a gain.
            settings["rel"] = int(np.searchsorted(gains, settings["rel"]))
        table = gains if self.uses_gains else None
        return self._copy(settings=settings, gain_table=table, canonical_name=self.canonical_name)

    def to_gain(self, grade: Any) -> Any:
        """Return the gain that each grade stands for; by default the grade."""
        return grade if self.gain_table is None else self.gain_table[grade]

    def __str__(self) -> str:
        return self.requested_name or self.canonical_name

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Measure) and self.canonical_name == other.canonical_name)

    def __hash__(self) -> int:
        return hash(self.canonical_name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        plain = self.with_name("")
        return (
            (type(self).with_name, (plain, self.requested_name)) if self.requested_name else self.__reduce__()
        )

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {k: value for k, value in self.settings.items() if k != "rel" or self.has_rel}
        return (partial(type(self), self._cutoff, **settings), ())

    @property
    def meaning(self) -> str:
        """Meaning of the measure in one line."""
        return cleandoc(type(self).__doc__ or "").split("\n", 1)[0]

    @property
    def formula(self) -> str:
        """Formula and edge cases: the docstring between its first line and the user model."""
        return cleandoc(type(self).__doc__ or "").partition(_USER)[0].partition("\n")[2].strip()

    @property
    def sees_grades(self) -> bool:
        """Whether the value depends on grades beyond the threshold ``rel``."""
        return "rel" not in self.parameters

    def complete(self) -> Self:
        """Return the measure; raise a MeasureError if a required cutoff is missing."""
        if self.cutoff_rule == "required" and self.cutoff is None:
            raise self._error("needs a cutoff", f"write {self.name}@10, for example")
        return self

    def evaluate(self, lists: Lists) -> Floats:
        """Return the value of every list."""
        raise TypeError(f"{type(self).__name__} defines no formula")

    @property
    def sees_whole_lists(self) -> bool:
        """Whether the formula uses unmodified lists; otherwise its declared properties do not hold."""
        return True

    def closed_form(self) -> Form | None:
        """Return the closed form of the measure, or None if it declares none; see :mod:`rankscope.measures.forms`.

        A class with its own formula does not inherit the form of its parent.
        """
        return None

    def kernel(self, pool: Pool) -> Kernel | None:
        """Return the formula as a kernel (:mod:`rankscope.judging.kernels`), with the same values; or None.

        A class with its own formula does not inherit the kernel of its parent.
        """
        return None

    @property
    def respects_swaps(self) -> bool:
        """Whether moving a document of a higher grade above one of a lower grade never lowers the value.

        Unjudged documents count as the lowest grade. A class with its own formula does not inherit this.
        """
        return False

    @property
    def rewards_grades(self) -> bool:
        """Whether the value never falls when a retrieved document gets a higher grade, recall base and ideal included.

        An unjudged document counts as grade 0. A class with its own formula does not inherit this.
        """
        return False

    def rank_weights(self, depth: int) -> Floats | None:
        """Return the weights of ranks 1, ..., depth, or None if weights depend on the documents."""
        return None

    def mean(self, values: Floats) -> float:
        """Summarise values over topics; NaN values are left out, and the result is NaN if none remain."""
        defined = values[~np.isnan(values)]
        if self.summary == "sum":
            return float(np.sum(defined))
        if len(defined) == 0:
            return float("nan")
        if self.summary == "geometric mean":
            return float(np.exp(np.mean(np.log(defined))))
        return float(np.mean(defined))

    def means(self, values: Floats, weights: Weights = None) -> Floats:
        """Return :meth:`mean` of each row of a matrix (runs x topics).

        With ``weights`` of the topics the mean is weighted; a sum is the weighted mean times the number of topics.
        """
        has_own_mean = type(self).mean is not Measure.mean
        if weights is not None:
            if has_own_mean:
                hint = "evaluate without weights"
                raise MeasureError(f"{self} has its own mean, which takes no weights", hint=hint)
            terms, to_summary = self.split_mean(values)
            means = to_summary(weighted_means(terms, weights))
            return np.where(np.isnan(values).all(axis=1), self.mean(values[:0].ravel()), means)
        if self.summary != "mean" or not values.size or np.isnan(values).any() or has_own_mean:
            return np.array([self.mean(row) for row in values])
        # Sums along contiguous rows are the same, bit for bit, as those of one row after another.
        return np.asarray(np.ascontiguousarray(values).mean(axis=1), np.float64)

    def split_mean(self, values: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        """Return the terms whose plain mean the measure takes, and the monotone function from that mean to the summary.

        GMAP averages logarithms; counts are summed, which is the mean times the number of topics with a value.

        >>> terms, to_summary = REGISTRY["GMAP"].split_mean(np.array([[0.1, 0.4]]))
        >>> to_summary(terms.mean(axis=1)).round(12).tolist()
        [0.2]
        """
        if self.summary == "geometric mean":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.log(values), np.exp
        if self.summary == "sum":
            return values * (~np.isnan(values)).sum(axis=1, keepdims=True), lambda means: means
        return values, lambda means: means

    @property
    def sign(self) -> int:
        """1 if higher values are better, -1 if lower ones are, 0 if neither."""
        return {"higher": 1, "lower": -1, "neither": 0}[self.better]

    def merit(self, values: Floats) -> Floats:
        """Return values signed so that higher is better."""
        return -np.asarray(values) if self.better == "lower" else np.asarray(values)

    def best_first(self, values: Sequence[float] | Floats) -> list[int]:
        """Return the indices of values, best first and NaN last; highest first if neither direction is better.

        >>> REGISTRY["AP"].best_first([0.2, math.nan, 0.5]), REGISTRY["BalancePoint"].best_first([61.0, math.inf, 53.4])
        ([2, 0, 1], [2, 0, 1])
        """
        merit = self.merit(np.asarray(values, np.float64)).tolist()
        return sorted(range(len(merit)), key=lambda i: (math.isnan(merit[i]), -merit[i], i))


class Binary(Measure, abstract=True):
    """Measure of binary relevance: documents are relevant from a grade on."""

    rel: int = threshold()


def _format_setting(value: Any) -> str:
    """Format a setting for the grammar: 10 and not 10.0."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else repr(value)


def at_level(measures: Iterable[Measure], rel: int) -> list[Measure]:
    """Return copies of measures with the relevance threshold ``rel``, unless they set another one.

    >>> at_level([REGISTRY["AP"], REGISTRY["AP"](rel=3), REGISTRY["nDCG"]], 2)
    [AP(rel=2), AP(rel=3), nDCG]
    """
    measures = list(measures)
    if not any("rel" in measure.parameters for measure in measures):
        hint = "name a measure that has one, such as AP"
        raise MeasureError(f"no level of relevance in {', '.join(map(str, measures))}", hint=hint)
    unique: dict[Measure, None] = {}
    for measure in measures:
        is_default = (
            "rel" in measure.parameters and measure.settings["rel"] == measure.parameters["rel"].default
        )
        unique[measure(rel=rel) if is_default else measure] = None
    return list(unique)


def needs_aspects(measures: Iterable[Measure]) -> bool:
    """Return whether any measure uses aspects, so that the second column of judgments must name them.

    >>> needs_aspects([REGISTRY["AP"]]), needs_aspects([REGISTRY["AP"], REGISTRY["ERR_IA"]])
    (False, True)
    """
    return any(measure.needs_aspects for measure in measures)


# Declared properties do not hold for measures that first remove documents from their lists.


def declared_form(measure: Measure) -> Form | None:
    """Return the closed form of a measure, or None if it declares none."""
    return measure.closed_form() if measure.sees_whole_lists else None


def respects_swaps(measure: Measure) -> bool:
    """Return whether moving a better document up past a worse one never lowers the value."""
    return measure.respects_swaps and measure.sees_whole_lists


def rewards_grades(measure: Measure) -> bool:
    """Return whether a higher grade of a retrieved document never lowers the value."""
    return measure.rewards_grades and measure.sees_whole_lists


def evaluate_all(measures: Sequence[Measure], lists: Lists) -> Floats:
    """Return the values of measures, shape (measures, lists): of those with a kernel together, of others in turn.

    >>> from rankscope.judging import judge
    >>> from rankscope.read import Qrels, Run
    >>> judged = judge(Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": ["x", "a"]}))
    >>> evaluate_all([REGISTRY["RR"], REGISTRY["Bpref"]], judged.lists).tolist()
    [[0.5], [1.0]]
    """
    kernels, with_kernel, others = lists.pool.cache(
        (evaluate_all, *measures), lambda: _split_by_kernel(measures, lists.pool)
    )
    by_kernel = kernels.evaluate(lists) if with_kernel else None
    if by_kernel is not None and not others:
        return by_kernel
    values = np.empty((len(measures), len(lists)))
    if by_kernel is None:
        others = range(len(measures))
    else:
        values[with_kernel] = by_kernel
    for index in others:
        values[index] = measures[index].evaluate(lists)
    return values


def _split_by_kernel(measures: Sequence[Measure], pool: Pool) -> tuple[KernelSet, list[int], Sequence[int]]:
    """Return the kernels, and the indices of the measures with and without one."""
    from rankscope.judging.kernels import KernelSet

    kernels = {i: k for i, measure in enumerate(measures) if (k := measure.kernel(pool)) is not None}
    return KernelSet([*kernels.values()]), [*kernels], [i for i in range(len(measures)) if i not in kernels]


def weights_down_to(depth: int, weight: Callable[[Any], Floats], cutoff: int | None) -> Floats:
    """Return the weights of ranks 1, ..., depth; 0 below the cutoff."""
    weights = np.array(weight(np.arange(1, depth + 1)), np.float64)
    weights[depth if cutoff is None else cutoff :] = 0.0
    return weights
