"""Run work in threads without ``concurrent.futures``, whose import takes as long as reading several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Event, Lock, Thread

from rankscope.engines.pieces import Piece, Result
from rankscope.progress import cancel_events, progress, set_cancel_events


def run_in_threads(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], workers: int, label: str = ""
) -> list[Result]:
    """Return the results in the order of the pieces, or raise the first error; ``label`` shows a progress bar.

    >>> run_in_threads(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    remaining: Iterator[tuple[int, Piece]] = iter(enumerate(pieces))
    cancelled = Event()
    lock = Lock()
    finished: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()

    def stop() -> None:
        nonlocal remaining
        with lock:
            remaining = iter(())

    def work(events: tuple[Event, ...]) -> None:
        set_cancel_events(events)
        while True:
            with lock:
                item = next(remaining, None)
            if item is None:
                return
            index, piece = item
            try:
                finished.put((index, function(piece), None))
            except BaseException as error:
                stop()
                finished.put((index, None, error))

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
    except BaseException:  # mostly Ctrl-C: the threads stop at their next check
        cancelled.set()
        raise
    finally:
        stop()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    # Pieces start in order, so that those before the failed one have finished too.
    while errors and not finished.empty():
        index, _, error = finished.get()
        if error is not None:
            errors[index] = error
    if errors:
        raise errors[min(errors)]
    return [results[index] for index in range(len(pieces))]  # type: ignore[misc]


class Background:
    """Background threads that all run the same function; the program may end before they do.

    >>> calls = []
    >>> background = Background(lambda: calls.append(1), 2)
    >>> background.start()
    >>> background.wait()
    >>> calls
    [1, 1]
    """

    def __init__(self, work: Callable[[], None], workers: int) -> None:
        self.threads = [Thread(target=work, daemon=True) for _ in range(workers)]
        self._lock = Lock()

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def wait(self) -> None:
        """Wait until all threads have ended; several callers may wait."""
        with self._lock:
            for thread in self.threads:
                if thread.ident is not None:
                    thread.join()
