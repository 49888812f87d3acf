"""Run work that holds the GIL in other processes of this machine; killed processes are replaced."""

from __future__ import annotations

import ast
import multiprocessing
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankscope.engines.attempts import TRIES
from rankscope.engines.pieces import Piece, Result
from rankscope.engines.threads import run_in_threads
from rankscope.errors import WorkerError
from rankscope.progress import progress

_SECONDS_BETWEEN_CHECKS = 5.0


def run_in_processes(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int, label: str = ""
) -> list[Result]:
    """Return the results in the order of the pieces; use threads if processes cannot be started.

    Every process gets the function and its data once. If one dies (killed, out of memory), new processes run the
    unfinished pieces, up to :data:`TRIES` times in all.
    """
    if not can_start():
        warnings.warn(
            "worker processes would run this script again, because it has no `if __name__ == '__main__':`;"
            " threads are used instead",
            stacklevel=4,
        )
        return run_in_threads(function, pieces, workers, label)
    results: dict[int, Result] = {}
    for _ in range(TRIES):
        remaining = [index for index in range(len(pieces)) if index not in results]
        futures: dict[int, Future[Result]] = {}
        try:
            with ProcessPoolExecutor(
                min(workers, len(remaining)), initializer=_initialise_worker, initargs=(function,)
            ) as pool:
                try:
                    with _block_interrupts():
                        futures = {index: pool.submit(_work, pieces[index]) for index in remaining}
                    results |= zip(remaining, _wait(pool, list(futures.values()), label), strict=True)
                except KeyboardInterrupt:
                    _kill_workers(pool)
                    raise
            return [results[index] for index in range(len(pieces))]
        except BrokenProcessPool:
            for index, future in futures.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    results[index] = future.result()
    hint = "there may be too little memory; try fewer at once, such as -j 1"
    raise WorkerError(f"a worker process was killed, {TRIES} times", hint=hint)


_function: Callable[[Any], Any] | None = None
"""Function of a worker process."""


def _initialise_worker(function: Callable[[Any], Any]) -> None:
    """Store the function; ignore Ctrl-C, which reaches all processes of a terminal and is handled by the parent."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _function = function


def _work(piece: Any) -> Any:
    assert _function is not None
    return _function(piece)


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Defer Ctrl-C until the processes have started, because Python would lose it while forking."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """Kill the worker processes, so that the pool can be closed at once."""
    for process in list((pool._processes or {}).values()):
        process.kill()
    # The pool waits for the rest of a result that a killed worker was sending, until no process can write to the pipe:
    # the last one is this process, which holds the writing end without using it.
    pool._result_queue._writer.close()  # type: ignore[attr-defined]


def _wait(pool: ProcessPoolExecutor, futures: list[Future[Result]], label: str) -> list[Result]:
    try:
        return [_result(pool, each) for each in (progress(futures, label=label) if label else futures)]
    except Exception:  # after Ctrl-C, the workers are killed, and the pool cancels the futures
        for future in futures:
            future.cancel()
        raise


def _result(pool: ProcessPoolExecutor, future: Future[Result]) -> Result:
    """Return the result of a future; break the pool if a worker was killed while it was sending a result."""
    while True:
        try:
            return future.result(timeout=_SECONDS_BETWEEN_CHECKS)
        except TimeoutError:
            if future.done():
                return future.result()
            # The pool notices a killed worker by itself, unless it waits for the rest of a result.
            if any(process.exitcode is not None for process in (pool._processes or {}).values()):
                _kill_workers(pool)


def can_start() -> bool:
    """Return whether new processes can start without running the main script: by fork, or if it has a main guard."""
    if multiprocessing.get_start_method() == "fork":
        return True
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is None:  # an interactive prompt or a notebook
        return True
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    conditions = [part for node in tree.body if isinstance(node, ast.If) for part in ast.walk(node.test)]
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in conditions)
