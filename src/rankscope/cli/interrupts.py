"""Handles Ctrl-C: the first stops the command, the second ends the process at once; neither prints a traceback."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

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
    hook, sys.unraisablehook = sys.unraisablehook, _repeat_lost
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if signal.getsignal(signal.SIGINT) is _interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C. If a KeyboardInterrupt, but none of a subclass, leaves a text run by exec, CPython exits by the signal.

    Importing scipy runs such texts. CPython does so even if the exception is handled afterwards.
    """


def _interrupt(*_: Any) -> NoReturn:
    # _exit remains the handler after the command, so that a second Ctrl-C also ends the interpreter's shutdown.
    signal.signal(signal.SIGINT, _exit)
    raise _Interrupt


def _repeat_lost(unraisable: UnraisableHookArgs) -> None:
    """Send the signal again if Python dropped its exception in a callback, as happens during imports."""
    if isinstance(unraisable.exc_value, _Interrupt):
        signal.signal(signal.SIGINT, _interrupt)
        # On Windows, os.kill would end the process; elsewhere, it also interrupts a main thread that waits.
        send = signal.raise_signal if sys.platform == "win32" else partial(os.kill, os.getpid())
        threading.Timer(0.01, send, [signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(unraisable)


def _exit(*_: Any) -> NoReturn:
    os._exit(INTERRUPTED)
