"""Handles Ctrl-C: the first stops the command, the second ends the process at once; neither prints a traceback."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

INTERRUPTED = 130
"""Exit code: 128 plus the number of the signal, as in shells."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first Ctrl-C; a second one ends the process without tracebacks from cleanup.

    Nothing changes if the calling program handles the signal, or outside the main thread.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(*_: Any) -> NoReturn:
    # _exit remains the handler after the command, so that a second Ctrl-C also ends the interpreter's shutdown.
    signal.signal(signal.SIGINT, _exit)
    raise KeyboardInterrupt


def _exit(*_: Any) -> NoReturn:
    os._exit(INTERRUPTED)
