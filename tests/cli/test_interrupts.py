"""Ctrl-C, step by step: the first raises, the second ends the process, and afterwards all is as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rankscope.cli.interrupts import INTERRUPTED, interruptible


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def handler() -> Any:
    return signal.getsignal(signal.SIGINT)


def test_a_command_that_is_not_interrupted_leaves_the_handler_as_it_was() -> None:
    with interruptible():
        assert handler() is not signal.default_int_handler
    assert handler() is signal.default_int_handler


def test_the_first_raises_and_the_second_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class EndedError(Exception):
        pass

    def end(code: int) -> None:
        raise EndedError(code)

    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(EndedError, match=f"^{INTERRUPTED}$"):  # while the interpreter is left
        signal.raise_signal(signal.SIGINT)


def own(*_: Any) -> None:
    """Handler of a program that calls the command line."""


@pytest.mark.parametrize("other", [signal.SIG_IGN, own], ids=["ignored", "handled"])
def test_a_foreign_signal_handler_is_kept(other: Callable[..., None]) -> None:
    signal.signal(signal.SIGINT, other)
    with interruptible():
        assert handler() is other
        signal.raise_signal(signal.SIGINT)
    assert handler() is other


def test_another_thread_than_the_main_one_may_not_set_handlers() -> None:
    def inside() -> Any:
        with interruptible():
            return handler()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() is signal.default_int_handler


@pytest.mark.skipif(sys.platform == "win32", reason="signals are different there")
@pytest.mark.parametrize(
    "interrupt",
    [
        "exec('signal.raise_signal(signal.SIGINT)')",  # CPython would exit by the signal.
        "weakref.finalize(value := type('Value', (), {})(), signal.raise_signal, signal.SIGINT); del value",
        "reference = weakref.ref(value := {1}, lambda _: signal.raise_signal(signal.SIGINT)); del value",
    ],
)
def test_an_interrupt_is_handled_wherever_it_arrives(interrupt: str) -> None:
    lines = (
        "import signal, time, weakref",
        "from rankscope.cli.interrupts import interruptible",
        "try:",
        "    with interruptible():",
        f"        {interrupt}",
        "        time.sleep(600)",
        "except KeyboardInterrupt:",
        "    print('handled')",
    )
    process = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=300
    )
    assert (process.stdout, process.stderr, process.returncode) == ("handled\n", "", 0)
