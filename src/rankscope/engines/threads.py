"""Threads that share pieces of work, without the machinery of ``concurrent.futures``: loading that takes as long as
reading several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TypeVar

from rankscope.progress import cancel_events, progress, set_cancel_events

__all__ = ["Background", "run_in_threads"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def run_in_threads(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int, label: str = ""
) -> list[Result]:
    """The results in the order of the pieces, or the error of the first piece that has one. A label shows a bar.

    >>> run_in_threads(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    todo: Iterator[tuple[int, Piece]] = iter(enumerate(pieces))
    cancelled = Event()
    taking = Lock()
    finished: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()

    def stop() -> None:
        nonlocal todo
        with taking:
            todo = iter(())

    def work(events: tuple[Event, ...]) -> None:
        set_cancel_events(events)
        while True:
            with taking:
                taken = next(todo, None)
            if taken is None:
                return
            try:
                finished.put((taken[0], function(taken[1]), None))
            except BaseException as error:
                stop()
                finished.put((taken[0], None, error))

    threads = [Thread(target=work, args=((*cancel_events(), cancelled),)) for _ in range(workers)]
    results: dict[int, Result | None] = {}
    errors: dict[int, BaseException] = {}
    try:
        for thread in threads:
            thread.start()
        for _ in progress(range(len(pieces)), len(pieces), label) if label else pieces:
            index, results[index], error = finished.get()
            if error is not None:
                errors[index] = error
                break
    except BaseException:  # Ctrl-C, mostly: what the threads are at is not waited for
        cancelled.set()
        raise
    finally:
        stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    # pieces are taken in order, so those before the one that failed have ended too
    while errors and not finished.empty():
        index, _, error = finished.get()
        if error is not None:
            errors[index] = error
    if errors:
        raise errors[min(errors)]
    return [results[index] for index in range(len(pieces))]  # type: ignore[misc]


class Background:
    """Threads that all do one thing beside everything else; the program may end before they do.

    >>> done = []
    >>> beside = Background(lambda: done.append(1), 2)
    >>> beside.start()
    >>> beside.wait()
    >>> done
    [1, 1]
    """

    def __init__(self, work: Callable[[], None], workers: int) -> None:
        self.threads = [Thread(target=work, daemon=True) for _ in range(workers)]
        self._waiting = Lock()

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def wait(self) -> None:
        """Wait until all have ended; whoever else waits, waits too."""
        with self._waiting:
            for thread in self.threads:
                if thread.ident is not None:
                    thread.join()
