"""Run work on a Dask cluster: the function is scattered once, and workers that die are replaced."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from time import monotonic, sleep
from typing import Any

from rankscope.engines.attempts import TRIES, attempt, unwrap
from rankscope.engines.pieces import Piece, Result
from rankscope.errors import SettingsError, WorkerError, require_package

_AHEAD = 4  # pieces per worker that are submitted ahead
_TIMEOUT = 30.0  # seconds to connect to a cluster or to one of its workers
_MAX_RETRY_TIME = 120.0  # seconds; a cluster under load replaces killed workers within a minute


class DaskEngine:
    """An engine whose workers are those of a Dask client."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.workers: int = max(1, sum(client.nthreads().values()))

    def stream(self, function: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Iterator[Result]:
        """Yield the results in the order of the pieces.

        The function and its data are sent to every worker once. Dask replaces workers that die; if the function is
        lost with them, it is scattered again.
        """
        shared = self._scatter(function)
        submitted: deque[tuple[Piece, Any]] = deque()
        remaining = deque(pieces)
        n_losses = 0
        try:
            while remaining or submitted:
                while remaining and len(submitted) < _AHEAD * self.workers:
                    piece = remaining.popleft()
                    submitted.append((piece, self._submit(shared, piece)))
                try:
                    outcome = self._wait(submitted[0][1])
                except CancelledError:
                    n_losses += 1
                    if n_losses >= TRIES:
                        raise _worker_error("all workers that held the data died") from None
                    shared = self._scatter(function)
                    submitted = deque((piece, self._submit(shared, piece)) for piece, _ in submitted)
                    continue
                submitted.popleft()
                yield unwrap(outcome)
        finally:
            for _, future in submitted:
                future.cancel()

    def _scatter(self, function: Callable[[Piece], Result]) -> Any:
        """Send the function to all workers; retry while workers die or are slow under load."""
        deadline, pause = monotonic() + _MAX_RETRY_TIME, 0.25
        while True:
            try:
                self._client.wait_for_workers(1, timeout=_TIMEOUT)
                return self._client.scatter([_Opaque(function)], broadcast=True, hash=False)[0]
            except (OSError, TimeoutError, CancelledError):  # OSError: a closed connection
                if monotonic() > deadline:
                    problem = (
                        f"the workers of the Dask cluster did not answer for {_MAX_RETRY_TIME:.0f} seconds"
                    )
                    raise _worker_error(problem) from None
                sleep(pause)
                pause = min(2 * pause, 8.0)

    def _submit(self, shared: Any, piece: Piece) -> Any:
        return self._client.submit(_attempt, shared, _Opaque(piece), pure=False)

    def _wait(self, future: Any) -> Any:
        from distributed.scheduler import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            raise _worker_error("several workers died while processing one piece of the work") from None


class _Opaque:
    """A container whose content Dask does not inspect."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _attempt(function: _Opaque, piece: _Opaque) -> Any:
    return attempt(function.content, piece.content)


def _worker_error(problem: str) -> WorkerError:
    return WorkerError(problem, hint="workers may have run out of memory; give them more, or use fewer")


@contextmanager
def client(address: str = "") -> Iterator[Any]:
    """Connect to the cluster at an address, or to a new cluster on this machine with a process per core."""
    with require_package("distributed", "dask", "Dask clusters"):
        import distributed
    from rankscope.engines.machine import count_workers

    connect = partial(distributed.Client, set_as_default=False)
    if address:
        try:
            connected = connect(address, timeout=_TIMEOUT)
        except (OSError, ValueError) as error:
            hint = "give the address that it printed"
            raise SettingsError(f"no Dask scheduler answers at {address!r} ({error})", hint=hint) from None
        with connected:
            yield connected
        return
    options = {
        "n_workers": count_workers(),
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**options) as cluster, connect(cluster) as connected:
        yield connected
