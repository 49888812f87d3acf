"""Any ``concurrent.futures.Executor``: its futures, a few ahead, in the order of the pieces."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, TypeVar

from rankscope.errors import WorkerError

__all__ = ["ExecutorEngine", "in_order"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_SHARES = 4  # pieces for each worker: the function, with all that it holds, is carried over with each


class ExecutorEngine:
    """An engine whose workers are those of an executor.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     list(ExecutorEngine(pool, workers=2).stream(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, executor: Executor, workers: int) -> None:
        self._executor = executor
        self.workers: int = getattr(executor, "_max_workers", workers)

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """The results in the order of the pieces."""
        share = max(1, -(-len(pieces) // (_SHARES * self.workers)))
        several = [pieces[first : first + share] for first in range(0, len(pieces), share)]
        work = _Several(function)

        def submit(some: Sequence[Piece]) -> Future[list[Result]]:
            return self._executor.submit(work, some)

        try:
            for results in in_order(submit, several, 2 * self.workers):
                yield from results
        except BrokenExecutor as error:
            raise WorkerError(
                f"a worker of the executor was killed ({type(error).__name__})",
                hint="there may be too little memory; try fewer workers, or a Dask client",
            ) from None


class _Several:
    """A function applied to several pieces in one go."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, pieces: Sequence[Any]) -> list[Any]:
        return [self._function(piece) for piece in pieces]


def in_order(
    submit: Callable[[Piece], Future[Result]], pieces: Sequence[Piece], ahead: int
) -> Iterator[Result]:
    """The results of futures in the order of the pieces, which are handed in a few ahead and no further.

    Memory stays bounded that way, and whoever stops listening (or interrupts) stops the work.
    """
    waiting: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            waiting.append(submit(piece))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
