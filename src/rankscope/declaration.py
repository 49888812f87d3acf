"""Declares an analysis once: from ``@analysis`` follow its command, help, API page, JSON schema, figures and tests.

This module and the modules that use it import nothing heavy, so that ``rankscope COMMAND --help`` starts fast.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, ParamSpec, TypeVar, cast, get_args, get_origin

from rankscope.choices import VALUE_OPTIONS
from rankscope.docstrings import Docstring, parse_docstring
from rankscope.errors import InputError, SettingsError, check_name

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope.measures import Measure
    from rankscope.scores import Collection, Scores

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Option:
    """Properties of an option of a command that its type does not express."""

    metavar: str | None = None
    """Several words stand for as many values."""
    flags: tuple[str, ...] = ()
    """Further spellings."""
    bare: int | float | str | None = None
    """Value of the option if it is given without one."""
    parse: Callable[[str], Any] | None = None
    """Parser of the text, if it has a grammar."""
    choices: tuple[str, ...] = ()
    """Accepted values, unless the type is a ``Literal``."""


AttributeName = Annotated[str, Option("A[:K]")]
Groups = Annotated["Mapping[str, str] | str | Path | None", Option("FILE|REGEX")]
Judgments = Annotated["Mapping[str, Mapping[str, Any]] | str | Path | Any", Option("QRELS")]
Level = Annotated[float, Option("A")]
MeasureName = Annotated["str | Measure", Option("M")]
PerTopic = Annotated[bool, Option(flags=("-q",))]
Replicates = Annotated[int | None, Option("B")]
RunName = Annotated[str, Option("RUN")]
Seed = Annotated[int, Option("N")]
Top = Annotated[float | None, Option("F")]


def list_names(names: str | Iterable[str] | None) -> list[str]:
    """Return the distinct values of a repeatable parameter, of which one may be given alone.

    >>> list_names("lang"), list_names(["lang", "length:4", "lang"])
    (['lang'], ['lang', 'length:4'])
    """
    return [names] if isinstance(names, str) else list(dict.fromkeys(names or ()))


@dataclass(frozen=True)
class Parameter:
    """A parameter of an analysis, as the command sees it."""

    name: str
    kind: type
    """Type of a value: bool, int, float or str."""
    choices: tuple[Any, ...] | None
    several: bool
    """Whether a sequence of values is accepted."""
    default: Any
    has_default: bool
    required: bool
    """Whether the command needs it: there is no default, and None is not a value."""
    help: str
    option: Option


@dataclass(eq=False, kw_only=True)
class Declaration:
    """Declaration of a function of scores, or of a collection, as an analysis: the decorator ``@analysis(...)``.

    The section ``Commands`` of its docstring has example calls of the command, one a line.

    Parameters
    ----------
    command
        Name of its command, unless that is the name of the function; None if it has no command.
    figures
        Figures of its result, the first one by default: ``{name: "module.function"}`` below :mod:`rankscope.plots`.
    uses
        Options of a collection (:data:`~rankscope.choices.COLLECTION_OPTIONS`) that it honours; others raise an error
        if they are set.
    covers
        Options that are accepted and change nothing, because the analysis examines everything that they could say:
        all orders of tied documents (``ties``), all labels of unjudged ones (``bounds``).
    measures
        Measures that the command evaluates unless ``-m`` names others.
    needs_rankings
        Whether scores must know their rankings; such an analysis has no option ``--scores``.
    needs_qrels
        Whether the collection must have judgments.
    """

    command: str | None = ""
    figures: Mapping[str, str] = field(default_factory=dict)
    uses: Sequence[str] = VALUE_OPTIONS
    covers: Sequence[str] = ()
    measures: Sequence[str] = ()
    needs_rankings: bool = False
    needs_qrels: bool = True
    function: Callable[..., Any] = field(init=False)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function as an analysis, which checks its input and runs on the engine of its collection."""
        self.function = function
        if self.command == "":
            self.command = function.__name__.replace("_", "-")
        self.result.figures = self.figures

        @wraps(function)
        def run(*arguments: P.args, **named: P.kwargs) -> R:
            from rankscope.engines import using

            first, *others = arguments or (named.pop(self.input_name, None),)
            admitted: Any = self.resolve_input(first)
            collection = admitted.collection if self.input_name == "scores" else admitted
            with using(getattr(collection, "engine", None), getattr(collection, "jobs", None)):
                return function(admitted, *others, **named)  # type: ignore[arg-type]

        run.declaration = self  # type: ignore[attr-defined]
        return run

    @property
    def input_name(self) -> str:
        """Name of the first parameter: ``scores`` or ``collection``; judges take ``judgments``."""
        return next(iter(inspect.signature(self.function).parameters))

    @cached_property
    def doc(self) -> Docstring:
        """Parsed docstring."""
        return parse_docstring(self.function.__doc__)

    @property
    def examples(self) -> str:
        """Example calls of the command: the section ``Commands`` of the docstring."""
        return self.doc.sections.get("Commands", "")

    @cached_property
    def result(self) -> Any:
        """Class of the result."""
        return eval(self.function.__annotations__["return"], self.function.__globals__)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters by name, without the first one."""
        return parse_parameters(self.function, omit=(self.input_name,))

    def resolve_input(self, value: Any) -> Scores | Collection:
        """Return the scores or the collection that the analysis works on; raise SettingsError for other types."""
        from rankscope.scores import Collection, ScoreMatrix, Scores, as_scores

        name = self.function.__name__
        if self.input_name not in ("scores", "collection"):
            return cast("Scores | Collection", value)
        if isinstance(value, ScoreMatrix):
            value = as_scores(value)
        if (
            self.input_name == "collection"
            and isinstance(value, Scores)
            and isinstance(value.collection, Collection)
        ):
            value = value.collection
        expected = Scores if self.input_name == "scores" else Collection
        if not isinstance(value, expected):
            suffix = ".evaluate(measures)" if self.input_name == "scores" else ""
            raise SettingsError(
                f"{name} takes {'Scores' if suffix else 'a Collection'}, not a value of type {type(value).__name__}",
                hint=f"give it rs.Collection(qrels, runs){suffix}",
            )
        if isinstance(value, Scores) and self.needs_rankings:
            value.require_judged(name)
        if isinstance(value, Scores) and value.weights is not None and "weights" not in self.uses:
            hint = "leave weights out of the collection"
            raise SettingsError(f"{name} does not honour weights=", hint=hint)
        collection = value.collection if isinstance(value, Scores) else value
        if isinstance(collection, Collection):
            collection.check_options(name, (*self.uses, *self.covers))
        return cast("Scores | Collection", value)


analysis = Declaration


def check_run(name: str, runs: Sequence[str]) -> None:
    """Raise an error if there is no such run."""
    names = f"the runs are called {', '.join(runs[:3])} ..."
    check_name(name, runs, f"no run is called {name!r}", hint=names, error=InputError)


def parse_parameters(function: Callable[..., Any], omit: Container[str] = ()) -> dict[str, Parameter]:
    """Return the parameters of a function, or of the constructor of a class, by name."""
    space = vars(sys.modules[function.__module__])
    meanings = parse_docstring(function.__doc__).parameters
    return {
        parameter.name: _parse(parameter, space, meanings.get(parameter.name, ""))
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in omit
    }


def _parse(parameter: inspect.Parameter, space: dict[str, Any], meaning: str) -> Parameter:
    annotation = parameter.annotation
    if isinstance(annotation, str):  # Modules may postpone the evaluation of annotations.
        annotation = eval(annotation, space)
    values, several, option = _unfold(annotation)
    choices = tuple(dict.fromkeys(word for kind in values for word in get_args(kind))) or option.choices
    plain = [kind for kind in values if kind in (bool, int, float, str)]
    kind = float if float in plain else next(iter(plain), str)
    has_default = parameter.default is not parameter.empty
    return Parameter(
        parameter.name, kind, choices or None, several, parameter.default if has_default else None, has_default,
        not has_default and type(None) not in get_args(annotation), meaning, option,
    )  # fmt: skip


def _unfold(kind: Any) -> tuple[list[Any], bool, Option]:
    """Return the types of a value without None, whether a sequence of them is accepted, and the first option."""
    from types import UnionType
    from typing import Union

    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        values, several, option = _unfold(inner[0])
        return values, several, inner[1] if inner[1] != Option() else option
    if origin is None or origin is Literal:
        return [kind] if kind is not type(None) else [], False, Option()
    if origin not in (Union, UnionType):
        values, _, option = _unfold(inner[0])
        return values, not issubclass(origin, Mapping), option
    parts = [_unfold(alternative) for alternative in inner]
    option = next((option for *_, option in parts if option != Option()), Option())
    return [kind for kinds, *_ in parts for kind in kinds], any(several for _, several, _ in parts), option
