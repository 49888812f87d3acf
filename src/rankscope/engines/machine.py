"""Number of workers on this machine."""

from __future__ import annotations

import os
from contextvars import ContextVar

from rankscope.errors import SettingsError

chosen_jobs: ContextVar[int | None] = ContextVar("jobs", default=None)
"""Number of workers inside :func:`rankscope.engines.using`, unless a call names another."""


def count_workers(jobs: int | None = None) -> int:
    """Return the number of workers: ``jobs`` if set, else that of :func:`rankscope.engines.using`; 0 means all cores.

    Parameters
    ----------
    jobs
        Number of workers; 0 for all cores (default: that of ``using``, or all cores).

    Examples
    --------
    >>> count_workers(3), count_workers() >= 1
    (3, True)
    """
    jobs = chosen_jobs.get() if jobs is None else jobs
    if jobs:
        if jobs < 0:
            raise SettingsError(f"{jobs} jobs", hint="give a positive number, or 0 for all cores")
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
