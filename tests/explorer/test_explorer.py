"""The explorer's server: what it serves, to whom, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

import rankscope as rs
from rankscope.cli.main import main
from rankscope.explorer import notebook
from rankscope.explorer.server import format_url, listen, serve
from rankscope.judging import judge
from rankscope.reporting.page_data import payload

pytest.importorskip("starlette", reason="the extra explore is not installed")
pytest.importorskip("uvicorn", reason="the extra explore is not installed")


def _collection(folder: Path) -> tuple[str, str]:
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n")
    (folder / "bm25.txt").write_text("q1 Q0 b 1 2.0 x\nq1 Q0 x 2 1.5 x\nq1 Q0 a 3 1.0 x\nq2 Q0 c 1 1.0 x\n")
    return str(folder / "qrels.txt"), str(folder / "bm25.txt")


class Server:
    """A running ``rankscope explore``."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        self.port = int(urlsplit(url).port or 0)
        self.path = urlsplit(url).path

    def get(
        self, path: str, host: str | None = None, method: str = "GET"
    ) -> tuple[int, bytes, dict[str, str]]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body, {key.lower(): value for key, value in answer.getheaders()}


@contextlib.contextmanager
def _running(folder: Path, *options: str, program: Sequence[str] = ("-m", "rankscope")) -> Iterator[Server]:
    command = [sys.executable, *program, "explore", *_collection(folder), "--no-browser", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address, line + (
            process.stderr.read() if process.poll() is not None and process.stderr else ""
        )
        yield Server(process, address.group())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with _running(tmp_path_factory.mktemp("explore")) as running:
        yield running


def test_serves_the_page_under_a_random_token(server: Server) -> None:
    status, body, headers = server.get(server.path)
    assert status == 200
    assert b"<!doctype html>" in body[:40]
    assert b"connect-src 'self'" in body
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert len(server.path.strip("/")) >= 20


def test_serves_data_and_whole_lists(server: Server) -> None:
    status, body, _ = server.get(server.path + "data")
    assert status == 200
    assert body[:8] == b"RSPAGE01"
    header = json.loads(body[16 : 16 + int.from_bytes(body[8:12], "little")])
    assert header["runs"] == ["bm25"]
    assert header["server"] is True
    status, body, _ = server.get(server.path + "list/0/0")
    assert json.loads(body) == [["b", 0], ["x", None], ["a", 1]]


def test_finds_a_document_in_the_lists_of_a_run(server: Server) -> None:
    for document, places in (("a", [[0, 3, 1]]), ("x", [[0, 2, None]]), ("c", [[1, 1, 2]]), ("absent", [])):
        status, body, _ = server.get(f"{server.path}find/0?document={document}")
        assert status == 200 and json.loads(body) == places


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/wrong/find/0?document=a",
        "{t}find/0",
        "{t}find/0?document=",
        "{t}find/9?document=a",
        "{t}find/-1?document=a",
        "{t}find/0?document=" + "a" * 5000,
        "/wrong/",
        "/wrong/data",
        "/wrong/list/0/0",
        "{t}list/0/2",
        "{t}list/9/0",
        "{t}list/-1/0",
        "{t}list/a/0",
        "{t}../../etc/passwd",
        "{t}..%2f..%2fetc%2fpasswd",
        "{t}list/0/..%2f0",
        "{t}data/",
        "{t}page.js",
        "//etc/passwd",
    ],
)
def test_knows_nothing_else(server: Server, path: str) -> None:
    assert server.get(path.replace("{t}", server.path))[0] in (404, 307)
    status, body, _ = server.get(path.replace("{t}", server.path))
    assert b"root:" not in body
    assert status == 404 or body == b""


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{p}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{p}", ""]
)
def test_refuses_other_hosts(server: Server, host: str) -> None:
    assert server.get(server.path, host=host.replace("{p}", str(server.port)))[0] in (400, 421)


@pytest.mark.parametrize("host", ["127.0.0.1:{p}", "localhost:{p}", "LOCALHOST:{p}", "[::1]:{p}"])
def test_accepts_its_own_names(server: Server, host: str) -> None:
    assert server.get(server.path, host=host.replace("{p}", str(server.port)))[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_reads(server: Server, method: str) -> None:
    assert server.get(server.path, method=method)[0] == 405


@pytest.mark.skipif(sys.platform == "win32", reason="signals are different there")
@pytest.mark.parametrize("connected", [False, True])
def test_ends_cleanly_on_interrupt(tmp_path: Path, connected: bool) -> None:
    """The server would keep an idle connection for an hour, so that only the interrupt can end the process."""
    patient = (
        "from rankscope.cli.main import main\n"
        "from rankscope.explorer import server\n"
        "server._MAX_IDLE_SECONDS = 3600.0\n"
        "raise SystemExit(main())\n"
    )
    with (
        _running(tmp_path, program=("-c", patient)) as running,
        contextlib.closing(HTTPConnection("127.0.0.1", running.port, timeout=60)) as connection,
    ):
        if connected:
            connection.request("GET", running.path)
            connection.getresponse().read()  # and stays connected
        running.process.send_signal(signal.SIGINT)
        code = running.process.wait(timeout=60)
        assert running.process.stderr is not None
        assert running.process.stderr.read() == ""
        assert code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are different there")
def test_ends_though_the_exception_of_an_interrupt_is_dropped() -> None:
    handler = signal.getsignal(signal.SIGINT)

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("nobody asks")

    def work() -> None:
        with contextlib.suppress(KeyboardInterrupt):  # as C code does that clears all errors
            signal.raise_signal(signal.SIGINT)

    with listen("127.0.0.1", 0) as listener:
        serve(app, listener, work)
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_taken_port_is_explained(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *_collection(tmp_path), "--port", str(server.port), "--no-browser"]) == 2
    assert "choose another --port" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--port", "99999"], ["--cutoff", "-1"]])
def test_wrong_options_are_explained(
    tmp_path: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", *_collection(tmp_path), *wrong]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_addresses() -> None:
    assert format_url("::1", 80, "t") == "http://[::1]:80/t/"
    assert format_url("0.0.0.0", 80, "t") == "http://127.0.0.1:80/t/"


def test_other_bindings_accept_addresses_but_no_foreign_names(tmp_path: Path) -> None:
    with _running(tmp_path, "--host", "0.0.0.0") as running:
        assert running.get(running.path, host=f"192.0.2.7:{running.port}")[0] == 200
        assert running.get(running.path, host=f"evil.example:{running.port}")[0] == 421


def test_notebook_is_a_sandboxed_frame() -> None:
    scores = rs.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, ["AP", "ERR@20"])
    html = notebook(scores)._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in html
    assert html.count("<") == 2  # the frame and its end: everything else is escaped
    assert scores.explore()._repr_html_() == html


def test_notebook_needs_the_lists() -> None:
    scores = rs.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, "AP")
    from dataclasses import replace

    with pytest.raises(rs.errors.InputError, match="explore needs rankings"):
        notebook(replace(scores, judged=None))


def _request(path: str, *hosts: str, bound: str = "127.0.0.1") -> Any:
    """Return the response of the application, with its check of hosts, in this process."""
    import asyncio

    import httpx

    from rankscope.explorer.server import application, with_host_check

    qrels = rs.Qrels.from_dict({"q1": {"d1": 1, "odd\udcff": 0}})
    runs = rs.Runs([rs.Run.from_dict({"q1": {"odd\udcff": 2.0, "x": 1.5, "d1": 1.0}}, name="r")])
    document = payload(judge(qrels, runs), title="T")
    app = with_host_check(application("T", lambda: document, qrels, runs, "token"), 80, bound)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://test"
        ) as client:
            return await client.get(path, headers=[("Host", host) for host in hosts or ["127.0.0.1:80"]])

    with ThreadPoolExecutor(1) as apart:  # this thread may have the loop of a browser
        return apart.submit(asyncio.run, ask()).result()


def test_application_in_this_process() -> None:
    assert _request("/token/").status_code == 200
    assert _request("/token/data").content[:8] == b"RSPAGE01"
    assert _request("/token/list/0/0").json() == [["odd\ufffd", 0], ["x", None], ["d1", 1]]
    assert [_request(path).status_code for path in ("/t/", "/t/data", "/t/list/0/0", "/token/list/1/0")] == [
        404
    ] * 4


@pytest.mark.parametrize(
    ("host", "bound", "status"),
    [
        ("localhost:80", "127.0.0.1", 200),
        ("[::1]:80", "::1", 200),
        ("evil.example:80", "127.0.0.1", 421),
        ("10.1.2.3:80", "127.0.0.1", 421),
        ("10.1.2.3:80", "0.0.0.0", 200),
        ("evil.example:80", "0.0.0.0", 421),
        ("my.machine:80", "my.machine", 200),
        ("[::1]", "::1", 200),  # port 80 need not be said
        ("127.0.0.1:81", "127.0.0.1", 421),
        ("[::1", "::1", 421),
        ("127.0.0.1:port", "127.0.0.1", 421),
        ("", "127.0.0.1", 421),
    ],
)
def test_hosts_in_this_process(host: str, bound: str, status: int) -> None:
    assert _request("/token/", host, bound=bound).status_code == status


def test_explore_ends_when_interrupted_before_it_serves(tmp_path: Path) -> None:
    opened: list[str] = []

    def ready(url: str) -> None:
        opened.append(url)
        raise KeyboardInterrupt

    rs.explore(rs.Collection(*_collection(tmp_path)), on_ready=ready)
    assert opened[0].startswith("http://127.0.0.1:")


def test_the_command_opens_a_browser_only_in_an_interactive_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("rankscope.explorer.server.serve", lambda *_: None)
    monkeypatch.setenv("DISPLAY", ":0")
    assert main(["explore", *_collection(tmp_path)]) == 0
    assert opened == []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["explore", *_collection(tmp_path)]) == 0
    assert len(opened) == 1
    assert "Ctrl-C ends it" in capsys.readouterr().out


def test_any_name_is_servable(tmp_path: Path) -> None:
    from rankscope.explorer.server import application

    qrels = rs.Qrels.from_dict({"q": {"d": 1}})
    assert application("</title><script>", dict, qrels, rs.Runs([]), "token")


def test_two_hosts_are_as_bad_as_a_foreign_one() -> None:
    """A server cannot know which of two Host headers a proxy trusted."""
    assert _request("/token/", "127.0.0.1:80").status_code == 200
    assert _request("/token/", "127.0.0.1:80", "127.0.0.1:80").status_code == 421
    assert _request("/token/", "127.0.0.1:80", "evil.example").status_code == 421


def test_a_run_is_read_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve requests parsed a run twelve times: 2.8 GB, 25 s."""
    from rankscope.explorer.server import _MAX_CACHED_RUNS, RunCache

    read: list[str] = []
    original = rs.Run.lists

    def counted(run: rs.Run) -> object:
        read.append(run.name)
        time.sleep(0.05)  # long enough for all others to ask
        return original(run)

    monkeypatch.setattr(rs.Run, "lists", counted)
    count = _MAX_CACHED_RUNS + 2
    runs = rs.Runs([rs.Run.from_dict({"q1": {f"d{r}": 1.0}}, name=f"r{r}") for r in range(count)])
    loaded = RunCache(runs, Event())
    with ThreadPoolExecutor(100) as threads:
        answers = list(threads.map(lambda _: loaded.documents(1, "q1"), range(100)))
    assert answers == [[b"d1"]] * 100
    assert read == ["r1"]
    assert [loaded.documents(r, "q1") for r in range(count)] == [[b"d%d" % r] for r in range(count)]
    assert loaded.documents(1, "absent") == ()
    assert len(loaded._cached) == _MAX_CACHED_RUNS


@pytest.mark.parametrize("packed", [False, True])
def test_only_the_requested_list_of_a_large_file_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    import gzip

    from rankscope.explorer import server

    text = "".join(f"q{t} Q0 d{i} 1 {-i} r\n" for t in range(9) for i in range(3)).encode()
    path = tmp_path / "r.run"
    path.write_bytes(gzip.compress(text) if packed else text)
    monkeypatch.setattr(
        server, "_LARGE_FILE", 4 * path.stat().st_size - 4 if packed else path.stat().st_size - 1
    )
    loaded = server.RunCache(rs.read_runs(path), Event())
    assert [loaded.documents(0, f"q{t}") for t in (3, 3, 8)] == [[b"d0", b"d1", b"d2"]] * 3
    assert loaded.documents(0, "absent") == ()
    assert [list(lists) for lists in loaded._cached.values()] == [["q3"], ["q8"], ["absent"]]
    monkeypatch.setattr(rs.Run, "lists", lambda run: pytest.fail("read as a whole"))
    for t in range(9):
        assert loaded.documents(0, f"q{t}") == [b"d0", b"d1", b"d2"]
    assert len(loaded._cached) == server._MAX_CACHED_RUNS


def test_reading_ends_with_the_server(tmp_path: Path) -> None:
    from rankscope.explorer.server import RunCache
    from rankscope.progress import Cancelled, cancel_events

    (tmp_path / "r.txt").write_text("q1 Q0 d1 1 1 t\n")
    stop_event = Event()
    stop_event.set()
    with pytest.raises(Cancelled):
        RunCache(rs.read_runs(tmp_path / "r.txt"), stop_event).documents(0, "q1")
    assert cancel_events() == ()


@pytest.mark.parametrize(
    "path",
    ["list/0/" + "9" * 5000, "list/" + "9" * 20 + "/0", "list/-1/0", "list/0/1", "list/x/0", "list/²/0"],
)
def test_absurd_numbers_are_not_found(path: str) -> None:
    assert _request(f"/token/{path}").status_code == 404
    assert _request(f"/wrong/{path}").status_code == 404


def test_a_taken_port_is_known_before_anything_is_read(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(rs.errors.InputError, match="cannot listen on"):
            collection = rs.Collection(*_collection(tmp_path))
            rs.explore(collection, study=tmp_path / "absent", port=taken.getsockname()[1])


def served(monkeypatch: pytest.MonkeyPatch, patience: float) -> int:
    """Return the port of an explorer whose path is /token/."""
    from rankscope.explorer import server

    monkeypatch.setattr(server, "_MAX_IDLE_SECONDS", patience)
    qrels, runs = (
        rs.Qrels.from_dict({"q1": {"d1": 1}}),
        rs.Runs([rs.Run.from_dict({"q1": {"d1": 1.0}}, name="r")]),
    )
    app = server.application("T", lambda: payload(judge(qrels, runs), title="T"), qrels, runs, "token")
    listener = server.listen("127.0.0.1", 0)
    port: int = listener.getsockname()[1]
    Thread(target=server.serve, args=(app, listener), daemon=True).start()
    return port


def request_page(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as quick:
        quick.sendall(b"GET /token/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return quick.recv(100)


def wait_for_end(connection: socket.socket) -> bytes:
    """Return what the server still sends until it closes a connection; raise TimeoutError if it does not."""
    received = b""
    with contextlib.suppress(ConnectionError):  # A client that is late sends to a closed connection.
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        while part := connection.recv(10_000):
            received += part
    return received


def test_the_server_drops_clients_that_never_finish_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    port = served(monkeypatch, 0.3)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
        assert wait_for_end(slow) == b""
    monkeypatch.setattr("rankscope.explorer.server._MAX_IDLE_SECONDS", 60.0)  # The next client may be late.
    assert request_page(port).startswith(b"HTTP/1.1 200")


def test_nor_after_a_complete_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier version lost the timer after the first response."""
    port = served(monkeypatch, 60)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as slow:
        for patience in (60.0, 0.3):  # The timer after a response has the patience of that moment.
            monkeypatch.setattr("rankscope.explorer.server._MAX_IDLE_SECONDS", patience)
            slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            with HTTPResponse(slow) as response:
                response.begin()
                response.read()
                assert response.status == 404
        wait_for_end(slow)


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_idle_connections_do_not_keep_the_owner_out(first: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """63 half requests without a token were as many as could be served, and the owner got 503."""
    port = served(monkeypatch, 60)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            if first:
                idle.sendall(first)
                assert idle.recv(10_000)
            idle.sendall(b"GET /x/ HTTP/1.1\r\nHost: ")
        assert request_page(port).startswith(b"HTTP/1.1 200")


def test_the_page_is_served_while_its_data_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has_request = Event()
    answers: list[bytes] = []

    def wait_and_build(*args: Any, **options: Any) -> Any:
        assert has_request.wait(60)
        return payload(*args, **options)

    def visit(address: str) -> None:
        try:
            for path in ("", "data"):
                with urlopen(address + path, timeout=60) as answer:
                    answers.append(answer.read())
                    has_request.set()
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("rankscope.reporting.page_data.payload", wait_and_build)
    rs.explore(
        rs.Collection(*_collection(tmp_path)),
        title="A <title>",
        on_ready=lambda address: Thread(target=visit, args=(address,)).start(),
    )
    assert b"<title>A &lt;title&gt;</title>" in answers[0]
    assert answers[1][:8] == b"RSPAGE01"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are different there")
def test_an_interrupt_while_the_data_are_built_ends_the_server_and_its_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []

    def visit(address: str) -> None:
        with contextlib.suppress(OSError), urlopen(address + "data", timeout=300) as answer:
            statuses.append(answer.status)

    def build_for_ever(*_: Any, **__: Any) -> None:
        Thread(target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT))).start()
        Event().wait(600)

    visitor: list[Thread] = []

    def ready(address: str) -> None:
        visitor.append(Thread(target=visit, args=(address,)))
        visitor[0].start()

    monkeypatch.setattr("rankscope.reporting.page_data.payload", build_for_ever)
    start = time.monotonic()
    rs.explore(rs.Collection(*_collection(tmp_path)), on_ready=ready)
    visitor[0].join(60)
    assert time.monotonic() - start < 300 and not visitor[0].is_alive()
    assert statuses == []


@pytest.mark.parametrize(("option", "is_reported"), [("study", False), ("texts", True)])
def test_an_error_of_the_data_ends_the_explorer(tmp_path: Path, option: str, is_reported: bool) -> None:
    reported: list[str] = []
    options: dict[str, Any] = {option: tmp_path / "absent"}
    with pytest.raises(rs.errors.InputError, match="absent"):
        rs.explore(rs.Collection(*_collection(tmp_path)), on_ready=reported.append, **options)
    assert bool(reported) == is_reported
