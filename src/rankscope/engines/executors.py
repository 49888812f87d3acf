"""Run work on any ``concurrent.futures.Executor``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future

from rankscope.engines.pieces import Piece, Result
from rankscope.errors import WorkerError

_BATCHES = 4  # per worker; the function and its data are pickled for each batch


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
        """Yield the results in the order of the pieces."""
        size = max(1, -(-len(pieces) // (_BATCHES * self.workers)))
        batches = [pieces[first : first + size] for first in range(0, len(pieces), size)]

        def submit(batch: Sequence[Piece]) -> Future[list[Result]]:
            return self._executor.submit(_apply, function, batch)

        try:
            for results in iterate_results(submit, batches, 2 * self.workers):
                yield from results
        except BrokenExecutor as error:
            problem = f"a worker of the executor was killed ({type(error).__name__})"
            hint = "there may be too little memory; try fewer workers, or a Dask client"
            raise WorkerError(problem, hint=hint) from None


def _apply(function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> list[Result]:
    return [function(piece) for piece in pieces]


def iterate_results(
    submit: Callable[[Piece], Future[Result]], pieces: Sequence[Piece], ahead: int
) -> Iterator[Result]:
    """Yield the results of futures in the order of the pieces, with at most ``ahead`` more of them submitted.

    This bounds memory; closing the generator (or an interrupt) cancels the futures.
    """
    submitted: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            submitted.append(submit(piece))
            if len(submitted) > ahead:
                yield submitted.popleft().result()
        while submitted:
            yield submitted.popleft().result()
    finally:
        for future in submitted:
            future.cancel()
