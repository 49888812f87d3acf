"""The program ``rankscope``, also as ``python -m rankscope``: a process that runs one command and ends."""

from __future__ import annotations

import gc
import sys

__all__ = ["program"]


def program() -> int:
    """Run the command that was typed, and look for garbage seldom.

    Loading modules makes many objects and hardly any garbage. Looking for some again and again, and once more through
    everything when the process ends, takes a sixth of the time of a short command.
    """
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
    from rankscope.cli.main import main

    code = main()
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(program())
