"""A large report in parts: its first view stands before the browser has read the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import rankscope as rs
from rankscope.reporting import html_page


@pytest.fixture(scope="module")
def divided(collection_page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The report of the small collection, written as a large one."""
    data = collection_page.parent / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html_page, "LARGE", 0)
        path = tmp_path_factory.mktemp("parts") / "report.html"
        yield rs.report(rs.evaluate(data / "qrels.txt", data / "runs", "AP ERR@20"), path)


@pytest.mark.without("slices", "coverage", "study")
def test_every_view_shows_the_same_as_of_one_part(
    view: str,
    divided: Path,
    collection_page: Path,
    open_page: Callable[..., Any],
    settled: Callable[[Any], None],
) -> None:
    texts = []
    for path in (divided, collection_page):
        page = open_page(path, f"view={view}")
        settled(page)
        texts.append(page.locator("main").inner_text())
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("first", "part"), [("runs", 1), ("plane", 2)])
def test_the_first_view_stands_before_the_last_parts_arrive(
    first: str, part: int, divided: Path, chromium: Any, until: Callable[[Any, str], None]
) -> None:
    text = divided.read_bytes()
    cut = text.index(f'<script type="application/json" id="data-{part}">'.encode())
    go_on = Event()

    class Slow(BaseHTTPRequestHandler):
        """Sends the end of the report only when it is told to."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text[:cut])
            self.wfile.flush()
            go_on.wait(300)
            self.wfile.write(text[cut:])

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    Thread(target=server.serve_forever, daemon=True).start()
    page = chromium.new_page()
    page.set_default_timeout(120_000)  # A busy machine may need far more than the usual 30 s.
    try:
        page.goto(f"http://127.0.0.1:{server.server_port}/#view={first}", wait_until="commit")
        page.locator("main h2").first.wait_for()
        until(page, "document.getElementById('page').inert && !rankscope.state.complete")
        go_on.set()
        until(page, "!document.getElementById('page').inert && rankscope.state.complete")
    finally:
        go_on.set()
        page.close()
        server.shutdown()
        server.server_close()
