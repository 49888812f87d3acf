"""Entry point of the command line ``rankscope`` and of ``python -m rankscope``."""

import atexit
import gc
import os
import sys
from contextlib import suppress

__all__ = ["program", "run_process"]


def program() -> int:
    """Run the command line, with rare garbage collections.

    Importing modules creates many objects but hardly any garbage. Collections during the imports and at exit would
    take a sixth of the time of a short command.
    """
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
    from rankscope.cli.main import main

    code = main()
    gc.freeze()
    return code


def run_process() -> int:
    """Run the command line in a process of its own, and let the system free its memory, which is faster than Python.

    Functions that are registered to run at exit do so first, and threads end, because the first one registered is the
    last one called. Tools that measure a process, such as coverage, register theirs even earlier or trace it; the
    interpreter then ends as usual.
    """
    codes: list[int] = []
    count_earlier = getattr(atexit, "_ncallbacks", lambda: 1)  # not every interpreter tells
    if not (count_earlier() or sys.gettrace() or sys.getprofile()):
        atexit.register(_end_process, codes)
    codes.append(program())
    return codes[0]


def _end_process(codes: list[int]) -> None:
    if codes:  # Otherwise, an exception ends the process.
        with suppress(OSError, ValueError):  # The command has written its output, and reported errors.
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(codes[0])


if __name__ == "__main__":
    sys.exit(run_process())
