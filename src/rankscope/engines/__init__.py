"""Run work in this process, in threads, in processes, on any executor, or on a Dask or Spark cluster.

Work is split into pieces, each a pure function of its input; results are returned in the order of the pieces, so they
do not depend on the engine. :func:`using` selects the engine. Only this package and :mod:`rankscope.spark` depend on
Dask and Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rankscope.engines.choice import current_engine, on_engine, using
from rankscope.engines.machine import count_workers
from rankscope.engines.pieces import Piece, Result
from rankscope.engines.threads import run_in_threads
from rankscope.progress import progress

__all__ = ["count_workers", "current_engine", "on_engine", "run_pieces", "stream_pieces", "using"]


def run_pieces(
    function: Callable[[Piece], Result],
    pieces: Sequence[Piece],
    *,
    jobs: int | None = None,
    processes: bool = False,
    label: str = "",
) -> list[Result]:
    """Apply a function to every piece and return the results in order.

    ``processes`` declares that the function holds the GIL, so that threads would not help. The engine of :func:`using`
    runs the work, if there is one.

    Parameters
    ----------
    function
        Pure function of one piece.
    pieces
        Independent pieces of the work.
    jobs
        Number of workers (default: all cores).
    processes
        Whether processes are faster than threads, because the function holds the interpreter lock.
    label
        Text of the progress bar.

    Returns
    -------
    list[Result]
        Results in the order of the pieces.

    Examples
    --------
    >>> run_pieces(abs, [-1, 2, -3], jobs=2)
    [1, 2, 3]
    """
    engine = current_engine()
    if engine is not None:
        results = engine.stream(function, pieces)
        return list(progress(results, len(pieces), label) if label else results)
    workers = min(count_workers(jobs), len(pieces))
    if workers <= 1:
        return [function(piece) for piece in (progress(pieces, len(pieces), label) if label else pieces)]
    if not processes:
        return run_in_threads(function, pieces, workers, label)
    from rankscope.engines.processes import run_in_processes

    return run_in_processes(function, pieces, workers, label)


def stream_pieces(
    function: Callable[[Piece], Result], pieces: Sequence[Piece], *, jobs: int | None = None
) -> Iterator[Result]:
    """Yield the results in the order of the pieces, for results that do not fit in memory together.

    Workers are at most a few pieces ahead, which bounds memory; closing the generator (or an interrupt) stops them.

    Parameters
    ----------
    function
        Pure function of one piece.
    pieces
        Independent pieces of the work.
    jobs
        Number of workers (default: all cores).

    Returns
    -------
    Iterator[Result]
        Results in the order of the pieces, as they are computed.

    Examples
    --------
    >>> list(stream_pieces(abs, [-1, 2, -3], jobs=2))
    [1, 2, 3]
    """
    engine = current_engine()
    if engine is not None:
        yield from engine.stream(function, pieces)
        return
    workers = min(count_workers(jobs), len(pieces))
    if workers <= 1:
        yield from map(function, pieces)
        return
    from concurrent.futures import ThreadPoolExecutor

    from rankscope.engines.executors import iterate_results

    with ThreadPoolExecutor(workers) as pool:
        yield from iterate_results(lambda piece: pool.submit(function, piece), pieces, 2 * workers)
