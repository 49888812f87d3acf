"""Other processes of this machine, for work that holds the interpreter's lock. One that is killed is replaced."""

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
from typing import Any, TypeVar

from rankscope.engines.attempts import TRIES
from rankscope.engines.threads import run_in_threads
from rankscope.errors import WorkerError
from rankscope.progress import progress

__all__ = ["run_in_processes"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def run_in_processes(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int, label: str = ""
) -> list[Result]:
    """The results in the order of the pieces. Where processes cannot be started, threads do the work.

    Every process is given the function once, with all that it holds. When one dies (killed, out of memory), what was
    not finished is given to new ones, twice.
    """
    if not can_start():
        warnings.warn(
            "other processes would run this script again, as it has no `if __name__ == '__main__':`;"
            " its work is done by threads",
            stacklevel=4,
        )
        return run_in_threads(function, pieces, workers, label)
    done: dict[int, Result] = {}
    for _ in range(TRIES):
        left = [index for index in range(len(pieces)) if index not in done]
        futures: dict[int, Future[Result]] = {}
        try:
            with ProcessPoolExecutor(
                min(workers, len(left)), initializer=_begin, initargs=(function,)
            ) as pool:
                try:
                    with _undisturbed():
                        futures = {index: pool.submit(_work, pieces[index]) for index in left}
                    results = _results(list(futures.values()), label)
                except KeyboardInterrupt:
                    _end_workers(pool)
                    raise
            return [done[i] if i in done else results[left.index(i)] for i in range(len(pieces))]
        except BrokenProcessPool:
            for index, future in futures.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    done[index] = future.result()
    raise WorkerError(
        f"a worker process was killed, {TRIES} times",
        hint="there may be too little memory; try fewer at once, such as -j 1",
    )


_function: Callable[[Any], Any] | None = None
"""What this process does with a piece, if it is a worker."""


def _begin(function: Callable[[Any], Any]) -> None:
    """Ctrl-C in a terminal reaches all processes; what becomes of the work is decided in the first one."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _function = function


def _work(piece: Any) -> Any:
    assert _function is not None
    return _function(piece)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C waits until the processes are started: what Python does when it forks would lose it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_workers(pool: ProcessPoolExecutor) -> None:
    """End what the processes are at: nobody waits for it."""
    for process in list((pool._processes or {}).values()):
        process.kill()


def _results(futures: list[Future[Result]], label: str) -> list[Result]:
    try:
        return [future.result() for future in (progress(futures, len(futures), label) if label else futures)]
    except Exception:  # not Ctrl-C: its workers are killed, and then the pool itself ends what waits
        for future in futures:
            future.cancel()
        raise


def can_start() -> bool:
    """Whether new processes can begin without running the script that is being run: forked ones, or a guarded one."""
    if multiprocessing.get_start_method() == "fork":
        return True
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is None:  # a prompt, a notebook
        return True
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    return any(
        isinstance(node, ast.If)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
        for node in tree.body
    )
