"""How code of others is called: a function of grades, of dicts, of arrays, or something of a library."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any
from warnings import catch_warnings, simplefilter

from rankscope.errors import SettingsError
from rankscope.lab.identification.inputs import Input

__all__ = ["CALLS", "RefusedError", "caller", "sees_scores"]

CALLS: dict[str, tuple[str, Callable[[Input], tuple[Any, ...]]]] = {
    "grades": ("f(grades): the grades of the ranked list", lambda one: (_grades(one),)),
    "counts": (
        "f(grades, counts): and how many judged documents of each grade the topic has",
        lambda one: (_grades(one), {g: one.pool.count(g) for g in sorted(set(one.pool))}),
    ),
    "pool": (
        "f(grades, pool): and the grades of all judged documents of the topic",
        lambda one: (_grades(one), list(one.pool)),
    ),
    "dicts": (
        "f(qrels, run): {document: grade} and {document: score} of one topic",
        lambda one: (dict(one.qrels), dict(one.run)),
    ),
    "arrays": (
        "f(y_true, y_score): arrays of grades and scores of the documents of the list",
        lambda one: (_grades(one), list(one.scores)),
    ),
}
"""The ways to call a function, with the arguments that an input becomes."""


def _grades(one: Input) -> list[int]:
    return [0 if g is None else g for g in one.grades]


class RefusedError(Exception):
    """The code ended with an error, or returned no number."""


def sees_scores(call: str) -> bool:
    """Whether the code is given scores, so that it can meet ties."""
    return call in ("dicts", "arrays", "library")


def caller(function: Callable[..., Any], call: str | None = None) -> tuple[str, Callable[[Input], float]]:
    """How the function is called (found out from its parameters unless named), and a function of inputs.

    >>> def hit(qrels, run): return float(any(qrels.get(d, 0) > 0 for d in run))
    >>> call, of = caller(hit)
    >>> call, of(Input((0, 1)))
    ('dicts', 1.0)
    """
    chosen = call or _guessed(function)
    if chosen not in CALLS:
        known = "; ".join(f"{name}: {words}" for name, (words, _) in CALLS.items())
        raise SettingsError(f"no function is called by {chosen!r}", hint=known)
    arguments = CALLS[chosen][1]
    return chosen, lambda one: number(lambda: function(*arguments(one)))


def number(compute: Callable[[], Any]) -> float:
    """What code returns as a number; an error of whatever kind is a refusal, and what it warns of is its own."""
    try:
        with catch_warnings():
            simplefilter("ignore")
            return float(compute())
    except Exception as error:
        raise RefusedError(f"{type(error).__name__}: {error}".splitlines()[0][:120]) from None


def _guessed(function: Callable[..., Any]) -> str:
    """Which call the names of the parameters suggest."""
    try:
        found = signature(function).parameters.values()
    except (TypeError, ValueError):
        raise SettingsError(
            "the parameters of the function are unknown", hint=f"say how it is called: {', '.join(CALLS)}"
        ) from None
    wanted = [
        p.name.lower()
        for p in found
        if p.default is Parameter.empty
        and p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    if len(wanted) == 1:
        return "grades"
    if len(wanted) != 2:
        raise SettingsError(
            f"the function takes {len(wanted)} arguments",
            hint=f"it is called with one or two: {', '.join(CALLS)}",
        )
    first, second = wanted
    if any(word in second for word in ("score", "pred")) and "true" in first:
        return "arrays"
    if any(word in first for word in ("qrel", "gold", "judg", "truth")):
        return "dicts"
    return "counts" if "count" in second else "pool"
