"""Where work runs: this process, its threads, other processes, or any executor (a cluster's too).

Work is cut into pieces, each a pure function of its input; results come back in the order of the pieces, so
nothing above this module can tell which engine it was.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from rankscope.engines.threads import in_threads
from rankscope.errors import SettingsError
from rankscope.progress import progress

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["cores", "run_pieces", "stream_pieces"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def cores(jobs: int | None = None) -> int:
    """How many workers to use: ``jobs``, or all the cores this process may run on when it is None or 0."""
    if jobs:
        if jobs < 0:
            raise SettingsError(f"{jobs} jobs", hint="give a positive number, or 0 for all cores")
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_pieces(
    function: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    *,
    jobs: int | None = None,
    processes: bool = False,
    executor: Executor | None = None,
    label: str = "",
) -> list[Result]:
    """Apply a function to every piece and return the results in order.

    ``processes`` says that the function holds the interpreter lock, so that threads would not help.
    ``executor`` is any ``concurrent.futures.Executor``, such as the one of a Dask client.

    >>> run_pieces(abs, [-1, 2, -3], jobs=2)
    [1, 2, 3]
    """
    if executor is not None:
        from rankscope.engines.processes import collected

        return collected(executor, function, pieces, label)
    workers = min(cores(jobs), len(pieces))
    if workers <= 1:
        return [function(piece) for piece in (progress(pieces, len(pieces), label) if label else pieces)]
    if not processes:
        return in_threads(function, pieces, workers, label)
    from rankscope.engines.processes import in_processes

    return in_processes(function, pieces, workers, label)


def stream_pieces(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], *, jobs: int | None = None
) -> Iterator[Result]:
    """The results in the order of the pieces, as they come in: for those that are too large to hold all of them.

    Threads work a few pieces ahead and no further, so that memory stays bounded, and whoever stops listening (or
    interrupts) stops the work.

    >>> list(stream_pieces(abs, [-1, 2, -3], jobs=2))
    [1, 2, 3]
    """
    workers = min(cores(jobs), len(pieces))
    if workers <= 1:
        yield from map(function, pieces)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for piece in pieces:
                waiting.append(pool.submit(function, piece))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
