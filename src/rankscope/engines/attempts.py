"""What a worker elsewhere does with a piece: its result, or its error as a value that can travel.

A cluster tries again what raises, and reports the stack of its own machinery. A line that is wrong will be wrong the
second time, so an error of ours comes back as a result, and is raised here.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rankscope.errors import WorkerError

__all__ = ["TRIES", "Failed", "attempt", "unwrap"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

TRIES = 3
"""How often work is begun anew whose workers die."""


@dataclass(frozen=True)
class Failed(Generic[Result]):
    """The error of a piece."""

    error: Exception


def attempt(function: Callable[[Piece], Result], piece: Piece) -> Result | Failed[Result]:
    """The result of a piece, or its error.

    >>> attempt(int, "7"), attempt(int, "seven")
    (7, Failed(error=ValueError("invalid literal for int() with base 10: 'seven'")))
    """
    try:
        return function(piece)
    except Exception as error:
        return Failed(_travelling(error))


def unwrap(outcome: Any) -> Any:
    """The result of :func:`attempt`; raises if it is an error."""
    if isinstance(outcome, Failed):
        raise outcome.error
    return outcome


def _travelling(error: Exception) -> Exception:
    """The same error if it survives the way, else one that says what it said."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WorkerError(f"a worker failed: {type(error).__name__}: {error}")
    return error
