"""The explorer: served to a browser, or inside a notebook."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from html import escape
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

from rankscope.declaration import Groups, Option
from rankscope.progress import set_cancel_events
from rankscope.reporting import StudyTables, TextFiles, build_document, default_title, split_scores

if TYPE_CHECKING:
    from rankscope.reporting.schema import Document
    from rankscope.scores import Collection, Scores

__all__ = ["Notebook", "explore", "notebook", "serve_explorer"]


def explore(
    scores: Scores | Collection,
    *,
    title: str | None = None,
    cutoff: int = 1000,
    study: StudyTables = None,
    texts: TextFiles = (),
    groups: Groups = None,
    bounds: bool = False,
    documents: bool | None = True,
    host: Annotated[str, Option("ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Option("N")] = 0,
    on_ready: Callable[[str], None] = print,
) -> None:
    """Serve the explorer of a collection until interrupted.

    Parameters
    ----------
    scores
        Scores, whose measures the findings are about; or a collection, for the default measures.
    title, cutoff, study, texts, groups, bounds, documents
        As for :func:`rankscope.report`.
    host
        Address to bind to (default: 127.0.0.1, this machine only).
    port
        Port to bind to (default: any free port).
    on_ready
        Function that receives the URL of the explorer once the server listens.

    Examples
    --------
    >>> import rankscope as rs
    >>> rs.explore(rs.evaluate("qrels.txt", "runs/", "AP nDCG@10"), port=8000)  # doctest: +SKIP
    """
    collection, measures = split_scores(scores, "explore")

    def build() -> Document:
        return build_document(
            collection, measures, title=title, cutoff=cutoff, study=study, texts=texts, groups=groups,
            bounds=bounds, documents=documents,
        )  # fmt: skip

    serve_explorer(collection, build, title, host, port, on_ready)


def serve_explorer(
    collection: Collection,
    build: Callable[[], Document],
    title: str | None,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
) -> None:
    """Serve the document that ``build`` returns. Bind first, so that an occupied port fails before the build.

    The page is served while the document is still being built; an error of the build ends the server and is raised.
    """
    from rankscope.explorer.server import application, format_url, listen, serve, with_host_check

    stop_event = Event()
    with listen(host, port) as listener:
        token = secrets.token_urlsafe(16)
        head = {"title": title or default_title(collection.qrels.path)}
        try:
            document = _start(build, stop_event)
            app = application(head, collection.qrels, collection.runs, token, stop_event, document.result)
            with suppress(TimeoutError):
                document.result(_HEAD_START)
            bound_port = listener.getsockname()[1]
            # An interrupt is the normal end, even between the report of the address and the start of the server.
            with suppress(KeyboardInterrupt):
                on_ready(format_url(host, bound_port, token))
                serve(with_host_check(app, bound_port, host), listener, document)
            if document.done():
                document.result()
        finally:
            stop_event.set()


_HEAD_START = 0.5
"""Seconds to wait for the document before the address is reported: errors in small input come first."""


def _start(build: Callable[[], Document], stop_event: Event) -> Future[Document]:
    """Build a document in a thread that does not delay the end of the program; ``stop_event`` cancels it."""
    document: Future[Document] = Future()
    context = copy_context()

    def run() -> None:
        set_cancel_events((stop_event,))
        try:
            document.set_result(context.run(build))
        except BaseException as error:
            document.set_exception(error)

    Thread(target=run, daemon=True).start()
    return document


class Notebook:
    """An explorer as the value of a notebook cell: an iframe that may only run its own script."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        self.height = height

    def __repr__(self) -> str:
        return "<Rankscope explorer: displayed in notebooks; rankscope.report writes it to a file>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="Rankscope" sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" '
            f'frameborder="0" srcdoc="{escape(self.html)}"></iframe>'
        )


def notebook(scores: Scores, *, title: str = "Evaluation", height: int = 760) -> Notebook:
    """Return the explorer of evaluated scores for a notebook.

    Parameters
    ----------
    scores
        Scores with their rankings.
    title
        Title of the explorer.
    height
        Height of the iframe in pixels.

    Examples
    --------
    >>> from rankscope.scores import evaluate
    >>> notebook(evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, "AP"))
    <Rankscope explorer: displayed in notebooks; rankscope.report writes it to a file>
    """
    from rankscope.reporting.html_page import render_report
    from rankscope.reporting.page_data import payload

    judged = scores.require_judged("explore")
    settings = {
        name: scores.settings[name] for name in ("order", "aspects", "missing") if name in scores.settings
    }
    return Notebook(
        render_report(payload(judged, title=title, measures=scores.measures, settings=settings)), height
    )
