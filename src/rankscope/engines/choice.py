"""Select an engine with ``engine=`` or ``--engine``.

The selection is a context variable, so that the functions between a public function and its pieces need no parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol

from rankscope.engines.machine import chosen_jobs
from rankscope.engines.pieces import Piece, Result
from rankscope.errors import SettingsError, suggest_names

Arguments = ParamSpec("Arguments")

KINDS = ("local", "dask", "dask:ADDRESS", "spark", "spark:MASTER")
"""Names of engines; Python also accepts an executor, a Dask client, or a Spark session."""


class Engine(Protocol):
    """Workers that are not threads of this process."""

    workers: int

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """Yield the results in the order of the pieces; only a few pieces are processed ahead."""
        ...


_current: ContextVar[Engine | None] = ContextVar("engine", default=None)


def current_engine() -> Engine | None:
    """Return the selected engine; None for threads of this process.

    >>> current_engine() is None
    True
    """
    return _current.get()


@contextmanager
def using(engine: Any, jobs: int | None = None) -> Iterator[None]:
    """Select the engine, and the number of workers, inside a context.

    Parameters
    ----------
    engine
        None (no change), ``local`` (threads, or processes if they are faster), a ``concurrent.futures.Executor``, a
        Dask client, a Spark session, or a name: ``dask`` and ``spark`` start and stop workers on this machine;
        ``dask:tcp://host:8786`` and ``spark:spark://host:7077`` are clusters.
    jobs
        Number of workers; None for no change, 0 for all cores.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool, using(pool):
    ...     current_engine().workers
    2
    """
    with ExitStack() as stack:
        if jobs is not None:
            stack.callback(chosen_jobs.reset, chosen_jobs.set(jobs))
        if engine is not None:
            opened = _open_engine(engine, stack)
            stack.callback(_current.reset, _current.set(opened))
        yield


def on_engine(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Decorate a public function to run its work on its argument ``engine``: see :func:`using`.

    Parameters
    ----------
    function
        Function that runs its work in pieces.

    Returns
    -------
    Callable[Arguments, Result]
        The function, which selects the engine of its argument ``engine``.

    Examples
    --------
    >>> @on_engine
    ... def double(number: int, *, engine: object = None) -> int:
    ...     return 2 * number
    >>> double(4, engine="local")
    8
    """

    @wraps(function)
    def run_on_engine(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with using(named.get("engine")):
            return function(*arguments, **named)

    return run_on_engine


def _open_engine(engine: Any, stack: ExitStack) -> Engine | None:
    """Return the engine of an argument; clients and sessions opened here are closed with the stack."""
    if isinstance(engine, str):
        return _open_named_engine(engine, stack)
    module = type(engine).__module__
    if module.startswith("distributed."):
        from rankscope.engines.dask import DaskEngine

        return DaskEngine(getattr(engine, "_client", engine))  # a client, or its executor
    if module.startswith("pyspark.sql."):
        from rankscope.engines.spark import SparkEngine

        return SparkEngine(engine)
    from concurrent.futures import Executor  # importing it takes as long as reading some runs

    if isinstance(engine, Executor):
        from rankscope.engines.executors import ExecutorEngine
        from rankscope.engines.machine import count_workers

        return ExecutorEngine(engine, count_workers())
    hint = f"give an executor, a Dask client, a Spark session, or {', '.join(KINDS)}"
    raise SettingsError(f"engine={engine!r}", hint=hint)


def _open_named_engine(text: str, stack: ExitStack) -> Engine | None:
    kind, _, address = text.partition(":")
    if text == "local":
        return None
    if kind == "dask":
        from rankscope.engines.dask import DaskEngine, client

        return DaskEngine(stack.enter_context(client(address)))
    if kind == "spark":
        from rankscope.engines.spark import SparkEngine, session

        return SparkEngine(stack.enter_context(session(text if address.startswith("//") else address)))
    names = [name.partition(":")[0] for name in KINDS]
    hint = suggest_names(kind, names) or f"choose one of {', '.join(KINDS)}"
    raise SettingsError(f"unknown engine {text!r}", hint=hint)
