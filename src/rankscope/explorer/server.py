"""Server of the explorer: sends the report with its data in binary, and complete rankings on demand.

The server is meant for one person on one machine. It binds to loopback, every path starts with a random token, and it
validates the Host header against DNS rebinding. Requests name runs and topics by number, and documents to search for;
no part of a request is used as a file path.
"""

from __future__ import annotations

import ipaddress
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from threading import Event, Lock, Thread, current_thread, main_thread
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from rankscope.errors import InputError, require_package
from rankscope.judging import UNJUDGED
from rankscope.progress import set_cancel_events
from rankscope.read import Qrels, Run, Runs
from rankscope.read.source import Source
from rankscope.reporting.html_page import shell
from rankscope.reporting.page_data import as_stream

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_MAX_CACHED_RUNS = 8
_LARGE_FILE = 8 << 20  # Bytes; rankings of larger files are read one at a time.
_MAX_CONNECTIONS = 64
# Maximum of connections without a request; below the total, so that the owner can always connect.
_MAX_IDLE = 32
_MAX_IDLE_SECONDS = 10.0  # Seconds that a connection may be idle, or take to send the head of a request.
_MAX_ID_BYTES = 4096  # Maximum length of a searched document id in bytes.


class RunCache:
    """A thread-safe LRU cache of the documents of runs.

    For large files, it caches only the requested ranking, so memory does not grow with the run. Setting
    ``stop_event`` cancels reading, so that the server ends without waiting for a file.
    """

    def __init__(self, runs: Runs, stop_event: Event) -> None:
        self._runs, self._stop_event = list(runs.values()), stop_event
        self._cached: dict[tuple[int, str | None], dict[str, Sequence[bytes]]] = {}
        self._lock = Lock()

    def documents(self, run: int, topic: str) -> Sequence[bytes]:
        """Return the ranking of a run for a topic."""
        topic_only = topic if _is_large(self._runs[run]) else None
        with self._lock:
            lists = self._cached.pop((run, topic_only), None) or self._read(self._runs[run], topic_only)
            self._cached[run, topic_only] = lists  # Moves the entry to the end, as the most recently used.
            while len(self._cached) > _MAX_CACHED_RUNS:
                del self._cached[next(iter(self._cached))]
        return lists.get(topic, ())

    def find_ranks(self, run: int, document: bytes) -> dict[str, int]:
        """Return the rank of a document by topic; reads the rankings one by one, without caching."""
        with self._lock:
            set_cancel_events((self._stop_event,))
            try:
                lists = self._runs[run].iterate_lists()
                return {
                    t: ranking.documents.index(document) + 1
                    for t, ranking in lists
                    if document in ranking.documents
                }
            finally:
                set_cancel_events(())

    def _read(self, run: Run, topic_only: str | None) -> dict[str, Sequence[bytes]]:
        set_cancel_events((self._stop_event,))
        try:
            if topic_only is not None:
                ranking = run.list_for(topic_only)
                return {topic_only: () if ranking is None else ranking.documents}
            return {topic: lists.documents for topic, lists in run.lists().items()}
        finally:
            set_cancel_events(())


def _is_large(run: Run) -> bool:
    """Return whether a run is too large to cache; compressed files count as four times their size."""
    if run.in_memory or run.source is None or run.format != "trec":
        return False
    text = Source.open(run.source, run.label)
    return text.size > (_LARGE_FILE // 4 if text.is_compressed else _LARGE_FILE)


def application(
    title: str,
    load: Callable[[], Mapping[str, Any]],
    qrels: Qrels,
    runs: Runs,
    token: str,
    stop_event: Event | None = None,
) -> App:
    """Return the ASGI application: report, data, rankings and document search.

    ``load`` returns the data; it may wait for them, and raises CancelledError if there will be none.
    """
    with require_package("starlette and uvicorn", "explore", "explorers"):
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
        from starlette.routing import Route

    html = shell(title, connect="'self'")
    loaded = RunCache(runs, stop_event or Event())

    def has_token(request: Request) -> bool:
        return secrets.compare_digest(str(request.path_params["token"]).encode(), token.encode())

    def index(request: Request) -> Response:
        return HTMLResponse(html) if has_token(request) else Response(status_code=404)

    def data(request: Request) -> Response:
        if not has_token(request):
            return Response(status_code=404)
        try:
            content = {**load(), "server": True}
        except CancelledError:
            return Response(status_code=503)
        return StreamingResponse(as_stream(content), media_type="application/octet-stream")

    def ranking(request: Request) -> Response:
        if not has_token(request):
            return Response(status_code=404)
        run = _parse_index(request.path_params["run"], len(runs))
        topic = _parse_index(request.path_params["topic"], len(qrels.topics))
        if run is None or topic is None:
            return Response(status_code=404)
        grades = _grades_by_document(qrels, topic)
        documents = loaded.documents(run, qrels.topics[topic])
        return JSONResponse([[d.decode("utf-8", "replace"), grades.get(d)] for d in documents])

    def find_document(request: Request) -> Response:
        name = request.query_params.get("document", "").encode("utf-8", "surrogatepass")
        run = _parse_index(request.path_params["run"], len(runs))
        if not has_token(request) or run is None or not 0 < len(name) <= _MAX_ID_BYTES:
            return Response(status_code=404)
        index_of, rank_by_topic = qrels.topic_index, loaded.find_ranks(run, name).items()
        ranks = sorted((index_of[topic], rank) for topic, rank in rank_by_topic if topic in index_of)
        return JSONResponse(
            [[topic, rank, _grades_by_document(qrels, topic).get(name)] for topic, rank in ranks]
        )

    routes = [
        Route("/{token}/", index),
        Route("/{token}/data", data),
        Route("/{token}/list/{run}/{topic}", ranking),
        Route("/{token}/find/{run}", find_document),
    ]
    return _with_headers(Starlette(routes=routes))


def _parse_index(text: str, size: int) -> int | None:
    """Parse a number below ``size``; return None for any other text."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else size
    return number if number < size else None


def _grades_by_document(qrels: Qrels, topic: int) -> dict[bytes, int]:
    rows = slice(int(qrels.topic_offsets[topic]), int(qrels.topic_offsets[topic + 1]))
    pairs = zip(qrels.documents[rows], qrels.grade[rows].tolist(), strict=True)
    return {document: grade for document, grade in pairs if grade != UNJUDGED}


def _with_headers(app: App) -> App:
    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.lower().encode(), v.encode()) for k, v in _HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        await app(scope, receive, send_with_headers)

    return wrapped


def with_host_check(app: App, port: int, host: str) -> App:
    """Return the application with a check of the Host header.

    It accepts loopback names and the bound host; if bound to all interfaces, also the host name and any IP address.
    Other names are rejected because an attacker could make them resolve to this machine (DNS rebinding).
    """
    from starlette.responses import Response

    named = socket.gethostname() if _is_wildcard(host) else host.strip("[]")
    own = {"localhost", "127.0.0.1", "::1", named.lower()}

    def is_own_host(value: str) -> bool:
        try:
            parts = urlsplit(f"//{value}")
            name, request_port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        return request_port == port and (name in own or (_is_wildcard(host) and _is_address(name)))

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            hosts = [value.decode("latin-1") for key, value in scope["headers"] if key == b"host"]
            if len(hosts) != 1 or not is_own_host(hosts[0]):
                await Response(status_code=421)(scope, receive, send)
                return
        await app(scope, receive, send)

    return wrapped


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::", "")


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # SO_REUSEADDR allows a port to be reused immediately; on Windows it would let other processes share it.
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        problem = f"cannot listen on {host} port {port} ({error.strerror or error})"
        raise InputError(problem, hint="choose another --port or --host") from None
    return listener


def format_url(host: str, port: int, token: str) -> str:
    """Return the URL to open in the browser.

    >>> format_url("127.0.0.1", 8765, "abc")
    'http://127.0.0.1:8765/abc/'
    """
    shown = "127.0.0.1" if _is_wildcard(host) else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/{token}/"


def serve(app: App, listener: socket.socket, work: Callable[[], None] = lambda: None) -> None:
    """Serve requests in a thread, and work in this one; then wait for Ctrl-C.

    Signals and errors of the work arise in this thread, and end the server before they are raised.
    """
    with require_package("starlette and uvicorn", "explore", "explorers"):
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol

    idle: dict[Any, None] = {}  # Connections without a pending request, oldest first.

    class IdleTimeout(H11Protocol):  # type: ignore[misc, unused-ignore]
        """A connection that is closed when idle for too long, or when it is the oldest of too many idle ones.

        A connection is idle until the head of a request is complete, and again after the response, so that incomplete
        requests cannot block other connections.
        """

        timer: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()
            elif self not in idle and not self.transport.is_closing():
                idle[self] = None
                self.timer = self.loop.call_later(_MAX_IDLE_SECONDS, self.transport.close)
                if len(idle) > _MAX_IDLE:
                    oldest = next(iter(idle))
                    oldest._forget()
                    oldest.transport.close()

        def _forget(self) -> None:
            idle.pop(self, None)
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None

    limits = {"limit_concurrency": _MAX_CONNECTIONS, "timeout_keep_alive": int(_MAX_IDLE_SECONDS)}
    config = uvicorn.Config(
        app, http=IdleTimeout, ws="none", log_level="warning", access_log=False, server_header=False, lifespan="off",
        timeout_graceful_shutdown=1, **limits,
    )  # fmt: skip
    server = uvicorn.Server(config)
    ended = Event()

    def run() -> None:
        try:
            server.run(sockets=[listener])
        finally:
            ended.set()

    # A daemon, so that a caller in a daemon thread does not delay the end of its process. An interrupt of
    # Thread.join makes Python 3.11 regard the thread as ended, so wait for an event.
    Thread(target=run, daemon=True).start()
    try:
        with _on_interrupt(partial(setattr, server, "should_exit", True)):
            work()
            while not ended.wait(1.0):  # On Windows, Ctrl-C does not interrupt a wait without a limit.
                pass
    finally:
        server.should_exit = True
        ended.wait()


@contextmanager
def _on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` at Ctrl-C, before the current handler: C code, as in imports, may drop the exception it raises."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or current_thread() is not main_thread():
        yield
        return

    def stop_and_handle(number: int, frame: FrameType | None) -> None:
        stop()
        handler(number, frame)

    signal.signal(signal.SIGINT, stop_and_handle)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is stop_and_handle:  # The handler may have installed another one.
            signal.signal(signal.SIGINT, handler)
