"""The machine this process is on."""

from __future__ import annotations

import os

from rankscope.errors import SettingsError

__all__ = ["cores"]


def cores(jobs: int | None = None) -> int:
    """How many workers to use: ``jobs``, or all the cores this process may run on when it is None or 0.

    >>> cores(3), cores() >= 1
    (3, True)
    """
    if jobs:
        if jobs < 0:
            raise SettingsError(f"{jobs} jobs", hint="give a positive number, or 0 for all cores")
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
