"""Entry point of the command line ``rankscope`` and of ``python -m rankscope``."""

import gc
import sys

__all__ = ["program"]


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


if __name__ == "__main__":
    sys.exit(program())
