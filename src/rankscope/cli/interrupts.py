"""Ctrl-C: the first ends the work, a second one the process at once, and neither shows a traceback."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "interruptible"]

INTERRUPTED = 130
"""The exit code: 128 and the number of the signal, as shells have it."""


@contextmanager
def interruptible() -> Iterator[None]:
    """While a command runs, Ctrl-C raises KeyboardInterrupt once; what tidies up after it is not interrupted by errors.

    Where somebody else handles the signal, or in another thread than the main one, nothing changes.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _first)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _first:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _first(*_: Any) -> NoReturn:
    signal.signal(signal.SIGINT, _second)  # stays, so that the interpreter can be left in peace
    raise KeyboardInterrupt


def _second(*_: Any) -> NoReturn:
    os._exit(INTERRUPTED)
