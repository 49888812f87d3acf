"""Return errors of remote workers as values.

A cluster retries a task that raises, and reports its own stack trace. Errors in the input would recur on
every retry, so workers return them as results and this process raises them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from rankscope.engines.pieces import Piece, Result
from rankscope.errors import WorkerError

TRIES = 3
"""Number of attempts when workers die."""


@dataclass(frozen=True)
class Failure(Generic[Result]):
    """Error raised while processing a piece."""

    error: Exception


def attempt(function: Callable[[Piece], Result], piece: Piece) -> Result | Failure[Result]:
    """Return the result of a piece, or its error.

    >>> attempt(int, "7"), attempt(int, "seven")
    (7, Failure(error=ValueError("invalid literal for int() with base 10: 'seven'")))
    """
    try:
        return function(piece)
    except Exception as error:
        return Failure(_make_picklable(error))


def unwrap(outcome: Any) -> Any:
    """Return the result of :func:`attempt`, or raise its error."""
    if isinstance(outcome, Failure):
        raise outcome.error
    return outcome


def _make_picklable(error: Exception) -> Exception:
    """Return the same error if it can be pickled, else one with the same message."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WorkerError(f"a worker failed: {type(error).__name__}: {error}")
    return error
