"""Start the explorer, open its page, request a ranking, and stop: ``python -m benchmarks.click QRELS RUN``.

Everything runs in one process, whose peak memory is therefore the explorer's.
"""

from __future__ import annotations

import os
import signal
import sys
from threading import Thread
from urllib.request import urlopen

from rankscope import Collection, explore


def _visit(address: str, failures: list[str]) -> None:
    try:
        for path in ("", "data", "list/0/0"):
            with urlopen(address + path, timeout=3600) as answer:
                while answer.read(1 << 20):
                    pass
    except OSError as failure:
        failures.append(f"{path or 'page'}: {failure}")
    finally:
        os.kill(os.getpid(), signal.SIGINT)


def main() -> int:
    """Serve until the requests have been answered."""
    qrels, run = sys.argv[1:]
    failures: list[str] = []
    explore(
        Collection(qrels, run),
        on_ready=lambda address: Thread(target=_visit, args=(address, failures)).start(),
    )
    for failure in failures:
        print(failure, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
