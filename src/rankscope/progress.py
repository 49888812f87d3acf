"""Progress bars, and cancellation of long computations.

Bars are drawn on standard error if it is a terminal. Readers of files call :func:`advance` after each block: it moves
the bar of :func:`reading`, and ends a cancelled thread.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from threading import Event, Lock, local
from typing import TypeVar

T = TypeVar("T")
_quiet = False
_APPEARS_AFTER = 0.5  # Seconds; avoids flickering bars of short computations.
_WIDTH = 30
_MEGABYTE = 1_000_000


def silence(quiet: bool = True) -> None:
    """Disable all progress bars (``--quiet``), or enable them again."""
    global _quiet
    _quiet = quiet


def is_visible() -> bool:
    """Return whether progress bars are enabled and standard error is a terminal."""
    return not _quiet and sys.stderr.isatty()


def progress(items: Iterable[T], total: int | None = None, label: str = "") -> Iterator[T]:
    """Yield the items; draw a bar with the number of finished items and the estimated remaining time.

    >>> list(progress([1, 2, 3], label="files"))
    [1, 2, 3]
    """
    if total is None:
        total = len(items) if isinstance(items, Sized) else 0
    if not is_visible():
        yield from items
        return
    bar = _Bar(total, label)
    try:
        for done, item in enumerate(items):
            bar.show(done)
            yield item
    finally:
        bar.clear()


class _Bar:
    """A thread-safe progress bar, one line on the terminal."""

    def __init__(self, total: int, label: str, unit: str = "") -> None:
        self.total, self.label, self.unit = total, label, unit
        self._start = time.monotonic()
        self._drawn_at, self._drawn = self._start + _APPEARS_AFTER - 0.1, False
        self._done, self._lock = 0, Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self._done += count
            self.show(min(self._done // _MEGABYTE, self.total))

    def show(self, done: int) -> None:
        now = time.monotonic()
        if now - self._drawn_at > 0.1:
            sys.stderr.write("\r" + _line(done, self.total, self.label, now - self._start, self.unit))
            sys.stderr.flush()
            self._drawn_at, self._drawn = now, True

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _line(done: int, total: int, label: str, elapsed: float, unit: str = "") -> str:
    """Return the text of a bar.

    >>> _line(5, 10, "files", 2.0)
    'files ███████████████░░░░░░░░░░░░░░░ 5/10, 2 s left \\x1b[K'
    """
    if total <= 0:
        return f"{label} {done}{unit} \x1b[K"
    filled = min(_WIDTH, done * _WIDTH // total)
    left = "" if done == 0 else f", {elapsed / done * (total - done):.0f} s left"
    return f"{label} {'█' * filled}{'░' * (_WIDTH - filled)} {done}/{total}{unit}{left} \x1b[K"


_reading: _Bar | None = None
_thread = local()


@contextmanager
def reading(size: int, label: str) -> Iterator[None]:
    """Draw a bar of the bytes that all threads have read, out of ``size``, so that even one large file has progress."""
    global _reading
    if size <= 0 or not is_visible() or _reading is not None:
        yield
        return
    bar = _reading = _Bar(max(1, size // _MEGABYTE), label, " MB")
    try:
        yield
    finally:
        _reading = None
        bar.clear()


class Cancelled(BaseException):
    """Raised in a thread whose result is no longer needed."""


def advance(size: int = 0) -> None:
    """Report ``size`` more bytes read, or another step of a computation; raise Cancelled in a cancelled thread."""
    if any(event.is_set() for event in cancel_events()):
        raise Cancelled
    if size and (bar := _reading) is not None:
        bar.add(size)


def blocks(length: int, size: int) -> Iterator[slice]:
    """Yield slices of at most ``size`` items that cover ``length`` items; raise Cancelled in a cancelled thread.

    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, length, size):
        advance()
        yield slice(start, min(start + size, length))


def cancel_events() -> tuple[Event, ...]:
    """Return the events that cancel this thread."""
    events: tuple[Event, ...] = getattr(_thread, "events", ())
    return events


def set_cancel_events(events: tuple[Event, ...]) -> None:
    """Set the events that cancel this thread."""
    _thread.events = events
