"""Calls of user-defined functions with grades, dicts or arrays."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any
from warnings import catch_warnings, simplefilter

from rankscope.errors import SettingsError
from rankscope.lab.identification.inputs import Input

CALLS: dict[str, tuple[str, Callable[[Input], tuple[Any, ...]]]] = {
    "grades": ("f(grades): the grades of the ranked list", lambda case: (_grades(case),)),
    "counts": (
        "f(grades, counts): also the number of judged documents of each grade of the topic",
        lambda case: (_grades(case), {g: case.pool.count(g) for g in sorted(set(case.pool))}),
    ),
    "pool": (
        "f(grades, pool): also the grades of all judged documents of the topic",
        lambda case: (_grades(case), list(case.pool)),
    ),
    "dicts": (
        "f(qrels, run): {document: grade} and {document: score} of one topic",
        lambda case: (dict(case.qrels), dict(case.run)),
    ),
    "arrays": (
        "f(y_true, y_score): arrays of grades and scores of the documents of the list",
        lambda case: (_grades(case), list(case.scores)),
    ),
}
"""Kinds of calls: a description, and the conversion of an input to arguments."""


def _grades(case: Input) -> list[int]:
    return [0 if g is None else g for g in case.grades]


class RefusedError(Exception):
    """Raised if a function fails, or does not return a number."""


def has_scores(call: str) -> bool:
    """Return whether a call passes scores, which can be tied."""
    return call in ("dicts", "arrays", "library")


def make_caller(
    function: Callable[..., Any], call: str | None = None
) -> tuple[str, Callable[[Input], float]]:
    """Return the kind of call (by default guessed from the parameters), and a function of inputs.

    >>> def hit(qrels, run): return float(any(qrels.get(d, 0) > 0 for d in run))
    >>> call, evaluate = make_caller(hit)
    >>> call, evaluate(Input((0, 1)))
    ('dicts', 1.0)
    """
    kind = call or _guess_call(function)
    if kind not in CALLS:
        descriptions = "; ".join(f"{name}: {words}" for name, (words, _) in CALLS.items())
        raise SettingsError(f"no function is called by {kind!r}", hint=descriptions)
    arguments = CALLS[kind][1]
    return kind, lambda case: to_number(lambda: function(*arguments(case)))


def to_number(compute: Callable[[], Any]) -> float:
    """Return the result of a computation as a number; raise RefusedError on any exception, and ignore warnings."""
    try:
        with catch_warnings():
            simplefilter("ignore")
            return float(compute())
    except Exception as error:
        raise RefusedError(f"{type(error).__name__}: {error}".splitlines()[0][:120]) from None


def _guess_call(function: Callable[..., Any]) -> str:
    """Guess the kind of call from the names of the parameters."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        hint = f"name the kind of call: {', '.join(CALLS)}"
        raise SettingsError("the parameters of the function are unknown", hint=hint) from None
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.default is Parameter.empty]
    names = [p.name.lower() for p in required if p.kind in positional]
    if len(names) == 1:
        return "grades"
    if len(names) != 2:
        hint = f"it is called with one or two: {', '.join(CALLS)}"
        raise SettingsError(f"the function takes {len(names)} arguments", hint=hint)
    first, second = names
    if any(word in second for word in ("score", "pred")) and "true" in first:
        return "arrays"
    if any(word in first for word in ("qrel", "gold", "judg", "truth")):
        return "dicts"
    return "counts" if "count" in second else "pool"
