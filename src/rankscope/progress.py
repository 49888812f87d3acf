"""A progress bar for long work: on a terminal's standard error, silent everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

__all__ = ["progress", "silence"]

T = TypeVar("T")
_quiet = False
_APPEARS_AFTER = 0.5  # seconds: short work should not flicker
_WIDTH = 30


def silence(quiet: bool = True) -> None:
    """Switch all progress bars off (``--quiet``) or on again."""
    global _quiet
    _quiet = quiet


def progress(items: Iterable[T], total: int | None = None, label: str = "") -> Iterator[T]:
    """Yield the items; draw how many are done, and how long the rest will take.

    >>> list(progress([1, 2, 3], label="files"))
    [1, 2, 3]
    """
    if total is None:
        total = len(items) if isinstance(items, Sized) else 0
    if _quiet or not sys.stderr.isatty():
        yield from items
        return
    start = time.monotonic()
    drawn_at = start + _APPEARS_AFTER - 0.1
    drawn = False
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now - drawn_at > 0.1:
                sys.stderr.write("\r" + _bar(done, total, label, now - start))
                sys.stderr.flush()
                drawn_at, drawn = now, True
            yield item
    finally:
        if drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _bar(done: int, total: int, label: str, elapsed: float) -> str:
    """One line of the bar.

    >>> _bar(5, 10, "files", 2.0)
    'files ███████████████░░░░░░░░░░░░░░░ 5/10, 2 s left \\x1b[K'
    """
    if total <= 0:
        return f"{label} {done} \x1b[K"
    filled = min(_WIDTH, done * _WIDTH // total)
    left = "" if done == 0 else f", {elapsed / done * (total - done):.0f} s left"
    return f"{label} {'█' * filled}{'░' * (_WIDTH - filled)} {done}/{total}{left} \x1b[K"
