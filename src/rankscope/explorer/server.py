"""The explorer's server: the page of the report, with the data sent in binary and whole lists on demand.

It is meant for one person on one machine. It binds to loopback, every address starts with a random token, the Host
header must be one of ours (so that another site cannot reach it under a name of its own), and a request can only name
a run and a topic by number, and a document that is looked for: nothing of it is ever used as a path of a file.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from threading import Event, Lock
from typing import Any
from urllib.parse import urlsplit

from rankscope.errors import InputError, MissingDependencyError
from rankscope.judging import UNJUDGED
from rankscope.progress import set_cancel_events
from rankscope.read import Qrels, Run, Runs
from rankscope.read.source import Source
from rankscope.reporting.html_page import shell
from rankscope.reporting.page_data import as_stream

__all__ = ["address", "application", "listen", "serve"]

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
_KEPT_RUNS = 8
_LARGE = 8 << 20  # bytes of a file, from which on its lists are read one at a time
_CONNECTIONS = 64
_IDLE = 32  # connections without a request: fewer than all, so that one is left for the owner
_PATIENCE = 10.0  # seconds between two requests, or for the head of one
_LONGEST = 4096  # bytes of a name that is looked for


class LoadedRuns:
    """The documents of runs, each read once however many ask at the same time; the last few runs are kept.

    Of a large file only the list that is asked for is kept, so that memory does not grow with the run. Reading ends
    when ``stopping`` is set: whoever ends the server does not wait for a file.
    """

    def __init__(self, runs: Runs, stopping: Event) -> None:
        self._runs, self._stopping = list(runs.values()), stopping
        self._kept: dict[tuple[int, str | None], dict[str, Sequence[bytes]]] = {}
        self._lock = Lock()

    def documents(self, run: int, topic: str) -> Sequence[bytes]:
        """The list of a run for a topic."""
        only = topic if _is_large(self._runs[run]) else None
        with self._lock:
            lists = self._kept.pop((run, only), None) or self._read(self._runs[run], only)
            self._kept[run, only] = lists  # the last one again
            while len(self._kept) > _KEPT_RUNS:
                del self._kept[next(iter(self._kept))]
        return lists.get(topic, ())

    def places(self, run: int, document: bytes) -> dict[str, int]:
        """The ranks of a document in the lists of a run, by topic; one list after the other is read, and none kept."""
        with self._lock:
            set_cancel_events((self._stopping,))
            try:
                lists = self._runs[run].each_list()
                return {t: one.documents.index(document) + 1 for t, one in lists if document in one.documents}
            finally:
                set_cancel_events(())

    def _read(self, run: Run, only: str | None) -> dict[str, Sequence[bytes]]:
        set_cancel_events((self._stopping,))
        try:
            if only is not None:
                found = run.list_of(only)
                return {only: () if found is None else found.documents}
            return {topic: one.documents for topic, one in run.lists().items()}
        finally:
            set_cancel_events(())


def _is_large(run: Run) -> bool:
    """Whether a run is better not held as a whole; a packed file holds several times its size."""
    if run.in_memory or run.source is None or run.format != "trec":
        return False
    text = Source.of(run.source, run.label)
    return text.size > (_LARGE // 4 if text.packed else _LARGE)


def application(
    document: Mapping[str, Any], qrels: Qrels, runs: Runs, token: str, stopping: Event | None = None
) -> App:
    """The server as an ASGI application: page, data, and the documents of one list."""
    try:
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
        from starlette.routing import Route
    except ImportError:
        raise MissingDependencyError.for_package("starlette and uvicorn", "explore", "explorers") from None

    html = shell(str(document["title"]), connect="'self'")
    content = {**document, "server": True}
    loaded = LoadedRuns(runs, stopping or Event())

    def ours(request: Request) -> bool:
        return secrets.compare_digest(str(request.path_params["token"]).encode(), token.encode())

    def index(request: Request) -> Response:
        return HTMLResponse(html) if ours(request) else Response(status_code=404)

    def data(request: Request) -> Response:
        if not ours(request):
            return Response(status_code=404)
        return StreamingResponse(_chunks(content), media_type="application/octet-stream")

    def one_list(request: Request) -> Response:
        if not ours(request):
            return Response(status_code=404)
        run = _number(request.path_params["run"], len(runs))
        topic = _number(request.path_params["topic"], len(qrels.topics))
        if run is None or topic is None:
            return Response(status_code=404)
        grades = _grades(qrels, topic)
        documents = loaded.documents(run, qrels.topics[topic])
        return JSONResponse([[d.decode("utf-8", "replace"), grades.get(d)] for d in documents])

    def places(request: Request) -> Response:
        name = request.query_params.get("document", "").encode("utf-8", "surrogatepass")
        run = _number(request.path_params["run"], len(runs))
        if not ours(request) or run is None or not 0 < len(name) <= _LONGEST:
            return Response(status_code=404)
        known = qrels.topic_index
        found = [(known[topic], rank) for topic, rank in loaded.places(run, name).items() if topic in known]
        return JSONResponse([[topic, rank, _grades(qrels, topic).get(name)] for topic, rank in sorted(found)])

    routes = [
        Route("/{token}/", index),
        Route("/{token}/data", data),
        Route("/{token}/list/{run}/{topic}", one_list),
        Route("/{token}/find/{run}", places),
    ]
    return _with_headers(Starlette(routes=routes))


def _number(text: str, size: int) -> int | None:
    """A number below a size; None if the text is none, however long it is."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else size
    return number if number < size else None


def _grades(qrels: Qrels, topic: int) -> dict[bytes, int]:
    where = slice(int(qrels.topic_offsets[topic]), int(qrels.topic_offsets[topic + 1]))
    pairs = zip(qrels.documents[where], qrels.grade[where].tolist(), strict=True)
    return {document: grade for document, grade in pairs if grade != UNJUDGED}


def _chunks(document: Mapping[str, Any]) -> Iterator[bytes]:
    yield from as_stream(document)


def _with_headers(app: App) -> App:
    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.lower().encode(), v.encode()) for k, v in _HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        await app(scope, receive, sending)

    return wrapped


def only_hosts(app: App, port: int, host: str) -> App:
    """The application behind a check of the Host header: loopback names, and for other bindings any address.

    A name that somebody else controls could be made to point here (DNS rebinding); a bare address could not.
    """
    own = {"localhost", "127.0.0.1", "::1"}
    if _is_wildcard(host):
        own.add(socket.gethostname().lower())
    else:
        own.add(host.strip("[]").lower())

    def known(value: str) -> bool:
        try:
            parts = urlsplit(f"//{value}")
            name, given = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        return given == port and (name in own or (_is_wildcard(host) and _is_address(name)))

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            hosts = [value.decode("latin-1") for key, value in scope["headers"] if key == b"host"]
            if len(hosts) != 1 or not known(hosts[0]):
                start = {"type": "http.response.start", "status": 421, "headers": [(b"content-length", b"0")]}
                await send(start)
                await send({"type": "http.response.body", "body": b""})
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
    """A listening socket; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # elsewhere this lets us have a port again at once; on Windows it would let anybody share it
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host} port {port} ({error.strerror or error})",
            hint="choose another --port or --host",
        ) from None
    return listener


def address(host: str, port: int, token: str) -> str:
    """What to open in the browser.

    >>> address("127.0.0.1", 8765, "abc")
    'http://127.0.0.1:8765/abc/'
    """
    shown = "127.0.0.1" if _is_wildcard(host) else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/{token}/"


def serve(app: App, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C (which uvicorn hands on as KeyboardInterrupt) or a termination signal."""
    try:
        import uvicorn
        from uvicorn.protocols.http.h11_impl import H11Protocol
    except ImportError:
        raise MissingDependencyError.for_package("starlette and uvicorn", "explore", "explorers") from None

    idle: dict[Any, None] = {}  # connections on which no request is being answered, oldest first

    class Impatient(H11Protocol):  # type: ignore[misc, unused-ignore]
        """A connection that is idle for too long is closed, and the oldest of too many idle ones.

        A connection is idle until the head of a request is complete, and again after the answer, so that neither a
        head that never ends nor many of them keep the owner out.
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
                self.timer = self.loop.call_later(_PATIENCE, self.transport.close)
                if len(idle) > _IDLE:
                    oldest = next(iter(idle))
                    oldest._forget()
                    oldest.transport.close()

        def _forget(self) -> None:
            idle.pop(self, None)
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None

    config = uvicorn.Config(
        app,
        http=Impatient,
        ws="none",
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=int(_PATIENCE),
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])
