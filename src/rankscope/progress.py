"""Long work: a bar that says how far it is, and a way to end it when nobody waits for it any more.

Bars appear on a terminal's standard error and are silent everywhere else. Whoever reads a file calls :func:`advance`
after each block: that moves the bar of :func:`reading`, and ends a thread that was cancelled.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from threading import Event, Lock, local
from typing import TypeVar

__all__ = ["Cancelled", "advance", "cancelling", "obey", "progress", "reading", "silence", "visible"]

T = TypeVar("T")
_quiet = False
_APPEARS_AFTER = 0.5  # seconds: short work should not flicker
_WIDTH = 30
_MEGABYTE = 1_000_000


def silence(quiet: bool = True) -> None:
    """Switch all progress bars off (``--quiet``) or on again."""
    global _quiet
    _quiet = quiet


def visible() -> bool:
    """Whether anybody would see a bar."""
    return not _quiet and sys.stderr.isatty()


def progress(items: Iterable[T], total: int | None = None, label: str = "") -> Iterator[T]:
    """Yield the items; draw how many are done, and how long the rest will take.

    >>> list(progress([1, 2, 3], label="files"))
    [1, 2, 3]
    """
    if total is None:
        total = len(items) if isinstance(items, Sized) else 0
    if not visible():
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
    """A line on the terminal that threads may draw."""

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
    """One line of the bar.

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
    """Draw how much has been read of so many bytes, by whichever threads; one large file has a bar this way, too."""
    global _reading
    if size <= 0 or not visible() or _reading is not None:
        yield
        return
    bar = _reading = _Bar(max(1, size // _MEGABYTE), label, " MB")
    try:
        yield
    finally:
        _reading = None
        bar.clear()


class Cancelled(BaseException):
    """Raised in a thread whose result nobody waits for."""


def advance(size: int = 0) -> None:
    """So many bytes more have been read, or another step of long work done; ends the thread if it was cancelled."""
    if any(event.is_set() for event in cancelling()):
        raise Cancelled
    if size and (bar := _reading) is not None:
        bar.add(size)


def cancelling() -> tuple[Event, ...]:
    """The events that cancel what this thread does."""
    events: tuple[Event, ...] = getattr(_thread, "events", ())
    return events


def obey(events: tuple[Event, ...]) -> None:
    """What this thread does is cancelled by any of these events."""
    _thread.events = events
