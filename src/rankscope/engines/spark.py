"""Work on Spark: what all pieces share is broadcast once, and results come back a window of pieces at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rankscope.engines.attempts import attempt, unwrap
from rankscope.engines.executors import in_order
from rankscope.errors import MissingDependencyError, SettingsError, WorkerError

__all__ = ["SparkEngine", "session", "with_retries"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_IN_WINDOW = 4  # pieces for each core: the results of a window are in the driver's memory together
_FAILURES = 4  # of one task, as Spark has it on clusters; with local masters it would be one


class SparkEngine:
    """An engine whose workers are those of a Spark session."""

    def __init__(self, spark: Any) -> None:
        try:
            self._context = spark.sparkContext
        except Exception:  # Spark Connect says so in an exception of its own
            raise SettingsError(
                "a Spark Connect session cannot run pieces of work",
                hint="give a session with a sparkContext; rankscope.spark.evaluate works with either",
            ) from None
        self.workers: int = max(1, self._context.defaultParallelism)

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """The results in the order of the pieces.

        The function, with all that it holds, is broadcast once. Each window of pieces is a job of Spark, with a task
        for each piece; the next one fills the cores that the last pieces of a window leave idle.
        """
        from concurrent.futures import ThreadPoolExecutor

        size = _IN_WINDOW * self.workers
        windows = [pieces[first : first + size] for first in range(0, len(pieces), size)]
        shared = self._context.broadcast(_packed(function))
        work = _Work(shared)

        def job(window: Sequence[Piece]) -> list[bytes]:
            rows = self._context.parallelize([_packed(piece) for piece in window], len(window))
            found: list[bytes] = rows.mapPartitions(work).collect()
            return found

        with ThreadPoolExecutor(2) as pool:
            try:
                for outcomes in in_order(lambda window: pool.submit(job, window), windows, 1):
                    for outcome in outcomes:
                        yield unwrap(_unpacked(outcome))
            except Exception as error:
                if not type(error).__module__.startswith(("py4j", "pyspark")):
                    raise
                raise died(error) from None
            finally:
                shared.unpersist()


class _Work:
    """What a task does: it unpacks the function once, and applies it to its pieces."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def __call__(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        function = unpacked_once(self._shared.value)
        for piece in pieces:
            yield _packed(attempt(function, _unpacked(piece)))


_last: tuple[bytes, Any] | None = None


def unpacked_once(packed: bytes) -> Any:
    """What was broadcast, kept for the next task of this worker."""
    global _last
    if _last is None or _last[0] is not packed:
        _last = (packed, _unpacked(packed))
    return _last[1]


def _packed(thing: Any) -> bytes:
    from pyspark import cloudpickle

    packed: bytes = cloudpickle.dumps(thing)
    return packed


def _unpacked(packed: bytes) -> Any:
    from pyspark import cloudpickle

    return cloudpickle.loads(packed)


def died(error: Exception) -> WorkerError:
    """One line for what Spark says in hundreds."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = next(
        (line for line in said if "ExitCode" in line or "most recent failure" in line),
        said[0] if said else "",
    )
    return WorkerError(
        f"Spark gave the work up ({reason[:200]})",
        hint="there may be too little memory; give the executors more of it, or use fewer cores each",
    )


def with_retries(master: str) -> str:
    """A master on this machine with as many retries as clusters have, so that a worker that dies is made up for.

    >>> with_retries("local[2]"), with_retries("local"), with_retries("local[2,8]"), with_retries("spark://host:7077")
    ('local[2,4]', 'local[1,4]', 'local[2,8]', 'spark://host:7077')
    """
    if master == "local":
        master = "local[1]"
    if master.startswith("local[") and "," not in master:
        return f"{master.removesuffix(']')},{_FAILURES}]"
    return master


@contextmanager
def session(master: str = "", **settings: str) -> Iterator[Any]:
    """A Spark session of ours, on this machine if no master is named; one that runs already is used, and stays."""
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingDependencyError.for_package("pyspark", "spark", "Spark clusters") from None
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    _environment(Path(pyspark.__file__).parent, here=not master or master.startswith("local"))
    builder: Any = SparkSession.builder
    builder = builder.appName("rankscope").master(with_retries(master or "local[*]"))
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    for name, value in {**quiet, **settings}.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        said = str(error).splitlines()
        raise SettingsError(
            f"Spark does not start with the master {master or 'local[*]'!r} ({(said or [''])[0][:200]})",
            hint="Java 17 or newer must be installed, and the master be one of Spark's, such as local[2] or spark://host:7077",
        ) from None
    try:
        yield spark
    finally:
        spark.stop()


def _environment(home: Path, here: bool) -> None:
    """What Spark's processes look for: its own home, this interpreter, and on one machine the loopback address."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if here:
        os.environ.setdefault("SPARK_HOME", str(home))
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
