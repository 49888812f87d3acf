"""Run work on Spark: the function is broadcast once, and results are collected one window of pieces at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankscope.engines.attempts import attempt, unwrap
from rankscope.engines.executors import iterate_results
from rankscope.engines.pieces import Piece, Result
from rankscope.errors import SettingsError, WorkerError, require_package
from rankscope.lazy import LazyModule

cloudpickle = LazyModule("pyspark.cloudpickle")

_PIECES_PER_CORE = 4  # of a window, whose results are in the memory of the driver together
_MAX_FAILURES = 4  # of a task, the default of Spark on clusters; the default of local masters is 1


class SparkEngine:
    """An engine whose workers are those of a Spark session."""

    def __init__(self, spark: Any) -> None:
        try:
            self._context = spark.sparkContext
        except Exception:  # Spark Connect raises its own exception
            hint = "give a session with a sparkContext; rankscope.spark.evaluate works with either"
            raise SettingsError("a Spark Connect session cannot run pieces of work", hint=hint) from None
        self.workers: int = max(1, self._context.defaultParallelism)

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """Yield the results in the order of the pieces.

        The function and its data are broadcast once. Each window of pieces is a Spark job with a task per piece; the
        next window fills the cores that the last pieces of a window leave idle.
        """
        from concurrent.futures import ThreadPoolExecutor

        size = _PIECES_PER_CORE * self.workers
        windows = [pieces[first : first + size] for first in range(0, len(pieces), size)]
        shared = self._context.broadcast(cloudpickle.dumps(function))
        task = _Task(shared)

        def run_job(window: Sequence[Piece]) -> list[bytes]:
            rows = self._context.parallelize([cloudpickle.dumps(piece) for piece in window], len(window))
            outcomes: list[bytes] = rows.mapPartitions(task).collect()
            return outcomes

        with ThreadPoolExecutor(2) as pool:
            try:
                for outcomes in iterate_results(lambda window: pool.submit(run_job, window), windows, 1):
                    for outcome in outcomes:
                        yield unwrap(cloudpickle.loads(outcome))
            except Exception as error:
                if not type(error).__module__.startswith(("py4j", "pyspark")):
                    raise
                raise worker_error(error) from None
            finally:
                shared.unpersist()


class _Task:
    """A Spark task: unpickles the function once, and applies it to pieces."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def __call__(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        function = unpickle_once(self._shared.value)
        for piece in pieces:
            yield cloudpickle.dumps(attempt(function, cloudpickle.loads(piece)))


_last: tuple[bytes, Any] | None = None


def unpickle_once(pickled: bytes) -> Any:
    """Unpickle broadcast data, and cache it for the next task of this worker."""
    global _last
    if _last is None or _last[0] is not pickled:
        _last = (pickled, cloudpickle.loads(pickled))
    return _last[1]


def worker_error(error: Exception) -> WorkerError:
    """Return a one-line error for a stack trace of Spark."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next(
        (line for line in lines if "ExitCode" in line or "most recent failure" in line),
        lines[0] if lines else "",
    )
    return WorkerError(
        f"Spark aborted the work ({reason[:200]})",
        hint="there may be too little memory; give the executors more of it, or use fewer cores each",
    )


def with_retries(master: str) -> str:
    """Return a local master with the retries of clusters, so that workers that die are replaced.

    >>> with_retries("local[2]"), with_retries("local"), with_retries("local[2,8]"), with_retries("spark://host:7077")
    ('local[2,4]', 'local[1,4]', 'local[2,8]', 'spark://host:7077')
    """
    if master == "local":
        master = "local[1]"
    if master.startswith("local[") and "," not in master:
        return f"{master.removesuffix(']')},{_MAX_FAILURES}]"
    return master


@contextmanager
def session(master: str = "", **settings: str) -> Iterator[Any]:
    """Start a Spark session, on this machine unless a master is named; an active session is used and not stopped."""
    with require_package("pyspark", "spark", "Spark clusters"):
        import pyspark
        from pyspark.sql import SparkSession
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    _set_environment(Path(pyspark.__file__).parent, is_local=not master or master.startswith("local"))
    builder: Any = SparkSession.builder
    builder = builder.appName("rankscope").master(with_retries(master or "local[*]"))
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in {**quiet, **settings}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        problem = f"Spark does not start with the master {master or 'local[*]'!r} ({reason})"
        hint = "install Java 17 or newer, and give a master of Spark, such as local[2] or spark://host:7077"
        raise SettingsError(problem, hint=hint) from None
    try:
        yield spark
    finally:
        spark.stop()


def _set_environment(home: Path, is_local: bool) -> None:
    """Set the interpreter of Spark's processes, and for local masters its home and the loopback address."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if is_local:
        os.environ.setdefault("SPARK_HOME", str(home))
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
