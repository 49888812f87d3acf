"""Which engine: what ``engine=`` and ``--engine`` may be, and what whoever works inside gets.

The choice holds for all that is computed inside :func:`using`, so that nothing between a public function and the pieces
of its work has to pass it on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from rankscope.engines.machine import chosen_jobs
from rankscope.errors import SettingsError, suggest_names

__all__ = ["KINDS", "Engine", "current", "on_engine", "using"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

KINDS = ("local", "dask", "dask:ADDRESS", "spark", "spark:MASTER")
"""What an engine may be called; in Python also an executor, a Dask client, a Spark session."""


class Engine(Protocol):
    """Workers that are not threads of this process."""

    workers: int

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """The results in the order of the pieces; a few are worked at ahead, and no more are kept."""
        ...


_chosen: ContextVar[Engine | None] = ContextVar("engine", default=None)


def current() -> Engine | None:
    """Return the current engine, or None for the threads of this process.

    >>> current() is None
    True
    """
    return _chosen.get()


@contextmanager
def using(engine: Any, jobs: int | None = None) -> Iterator[None]:
    """Work that is cut into pieces runs there, and by so many workers, while the context lasts.

    ``None`` changes nothing. Otherwise ``local`` (threads, and processes where these serve better), any
    ``concurrent.futures.Executor``, a Dask client, a Spark session, or one of these by name: ``dask`` and ``spark``
    start workers on this machine and end them; ``dask:tcp://host:8786`` and ``spark:spark://host:7077`` are clusters.

    Parameters
    ----------
    engine
        Engine, or its name; None keeps the current one.
    jobs
        Number of workers (default: all cores).

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, using(pool):
    ...     current().workers
    2
    """
    with ExitStack() as stack:
        if jobs is not None:
            stack.callback(chosen_jobs.reset, chosen_jobs.set(jobs))
        if engine is not None:
            opened = _opened(engine, stack)
            stack.callback(_chosen.reset, _chosen.set(opened))
        yield


def on_engine(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the argument ``engine`` of a public function say where its work runs: see :func:`using`.

    Parameters
    ----------
    function
        Function that runs its work in pieces.

    Returns
    -------
    Callable[Arguments, Result]
        The function with an additional argument ``engine``.

    Examples
    --------
    >>> @on_engine
    ... def doubled(number: int, *, engine: object = None) -> int:
    ...     return 2 * number
    >>> doubled(4, engine="local")
    8
    """

    @wraps(function)
    def there(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with using(named.get("engine")):
            return function(*arguments, **named)

    return there


def _opened(engine: Any, stack: ExitStack) -> Engine | None:
    """The engine behind what was given; what is opened for it here is closed with the stack."""
    if isinstance(engine, str):
        return _named(engine, stack)
    module = type(engine).__module__
    if module.startswith("distributed."):
        from rankscope.engines.dask import DaskEngine

        return DaskEngine(getattr(engine, "_client", engine))  # a client, or the executor of one
    if module.startswith("pyspark.sql."):
        from rankscope.engines.spark import SparkEngine

        return SparkEngine(engine)
    from concurrent.futures import Executor  # takes as long to load as some runs to read

    if isinstance(engine, Executor):
        from rankscope.engines.executors import ExecutorEngine
        from rankscope.engines.machine import cores

        return ExecutorEngine(engine, cores())
    raise SettingsError(
        f"engine={engine!r}", hint=f"give an executor, a Dask client, a Spark session, or {', '.join(KINDS)}"
    )


def _named(text: str, stack: ExitStack) -> Engine | None:
    kind, _, place = text.partition(":")
    if text == "local":
        return None
    if kind == "dask":
        from rankscope.engines.dask import DaskEngine, client

        return DaskEngine(stack.enter_context(client(place)))
    if kind == "spark":
        from rankscope.engines.spark import SparkEngine, session

        return SparkEngine(stack.enter_context(session(text if place.startswith("//") else place)))
    known = [name.partition(":")[0] for name in KINDS]
    raise SettingsError(
        f"no engine is called {text!r}",
        hint=suggest_names(kind, known) or f"choose one of {', '.join(KINDS)}",
    )
