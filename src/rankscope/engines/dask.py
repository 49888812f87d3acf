"""Work on a Dask cluster: what all pieces share is scattered once, and workers that die are made up for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, TypeVar

from rankscope.engines.attempts import TRIES, attempt, unwrap
from rankscope.errors import MissingDependencyError, SettingsError, WorkerError

__all__ = ["DaskEngine", "client"]

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_AHEAD = 4  # pieces for each worker that are begun before the first of them is asked for
_PATIENCE = 30.0  # seconds to reach a cluster, or a worker of it
_LONGEST = 120.0  # seconds of trying again: a cluster under load starts workers in place of killed ones within a minute


class DaskEngine:
    """An engine whose workers are those of a Dask client."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.workers: int = max(1, sum(client.nthreads().values()))

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """The results in the order of the pieces.

        The function, with all that it holds, is sent to every worker once. A worker that dies is made up for by Dask;
        if what was scattered is lost with it, it is scattered again.
        """
        shared = self._scattered(function)
        waiting: deque[tuple[Piece, Any]] = deque()
        todo = iter(pieces)
        lost = 0
        try:
            while True:
                while len(waiting) < _AHEAD * self.workers and (more := next(todo, _END)) is not _END:
                    waiting.append((more, self._begun(shared, more)))  # type: ignore[arg-type]
                if not waiting:
                    return
                try:
                    outcome = self._outcome(waiting[0][1])
                except CancelledError:
                    lost += 1
                    if lost >= TRIES:
                        raise _died("all that hold the data of the work died") from None
                    shared = self._scattered(function)
                    waiting = deque((piece, self._begun(shared, piece)) for piece, _ in waiting)
                    continue
                waiting.popleft()
                yield unwrap(outcome)
        finally:
            for _, future in waiting:
                future.cancel()

    def _scattered(self, function: Callable[[Piece], Result]) -> Any:
        """Send the function to all workers; wait for those that die or are slow under load, and try again."""
        end, pause = monotonic() + _LONGEST, 0.25
        while True:
            try:
                self._client.wait_for_workers(1, timeout=_PATIENCE)
                return self._client.scatter([_Shared(function)], broadcast=True, hash=False)[0]
            except (OSError, TimeoutError, CancelledError):  # the first is also what closed connections raise
                if monotonic() > end:
                    what = f"the workers of the Dask cluster did not answer for {_LONGEST:.0f} seconds"
                    raise _died(what) from None
                sleep(pause)
                pause = min(2 * pause, 8.0)

    def _begun(self, shared: Any, piece: Piece) -> Any:
        return self._client.submit(_done, shared, _Shared(piece), pure=False)

    def _outcome(self, future: Any) -> Any:
        from distributed.scheduler import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            raise _died("the workers that took a piece of the work died, one after the other") from None


class _End:
    """After the last piece."""


_END = _End()


class _Shared:
    """Holds what Dask shall not look into."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _done(shared: _Shared, piece: _Shared) -> Any:
    return attempt(shared.content, piece.content)


def _died(what: str) -> WorkerError:
    return WorkerError(
        what, hint="there may be too little memory; give workers more of it, or use fewer at once"
    )


@contextmanager
def client(address: str = "") -> Iterator[Any]:
    """A client of the cluster at an address; without one, of a cluster on this machine, a process for each core."""
    try:
        import distributed
    except ImportError:
        raise MissingDependencyError.for_package("distributed", "dask", "Dask clusters") from None
    from rankscope.engines.machine import cores

    if address:
        try:
            found = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"no Dask scheduler answers at {address!r} ({error})",
                hint="give the address that it printed",
            ) from None
        with found:
            yield found
        return
    with (
        distributed.LocalCluster(
            n_workers=cores(), threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found
