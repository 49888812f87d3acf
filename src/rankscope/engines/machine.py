"""Number of workers on this machine."""

from __future__ import annotations

import os
from contextvars import ContextVar

from rankscope.errors import SettingsError

chosen_jobs: ContextVar[int | None] = ContextVar("jobs", default=None)
"""Number of workers inside :func:`rankscope.engines.using`, unless a call names another."""


def cores(jobs: int | None = None) -> int:
    """Return the number of workers: ``jobs``, or that of :func:`rankscope.engines.using`, or all cores if it is 0.

    Parameters
    ----------
    jobs
        Number of workers; 0 for all cores (default: the number of the engine, or all cores).

    Examples
    --------
    >>> cores(3), cores() >= 1
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
